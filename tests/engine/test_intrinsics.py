"""Comparisons as bits, compiled and as plain Python."""

import numpy as np
import pytest

from bisector.engine.intrinsics import (
    BITS,
    bits_below,
    lowest_bit,
    without_lowest_bit,
)
from bisector.engine.loops import given, loop


@loop
def compare(values, bounds, first):
    return bits_below(values, bounds, first)


@loop
def places(values, bounds, found):
    bits, count = bits_below(values, bounds, 0), 0
    while bits != 0:
        found[count] = lowest_bit(bits)
        count += 1
        bits = without_lowest_bit(bits)
    return count


@loop
def after_the_last(values, bounds):
    bits = without_lowest_bit(bits_below(values, bounds, 0))
    return lowest_bit(bits), bits


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("share", [0.0, 0.05, 0.5, 1.0])
def test_each_bit_is_a_comparison(dtype, share):
    rng = np.random.default_rng(0)
    bounds = rng.random(200).astype(dtype)
    values = np.where(rng.random(200) < share, bounds / 2, bounds).astype(dtype)  # what is equal is not below
    for first in (0, 1, 7, 200 - BITS):
        here = values[first : first + BITS] < bounds[first : first + BITS]
        expected = sum(1 << int(i) for i in np.flatnonzero(here))
        assert int(compare(given(values), given(bounds), first)) == expected
        assert bits_below(values, bounds, first) == expected
    found = np.zeros(BITS, np.int64)
    count = places(given(values), given(bounds), found)
    assert found[:count].tolist() == np.flatnonzero(values[:BITS] < bounds[:BITS]).tolist()


def test_neither_infinity_nor_nan_is_below():
    values = np.full(BITS, np.inf)
    values[3], values[5], values[63] = np.nan, -np.inf, 0.0
    bounds = np.full(BITS, np.inf)
    assert int(compare(given(values), given(bounds), 0)) == 1 << 5 | 1 << 63
    bounds[:] = np.nan
    assert int(compare(given(values), given(bounds), 0)) == 0


def test_nothing_is_left_after_the_last_bit():
    values, bounds = np.ones(BITS), np.ones(BITS)
    values[9] = 0
    assert tuple(map(int, after_the_last(given(values), given(bounds)))) == (BITS, 0)
    values[9] = 1
    assert tuple(map(int, after_the_last(given(values), given(bounds)))) == (BITS, 0)
    assert lowest_bit(0) == BITS
