"""Neighbours in the partitions of Dask collections are those of memory, and their answers are lazy."""

import pickle
from typing import Any

import dask.array as da
import dask.dataframe as dd
import distributed
import numpy as np
import pandas as pd
import pytest

from bisector import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    NearestExemplarClassifier,
    NearestNeighbors,
    RadiusNeighborsClassifier,
    RadiusNeighborsRegressor,
)

RNG = np.random.default_rng(5)
# Whole numbers, so that there are ties within partitions and between them.
X = RNG.integers(0, 12, size=(1500, 3)).astype(float)
Y = X @ [1.0, -2.0, 0.5] + RNG.normal(size=len(X))
LABELS = np.array(["low", "middle", "top"])[np.digitize(Y, [-6.0, -1.0])]
WEIGHT = RNG.integers(0, 3, size=len(X)).astype(float)
QUERIES = RNG.integers(0, 12, size=(150, 3)).astype(float)
CHUNKS = (700, 0, 3, 797)


def chunked(values: np.ndarray, rows: Any = CHUNKS) -> Any:
    return da.from_array(values, chunks=(rows, *values.shape[1:]))


LAZY = chunked(QUERIES, (60, 0, 90))


pytestmark = pytest.mark.usefixtures("here")


@pytest.mark.parametrize(
    ("metric", "algorithm"),
    [("euclidean", "auto"), ("euclidean", "brute"), ("cosine", "brute"), ("mahalanobis", "auto")],
)
def test_the_nearest_rows_are_those_of_memory(metric: str, algorithm: str) -> None:
    settings: dict[str, Any] = {"n_neighbors": 6, "metric": metric, "algorithm": algorithm}
    rows, asked = X, QUERIES
    if metric == "cosine":
        rows, asked = rows + 1, asked + 1
    if metric == "mahalanobis":  # rows are moved to their mean first, which rounds: ties would not stay ties
        rows = rows + np.random.default_rng(0).normal(size=X.shape)
    in_memory = NearestNeighbors(**settings).fit(rows)
    model = NearestNeighbors(**settings).fit(chunked(rows))
    assert model.n_samples_fit_ == len(rows)
    distances, numbers = in_memory.kneighbors(asked)
    found = model.kneighbors(asked)
    assert np.array_equal(found[1], numbers)
    np.testing.assert_allclose(found[0], distances, rtol=1e-9, atol=1e-12)
    lazily = model.kneighbors(chunked(asked, (60, 90)))
    assert isinstance(lazily[0], da.Array)
    assert lazily[0].chunks == lazily[1].chunks == ((60, 90), (6,))
    assert np.array_equal(lazily[1].compute(), numbers)
    np.testing.assert_allclose(lazily[0].compute(), distances, rtol=1e-9, atol=1e-12)


def test_single_precision() -> None:
    rows, asked = X.astype(np.float32), QUERIES.astype(np.float32)
    lazily = NearestNeighbors(n_neighbors=3).fit(chunked(rows)).kneighbors(chunked(asked, (60, 90)))[0]
    expected = NearestNeighbors(n_neighbors=3).fit(rows).kneighbors(asked)[0]
    assert lazily.dtype == lazily.compute().dtype == expected.dtype
    assert np.array_equal(lazily.compute(), expected)


def test_a_model_fitted_in_memory_finds_neighbours_lazily() -> None:
    model = NearestNeighbors(n_neighbors=3).fit(X)
    distances, numbers = model.kneighbors(LAZY)
    assert np.array_equal(numbers.compute(), model.kneighbors(QUERIES)[1])
    assert np.array_equal(distances.compute(), model.kneighbors(QUERIES)[0])
    alone = model.kneighbors(LAZY, 2, return_distance=False)
    assert np.array_equal(alone.compute(), model.kneighbors(QUERIES, 2, return_distance=False))
    within = model.radius_neighbors(LAZY, 1.0, return_distance=False).compute()
    for one, other in zip(within, model.radius_neighbors(QUERIES, 1.0, return_distance=False), strict=True):
        assert np.array_equal(one, other)


