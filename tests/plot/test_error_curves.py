"""Curves of errors, with what was chosen by them."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression as TheirLinearRegression
from sklearn.model_selection import GridSearchCV

from bisector import (
    ElasticNetCV,
    ErrorCurveDisplay,
    KernelDensityCV,
    KNeighborsClassifierCV,
    KNeighborsRegressorCV,
    LassoCV,
    Ridge,
    RidgeCV,
    datasets,
)
from bisector.svm import SVC

X, y = datasets.four_gaussians(150, deviation=0.4)
NUMBERS = datasets.diabetes(scaled=True)


def test_neighbours():
    model = KNeighborsClassifierCV(k_max=60).fit(X, y)
    display = ErrorCurveDisplay.from_estimator(model)
    k, errors = display.line_.get_data()
    assert k.tolist() == list(range(1, 61))
    assert (errors == model.error_curve_).all()
    assert display.chosen_.get_data() == ([model.best_k_], [model.best_error_])
    assert display.ax_.get_ylabel() == "share of errors"
    edges = display.band_.get_paths()[0].vertices[:, 1]
    assert edges.max() == pytest.approx((model.error_curve_ + model.error_curve_std_).max())


def test_a_few_neighbours_are_counted_in_whole_numbers():
    X, y = datasets.noisy_curve(20)
    shown = ErrorCurveDisplay.from_estimator(KNeighborsRegressorCV(k_max=8).fit(X, y))
    ticks = shown.ax_.get_xticks()
    assert (ticks == ticks.round()).all()


def test_squared_errors_of_regressions():
    rows, targets = NUMBERS
    neighbours = ErrorCurveDisplay.from_estimator(KNeighborsRegressorCV(k_max=30).fit(rows, targets))
    assert neighbours.ax_.get_ylabel() == "mean squared error"
    ridge = RidgeCV(alphas=np.geomspace(0.1, 1000, 20)).fit(rows, targets)
    display = ErrorCurveDisplay.from_estimator(ridge)
    assert display.left_out == pytest.approx(ridge.leave_one_out_errors_)
    assert display.ax_.get_xscale() == "log"
    lasso = LassoCV().fit(rows, targets)
    display = ErrorCurveDisplay.from_estimator(lasso)
    assert display.left_out[::-1] == pytest.approx(lasso.mse_path_.mean(axis=1))
    assert display.chosen == lasso.alpha_
    net = ElasticNetCV(l1_ratio=[0.2, 0.9]).fit(rows, targets)
    display = ErrorCurveDisplay.from_estimator(net)
    assert display.left_out.min() == pytest.approx(net.mse_path_.mean(axis=-1).min())
    assert net.alpha_ in display.values


def test_widths_of_a_density():
    model = KernelDensityCV().fit(X)
    display = ErrorCurveDisplay.from_estimator(model)
    assert display.values[np.argmin(display.left_out)] == model.best_bandwidth_


def test_a_search_over_one_parameter():
    search = GridSearchCV(SVC(), {"C": [0.1, 10.0, 1.0]}, return_train_score=True).fit(X, y)
    display = ErrorCurveDisplay.from_estimator(search)
    assert display.values.tolist() == [0.1, 1.0, 10.0]
    order = [0, 2, 1]
    assert display.left_out == pytest.approx(1 - search.cv_results_["mean_test_score"][order])
    assert display.in_sample == pytest.approx(1 - search.cv_results_["mean_train_score"][order])
    assert display.chosen == search.best_params_["C"]
    assert display.ax_.get_xlabel() == "C"
    rows, targets = NUMBERS
    search = GridSearchCV(Ridge(), {"alpha": [1.0, 2.0]}, scoring="neg_mean_squared_error").fit(rows, targets)
    display = ErrorCurveDisplay.from_estimator(search)
    assert display.left_out == pytest.approx(-search.cv_results_["mean_test_score"])
    assert display.in_sample_ is None


def test_errors_in_sample_can_be_added():
    display = ErrorCurveDisplay([2, 1], [0.2, 0.1], in_sample=[0.1, 0.0], chosen=1).plot()
    assert display.in_sample_.get_ydata().tolist() == [0.0, 0.1]
    assert display.in_sample_.get_linestyle() != display.line_.get_linestyle()
    words = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert words == ["left out", "in sample", "chosen: 1"]


def test_bad_input():
    rows, targets = NUMBERS
    with pytest.raises(AttributeError, match="keeps no errors for several values"):
        ErrorCurveDisplay.from_estimator(TheirLinearRegression().fit(rows, targets))
    several = GridSearchCV(SVC(), {"C": [1.0, 2.0], "kernel": ["rbf"]}).fit(X, y)
    with pytest.raises(AttributeError, match="GridSearchCV keeps no errors"):
        ErrorCurveDisplay.from_estimator(several)
    with pytest.raises(NotFittedError):
        ErrorCurveDisplay.from_estimator(RidgeCV())
    with pytest.raises(ValueError, match=r"spread has the shape \(1,\), but there are 2 values"):
        ErrorCurveDisplay([1, 2], [0.1, 0.2], spread=[0.1])
