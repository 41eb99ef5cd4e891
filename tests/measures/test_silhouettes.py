"""Silhouettes: by hand, against scikit-learn and brute force, and what they must not depend on."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.metrics
from hypothesis import given, strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from bisector import Compiled, Gower, Jaccard, Levenshtein, Mahalanobis, Minkowski, medoid
from bisector.measures.silhouettes import silhouette, silhouette_samples, silhouette_score


def brute_force(matrix, labels, weights=None):
    """Silhouettes from all distances, row by row, as the definition says."""
    labels = np.asarray(labels)
    w = np.ones(len(labels)) if weights is None else weights
    values = np.zeros(len(labels))
    for i, own in enumerate(labels):
        mates = (labels == own) & (w > 0)
        size = w[mates].sum() - min(w[i], 1.0)
        if size <= 0:
            continue
        a = (w * matrix[i])[mates & (np.arange(len(labels)) != i)].sum() / size
        b = min(np.average(matrix[i][labels == c], weights=w[labels == c])
                for c in np.unique(labels[w > 0]) if c != own)  # fmt: skip
        values[i] = (b - a) / max(a, b) if max(a, b) > 0 else 0.0
    return values


@st.composite
def clusterings(draw, least=3):
    n, d, k = draw(st.integers(least, 40)), draw(st.integers(1, 4)), draw(st.integers(2, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.normal(size=(n, d))
    if draw(st.booleans()):
        X = np.round(X)  # many equal rows
    labels = rng.integers(0, k, size=n)
    labels[:2] = [0, 1]
    return X, labels


# By hand


def test_three_numbers():
    """a = 1, b = 10 and 9; the third is alone."""
    assert_allclose(silhouette_samples([[0], [1], [10]], ["a", "a", "b"]), [9 / 10, 8 / 9, 0])
    assert silhouette_score([[0], [1], [10]], ["a", "a", "b"]) == pytest.approx((9 / 10 + 8 / 9) / 3)


def test_a_row_in_the_wrong_cluster_is_negative():
    values = silhouette_samples([[0], [9], [10], [11]], [0, 0, 1, 1])
    assert_allclose(values, [1 - 9 / 10.5, 1.5 / 9 - 1, 1 - 1 / 5.5, 1 - 1 / 6.5])


def test_simplified_form_compares_with_means():
    values = silhouette_samples([[0], [2], [10], [14]], [0, 0, 1, 1], form="simplified")
    assert_allclose(values, [1 - 1 / 12, 1 - 1 / 10, 1 - 2 / 9, 1 - 2 / 13])


def test_medoid_form_compares_with_medoids():
    values = silhouette_samples([[0], [1], [5], [10], [11], [30]], [0, 0, 0, 1, 1, 1], form="medoid")
    assert_allclose(values, [1 - 1 / 11, 1, 1 - 4 / 6, 1 - 1 / 9, 1, 1 - 19 / 29])


def test_medoid_form_works_on_words():
    words, labels = ["cat", "cart", "car", "house", "horse", "hose"], [0, 0, 0, 1, 1, 1]
    central = [medoid(words[:3], "levenshtein"), 3 + medoid(words[3:], "levenshtein")]
    matrix = Levenshtein().pairwise(words)[:, central]
    own, other = matrix[range(6), labels], matrix[range(6), [1, 1, 1, 0, 0, 0]]
    assert_allclose(silhouette_samples(words, labels, metric="levenshtein", form="medoid"), 1 - own / other)


def test_the_object_holds_what_is_drawn():
    found = silhouette([[0], [9], [10], [11], [50]], ["x", "x", "y", "y", "z"])
    assert_array_equal(found.clusters, ["x", "y", "z"])
    assert_array_equal(found.sizes, [2, 2, 1])
    assert_array_equal(found.neighbours, ["y", "y", "x", "x", "y"])
    assert_array_equal(found.labels[found.order], ["x", "x", "y", "y", "z"])
    for label, average in zip(found.clusters, found.averages, strict=True):
        values = found.of_cluster(label)
        assert (np.diff(values) <= 0).all()
        assert average == pytest.approx(values.mean())
    assert found.score == pytest.approx(found.values.mean())
    assert_allclose(found.values[:2], (found.other - found.own)[:2] / np.maximum(found.own, found.other)[:2])
    assert "x           2" in repr(found)
    assert "<table" in found._repr_html_()
    with pytest.raises(ValueError, match="No row has the label 'w'"):
        found.of_cluster("w")


# Against scikit-learn and brute force


@pytest.mark.parametrize(
    "metric", ["euclidean", "sqeuclidean", "manhattan", "cosine", "chebyshev", "hamming"]
)
@pytest.mark.parametrize("d", [1, 3, 30])
def test_the_same_as_scikit_learn(metric, d):
    rng = np.random.default_rng(d)
    X = rng.normal(size=(150, d)) + 5 * rng.integers(0, 2, size=(150, 1))
    labels = rng.integers(0, 6, size=150)
    ours = silhouette_samples(X, labels, metric=metric)
    theirs = sklearn.metrics.silhouette_samples(X, labels, metric=metric)
    assert_allclose(ours, theirs, atol=1e-10)
    assert silhouette_score(X, labels, metric=metric) == pytest.approx(theirs.mean(), abs=1e-10)


def test_a_sample_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(60, 2)), rng.integers(0, 3, 60)
    matrix = sklearn.metrics.pairwise_distances(X)
    for table, metric in [(X, "euclidean"), (matrix, "precomputed")]:
        asked = {"metric": metric, "sample_size": 25, "random_state": 7}
        assert silhouette_score(table, labels, **asked) == pytest.approx(
            sklearn.metrics.silhouette_score(table, labels, **asked), abs=1e-12
        )
    few = silhouette_score(X, labels, sample_size=25, random_state=7, form="simplified")
    rows = np.random.RandomState(7).permutation(60)[:25]
    assert few == pytest.approx(silhouette_score(X[rows], labels[rows], form="simplified"))
    by_generator = silhouette_score(X, labels, sample_size=25, random_state=np.random.default_rng(1))
    assert -1 <= by_generator <= 1


def half_the_difference(x, y):
    return 0.5 * abs(x[0] - y[0])


@pytest.mark.parametrize(
    "metric",
    [Minkowski(3), Mahalanobis(), "euclidean", "sqeuclidean", "manhattan", Compiled(half_the_difference)],
    ids=str,
)
def test_any_metric_by_brute_force(metric):
    from bisector.distances import resolve

    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(40, 3)), rng.integers(0, 4, 40)
    labels[0] = 9  # alone
    for weights in (None, rng.integers(0, 3, 40) + (np.arange(40) < 3), rng.random(40)):
        found = silhouette_samples(X, labels, metric=metric, sample_weight=weights)
        assert_allclose(found, brute_force(resolve(metric).pairwise(X), labels, weights), atol=1e-12)


def test_words_sets_and_mixed_tables():
    import pandas as pd

    frame = pd.DataFrame({"size": [1.0, 2.0, 9.0, 8.0], "kind": ["a", "a", "b", "b"]})
    for X, metric in [
        (["hotel", "hostel", "cat", "hat"], Levenshtein()),
        ([{1, 2}, {1, 2, 3}, {7}, {7, 8}], Jaccard()),
        (frame, Gower()),
    ]:
        expected = brute_force(metric.pairwise(X), [0, 0, 1, 1])
        assert_allclose(silhouette_samples(X, [0, 0, 1, 1], metric=metric), expected, atol=1e-12)


def test_forms_of_input():
    import pandas as pd

    rng = np.random.default_rng(0)
    X, labels = np.round(rng.normal(size=(30, 3)), 2), rng.integers(0, 3, 30)
    for metric in ("euclidean", "sqeuclidean"):
        expected = silhouette_samples(X, labels, metric=metric)
        for held in (
            sp.csr_array(X),
            pd.DataFrame(X, columns=["a", "b", "c"]),
            X.tolist(),
            np.asfortranarray(X),
        ):
            assert_allclose(silhouette_samples(held, labels.tolist(), metric=metric), expected, atol=1e-13)
        single = silhouette_samples(X.astype(np.float32), labels, metric=metric)
        assert single.dtype == np.float32
        assert_allclose(single, expected, atol=1e-5)
    assert_allclose(
        silhouette_samples(sp.csr_array(X), labels, form="simplified"),
        silhouette_samples(X, labels, form="simplified"),
        atol=1e-13,
    )


# What silhouettes must not depend on


@given(clusterings(), st.sampled_from(["euclidean", "sqeuclidean", "manhattan"]))
def test_definition(problem, metric):
    X, labels = problem
    matrix = sklearn.metrics.pairwise_distances(X, metric=metric)
    assert_allclose(silhouette_samples(X, labels, metric=metric), brute_force(matrix, labels), atol=1e-10)


@given(clusterings(), st.sampled_from(["mean", "simplified", "medoid"]))
def test_values_lie_between_minus_one_and_one(problem, form):
    values = silhouette_samples(*problem, form=form)
    assert (np.abs(values) <= 1).all()


@given(clusterings(), st.sampled_from(["euclidean", "sqeuclidean"]), st.sampled_from(["mean", "simplified"]))
def test_translations_rotations_and_scales_change_nothing(problem, metric, form):
    X, labels = problem
    rotation, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(X.shape[1],) * 2))
    before = silhouette_samples(X, labels, metric=metric, form=form)
    # Rounding to 1e-13 of the offset; a mean that is equally near to two clusters may be either's.
    after = silhouette_samples(4 * (X @ rotation) + 100, labels, metric=metric, form=form)
    assert_allclose(after, before, atol=1e-9)


@given(clusterings(), st.sampled_from(["euclidean", "sqeuclidean", "chebyshev"]), st.data())
def test_weights_are_repeats(problem, metric, data):
    X, labels = problem
    counts = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(X), max_size=len(X))))
    counts[:2] = 1
    for form in ("mean", "simplified"):
        once = silhouette_samples(X, labels, metric=metric, form=form, sample_weight=counts)
        often = silhouette_samples(
            np.repeat(X, counts, axis=0), np.repeat(labels, counts), metric=metric, form=form
        )
        assert_allclose(np.repeat(once, counts), often, atol=1e-10)
    total = silhouette(X, labels, metric=metric, sample_weight=counts)
    repeated = silhouette(np.repeat(X, counts, axis=0), np.repeat(labels, counts), metric=metric)
    assert total.score == pytest.approx(repeated.score, abs=1e-10)
    assert_allclose(total.averages, repeated.averages, atol=1e-10)


@given(clusterings())
def test_names_and_order_of_rows_change_nothing(problem):
    X, labels = problem
    order = np.random.default_rng(0).permutation(len(X))
    renamed = np.array(["e", "d", "c", "b", "a"])[labels]
    before = silhouette_samples(X, labels)
    assert_allclose(silhouette_samples(X[order], renamed[order]), before[order], atol=1e-12)


def test_far_offsets_lose_nothing():
    rng = np.random.default_rng(0)
    X = rng.integers(-50, 50, size=(60, 3)) / 64
    labels = rng.integers(0, 3, 60)
    for metric in ("euclidean", "sqeuclidean"):
        near, far = (silhouette_samples(X + c, labels, metric=metric) for c in (0.0, 2.0**30))
        assert_allclose(far, near, atol=1e-10)


# Edges and bad input


def test_equal_rows_and_singletons_are_zero():
    assert_array_equal(silhouette_samples(np.ones((4, 2)), [0, 0, 1, 1]), 0)
    assert_array_equal(silhouette_samples(np.arange(4.0)[:, None], [0, 1, 2, 3]), 0)
    assert_array_equal(silhouette_samples(np.ones((4, 2)), [0, 0, 1, 1], metric="sqeuclidean"), 0)


def test_unreachable_clusters():
    matrix = np.array([[0.0, 1, np.inf], [1, 0, np.inf], [np.inf, np.inf, 0]])
    found = silhouette(matrix, [0, 0, 1], metric="precomputed")
    assert_array_equal(found.values, [1, 1, 0])
    assert_array_equal(found.neighbours, [1, 1, 0])
    assert_array_equal(silhouette_samples(matrix, [0, 1, 0], metric="precomputed"), [-1, 0, 0])


def test_a_cluster_without_weight_is_absent():
    found = silhouette([[0.0], [1], [5], [6], [3]], [0, 0, 1, 1, 2], sample_weight=[1, 1, 1, 1, 0])
    assert_array_equal(found.clusters, [0, 1])
    assert_allclose(found.values[:4], silhouette_samples([[0.0], [1], [5], [6]], [0, 0, 1, 1]))
    assert found.values[4] == 0


@pytest.mark.parametrize(
    ("X", "labels", "options", "said"),
    [
        ([[0.0], [1]], [0, 0], {}, "labels name 1 cluster, but"),
        ([[0.0], [1], [2]], [0, 1, 1], {"sample_weight": [1, 0, 0]}, "labels name 1 cluster with a weight"),
        ([[0.0], [1]], [0, 1, 1], {}, "one label for each of the 2 rows of X"),
        ([[0.0], [np.nan]], [0, 1], {}, "NaN in row 1, column 0"),
        ([[0.0], [1]], [0, 1], {"metric": "manhatan"}, "manhattan"),
        ([[1.0, 0], [0, 1]], [0, 1], {"metric": "precomputed"}, "distance of row 0 to itself"),
        ([[0.0], [1]], [0, 1], {"form": "median"}, "form must be one of"),
        (["a", "b"], [0, 1], {"metric": "levenshtein", "form": "simplified"}, "take form='medoid'"),
        ([[0.0], [1]], [0, 1], {"sample_weight": [1, -1]}, "negative in row 1"),
    ],
)
def test_bad_input_is_told(X, labels, options, said):
    for function in (silhouette_samples, silhouette_score, silhouette):
        with pytest.raises(ValueError, match=said):
            function(X, labels, **options)


def test_a_sample_is_no_larger_than_all():
    with pytest.raises(ValueError, match="sample_size must be a whole number at least 1 and at most 3"):
        silhouette_score([[0], [1], [2]], [0, 1, 1], sample_size=4)
