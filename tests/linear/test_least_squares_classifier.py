"""The least-squares classifier: every choice of M, of the threshold and of class weights."""

import itertools

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings, strategies as st
from sklearn.linear_model import RidgeClassifier
from tests.properties.strategies import awkward_tables, in_some_form, plain_tables, weights

from bisector import BasicLinearClassifier, LinearRegression, datasets
from bisector.linear.least_squares_classifier import COVARIANCES, THRESHOLDS, LeastSquaresClassifier
from bisector.solvers.thresholds import least_error_threshold

quickly = settings(max_examples=60, deadline=None)
EVERY = [
    {"covariance": covariance, "threshold": threshold, "centred": centred, "ridge": ridge}
    for covariance, threshold, centred, ridge in itertools.product(
        COVARIANCES, THRESHOLDS, (True, False), (0.0, 2.0)
    )
]


def some_data(n=120, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    y = (np.arange(n) ** 2) % 7 % n_classes  # classes of different sizes
    mixed = rng.normal(size=(n, 3)) @ [[2.0, 1.0, 0.0], [0.0, 1.0, 0.5], [0.0, 0.0, 0.3]]
    return mixed + y[:, None] * [0.5, -1.0, 0.2] + [3.0, -2.0, 10.0], y


def unit(v):
    return v / np.linalg.norm(v, axis=-1, keepdims=True)


def signs(y, label):
    return np.where(y == label, 1.0, -1.0)


# Equation 7.7, by hand


@pytest.mark.parametrize("centred", [True, False])
@pytest.mark.parametrize("ridge", [0.0, 3.0])
@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_direction_is_that_of_the_equation(covariance, ridge, centred, n_classes):
    X, y = some_data(n_classes=n_classes)
    moved = X - X.mean(axis=0) if centred else X
    model = LeastSquaresClassifier(covariance=covariance, ridge=ridge, centred=centred).fit(X, y)
    products = moved.T @ moved
    M = {"full": products, "diagonal": np.diag(np.diag(products)), "identity": len(X) * np.eye(3)}[covariance]
    for row, label in enumerate([1] if n_classes == 2 else [0, 1, 2]):
        inside, outside = moved[y == label], moved[y != label]
        difference = len(inside) * inside.mean(axis=0) - len(outside) * outside.mean(axis=0)
        w = np.linalg.solve(M + ridge * np.eye(3), difference)
        if centred:
            np.testing.assert_allclose(unit(model.coef_[row]), unit(w), atol=1e-12)
        else:  # turned round where it points the wrong way
            assert abs(unit(model.coef_[row]) @ unit(w)) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("parameters", [p for p in EVERY if p["threshold"] == "intercept"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_are_least_squares_estimates_along_the_direction(parameters, n_classes):
    """The residual of the labels is at right angles to the scores and to a constant."""
    X, y = some_data(n_classes=n_classes)
    model = LeastSquaresClassifier(**parameters).fit(X, y)
    scores = model.decision_function(X).reshape(len(X), -1)
    for column, label in zip(scores.T, [1] if n_classes == 2 else [0, 1, 2], strict=True):
        left = signs(y, label) - column
        assert left.sum() == pytest.approx(0, abs=1e-9)
        assert left @ column == pytest.approx(0, abs=1e-9)


def test_full_with_intercept_is_regression_on_labels():
    X, y = some_data()
    line = LinearRegression().fit(X, signs(y, 1))
    model = LeastSquaresClassifier().fit(X, y)
    np.testing.assert_array_equal(model.coef_[0], line.coef_)
    assert model.intercept_[0] == line.intercept_
    peer = RidgeClassifier(alpha=1e-12).fit(X, y)
    np.testing.assert_allclose(model.coef_[0], np.ravel(peer.coef_), rtol=1e-9)


def test_uncentred_full_is_regression_through_the_origin():
    X, y = some_data()
    through = LinearRegression(fit_intercept=False).fit(X, signs(y, 1))
    model = LeastSquaresClassifier(centred=False).fit(X, y)
    np.testing.assert_allclose(unit(model.coef_[0]), unit(through.coef_), atol=1e-12)


def test_ridge_turns_the_direction_to_that_of_the_identity():
    X, y = some_data()
    far = LeastSquaresClassifier(ridge=1e12).fit(X, y)
    identity = LeastSquaresClassifier(covariance="identity").fit(X, y)
    np.testing.assert_allclose(unit(far.coef_), unit(identity.coef_), atol=1e-8)
    np.testing.assert_allclose(far.coef_, identity.coef_, rtol=1e-6)
    with_ridge = LeastSquaresClassifier(covariance="identity", ridge=5.0).fit(X, y)
    np.testing.assert_array_equal(with_ridge.coef_, identity.coef_)


# Thresholds


@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_midpoint_is_halfway_between_the_means(covariance, n_classes):
    X, y = some_data(n_classes=n_classes)
    model = LeastSquaresClassifier(covariance=covariance, threshold="midpoint").fit(X, y)
    scores = model.decision_function(X).reshape(len(X), -1)
    for column, label in zip(scores.T, [1] if n_classes == 2 else [0, 1, 2], strict=True):
        assert column[y == label].mean() == pytest.approx(-column[y != label].mean(), abs=1e-9)


@quickly
@given(st.integers(0, 10**6), st.integers(2, 25))
def test_no_threshold_makes_fewer_errors(seed, n):
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 8, size=n).astype(float)
    positive = rng.random(n) < 0.5
    weight = rng.integers(0, 3, size=n).astype(float)
    weight[0] = 1.0

    def error(t):
        return weight[(scores > t) != positive].sum()

    chosen = least_error_threshold(scores, positive, weight)
    assert error(chosen) == min(error(t) for t in np.arange(-1.5, 9))


def test_of_equal_thresholds_the_widest_gap():
    model = LeastSquaresClassifier(threshold="training-error").fit([[0.0], [1.0], [5.0], [6.0]], [0, 0, 1, 1])
    assert model.threshold_ / model.weights_[0] == pytest.approx(3.0)
    one_sided = LeastSquaresClassifier(threshold="training-error").fit(
        [[0.0], [0.0], [0.0], [0.0], [1.0]], [1, 1, 1, 0, 1]
    )
    assert one_sided.predict([[0.0], [1.0]]).tolist() == [1, 1]


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_training_error_is_least_among_the_thresholds(covariance):
    X, y = datasets.gaussian_classes(200, positive=0.2, seed=3)
    errors = {
        threshold: (
            LeastSquaresClassifier(covariance=covariance, threshold=threshold).fit(X, y).predict(X) != y
        ).sum()
        for threshold in THRESHOLDS
    }
    assert errors["training-error"] == min(errors.values())


# Class weights


@pytest.mark.parametrize("parameters", EVERY)
def test_class_weights_are_sample_weights(parameters):
    X, y = some_data(n_classes=3)
    by_class = LeastSquaresClassifier(**parameters, class_weight={0: 2.0, 2: 3.0}).fit(X, y)
    by_row = LeastSquaresClassifier(**parameters).fit(X, y, sample_weight=np.array([2.0, 1.0, 3.0])[y])
    np.testing.assert_array_equal(by_class.coef_, by_row.coef_)
    np.testing.assert_array_equal(by_class.intercept_, by_row.intercept_)


def test_balanced_classes_move_the_intercept_to_the_midpoint():
    X, y = some_data()
    balanced = LeastSquaresClassifier(covariance="identity", class_weight="balanced").fit(X, y)
    basic = BasicLinearClassifier().fit(X, y)
    np.testing.assert_allclose(balanced.signed_distance(X), basic.signed_distance(X), atol=1e-12)


# Edges and bad input


@pytest.mark.parametrize(
    ("parameters", "error"),
    [
        ({"covariance": "spherical"}, "covariance must be one of"),
        ({"threshold": "zero"}, "threshold must be one of"),
        ({"ridge": -1.0}, "ridge must be a number at least 0"),
        ({"ridge": np.inf}, "ridge must be finite"),
        ({"centred": 1}, "centred must be True or False"),
        ({"class_weight": {7: 1.0}}, "names the class 7"),
    ],
)
def test_bad_parameters_are_named(parameters, error):
    with pytest.raises(ValueError, match=error):
        LeastSquaresClassifier(**parameters).fit(*some_data())


@pytest.mark.parametrize("parameters", EVERY)
def test_means_that_coincide_leave_the_larger_class(parameters):
    X, y = np.array([[-1.0], [1.0], [-1.0], [1.0], [-1.0], [1.0]]), [0, 0, 1, 1, 1, 1]
    model = LeastSquaresClassifier(**parameters).fit(X, y)
    if parameters["centred"] and parameters["threshold"] != "midpoint":
        assert (model.predict(X) == 1).all()
    assert np.isfinite(model.coef_).all()


@pytest.mark.parametrize("parameters", EVERY)
def test_extreme_columns_and_constants(parameters):
    X, y = some_data()
    extreme = X * [1e150, 1e-150, 1.0]
    constant = np.column_stack([X, np.full(len(X), 1e6)])
    for table in (extreme, constant, X * 1e-170, X * 1e170):
        model = LeastSquaresClassifier(**parameters).fit(table, y)
        assert np.isfinite(model.coef_).all()
        assert model.score(table, y) > 0.5


def test_more_features_than_rows():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 50)), np.arange(20) % 2
    assert LeastSquaresClassifier().fit(X, y).score(X, y) == 1
    assert LeastSquaresClassifier(ridge=1e-3).fit(X, y).score(X, y) == 1
    sparse = scipy.sparse.random(30, 40_000, density=0.01, random_state=0, format="csr")
    for covariance in ("diagonal", "identity"):  # no products of features with each other
        model = LeastSquaresClassifier(covariance=covariance).fit(sparse, np.arange(30) % 2)
        assert model.score(sparse, np.arange(30) % 2) == 1