@pytest.mark.parametrize(
    "model",
    [
        KNeighborsClassifier(4),
        KNeighborsClassifier("sqrt", weights="distance"),
        KNeighborsClassifier(4, ties="nearest", algorithm="brute"),
        KNeighborsRegressor(4),
        KNeighborsRegressor(7, weights="distance", aggregate="median"),
        KNeighborsRegressor(3, weights=lambda distances: 1 / (1 + distances)),
    ],
    ids=["four", "by distance", "nearest of ties", "mean", "median", "by a function"],
)
def test_votes_and_averages_are_those_of_memory(model: Any) -> None:
    targets = LABELS if hasattr(model, "ties") else Y
    in_memory = type(model)(**model.get_params()).fit(X, targets)
    lazily = type(model)(**model.get_params()).fit(chunked(X), chunked(targets, 500))
    for method in ("predict", "predict_proba"):
        if not hasattr(model, method):
            continue
        expected = getattr(in_memory, method)(QUERIES)
        for fitted in (in_memory, lazily):
            for queries in (QUERIES, LAZY):
                answer = np.asarray(getattr(fitted, method)(queries))
                if targets is LABELS and method == "predict":
                    assert np.array_equal(answer, expected)
                else:
                    np.testing.assert_allclose(answer, expected, rtol=1e-12)
    promised = lazily.predict(LAZY)
    assert isinstance(promised, da.Array)
    assert promised.dtype == in_memory.predict(QUERIES).dtype


def test_several_targets_and_frames_with_names() -> None:
    both = np.column_stack([Y, -Y])
    table, queries = (pd.DataFrame(values, columns=list("abc")) for values in (X, QUERIES))
    model = KNeighborsRegressor(3).fit(dd.from_pandas(table, npartitions=3), chunked(both))
    in_memory = KNeighborsRegressor(3).fit(table, both)
    assert model.feature_names_in_.tolist() == list("abc")
    expected = in_memory.predict(queries)
    np.testing.assert_allclose(model.predict(queries), expected, rtol=1e-12)
    lazy = dd.from_pandas(queries, npartitions=2)
    np.testing.assert_allclose(model.predict(lazy).compute(), expected, rtol=1e-12)
    np.testing.assert_allclose(in_memory.predict(lazy).compute(), expected, rtol=1e-12)
    with pytest.raises(ValueError, match="feature"):
        model.predict(lazy[["a", "b"]])


def test_a_dataframe_names_the_column_of_labels() -> None:
    table = pd.DataFrame(X, columns=list("abc")).assign(kind=LABELS)
    model = KNeighborsClassifier(3).fit(dd.from_pandas(table, npartitions=3), "kind")
    expected = KNeighborsClassifier(3).fit(X, LABELS).predict(QUERIES)
    assert np.array_equal(model.predict(pd.DataFrame(QUERIES, columns=list("abc"))), expected)


def test_payloads_are_found() -> None:
    names = [f"row {i}" for i in range(len(X))]
    model = NearestNeighbors(n_neighbors=2).fit(chunked(X), payload=names)
    assert model.retrieve(QUERIES[:5]) == NearestNeighbors(n_neighbors=2).fit(X, payload=names).retrieve(
        QUERIES[:5]
    )


def test_a_model_of_partitions_pickles() -> None:
    model = pickle.loads(pickle.dumps(KNeighborsClassifier(3).fit(chunked(X), LABELS)))
    assert np.array_equal(model.predict(QUERIES), KNeighborsClassifier(3).fit(X, LABELS).predict(QUERIES))


def test_processes_of_a_cluster_find_the_same(two_workers: Any) -> None:
    expected = KNeighborsClassifier(5).fit(X, LABELS).predict(QUERIES)
    with distributed.Client(two_workers):
        model = KNeighborsClassifier(5).fit(chunked(X), chunked(LABELS))
        assert np.array_equal(model.predict(QUERIES), expected)
        assert np.array_equal(model.predict(LAZY).compute(), expected)


