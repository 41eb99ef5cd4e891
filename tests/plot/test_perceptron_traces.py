"""The line after each update."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from bisector import Perceptron, PerceptronTraceDisplay, datasets
from bisector.plot.perceptron_traces import clipped_line

X, y = datasets.gaussian_classes(60, separation=4.0, seed=3)


@pytest.fixture(scope="module")
def model():
    return Perceptron(history=True, shuffle=False).fit(X, y)


def test_segments_lie_on_the_lines_of_the_history(model):
    display = PerceptronTraceDisplay.from_estimator(model, X, y)
    segments = display.trace_.get_segments()
    history = model.history_
    met = 0
    for w, b in zip(history.weights, history.intercepts, strict=True):
        on = [np.abs(segment @ w + b).max() < 1e-9 * np.abs(w).max() for segment in segments]
        met += np.any(w != 0) and any(on)
    assert 0 < len(segments) <= len(history.rows)
    assert met >= len(segments)
    result = display.result_.get_segments()[0]
    assert result @ model.coef_[0] + model.intercept_[0] == pytest.approx([0.0, 0.0], abs=1e-9)


def test_later_lines_are_darker(model):
    display = PerceptronTraceDisplay.from_estimator(model, X, y)
    opacity = display.trace_.get_colors()[:, 3]
    assert (np.diff(opacity) > 0).all()


def test_rows_that_caused_updates_are_ringed(model):
    display = PerceptronTraceDisplay.from_estimator(model, X, y)
    rows = np.flatnonzero(model.mistakes_)
    assert display.updated_.get_offsets().data == pytest.approx(X[rows])


def test_long_walks_are_thinned_and_say_so():
    rows, labels = datasets.gaussian_classes(80, separation=0.5, seed=0)
    model = Perceptron(history=True).fit(rows, labels)
    display = PerceptronTraceDisplay.from_estimator(model, rows, labels)
    assert len(model.history_.rows) > 200
    assert len(display.trace_.get_segments()) <= 200
    assert "updates, 200 of them drawn" in display.ax_.get_title()


def test_of_very_many_rows_those_with_most_updates_are_ringed():
    rows, labels = datasets.gaussian_classes(600, separation=0.5, seed=0)
    model = Perceptron(history=True).fit(rows, labels)
    display = PerceptronTraceDisplay.from_estimator(model, rows, labels)
    most = np.sort(model.mistakes_)[-100:]
    assert len(display.updated_.get_offsets()) == 100
    numbers = [
        int(np.flatnonzero((rows == place).all(axis=1))[0]) for place in display.updated_.get_offsets()
    ]
    assert np.sort(model.mistakes_[numbers]).tolist() == most.tolist()


def test_a_model_that_never_erred_has_the_line_it_began_with():
    rows, labels = np.array([[0.0, 0.0], [0.0, 2.0], [4.0, 0.0], [4.0, 2.0]]), [0, 0, 1, 1]
    model = Perceptron(history=True, init="basic").fit(rows, labels)
    display = PerceptronTraceDisplay.from_estimator(model, rows, labels)
    assert display.updated_ is None
    (segment,) = display.trace_.get_segments()
    assert segment[:, 0] == pytest.approx([2.0, 2.0])
    assert display.ax_.get_title() == "Perceptron: 0 updates"


@pytest.mark.parametrize(
    ("w", "b", "ends"),
    [
        ([1.0, 0.0], -1.0, [[1, 0], [1, 3]]),
        ([0.0, 2.0], -2.0, [[0, 1], [2, 1]]),
        ([1.0, 1.0], -1.0, [[0, 1], [1, 0]]),
        ([1.0, 1.0], 9.0, None),
        ([1.0, 0.0], 5.0, None),
        ([0.0, 0.0], 1.0, None),
    ],
)
def test_clipping(w, b, ends):
    found = clipped_line(np.array(w), b, np.zeros(2), np.array([2.0, 3.0]))
    assert found is None if ends is None else found == pytest.approx(np.array(ends, float))


def test_light_on_dark_pages(model):
    with plt.style.context("dark_background"):
        display = PerceptronTraceDisplay.from_estimator(model, X, y)
        assert display.result_.get_colors()[0].tolist() == [1.0, 1.0, 1.0, 1.0]


def test_bad_input(model):
    with pytest.raises(NotFittedError):
        PerceptronTraceDisplay.from_estimator(Perceptron(history=True), X, y)
    with pytest.raises(AttributeError, match=r"kept no history: fit Perceptron\(history=True\)"):
        PerceptronTraceDisplay.from_estimator(Perceptron().fit(X, y), X, y)
    rows, labels = datasets.iris()
    with pytest.raises(ValueError, match="drawn for two classes"):
        PerceptronTraceDisplay.from_estimator(
            Perceptron(history=True).fit(rows[:, :2], labels), rows[:, :2], labels
        )
    three = np.column_stack([X, X[:, 0]])
    with pytest.raises(ValueError, match="plane of two"):
        PerceptronTraceDisplay.from_estimator(Perceptron(history=True).fit(three, y), three, y)
    with pytest.raises(ValueError, match="intercepts: give two"):
        PerceptronTraceDisplay([[1.0, 2.0]], [1.0, 2.0], points=X, codes=y > 0)
