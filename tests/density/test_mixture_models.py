"""Regression and classification from mixtures (LFD Problems 6.23 and 6.28)."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from bisector import GaussianMixture, GaussianMixtureRegressor, MixtureClassifier


def test_one_bump_is_linear_regression():
    rng = np.random.default_rng(0)
    X, noise = rng.normal(size=(200, 3)), rng.normal(size=200)
    y = X @ [1.0, -2.0, 0.5] + 3 + noise
    model = GaussianMixtureRegressor(1, reg_covar=1e-9).fit(X, y)
    line = LinearRegression().fit(X, y)
    np.testing.assert_allclose(model.predict(X), line.predict(X), rtol=1e-9, atol=1e-9)
    _, std = model.predict(X, return_std=True)
    np.testing.assert_allclose(std, np.std(y - line.predict(X)), rtol=1e-9)


def test_conditional_mean_is_the_ratio_of_integrals():
    """E[y|x] = ∫ y p(x, y) dy / ∫ p(x, y) dy, by adding up; and the sign of the slope (FACTS on 6.28 b)."""
    rng = np.random.default_rng(1)
    x = rng.uniform(-2, 2, size=(300, 1))
    y = np.abs(x[:, 0]) + 0.1 * rng.normal(size=300)
    model = GaussianMixtureRegressor(3).fit(x, y)
    grid = np.arange(-6, 8, 0.01)
    for place in (-1.5, 0.1, 1.7):
        density = np.exp(model.mixture_.score_samples(np.c_[np.full(len(grid), place), grid]))
        mean = (grid * density).sum() / density.sum()
        spread = np.sqrt((grid**2 * density).sum() / density.sum() - mean**2)
        found, std = model.predict([[place]], return_std=True)
        assert found[0] == pytest.approx(mean, abs=1e-6)
        assert std[0] == pytest.approx(spread, rel=1e-5)
    left, right = model.predict([[-1.8], [-1.2]])
    assert left > right + 0.4


def test_far_away_there_is_no_zero_by_zero():
    model = GaussianMixtureRegressor(2).fit([[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 2.0, 3.0])
    assert np.isfinite(model.predict([[1e6]])).all()


def test_several_targets_and_float32():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 2)).astype(np.float32)
    Y = (X @ [[1.0, 0.0], [1.0, -1.0]]).astype(np.float32)
    model = GaussianMixtureRegressor(1, reg_covar=1e-8).fit(X, Y)
    np.testing.assert_allclose(model.predict(X), Y, atol=1e-3)
    assert model.predict(X).dtype == np.float32


def test_classifier_is_the_optimal_one():
    """The sign of Σ pⱼ |Σⱼ|^(−1/2) (2πⱼ − 1) exp(…), recomputed; without determinants it would be another."""
    rng = np.random.default_rng(3)
    narrow, wide = rng.normal(size=(300, 2)) * 0.3, rng.normal(size=(300, 2)) * 3
    X = np.concatenate([narrow, wide])
    y = np.r_[rng.uniform(size=300) < 0.9, rng.uniform(size=300) < 0.1].astype(int)
    model = MixtureClassifier(2, n_init=3).fit(X, y)
    mixture = model.mixture_
    score = np.zeros(len(X))
    for p, mean, matrix, share in zip(
        mixture.weights_, mixture.means_, mixture.covariances_, model.class_shares_[:, 1], strict=True
    ):
        away = X - mean
        exponent = -0.5 * np.einsum("ij,jk,ik->i", away, np.linalg.inv(matrix), away)
        score += p * (2 * share - 1) / np.sqrt(np.linalg.det(matrix)) * np.exp(exponent)
    np.testing.assert_array_equal(model.predict(X), (score > 0).astype(int))
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert np.sort(model.class_shares_[:, 1]) == pytest.approx([0.1, 0.9], abs=0.08)


def test_classifier_finds_the_best_error():
    """Bumps generate labels with probability 0.95: no classifier errs less than once in twenty; ours nearly so."""
    rng = np.random.default_rng(4)
    bump = rng.integers(4, size=4000)
    X = np.array([[4.0, 4.0], [-4.0, 4.0], [-4.0, -4.0], [4.0, -4.0]])[bump] + rng.normal(size=(4000, 2))
    y = np.where(rng.uniform(size=4000) < 0.95, bump % 2, 1 - bump % 2)
    model = MixtureClassifier(4, n_init=3).fit(X[:2000], y[:2000])
    assert 0.035 < 1 - model.score(X[2000:], y[2000:]) < 0.07


def test_bad_input():
    with pytest.raises(ValueError, match="at least two classes"):
        MixtureClassifier().fit([[0.0], [1.0]], ["a", "a"])
    with pytest.raises(ValueError, match="reg_covar"):
        GaussianMixtureRegressor(reg_covar=0.0).fit([[0.0], [1.0]], [0.0, 1.0])
    with pytest.raises(ValueError, match="n_components"):
        MixtureClassifier(5).fit([[0.0], [1.0], [2.0]], [0, 1, 0])
    assert isinstance(MixtureClassifier().fit([[0.0], [1.0]], [0, 1]).mixture_, GaussianMixture)
