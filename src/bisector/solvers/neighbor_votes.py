"""What the k nearest neighbours answer, for every k at once.

Neighbours come nearest first. Walking along them once, with the votes so far, gives the answer of one neighbour, of
two, and so on: every k costs no more than the largest.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.engine.loops import given, loop

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def errors_of_every_k(codes: Integers, votes: Floats, truths: Integers, n_classes: int) -> Integers:
    """Count the queries that a vote of the first k neighbours gets wrong, for k = 1, 2, …

    Parameters
    ----------
    codes : ndarray of shape (n_queries, k_max)
        The neighbours' classes, nearest first, as numbers from 0.
    votes : ndarray of shape (n_queries, k_max)
        How much each counts.
    truths : ndarray of shape (n_queries,)
        The queries' own classes.
    n_classes : int

    Returns
    -------
    ndarray of shape (k_max,)

    Examples
    --------
    One neighbour is wrong, three are right; of two that disagree, the smaller class wins:

    >>> import numpy as np
    >>> from bisector.solvers.neighbor_votes import errors_of_every_k
    >>> errors_of_every_k(np.array([[1, 0, 0]]), np.ones((1, 3)), np.array([0]), 2)
    array([1, 0, 0])
    """
    errors = np.zeros(codes.shape[1], dtype=np.int64)
    _count_errors(
        given(codes, np.int64), given(votes, np.float64), given(truths, np.int64), n_classes, errors
    )
    return errors


@loop
def _count_errors(codes: Any, votes: Any, truths: Any, n_classes: int, errors: Any) -> None:
    n_queries, k_max = codes.shape
    counts = np.empty(n_classes)
    for q in range(n_queries):
        counts[:] = 0.0
        winner = n_classes
        most = 0.0
        for k in range(k_max):
            code = codes[q, k]
            counts[code] += votes[q, k]
            if counts[code] > most or (counts[code] == most and code < winner):
                winner, most = code, counts[code]
            errors[k] += np.int64(winner != truths[q])


def losses_of_every_k(targets: Floats, votes: Floats, truths: Floats) -> tuple[Floats, Floats]:
    """Sum the squared errors of the mean of the first k neighbours, and their squares, for k = 1, 2, …

    Parameters
    ----------
    targets : ndarray of shape (n_queries, k_max)
        The neighbours' targets, nearest first.
    votes : ndarray of shape (n_queries, k_max)
        How much each counts.
    truths : ndarray of shape (n_queries,)

    Returns
    -------
    losses, squares : ndarray of shape (k_max,)

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.solvers.neighbor_votes import losses_of_every_k
    >>> losses_of_every_k(np.array([[2.0, 4.0]]), np.ones((1, 2)), np.array([4.0]))[0]
    array([4., 1.])
    """
    losses, squares = np.zeros(targets.shape[1]), np.zeros(targets.shape[1])
    _add_losses(
        given(targets, np.float64), given(votes, np.float64), given(truths, np.float64), losses, squares
    )
    return losses, squares


@loop
def _add_losses(targets: Any, votes: Any, truths: Any, losses: Any, squares: Any) -> None:
    n_queries, k_max = targets.shape
    for q in range(n_queries):
        total, weight = 0.0, 0.0
        for k in range(k_max):
            total += votes[q, k] * targets[q, k]
            weight += votes[q, k]
            error = total / weight - truths[q]
            losses[k] += error * error
            squares[k] += error * error * error * error


def warm() -> None:
    """Compile the loops of this module."""
    errors_of_every_k(np.zeros((1, 1), np.int64), np.ones((1, 1)), np.zeros(1, np.int64), 1)
    losses_of_every_k(np.zeros((1, 1)), np.ones((1, 1)), np.zeros(1))
