"""A ladder of clusters: k-means for every number of clusters up to some, each from the one beside it.

The problem is that of `bisector.solvers.lloyd` for k = 1, 2, … at once, as it is asked by whoever wants to know how
many clusters there are. What is known of k clusters is a good beginning for k + 1:

- **up**: the centres of k clusters, and one more on a row. Of some rows, drawn with chances in proportion to their
  squared distances from their centres, it is the one that would lower the inertia most (Likas, Vlassis and Verbeek,
  *The global k-means clustering algorithm*, 2003, look at all rows; Arthur and Vassilvitskii's draws suffice);
- **down**: the centres of k + 1 clusters, two of them joined whose clusters scatter little more as one (Ward's
  rule). Where clusters of k were made of parts of others, only this way leads to the right ones.

From either, Lloyd's algorithm goes on until centres stay, and the lower inertia is kept. That takes about as many
rounds as one start from nothing, and ends lower than one. Where rows are few, each counts for much in its mean, and
what was found is refined by `bisector.solvers.refine_clusters`.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bisector.solvers.refine_clusters import improved_centres

Floats = NDArray[np.float64]

# Rows that a new centre is chosen from; and rungs above the last, from which to come down to it.
_TRIALS, _BEYOND = 32, 1
# Up to so many rows are few.
_FEW_ROWS = 256
# Beyond so many features, or centres times features, other ways of comparing rows with centres are faster.
_MOST_FEATURES, _MOST_NUMBERS = 32, 512
_EPS = float(np.finfo(np.float64).eps)


class Clustering(NamedTuple):
    """Rows in clusters.

    Attributes
    ----------
    labels : ndarray of int of shape (n_rows,)
    scatter : float
        The scatter within clusters, about their means.
    n_clusters : int
        How many clusters have rows.
    """

    labels: NDArray[np.int32]
    scatter: float
    n_clusters: int


def is_ladder(numbers: Sequence[int], n_features: int) -> bool:
    """Tell whether it pays to climb from one number of clusters to the next: most are asked for, of few features.

    For one feature, `bisector.solvers.one_dimensional_clusters` finds the least scatter there is.
    """
    most = max(numbers)
    few = 1 < n_features <= _MOST_FEATURES and most * n_features <= _MOST_NUMBERS
    return few and 2 * len(set(numbers)) >= most


def cluster_ladder(
    X: Floats, numbers: Sequence[int], random: np.random.RandomState, *, max_iter: int = 300, tol: float = 0.0
) -> list[Clustering]:
    """Find clusters of little scatter for several numbers of clusters.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
    numbers : sequence of int
        Each at least 1 and at most the number of rows.
    random : numpy.random.RandomState
        Draws the rows that new centres are chosen from.
    max_iter : int, default=300
        How often centres move at most, each time that Lloyd's algorithm goes on.
    tol : float, default=0.0
        It ends when the sum of the squares of all moves is at most this share of the mean variance of the features.

    Returns
    -------
    list of Clustering
        For each number. Where rows have fewer different values, there are fewer clusters.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.solvers.cluster_ladder import cluster_ladder
    >>> X = np.array([[0.0, 0], [0, 1], [9, 0], [9, 1], [30, 0]])
    >>> two, three = cluster_ladder(X, [2, 3], np.random.RandomState(0))
    >>> two.scatter, three.scatter, np.bincount(three.labels)
    (82.0, 1.0, array([2, 1, 2]))
    """
    from bisector.engine.loops import given
    from bisector.solvers.cluster_ladder_loops import (
        FOUR,
        climb,
        new_ladder_state,
        scatter_of,
        settle_centres,
    )

    n, d = X.shape
    rungs, width = min(n, max(numbers) + _BEYOND), -(-d // FOUR) * FOUR
    columns = np.zeros((width, n))
    columns[:d] = X.T
    nothing = n * float(np.sum((4 * _EPS * np.abs(columns).max(axis=1)) ** 2))
    columns -= columns.mean(axis=1)[:, None]
    move = tol * float(np.vdot(columns, columns)) / (n * d)
    columns = given(columns)
    shares = given(random.uniform(size=(rungs, _TRIALS)))
    state, ladder, inertias = (
        new_ladder_state(n, rungs, width),
        np.zeros((rungs, rungs, width)),
        np.zeros(rungs),
    )
    reached = climb(columns, move, max_iter, nothing, shares, state, ladder, inertias)
    found = {}
    for k in {min(number, reached) for number in numbers}:
        centres = ladder[k - 1, :k]
        if n <= _FEW_ROWS and inertias[k - 1] > nothing:
            refined, n_moves = improved_centres(np.ascontiguousarray(columns.T), np.ones(n), centres)
            if n_moves and settle_centres(columns, refined, move, max_iter, state) < inertias[k - 1]:
                centres = refined
        scatter = scatter_of(columns, centres, state)
        found[k] = Clustering(state.labels.astype(np.int32), scatter, int(np.count_nonzero(state.sizes)))
    return [found[min(number, reached)] for number in numbers]
