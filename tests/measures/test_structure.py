"""Is there any cluster structure at all?"""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.stats import binom
from sklearn.cluster import AgglomerativeClustering, KMeans
from tests.measures.clusterers import WidestGaps

from bisector import datasets
from bisector.measures.structure import structure_test

THREE = np.array([[0.0], [1], [2], [50], [51], [52], [100], [101], [102]])


def test_three_heaps_are_structure():
    found = structure_test(THREE, WidestGaps(), range(1, 5), n_refs=39)
    assert found.structured
    assert found.k_ == 3
    assert found.p_value == 2 / 40
    assert_array_equal(found.p_values, 1 / 40)
    assert found.verdict == (
        "There is cluster structure (p = 0.05, at a level of 0.05), most clearly with 3 clusters."
    )
    assert found.observed.shape == (2, 3)
    assert found.expected.shape == (2, 2, 3)
    assert (found.observed[:, 1] > found.expected[:, :, 1]).all()
    assert "against box" in repr(found)
    assert "<table" in found._repr_html_()


def test_twenty_even_points_have_none_whatever_the_dendrogram_shows():
    """Flach, Figure 8.18."""
    X = datasets.uniform_square(20).X
    for linkage in ("complete", "average"):
        found = structure_test(X, AgglomerativeClustering(linkage=linkage), range(1, 6), n_refs=39)
        assert not found.structured
        assert found.k_ == 1
        assert found.verdict.startswith("No cluster structure can be seen (p = ")


def test_four_gaussians_have_four():
    found = structure_test(datasets.four_gaussians(80).X, KMeans(n_init=1), range(1, 6), n_refs=39)
    assert found.structured
    assert found.k_ == 4


def test_one_heap_is_no_structure_even_if_it_is_slanted():
    """Against the box along the axes, slanted rows seem clustered; along the principal axes they do not."""
    rng = np.random.default_rng(0)
    slanted = rng.multivariate_normal([0, 0], [[1, 0.97], [0.97, 1]], size=80)
    found = structure_test(slanted, KMeans(n_init=1), [2, 3], n_refs=39)
    assert not found.structured
    assert found.p_values[0].max() <= 0.05 < found.p_values[1].min()


@pytest.mark.parametrize("n", [5, 30])
def test_false_alarms_are_as_rare_as_stated(n):
    """Evenly spread rows, tested at the level 0.1, 100 times: the limit is passed once in 100,000 such tests."""
    alarms, times = 0, 100
    for seed in range(times):
        X = np.random.default_rng([n, seed]).random((n, 1))
        alarms += structure_test(
            X, WidestGaps(), [2, 3], n_refs=19, level=0.1, random_state=seed, n_jobs=1
        ).structured
    assert alarms <= binom.isf(1e-5, times, 0.1)
    assert alarms > 0  # it does alarm: a test that never errs would hardly ever find anything


def test_threads_change_nothing():
    X = datasets.four_gaussians(40, deviation=0.5).X
    one, two = (structure_test(X, KMeans(n_init=1), [2, 3], n_refs=39, n_jobs=jobs) for jobs in (1, 2))
    assert_array_equal(one.observed, two.observed)
    assert_array_equal(one.expected, two.expected)
    assert_array_equal(one.p_values, two.p_values)


def test_equal_rows_have_no_structure():
    found = structure_test(np.full((10, 2), 0.1), WidestGaps(), n_refs=39)
    assert not found.structured
    assert found.verdict == "No cluster structure can be seen: all rows are equal."
    assert "all rows are equal" in repr(found)


def test_rows_that_repeat_are_structure():
    found = structure_test(np.repeat([[0.0], [1.0], [5.0]], 5, axis=0), WidestGaps(), [2, 3], n_refs=39)
    assert found.structured
    assert found.k_ == 3


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"n_refs": 20}, "cannot give a p-value below 0.09524, and the level is 0.05: draw at least 39"),
        ({"level": 0}, "level must be a number above 0"),
        ({"k_range": [1]}, "k_range holds no number between 2 and 8"),
        ({"k_range": [10]}, "asks for 10 clusters, but X has only 9 rows"),
        ({"X": [[0.0], [1.0]]}, "between 2 and 1"),
    ],
)
def test_bad_input_is_told(options, said):
    asked = {"X": THREE, "clusterer": WidestGaps(), "k_range": [1, 2], **options}
    with pytest.raises(ValueError, match=said):
        structure_test(**asked)
