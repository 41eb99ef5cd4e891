"""A plane at every node of a regression tree: model trees."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.engine.sources import source
from bisector.solvers.ridge import ridge
from bisector.solvers.tree_arrays import Floats, Integers, Tree

# Cells that are multiplied at a time when answers are computed.
_CELLS = 2**22


@dataclass(frozen=True, eq=False)
class LeafPlanes:
    """A plane a node, a·x + b; that of a node with too few rows is level.

    Attributes
    ----------
    coef : ndarray of shape (n_nodes, n_outputs, n_features)
    intercept : ndarray of shape (n_nodes, n_outputs)
    means : ndarray of shape (n_nodes, n_features)
        What stands in for a missing value.
    """

    coef: Floats
    intercept: Floats
    means: Floats

    def at(self, nodes: Integers) -> "LeafPlanes":
        """Return the planes of some nodes."""
        return LeafPlanes(self.coef[nodes], self.intercept[nodes], self.means[nodes])

    def values(self, matrix: Any, nodes: Integers) -> Floats:
        """Return what the planes of these nodes say of the rows of a matrix, one node a row."""
        found = self.intercept[nodes]
        step = max(1, _CELLS // max(1, self.means.shape[1]))
        for start in range(0, len(nodes), step):
            here = slice(start, start + step)
            rows = matrix[here].toarray() if hasattr(matrix, "tocsr") else matrix[here]
            rows = np.where(np.isnan(rows), self.means[nodes[here]], rows)
            found[here] += np.einsum("if,iof->io", rows, self.coef[nodes[here]])
        return found


def fit_planes(
    tree: Tree,
    leaves: Integers,
    matrix: Any,
    numeric: NDArray[np.bool_],
    y: Floats,
    weight: Floats | None,
    penalty: float,
    n_jobs: int | None,
) -> LeafPlanes:
    """Fit a plane to the rows of every node, by ridge regression on the columns of numbers.

    `leaves` are those of the rows. A node with no more rows than such a plane has coefficients keeps its mean.
    """
    n_nodes, n_outputs, d = tree.node_count, tree.n_outputs, int(numeric.sum())
    coef, means = np.zeros((n_nodes, n_outputs, len(numeric))), np.zeros((n_nodes, len(numeric)))
    intercept = tree.value[:, :, 0].copy()
    sparse = hasattr(matrix, "tocsr")
    members = tree.paths_to(leaves).tocsc()
    for node in range(n_nodes):
        rows = members.indices[members.indptr[node] : members.indptr[node + 1]]
        if len(rows) <= d + 1 or d == 0 or tree.impurity[node] == 0:
            continue
        inside = matrix[rows].toarray() if sparse else matrix[rows]
        inside = np.asarray(inside, np.float64)[:, numeric]
        absent = np.isnan(inside)
        if absent.any():
            present = np.maximum((~absent).sum(axis=0), 1)
            middle = np.where(absent, 0.0, inside).sum(axis=0) / present
            inside = np.where(absent, middle, inside)
            means[node, numeric] = middle
        held = source(inside, y[rows], None if weight is None else weight[rows])
        found = ridge(held, np.array([penalty]), n_jobs=n_jobs)
        coef[node][:, numeric] = np.reshape(found.coef, (d, n_outputs)).T
        intercept[node] = found.intercept
    return LeafPlanes(coef, intercept, means)
