"""Confusion matrices: words, shades and margins."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgba

from bisector import ConfusionDisplay, DecisionTreeClassifier, confusion_matrix, datasets
from bisector.plot.canvas import ink


def test_cells_hold_counts_and_rates():
    y_true, y_pred = list("aaaabbc"), list("aaabbbc")
    shown = ConfusionDisplay.from_predictions(y_true, y_pred)
    words = [[text.get_text() for text in row] for row in shown.text_]
    assert words == [
        ["3\n75%", "1\n25%", "0\n0%"],
        ["0\n0%", "2\n100%", "0\n0%"],
        ["0\n0%", "0\n0%", "1\n100%"],
    ]
    assert [label.get_text() for label in shown.ax_.get_yticklabels()] == ["a (4)", "b (2)", "c (1)"]
    assert shown.text_[0, 0].get_fontweight() == "bold"
    assert shown.text_[0, 1].get_fontweight() == "normal"
    right, wrong = shown.images_
    np.testing.assert_array_equal(right.get_array().compressed(), [0.75, 1, 1])
    assert wrong.get_array().count() == 6
    assert shown.ax_.get_title() == "Accuracy 0.857,\naverage recall 0.917"


@pytest.mark.parametrize("classes", [2, 3, 5, 6, 12])
def test_the_title_is_no_wider_than_the_figure(classes):
    labels = np.arange(classes)
    shown = ConfusionDisplay.from_predictions(labels.repeat(7), np.roll(labels.repeat(7), 1))
    shown.figure_.draw_without_rendering()
    room, title = shown.figure_.bbox, shown.ax_.title.get_window_extent()
    assert room.x0 <= title.x0 < title.x1 <= room.x1
    plt.close(shown.figure_)


def test_rates_and_counts_make_room():
    labels = np.arange(20)
    shown = ConfusionDisplay.from_predictions(labels, labels)
    assert shown.text_[3, 3].get_text() == "1"
    labels = np.arange(40)
    assert all(text is None for text in ConfusionDisplay.from_predictions(labels, labels).text_.flat)


def test_weights_and_a_model():
    weighted = ConfusionDisplay.from_predictions([0, 0, 1], [0, 1, 1], sample_weight=[0.5, 1, 2])
    assert weighted.text_[0, 0].get_text() == "0.5\n33%"
    X, y = datasets.iris()
    model = DecisionTreeClassifier(max_depth=2).fit(X, y)
    shown = ConfusionDisplay.from_estimator(model, X, y)
    np.testing.assert_array_equal(shown.matrix.counts, confusion_matrix(y, model.predict(X)).counts)


def test_dark_pages_have_light_words():
    with plt.style.context("dark_background"):
        shown = ConfusionDisplay.from_predictions([0, 1], [0, 1])
        assert to_rgba(shown.text_[0, 0].get_color()) == to_rgba(ink()) == (1, 1, 1, 1)


def test_bad_input_is_refused():
    with pytest.raises(TypeError, match=r"bisector\.confusion_matrix"):
        ConfusionDisplay(np.eye(2))
