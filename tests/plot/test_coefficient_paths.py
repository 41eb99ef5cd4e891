"""Paths of coefficients."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from bisector import CoefficientPathDisplay, LassoCV, RidgeCV, datasets, lasso_knots, lasso_path

DIABETES = datasets.diabetes(scaled=True)
X, y = DIABETES


def test_ridge_path_is_the_one_it_keeps():
    model = RidgeCV(alphas=np.geomspace(0.01, 100, 30)).fit(X, y)
    display = CoefficientPathDisplay.from_estimator(model, names=DIABETES.feature_names)
    assert (display.coefs == model.coef_path_).all()
    assert display.ax_.get_xscale() == "log"
    assert display.chosen_.get_xdata()[0] == model.alpha_
    # The largest coefficients have the names, the others share a shade.
    order = np.argsort(-np.abs(model.coef_path_).max(axis=0))
    assert [line.get_label() for line in display.lines_] == [DIABETES.feature_names[j] for j in order[:7]]
    assert display.lines_[0].get_ydata() == pytest.approx(model.coef_path_[:, order[0]])
    assert len(display.others_.get_segments()) == 3
    assert display.others_.get_label() == "3 others"


def test_all_lines_are_within_the_picture():
    model = RidgeCV(alphas=np.geomspace(0.01, 100, 30)).fit(X, y)
    display = CoefficientPathDisplay.from_estimator(model)
    display.figure_.canvas.draw()
    low, high = display.ax_.get_ylim()
    assert low < model.coef_path_.min() < model.coef_path_.max() < high


def test_lasso_path_is_turned():
    alphas, coefs, _ = lasso_path(X, y - y.mean(), alphas=20)
    display = CoefficientPathDisplay.from_path(alphas, coefs)
    assert (display.coefs == coefs.T).all()
    assert display.names[0] == "x0"


def test_knots_are_marked_and_the_axis_is_straight():
    knots = lasso_knots(X, y)
    display = CoefficientPathDisplay.from_knots(knots)
    assert display.ax_.get_xscale() == "linear"
    assert np.array([segment[0, 0] for segment in display.knots_.get_segments()]) == pytest.approx(
        knots.alphas
    )
    assert display.lines_[0].get_xdata() == pytest.approx(knots.alphas)


def test_few_features_have_all_names():
    display = CoefficientPathDisplay([1.0, 2.0], [[3.0, 1.0], [2.0, 0.0]]).plot()
    assert display.others_ is None
    assert len({line.get_linestyle() for line in display.lines_}) == 2


def test_a_thousand_features_are_two_artists():
    coefs = np.random.default_rng(0).normal(size=(5, 1000))
    display = CoefficientPathDisplay(np.arange(1, 6), coefs).plot()
    assert len(display.lines_) == 7
    assert len(display.others_.get_segments()) == 993


def test_bad_input():
    with pytest.raises(AttributeError, match="LassoCV keeps no path of coefficients"):
        CoefficientPathDisplay.from_estimator(LassoCV().fit(X, y))
    with pytest.raises(NotFittedError):
        CoefficientPathDisplay.from_estimator(RidgeCV())
    with pytest.raises(ValueError, match="several targets"):
        CoefficientPathDisplay.from_estimator(RidgeCV().fit(X, np.column_stack([y, y])))
    with pytest.raises(ValueError, match="there are 3 alphas"):
        CoefficientPathDisplay([1, 2, 3], [[1.0]])
    with pytest.raises(ValueError, match="2 names for 1 features"):
        CoefficientPathDisplay([1.0], [[1.0]], names=["a", "b"])
