"""The solvers of networks: where bumps stand, their heights as a source, and their weights."""

import numpy as np
import pytest

from bisector.distances import Euclidean, Levenshtein, Manhattan
from bisector.kernels import ExponentialBump, GaussianBump, WindowBump
from bisector.solvers.bump_centres import WAYS, place_centres
from bisector.solvers.bump_features import BumpFeatures, Bumps
from bisector.solvers.bump_weights import (
    curvature_mix,
    fit_weights,
    green_weights,
    interpolating_weights,
    ridge_weights,
)

METRIC = Euclidean()


@pytest.fixture(scope="module")
def drawn():
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, size=(120, 2))
    return X, np.column_stack([np.sin(3 * X[:, 0]), X[:, 1] ** 2 + 0.1 * rng.normal(size=120)])


def placed(how, k, X, weights=None, metric=METRIC):
    rows = metric.prepare(X)
    weights = np.ones(len(rows)) if weights is None else weights
    return place_centres(how, k, metric, rows, weights, np.random.RandomState(0))


# Centres


@pytest.mark.parametrize("how", WAYS)
def test_centres_are_as_many_as_asked_for_and_lie_among_the_rows(how, drawn):
    centres = placed(how, 7, drawn[0]).rows.values
    assert centres.shape == (120 if how == "all" else 7, 2)
    assert (np.abs(centres) <= 1).all()


def test_groups_by_hand():
    x = np.array([[4.0], [0.0], [1.0], [5.0], [2.0], [3.0], [6.0]])
    np.testing.assert_allclose(placed("groups", 3, x).rows.values.ravel(), [1.0, 3.5, 5.5])


@pytest.mark.parametrize("how", ["groups", "all", "farthest"])
def test_weights_are_repeats(how, drawn):
    X, counts = drawn[0][:30], np.random.default_rng(0).integers(1, 4, size=30)
    one = placed(how, 5, X, counts.astype(float)).rows.values
    other = placed(how, 5, np.repeat(X, counts, axis=0)).rows.values
    np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)


def test_a_mixture_finds_the_shapes_of_clusters():
    rng = np.random.default_rng(0)
    wide, tall = np.diag([4.0, 0.01]), np.diag([0.01, 4.0])
    X = np.concatenate(
        [rng.multivariate_normal([0, 0], wide, 400), rng.multivariate_normal([20, 0], tall, 400)]
    )
    found = placed("mixture", 2, X)
    assert found.covariances is not None
    order = np.argsort(found.rows.values[:, 0])
    # Twenty standard errors of a variance from 400 rows, √(2/400) of it.
    for covariance, truth in zip(found.covariances[order], (wide, tall), strict=True):
        np.testing.assert_allclose(np.diag(covariance), np.diag(truth), rtol=20 * np.sqrt(2 / 400))


def test_all_are_the_rows_that_differ():
    found = placed("all", 0, [[1.0], [2.0], [1.0], [3.0]])
    np.testing.assert_array_equal(found.numbers, [0, 1, 3])
    np.testing.assert_array_equal(found.labels, [0, 1, 0, 2])
    words = placed("all", 0, ["b", "a", "b"], metric=Levenshtein())
    np.testing.assert_array_equal(words.numbers, [0, 1])
    np.testing.assert_array_equal(words.labels, [0, 1, 0])


@pytest.mark.parametrize("how", ["kmeans", "farthest", "groups", "mixture"])
def test_more_centres_than_rows_that_differ(how):
    with pytest.raises(ValueError, match="3 differ"):
        placed(how, 4, np.repeat([[0.0], [1.0], [5.0]], 4, axis=0))
    with pytest.raises(ValueError, match="n_samples=3 rows, of which 3 differ"):
        placed(how, 4, [[0.0], [1.0], [5.0]])


@pytest.mark.parametrize("how", ["kmeans", "groups", "mixture"])
def test_strings_have_no_means(how):
    with pytest.raises(ValueError, match="use centers='farthest'"):
        placed(how, 2, ["a", "b", "c"], metric=Levenshtein())


# Features


@pytest.mark.parametrize("metric", [METRIC, Manhattan()], ids=repr)
@pytest.mark.parametrize("widths", [[0.7], [0.3, 0.5, 2.0]])
def test_features_are_heights(metric, widths, drawn):
    X = drawn[0]
    rows = metric.prepare(X)
    bumps = Bumps(ExponentialBump(), metric, rows.take(np.array([3, 50, 7])), np.array(widths))
    features = BumpFeatures(bumps, rows)
    features.block_rows = 17
    read = np.concatenate([block.X for block in features.blocks()])
    np.testing.assert_allclose(read, np.exp(-metric.pairwise(X, X[[3, 50, 7]]) / widths), rtol=1e-13)
    np.testing.assert_array_equal(features.take([5, 2]), read[[5, 2]])


