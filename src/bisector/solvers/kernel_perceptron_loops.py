"""Compiled step of the kernel perceptron: walk over a block of rows whose kernel values are at hand."""

from typing import Any

import numpy as np

from bisector.engine.loops import given, loop
from bisector.solvers.perceptron_loops import steps_to_go


@loop
def walk_block(
    tile: Any,
    labels: Any,
    weights: Any,
    squares: Any,
    eta: float,
    scores: Any,
    counts: Any,
    runs: Any,
    best: Any,
) -> bool:
    """Visit the rows of a block in their order, and step at mistakes.

    Returns whether a longest run without mistake ended here.

    Parameters
    ----------
    tile : ndarray of shape (b, b)
        Kernel values of the rows with each other.
    labels : ndarray of shape (b,)
        ±1, or 0 for a row that is left out.
    weights : ndarray of shape (b,) or empty
    squares : ndarray of shape (b,)
        Kernel values of the rows with themselves.
    scores : ndarray of shape (b,)
        Of the rows; kept true after every step.
    counts : ndarray of shape (b,)
        To which the number of steps at each row is added.
    runs : ndarray of int of shape (2,)
        Rows without mistake up to now, and the most so far.
    best : ndarray of shape (b,)
        `counts` as they were at the end of the longest run, if it ended here.
    """
    longer = False
    for i in range(len(labels)):
        y = labels[i]
        if y == 0.0:
            continue
        if y * scores[i] > 0.0:
            runs[0] += 1
            continue
        if runs[0] > runs[1]:
            runs[1], longer = runs[0], True
            for j in range(len(labels)):
                best[j] = counts[j]
        runs[0] = 0
        count = steps_to_go(weights[i], -y * scores[i], eta * squares[i]) if len(weights) else 1.0
        counts[i] += count
        for j in range(len(labels)):
            scores[j] += eta * count * y * tile[i, j]
    return longer


def warm() -> None:
    """Compile the loop of this module."""
    one = given(np.ones(1))
    walk_block(
        given(np.ones((1, 1))),
        one,
        one,
        one,
        1.0,
        np.zeros(1),
        np.zeros(1),
        np.zeros(2, np.int64),
        np.zeros(1),
    )
