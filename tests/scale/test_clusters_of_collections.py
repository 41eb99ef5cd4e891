"""K-means and mixtures of Dask collections: the answers of memory, on any scheduler."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from bisector import GaussianMixture, KMeans
from bisector.engine import checkpoint
from bisector.engine.sources import source
from bisector.solvers import seeding

# With 32 columns a block has 8192 rows, so that these rows are four blocks wherever they are cut at such.
BLOCK, D, K = 8192, 32, 6
RNG = np.random.default_rng(2)
CORNERS = 2.0 * RNG.normal(size=(K, D))
X = CORNERS[RNG.integers(K, size=4 * BLOCK)] + RNG.normal(size=(4 * BLOCK, D))
WEIGHT = RNG.integers(0, 3, size=len(X)).astype(float)
START = X[:K]


def chunked(values, rows):
    return da.from_array(values, chunks=(rows, *values.shape[1:]))


def test_k_means_has_the_bits_of_memory_on_every_scheduler(scheduler):
    assert np.array_equal(source(X).boundaries, source(chunked(X, 2 * BLOCK)).boundaries)
    for weight in (None, WEIGHT):
        here = KMeans(K, init=START, tol=0.0).fit(X, sample_weight=weight)
        there = KMeans(K, init=START, tol=0.0).fit(chunked(X, 2 * BLOCK), sample_weight=weight)
        for name in ("cluster_centers_", "history_", "inertia_", "n_iter_", "converged_"):
            np.testing.assert_array_equal(getattr(there, name), getattr(here, name), err_msg=name)
        assert isinstance(there.labels_, da.Array)
        np.testing.assert_array_equal(there.labels_.compute(), here.labels_)
        np.testing.assert_array_equal(there.predict(chunked(X, 5000)).compute(), here.labels_)
        np.testing.assert_allclose(there.transform(chunked(X, 5000)).compute(), here.transform(X), rtol=1e-12)


def test_other_chunks_give_the_same_clusters():
    with dask.config.set(scheduler="threads"):
        here = KMeans(K, init=START).fit(X)
        there = KMeans(K, init=START).fit(chunked(X, (5000, 10_000, 4 * BLOCK - 15_000)))
    np.testing.assert_array_equal(there.labels_.compute(), here.labels_)
    np.testing.assert_allclose(there.cluster_centers_, here.cluster_centers_, rtol=1e-9)


def test_k_means_by_itself_draws_in_passes(monkeypatch):
    monkeypatch.setattr(seeding, "ROWS_FROM_DISK", 1000)
    with dask.config.set(scheduler="threads"):
        models = [KMeans(K, random_state=0).fit(chunked(X, rows)) for rows in (BLOCK, 5000)]
    best = KMeans(K, init=CORNERS).fit(X).inertia_
    for model in models:
        assert model.inertia_ == pytest.approx(best, rel=1e-6)


def test_frames_keep_their_names():
    names = [f"x{j}" for j in range(D)]
    frame = dd.from_pandas(pd.DataFrame(X, columns=names), npartitions=3)
    with dask.config.set(scheduler="threads"):
        model = KMeans(K, init=START).fit(frame)
        assert list(model.feature_names_in_) == names
        np.testing.assert_array_equal(model.labels_.compute(), KMeans(K, init=START).fit(X).labels_)


def test_empty_clusters_are_filled_as_in_memory():
    start = START.copy()
    start[[1, 4]] = 1e3
    with dask.config.set(scheduler="threads"):
        here, there = (KMeans(K, init=start, max_iter=6).fit(rows) for rows in (X, chunked(X, BLOCK)))
    np.testing.assert_array_equal(there.cluster_centers_, here.cluster_centers_)


@pytest.mark.parametrize("kind", ["full", "diag"])
def test_mixtures_are_those_of_memory(kind, two_workers):
    import distributed

    settings = {"covariance_type": kind, "random_state": 0, "init_params": "random", "max_iter": 60}
    few = X[:, :3]
    here = GaussianMixture(2, **settings).fit(few)
    with distributed.Client(two_workers, set_as_default=True):
        there = GaussianMixture(2, **settings).fit(chunked(few, 10_000))
        assert isinstance(there.score_samples(chunked(few, 10_000)), da.Array)
        labels = there.predict(chunked(few, 10_000)).compute()
    for name in ("weights_", "means_", "covariances_"):
        np.testing.assert_allclose(getattr(there, name), getattr(here, name), rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(labels, here.predict(few))


def test_a_fit_of_a_collection_goes_on_too(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint, "SECONDS_BETWEEN_SAVES", 0.0)
    save, count = checkpoint._File.save, [0]

    def interrupting(self):
        save(self)
        count[0] += 1
        if count[0] == 3:
            raise KeyboardInterrupt

    rows = chunked(X, BLOCK)
    model = KMeans(K, init=START, tol=0.0, checkpoint=tmp_path / "kept")
    with dask.config.set(scheduler="threads"):
        whole = KMeans(K, init=START, tol=0.0).fit(rows)
        monkeypatch.setattr(checkpoint._File, "save", interrupting)
        with pytest.raises(KeyboardInterrupt):
            model.fit(rows)
        monkeypatch.setattr(checkpoint._File, "save", save)
        model.fit(rows)
    np.testing.assert_array_equal(model.cluster_centers_, whole.cluster_centers_)
    np.testing.assert_array_equal(model.history_, whole.history_)
