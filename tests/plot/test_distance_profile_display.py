"""Distance profiles: three histograms."""

import numpy as np
import pytest

from bisector import DistanceProfileDisplay, distance_profile


def test_histograms_are_shares():
    rows = np.random.default_rng(0).normal(size=(150, 3))
    profile = distance_profile(rows)
    shown = DistanceProfileDisplay(profile).plot()
    pairs = shown.pairs_.get_data()
    np.testing.assert_allclose(pairs.values * profile.counts.sum(), profile.counts)
    for patch in (shown.pairs_, shown.nearest_, shown.farthest_):
        assert patch.get_data().values.sum() == pytest.approx(1)
        np.testing.assert_array_equal(patch.get_data().edges, profile.edges)
    near, far = shown.nearest_.get_data().values, shown.farthest_.get_data().values
    assert near.argmax() < pairs.values.argmax() < far.argmax()
    assert f"median {np.median(profile.nearest):.3g}" in shown.nearest_.get_label()
    assert "Euclidean()" in shown.ax_.get_xlabel()


def test_words_and_rows_that_repeat():
    shown = DistanceProfileDisplay.from_rows(["cat", "cat", "hat", "house", "mouse"], "levenshtein")
    assert shown.pairs_.get_data().values.sum() == pytest.approx(1)
    same = DistanceProfileDisplay.from_rows(np.zeros((5, 2)))
    assert "cannot be told" in same.ax_.get_title()
    assert same.nearest_.get_data().values.sum() == 0


def test_bad_input_is_refused():
    with pytest.raises(TypeError, match="use from_rows"):
        DistanceProfileDisplay(np.zeros((3, 2)))
