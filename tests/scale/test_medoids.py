"""Medoids of Dask collections by CLARA: those of memory, from the same samples."""

from pathlib import Path
from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

from bisector import KMedoids
from bisector.solvers.medoid_swap import swap_medoids

RNG = np.random.default_rng(6)
X = RNG.normal(size=(1200, 2)) + 6.0 * RNG.integers(3, size=(1200, 1))
WEIGHT = RNG.integers(0, 3, size=len(X)).astype(float)
CHUNKS = (500, 0, 4, 696)


def chunked(values: np.ndarray, rows: Any = CHUNKS) -> Any:
    return da.from_array(values, chunks=(rows, *values.shape[1:]))


pytestmark = pytest.mark.usefixtures("here")


def agree(lazily: KMedoids, in_memory: KMedoids) -> None:
    assert np.array_equal(lazily.medoid_indices_, in_memory.medoid_indices_)
    np.testing.assert_array_equal(lazily.cluster_centers_, in_memory.cluster_centers_)
    assert isinstance(lazily.labels_, da.Array)
    assert np.array_equal(lazily.labels_.compute(), in_memory.labels_)
    assert lazily.inertia_ == pytest.approx(in_memory.inertia_, rel=1e-9)
    assert lazily.medoid_silhouette_ == pytest.approx(in_memory.medoid_silhouette_, rel=1e-9)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "mahalanobis"])
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["alike", "weighted"])
def test_samples_give_the_medoids_of_memory(metric: str, weight: Any) -> None:
    settings: dict[str, Any] = {"method": "clara", "metric": metric, "random_state": 3}
    lazily = KMedoids(3, **settings).fit(
        chunked(X), sample_weight=None if weight is None else chunked(weight, 600)
    )
    in_memory = KMedoids(3, **settings).fit(X, sample_weight=weight)
    agree(lazily, in_memory)
    np.testing.assert_allclose(
        lazily.transform(chunked(X)).compute(), in_memory.transform(X), rtol=1e-9, atol=1e-9
    )
    assert in_memory.predict(chunked(X)).chunks == (CHUNKS,)


def test_the_number_of_clusters_is_chosen() -> None:
    settings: dict[str, Any] = {"method": "clara", "k_range": [2, 3, 4]}
    lazily, in_memory = (KMedoids("auto", **settings).fit(rows) for rows in (chunked(X), X))
    agree(lazily, in_memory)
    assert lazily.n_clusters_ == 3
    np.testing.assert_allclose(lazily.silhouettes_, in_memory.silhouettes_, rtol=1e-9)


def test_a_sample_of_all_rows_and_frames() -> None:
    table = pd.DataFrame(X[:60], columns=["a", "b"])
    lazily = KMedoids(3, method="clara").fit(dd.from_pandas(table, npartitions=2))
    in_memory = KMedoids(3, method="clara").fit(table)
    assert lazily.feature_names_in_.tolist() == ["a", "b"]
    assert np.array_equal(lazily.medoid_indices_, in_memory.medoid_indices_)
    assert lazily.swap_change_ == pytest.approx(in_memory.swap_change_)
    assert np.array_equal(lazily.predict(dd.from_pandas(table, npartitions=3)).compute(), in_memory.labels_)


def test_other_methods_and_few_rows() -> None:
    with pytest.raises(TypeError, match='KMedoids needs all rows in memory: use method="clara", or KMeans'):
        KMedoids(3).fit(chunked(X))
    with pytest.raises(ValueError, match="n_clusters=9 clusters cannot be made of n_samples=3"):
        KMedoids(9, method="clara").fit(chunked(X[:3], 2))
    with pytest.raises(TypeError, match="needs all rows in memory: take a distance of coordinates"):
        KMedoids(3, method="clara", metric="precomputed").fit(chunked(X))
    with pytest.warns(ConvergenceWarning, match="Only 1 of 2 clusters have rows"):
        KMedoids(2, method="clara").fit(chunked(np.ones((5, 2)), 3))


def test_an_interrupted_fit_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings: dict[str, Any] = {"method": "clara", "random_state": 3}
    searches = []

    def searched(*given: Any, **options: Any) -> Any:
        searches.append(len(given[1]))
        if len(searches) == 3:
            raise KeyboardInterrupt
        return swap_medoids(*given, **options)

    monkeypatch.setattr("bisector.solvers.medoid_sample.swap_medoids", searched)
    model = KMedoids(3, checkpoint=tmp_path / "kept", **settings)
    with pytest.raises(KeyboardInterrupt):
        model.fit(chunked(X))
    model.fit(chunked(X))
    assert len(searches) == 3 + 3  # of five samples, two were done
    agree(model, KMedoids(3, **settings).fit(X))
    assert not list(tmp_path.iterdir())