def test_what_needs_the_rows_here_is_refused() -> None:
    model = KNeighborsClassifier(3).fit(chunked(X), LABELS)
    refusal = "fitted on a Dask collection, whose rows stay where they are"
    for ask in (
        model.error_bounds,
        lambda: model.predict(None),
        model.kneighbors,
        lambda: model.explain_rows(QUERIES),
        lambda: model.remove([0]),
        lambda: model.partial_fit(X[:5], LABELS[:5]),
    ):
        with pytest.raises(TypeError, match=refusal):
            ask()
    assert np.array_equal(model.predict(QUERIES), KNeighborsClassifier(3).fit(X, LABELS).predict(QUERIES))
    with pytest.raises(TypeError, match="takes no sample_weight: repeat rows"):
        KNeighborsClassifier().fit(chunked(X), LABELS, WEIGHT)
    with pytest.raises(TypeError, match=r"Gower.* needs all rows in memory: take a distance of coordinates"):
        KNeighborsClassifier(metric="gower").fit(chunked(X), LABELS)
    with pytest.raises(ValueError, match="n_neighbors is 2000 and there are 1500 rows"):
        NearestNeighbors().fit(chunked(X)).kneighbors(QUERIES, 2000)
    with pytest.raises(TypeError, match="kneighbors_graph needs all rows in memory"):
        NearestNeighbors().fit(X).kneighbors_graph(LAZY)
    spoilt = X.copy()
    spoilt[800, 1] = np.nan
    with pytest.raises(ValueError, match=r"X contains NaN in row 800 \(row 97 of partition 3\), column 1"):
        KNeighborsClassifier().fit(chunked(spoilt), LABELS)


def test_neighbours_within_a_radius_answer_lazily() -> None:
    classifier = RadiusNeighborsClassifier(0.5, outlier_label="top").fit(X, LABELS)
    assert np.array_equal(classifier.predict(LAZY).compute(), classifier.predict(QUERIES))
    np.testing.assert_array_equal(classifier.predict_proba(LAZY).compute(), classifier.predict_proba(QUERIES))
    regressor = RadiusNeighborsRegressor(2.0).fit(X, Y)
    np.testing.assert_array_equal(regressor.predict(LAZY).compute(), regressor.predict(QUERIES))
    with pytest.raises(TypeError, match="use KNeighborsClassifier or KNeighborsRegressor"):
        RadiusNeighborsClassifier().fit(chunked(X), LABELS)


@pytest.mark.parametrize("metric", ["euclidean", "mahalanobis"])
def test_class_means_are_found_by_sums(metric: str) -> None:
    for weight in (None, WEIGHT, np.where(LABELS == "middle", 0.0, 1.0)):
        model = NearestExemplarClassifier(metric=metric).fit(
            chunked(X), chunked(LABELS, 500), None if weight is None else chunked(weight)
        )
        in_memory = NearestExemplarClassifier(metric=metric).fit(X, LABELS, weight)
        np.testing.assert_allclose(model.exemplars_, in_memory.exemplars_, rtol=1e-12)
        assert model.exemplar_labels_.tolist() == in_memory.exemplar_labels_.tolist()
        assert model.classes_.tolist() == ["low", "middle", "top"]
        assert np.array_equal(model.predict(LAZY).compute(), in_memory.predict(QUERIES))
        np.testing.assert_allclose(model.distances(LAZY), in_memory.distances(QUERIES), rtol=1e-9)
        np.testing.assert_array_equal(model.predict_proba(LAZY), in_memory.predict_proba(QUERIES))


def test_other_exemplars_need_the_rows_here() -> None:
    for model in (NearestExemplarClassifier("medoid"), NearestExemplarClassifier(per_class=2)):
        with pytest.raises(TypeError, match='finds the class means only: take exemplar="mean"'):
            model.fit(chunked(X), LABELS)