def test_float32_is_kept():
    X, y = some_data()
    for parameters in EVERY:
        narrow = LeastSquaresClassifier(**parameters).fit(X.astype(np.float32), y)
        wide = LeastSquaresClassifier(**parameters).fit(X.astype(np.float32).astype(np.float64), y)
        assert narrow.coef_.dtype == narrow.intercept_.dtype == np.float32
        np.testing.assert_allclose(narrow.coef_, wide.coef_, rtol=2e-6, atol=1e-7)


# Properties


@quickly
@given(st.data(), st.sampled_from(EVERY))
def test_weights_are_repeated_rows(data, parameters):
    table = data.draw(plain_tables(min_rows=12, max_features=3))
    weight = data.draw(weights(len(table), whole_numbers=True))
    weight += 1.0  # every row counts, so that features stay independent
    y = np.arange(len(table)) % 3 % 2
    weighted = LeastSquaresClassifier(**parameters).fit(table, y, weight)
    counts = weight.astype(int)
    repeated = LeastSquaresClassifier(**parameters).fit(
        np.repeat(table, counts, axis=0), np.repeat(y, counts)
    )
    # Condition numbers of plain tables of a dozen rows may reach hundreds.
    scale = np.abs(weighted.coef_).max()
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-8 * scale)
    if parameters["threshold"] != "training-error":  # of equal gaps, rounding may choose
        np.testing.assert_allclose(weighted.intercept_, repeated.intercept_, atol=1e-7 * scale)


