"""The gap statistic, and three rules side by side."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from bisector import ClusterCountDisplay, GapDisplay, KMeans, choose_k, datasets, gap_statistic

X = datasets.four_gaussians(120).X
FOUND = gap_statistic(X, KMeans(random_state=0), range(1, 7), 5)


def test_the_gap_has_errors_and_a_ring_around_the_choice():
    shown = GapDisplay(FOUND).plot()
    np.testing.assert_array_equal(shown.lines_[0].get_xydata(), np.c_[FOUND.k, FOUND.gap])
    bars = shown.ax_.collections[0].get_segments()
    np.testing.assert_allclose([b[1, 1] - b[0, 1] for b in bars], 2 * FOUND.standard_error, atol=1e-12)
    place = list(FOUND.k).index(FOUND.k_)
    np.testing.assert_array_equal(shown.choice_.get_offsets(), [[FOUND.k_, FOUND.gap[place]]])
    assert shown.ax_.get_title() == f"Gap statistic: {FOUND.k_} clusters"


def test_the_gap_is_what_lies_between_the_two_logarithms():
    shown = GapDisplay(FOUND).plot(kind="scatter")
    rows, references = (line.get_ydata() for line in shown.lines_)
    np.testing.assert_allclose(references - rows, FOUND.gap)
    assert shown.ax_.get_ylabel().startswith("log")


def test_infinite_gaps_are_left_out():
    few = np.repeat([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], 10, axis=0)
    shown = GapDisplay.from_estimator(KMeans(random_state=0), few, range(1, 4), 3)
    assert np.isfinite(shown.lines_[0].get_ydata()).all()
    assert list(shown.lines_[0].get_xdata()) == [1, 2]
    assert len(shown.choice_.get_offsets()) == 0
    assert shown.found.k_ == 3


def test_three_rules_mark_their_choices():
    found = choose_k(X, KMeans(random_state=0), range(1, 7), n_refs=5)
    shown = ClusterCountDisplay(found).plot()
    chosen = (found.k_by_silhouette, found.k_by_gap, found.k_by_elbow)
    assert [int(ring.get_offsets()[0, 0]) for ring in shown.choices_] == list(chosen)
    heights = (found.silhouette, found.gap.gap, found.scatter)
    for line, height in zip(shown.lines_, heights, strict=True):
        np.testing.assert_array_equal(line.get_ydata(), height)
    figure, axes = plt.subplots(3)
    assert ClusterCountDisplay(found).plot(axes).figure_ is figure


def test_bad_input_is_refused():
    with pytest.raises(TypeError, match=r"bisector\.gap_statistic"):
        GapDisplay([1, 2])
    with pytest.raises(TypeError, match="choose_k"):
        ClusterCountDisplay(FOUND)
    with pytest.raises(ValueError, match="kind must be"):
        GapDisplay(FOUND).plot(kind="bars")
    with pytest.raises(ValueError, match="three axes"):
        ClusterCountDisplay(choose_k(X, KMeans(random_state=0), range(1, 4), n_refs=2)).plot(
            plt.subplots(2)[1]
        )
