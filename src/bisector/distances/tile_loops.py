"""Compiled tiles: one formula over many pairs of rows.

A tile is a rectangle of pairs, outer rows × inner rows. Its loop runs over the inner rows innermost, which stand
column-wise in a scratch array, so that the processor works on several pairs at once while each pair's terms are
gathered in the order of its coordinates: the numbers are those of the formula for one pair, bit for bit, whatever
the tile's size.
"""

from typing import Any

import numpy as np

from bisector.engine.loops import compile_methods, loop

compile_methods(
    bare=lambda self: None,
    weight=lambda self, j: None,
    term=lambda self, x, y, weight: None,
    gather=lambda self, total, term: None,
    rescale=lambda self, total, weight, present: None,
    finish=lambda self, value: None,
    reduce=lambda self, value: None,
)

# Coordinates gathered per visit to the running totals: the totals stay in registers for so many terms.
_UNROLLED = 8


@loop
def stand_columnwise(rows: Any, first: int, columns: Any) -> None:
    """Copy rows from `first` on into the columns of a float64 array, as many as it has."""
    n_features, n = columns.shape
    for start in range(0, n, 8):
        stop = min(start + 8, n)
        for j in range(n_features):
            for b in range(start, stop):
                columns[j, b] = rows[first + b, j]


@loop
def weigh_columns(formula: Any, n_features: int) -> Any:
    """Return the weights of the features."""
    weights = np.empty(n_features)
    for j in range(n_features):
        weights[j] = formula.weight(j)
    return weights


@loop
def gather_row(formula: Any, weights: Any, row: Any, columns: Any, totals: Any) -> None:
    """Set `totals` to the reduced distances of one row to rows that stand column-wise, by a bare formula."""
    gather_first(formula, weights, row, columns, totals)
    for j in range(len(row) % _UNROLLED, len(row), _UNROLLED):
        gather_eight(formula, weights, row, columns, j, False, totals)


@loop
def measure_row(formula: Any, weights: Any, row: Any, columns: Any, totals: Any) -> None:
    """Do as `gather_row` does, and finish: a root takes long, and other arithmetic goes on meanwhile."""
    gather_first(formula, weights, row, columns, totals)
    for j in range(len(row) % _UNROLLED, len(row), _UNROLLED):
        gather_eight(formula, weights, row, columns, j, j + _UNROLLED == len(row), totals)
    if len(row) < _UNROLLED:
        for b in range(len(totals)):
            totals[b] = formula.finish(totals[b])


@loop
def gather_first(formula: Any, weights: Any, row: Any, columns: Any, totals: Any) -> None:
    """Set `totals` to what comes from the coordinates before those that are taken by eights."""
    n = len(totals)
    for b in range(n):
        totals[b] = 0.0
    j, rest = 0, len(row) % _UNROLLED
    if rest & 4:
        x0, w0 = row[j], weights[j]
        x1, w1 = row[j + 1], weights[j + 1]
        x2, w2 = row[j + 2], weights[j + 2]
        x3, w3 = row[j + 3], weights[j + 3]
        for b in range(n):
            total = totals[b]
            total = formula.gather(total, formula.term(x0, columns[j, b], w0))
            total = formula.gather(total, formula.term(x1, columns[j + 1, b], w1))
            total = formula.gather(total, formula.term(x2, columns[j + 2, b], w2))
            total = formula.gather(total, formula.term(x3, columns[j + 3, b], w3))
            totals[b] = total
        j += 4
    if rest & 2:
        x0, w0 = row[j], weights[j]
        x1, w1 = row[j + 1], weights[j + 1]
        for b in range(n):
            total = totals[b]
            total = formula.gather(total, formula.term(x0, columns[j, b], w0))
            total = formula.gather(total, formula.term(x1, columns[j + 1, b], w1))
            totals[b] = total
        j += 2
    if rest & 1:
        x0, w0 = row[j], weights[j]
        for b in range(n):
            totals[b] = formula.gather(totals[b], formula.term(x0, columns[j, b], w0))


@loop
def gather_eight(formula: Any, weights: Any, row: Any, columns: Any, j: int, last: bool, totals: Any) -> None:
    """Gather eight coordinates from j on, and finish if they are the last."""
    x0, w0 = row[j], weights[j]
    x1, w1 = row[j + 1], weights[j + 1]
    x2, w2 = row[j + 2], weights[j + 2]
    x3, w3 = row[j + 3], weights[j + 3]
    x4, w4 = row[j + 4], weights[j + 4]
    x5, w5 = row[j + 5], weights[j + 5]
    x6, w6 = row[j + 6], weights[j + 6]
    x7, w7 = row[j + 7], weights[j + 7]
    for b in range(len(totals)):
        total = totals[b]
        total = formula.gather(total, formula.term(x0, columns[j, b], w0))
        total = formula.gather(total, formula.term(x1, columns[j + 1, b], w1))
        total = formula.gather(total, formula.term(x2, columns[j + 2, b], w2))
        total = formula.gather(total, formula.term(x3, columns[j + 3, b], w3))
        total = formula.gather(total, formula.term(x4, columns[j + 4, b], w4))
        total = formula.gather(total, formula.term(x5, columns[j + 5, b], w5))
        total = formula.gather(total, formula.term(x6, columns[j + 6, b], w6))
        total = formula.gather(total, formula.term(x7, columns[j + 7, b], w7))
        totals[b] = formula.finish(total) if last else total


