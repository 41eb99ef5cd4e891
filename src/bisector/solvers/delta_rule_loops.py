"""Compiled pass of the perceptron for regression: one row after the other, each pulls the plane towards itself."""

from typing import Any

import numpy as np

from bisector.engine.loops import given, loop
from bisector.solvers.row_loops import add_row, score_rows, some_rows


@loop
def regress_pass(
    rows: Any, targets: Any, weights: Any, order: Any, rate: float, scale: float, squared: bool, w: Any
) -> float:
    """Visit the rows in an order, and step by their residuals; return the sum of the squared residuals met.

    Parameters
    ----------
    scale : float
        What steps are divided by; 0 stands for x·x of the row itself.
    squared : bool
        Whether steps are by the squares of residuals.
    """
    number, score, square = np.empty(1, np.int64), np.empty(1), np.empty(1)
    total = 0.0
    for place in range(len(order)):
        i = order[place]
        number[0] = i
        score_rows(rows, number, w, score, square)
        residual = targets[i] - score[0]
        count = weights[i] if len(weights) else 1.0
        total += count * residual * residual
        divisor = scale if scale > 0.0 else square[0]
        if divisor == 0.0:
            continue  # a row of zeros pulls nowhere
        if squared:
            step = rate * count * residual * residual / divisor
        elif count == 1.0:
            step = rate * residual / divisor
        else:
            step = (
                residual * repeated_share(count, rate * square[0] / divisor) / square[0]
                if square[0] > 0.0
                else 0.0
            )
        add_row(rows, i, step, w)
    return total


@loop
def repeated_share(count: float, share: float) -> float:
    """Return which share of a residual is gone after a row was shown so many times, if one time takes `share`.

    The last time may be a part of one.
    """
    whole = np.floor(count)
    return 1.0 - (1.0 - share) ** whole * (1.0 - (count - whole) * share)


@loop
def gather_residuals(rows: Any, targets: Any, weights: Any, scale: float, w: Any, slope: Any) -> Any:
    """Return Σ r² and Σ |r|·‖x‖ over all rows, and write Σ r x, each step divided as the walk divides it."""
    number, score, square = np.empty(1, np.int64), np.empty(1), np.empty(1)
    total = size = 0.0
    for i in range(rows.n_rows):
        count = weights[i] if len(weights) else 1.0
        number[0] = i
        score_rows(rows, number, w, score, square)
        residual = targets[i] - score[0]
        total += count * residual * residual
        divisor = scale if scale > 0.0 else square[0]
        if count > 0.0 and divisor > 0.0:
            add_row(rows, i, count * residual / divisor, slope)
            size += count * abs(residual) * np.sqrt(square[0]) / divisor
    return total, size


@loop
def longest_square(rows: Any, weights: Any) -> float:
    """Return the largest x·x of the rows that count; infinite if one is not a number."""
    number, score, square = np.empty(1, np.int64), np.empty(1), np.empty(1)
    w = np.zeros(rows.n_features + 1)
    longest = 0.0
    for i in range(rows.n_rows):
        if len(weights) and weights[i] == 0.0:
            continue
        number[0] = i
        score_rows(rows, number, w, score, square)
        if not square[0] <= 1e300:
            return np.inf
        longest = max(longest, square[0])
    return longest


def warm() -> None:
    """Compile the loops of this module."""
    two, order = given(np.ones(2)), given(np.arange(2))
    for rows in some_rows():
        regress_pass(rows, two, two, order, 1.0, 0.0, False, np.zeros(3))
        gather_residuals(rows, two, two, 0.0, np.zeros(3), np.zeros(3))
        longest_square(rows, two)
