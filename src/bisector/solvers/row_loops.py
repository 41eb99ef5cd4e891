"""One row at a time, in homogeneous coordinates: its product with a weight vector, and its addition to one.

Rows are dense or sparse. They reach loops as `WalkedRows`, their values one row after the other; a weight vector
has one number for each feature and one more, the intercept, last.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bisector.engine.intrinsics import prefetch
from bisector.engine.loops import given, loop

# Rows are asked for so many rows before they are scored: about what memory is late by.
_AHEAD = 6
_LINE_BYTES = 64


class WalkedRows(NamedTuple):
    """Rows as loops see them.

    Attributes
    ----------
    values : ndarray of shape (n_values,)
        Row after row, float32 or float64.
    columns, starts : ndarray of int
        Of sparse rows, the feature of each value and where each row begins; empty for dense rows.
    n_rows, n_features : int
    one : float
        The homogeneous coordinate: 1, or 0 where there is no intercept.
    """

    values: NDArray[Any]
    columns: NDArray[np.int64]
    starts: NDArray[np.int64]
    n_rows: int
    n_features: int
    one: float


def walked(X: Any, intercept: bool) -> WalkedRows:
    """Present an array or a CSR matrix to the loops."""
    none = given(np.empty(0, np.int64))
    n, d = X.shape
    if not hasattr(X, "tocsr"):
        return WalkedRows(given(given(X).reshape(-1)), none, none, n, d, float(intercept))
    if not X.has_canonical_format:  # a column may occur once in a row, and in its place
        X = X.copy()
        X.sum_duplicates()
    columns, starts = given(X.indices, np.int64), given(X.indptr, np.int64)
    return WalkedRows(given(X.data), columns, starts, n, d, float(intercept))


@loop(fast=True)
def score_rows(rows: Any, numbers: Any, w: Any, scores: Any, squares: Any) -> None:
    """Write w·x and x·x of some rows, summed in whatever order is fastest."""
    d = rows.n_features
    if len(rows.starts) == 0:
        line = _LINE_BYTES // rows.values.itemsize
        for g in range(len(numbers)):
            if g + _AHEAD < len(numbers):
                for k in range(numbers[g + _AHEAD] * d, (numbers[g + _AHEAD] + 1) * d, line):
                    prefetch(rows.values, k)
            x = rows.values[numbers[g] * d : (numbers[g] + 1) * d]
            score = square = 0.0
            for j in range(d):
                value = np.float64(x[j])
                score += value * w[j]
                square += value * value
            scores[g], squares[g] = score + rows.one * w[d], square + rows.one
    else:
        for g in range(len(numbers)):
            if g + _AHEAD < len(numbers):
                first = rows.starts[numbers[g + _AHEAD]]
                for k in range(first, rows.starts[numbers[g + _AHEAD] + 1], _LINE_BYTES // 8):
                    prefetch(rows.values, k)
                    prefetch(rows.columns, k)
            score = square = 0.0
            for k in range(rows.starts[numbers[g]], rows.starts[numbers[g] + 1]):
                value = np.float64(rows.values[k])
                score += value * w[rows.columns[k]]
                square += value * value
            scores[g], squares[g] = score + rows.one * w[d], square + rows.one


@loop
def score_in_order(rows: Any, i: int, w: Any) -> float:
    """Return w·x of a row, summed in the order of the features: the same number wherever it is computed."""
    d = rows.n_features
    score = 0.0
    if len(rows.starts) == 0:
        x = rows.values[i * d : (i + 1) * d]
        for j in range(d):
            score += np.float64(x[j]) * w[j]
    else:
        for k in range(rows.starts[i], rows.starts[i + 1]):
            score += np.float64(rows.values[k]) * w[rows.columns[k]]
    return score + rows.one * w[d]


@loop
def add_row(rows: Any, i: int, step: float, w: Any) -> None:
    """Add a multiple of a row to a weight vector."""
    d = rows.n_features
    if len(rows.starts) == 0:
        x = rows.values[i * d : (i + 1) * d]
        for j in range(d):
            w[j] += step * np.float64(x[j])
    else:
        for k in range(rows.starts[i], rows.starts[i + 1]):
            w[rows.columns[k]] += step * np.float64(rows.values[k])
    w[d] += step * rows.one


@loop
def shuffle(uniform: Any, orders: Any) -> None:
    """Shuffle the row numbers in each order, in place, by uniform random numbers: every order is as likely."""
    for pick in range(len(orders)):
        order = orders[pick]
        for place in range(len(order) - 1, 0, -1):
            other = int(uniform[pick, place] * (place + 1))
            order[place], order[other] = order[other], order[place]


def some_rows() -> list[WalkedRows]:
    """Make a few rows of every type, for loops to be compiled with."""
    from scipy.sparse import csr_array

    tables = [np.eye(2, dtype=dtype) for dtype in (np.float64, np.float32)]
    return [walked(held, True) for table in tables for held in (table, csr_array(table))]


def warm() -> None:
    """Compile the loops of this module."""
    for rows in some_rows():
        w = np.zeros(3)
        score_rows(rows, np.zeros(1, np.int64), w, np.zeros(1), np.zeros(1))
        score_in_order(rows, 0, w)
        add_row(rows, 0, 1.0, w)
    shuffle(given(np.zeros((1, 2))), np.zeros((1, 2), np.int64))
