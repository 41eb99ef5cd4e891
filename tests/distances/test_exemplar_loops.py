"""The compiled steps of the search for the medoid, against NumPy."""

import numpy as np
import pytest

from bisector.distances.exemplar_loops import add_to_totals, raise_bounds
from bisector.engine.loops import given


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("both", [False, True])
def test_totals_of_rows_and_columns(rng, squared, both):
    tile, weights, others = rng.exponential(size=(6, 9)), rng.exponential(size=4), rng.exponential(size=7)
    rows, columns = rng.exponential(size=4), rng.exponential(size=7) if both else np.empty(0)
    terms = tile[:4, :7] ** (2 if squared else 1)
    expected_rows, expected_columns = rows + terms @ others, columns + weights @ terms if both else columns
    add_to_totals(given(tile), 4, 7, squared, given(weights), given(others), rows, columns)
    np.testing.assert_allclose(rows, expected_rows, rtol=1e-14)
    np.testing.assert_allclose(columns, expected_columns, rtol=1e-14)


def test_bounds_are_raised_and_never_lowered(rng):
    distances, totals, bounds = rng.exponential(size=(3, 8)), rng.exponential(size=3), np.full(8, 0.5)
    way = 5.0 * distances
    expected = np.maximum(0.5, (np.abs(totals[:, None] - way) - 0.01 * (totals[:, None] + way)).max(axis=0))
    raise_bounds(given(distances), given(totals), 5.0, 0.01, bounds)
    np.testing.assert_allclose(bounds, expected, rtol=1e-14)


def test_a_row_that_does_not_reach_all_others_bounds_none():
    bounds = np.zeros(2)
    raise_bounds(given(np.array([[np.inf, 1.0]])), given(np.array([np.inf])), 2.0, 0.01, bounds)
    np.testing.assert_array_equal(bounds, [0, 0])
