"""Scatter, and how clusters divide it."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from tests.exemplars.tables import tables, weighted_tables

from bisector.exemplars import (
    mean,
    scatter,
    scatter_decomposition,
    scatter_matrix,
)


@given(tables(), st.data())
def test_scatter_is_divided_without_rest(X, data):
    labels = np.array(data.draw(st.lists(st.sampled_from("abc"), min_size=len(X), max_size=len(X))))
    parts = scatter_decomposition(X, labels)
    assert parts.within.sum() + parts.between == pytest.approx(parts.total, rel=1e-12, abs=1e-300)
    assert parts.total == pytest.approx(scatter(X), rel=1e-12, abs=1e-300)
    for label, part in zip(parts.clusters, parts.within, strict=True):
        assert part == pytest.approx(scatter(X[labels == label]), rel=1e-12, abs=1e-300)


@pytest.mark.parametrize("offset", [0, 1e4, 1e8])
def test_scatter_keeps_its_digits_far_from_zero(offset):
    rng = np.random.default_rng(0)
    # Multiples of 2⁻²⁰, which stay exact after the shift.
    X = np.round(rng.normal(size=(500, 3)) * 2**20) / 2**20
    labels = rng.integers(0, 4, 500)
    weights = rng.integers(0, 3, 500)
    near, far = (scatter_decomposition(rows, labels, weights) for rows in (X, X + offset))
    assert far.total == pytest.approx(near.total, rel=1e-13)
    assert far.between == pytest.approx(near.between, rel=1e-12)
    np.testing.assert_allclose(far.within, near.within, rtol=1e-13)
    assert far.within.sum() + far.between == pytest.approx(far.total, rel=1e-13)
    np.testing.assert_allclose(
        scatter_matrix(X + offset, weights), scatter_matrix(X, weights), rtol=1e-12, atol=1e-10
    )


@given(weighted_tables())
def test_scatter_is_the_trace_of_the_scatter_matrix(problem):
    X, weights = problem
    S = scatter_matrix(X, weights)
    assert np.array_equal(S, S.T)
    size = np.abs(X - mean(X, weights)).max()
    assert np.trace(S) == pytest.approx(scatter(X, weights), rel=1e-11, abs=1e-22 * size**2 + 1e-300)
