"""Dendrograms of any size, from left to right, coloured by a cut (Flach 8.5, Figure 8.15)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from bisector.clustering.dendrogram import Dendrogram
from bisector.engine.show import number
from bisector.engine.validation import check_count
from bisector.plot.canvas import axes, colour, dash, ink
from bisector.plot.models import check_model

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.patches import Polygon

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class DendrogramDisplay:
    """A dendrogram, left to right: the farther right two branches join, the farther apart they are.

    Of a large one, only the last merges are drawn; a wedge stands for the rows that were merged before, from zero
    to the level at which they were one cluster. Merges at a lower level than one of their parts are drawn thick,
    with a marker, and counted in the title.

    Parameters
    ----------
    dendrogram : Dendrogram
    k : int, optional
        Into how many clusters it is cut: each has a colour and a dash of its own, those of its label.
    height : float, optional
        Up to which level merges count, in place of k.
    names : sequence of str, optional
        Of the rows; by default their numbers.

    Attributes
    ----------
    dendrogram, k, height, names
        As given.
    ax_, figure_ : Axes, Figure
    branches_ : dict of int to LineCollection
        The merges within each cluster of the cut; those above the cut at −1.
    wedges_ : list of Polygon
    falls_ : LineCollection or None
        The merges that are lower than a part.
    cut_ : Line2D or None
        The level of the cut.

    Examples
    --------
    >>> from bisector import AgglomerativeClustering, DendrogramDisplay
    >>> model = AgglomerativeClustering(2, linkage="single").fit([[0.0], [1.0], [5.0], [7.0]])
    >>> shown = DendrogramDisplay.from_estimator(model)
    >>> shown.ax_.get_title()
    'Dendrogram of 4 rows, cut into 2 clusters'
    >>> [label.get_text() for label in shown.ax_.get_yticklabels()]
    ['0', '1', '2', '3']
    """

    def __init__(
        self,
        dendrogram: Dendrogram,
        *,
        k: int | None = None,
        height: float | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        if not isinstance(dendrogram, Dendrogram):
            raise TypeError(
                f"dendrogram must be a Dendrogram, not {type(dendrogram).__name__}: take dendrogram_ of a fitted "
                "AgglomerativeClustering, or Dendrogram.from_linkage_matrix(Z)."
            )
        if k is not None and height is not None:
            raise ValueError("The cut is given by k or by a height, not by both.")
        if names is not None and len(names) != dendrogram.n_leaves:
            raise ValueError(
                f"There are {dendrogram.n_leaves} rows, but {len(names)} names: give one for each."
            )
        self.dendrogram = dendrogram
        self.k = None if k is None else check_count("k", k, at_most=dendrogram.n_leaves)
        self.height = height
        self.names = names

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        k: int | None = None,
        height: float | None = None,
        names: Sequence[str] | None = None,
        most: int = 50,
        ax: "Axes | None" = None,
    ) -> Self:
        """Draw the hierarchy of a fitted AgglomerativeClustering, by default with its own cut.

        Parameters
        ----------
        estimator : AgglomerativeClustering
        k, height, names : as of the display
        most : int, default=50
        ax : Axes, optional
        """
        tree = getattr(estimator, check_model(estimator, "dendrogram_"))
        if k is None and height is None:
            k = estimator.n_clusters_
        return cls(tree, k=k, height=height, names=names).plot(ax, most=most)

    def plot(self, ax: "Axes | None" = None, *, most: int = 50) -> Self:
        """Draw the dendrogram.

        Parameters
        ----------
        ax : Axes, optional
        most : int, default=50
            How many ends are drawn at most, rows or wedges; as many as clusters at least.

        Returns
        -------
        self
        """
        ends = min(max(check_count("most", most), self.k or 1), self.dendrogram.n_leaves)
        top = _last_merges(self.dendrogram, ends)
        self.ax_ = axes(ax, figsize=(6.4, min(max(3.0, 0.2 * ends + 1.2), 14)))
        self.figure_: Figure | Any = self.ax_.figure
        labels, joined = self._clusters()
        clusters = np.full(ends, 0) if labels is None else labels[top.rows]
        places, levels, order = _lines(top)
        owner = _owners(top, clusters, joined)
        self.branches_: dict[int, LineCollection] = {
            int(cluster): self._draw_branches(
                int(cluster), places[owner == cluster], levels[owner == cluster]
            )
            for cluster in np.unique(owner)
        }
        self._draw_falls(top, places, levels)
        self.wedges_: list[Polygon] = [
            # A wedge of several clusters has the colour of none.
            self._draw_wedge(
                place,
                float(top.leaf_levels[leaf]),
                int(clusters[leaf]) if joined[top.leaf_merges[leaf]] else -1,
            )
            for place, leaf in enumerate(order)
            if top.leaf_sizes[leaf] > 1
        ]
        self._draw_cut()
        self._finish(top, order)
        return self

    def _clusters(self) -> tuple[Integers | None, NDArray[np.bool_]]:
        """Return the label of each row, if there is a cut, and which merges lie below it."""
        tree = self.dendrogram
        if self.k is not None:
            return tree.cut(self.k), np.arange(tree.n_leaves - 1) < tree.n_leaves - self.k
        if self.height is not None:
            return tree.cut(height=self.height), tree.heights <= self.height
        return None, np.zeros(tree.n_leaves - 1, dtype=bool)

    def _draw_branches(self, cluster: int, places: Floats, levels: Floats) -> "LineCollection":
        from matplotlib.collections import LineCollection

        lines = LineCollection(
            list(np.stack([levels, places], axis=-1)),
            colors=ink() if cluster < 0 else colour(cluster),
            linestyles="-" if cluster < 0 else dash(cluster),
            linewidths=1.2,
            label="above the cut" if cluster < 0 else f"cluster {cluster}",
        )
        self.ax_.add_collection(lines)
        return lines

    def _draw_falls(self, top: "_Top", places: Floats, levels: Floats) -> None:
        from matplotlib.collections import LineCollection

        fallen = (levels[:, 1:2] < levels[:, [0, 3]]).any(axis=1)
        self.falls_: LineCollection | None = None
        if fallen.any():
            ways = np.stack([levels[fallen], places[fallen]], axis=-1)
            self.falls_ = LineCollection(list(ways), colors=ink(), linewidths=2.4, zorder=3)
            self.ax_.add_collection(self.falls_)
            middle = ways[:, 1:3].mean(axis=1)
            mark = self.ax_.scatter(
                middle[:, 0], middle[:, 1], marker="<", s=50, color=ink(), zorder=4, label="lower than a part"
            )
            self.ax_.legend(handles=[mark], loc="lower right", fontsize="small")

    def _draw_wedge(self, place: int, level: float, cluster: int) -> "Polygon":
        from matplotlib.patches import Polygon

        hue = ink() if cluster < 0 else colour(cluster)
        corners = [(level, place), (0.0, place - 0.35), (0.0, place + 0.35)]
        wedge = Polygon(corners, facecolor=hue, edgecolor=hue, alpha=0.4)
        self.ax_.add_patch(wedge)
        return wedge

    def _draw_cut(self) -> None:
        tree, at = self.dendrogram, self.height
        if self.k is not None and 1 < self.k < tree.n_leaves and tree.monotone:
            next_merge = tree.n_leaves - self.k
            at = float(tree.levels[next_merge - 1 : next_merge + 1].mean())
        self.cut_: Line2D | None = None
        if at is not None:
            self.cut_ = self.ax_.axvline(at, color=ink(), linestyle="--", linewidth=0.8, alpha=0.7)

    def _finish(self, top: "_Top", order: Integers) -> None:
        tree, ends = self.dendrogram, len(order)
        names = [self._name(int(top.rows[leaf]), int(top.leaf_sizes[leaf])) for leaf in order]
        size = "small" if ends <= 25 else "x-small" if ends <= 40 else "xx-small"
        self.ax_.set_yticks(range(ends), names if ends <= 100 else [""] * ends, fontsize=size)
        self.ax_.tick_params(axis="y", length=0)
        self.ax_.set_ylim(ends - 0.4, -0.6)
        highest = float(tree.levels.max(initial=0.0)) or 1.0
        self.ax_.set_xlim(0, 1.05 * highest)
        self.ax_.set(xlabel="level", title=self._title(ends))

    def _name(self, row: int, size: int) -> str:
        if size > 1:
            return f"{size:,} rows"
        return str(row) if self.names is None else str(self.names[row])

    def _title(self, ends: int) -> str:
        tree = self.dendrogram
        title = f"Dendrogram of {tree.n_leaves:,} rows"
        if self.k is not None or self.height is not None:
            labels, _ = self._clusters()
            count = 0 if labels is None else int(labels.max()) + 1
            title += f", cut into {count:,} cluster{'s' * (count != 1)}"
        if ends < tree.n_leaves:
            title += f"\n(the last {ends - 1:,} of {tree.n_leaves - 1:,} merges)"
        if (lower := tree.monotone.merge) is not None:
            falls, first = _count_falls(tree), float(tree.levels[lower])
            title += (
                f"\n{falls:,} merge{'s' * (falls != 1)} lower than a part, the first at {number(first, 3)}"
            )
        return title


class _Top(NamedTuple):
    """The last merges of a dendrogram, as one whose leaves stand for clusters of rows."""

    tree: Dendrogram
    first_merge: int  # the number in the whole of the first merge that is kept
    rows: Integers  # a row of each leaf
    leaf_merges: Integers  # by which each leaf was made, −1 if it is a row
    leaf_sizes: Integers
    leaf_levels: Floats


def _last_merges(tree: Dendrogram, ends: int) -> _Top:
    n = tree.n_leaves
    first = n - ends
    kept = tree.merges[first:]
    # What was not made by a kept merge is an end: a row, or a cluster of some.
    nodes = np.sort(kept[kept < n + first]) if len(kept) else np.array([2 * n - 2])
    inner = nodes >= n
    sizes, levels = np.ones(ends, dtype=np.int64), np.zeros(ends)
    sizes[inner], levels[inner] = tree.sizes[nodes[inner] - n], tree.levels[nodes[inner] - n]
    merges = np.where(kept < n + first, np.searchsorted(nodes, kept), kept - (n + first) + ends)
    small = Dendrogram(np.sort(merges, axis=1), tree.levels[first:].copy(), tree.sizes[first:].copy())
    rows = np.array([_a_row(tree, int(node)) for node in nodes])
    return _Top(small, first, rows, np.where(inner, nodes - n, -1), sizes, levels)


def _a_row(tree: Dendrogram, node: int) -> int:
    """Return one of the rows of a node."""
    while node >= tree.n_leaves:
        node = int(tree.merges[node - tree.n_leaves, 0])
    return node


def _lines(top: _Top) -> tuple[Floats, Floats, Integers]:
    """Return the places and levels of the lines of each merge, and the ends from the first to the last."""
    if not len(top.tree.merges):
        return np.empty((0, 4)), np.empty((0, 4)), np.zeros(1, dtype=np.int64)
    order = top.tree.leaf_order()
    places, levels = top.tree.coordinates(order)
    for side, column in ((0, 0), (1, 3)):
        part = top.tree.merges[:, side]
        ends = part < len(order)
        levels[ends, column] = top.leaf_levels[part[ends]]  # a wedge goes on to its own level
    return places, levels, order


def _owners(top: _Top, clusters: Integers, joined: NDArray[np.bool_]) -> Integers:
    """Return the cluster of each kept merge, −1 if it lies above the cut."""
    ends, owner = len(clusters), np.concatenate([clusters, np.zeros(len(top.tree.merges), dtype=np.int64)])
    for i, part in enumerate(top.tree.merges[:, 0].tolist()):
        owner[ends + i] = owner[part]
    return np.where(joined[top.first_merge :], owner[ends:], -1)


def _count_falls(tree: Dendrogram) -> int:
    """Count the merges that are lower than one of their parts."""
    n = tree.n_leaves
    below = np.where(tree.merges < n, -np.inf, np.append(tree.levels, 0.0)[tree.merges - n])
    return int((tree.levels[:, None] < below).any(axis=1).sum())
