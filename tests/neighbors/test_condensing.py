"""Estimators that condense: what they keep, what they promise, and what they refuse."""

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.spatial.distance import cdist
from sklearn.base import clone

from bisector import datasets
from bisector.distances import Cosine, Euclidean, Mahalanobis, Minkowski
from bisector.engine.settings import config
from bisector.neighbors.condensing import CondensedNearestNeighbor
from bisector.neighbors.influence import InfluenceCondenser
from bisector.neighbors.k_neighbors import KNeighborsClassifier
from bisector.neighbors.merging import PrototypeMerger
from bisector.neighbors.voronoi import VoronoiCondenser

SELECTING = [
    CondensedNearestNeighbor(),
    CondensedNearestNeighbor(method="one_by_one"),
    CondensedNearestNeighbor(3, random_state=1),
    InfluenceCondenser(),
    VoronoiCondenser(),
]
ALL = [*SELECTING, PrototypeMerger()]
EUCLIDEAN_ONLY = [VoronoiCondenser, PrototypeMerger]


@pytest.fixture(params=SELECTING, ids=repr)
def condenser(request):
    return clone(request.param)


@pytest.fixture(params=ALL, ids=repr)
def reducer(request):
    return clone(request.param)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    return X, np.where((X**2).sum(axis=1) + 0.2 * rng.normal(size=200) > 1, "outer", "inner")


def rule(condenser, X, y):
    """The rule that rows are condensed for."""
    k = getattr(condenser, "n_neighbors", 1)
    return KNeighborsClassifier(k, metric=condenser.metric).fit(X, y)


def test_kept_rows_answer_to_training_rows_as_all_rows_do(condenser, data):
    X, y = data
    kept, labels = condenser.fit_resample(X, y)
    assert condenser.consistent_ is True
    assert 0 < len(kept) < 150
    np.testing.assert_array_equal(rule(condenser, kept, labels).predict(X), rule(condenser, X, y).predict(X))
    np.testing.assert_array_equal(kept, X[condenser.sample_indices_])
    np.testing.assert_array_equal(labels, y[condenser.sample_indices_])
    assert condenser.reduction_ == 1 - len(kept) / 200


def test_prototypes_answer_to_training_rows_as_all_rows_do(data):
    X, y = data
    merger = PrototypeMerger()
    prototypes, labels = merger.fit_resample(X, y)
    assert merger.consistent_ is True
    assert len(prototypes) < 100
    np.testing.assert_array_equal(rule(merger, prototypes, labels).predict(X), y)
    assert not hasattr(merger, "sample_indices_")
    assert merger.members_.shape == y.shape
    np.testing.assert_array_equal(labels[merger.members_], y)


def test_voronoi_changes_no_decision(data):
    X, y = data
    kept, labels = VoronoiCondenser().fit_resample(X, y)
    queries = 2 * np.random.default_rng(1).normal(size=(3000, 2))
    before, after = y[cdist(queries, X).argmin(axis=1)], labels[cdist(queries, kept).argmin(axis=1)]
    np.testing.assert_array_equal(before, after)


def test_voronoi_under_mahalanobis_distance_is_voronoi_of_whitened_rows(data):
    X, y = data
    stretched = X @ [[5.0, 1.0], [0.0, 0.2]]
    metric = Mahalanobis().learned(stretched)
    kept = VoronoiCondenser(metric="mahalanobis").fit(stretched, y).sample_indices_
    whitened = stretched @ np.linalg.cholesky(np.linalg.inv(metric.cov))
    np.testing.assert_array_equal(kept, VoronoiCondenser().fit(whitened, y).sample_indices_)
    assert kept.tolist() != VoronoiCondenser().fit(stretched, y).sample_indices_.tolist()