@quickly
@given(awkward_tables(min_rows=3), st.sampled_from(EVERY), st.data())
def test_fits_or_says_why_in_any_form(table, parameters, data):
    y = np.arange(len(table)) % 2
    form = data.draw(in_some_form(table))
    try:
        model = LeastSquaresClassifier(**parameters).fit(form, y)
    except ValueError as error:
        assert "too large" in str(error)  # noqa: PT017  either way is right
        return
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.intercept_).all()


@pytest.mark.parametrize("parameters", EVERY[::4])
def test_sparse_is_dense_and_threads_change_nothing(parameters):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9000, 6)) * (rng.random((9000, 6)) < 0.3)
    y = (X[:, 0] + rng.normal(size=9000) > 0.3).astype(int)
    dense = LeastSquaresClassifier(**parameters, n_jobs=1).fit(X, y)
    again = LeastSquaresClassifier(**parameters, n_jobs=4).fit(X, y)
    sparse = LeastSquaresClassifier(**parameters).fit(scipy.sparse.csr_array(X), y)
    np.testing.assert_array_equal(dense.coef_, again.coef_)
    np.testing.assert_array_equal(dense.intercept_, again.intercept_)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-10)
    np.testing.assert_allclose(sparse.intercept_, dense.intercept_, atol=1e-10)
