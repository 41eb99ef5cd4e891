"""Kept rows and the boundaries before and after."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from bisector import (
    CondensationDisplay,
    CondensedNearestNeighbor,
    EditedNearestNeighbor,
    KNeighborsClassifier,
    PrototypeMerger,
    VoronoiCondenser,
    datasets,
)

X, y = datasets.four_gaussians(300, deviation=0.4)


def test_regions_are_those_of_the_nearest_neighbour_rules():
    condenser = CondensedNearestNeighbor().fit(X, y)
    display = CondensationDisplay.from_estimator(condenser, X, y, resolution=40)
    places = np.column_stack([grid.ravel() for grid in np.meshgrid(display.across, display.up)])
    rows = condenser.sample_indices_
    for drawn, kept in [(display.before, slice(None)), (display.after, rows)]:
        answers = KNeighborsClassifier(1).fit(X[kept], y[kept]).predict(places)
        assert (np.array([-1, 1])[drawn.ravel()] == answers).all()
    assert np.vstack([dots.get_offsets().data for dots in display.kept_]) == pytest.approx(
        np.vstack([X[rows][y[rows] == -1], X[rows][y[rows] == 1]])
    )
    assert sum(len(dots.get_offsets()) for dots in display.points_) == 300


def test_regions_are_those_of_the_condensers_own_rule():
    """Five neighbours vote before and after; one neighbour would draw other regions of either."""
    condenser = CondensedNearestNeighbor(5).fit(X, y)
    display = CondensationDisplay.from_estimator(condenser, X, y, resolution=40)
    places = np.column_stack([grid.ravel() for grid in np.meshgrid(display.across, display.up)])
    rows = condenser.sample_indices_
    for drawn, kept in [(display.before, slice(None)), (display.after, rows)]:
        of_five, of_one = (KNeighborsClassifier(k).fit(X[kept], y[kept]).predict(places) for k in (5, 1))
        assert (np.array([-1, 1])[drawn.ravel()] == of_five).all()
        assert (of_five != of_one).any()


def test_an_editors_neighbours_are_not_those_of_the_rule():
    editor = EditedNearestNeighbor(5).fit(X, y)
    display = CondensationDisplay.from_estimator(editor, X, y, resolution=40)
    places = np.column_stack([grid.ravel() for grid in np.meshgrid(display.across, display.up)])
    answers = KNeighborsClassifier(1).fit(X, y).predict(places)
    assert (np.array([-1, 1])[display.before.ravel()] == answers).all()


def test_a_condenser_that_changes_nothing_has_one_boundary():
    """Pixels: drawn from all rows, and from those that the Voronoi condenser keeps."""
    display = CondensationDisplay.from_estimator(VoronoiCondenser().fit(X, y), X, y)
    assert (display.before == display.after).all()
    lines = [np.vstack(drawn[0].allsegs[0]) for drawn in (display.before_, display.after_)]
    assert lines[0] == pytest.approx(lines[1])


def test_prototypes_stand_where_no_row_is():
    X7, y7 = datasets.seven_points()
    merger = PrototypeMerger(n_prototypes=2).fit(X7, y7)
    display = CondensationDisplay.from_estimator(merger, X7, y7)
    assert display.kept == pytest.approx(np.array([[0.0, 0.0], [-0.5, -0.5]]))
    assert display.title == "PrototypeMerger: 2 of 7 rows kept"


def test_three_classes_have_lines_between_every_two():
    rows, labels = datasets.iris()
    rows = rows[:, 2:]
    display = CondensationDisplay.from_estimator(EditedNearestNeighbor(3).fit(rows, labels), rows, labels)
    assert len(display.before_) == 2  # around the first class, and between the other two
    assert display.class_names == ["0", "1", "2"]


def test_many_kept_rows_have_no_outlines():
    rows, labels = datasets.four_gaussians(600, deviation=0.3)
    display = CondensationDisplay.from_estimator(EditedNearestNeighbor(3).fit(rows, labels), rows, labels)
    assert len(display.kept) > 200
    assert display.kept_[0].get_sizes().tolist() == [14]


def test_bad_input():
    with pytest.raises(NotFittedError):
        CondensationDisplay.from_estimator(CondensedNearestNeighbor(), X, y)
    wide = np.column_stack([X, X])
    with pytest.raises(ValueError, match="4 features, but this picture is drawn in a plane of two"):
        CondensationDisplay.from_estimator(CondensedNearestNeighbor().fit(wide, y), wide, y)
    with pytest.raises(ValueError, match="give the rows that EditedNearestNeighbor was fitted to"):
        CondensationDisplay.from_estimator(EditedNearestNeighbor().fit(X, y), X[:50], y[:50])
    with pytest.raises(AttributeError, match="has no prototypes_ and no sample_indices_"):
        CondensationDisplay.from_estimator(KNeighborsClassifier().fit(X, y), X, y)
    with pytest.raises(ValueError, match="n_neighbors is 3, but only 2 rows are kept"):
        CondensationDisplay.from_rows(X, y, X[:2], y[:2], n_neighbors=3)
