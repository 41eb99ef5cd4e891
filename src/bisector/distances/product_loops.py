"""Compiled steps of distances by matrix products: finishing a tile, and repairing it where products cancel."""

from typing import Any

from bisector.distances.tile_loops import gather_entries
from bisector.engine.loops import compile_methods, loop

compile_methods(of_rows=lambda self, x, y: None)


@loop
def finish_products(
    formula: Any, products: Any, left: Any, right: Any, out: Any, row: int, column: int
) -> int:
    """Write the distances that a tile of dot products gives; return how many are too close to be trusted.

    `left` and `right` hold, for their rows, the squares of the lengths, and what each adds to the least reduced
    distance that is trusted.
    """
    n_rows, n_columns = products.shape
    left_squares, left_least = left
    right_squares, right_least = right
    bare = formula.bare()
    n_close = 0
    for i in range(n_rows):
        square, least = left_squares[i], left_least[i]
        found, line = products[i], out[row + i, column : column + n_columns]
        for b in range(n_columns):
            reduced = square + right_squares[b] - 2.0 * found[b]
            n_close += 0 if reduced > least + right_least[b] else 1  # where squares overflow, it is NaN
            line[b] = bare.finish(reduced if reduced > 0.0 else 0.0)
    return n_close


@loop
def is_close(products: Any, left: Any, i: int, right: Any, b: int) -> bool:
    """Whether `finish_products` counted a pair."""
    reduced = left[0][i] + right[0][b] - 2.0 * products[i, b]
    return not reduced > left[1][i] + right[1][b]


@loop
def repair_close(
    formula: Any, again: Any, rows: Any, others: Any, products: Any, left: Any, right: Any,
    out: Any, row: int, column: int,
) -> None:  # fmt: skip
    """Compute the pairs again that `finish_products` counted, from their rows."""
    n_rows, n_columns = products.shape
    for i in range(n_rows):
        for b in range(n_columns):
            if is_close(products, left, i, right, b):
                out[row + i, column + b] = formula.finish(again.of_rows(rows[i], others[b]))


@loop
def repair_close_entries(
    formula: Any, rows: Any, rows_from: int, others: Any, others_from: int, products: Any, left: Any, right: Any,
    out: Any, row: int, column: int,
) -> None:  # fmt: skip
    """Do as `repair_close` does, along the entries of sparse rows."""
    n_rows, n_columns = products.shape
    for i in range(n_rows):
        for b in range(n_columns):
            if is_close(products, left, i, right, b):
                total = gather_entries(formula, rows, rows_from + i, others, others_from + b)
                out[row + i, column + b] = formula.finish(total)


def warm() -> None:
    """Compile the loops of this module, for the formulas that sum squares."""
    import numpy as np

    from bisector.distances.close_pairs import OfCoordinates, OfDirections, OfMappedDifference
    from bisector.distances.terms import ArcOfChord, KeptSquares, SquaredTerms
    from bisector.engine.loops import given

    one, row = given(np.ones(1)), given(np.ones((1, 1)))
    place = (row, (one, one), (one, one), np.empty((1, 1)), 0, 0)
    entries = given(np.ones(1)), given(np.zeros(1, np.int64)), given(np.array([0, 1]))
    for formula in (SquaredTerms(), KeptSquares(1.0), ArcOfChord(1.0)):
        finish_products(formula, *place)
        mapped = () if isinstance(formula, ArcOfChord) else (OfMappedDifference(row),)
        directed = () if isinstance(formula, SquaredTerms) else (OfDirections(),)
        for again in (OfCoordinates(formula), *mapped, *directed):
            repair_close(formula, again, row, row, *place)
        repair_close_entries(formula, entries, 0, entries, 0, *place)