@loop
def fill_tile(
    formula: Any, outer: Any, outer_from: int, inner: Any, inner_from: int, finished: bool,
    out: Any, row: int, column: int, n_rows: int, n_columns: int,
) -> None:  # fmt: skip
    """Write the distances of consecutive outer rows to consecutive inner rows into a rectangle of `out`."""
    n_features = inner.shape[1]
    columns = np.empty((n_features, n_columns))
    stand_columnwise(inner, inner_from, columns)
    weights, bare = weigh_columns(formula, n_features), formula.bare()
    totals = np.empty(n_columns)
    one = np.empty(n_features)
    for i in range(n_rows):
        for j in range(n_features):
            one[j] = outer[outer_from + i, j]
        if finished:
            measure_row(bare, weights, one, columns, totals)
        else:
            gather_row(bare, weights, one, columns, totals)
        line = out[row + i, column : column + n_columns]
        for b in range(n_columns):
            line[b] = totals[b]


@loop
def fill_present_tile(
    formula: Any, outer: Any, outer_from: int, inner: Any, inner_from: int, finished: bool,
    out: Any, row: int, column: int, n_rows: int, n_columns: int,
) -> None:  # fmt: skip
    """Do as `fill_tile` does, from the coordinates that both rows have."""
    n_features = inner.shape[1]
    columns = np.empty((n_features, n_columns))
    stand_columnwise(inner, inner_from, columns)
    weights, bare = weigh_columns(formula, n_features), formula.bare()
    totals = np.empty(n_columns)
    present = np.empty(n_columns)
    all_weight = 0.0
    for j in range(n_features):
        all_weight += weights[j]
    for i in range(n_rows):
        totals[:] = 0.0
        present[:] = 0.0
        for j in range(n_features):
            x = np.float64(outer[outer_from + i, j])
            weight = weights[j]
            if x == x:
                for b in range(n_columns):
                    y = columns[j, b]
                    if y == y:
                        totals[b] = bare.gather(totals[b], bare.term(x, y, weight))
                        present[b] += weight
        for b in range(n_columns):
            total = bare.rescale(totals[b], all_weight, present[b])
            out[row + i, column + b] = bare.finish(total) if finished else total


@loop
def fill_sparse_tile(
    formula: Any, outer: Any, outer_from: int, inner: Any, inner_from: int, finished: bool,
    out: Any, row: int, column: int, n_rows: int, n_columns: int,
) -> None:  # fmt: skip
    """Do as `fill_tile` does, along the entries of sparse rows (values, columns, starts of rows)."""
    for i in range(n_rows):
        for b in range(n_columns):
            total = gather_entries(formula, outer, outer_from + i, inner, inner_from + b)
            out[row + i, column + b] = formula.finish(total) if finished else total


@loop
def gather_entries(formula: Any, left: Any, left_row: int, right: Any, right_row: int) -> float:
    """Return the reduced distance of two sparse rows."""
    left_values, left_columns, left_starts = left
    right_values, right_columns, right_starts = right
    a, a_end = left_starts[left_row], left_starts[left_row + 1]
    b, b_end = right_starts[right_row], right_starts[right_row + 1]
    total = 0.0
    while a < a_end or b < b_end:
        from_left = b == b_end or (a < a_end and left_columns[a] <= right_columns[b])
        from_right = a == a_end or (b < b_end and right_columns[b] <= left_columns[a])
        j = left_columns[a] if from_left else right_columns[b]
        x = y = 0.0
        if from_left:
            x = left_values[a]
            a += 1
        if from_right:
            y = right_values[b]
            b += 1
        total = formula.gather(total, formula.term(x, y, formula.weight(j)))
    return total


@loop
def finish_all(formula: Any, reduced: Any, finished: Any) -> None:
    """Turn reduced distances into distances."""
    for i in range(len(reduced)):
        finished[i] = formula.finish(reduced[i])


@loop
def mirror_tile(matrix: Any, row: int, column: int, n_rows: int, n_columns: int) -> None:
    """Copy a rectangle of a square matrix to the place across its diagonal."""
    for top in range(0, n_rows, 16):
        for left in range(0, n_columns, 16):
            for b in range(left, min(left + 16, n_columns)):
                for i in range(top, min(top + 16, n_rows)):
                    matrix[column + b, row + i] = matrix[row + i, column + b]


@loop
def map_rows(rows: Any, matrix: Any, image: Any) -> None:
    """Add rows · matrix to an array of zeros, each sum in the order of its terms: no row depends on others."""
    n_features, n_columns = matrix.shape
    for i in range(len(rows)):
        for j in range(n_features):
            x = rows[i, j]
            for c in range(n_columns):
                image[i, c] += x * matrix[j, c]


def warm() -> None:
    """Compile the loops of this module for every formula; that of missing values and sparse rows for a few."""
    from bisector.distances import terms
    from bisector.engine.loops import given

    row, place = given(np.ones((1, 1))), (False, np.empty((1, 1)), 0, 0, 1, 1)
    entries = given(np.ones(1)), given(np.zeros(1, np.int64)), given(np.array([0, 1]))
    common = (terms.AbsoluteTerms(), terms.SquaredTerms(), terms.LargestTerm(), terms.KeptSquares(1.0))
    rare = (terms.PowerTerms(2.5), terms.RootTerms(), terms.ThreeHalvesTerms(), terms.CubedTerms())
    more = (terms.FourthPowers(), terms.DifferingTerms(1.0), terms.ArcOfChord(1.0))
    for formula in (*common, *rare, *more):
        fill_tile(formula, row, 0, row, 0, *place)
        finish_all(formula, given(np.ones(1)), np.empty(1))
    for formula in common:
        fill_present_tile(formula, row, 0, row, 0, *place)
        fill_sparse_tile(formula, entries, 0, entries, 0, *place)
    for dtype in (np.float32, np.float64):
        mirror_tile(np.ones((1, 1), dtype), 0, 0, 1, 1)
    map_rows(row, row, np.zeros((1, 1)))
