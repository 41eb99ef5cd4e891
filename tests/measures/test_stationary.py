"""Where k-means on one feature can come to rest."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.testing import assert_allclose

from bisector.measures.stationary import stationary_points


def lloyd(values, starts):
    """Plain k-means; equally near numbers stay with the lower mean."""
    means = np.sort(np.asarray(starts, dtype=float))
    while True:
        labels = np.abs(values[:, None] - means).argmin(axis=1)
        if len(np.unique(labels)) < len(means):
            return None
        moved = np.array([values[labels == c].mean() for c in range(len(means))])
        if (moved == means).all():
            return labels
        means = moved


@given(st.lists(st.integers(-30, 30), min_size=3, max_size=8, unique=True), st.integers(2, 3), st.randoms())
def test_where_lloyd_ends_is_stationary(values, k, random):
    x = np.sort(np.array(values, dtype=float))
    found = {tuple(len(part) for part in split) for split in stationary_points(values, k)}
    labels = lloyd(x, random.sample(values, k))
    if labels is not None:
        assert tuple(np.bincount(labels)) in found


@given(st.lists(st.floats(-5, 5, width=16), min_size=2, max_size=7), st.integers(1, 3))
def test_the_best_split_is_stationary_and_first(values, k):
    from itertools import combinations

    k = min(k, len(values))
    x = np.sort(values)
    scatters = [
        sum(len(part) * part.var() for part in np.split(x, cuts))
        for cuts in combinations(range(1, len(x)), k - 1)
    ]
    found = stationary_points(values, k)
    assert found.scatters[0] == pytest.approx(min(scatters), abs=1e-12)
    assert (np.diff(found.scatters) >= 0).all()
    assert found.n_splits == len(scatters)


def test_not_every_split_stays():
    """10 would rather join 11."""
    found = stationary_points([0, 10, 11], 2)
    assert len(found) == 1
    assert [part.tolist() for part in found.clusters[0]] == [[0], [10, 11]]
    assert_allclose(found.scatters, 0.5)


def test_one_cluster_and_one_each():
    assert_allclose(stationary_points([1, 2, 6], 1).scatters, 14)
    assert_allclose(stationary_points(np.array([[1], [2], [6]]), 3).scatters, 0)
    assert "<table" in stationary_points([1, 2], 1)._repr_html_()


@pytest.mark.parametrize(
    ("x", "k", "kind", "said"),
    [
        ([1, 2], 3, ValueError, "k must be a whole number at least 1 and at most 2"),
        ([], 1, ValueError, "x must hold numbers"),
        ([[1, 2], [3, 4]], 1, ValueError, "one feature only"),
        ([1, np.nan], 1, ValueError, "x is nan in row 1"),
        (np.arange(100), 5, ValueError, "in 3,764,376 ways"),
    ],
)
def test_bad_input_is_told(x, k, kind, said):
    with pytest.raises(kind, match=said):
        stationary_points(x, k)
