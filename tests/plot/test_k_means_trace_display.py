"""K-means step by step: moves, bisectors and scatters."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.cluster import KMeans as TheirKMeans

from bisector import AgglomerativeClustering, KMeans, KMeansTraceDisplay, datasets
from bisector.plot.bisecting_lines import bisecting_lines

X = datasets.spread_clusters(150, clusters=3, seed=4).X
START = X[[0, 3, 7]]


def lloyd(rows, centres):
    """Move until nothing moves: the two steps as they are written in the book."""
    trace = [centres]
    while True:
        nearest = ((rows[:, None] - trace[-1]) ** 2).sum(axis=2).argmin(axis=1)
        moved = np.array([rows[nearest == j].mean(axis=0) for j in range(len(centres))])
        if np.allclose(moved, trace[-1], atol=1e-12):
            return np.array(trace)
        trace.append(moved)


@pytest.mark.parametrize("model", [KMeans(3, init=START), TheirKMeans(3, init=START, n_init=1)])
def test_the_moves_are_those_of_lloyd(model):
    shown = KMeansTraceDisplay.from_estimator(model, X)
    expected = lloyd(X, START)
    np.testing.assert_allclose(shown.centers, expected, atol=1e-9)
    assert len(shown.cells_) == len(expected)
    for cluster, path in enumerate(shown.paths_):
        np.testing.assert_array_equal(path.get_xydata(), shown.centers[:, cluster])
    assert not hasattr(model, "cluster_centers_")
    assert shown.ax_.get_title() == f"{len(expected) - 1} moves of 3 centres"
    assert shown.cells_[0].get_alpha() < shown.cells_[-1].get_alpha()


def test_on_a_bisector_two_centres_are_nearest():
    rng = np.random.default_rng(0)
    for k in (2, 3, 8, 30):
        centres = rng.normal(size=(k, 2))
        lines = bisecting_lines(centres, np.full(2, -4.0), np.full(2, 4.0))
        middles = lines.mean(axis=1)
        ordered = np.sort(np.linalg.norm(middles[:, None] - centres, axis=2), axis=1)
        np.testing.assert_allclose(ordered[:, 0], ordered[:, 1])
        assert (np.abs(lines) <= 4 + 1e-9).all()
        assert k - 1 <= len(lines) <= max(1, 3 * k - 6)  # of so many edges is a planar map of k cells


def test_bisectors_are_where_the_nearest_centre_changes():
    """A picture by another route: along a line across, labels change where a bisector is met."""
    centres = np.random.default_rng(1).normal(size=(6, 2))
    lines = bisecting_lines(centres, np.full(2, -3.0), np.full(2, 3.0))
    across = np.c_[np.linspace(-3, 3, 20_001), np.full(20_001, 0.37)]
    labels = ((across[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
    changes = across[np.flatnonzero(np.diff(labels)), 0]
    (x0, y0), (x1, y1) = lines[:, 0].T, lines[:, 1].T
    met = (y0 - 0.37) * (y1 - 0.37) < 0
    crossings = x0[met] + (0.37 - y0[met]) * (x1 - x0)[met] / (y1 - y0)[met]
    np.testing.assert_allclose(np.sort(crossings), changes, atol=6 / 20_000)  # a step of the line across


def test_equal_centres_and_one_have_no_bisector():
    low, high = np.zeros(2), np.ones(2)
    assert bisecting_lines(np.array([[0.5, 0.5]]), low, high).shape == (0, 2, 2)
    assert bisecting_lines(np.array([[0.5, 0.5], [0.5, 0.5]]), low, high).shape == (0, 2, 2)
    in_a_row = bisecting_lines(np.array([[0.1, 0.5], [0.5, 0.5], [0.9, 0.5]]), low, high)
    np.testing.assert_allclose(np.sort(in_a_row[:, :, 0].mean(axis=1)), [0.3, 0.7])


def test_steps_side_by_side_show_the_scatter_fall():
    shown = KMeansTraceDisplay.from_estimator(KMeans(3, init=START), X).plot_steps()
    assert len(shown.axes_) == 4
    assert (np.diff(shown.scatters_) < 0).all()
    fitted = KMeans(3, init=START).fit(X)
    assert shown.scatters_[-1] == pytest.approx(fitted.inertia_)
    titles = [ax.get_title().split(":")[0] for ax in shown.axes_]
    assert titles[:3] == ["start", "1 move", "2 moves"]
    figure, axes = plt.subplots(1, 2)
    again = shown.plot_steps(axes, steps=[0, 1])
    assert again.figure_ is figure


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="set start to an array"):
        KMeansTraceDisplay.from_estimator(KMeans(3), X)
    with pytest.raises(ValueError, match="give two features"):
        KMeansTraceDisplay(np.zeros((4, 3)), np.zeros((2, 2, 3)))
    with pytest.raises(ValueError, match="n_moves"):
        KMeansTraceDisplay(X, START)
    with pytest.raises(TypeError, match="no init"):
        KMeansTraceDisplay.from_estimator(AgglomerativeClustering(), X)
    trace = KMeansTraceDisplay(X, [START])
    with pytest.raises(ValueError, match="at most 0"):
        trace.plot_steps(steps=[3])
