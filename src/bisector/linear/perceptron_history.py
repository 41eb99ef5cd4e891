"""The updates of a perceptron, as Figure 7.5 of the book draws them."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bisector.solvers.perceptron_pass import PerceptronWalk


class PerceptronHistory(NamedTuple):
    """The updates of a perceptron in their order.

    Attributes
    ----------
    passes, rows : ndarray of int of shape (n_updates,)
        In which pass, and towards which row of the training data.
    steps : ndarray of shape (n_updates,)
        η times the label, ±1.
    weights : ndarray of shape (n_updates + 1, n_features)
        At the start, and after each update.
    intercepts : ndarray of shape (n_updates + 1,)
    """

    passes: NDArray[np.int64]
    rows: NDArray[np.int64]
    steps: NDArray[np.float64]
    weights: NDArray[np.float64]
    intercepts: NDArray[np.float64]


def history_of(walk: PerceptronWalk, X: Any) -> PerceptronHistory:
    """Retrace the updates of a walk."""
    assert walk.record is not None
    passes, rows, steps = walk.record
    chosen = X[rows]
    moved = (chosen.toarray() if hasattr(chosen, "toarray") else chosen).astype(np.float64) * steps[:, None]
    weights = np.cumsum(np.vstack([walk.start[:-1], moved]), axis=0)
    intercepts = np.cumsum(np.concatenate([walk.start[-1:], steps * float(walk.intercept)]))
    return PerceptronHistory(passes, rows, steps, weights, intercepts)
