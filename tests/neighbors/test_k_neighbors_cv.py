"""Choosing k: every k from one search is what refitting for every k gives."""

import numpy as np
import pytest
from sklearn.model_selection import KFold, LeaveOneOut, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier as Theirs, KNeighborsRegressor as TheirRegressor

from bisector import (
    KNeighborsClassifier,
    KNeighborsClassifierCV,
    KNeighborsRegressor,
    KNeighborsRegressorCV,
    datasets,
)
from bisector.kernels import GaussianBump
from bisector.solvers.neighbor_votes import errors_of_every_k, losses_of_every_k


@pytest.fixture(scope="module")
def overlapping():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((90, 3))
    y = np.digitize(X[:, 0] + rng.standard_normal(90), [-0.5, 0.7])
    return X, y


# Every k at once


def test_by_hand():
    codes = np.array([[0, 1, 1, 0, 0], [2, 2, 0, 1, 1]])
    errors = errors_of_every_k(codes, np.ones((2, 5)), np.array([1, 2]), 3)
    # winners: 0, 0 (tie), 1, 0 (tie), 0 against 1; and 2, 2, 2, 2, 1 (tie with 2) against 2
    np.testing.assert_array_equal(errors, [1, 1, 0, 1, 2])
    losses, squares = losses_of_every_k(np.array([[1.0, 3.0]]), np.array([[1.0, 3.0]]), np.array([2.0]))
    np.testing.assert_allclose(losses, [1.0, 0.25])
    np.testing.assert_allclose(squares, [1.0, 0.0625])


@pytest.mark.parametrize("weights", ["uniform", "distance", lambda d: np.exp(-d), GaussianBump()])
@pytest.mark.parametrize("cv", ["loo", 5, KFold(4, shuffle=True, random_state=1)])
def test_every_k_is_what_refitting_gives(overlapping, weights, cv):
    X, y = overlapping
    model = KNeighborsClassifierCV(12, cv=cv, weights=weights).fit(X, y)
    regressor = KNeighborsRegressorCV(12, cv=cv, weights=weights).fit(X, y)
    folds = LeaveOneOut() if cv == "loo" else cv
    for k in (1, 2, 7, 12):
        predicted = cross_val_predict(KNeighborsClassifier(k, weights=weights), X, y, cv=folds)
        assert model.error_curve_[k - 1] == pytest.approx(np.mean(predicted != y))
        # Folds of a regressor are not stratified.
        splits = KFold(cv) if isinstance(cv, int) else folds
        predicted = cross_val_predict(KNeighborsRegressor(k, weights=weights), X, y, cv=splits)
        assert regressor.error_curve_[k - 1] == pytest.approx(np.mean((predicted - y) ** 2))


def test_scikit_learn_agrees(overlapping):
    X, y = overlapping
    ours = KNeighborsClassifierCV(9).fit(X, y).error_curve_
    theirs = [np.mean(cross_val_predict(Theirs(k), X, y, cv=LeaveOneOut()) != y) for k in range(1, 10)]
    np.testing.assert_allclose(ours, theirs)
    ours = KNeighborsRegressorCV(9).fit(X, y).error_curve_
    theirs = [
        np.mean((cross_val_predict(TheirRegressor(k), X, y * 1.0, cv=LeaveOneOut()) - y) ** 2)
        for k in range(1, 10)
    ]
    np.testing.assert_allclose(ours, theirs)


# What is chosen


def test_the_best_of_everything_tried(overlapping):
    X, y = overlapping
    model = KNeighborsClassifierCV(
        20, weights=["uniform", "distance"], metric=["euclidean", "manhattan", "chebyshev"]
    ).fit(X, y)
    assert model.errors_.shape == (3, 2, 20)
    m, w, k = np.unravel_index(np.argmin(model.errors_), model.errors_.shape)
    assert model.best_k_ == k + 1
    assert model.best_weights_ == ["uniform", "distance"][w]
    assert model.best_metric_.names[0] == ["euclidean", "manhattan", "chebyshev"][m]
    assert model.best_error_ == model.errors_.min()
    np.testing.assert_array_equal(model.error_curve_, model.errors_[m, w])
    alone = KNeighborsClassifier(model.best_k_, weights=model.best_weights_, metric=model.best_metric_).fit(
        X, y
    )
    np.testing.assert_array_equal(model.predict(X + 0.1), alone.predict(X + 0.1))
    np.testing.assert_array_equal(model.predict_proba(X + 0.1), alone.predict_proba(X + 0.1))


def test_standard_errors(overlapping):
    X, y = overlapping
    model = KNeighborsClassifierCV(5).fit(X, y)
    e = model.error_curve_
    np.testing.assert_allclose(model.error_curve_std_, np.sqrt(e * (1 - e) / len(y)))


def test_words():
    words = ["cat", "cats", "rat", "house", "houses", "mouse", "blouse", "bat"]
    kind = [0, 0, 0, 1, 1, 1, 1, 0]
    model = KNeighborsClassifierCV(3, metric="levenshtein").fit(words, kind)
    assert model.best_error_ == 0
    np.testing.assert_array_equal(model.predict(["hat", "horse"]), [0, 1])


def test_error_bounds_leave_each_row_out(overlapping):
    X, y = overlapping
    left_out = np.mean(KNeighborsClassifier(1).fit(X, y).predict(None) != y)
    bounds = KNeighborsClassifierCV(5).fit(X, y).error_bounds()
    assert bounds.error == pytest.approx(left_out)
    assert 0 < bounds.low < left_out < bounds.high


# Bad input


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"k_max": 0}, "k_max must be a whole number at least 1"),
        ({"k_max": 150}, "only 149 rows are left"),
        ({"k_max": 130, "cv": 5}, "only 120 rows are left"),
        ({"cv": "folds"}, 'cv must be "loo"'),
        ({"weights": ["uniform", "far"]}, "weights must be one of"),
    ],
)
def test_bad_parameters(params, message):
    with pytest.raises(ValueError, match=message):
        KNeighborsClassifierCV(**params).fit(*datasets.iris())


def test_several_outputs_are_refused():
    with pytest.raises(ValueError, match="one label a row"):
        KNeighborsClassifierCV().fit(np.zeros((4, 1)), np.zeros((4, 2)))
    with pytest.raises(ValueError, match="one target a row"):
        KNeighborsRegressorCV().fit(np.zeros((4, 1)), np.zeros((4, 2)))
