"""Averages by bumps: against the formula written out, for every way they are computed."""

import numpy as np
import pytest

from bisector.distances import Euclidean, Levenshtein, Manhattan
from bisector.kernels import EpanechnikovBump, ExponentialBump, GaussianBump, TriangularBump, WindowBump
from bisector.search import build_index
from bisector.solvers.bump_averages import averages_within, bump_averages

ENDLESS, ENDING = [GaussianBump(), ExponentialBump()], [WindowBump(), EpanechnikovBump(), TriangularBump()]


@pytest.fixture(scope="module")
def drawn():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(700, 3))
    X[5] = X[4]
    values = np.column_stack([X[:, 0] ** 2, rng.normal(size=700)])
    weights = rng.integers(1, 4, size=700).astype(float)
    return X, rng.normal(size=(150, 3)), values, weights


def written_out(bump, D, values, weights, widths):
    """Σ αy / Σα with α = w·φ(d/r), from logarithms, so that nothing underflows."""
    averages = []
    for width in widths:
        logs = bump.log_height(D / width)
        peak = logs.max(axis=1, keepdims=True)
        heights = weights * np.exp(logs - np.where(np.isfinite(peak), peak, 0.0))
        mass = heights.sum(axis=1, keepdims=True)
        averages.append(heights @ values / np.where(mass > 0, mass, 1.0))
    return np.array(averages)


@pytest.mark.parametrize("metric", [Euclidean(), Euclidean(weights=[1.0, 4.0, 0.5]), Manhattan()], ids=repr)
@pytest.mark.parametrize("bump", ENDLESS, ids=repr)
def test_the_formula(bump, metric, drawn):
    X, queries, values, weights = drawn
    rows = metric.prepare(X)
    widths = np.array([[0.02], [0.5], [30.0]])
    found = bump_averages(bump, metric, rows, metric.prepare(queries, like=rows), values, weights, widths)
    assert found.reached.all()
    expected = written_out(bump, metric.pairwise(queries, X), values, weights, widths)
    # Heights are off by 1e-15 times their logarithm, which is thousands for the narrowest.
    np.testing.assert_allclose(found.values, expected, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("bump", ENDLESS, ids=repr)
def test_a_width_for_every_row(bump, drawn):
    X, queries, values, weights = drawn
    metric, widths = Euclidean(), np.random.default_rng(0).uniform(0.1, 2.0, size=(2, 700))
    rows = metric.prepare(X)
    found = bump_averages(bump, metric, rows, metric.prepare(queries), values, weights, widths)
    expected = written_out(bump, metric.pairwise(queries, X), values, weights, widths)
    np.testing.assert_allclose(found.values, expected, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("bump", ENDING, ids=repr)
@pytest.mark.parametrize("shared", [True, False])
def test_bumps_that_end(bump, shared, drawn):
    X, queries, values, weights = drawn
    widths = np.array([[0.05], [0.8]]) if shared else np.random.default_rng(0).uniform(0.1, 2.0, (1, 700))
    index = build_index(X)
    found = averages_within(bump, index, index.prepare(queries), values, weights, widths)
    D = Euclidean().pairwise(queries, X)
    np.testing.assert_allclose(
        found.values, written_out(bump, D, values, weights, widths), rtol=1e-11, atol=1e-12
    )
    np.testing.assert_array_equal(found.reached, [(bump(D / width) > 0).any(axis=1) for width in widths])
    assert found.reached.all() != shared


@pytest.mark.parametrize("metric", [Euclidean(), Manhattan()], ids=repr)
@pytest.mark.parametrize("bump", ENDLESS + ENDING[:1], ids=repr)
def test_leaving_a_row_out_is_fitting_without_one_of_its_copies(bump, metric, drawn):
    X, _, values, weights = drawn
    X, values, weights = X[:200], values[:200], weights[:200]
    widths, rows = np.array([[0.05], [0.7]]), metric.prepare(X)
    if bump in ENDING:
        index = build_index(X, metric)
        found = averages_within(bump, index, rows, values, weights, widths, leave_out=True)
    else:
        found = bump_averages(bump, metric, rows, rows, values, weights, widths, leave_out=True)
    D = metric.pairwise(X)
    for i in range(0, 200, 7):
        left = weights.copy()
        left[i] -= 1
        kept = left > 0
        alone = written_out(bump, D[[i]][:, kept], values[kept], left[kept], widths)
        np.testing.assert_allclose(found.values[:, i], alone[:, 0], rtol=1e-9, atol=1e-11)


def test_the_limit_is_the_nearest_row_without_underflow(drawn):
    X, queries, values, _ = drawn
    metric = Euclidean()
    rows, at = metric.prepare(X), metric.prepare(1e3 * queries)
    found = bump_averages(GaussianBump(), metric, rows, at, values, np.ones(700), np.array([[1e-9]]))
    nearest = metric.pairwise(1e3 * queries, X).argmin(axis=1)
    np.testing.assert_allclose(found.values[0], values[nearest], rtol=1e-12)


def test_strings(drawn):
    words = ["cat", "cart", "card", "hat", "window"]
    metric, values = Levenshtein(), np.arange(5.0)[:, None]
    rows = metric.prepare(words)
    at = metric.prepare(["car"], like=rows)
    found = bump_averages(GaussianBump(), metric, rows, at, values, np.ones(5), np.array([[1.0]]))
    D = metric.pairwise(["car"], words)
    np.testing.assert_allclose(
        found.values, written_out(GaussianBump(), D, values, np.ones(5), [1.0]), rtol=1e-13
    )


def test_same_bits_on_any_number_of_threads(drawn):
    X, queries, values, weights = drawn
    for metric in (Euclidean(), Manhattan()):
        rows, at = metric.prepare(X), metric.prepare(queries)
        asked = (GaussianBump(), metric, rows, at, values, weights, np.array([[0.3]]))
        one, two = (bump_averages(*asked, n_jobs=n).values for n in (1, 2))
        np.testing.assert_array_equal(one, two)
