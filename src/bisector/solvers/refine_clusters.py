"""Better clusters than Lloyd's algorithm ends with: moves that can only lower the inertia.

Lloyd's algorithm stops where no row and no centre can move by itself. What it cannot see are moves of another kind:

- **a whole centre**: where two centres share a cluster, one is taken away, at a cost of at most the squared
  distances its rows lose to their second nearest centres; and where one serves two clusters, these are divided,
  for a gain that dividing its rows in two tells. The best of these pairs are tried, rows and centres following;
- **a single row**: a centre follows a row that joins it, and is left by a row that leaves it, so that a row near
  the boundary may be better off in another cluster even though its centre is farther (Hartigan and Wong, 1979).

They are sought among rows in memory: all, or a sample if there are many. Lloyd's algorithm then goes on from what
was found, on all rows; the outcome is kept only if the inertia is lower, so the refinement never does harm.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.engine.checkpoint import NOWHERE, Checkpoint
from bisector.engine.sources import Source
from bisector.solvers.keyed_draws import different_rows
from bisector.solvers.lloyd import Lloyd, lloyd
from bisector.solvers.spread import Measured

# A sample has at least so many rows, and so many for each cluster; and holds no more numbers than this.
_FEWEST_ROWS, _ROWS_PER_CLUSTER, _MOST_NUMBERS = 20_000, 100, 2**24
# How many distances may be computed, as a multiple of comparing all rows of the sample with all centres.
_MOST_PASSES = 30
# How often all rows are looked at anew after a sample has shown something better.
_ROUNDS = 4


def refine_clusters(
    rows: Source,
    found: Lloyd,
    random: np.random.RandomState,
    *,
    max_iter: int = 300,
    tol: float = 0.0,
    measured: Measured | None = None,
    n_jobs: int | None = None,
    kept: Checkpoint = NOWHERE,
) -> Lloyd:
    """Improve clusters, and let Lloyd's algorithm converge again.

    Parameters
    ----------
    rows : Source
    found : Lloyd
        Where to begin.
    random : numpy.random.RandomState
        Draws the sample, if there are too many rows to hold.
    max_iter : int, default=300
        How often centres may be moved on all rows, those counted by `found` included.
    tol : float, default=0.0
    measured : Measured, optional
    n_jobs : int, optional
    kept : Checkpoint, optional

    Returns
    -------
    Lloyd
        `found` itself, or clusters of lower inertia with the history that led to them.
    """
    X, weights, whole = _sample(rows, found, random)
    for number in range(_ROUNDS):
        left = max_iter - found.n_iter
        if left < 1 or not found.converged or not found.inertia > 0:
            break
        centres, n_moves = improved_centres(X, weights, found.centres, by_rows=whole)
        if not n_moves:
            break
        again = lloyd(
            rows, centres, max_iter=left, tol=tol, measured=measured, n_jobs=n_jobs,
            kept=kept.part(f"round {number}"),
        )  # fmt: skip
        if not again.inertia < found.inertia:
            break
        found = _continued(found, again)
        if whole:
            break
    return found


def _continued(before: Lloyd, after: Lloyd) -> Lloyd:
    """Join the histories of two runs; what the second one had to lose at first is not part of it."""
    history = np.concatenate([before.history, after.history[after.history < before.inertia]])
    return Lloyd(**{**vars(after), "n_iter": before.n_iter + after.n_iter, "history": history})


def _sample(rows: Source, found: Lloyd, random: np.random.RandomState) -> tuple[Any, Any, bool]:
    """Return rows as an array of float64 with their weights, and whether these are all."""
    n, k = rows.n_rows, len(found.centres)
    most = max(k, min(max(_FEWEST_ROWS, _ROWS_PER_CLUSTER * k), _MOST_NUMBERS // rows.n_features))
    counted = None if rows.sample_weight is None else np.flatnonzero(rows.sample_weight)
    n = n if counted is None else len(counted)
    chosen = np.sort(different_rows(n, most, random)) if n > most else np.arange(n)
    chosen = chosen if counted is None else counted[chosen]
    X = rows.take(chosen)
    X = X.toarray() if hasattr(X, "tocsr") else X
    weights = np.ones(len(chosen)) if rows.sample_weight is None else rows.sample_weight[chosen]
    return X.astype(np.float64, copy=False), weights, n <= most


def improved_centres(
    X: NDArray[np.float64], weights: NDArray[np.float64], centres: NDArray[Any], *, by_rows: bool = True
) -> tuple[NDArray[np.float64], int]:
    """Move centres and rows of clusters in memory where that lowers the inertia.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
    weights : ndarray of shape (n_rows,)
    centres : ndarray of shape (n_clusters, n_features)
    by_rows : bool, default=True
        Whether single rows are moved too.

    Returns
    -------
    centres : ndarray of shape (n_clusters, n_features)
    n_moves : int
        How many centres and rows were moved.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.solvers.refine_clusters import improved_centres
    >>> X = np.array([[0.0], [1.0], [10.0], [11.0], [20.0], [21.0]])
    >>> centres, n_moves = improved_centres(X, np.ones(6), np.array([[0.0], [1.0], [15.5]]))
    >>> np.sort(centres.ravel())
    array([ 0.5, 10.5, 20.5])
    """
    from bisector.engine.loops import given
    from bisector.solvers.refine_clusters_loops import improve, new_state

    state, kept = new_state(centres, len(X)), new_state(centres, len(X))
    most_work = _MOST_PASSES * len(X) * len(centres)
    swaps, exchanges = improve(given(X), given(weights), state, kept, most_work, by_rows)
    return state.centres, swaps + exchanges
