"""How sure LogisticRegression is: standard errors from the Fisher information, summaries, and separable data."""

import warnings

import numpy as np
import pytest
from scipy import stats
from scipy.special import softmax
from sklearn.exceptions import ConvergenceWarning

from bisector import LogisticRegression


@pytest.fixture
def problem(rng):
    X = rng.normal(size=(200, 3)) * [1, 1000, 0.01] + [0, 1e6, 3]
    y = (X[:, 0] + rng.logistic(size=200) > 0).astype(int)
    return X, y


def fisher(model, X, weight):
    """Inverse of Σ w p(1 − p) (1, x)(1, x)ᵀ: inverted with the columns centred, then moved back."""
    p = model.predict_proba(X)[:, 1]
    middle = X.mean(axis=0)
    A = np.column_stack([np.ones(len(X)), X - middle])
    inverse = np.linalg.inv(A.T @ (A * (weight * p * (1 - p))[:, None]))
    back = np.eye(1 + X.shape[1])
    back[0, 1:] = -middle
    return back @ inverse @ back.T


@pytest.mark.parametrize("weighted", [False, True])
def test_standard_errors_are_the_inverse_fisher_information(problem, rng, weighted):
    X, y = problem
    weight = rng.uniform(0.5, 3, size=len(y)) if weighted else np.ones(len(y))
    model = LogisticRegression(C=np.inf).fit(X, y, sample_weight=weight if weighted else None)
    errors = np.sqrt(np.diagonal(fisher(model, X, weight)))
    np.testing.assert_allclose(model.standard_errors_, errors, rtol=1e-6)
    z = np.r_[model.intercept_, model.coef_[0]] / errors
    np.testing.assert_allclose(model.z_values_, z, rtol=1e-6)
    np.testing.assert_allclose(model.p_values_, 2 * stats.norm.sf(np.abs(z)), rtol=1e-5)
    ends = model.confidence_intervals(0.9)
    np.testing.assert_allclose(ends[:, 1] - ends[:, 0], 2 * stats.norm.ppf(0.95) * errors, rtol=1e-6)


def test_deviance_is_twice_minus_the_log_likelihood(problem):
    X, y = problem
    model = LogisticRegression(C=np.inf).fit(X, y)
    logs = model.predict_log_proba(X)[np.arange(len(y)), y]
    assert model.deviance_ == pytest.approx(-2 * logs.sum())
    assert model.null_deviance_ == pytest.approx(-2 * np.log(np.bincount(y) / len(y)) @ np.bincount(y))
    assert model.aic_ == pytest.approx(model.deviance_ + 8)


def test_whole_weights_are_rows_in_the_errors_too(problem):
    X, y = problem
    times = np.arange(len(y)) % 3
    weighted = LogisticRegression(C=np.inf).fit(X, y, sample_weight=times.astype(float))
    repeated = LogisticRegression(C=np.inf).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.standard_errors_, repeated.standard_errors_, rtol=1e-7)
    assert weighted.aic_ == pytest.approx(repeated.aic_)


def test_several_classes_by_the_information_of_contrasts(rng):
    """The same by differences from the first class, which do not depend on how classes are coded."""
    X = rng.normal(size=(400, 2))
    P = softmax(X @ rng.normal(size=(2, 3)), axis=1)
    y = (rng.random(400)[:, None] > P.cumsum(axis=1)).sum(axis=1)
    model = LogisticRegression(C=np.inf).fit(X, y)
    assert model.standard_errors_.shape == (3, 3)
    p, A = model.predict_proba(X), np.column_stack([np.ones(400), X])
    information = np.zeros((2, 3, 2, 3))
    for a in range(2):
        for b in range(2):
            bend = p[:, a + 1] * ((a == b) - p[:, b + 1])
            information[a, :, b] = A.T @ (A * bend[:, None])
    covariance = np.linalg.inv(information.reshape(6, 6)).reshape(2, 3, 2, 3)
    # Sum-zero coefficients are (2, −1, …)/3 combinations of the differences from class 0.
    centre = np.array([[-1, -1], [2, -1], [-1, 2]]) / 3
    variances = np.einsum("ka,ajbj,kb->kj", centre, covariance, centre)
    np.testing.assert_allclose(model.standard_errors_, np.sqrt(variances), rtol=1e-6)


