"""The gap statistic, and the number of clusters that three rules advise."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.linear_model import LinearRegression
from tests.measures.clusterers import WidestGaps

import bisector
from bisector import datasets, exemplars
from bisector.measures.gap import gap_statistic
from bisector.measures.number_of_clusters import _advice, choose_k
from bisector.measures.silhouettes import silhouette_score
from bisector.measures.uniform_references import box_of, scatter_within

THREE = np.array([[0.0], [1], [2], [50], [51], [52], [100], [101], [102]])


# References


@pytest.mark.parametrize("reference", ["box", "principal"])
def test_references_reach_the_borders_of_the_data(reference):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3)) @ rng.normal(size=(3, 3)) + 7
    box = box_of(X, reference)
    drawn = box.draw(50, np.random.default_rng(1))
    axes = np.eye(3) if box.axes is None else box.axes
    assert_allclose(axes.T @ axes, np.eye(3), atol=1e-12)
    for side in (np.min, np.max):
        assert_allclose(side(drawn @ axes, axis=0), side(X @ axes, axis=0), atol=1e-10)


def test_principal_references_stay_on_the_line_of_the_data():
    t = np.linspace(0, 1, 20)
    X = np.column_stack([t, 2 * t, np.full(20, 3.0)])
    drawn = box_of(X, "principal").draw(30, np.random.default_rng(0))
    assert drawn.shape == (30, 3)
    assert_allclose(drawn[:, 1], 2 * drawn[:, 0], atol=1e-12)
    assert_allclose(drawn[:, 2], 3.0)


def test_scatter_is_that_of_the_decomposition():
    X, _ = datasets.scatter_points()
    labels = [0, 0, 0, 1, 1]
    assert scatter_within(X, labels) == 16
    assert scatter_within(X, np.zeros(5)) == exemplars.scatter(X) == 76
    rng = np.random.default_rng(0)
    table, codes = rng.normal(size=(40, 3)), rng.integers(0, 4, 40)
    parts = exemplars.scatter_decomposition(table, codes)
    assert scatter_within(table, codes) == pytest.approx(parts.within.sum(), rel=1e-13)


def test_what_is_only_rounding_is_no_scatter():
    assert scatter_within(np.full((3, 1), 0.1) + [[0], [1e-17], [-1e-17]], np.zeros(3)) == 0
    assert scatter_within(np.array([[0.1 + 0.2], [0.3]]), np.zeros(2)) == 0


# The gap


def test_gap_by_hand():
    X = THREE + 150 * (THREE > 99)  # 0 1 2, 50 51 52, 250 251 252
    found = gap_statistic(X, WidestGaps(), [1, 2, 3, 4], n_refs=8)
    within = [exemplars.scatter(X), exemplars.scatter(X[:6]) + 2, 2 + 2 + 2, 0.5 + 2 + 2]
    assert_allclose(np.exp(found.log_scatter), within, rtol=1e-12)
    assert_allclose(found.gap, found.log_reference - found.log_scatter, rtol=1e-12)
    assert (found.k_, found.k_by_max, found.k_by_one_se) == (3, 3, 3)
    assert_array_equal(found.labels[2], np.repeat([0, 1, 2], 3))
    assert "One-standard-error rule: k = 3." in repr(found)
    assert "<table" in found._repr_html_()


def test_references_and_errors_are_what_they_are_said_to_be():
    """Drawn again from the same seeds, one by one."""
    found = gap_statistic(THREE, WidestGaps(), [1, 3], n_refs=5, random_state=4)
    seeds = np.random.SeedSequence(4).generate_state(11)
    box = box_of(THREE, "box")
    logs = []
    for b in range(1, 6):
        rows = box.draw(9, np.random.default_rng(seeds[2 * b]))
        one = scatter_within(rows, np.zeros(9))
        logs.append(np.log([one, scatter_within(rows, WidestGaps(3).fit_predict(rows))]))
    assert_allclose(found.log_reference, np.mean(logs, axis=0), rtol=1e-12)
    assert_allclose(found.standard_error, np.std(logs, axis=0) * np.sqrt(1 + 1 / 5), rtol=1e-9)


def test_threads_change_nothing_and_seeds_do():
    X, _ = datasets.four_gaussians(60)
    kmeans = KMeans(n_init=1)  # its own seed is None: it must get ours
    one, two, other = (
        gap_statistic(X, kmeans, [1, 2, 4], n_refs=3, random_state=seed, n_jobs=jobs)
        for seed, jobs in [(0, 1), (0, 2), (1, 1)]
    )
    assert_array_equal(one.gap, two.gap)
    assert (one.gap != other.gap).any()
    assert kmeans.random_state is None
    assert not hasattr(kmeans, "labels_")


def test_a_clusterer_that_finds_all_numbers_at_once_is_asked_for_them():
    X, _ = datasets.four_gaussians(60)
    kmeans = bisector.KMeans()
    one, two, apart = (
        gap_statistic(X, model, range(1, 7), n_refs=4, n_jobs=jobs)
        for model, jobs in [(kmeans, 1), (kmeans, 2), (bisector.KMeans(refine=False, n_init=10), 1)]
    )
    assert_array_equal(one.gap, two.gap)
    within = [np.log(scatter_within(X, labels)) for labels in one.labels]
    assert_allclose(one.log_scatter, within, rtol=1e-12)
    assert one.k_ == apart.k_ == 4
    assert_allclose(one.log_scatter[:4], apart.log_scatter[:4], rtol=1e-9)
    # Evenly spread rows have many local optima, a few per cent apart.
    assert_allclose(one.log_reference, apart.log_reference, atol=0.03)


@pytest.mark.parametrize("reference", ["box", "principal"])
def test_a_hierarchy_is_a_clusterer_too(reference):
    X, _ = datasets.four_gaussians(100)
    found = gap_statistic(X, AgglomerativeClustering(), range(1, 7), n_refs=5, reference=reference)
    assert found.k_ == 4


def test_the_largest_gap_or_the_first_that_is_large_enough():
    X = datasets.four_gaussians(300, deviation=0.15**0.5).X
    largest, careful = (
        gap_statistic(X, KMeans(n_init=2), range(1, 7), n_refs=5, rule=rule) for rule in ("max", "one-se")
    )
    assert largest.k_ == largest.k_by_max == careful.k_by_max
    assert careful.k_ == careful.k_by_one_se <= largest.k_


def test_nothing_left_to_divide():
    """Three different rows, repeated: with three clusters the scatter is zero."""
    X = np.repeat([[0.0, 0], [1, 0], [0, 1]], 4, axis=0)
    for kmeans in (KMeans(n_init=5), bisector.KMeans()):
        found = gap_statistic(X, kmeans, [1, 2, 3], n_refs=4)
        assert np.isinf(found.gap[2])
        assert found.k_ == found.k_by_max == 3
        assert "With 3 clusters all rows of a cluster are equal" in repr(found)


def test_equal_rows_are_one_cluster():
    found = gap_statistic(np.full((6, 2), 0.3), WidestGaps(), [1, 2], n_refs=3)
    assert_array_equal(found.gap, 0)
    assert found.k_ == 1
    assert "All rows are equal" in repr(found)


def test_as_many_clusters_as_rows():
    found = gap_statistic(THREE, WidestGaps(), [3, 9], n_refs=3)
    assert np.isinf(found.log_scatter[1])
    assert found.gap[1] == 0
    assert found.k_ == 3


def test_the_end_of_the_range_is_told():
    found = gap_statistic(THREE, WidestGaps(), [1, 2, 3], n_refs=3)
    assert "try more than 3 clusters" in repr(found)


@pytest.mark.parametrize(
    ("options", "kind", "said"),
    [
        ({"k_range": [1, 10]}, ValueError, "asks for 10 clusters, but X has only 9 rows"),
        ({"k_range": []}, ValueError, "k_range is empty"),
        ({"k_range": [0]}, ValueError, "k_range must be a whole number at least 1"),
        ({"k_range": [2.5]}, TypeError, "k_range must be a whole number"),
        ({"n_refs": 1}, ValueError, "n_refs must be a whole number at least 2"),
        ({"reference": "ball"}, ValueError, "reference must be one of 'box', 'principal'"),
        ({"rule": "elbow"}, ValueError, "rule must be one of"),
        ({"clusterer": LinearRegression()}, TypeError, "LinearRegression has no parameter n_clusters"),
        ({"X": [[np.nan]]}, ValueError, "NaN in row 0, column 0"),
        ({"X": np.empty((0, 2))}, ValueError, "X has no rows"),
    ],
)
def test_bad_input_is_told(options, kind, said):
    with pytest.raises(kind, match=said):
        gap_statistic(**{"X": THREE, "clusterer": WidestGaps(), "k_range": [1, 2], "n_refs": 2, **options})


# Choosing k


def test_three_rules_side_by_side():
    """Two of three clusters that are equally far apart scatter much: the gap has a dip there."""
    found = choose_k(THREE, WidestGaps(), range(1, 6), n_refs=8)
    assert found.gap.k_ == 1
    assert (found.k_by_silhouette, found.k_by_gap, found.k_by_elbow, found.k_) == (3, 3, 2, 3)
    assert found.advice == "Take 3 clusters: silhouette and gap agree; the elbow says 2."
    assert_array_equal(found.labels, np.repeat([0, 1, 2], 3))
    assert np.isnan(found.silhouette[0])
    for place, labels in enumerate(found.gap.labels[1:], start=1):
        assert found.silhouette[place] == pytest.approx(silhouette_score(THREE, labels, metric="sqeuclidean"))
    assert "Take 3 clusters" in repr(found)
    assert "<table" in found._repr_html_()


def test_even_rows_are_one_cluster():
    found = choose_k(datasets.uniform_square(100).X, KMeans(n_init=1), range(1, 6), n_refs=10)
    assert found.k_ == 1
    assert found.advice.startswith("Take 1 cluster: ")


def test_one_number_is_enough_to_ask():
    assert choose_k(THREE, WidestGaps(), [3], n_refs=2).k_ == 3
    alone = choose_k(THREE, WidestGaps(), [1], n_refs=2)
    assert (alone.k_, alone.k_by_silhouette, alone.k_by_elbow) == (1, None, None)


@pytest.mark.parametrize(
    ("votes", "chosen", "said"),
    [
        ((4, 4, 4), 4, "silhouette, gap and elbow agree."),
        ((4, 4, 3), 4, "silhouette and gap agree; the elbow says 3."),
        ((5, 3, 5), 5, "silhouette and elbow agree; the gap says 3."),
        ((5, 2, 3), 2, "with care: the silhouette says 5, the gap says 2, the elbow says 3."),
        ((4, 1, 4), 1, "evenly spread rows"),
        ((None, 3, None), 3, "as the gap says"),
        ((4, 3, None), 3, "with care: the silhouette says 4, the gap says 3."),
    ],
)
def test_advice(votes, chosen, said):
    number, advice = _advice(*votes)
    assert number == chosen
    assert said in advice
