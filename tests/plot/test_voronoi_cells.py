"""Cells belong to the nearest exemplar, and their lines run where two are equally near."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from bisector import KMedoids, Manhattan, Minkowski, NearestExemplarClassifier, VoronoiDisplay, datasets

FIVE = np.array([[0.0, 0.0], [4.0, 1.0], [1.0, 4.0], [5.0, 5.0], [2.5, 2.2]])


def lines_of(contours):
    return np.vstack([segment for drawn in contours for level in drawn.allsegs for segment in level])


@pytest.mark.parametrize("p", [1, 2, 4])
def test_cells_are_those_of_the_nearest(p):
    display = VoronoiDisplay.from_exemplars(FIVE, "minkowski", p=p, resolution=37)
    places = np.stack(np.meshgrid(display.across, display.up), axis=-1)
    distances = (np.abs(places[:, :, None] - FIVE) ** p).sum(axis=3) ** (1 / p)
    first = np.take_along_axis(distances, display.nearest[..., :1], axis=2)[..., 0]
    assert first == pytest.approx(distances.min(axis=2))
    assert display.distances == pytest.approx(np.sort(distances, axis=2)[..., :2])


def test_euclidean_lines_are_perpendicular_bisectors():
    display = VoronoiDisplay.from_exemplars([[0.0, 0.0], [4.0, 2.0]])
    points = lines_of(display.boundaries_)
    to_each = np.linalg.norm(points[:, None] - display.exemplars, axis=2)
    # Between two places of the grid a line is drawn straight: right up to the square of their distance.
    assert to_each[:, 0] == pytest.approx(to_each[:, 1], abs=1e-3)
    middle, normal = np.array([2.0, 1.0]), np.array([4.0, 2.0]) / np.sqrt(20)
    assert np.abs((points - middle) @ normal).max() < 1e-3


def test_manhattan_lines_run_along_axes_and_diagonals():
    """Flach 8.2: horizontal, vertical or at 45°."""
    display = VoronoiDisplay.from_exemplars([[0.0, 0.0], [3.0, 1.0]], "manhattan")
    (segment,) = [s for line in display.boundaries_[:1] for s in line.allsegs[0]]
    steps = np.diff(segment, axis=0)
    angles = np.degrees(np.arctan2(*np.abs(steps).T[::-1]))
    odd = (np.abs(angles[:, None] - [0, 45, 90]) > 1).all(axis=1)
    assert odd.mean() < 0.05  # where it bends, within a cell of the grid


def test_ties_over_an_area_go_to_the_smaller_number_without_specks():
    display = VoronoiDisplay.from_exemplars([[0.0, 0.0], [2.0, 2.0]], Manhattan(), resolution=101)
    corner = display.nearest[display.up > 2.01][:, display.across < -0.01, 0]
    assert (corner == 0).all()


def test_second_order_cells_are_pairs():
    display = VoronoiDisplay.from_exemplars(FIVE, order=2, resolution=41)
    places = np.stack(np.meshgrid(display.across, display.up), axis=-1)
    distances = np.linalg.norm(places[:, :, None] - FIVE, axis=3)
    pairs = np.sort(distances, axis=2)[..., :2]
    assert np.take_along_axis(distances, display.nearest[..., :2], axis=2) == pytest.approx(pairs)
    points = lines_of(display.second_boundaries_)
    from_all = np.sort(np.linalg.norm(points[:, None] - FIVE, axis=2), axis=1)
    # On these lines the second and the third nearest change places, but near corners, where three meet.
    assert np.median(from_all[:, 2] - from_all[:, 1]) < 0.01
    # A cell's colour is that of the first, with a third of that of the second.
    image = np.asarray(display.image_.get_array())
    assert len(np.unique(image[..., :3].reshape(-1, 3).round(6), axis=0)) == len(
        np.unique(display.nearest[..., :2].reshape(-1, 2), axis=0)
    )


def test_one_exemplar_owns_all_and_two_have_no_second_lines():
    alone = VoronoiDisplay.from_exemplars([[1.0, 1.0]])
    assert alone.boundaries_ == []
    assert (alone.nearest == 0).all()
    assert VoronoiDisplay.from_exemplars([[0.0, 0.0], [1.0, 0.0]], order=2).second_boundaries_ == []


def test_many_exemplars_each_have_a_line():
    points = np.random.default_rng(0).random((120, 2))
    display = VoronoiDisplay.from_exemplars(points, resolution=300)
    assert len(display.boundaries_) == 120


def test_labels_colour_and_names_are_written():
    display = VoronoiDisplay.from_exemplars(
        FIVE, labels=["a", "b", "a", "b", "a"], names="PQRST", limits=((0, 6), (-1, 7))
    )
    assert display.codes.tolist() == [0, 1, 0, 1, 0]
    assert [text.get_text() for text in display.ax_.texts] == list("PQRST")
    assert display.ax_.get_xlim() == (0.0, 6.0)
    assert display.ax_.get_ylim() == (-1.0, 7.0)
    assert len(display.exemplars_) == 2


def test_from_estimator_takes_its_exemplars_and_distance():
    X, y = datasets.four_gaussians(200)
    medoids = KMedoids(4, metric="manhattan", random_state=0).fit(X)
    display = VoronoiDisplay.from_estimator(medoids, X)
    assert display.exemplars == pytest.approx(medoids.cluster_centers_)
    assert "Manhattan()" in display.title
    classifier = NearestExemplarClassifier(per_class=2, metric=Minkowski(3)).fit(X, y)
    display = VoronoiDisplay.from_estimator(classifier, X, resolution=21)
    places = np.column_stack([grid.ravel() for grid in np.meshgrid(display.across, display.up)])
    assert (
        classifier.classes_[display.codes[display.nearest[..., 0].ravel()]] == classifier.predict(places)
    ).all()


def test_light_on_dark_pages():
    with plt.style.context("dark_background"):
        display = VoronoiDisplay.from_exemplars(FIVE)
        assert display.boundaries_[0].get_edgecolor()[0].tolist() == [1.0, 1.0, 1.0, 1.0]


def test_bad_input():
    with pytest.raises(ValueError, match="exemplars have 3 coordinates"):
        VoronoiDisplay.from_exemplars(np.ones((2, 3)))
    with pytest.raises(ValueError, match="order must be 1"):
        VoronoiDisplay.from_exemplars(FIVE, order=3)
    with pytest.raises(ValueError, match="2 labels for 5 exemplars"):
        VoronoiDisplay.from_exemplars(FIVE, labels=[0, 1])
    with pytest.raises(NotFittedError):
        VoronoiDisplay.from_estimator(KMedoids(2))
    with pytest.raises(ValueError, match=r"no distance|not a distance|'manhatten'"):
        VoronoiDisplay.from_exemplars(FIVE, "manhatten")