def test_dependent_and_constant_columns_have_no_errors(rng):
    X = rng.normal(size=(200, 3))
    X = np.column_stack([X, X[:, 0], np.full(200, 7.1)])
    y = (X[:, 0] + rng.logistic(size=200) > 0).astype(int)
    model = LogisticRegression(C=np.inf).fit(X, y)
    assert model.coef_[0, 0] == pytest.approx(model.coef_[0, 3], rel=1e-9)  # the shortest: each gets half
    assert model.coef_[0, 4] == 0
    np.testing.assert_array_equal(np.isnan(model.standard_errors_), [False, True, False, False, True, True])
    single = LogisticRegression(C=np.inf).fit(X[:, :3], y)
    np.testing.assert_allclose(
        model.standard_errors_[[0, 2, 3]], single.standard_errors_[[0, 2, 3]], rtol=1e-6
    )
    assert model.aic_ == pytest.approx(single.aic_)
    assert "do not determine the coefficients of x0, x3 and x4" in str(model.summary())


# Summary


def test_summary_names_features_and_classes(problem):
    X, y = problem
    model = LogisticRegression(C=np.inf).fit(X, np.where(y, "ill", "well"))
    words = str(model.summary(["age", "income", "dose"]))
    assert "Log-odds of well against ill" in words
    for name in ("(Intercept)", "age", "income", "dose", "Std. Error", "Pr(>|z|)", "Null deviance", "AIC"):
        assert name in words
    assert "<table" in model.summary().html()
    with pytest.raises(ValueError, match="1 feature_names were given for 3"):
        model.summary(["age"])


def test_summary_of_several_classes(rng):
    X = rng.normal(size=(300, 2))
    model = LogisticRegression(C=np.inf).fit(X, rng.integers(0, 3, size=300))
    assert str(model.summary()).count("Coefficients:") == 3


def test_few_rows_are_said(rng):
    X = rng.normal(size=(30, 4))
    model = LogisticRegression(C=np.inf).fit(X, rng.integers(0, 2, size=30))
    assert "30 rows are few for 5 coefficients" in str(model.summary())


def test_with_a_penalty_there_are_no_errors(problem):
    model = LogisticRegression().fit(*problem)
    with pytest.raises(AttributeError, match="fit with C=inf"):
        model.summary()
    assert not hasattr(model, "standard_errors_")


# Separable data


def said_to_be_separable(X, y, **parameters):
    with pytest.warns(ConvergenceWarning, match="Planes separate the classes"):
        return LogisticRegression(C=np.inf, **parameters).fit(X, y)


@pytest.mark.parametrize("solver", ["lbfgs", "newton-cg"])
def test_separable_classes_are_recognised(rng, solver):
    X = rng.normal(size=(100, 3))
    y = (X @ [1.0, -2.0, 0.5] > 0.3).astype(int)
    model = said_to_be_separable(X, y, solver=solver)
    assert model.separable_
    assert not model.converged_
    assert model.score(X, y) == 1
    assert np.isnan(model.standard_errors_).all()
    assert "no maximum" in str(model.summary())


@pytest.mark.parametrize("solver", ["lbfgs", "newton-cg"])
def test_classes_that_touch_are_recognised(solver):
    """At x = 2 there is one of each: no plane has them apart, but the likelihood still grows for ever."""
    x = np.array([[0.0], [1.0], [2.0], [2.0], [3.0], [4.0]])
    model = said_to_be_separable(x, [0, 0, 0, 1, 1, 1], solver=solver)
    assert model.separable_
    np.testing.assert_allclose(model.predict_proba([[2.0]]), [[0.5, 0.5]], atol=1e-6)


def test_a_rare_flag_of_one_class_is_recognised(rng):
    """A feature that is set only in one class, beside others that overlap: its coefficient has no limit."""
    X = np.column_stack([rng.normal(size=3000), np.arange(3000) % 500 == 0])
    y = (X[:, 0] + rng.logistic(size=3000) > 0) | (X[:, 1] > 0)
    assert said_to_be_separable(X, y).separable_


def test_one_class_of_three_apart_is_recognised(rng):
    X = rng.normal(size=(90, 2))
    y = np.arange(90) % 3
    X[y == 2] += 20
    assert said_to_be_separable(X, y).separable_


def test_overlapping_classes_with_large_scores_are_not_separable(rng):
    x = np.linspace(-1, 1, 400)
    y = (x > 0).astype(int)
    y[[195, 205]] = 1 - y[[195, 205]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LogisticRegression(C=np.inf).fit(x[:, None], y)
    assert not model.separable_
    assert model.converged_
    assert np.abs(model.decision_function([[1.0]]))[0] > 30


def test_a_penalty_makes_separable_data_ordinary(rng):
    X = rng.normal(size=(100, 3))
    y = (X[:, 0] > 0).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LogisticRegression(C=1e6).fit(X, y)
    assert model.converged_
    assert not model.separable_
