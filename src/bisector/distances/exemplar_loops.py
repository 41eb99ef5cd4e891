"""Compiled steps of the search for the row with the least total distance."""

from typing import Any

import numpy as np

from bisector.engine.loops import given, loop


@loop(fast=True)
def add_to_totals(
    tile: Any, n_rows: int, n_columns: int, squared: bool, row_weights: Any, column_weights: Any,
    row_totals: Any, column_totals: Any,
) -> None:  # fmt: skip
    """Add the distances of a tile to the totals of its rows and, where these are wanted, of its columns.

    The order of the terms is the compiler's; what the totals decide allows for it.
    """
    both = len(column_totals) > 0
    for i in range(n_rows):
        weight = row_weights[i]
        total = 0.0
        for b in range(n_columns):
            term = tile[i, b] * tile[i, b] if squared else tile[i, b]
            total += column_weights[b] * term
            if both:
                column_totals[b] += weight * term
        row_totals[i] += total


@loop
def raise_bounds(distances: Any, totals: Any, weight: float, margin: float, bounds: Any) -> None:
    """Raise the lower bounds on the totals of all rows by what the distances from a few rows say.

    Nobody's total differs from that of a row by more than the weight of all rows times the distance to it.
    """
    n_rows, n_columns = distances.shape
    for i in range(n_rows):
        total = totals[i]
        if not total < np.inf:
            continue  # a row that does not reach all others bounds none
        for b in range(n_columns):
            way = weight * distances[i, b]
            bound = abs(total - way) - margin * (total + way)
            if bound > bounds[b]:
                bounds[b] = bound


def warm() -> None:
    """Compile the loops of this module."""
    one, row = given(np.ones(1)), given(np.ones((1, 1)))
    add_to_totals(row, 1, 1, False, one, one, np.zeros(1), np.zeros(1))
    raise_bounds(row, one, 1.0, 0.0, np.zeros(1))
