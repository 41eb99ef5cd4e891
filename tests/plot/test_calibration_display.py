"""Reliability curves and calibration maps."""

import numpy as np
import pytest

from bisector import (
    CalibrationDisplay,
    CalibrationMapDisplay,
    HullCalibrator,
    LinearSVC,
    LogisticCalibrator,
    LogisticRegression,
    reliability_curve,
)


def scored(n=400, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return 1.5 * y + rng.normal(size=n), y


def test_curves_and_bars_are_those_of_the_bins():
    scores, y = scored()
    model = LogisticRegression().fit(scores[:, None], y)
    shown = CalibrationDisplay.from_estimator(model, scores[:, None], y, n_bins=8)
    expected = reliability_curve(y, model.predict_proba(scores[:, None])[:, 1], n_bins=8)
    np.testing.assert_array_equal(shown.lines_[0].get_xydata(), np.c_[expected.prob_pred, expected.prob_true])
    heights = [bar.get_height() for bar in shown.bars_[0]]
    np.testing.assert_allclose(heights, expected.weights / 400)
    assert sum(heights) == pytest.approx(1)
    left = [bar.get_x() for bar in shown.bars_[0]]
    np.testing.assert_allclose(left, expected.lowest, atol=1e-12)  # (low + high)/2 − width/2
    assert CalibrationDisplay(expected).plot(counts=False).bars_ == []


def test_another_class_may_be_positive():
    scores, y = scored()
    model = LogisticRegression().fit(scores[:, None], y)
    shown = CalibrationDisplay.from_estimator({"no": model}, scores[:, None], y, pos_label=0)
    expected = reliability_curve(1 - y, model.predict_proba(scores[:, None])[:, 0], n_bins=10)
    np.testing.assert_allclose(shown.lines_[0].get_ydata(), expected.prob_true)
    assert shown.lines_[0].get_label().startswith("no (squared error")


def test_a_calibrated_curve_lies_on_the_diagonal():
    scores, y = scored()
    p = HullCalibrator().fit(scores, y).predict(scores)
    shown = CalibrationDisplay.from_predictions(y, p, strategy="hull")
    line = shown.lines_[0]
    np.testing.assert_allclose(line.get_xdata(), line.get_ydata(), atol=1e-12)


def test_bad_probabilities_are_refused():
    scores, y = scored()
    with pytest.raises(TypeError, match="no ReliabilityCurve"):
        CalibrationDisplay(np.eye(2))
    with pytest.raises(AttributeError, match="LinearSVC has no predict_proba"):
        CalibrationDisplay.from_estimator(LinearSVC().fit(scores[:, None], y), scores[:, None], y)
    three = LogisticRegression().fit(scores[:, None], np.arange(400) % 3)
    with pytest.raises(ValueError, match="choose one by pos_label"):
        CalibrationDisplay.from_estimator(three, scores[:, None], y)


def test_maps_are_what_the_calibrators_say():
    scores, y = scored()
    models = {"sigmoid": LogisticCalibrator().fit(scores, y), "hull": HullCalibrator().fit(scores, y)}
    shown = CalibrationMapDisplay.from_estimator(models, scores, y)
    for line, model in zip(shown.lines_, models.values(), strict=True):
        np.testing.assert_array_equal(line.get_ydata(), model.predict(line.get_xdata()))
        assert line.get_xdata()[0] < scores.min() < scores.max() < line.get_xdata()[-1]
    assert np.isin(models["hull"].scores_, shown.lines_[1].get_xdata()).all()
    level = shown.plateau_lines_[0].get_segments()
    assert len(shown.plateau_lines_) == 1
    assert len(level) == len(models["hull"].hull_.segment_probability)
    assert all(one[0, 1] == one[-1, 1] for one in level)
    below, above = shown.ticks_
    np.testing.assert_array_equal(np.sort(above.get_xdata()), np.sort(scores[y == 1]))
    assert set(below.get_ydata()) == {-0.04}


def test_without_scores_a_map_is_drawn_where_its_calibrator_was_fitted():
    scores, y = scored()
    hull = CalibrationMapDisplay.from_estimator(HullCalibrator().fit(scores, y)).lines_[0].get_xdata()
    assert hull[0] <= scores.min() < scores.max() <= hull[-1]
    model = LogisticCalibrator().fit(scores, y)
    line = CalibrationMapDisplay.from_estimator(model).lines_[0]
    assert line.get_xdata()[0] < model.means_[0] < model.d0_ < model.means_[1] < line.get_xdata()[-1]


def test_many_rows_are_few_ticks():
    scores, y = scored(20_000)
    shown = CalibrationMapDisplay.from_estimator(LogisticCalibrator().fit(scores, y), scores, y)
    for line, label in zip(shown.ticks_, (0, 1), strict=True):
        assert len(line.get_xdata()) == 400
        assert line.get_xdata().max() == scores[y == label].max()


def test_bad_maps_are_refused():
    with pytest.raises(ValueError, match="one probability for each score"):
        CalibrationMapDisplay({"map": (np.zeros(3), np.zeros(2))})
    plain = LogisticRegression().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="give scores"):
        CalibrationMapDisplay.from_estimator(plain)