def test_weighted_features_are_stretched_features(data):
    X, y = data
    metric, stretched = Euclidean(weights=[9.0, 1.0]), X * [3.0, 1.0]
    by_weights, by_hand = (VoronoiCondenser(metric=metric).fit(X, y), VoronoiCondenser().fit(stretched, y))
    np.testing.assert_array_equal(by_weights.sample_indices_, by_hand.sample_indices_)
    merged, by_hand = PrototypeMerger(20, metric=metric).fit(X, y), PrototypeMerger(20).fit(stretched, y)
    # Prototypes are points of the space of the features as they came; stretching rounds.
    np.testing.assert_allclose(merged.prototypes_ * [3.0, 1.0], by_hand.prototypes_, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("metric", ["manhattan", "cosine", Minkowski(0.5), "levenshtein"])
@pytest.mark.parametrize("kind", [CondensedNearestNeighbor, InfluenceCondenser])
def test_any_metric(kind, metric, data):
    X, y = data
    if metric == "levenshtein":
        X = [f"{a:.1f} {b:.1f}" for a, b in X]
    condenser = kind(metric=metric)
    kept, labels = condenser.fit_resample(X, y)
    assert condenser.consistent_ is True
    assert type(kept) is type(X)
    np.testing.assert_array_equal(rule(condenser, kept, labels).predict(X), rule(condenser, X, y).predict(X))


def test_precomputed_distances_are_those_of_the_metric(data):
    X, y = data
    D = cdist(X, X)
    by_distances = InfluenceCondenser(metric="precomputed")
    kept, _ = by_distances.fit_resample(D, y)
    np.testing.assert_array_equal(
        by_distances.sample_indices_, InfluenceCondenser().fit(X, y).sample_indices_
    )
    np.testing.assert_array_equal(kept, D[np.ix_(by_distances.sample_indices_, by_distances.sample_indices_)])
    found = CondensedNearestNeighbor(metric="precomputed").fit(D, y)
    assert found.consistent_


def test_a_user_function(data):
    X, y = data[0][:60], data[1][:60]
    found = CondensedNearestNeighbor(metric=lambda a, b: abs(a[0] - b[0]) + abs(a[1] - b[1])).fit(X, y)
    assert (
        found.sample_indices_.tolist()
        == CondensedNearestNeighbor(metric="manhattan").fit(X, y).sample_indices_.tolist()
    )


# One by one


def test_one_by_one_is_seeded(data):
    first, again, other = (
        CondensedNearestNeighbor(method="one_by_one", random_state=seed).fit(*data).sample_indices_.tolist()
        for seed in (0, 0, 1)
    )
    assert first == again != other


def test_the_rows_to_begin_with_are_the_first():
    """All rows of one class: the first k are enough."""
    found = CondensedNearestNeighbor(4, method="one_by_one").fit(np.arange(9.0)[:, None], np.ones(9))
    assert found.sample_indices_.tolist() == [0, 1, 2, 3]


# Contradictions


def test_rows_at_one_place_with_different_labels(condenser):
    X = [[0.0, 0.0], [0.0, 0.0], [1.0, 1.0], [1.0, 1.0], [4.0, 3.0], [3.0, 4.0]]
    condenser.fit(X, ["a", "b", "b", "b", "b", "a"])
    assert condenser.consistent_ is True
    if getattr(condenser, "n_neighbors", 1) == 1:
        assert "1 row has an earlier row of another class at the same place" in repr(condenser.report_)
        assert {0, 1} & set(condenser.sample_indices_) >= {0}


def test_a_report_without_contradictions_does_not_speak_of_them(condenser, data):
    assert "same place" not in repr(condenser.fit(*data).report_)


# Reports


def test_report_counts_classes(reducer, data):
    report = reducer.fit(*data).report_
    _, labels = reducer.fit_resample(*data)
    assert report.after.tolist() == [int((labels == name).sum()) for name in ("inner", "outer")]
    assert report.before.tolist() == [int((data[1] == name).sum()) for name in ("inner", "outer")]
    assert report.share == reducer.reduction_
    text = repr(report)
    assert f"{type(reducer).__name__}: {len(labels)} of 200 rows" in text
    assert "Consistent: " in text
    assert "<table" in report._repr_html_()


def test_report_of_a_fixed_number_of_prototypes_counts_other_answers():
    merger = PrototypeMerger(2).fit(*datasets.seven_points())
    assert merger.consistent_ is None
    assert "Of 7 training rows 3 get another answer than from all rows." in repr(merger.report_)


# Forms of input


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_come_back_as_frames(condenser, data, library):
    frames = pytest.importorskip(library)
    X, y = data
    frame, labels = frames.DataFrame({"a": X[:, 0], "b": X[:, 1]}), frames.Series(y)
    kept, kept_labels = condenser.fit_resample(frame, labels)
    assert condenser.feature_names_in_.tolist() == ["a", "b"]
    assert isinstance(kept, frames.DataFrame)
    assert isinstance(kept_labels, frames.Series)
    np.testing.assert_array_equal(kept.to_numpy(), X[condenser.sample_indices_])
    np.testing.assert_array_equal(kept_labels.to_numpy(), y[condenser.sample_indices_])
    if library == "pandas":
        assert kept.index.tolist() == condenser.sample_indices_.tolist()


def test_sparse_rows_give_what_dense_rows_give(reducer, data):
    X, y = data
    X = X * (np.abs(X) > 0.5)
    dense, sparse = clone(reducer).fit(X, y), clone(reducer).fit(csr_matrix(X), y)
    for learned in {"sample_indices_", "prototypes_"} & vars(dense).keys():
        np.testing.assert_array_equal(getattr(dense, learned), getattr(sparse, learned))
    kept, labels = clone(reducer).fit_resample(csr_matrix(X), y)
    assert kept.shape == (len(labels), 2)


def test_float32(reducer, data):
    X, y = data[0].astype(np.float32), data[1]
    kept, _ = reducer.fit_resample(X, y)
    assert kept.dtype == np.float32
    assert reducer.consistent_ is True


@pytest.mark.parametrize(
    "reducer", [CondensedNearestNeighbor(), InfluenceCondenser(), VoronoiCondenser(), PrototypeMerger()]
)
def test_one_row_and_equal_rows(reducer):
    for X, y in [([[1.0, 2.0]], ["a"]), ([[1.0, 2.0]] * 5, list("aaaaa"))]:
        kept, labels = clone(reducer).fit_resample(X, y)
        assert np.asarray(kept).tolist() == [[1.0, 2.0]]
        assert list(labels) == ["a"]


def test_clone_and_pickle(reducer, data):
    reducer.fit(*data)
    assert vars(clone(reducer)).keys() == reducer.get_params(deep=False).keys()
    back = pickle.loads(pickle.dumps(reducer))
    assert back.reduction_ == reducer.reduction_
    assert repr(back.report_) == repr(reducer.report_)


def test_metric_parameters_can_be_searched():
    condenser = CondensedNearestNeighbor(metric=Minkowski(3)).set_params(metric__p=1)
    assert condenser.metric == Minkowski(1)


def test_a_failed_fit_leaves_the_earlier_one(reducer, data):
    before = reducer.fit(*data).reduction_
    with pytest.raises(ValueError, match="NaN"):
        reducer.fit([[np.nan, 0.0], [1.0, 2.0], [1.0, 3.0], [1.0, 1.0]], [0, 1, 0, 1])
    assert reducer.reduction_ == before


# Bad input


@pytest.mark.parametrize(
    ("condenser", "message"),
    [
        (CondensedNearestNeighbor(0), "n_neighbors must be a whole number at least 1, not 0"),
        (CondensedNearestNeighbor(201), "n_neighbors is 201, but with n_samples=200 only 200 rows can vote"),
        (CondensedNearestNeighbor(3, method="by_cells"), 'method="by_cells" is for n_neighbors=1, not 3'),
        (CondensedNearestNeighbor(method="fast"), "method must be one of 'auto', 'by_cells', 'one_by_one'"),
        (CondensedNearestNeighbor(metric="euclid"), "no distance named 'euclid'. Did you mean 'euclidean'"),
        (PrototypeMerger(1), "n_prototypes is 1, but y has 2 classes"),
        (PrototypeMerger(201), "n_prototypes must be a whole number at least 1 and at most 200"),
    ],
)
def test_bad_parameters(condenser, message, data):
    with pytest.raises(ValueError, match=message):
        condenser.fit(*data)


@pytest.mark.parametrize("metric", ["manhattan", Cosine(), Euclidean(skip_missing=True), "levenshtein"])
@pytest.mark.parametrize("kind", EUCLIDEAN_ONLY)
def test_distances_without_points_between_rows_are_refused(kind, metric):
    X = ["a", "b"] if metric == "levenshtein" else [[1.0, 2.0], [2.0, 3.0]]
    with pytest.raises(
        ValueError, match=r"needs straight lines and points between rows, which .* does not have"
    ):
        kind(metric=metric).fit(X, [0, 1])


def test_labels_are_checked(reducer, data):
    X, y = data
    with pytest.raises(ValueError, match="requires y to be passed"):
        reducer.fit(X, None)
    with pytest.raises(ValueError, match="takes one label for each row"):
        reducer.fit(X, np.column_stack([y == "inner", y == "outer"]))
    with pytest.raises(ValueError, match="Unknown label type"):
        reducer.fit(X, X[:, 0])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        reducer.fit(X, y[:-1])


def test_voronoi_says_how_far_it_goes():
    X = np.random.default_rng(0).normal(size=(30, 9))
    with pytest.raises(ValueError, match="span 9 dimensions is out of reach: it can be had for up to 8"):
        VoronoiCondenser().fit(X, np.arange(30) % 2)
    # Nine features that span only two dimensions are no trouble.
    flat = X[:, :2] @ np.random.default_rng(1).normal(size=(2, 9))
    assert VoronoiCondenser().fit(flat, np.arange(30) % 2).consistent_


def test_voronoi_asks_for_memory_before_it_takes_it():
    X = np.random.default_rng(0).normal(size=(5000, 7))
    with (
        config(memory="1 GiB"),
        pytest.raises(
            MemoryError, match=r"Condensing 5,000 rows by their Voronoi diagram in 7 dimensions needs"
        ),
    ):
        VoronoiCondenser().fit(X, np.arange(5000) % 2)
