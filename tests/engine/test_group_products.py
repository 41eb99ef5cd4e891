"""Sixteen rows against centres and candidates: the compiled steps are the plain ones."""

import numpy as np
import pytest

from bisector.engine.group_products import GROUP, MOST_AT_ONCE, multiply_group, weigh_group
from bisector.engine.loops import given, loop


@loop
def weigh(products, c, sizes, known, share, sums):
    return weigh_group(products, c, sizes, known, share, sums)


def whole_numbers(rng, shape, low=-9, high=9):
    return rng.integers(low, high, size=shape).astype(np.float32)  # sums and products of which are exact


@pytest.mark.parametrize("k", [1, 2, 7])
def test_the_compiled_step_is_the_plain_one(k):
    rng = np.random.default_rng(0)
    for share in (np.float32(0), np.float32(0.5)):
        products, sizes = whole_numbers(rng, (k, GROUP)), whole_numbers(rng, (2, k), 0)
        known = whole_numbers(rng, (3, GROUP), 0)
        before = whole_numbers(rng, (2, k, GROUP))
        for c in range(k):
            found = []
            for way in (weigh, weigh_group):
                sums = before.copy()
                bits = way(given(products), c, given(sizes), given(known), share, sums)
                found.append((int(bits), sums))
            assert found[0][0] == found[1][0]
            np.testing.assert_array_equal(found[0][1], found[1][1])
            others = np.delete(np.arange(k), c)
            np.testing.assert_array_equal(found[0][1][:, others], before[:, others])


@pytest.mark.parametrize("way", [weigh, weigh_group])
def test_gains_and_errors_by_hand(way):
    known = np.zeros((3, GROUP), np.float32)
    known[0], known[2] = 4, 2
    known[1] = np.arange(GROUP)  # the candidate is at a squared distance of 4 + 9 − 6 = 7
    products, sizes = np.full((1, GROUP), 6, np.float32), np.array([[9], [1]], np.float32)
    sums = np.zeros((2, 1, GROUP), np.float32)
    bits = int(way(given(products), 0, given(sizes), given(known), np.float32(0.25), sums))
    assert bits == sum(1 << r for r in range(6, GROUP))  # off by at most 4/4 + 1 = 2: five is not above 7 − 2
    np.testing.assert_array_equal(sums[0, 0], 2.0 * np.maximum(np.arange(GROUP) - 7, 0))
    np.testing.assert_array_equal(sums[1, 0], np.where(np.arange(GROUP) > 5, 4.0, 0.0))


@pytest.mark.parametrize("way", [weigh, weigh_group])
def test_places_without_row_or_candidate_add_nothing(way):
    known = np.ones((3, GROUP), np.float32)
    known[1, 3:] = -np.inf
    sums, products = np.zeros((2, 2, GROUP), np.float32), np.zeros((2, GROUP), np.float32)
    sizes = np.array([[-1, np.inf], [0, 0]], np.float32)
    assert int(way(given(products), 0, given(sizes), given(known), np.float32(0.1), sums)) == 0b111
    assert int(way(given(products), 1, given(sizes), given(known), np.float32(0.1), sums)) == 0
    assert sums[0].sum() == 3
    assert np.isfinite(sums).all()
    assert not sums[:, 1].any()


@loop
def multiply(group, across, first, count, products):
    multiply_group(group, across, first, count, products)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("count", range(2, MOST_AT_ONCE + 1, 2))
@pytest.mark.parametrize("d", [1, 17])
def test_groups_of_rows_are_multiplied_by_the_centres_asked_for(d, count, dtype):
    rng = np.random.default_rng(1)
    group, across = rng.integers(-9, 9, (d, GROUP)).astype(dtype), rng.integers(-9, 9, (d, 20)).astype(dtype)
    for first in (0, 3):
        expected = np.full((20, GROUP), 0.5, dtype)
        expected[first : first + count] = across[:, first : first + count].T @ group  # whole numbers: exact
        for way in (multiply, multiply_group):
            products = np.full((20, GROUP), 0.5, dtype)
            way(group, across, first, count, products)
            np.testing.assert_array_equal(products, expected)
