"""Densities of Dask collections are those of memory, at rows here and lazily."""

from typing import Any

import dask.array as da
import dask.dataframe as dd
import distributed
import numpy as np
import pandas as pd
import pytest

from bisector import (
    HistogramDensity,
    KernelDensity,
    KernelDensityCV,
    MixtureClassifier,
    NearestNeighborDensity,
    NoveltyDetector,
)

RNG = np.random.default_rng(8)
X = RNG.normal(size=(900, 2)) * [1.0, 3.0] + [10.0, -2.0]
WEIGHT = RNG.integers(0, 3, size=len(X)).astype(float)
WEIGHT[400:403] = 0.0  # one partition has no weight at all
QUERIES = np.concatenate([X[:40] + 0.1, [[60.0, 60.0]]])
CHUNKS = (400, 3, 0, 497)


def chunked(values: np.ndarray, rows: Any = CHUNKS) -> Any:
    return da.from_array(values, chunks=(rows, *values.shape[1:]))


LAZY = chunked(QUERIES, (30, 0, 11))


pytestmark = pytest.mark.usefixtures("here")


def scores_agree(model: Any, in_memory: Any) -> None:
    expected = in_memory.score_samples(QUERIES)
    for queries in (QUERIES, LAZY):
        np.testing.assert_allclose(np.asarray(model.score_samples(queries)), expected, rtol=1e-9, atol=1e-12)
    promised = model.score_samples(LAZY)
    assert isinstance(promised, da.Array)
    assert model.score(LAZY) == pytest.approx(in_memory.score(QUERIES), rel=1e-9)


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["alike", "weighted"])
@pytest.mark.parametrize(
    "model",
    [
        HistogramDensity(),
        HistogramDensity(bins=7),
        HistogramDensity(volume=0.7),
        HistogramDensity(bins=[[0.0, 9.5, 10.0, 30.0], [-30.0, -2.0, 0.0, 30.0]]),
    ],
    ids=repr,
)
def test_cells_are_those_of_memory(model: Any, weight: Any) -> None:
    lazily = type(model)(**model.get_params()).fit(
        chunked(X), sample_weight=None if weight is None else chunked(weight)
    )
    in_memory = type(model)(**model.get_params()).fit(X, sample_weight=weight)
    for one, other in zip(lazily.edges_, in_memory.edges_, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
    assert np.array_equal(lazily.cells_, in_memory.cells_)
    np.testing.assert_allclose(lazily.shares_, in_memory.shares_, rtol=1e-12)
    scores_agree(lazily, in_memory)
    scores_agree(in_memory, in_memory)


def test_cells_are_counted_as_numpy_counts_them() -> None:
    model = HistogramDensity(bins=6).fit(chunked(X))
    counts, *edges = np.histogram2d(*X.T, bins=6)
    assert [np.allclose(one, other) for one, other in zip(model.edges_, edges, strict=True)] == [True, True]
    found = np.zeros((6, 6))
    found[tuple(model.cells_.T)] = model.shares_ * len(X)
    np.testing.assert_allclose(found, counts)


@pytest.mark.parametrize(
    "model",
    [
        KernelDensity(bandwidth=0.4),
        KernelDensity(bandwidth="scott", scale="features", kernel="epanechnikov"),
        KernelDensity(bandwidth="silverman", scale="covariance"),
        KernelDensity(scale="common", bounds=[(5.0, np.inf), (-40.0, 40.0)]),
        KernelDensity(bandwidth=0.5, metric="mahalanobis"),
        KernelDensity(bandwidth=0.5, metric="manhattan", kernel="tophat"),
    ],
    ids=str,
)
def test_bumps_of_all_partitions_add_up(model: Any) -> None:
    for weight in (None, WEIGHT):
        lazily = type(model)(**model.get_params()).fit(
            chunked(X), sample_weight=None if weight is None else chunked(weight, 450)
        )
        in_memory = type(model)(**model.get_params()).fit(X, sample_weight=weight)
        np.testing.assert_allclose(lazily.bandwidth_, in_memory.bandwidth_, rtol=1e-12)
        scores_agree(lazily, in_memory)
    scores_agree(in_memory, in_memory)


def test_boxes_are_as_probable_as_in_memory() -> None:
    box = [(9.0, 11.0), (-np.inf, 0.0)]
    lazily, in_memory = KernelDensity(bandwidth=0.4).fit(chunked(X)), KernelDensity(bandwidth=0.4).fit(X)
    assert lazily.integrate(box) == pytest.approx(in_memory.integrate(box), rel=1e-12)
    again = lazily.fit(X)  # a later fit in memory forgets the partitions
    assert again.sample(2, random_state=0).shape == (2, 2)


@pytest.mark.parametrize("k", [7, "sqrt"])
def test_balls_are_those_of_memory(k: Any) -> None:
    in_memory = NearestNeighborDensity(k).fit(X)
    scores_agree(NearestNeighborDensity(k).fit(chunked(X)), in_memory)
    scores_agree(in_memory, in_memory)


def test_frames_with_names() -> None:
    table, queries = (pd.DataFrame(values, columns=["a", "b"]) for values in (X, QUERIES))
    lazy = dd.from_pandas(table, npartitions=3)
    for model in (HistogramDensity(), KernelDensity(), NearestNeighborDensity()):
        expected = type(model)().fit(table).score_samples(queries)
        fitted = model.fit(lazy)
        assert fitted.feature_names_in_.tolist() == ["a", "b"]
        found = fitted.score_samples(dd.from_pandas(queries, npartitions=2))
        np.testing.assert_allclose(found.compute(), expected, rtol=1e-9)
        with pytest.raises(ValueError, match="feature"):
            fitted.score_samples(lazy[["a"]])


def test_processes_of_a_cluster_give_the_same(two_workers: Any) -> None:
    expected = KernelDensity(bandwidth=0.4).fit(X).score_samples(QUERIES)
    with distributed.Client(two_workers):
        model = KernelDensity(bandwidth=0.4).fit(chunked(X))
        np.testing.assert_allclose(model.score_samples(QUERIES), expected, rtol=1e-12)
        np.testing.assert_allclose(model.score_samples(LAZY).compute(), expected, rtol=1e-12)


def test_models_fitted_in_memory_answer_lazily() -> None:
    novelty = NoveltyDetector().fit(X)
    assert np.array_equal(novelty.predict(LAZY).compute(), novelty.predict(QUERIES))
    assert np.array_equal(novelty.p_values(LAZY).compute(), novelty.p_values(QUERIES))
    classes = MixtureClassifier(1).fit(X, X[:, 0] > 10)
    np.testing.assert_allclose(classes.predict_proba(LAZY), classes.predict_proba(QUERIES), rtol=1e-12)
    widths = KernelDensityCV(bandwidths=5).fit(X)
    np.testing.assert_allclose(widths.score_samples(LAZY), widths.score_samples(QUERIES), rtol=1e-12)


def test_what_needs_the_rows_here_is_refused() -> None:
    lazy = chunked(X)
    with pytest.raises(TypeError, match="use HistogramDensity, or fit a sample of the rows"):
        KernelDensity(adaptive=True).fit(lazy)
    with pytest.raises(TypeError, match="use HistogramDensity, or fit a sample of the rows"):
        NearestNeighborDensity(box=[(0, 20), (-20, 20)]).fit(lazy)
    with pytest.raises(TypeError, match="choose the width on a sample of the rows"):
        KernelDensityCV().fit(lazy)
    model = KernelDensity().fit(lazy)
    for ask in (model.sample, lambda: model.explain_rows(QUERIES), lambda: model.tree_):
        with pytest.raises(TypeError, match="can be scored and integrated only"):
            ask()
    with pytest.raises(ValueError, match="in column 1, outside of bounds"):
        KernelDensity(bounds=[(0, 30), (0, 30)]).fit(lazy)
    with pytest.raises(ValueError, match=r"Row \d+ of X has .* outside of the edges: widen them"):
        HistogramDensity(bins=[[0.0, 10.0], [-30.0, 30.0]]).fit(lazy)
    spoilt = X.copy()
    spoilt[450, 1] = np.inf
    for model in (HistogramDensity(), KernelDensity(), NearestNeighborDensity()):
        with pytest.raises(
            ValueError, match=r"X contains inf in row 450 \(row 47 of partition 3\), column 1"
        ):
            model.fit(chunked(spoilt))
