"""The best clusters of numbers equal those found by trying all."""

import itertools

import numpy as np
import pytest

from bisector.solvers.one_dimensional_clusters import best_intervals, is_feasible


def least_scatter(values, weights, k):
    order = np.argsort(values)
    least = np.inf
    for cuts in itertools.combinations(range(1, len(values)), k - 1):
        parts = np.split(order, cuts)
        means = [np.average(values[part], weights=weights[part]) for part in parts]
        scatters = [weights[p] @ (values[p] - mean) ** 2 for p, mean in zip(parts, means, strict=True)]
        least = min(least, sum(scatters))
    return least


@pytest.mark.parametrize("seed", range(60))
def test_no_other_intervals_have_less_scatter(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 10))
    k = int(rng.integers(1, n + 1))
    values, weights = rng.integers(0, 12, n) * 1.0, rng.integers(1, 4, n) * 1.0
    found = best_intervals(values, k, weights)
    assert found.scatter == pytest.approx(least_scatter(values, weights, k), abs=1e-9)
    assert (np.diff(found.centres) > 0).all()


def test_weights_are_repeated_values():
    values, weights = np.array([3.0, 1.0, 9.0, 4.0]), np.array([2.0, 0.0, 1.0, 3.0])
    ours, repeated = best_intervals(values, 2, weights), best_intervals(np.repeat(values, [2, 0, 1, 3]), 2)
    np.testing.assert_array_equal(ours.centres, repeated.centres)


def test_fewer_values_than_clusters():
    found = best_intervals(np.array([2.0, 1.0, 2.0]), 5)
    assert found.centres.tolist() == [1.0, 2.0]
    assert found.scatter == 0.0


def test_far_from_zero():
    found = best_intervals(1e9 + np.array([0.0, 1.0, 5.0, 6.0]), 2)
    assert (found.centres - 1e9).tolist() == [0.5, 5.5]
    assert found.scatter == 1.0


def test_what_is_too_large_is_known_beforehand():
    assert is_feasible(1_000_000, 8)
    assert not is_feasible(100_000_000, 100)