def test_bumps_with_covariances(drawn):
    X = drawn[0]
    A = np.array([[2.0, 0.6], [0.6, 0.5]])
    root = np.linalg.inv(np.linalg.cholesky(A)).T
    rows = METRIC.prepare(X)
    bumps = Bumps(GaussianBump(), METRIC, rows.take(np.array([4])), np.ones(1), root[None])
    away = X - X[4]
    expected = np.exp(-0.5 * np.einsum("ij,jk,ik->i", away, np.linalg.inv(A), away))
    np.testing.assert_allclose(BumpFeatures(bumps, rows).take(np.arange(120))[:, 0], expected, rtol=1e-12)


# Weights


def bumps_on(X, width, bump=None):
    return Bumps(bump or GaussianBump(), METRIC, METRIC.prepare(X), np.array([width]))


def test_ridge_solves_the_normal_equations(drawn):
    X, Y = drawn
    bumps, weights = bumps_on(X[:8], 0.8), np.random.default_rng(0).uniform(0.5, 2, size=120)
    features = BumpFeatures(bumps, METRIC.prepare(X), Y, weights)
    found = ridge_weights(features, 0.3, intercept=True)
    Z = np.column_stack([np.ones(120), features.take(np.arange(120))])
    penalty = 0.3 * np.diag([0.0] + [1.0] * 8)
    expected = np.linalg.solve(Z.T @ (Z * weights[:, None]) + penalty, Z.T @ (Y * weights[:, None]))
    np.testing.assert_allclose(found.coef, expected[1:], rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(found.intercept, expected[0], rtol=1e-9, atol=1e-10)


def test_generalised_cross_validation_is_least_at_the_chosen_strength(drawn):
    X, Y = drawn
    features = BumpFeatures(bumps_on(X[:15], 0.6), METRIC.prepare(X), Y)
    found = ridge_weights(features, None, intercept=True)
    Z = np.column_stack([np.ones(120), features.take(np.arange(120))])
    errors = []
    for alpha in found.alphas[20:]:
        hat = Z @ np.linalg.solve(Z.T @ Z + alpha * np.diag([0.0] + [1.0] * 15), Z.T)
        errors.append((np.square(Y - hat @ Y).sum() / 120) / (1 - np.trace(hat) / 120) ** 2)
    np.testing.assert_allclose(found.errors[20:], errors, rtol=1e-6)
    assert found.errors.min() == found.errors[found.alphas == found.alpha]


@pytest.mark.parametrize("bump", [GaussianBump(), ExponentialBump()], ids=repr)
def test_the_curvature_penalty_is_tikhonovs(bump, drawn):
    X, Y = drawn
    bumps, weights = bumps_on(X[:9], 0.5, bump), np.ones(120)
    found = fit_weights(bumps, METRIC.prepare(X), Y, weights, None, 0.2, "curvature")
    Z = np.column_stack([np.ones(120), BumpFeatures(bumps, METRIC.prepare(X)).take(np.arange(120))])
    G = bumps.heights(bumps.centres, range(9))
    penalty = np.zeros((10, 10))
    penalty[1:, 1:] = 0.2 * G
    np.testing.assert_allclose(
        found.coef, np.linalg.solve(Z.T @ Z + penalty, Z.T @ Y)[1:], rtol=1e-7, atol=1e-9
    )
    mix = curvature_mix(bumps)
    np.testing.assert_allclose(mix.T @ G @ mix, np.eye(mix.shape[1]), atol=1e-10)


def test_greens_function_fit_on_all_rows(drawn):
    X, Y = drawn
    bumps = bumps_on(X, 0.3)
    G = bumps.heights(bumps.centres, range(120))
    found = green_weights(bumps, Y, np.ones(120), np.zeros(2), 0.05)
    np.testing.assert_allclose(found.coef, np.linalg.solve(G + 0.05 * np.eye(120), Y), rtol=1e-10, atol=1e-11)
    # A row that weighs three is three equal rows: (G + (α/v)I)w = y.
    v = np.full(120, 3.0)
    heavy = green_weights(bumps, Y, v, np.zeros(2), 0.05)
    np.testing.assert_allclose(
        heavy.coef, np.linalg.solve(G + 0.05 / 3 * np.eye(120), Y), rtol=1e-9, atol=1e-10
    )


def test_a_bump_that_is_no_greens_function_is_refused(drawn):
    with pytest.raises(ValueError, match="Green's function"):
        curvature_mix(bumps_on(drawn[0], 0.5, WindowBump()))
    one = METRIC.prepare(drawn[0][:2])
    with pytest.raises(ValueError, match="one shape"):
        curvature_mix(Bumps(GaussianBump(), METRIC, one, np.array([1.0, 2.0])))


def test_interpolation_with_and_without_an_inverse(drawn):
    X, Y = drawn
    bumps = bumps_on(X, 0.15)
    found = interpolating_weights(bumps, Y)
    Z = bumps.heights(bumps.centres, range(120))
    assert np.abs(Z @ found.coef - Y).max() <= 1e-6 * np.abs(Y).max()
    assert found.gap <= 1e-6
    one_bump = bumps_on([[0.0], [0.1], [0.2]], 1.0, WindowBump())
    blind = interpolating_weights(one_bump, np.array([[1.0], [2.0], [3.0]]))
    np.testing.assert_allclose(blind.coef.sum(), 2.0)  # all bumps are one: the mean is the best
    assert blind.gap > 0.3
