"""Dendrograms: binary trees of clusters, with the level of each merge (Flach, Definition 8.4)."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bisector.engine.memory import require
from bisector.engine.validation import check_count, check_number

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Larger dendrograms are not drawn as text.
_MOST_LINES = 200


class Monotonicity(NamedTuple):
    """Whether no cluster is merged at a lower level than one of its parts was.

    Attributes
    ----------
    holds : bool
    merge, part : int or None
        The first merge that is lower than one of the two it joins, and that one.
    """

    holds: bool
    merge: int | None
    part: int | None

    def __bool__(self) -> bool:
        return self.holds


@dataclass(frozen=True, eq=False)
class Dendrogram:
    """A hierarchy of clusters: which two were merged, at which level, in which order.

    Parameters
    ----------
    merges : ndarray of int of shape (n_leaves - 1, 2)
        The two clusters that each merge joins. Numbers below n_leaves are rows; merge i makes the cluster
        n_leaves + i.
    levels : ndarray of shape (n_leaves - 1,)
        The linkage of the two.
    sizes : ndarray of int of shape (n_leaves - 1,)
        How many rows they have together.

    Examples
    --------
    >>> from bisector import AgglomerativeClustering
    >>> model = AgglomerativeClustering(linkage="single").fit([[0.0], [1.0], [5.0], [7.0]])
    >>> tree = model.dendrogram_
    >>> tree.levels
    array([1., 2., 4.])
    >>> tree.cut(height=1.5)
    array([0, 0, 1, 2])
    >>> tree.to_newick()
    '((0:1,1:1):3,(2:2,3:2):2);'
    >>> print(tree.to_text())
    4
    ├─ 1
    │  ├─ row 0
    │  └─ row 1
    └─ 2
       ├─ row 2
       └─ row 3
    """

    merges: Integers
    levels: Floats
    sizes: Integers

    def __post_init__(self) -> None:
        for part in (self.merges, self.levels, self.sizes):
            part.setflags(write=False)

    @classmethod
    def from_linkage_matrix(cls, Z: ArrayLike) -> Self:
        """Make a dendrogram of a linkage matrix, as `scipy.cluster.hierarchy.linkage` returns it."""
        table = np.asarray(Z, dtype=np.float64)
        if table.ndim != 2 or table.shape[1] != 4:
            raise ValueError(f"A linkage matrix has four columns, but Z has the shape {table.shape}.")
        n = len(table) + 1
        merges = table[:, :2].astype(np.int64)
        known = merges < n + np.arange(n - 1)[:, None]
        whole = (merges == table[:, :2]) & (merges >= 0)
        if not (known & whole).all() or len(np.unique(merges)) != merges.size:
            raise ValueError(
                "Z is no linkage matrix: each merge must join two clusters that exist by then, and that were not "
                "merged before."
            )
        return cls(np.sort(merges, axis=1), table[:, 2].copy(), table[:, 3].astype(np.int64))

    @property
    def n_leaves(self) -> int:
        """How many rows there are."""
        return len(self.merges) + 1

    def linkage_matrix(self) -> Floats:
        """Return merges, levels and sizes side by side, as SciPy's functions take them."""
        return np.column_stack([self.merges, self.levels, self.sizes]).astype(np.float64)

    @cached_property
    def monotone(self) -> Monotonicity:
        """Whether levels rise from the leaves to the root; if not, the first merge that is lower than a part.

        Single, complete, average, weighted and Ward linkage always rise; centroid and median linkage may fall
        (Flach, Figure 8.17), and so may Ward's where clusters are merged along a graph.
        """
        n = self.n_leaves
        below = np.where(self.merges < n, -np.inf, np.append(self.levels, 0.0)[self.merges - n])
        lower = np.flatnonzero((self.levels[:, None] < below).any(axis=1))
        if not len(lower):
            return Monotonicity(True, None, None)
        merge = int(lower[0])
        return Monotonicity(False, merge, int(self.merges[merge, np.argmax(below[merge])]) - n)

    @cached_property
    def heights(self) -> Floats:
        """For each merge the highest level in its subtree; equal to `levels` if these are monotone."""
        heights = self.levels.copy()
        if self.monotone:
            return heights
        n = self.n_leaves
        for i, (a, b) in enumerate(self.merges.tolist()):
            for part in (a, b):
                if part >= n:
                    heights[i] = max(heights[i], heights[part - n])
        return heights

    def cut(self, k: int | None = None, *, height: float | None = None) -> Integers:
        """Label rows by clusters, which are numbered in the order of their first rows.

        Parameters
        ----------
        k : int, optional
            How many clusters: all merges are made but the last k − 1.
        height : float, optional
            Up to which level merges are made; in place of k.

        Returns
        -------
        ndarray of int of shape (n_leaves,)
        """
        from bisector.engine.loops import given
        from bisector.solvers.hierarchy_loops import label_leaves

        if (k is None) == (height is None):
            raise ValueError("cut takes either a number of clusters, k, or a height.")
        n = self.n_leaves
        if k is not None:
            joined = np.arange(n - 1) < n - check_count("k", k, at_most=n)
        else:
            joined = self.heights <= check_number("height", height)
        labels = np.empty(n, dtype=np.int64)
        label_leaves(given(self.merges), given(joined), labels)
        return labels

    def leaf_order(self, distances: ArrayLike | None = None) -> Integers:
        """Return the rows as they stand side by side below the dendrogram, so that no lines cross.

        Parameters
        ----------
        distances : ndarray, optional
            The distances between all rows, as a square matrix or as SciPy's condensed one: the branches are then
            turned so that neighbours are as near to each other as they can be, which takes O(n³).
        """
        from bisector.engine.loops import given
        from bisector.solvers.hierarchy_loops import order_leaves

        if distances is not None and self.n_leaves > 2:
            from scipy.cluster.hierarchy import leaves_list, optimal_leaf_ordering

            turned = optimal_leaf_ordering(self.linkage_matrix(), _condensed(distances, self.n_leaves))
            return leaves_list(turned).astype(np.int64)
        order = np.empty(self.n_leaves, dtype=np.int64)
        order_leaves(given(self.merges), order)
        return order

    def cophenetic_distances(self) -> Floats:
        """Return, for every two rows, the level at which they are first in one cluster, as a condensed matrix."""
        from bisector.engine.loops import given
        from bisector.solvers.hierarchy_loops import list_cophenetic

        n = self.n_leaves
        require(
            4 * n * (n - 1),
            doing=f"Comparing the levels of {n:,} rows",
            holding=f"{n * (n - 1) // 2:,} cophenetic distances",
            instead="use a sample of the rows",
        )
        found = np.empty(n * (n - 1) // 2)
        known = given(self.merges), given(self.sizes), given(self.levels), given(self.leaf_order())
        list_cophenetic(*known, found)
        return found

    def cophenetic_correlation(self, distances: ArrayLike) -> float:
        """Return how well levels agree with distances: their correlation over all pairs of rows.

        Parameters
        ----------
        distances : ndarray
            Between all rows, as a square matrix or as SciPy's condensed one.
        """
        given_ones, ours = _condensed(distances, self.n_leaves), self.cophenetic_distances()
        if len(ours) < 2 or given_ones.std() == 0 or ours.std() == 0:
            return float("nan")
        return float(np.corrcoef(given_ones, ours)[0, 1])

    def coordinates(self, order: ArrayLike | None = None) -> tuple[Floats, Floats]:
        """Return the lines of a drawing: for each merge four points, up from one part and down to the other.

        Parameters
        ----------
        order : ndarray of int, optional
            The rows as they are to stand, from `leaf_order`. The first stands at place 0, the next at 1.

        Returns
        -------
        places, levels : ndarray of shape (n_leaves - 1, 4)
            Plot places against levels for a dendrogram that stands, levels against places for one that lies.
        """
        n = self.n_leaves
        rows = self.leaf_order() if order is None else np.asarray(order, dtype=np.int64)
        if not np.array_equal(np.sort(rows), np.arange(n)):
            raise ValueError(f"order must name each of the {n} rows once.")
        place, level = np.empty(2 * n - 1), np.zeros(2 * n - 1)
        place[rows], level[n:] = np.arange(n), self.levels
        for i, (a, b) in enumerate(self.merges.tolist()):
            place[n + i] = (place[a] + place[b]) / 2
        a, b, top = self.merges[:, 0], self.merges[:, 1], self.levels
        return (
            np.column_stack([place[a], place[a], place[b], place[b]]),
            np.column_stack([level[a], top, top, level[b]]),
        )

    def to_newick(self, names: Any = None) -> str:
        """Write the tree in Newick's format, with the lengths of the branches.

        Parameters
        ----------
        names : sequence of str, optional
            Of the rows; by default their numbers. Quoted where the format needs it.
        """
        n = self.n_leaves
        said = [str(i) if names is None else _quoted(str(names[i])) for i in range(n)]
        level = np.concatenate([np.zeros(n), self.levels])
        parents = np.full(2 * n - 1, -1)
        parents[self.merges] = n + np.arange(n - 1)[:, None]
        pieces: list[str] = []
        waiting: list[tuple[int, str]] = [(2 * n - 2, "")]
        while waiting:
            node, text = waiting.pop()
            if text:
                pieces.append(text)
                continue
            length = "" if parents[node] < 0 else f":{level[parents[node]] - level[node]:.12g}"
            if node < n:
                pieces.append(said[node] + length)
                continue
            a, b = self.merges[node - n].tolist()
            pieces.append("(")
            waiting += [(-1, ")" + length), (b, ""), (-1, ","), (a, "")]
        return "".join(pieces) + ";"

    def to_text(self, names: Any = None) -> str:
        """Draw a small dendrogram with lines of text, each merge by its level.

        Parameters
        ----------
        names : sequence of str, optional
            Of the rows; by default "row 0" and so on.
        """
        n = self.n_leaves
        if n > _MOST_LINES:
            raise ValueError(
                f"A dendrogram of {n:,} rows is too large for text: draw its coordinates(), or cut it first."
            )
        lines: list[str] = []
        waiting = [(2 * n - 2, "", "")]
        while waiting:
            node, own, below = waiting.pop()
            if node < n:
                lines.append(own + (f"row {node}" if names is None else str(names[node])))
                continue
            lines.append(f"{own}{self.levels[node - n]:.4g}")
            a, b = self.merges[node - n].tolist()
            waiting += [(b, below + "└─ ", below + "   "), (a, below + "├─ ", below + "│  ")]
        return "\n".join(lines)

    def __repr__(self) -> str:
        top = f", up to level {self.levels.max():.4g}" if len(self.levels) else ""
        return f"<Dendrogram of {self.n_leaves:,} rows{top}>"


def _condensed(distances: ArrayLike, n: int) -> Floats:
    table = np.asarray(distances, dtype=np.float64)
    if table.shape == (n, n):
        return table[np.triu_indices(n, 1)]
    if table.shape != (n * (n - 1) // 2,):
        raise ValueError(
            f"distances must hold those between all {n} rows, as a square or a condensed matrix, but have the "
            f"shape {table.shape}."
        )
    return table


def _quoted(name: str) -> str:
    return name if name.replace("_", "a").isalnum() else "'" + name.replace("'", "''") + "'"
