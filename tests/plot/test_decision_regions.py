"""Decision regions say what the model says, and are honest about what they leave out."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib.colors import to_rgba
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression as TheirLogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC as TheirSVC
from sklearn.tree import DecisionTreeClassifier as TheirTree

from bisector import (
    SVC,
    DecisionRegionsDisplay,
    GaussianMixture,
    KMeans,
    KNeighborsClassifier,
    LinearSVC,
    LogisticRegression,
    NearestExemplarClassifier,
    Perceptron,
    datasets,
)
from bisector.plot.canvas import COLOURS
from bisector.plot.given_rows import asked

X, y = datasets.margin_points()


@pytest.fixture(scope="module")
def svm():
    return SVC(C=np.inf, kernel="linear").fit(X, y)


def lines_of(contours):
    return np.vstack([segment for level in contours.allsegs for segment in level])


# The numbers are the model's


@pytest.mark.parametrize("model", [KNeighborsClassifier(1), TheirTree(), LogisticRegression()], ids=repr)
def test_regions_are_predictions(model):
    rows, labels = datasets.iris()
    rows = rows[:, 2:]
    display = DecisionRegionsDisplay.from_estimator(model.fit(rows, labels), rows, labels, resolution=31)
    places = np.column_stack([grid.ravel() for grid in np.meshgrid(display.across, display.up)])
    assert (model.classes_[display.regions.ravel()] == model.predict(places)).all()
    best = model.predict_proba(places).max(axis=1)
    assert display.confidence.ravel() == pytest.approx(best)
    assert (display.codes == labels).all()


def test_where_lines_run_is_where_scores_are_zero_and_one(svm):
    """Example 7.5: w = (3/5, −4/5), t = 0."""
    display = DecisionRegionsDisplay.from_estimator(svm, X, y)
    boundary = lines_of(display.boundaries_[0])
    assert boundary @ [0.6, -0.8] == pytest.approx(np.zeros(len(boundary)), abs=1e-9)
    scores = lines_of(display.margins_) @ [0.6, -0.8]
    assert np.unique(scores.round(9)).tolist() == [-1.0, 1.0]
    assert display.margins_.levels.tolist() == [-1.0, 1.0]


def test_support_vectors_are_ringed(svm):
    display = DecisionRegionsDisplay.from_estimator(svm, X, y)
    assert sorted(map(tuple, display.support_.get_offsets().tolist())) == [(-1, -2), (1, 2), (3, 1)]
    assert display.support_.get_facecolor().size == 0


def test_the_same_machine_of_scikit_learn_gives_the_same_picture(svm):
    """Pixel by pixel, drawn by another route: only antialiasing may differ."""
    pictures = []
    for model in (svm, TheirSVC(C=1e6, kernel="linear").fit(X, y)):
        display = DecisionRegionsDisplay.from_estimator(model, X, y)
        display.figure_.canvas.draw()
        pictures.append(np.asarray(display.figure_.canvas.buffer_rgba(), dtype=float))
    assert np.abs(pictures[0] - pictures[1]).mean() < 0.5  # of 255


def test_colours_are_those_of_the_classes_and_fade_with_doubt():
    rows = np.array([[0.0, 0.0], [1.0, 0.0], [4.0, 0.0], [5.0, 1.0]])
    display = DecisionRegionsDisplay.from_estimator(
        LogisticRegression().fit(rows, [0, 0, 1, 1]), rows, [0, 0, 1, 1]
    )
    image = np.asarray(display.image_.get_array())
    assert image[0, 0, :3] == pytest.approx(to_rgba(COLOURS[0])[:3])
    assert image[0, -1, :3] == pytest.approx(to_rgba(COLOURS[1])[:3])
    middle = image.shape[1] // 2
    assert image[0, 0, 3] > image[0, middle, 3] < image[0, -1, 3]


def test_image_covers_half_a_cell_around_the_places():
    display = DecisionRegionsDisplay([0.0, 1.0, 2.0], [0.0, 1.0], [[0, 0, 1], [0, 1, 1]]).plot()
    assert display.image_.get_extent() == [-0.5, 2.5, -0.5, 1.5]
    assert display.ax_.get_xlim() == (0.0, 2.0)
    # Without scores the line runs halfway between places of different classes.
    assert (1.5, 0.0) in set(map(tuple, lines_of(display.boundaries_[0]).round(9).tolist()))


# Margins, probabilities and exemplars on demand


def test_margins_are_drawn_for_machines_or_when_asked():
    rows, labels = datasets.gaussian_classes(60, seed=0)
    perceptron = Perceptron().fit(rows, labels)
    assert DecisionRegionsDisplay.from_estimator(perceptron, rows, labels).margins_ is None
    assert DecisionRegionsDisplay.from_estimator(perceptron, rows, labels, margins=True).margins_ is not None
    machine = LinearSVC().fit(rows, labels)
    assert DecisionRegionsDisplay.from_estimator(machine, rows, labels).margins_ is not None
    assert DecisionRegionsDisplay.from_estimator(machine, rows, labels, margins=False).margins_ is None


def test_margins_that_no_score_reaches_are_not_drawn():
    rows = np.array([[0.0, 0.0], [1.0, 0.0]])
    model = LogisticRegression(C=1e-3).fit(rows, [0, 1])
    assert DecisionRegionsDisplay.from_estimator(model, rows, [0, 1], margins=True).margins_ is None


def test_probabilities_can_be_left_out_and_cannot_be_invented(svm):
    rows, labels = datasets.gaussian_classes(40, seed=0)
    model = LogisticRegression().fit(rows, labels)
    assert DecisionRegionsDisplay.from_estimator(model, rows, labels, probabilities=False).confidence is None
    with pytest.raises(AttributeError, match="LinearSVC has no predict_proba"):
        DecisionRegionsDisplay.from_estimator(LinearSVC().fit(rows, labels), rows, labels, probabilities=True)


def test_exemplars_are_stars():
    rows, labels = datasets.four_gaussians(200)
    model = NearestExemplarClassifier(per_class=2).fit(rows, labels)
    display = DecisionRegionsDisplay.from_estimator(model, rows, labels)
    assert display.exemplars_.get_offsets().data == pytest.approx(model.exemplars_)
    means = KMeans(4, random_state=0).fit(rows)
    display = DecisionRegionsDisplay.from_estimator(means, rows)
    assert display.exemplars_.get_offsets().data == pytest.approx(means.cluster_centers_)
    assert display.class_names == ["cluster 0", "cluster 1", "cluster 2", "cluster 3"]
    assert (display.codes == means.labels_).all()


def test_mixtures_are_shaded_by_shares():
    rows, _ = datasets.four_gaussians(200)
    model = GaussianMixture(3, random_state=0).fit(rows)
    display = DecisionRegionsDisplay.from_estimator(model, rows, resolution=20)
    assert display.confidence.min() >= 1 / 3
    assert "clusters, shaded by probability" in display.title


def test_seven_classes_have_seven_colours_and_markers():
    rows = np.array([[np.cos(a), np.sin(a)] for a in np.arange(7)])
    model = KNeighborsClassifier(1).fit(rows, np.arange(7))
    display = DecisionRegionsDisplay.from_estimator(model, rows, np.arange(7), resolution=80)
    colours = {tuple(dots.get_facecolor()[0][:3]) for dots in display.points_}
    outlines = {tuple(dots.get_paths()[0].vertices.ravel().round(6)) for dots in display.points_}
    assert len(colours) == len(outlines) == 7
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == list("0123456")


# More than two features


@pytest.fixture(scope="module")
def iris():
    rows, labels = datasets.iris()
    return rows, labels, TheirLogisticRegression(max_iter=2000).fit(rows, labels)


def test_a_slice_is_taken_at_the_medians_and_says_so(iris):
    rows, labels, model = iris
    display = DecisionRegionsDisplay.from_estimator(model, rows, labels, features=(2, 3), resolution=9)
    place = np.median(rows, axis=0)
    place[2:] = display.across[4], display.up[7]
    assert model.predict(place[None])[0] == display.regions[7, 4]
    assert "a slice at x0 = 5.8, x1 = 3 (medians)" in display.title.replace("\n", " ")
    assert (display.points == rows[:, 2:]).all()
    assert display.ax_.get_xlabel() == "x2"


def test_a_slice_elsewhere(iris):
    rows, labels, model = iris
    first = DecisionRegionsDisplay.from_estimator(
        model, rows, labels, features=(2, 3), slice_at={0: 7.0}, resolution=9
    )
    second = DecisionRegionsDisplay.from_estimator(
        model, rows, labels, features=(2, 3), slice_at=[7.0, 3.0, 0, 0], resolution=9
    )
    assert (first.regions == second.regions).all()
    assert "x0 = 7, x1 = 3;" in first.title.replace("\n", " ")


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_keep_their_names(frame):
    given = datasets.iris()
    names = [name.partition(" (")[0] for name in given.feature_names]
    columns = {name: given.X[:, j] for j, name in enumerate(names)}
    table = frame(columns)
    model = LogisticRegression(max_iter=1000).fit(table, given.y)
    display = DecisionRegionsDisplay.from_estimator(
        model, table, given.y, features=("petal length", "petal width"), resolution=9
    )
    assert display.axis_names == ("petal length", "petal width")


def test_own_plane_shows_signed_distances():
    rows, labels = datasets.breast_cancer()
    rows = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    model = LinearSVC().fit(rows, labels)
    display = DecisionRegionsDisplay.from_estimator(model, rows, labels, plane="own", resolution=50)
    assert display.points[:, 0] == pytest.approx(model.signed_distance(rows))
    assert (display.regions == (display.across > 0)).all()
    assert np.unique(lines_of(display.boundaries_[0])[:, 0].round(9)) == pytest.approx([0.0])
    width = np.abs(lines_of(display.margins_)[:, 0])
    assert width == pytest.approx(np.full(len(width), 1 / np.linalg.norm(model.coef_)))
    # Up is the direction of most spread at right angles to the normal.
    unit = model.coef_[0] / np.linalg.norm(model.coef_)
    rest = rows - rows.mean(axis=0)
    rest -= np.outer(rest @ unit, unit)
    assert display.points[:, 1].var() == pytest.approx(np.linalg.eigvalsh(rest.T @ rest / len(rows))[-1])


# Size and bad input


def test_very_many_rows_are_counted_not_dotted():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(20_000, 2))
    labels = (rows[:, 0] > 0).astype(int)
    display = DecisionRegionsDisplay.from_estimator(LogisticRegression().fit(rows, labels), rows, labels)
    assert [type(artist).__name__ for artist in display.points_] == ["QuadMesh", "QuadMesh"]


def test_models_are_asked_a_part_at_a_time(monkeypatch):
    monkeypatch.setattr("bisector.plot.given_rows.NUMBERS_AT_ONCE", 6)
    lengths = []

    def ask(rows):
        lengths.append(len(rows))
        return rows[:, 0]

    assert asked(ask, None, np.arange(14.0).reshape(7, 2)).tolist() == [0, 2, 4, 6, 8, 10, 12]
    assert lengths == [3, 3, 1]


def test_draws_on_the_axes_given_and_on_dark_pages(svm):
    with plt.style.context("dark_background"):
        figure, ax = plt.subplots()
        display = DecisionRegionsDisplay.from_estimator(svm, X, y, ax=ax)
        assert display.ax_ is ax
        assert display.figure_ is figure
        assert display.support_.get_edgecolor()[0].tolist() == [1.0, 1.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "X has 4 features, of which two can be drawn: choose them by features="),
        ({"features": (0, 9)}, "A feature is a name or a number from 0 to 3, not 9"),
        ({"features": ("petal", 1)}, "There is no feature 'petal'"),
        ({"features": (1, 1)}, "must be two different ones"),
        ({"features": 3}, "must be a pair of features"),
        ({"features": (0, 1), "slice_at": [1.0]}, r"slice_at has the shape \(1,\), but there are 4 features"),
        ({"plane": "own"}, 'plane="own" is for linear models of two classes'),
        ({"plane": "other"}, "plane must be"),
        ({"features": (0, 1), "margins": True}, "Margins are drawn for two classes"),
    ],
)
def test_bad_choices(iris, options, words):
    rows, labels, model = iris
    with pytest.raises(ValueError, match=words):
        DecisionRegionsDisplay.from_estimator(model, rows, labels, **options)


def test_bad_models_and_rows(svm):
    with pytest.raises(NotFittedError):
        DecisionRegionsDisplay.from_estimator(SVC(), X, y)
    with pytest.raises(AttributeError, match="has no predict"):
        DecisionRegionsDisplay.from_estimator(StandardScaler().fit(X), X)
    with pytest.raises(ValueError, match="X has 3 features, but SVC was fitted to 2"):
        DecisionRegionsDisplay.from_estimator(svm, np.ones((4, 3)), y)
    with pytest.raises(ValueError, match="Row 1 of y is 7, which the model does not know"):
        DecisionRegionsDisplay.from_estimator(svm, X, [1, 7, 1, 1])
    with pytest.raises(ValueError, match="X must hold numbers"):
        DecisionRegionsDisplay.from_estimator(svm, [["a", "b"]])
    with pytest.raises(ValueError, match="nan in row 1, column 0"):
        DecisionRegionsDisplay.from_estimator(svm, [[1.0, 2.0], [np.nan, 1.0]])
    with pytest.raises(ValueError, match="regions has the shape"):
        DecisionRegionsDisplay([0, 1], [0, 1], [[0, 1]])


def test_limits_say_how_far_the_plane_reaches(svm):
    display = DecisionRegionsDisplay.from_estimator(svm, X, y, limits=((-3, 6), (-4, 4)), resolution=10)
    assert display.ax_.get_xlim() == (-3.0, 6.0)
    assert display.up[[0, -1]].tolist() == [-4.0, 4.0]


def test_lines_between_clusters_are_bisectors_not_steps():
    rows = np.array([[0.0, 0.0], [1.0, 0.0], [4.0, 3.0], [5.0, 3.0]])
    model = KMeans(2, random_state=0).fit(rows)
    display = DecisionRegionsDisplay.from_estimator(model, rows, resolution=20)
    corners = np.vstack([line for one in display.boundaries_ for line in one.allsegs[0]])
    near, far = np.linalg.norm(corners[:, None] - model.cluster_centers_, axis=2).T
    # Distances bend a little between the places of the grid; steps would be off by half of one, 0.15.
    np.testing.assert_allclose(near, far, atol=0.01)
