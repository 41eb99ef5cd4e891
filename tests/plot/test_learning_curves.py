"""Learning curves: out of sample and in."""

import numpy as np
import pytest

from bisector import LearningCurveDisplay, datasets, learning_curve


@pytest.fixture(scope="module")
def curve():
    return learning_curve(
        *datasets.four_gaussians(200, deviation=0.4), sizes=[10, 40, 120], choices=[1, "sqrt"], repeats=3
    )


def test_lines_are_what_was_measured(curve):
    display = LearningCurveDisplay.from_curve(curve)
    for number in range(2):
        assert display.out_of_sample_[number].get_ydata() == pytest.approx(curve.out_of_sample[number])
        assert display.in_sample_[number].get_ydata() == pytest.approx(curve.in_sample[number])
        assert display.out_of_sample_[number].get_xdata().tolist() == [10, 40, 120]
    assert [line.get_label() for line in display.out_of_sample_] == ["k = 1", "k = √N"]
    assert len({line.get_marker() for line in display.out_of_sample_}) == 2
    assert display.ax_.get_xscale() == "log"


def test_bands_are_one_standard_error(curve):
    display = LearningCurveDisplay.from_curve(curve)
    edges = display.bands_[0].get_paths()[0].vertices
    assert edges[:, 1].max() == pytest.approx((curve.out_of_sample[0] + curve.out_of_sample_std[0]).max())


def test_one_curve_of_plain_numbers():
    display = LearningCurveDisplay([10, 20], [0.3, 0.2], [0.0, 0.1], names=["model"]).plot()
    assert display.bands_ == []
    assert display.ax_.get_xscale() == "linear"


def test_bad_input():
    with pytest.raises(TypeError, match="what learning_curve returned, not a dict"):
        LearningCurveDisplay.from_curve({})
    with pytest.raises(ValueError, match="1 names and 2 sizes"):
        LearningCurveDisplay([1, 2], np.ones((2, 2)), np.ones((2, 2)), names=["a"])
