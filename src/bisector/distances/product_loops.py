"""Compiled steps of distances by matrix products: finishing a tile, and repairing it where products cancel."""

from typing import Any

from bisector.distances import tile_loops  # noqa: F401  which makes formulas known to loops
from bisector.engine.loops import loop


@loop
def finish_products(
    formula: Any, products: Any, left_squares: Any, right_squares: Any, closest: float,
    out: Any, row: int, column: int,
) -> int:  # fmt: skip
    """Write the distances that a tile of dot products gives; return how many are too close to be trusted."""
    n_rows, n_columns = products.shape
    n_close = 0
    for i in range(n_rows):
        square = left_squares[i]
        for b in range(n_columns):
            size = square + right_squares[b]
            reduced = size - 2.0 * products[i, b]
            n_close += 1 if reduced <= closest * size else 0
            out[row + i, column + b] = formula.finish(reduced if reduced > 0.0 else 0.0)
    return n_close


@loop
def repair_close(
    formula: Any, left: Any, right: Any, products: Any, left_squares: Any, right_squares: Any, closest: float,
    out: Any, row: int, column: int,
) -> None:  # fmt: skip
    """Compute the pairs again that `finish_products` counted, coordinate by coordinate."""
    n_rows, n_columns = products.shape
    for i in range(n_rows):
        for b in range(n_columns):
            size = left_squares[i] + right_squares[b]
            if size - 2.0 * products[i, b] <= closest * size:
                total = 0.0
                for j in range(left.shape[1]):
                    total = formula.gather(total, formula.term(left[i, j], right[b, j], formula.weight(j)))
                out[row + i, column + b] = formula.finish(total)


def warm() -> None:
    """Compile the loops of this module, for the formulas that sum squares."""
    import numpy as np

    from bisector.distances.terms import ArcOfChord, KeptSquares, SquaredTerms
    from bisector.engine.loops import given

    one, row = given(np.ones(1)), given(np.ones((1, 1)))
    for formula in (SquaredTerms(), KeptSquares(1.0), ArcOfChord(1.0)):
        finish_products(formula, row, one, one, 1.0, np.empty((1, 1)), 0, 0)
        repair_close(formula, row, row, row, one, one, 1.0, np.empty((1, 1)), 0, 0)
