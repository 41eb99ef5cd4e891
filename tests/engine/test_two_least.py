"""The two least of products: compiled as in plain Python, and as NumPy says."""

import numpy as np
import pytest

from bisector.engine.loops import given, loop
from bisector.engine.registers import LANES
from bisector.engine.two_least import two_least


@loop
def compiled(rows, listed, start, blocks, b, beside, least, second, owners):
    two_least(rows, listed, start, blocks, b, beside, least, second, owners)


def nothing_known(dtype, size=3 * LANES):
    return np.full(size, np.inf, dtype), np.full(size, np.inf, dtype), np.zeros(size, np.int32)


def whole_numbers(d, dtype, n_blocks=3, seed=0):
    """Rows, blocks and what is added: products of small whole numbers are exact, and many of them are equal."""
    rng = np.random.default_rng(seed)
    shapes = (40, d), (n_blocks, d, LANES), (n_blocks * LANES,)
    return [rng.integers(-4, 4, shape).astype(dtype) for shape in shapes]


@pytest.mark.parametrize("way", [compiled, two_least])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [1, 2, 17, 64])
def test_they_are_those_of_all_products_and_the_first_of_equals(d, dtype, way):
    rows, blocks, beside = whole_numbers(d, dtype)
    listed = np.random.default_rng(1).integers(40, size=3 * LANES)
    least, second, owners = nothing_known(dtype)
    for b in range(len(blocks)):
        for start in (0, 2 * LANES):
            way(given(rows), given(listed), start, given(blocks), b, given(beside), least, second, owners)
    lows = rows[listed] @ np.concatenate(list(blocks), axis=1) + beside
    met = np.r_[:LANES, 2 * LANES : 3 * LANES]
    np.testing.assert_array_equal(owners[met], lows.argmin(axis=1)[met])
    np.testing.assert_array_equal(np.stack([least, second], 1)[met], np.sort(lows, axis=1)[met, :2])
    assert np.isinf(least[LANES : 2 * LANES]).all()


@pytest.mark.parametrize("way", [compiled, two_least])
def test_what_is_no_number_is_passed_over(way):
    rows, blocks, beside = whole_numbers(5, np.float32, n_blocks=1)
    rows[3] = np.nan
    beside[4:] = np.inf  # as for places that no centre has
    least, second, owners = nothing_known(np.float32)
    way(given(rows), given(np.arange(LANES)), 0, given(blocks), 0, given(beside), least, second, owners)
    assert (least[3], second[3], owners[3]) == (np.inf, np.inf, 0)
    assert owners[:LANES].max() < 4
