"""The boundaries of several models on one picture: lines where they belong, names, and rows in grey."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import same_color
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from bisector import (
    BasicLinearClassifier,
    BoundaryDisplay,
    DecisionTreeClassifier,
    LeastSquaresClassifier,
    NearestExemplarClassifier,
    datasets,
)
from bisector.plot.canvas import colour, ink

X = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 6.0], [2.0, 6.0]])
y = np.array([-1, -1, 1, 1])


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def drawn(shown, name):
    """Return the corners of the lines of a model."""
    return np.vstack([line for one in shown.boundaries_[name] for line in one.allsegs[0]])


def test_the_line_of_a_linear_classifier_is_its_plane():
    models = {"basic": BasicLinearClassifier().fit(X, y), "least": LeastSquaresClassifier().fit(X, y)}
    shown = BoundaryDisplay.from_estimator(models, X, y)
    for name, model in models.items():
        corners = drawn(shown, name)
        np.testing.assert_allclose(model.decision_function(corners), 0, atol=1e-9)
    np.testing.assert_allclose(drawn(shown, "basic")[:, 1], 3.0)


def test_each_model_has_its_colour_and_tells_its_mistakes():
    wrong_y = y.copy()
    wrong_y[0] = 1
    models = {"one": BasicLinearClassifier().fit(X, y), "two": BasicLinearClassifier().fit(X, y)}
    shown = BoundaryDisplay.from_estimator(models, X, wrong_y)
    assert [line.get_label() for line in shown.lines_] == ["one: 1 wrong", "two: 1 wrong"]
    assert [line.get_color() for line in shown.lines_] == [colour(0), colour(1)]
    assert [text.get_text() for text in shown.ax_.get_legend().get_texts()] == [
        "-1",
        "1",
        "one: 1 wrong",
        "two: 1 wrong",
    ]
    # Colours belong to models, so rows have none; classes differ by shade and marker.
    for points in shown.points_:
        assert same_color(points.get_facecolor()[0, :3], ink())
    shades = [float(points.get_facecolor()[0, 3]) for points in shown.points_]
    assert shades[0] < shades[1]
    assert [len(points.get_offsets()) for points in shown.points_] == [1, 3]
    assert shown.plot(legend=False).ax_.get_legend() is None


def test_a_pipeline_is_drawn_where_its_rows_come_from():
    rows, labels = datasets.disc_and_ring()
    model = make_pipeline(FunctionTransformer(np.square), BasicLinearClassifier()).fit(rows, labels)
    corners = drawn(BoundaryDisplay.from_estimator(model, rows, labels), "boundary")
    inside = BasicLinearClassifier().fit(rows**2, labels)
    # Between places of the grid an ellipse is drawn as a chord.
    assert (
        np.abs(inside.decision_function(corners**2)).max()
        < 0.01 * np.abs(inside.decision_function(rows**2)).max()
    )


def test_between_three_classes_each_line_is_drawn_once():
    places = np.array([[0.0, 0.0], [4.0, 0.0], [2.0, 3.0]])
    model = NearestExemplarClassifier().fit(places, ["a", "b", "c"])
    shown = BoundaryDisplay.from_estimator(model, places, ["a", "b", "c"], limits=((-2, 6), (-3, 6)))
    corners = drawn(shown, "boundary")
    gaps = np.sort(np.linalg.norm(corners[:, None] - places, axis=2), axis=1)
    step = 9 / 199
    assert (gaps[:, 1] - gaps[:, 0]).max() < step
    below = corners[corners[:, 1] < 0]
    np.testing.assert_allclose(below[:, 0], 2.0, atol=step)
    assert len(np.unique(below[:, 1].round(9))) == len(below)


def test_models_without_scores_and_frames():
    frame = pd.DataFrame(X, columns=["wide", "high"])
    model = DecisionTreeClassifier().fit(frame, y)
    shown = BoundaryDisplay.from_estimator({"tree": model}, frame, y)
    assert (shown.ax_.get_xlabel(), shown.ax_.get_ylabel()) == ("wide", "high")
    np.testing.assert_allclose(drawn(shown, "tree")[:, 1], 3.0, atol=0.05)


def test_bad_input_is_refused():
    model = BasicLinearClassifier().fit(X, y)
    with pytest.raises(ValueError, match="at least one"):
        BoundaryDisplay.from_estimator({}, X, y)
    other = BasicLinearClassifier().fit(X, np.where(y > 0, 2, -1))
    with pytest.raises(ValueError, match=r"'other' knows the classes \[-1, 2\]"):
        BoundaryDisplay.from_estimator({"one": model, "other": other}, X[:2], y[:2])
    with pytest.raises(ValueError, match="in a plane of two"):
        BoundaryDisplay.from_estimator(BasicLinearClassifier().fit(np.c_[X, X], y), np.c_[X, X], y)
    with pytest.raises(ValueError, match="3 places"):
        BoundaryDisplay([0, 1], [0, 1, 2], {"model": [[0, 1]]})
