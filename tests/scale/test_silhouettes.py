"""Silhouettes of Dask collections: exact from sums where squares are added, else on a sample."""

from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from bisector import silhouette, silhouette_samples, silhouette_score

RNG = np.random.default_rng(4)
CORNERS = np.array([[0.0, 0.0, 1e6], [5.0, 1.0, 1e6], [2.0, 6.0, 1e6 + 4]])
CODES = RNG.integers(3, size=800)
X = CORNERS[CODES] + RNG.normal(size=(800, 3))
LABELS = np.array(["a", "b", "c", "alone"])[CODES]
LABELS[5] = "alone"
CHUNKS = (300, 0, 2, 498)


def chunked(values: np.ndarray, rows: Any = CHUNKS) -> Any:
    return da.from_array(values, chunks=(rows, *values.shape[1:]))


pytestmark = pytest.mark.usefixtures("here")


WEIGHTS = {
    "alike": None,
    "weighted": RNG.integers(0, 3, size=800).astype(float),
    "a cluster without weight": np.where(CODES == 1, 0.0, 0.7),
}


@pytest.mark.parametrize("form", ["mean", "simplified"])
@pytest.mark.parametrize("weight", WEIGHTS.values(), ids=WEIGHTS.keys())
def test_sums_of_clusters_give_the_silhouettes_of_memory(form: Any, weight: Any) -> None:
    given = None if weight is None else chunked(weight, 200)
    settings: dict[str, Any] = {"metric": "sqeuclidean", "form": form}
    lazily = silhouette_samples(chunked(X), chunked(LABELS, 400), sample_weight=given, **settings)
    assert isinstance(lazily, da.Array)
    assert lazily.shape == (800,)
    expected = silhouette_samples(X, LABELS, sample_weight=weight, **settings)
    np.testing.assert_allclose(lazily.compute(), expected, rtol=1e-9, atol=1e-9)
    score = silhouette_score(chunked(X), LABELS, sample_weight=given, **settings)
    assert score == pytest.approx(silhouette_score(X, LABELS, sample_weight=weight, **settings), rel=1e-9)


def test_all_pairs_give_the_same() -> None:
    squares = ((X[:, None] - X) ** 2).sum(axis=2)
    own = [squares[i, (LABELS[i] == LABELS) & (np.arange(800) != i)].mean() for i in range(50) if i != 5]
    other = [
        min(squares[i, name == LABELS].mean() for name in set(LABELS) - {LABELS[i]})
        for i in range(50)
        if i != 5
    ]
    expected = np.insert((np.array(other) - own) / np.maximum(other, own), 5, 0.0)
    found = silhouette_samples(chunked(X), chunked(LABELS), metric="sqeuclidean")[:50].compute()
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_frames_and_single_precision() -> None:
    table = pd.DataFrame(X - CORNERS[0], columns=list("abc"), dtype=np.float32).assign(kind=LABELS)
    lazy = dd.from_pandas(table, npartitions=3)
    found = silhouette_samples(lazy[list("abc")], lazy["kind"], metric="sqeuclidean")
    assert found.dtype == np.float32
    expected = silhouette_samples(table[list("abc")], LABELS, metric="sqeuclidean")
    np.testing.assert_allclose(found.compute(), expected, atol=1e-6)


def test_other_metrics_take_a_sample() -> None:
    settings: dict[str, Any] = {"sample_size": 100, "random_state": 3}
    for metric in ("euclidean", "manhattan"):
        found = silhouette_score(chunked(X), chunked(LABELS), metric=metric, **settings)
        assert found == silhouette_score(X, LABELS, metric=metric, **settings)
    with pytest.raises(
        TypeError, match=r"take metric='sqeuclidean' .*, or silhouette_score with a sample_size"
    ):
        silhouette_score(chunked(X), LABELS)
    with pytest.raises(TypeError, match="take metric='sqeuclidean'"):
        silhouette_samples(chunked(X), LABELS, metric="sqeuclidean", form="medoid")
    with pytest.raises(TypeError, match="silhouette needs all rows in memory: use silhouette_samples"):
        silhouette(chunked(X), LABELS)
    with pytest.raises(ValueError, match="labels name 1 cluster, but a silhouette compares"):
        silhouette_score(chunked(X), np.zeros(800), metric="sqeuclidean")
    with pytest.raises(ValueError, match="X has 800 rows but labels has 3"):
        silhouette_score(chunked(X), LABELS[:3], metric="sqeuclidean")
