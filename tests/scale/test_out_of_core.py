"""Fits of data on disk: the answers of memory, without holding the data."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bisector import GaussianMixture, KMeans, LinearRegression, LogisticRegression
from bisector.engine.dataset_source import DatasetSource
from bisector.engine.sources import source
from bisector.solvers import lloyd_passes, seeding
from bisector.solvers.mixture_shapes import SHAPES
from bisector.solvers.parallel_seeding import spread_in_passes

RNG = np.random.default_rng(0)
N, D, K = 40_000, 6, 50
CORNERS = 4.0 * RNG.normal(size=(K, D))
X = CORNERS[RNG.integers(K, size=N)] + RNG.normal(size=(N, D))
Y = X @ np.arange(1.0, D + 1) + RNG.normal(size=N)
START = X[RNG.choice(N, K, replace=False)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Parquet files whose row groups are cut otherwise than blocks in memory."""
    made = tmp_path_factory.mktemp("rows")
    for number, part in enumerate(np.array_split(np.column_stack([X, Y]), 3)):
        table = pa.table(list(part.T), names=[*(f"x{j}" for j in range(D)), "y"])
        pq.write_table(table, made / f"{number}.parquet", row_group_size=7001)
    return made


@pytest.fixture(scope="module")
def features(tmp_path_factory):
    made = tmp_path_factory.mktemp("features") / "x.parquet"
    pq.write_table(pa.table(list(X.T), names=[f"x{j}" for j in range(D)]), made, row_group_size=9001)
    return made


@pytest.fixture
def never_held(monkeypatch):
    """Refuse to take more than a part of the rows out of a file, in one go or in all."""
    take, taken = DatasetSource.take, []

    def counted(self, rows):
        found = take(self, rows)
        taken.append(len(found))
        assert sum(taken) <= N // 1.9
        return found

    monkeypatch.setattr(DatasetSource, "take", counted)


@pytest.mark.usefixtures("never_held")
def test_k_means_from_a_given_start_is_that_of_memory(features, tmp_path):
    np.save(tmp_path / "x.npy", X)
    here = KMeans(K, init=START, tol=0.0, max_iter=25).fit(X)
    for rows in (str(features), np.load(tmp_path / "x.npy", mmap_mode="r")):
        there = KMeans(K, init=START, tol=0.0, max_iter=25).fit(rows)
        np.testing.assert_array_equal(there.labels_, here.labels_)
        assert there.labels_.dtype == np.int32
        np.testing.assert_allclose(there.cluster_centers_, here.cluster_centers_, rtol=1e-9)
        np.testing.assert_allclose(there.history_, here.history_, rtol=1e-9)
        assert there.n_iter_ == here.n_iter_


@pytest.mark.usefixtures("never_held")
def test_k_means_by_itself_reads_in_passes(features, monkeypatch):
    monkeypatch.setattr(seeding, "ROWS_FROM_DISK", 10_000)
    drawn = []

    def watched(rows, k, random, **options):
        drawn.append(k)
        return spread_in_passes(rows, k, random, **options)

    monkeypatch.setattr("bisector.solvers.parallel_seeding.spread_in_passes", watched)
    there = KMeans(K, random_state=0).fit(features)
    assert drawn == [K]
    assert there.inertia_ <= 1.01 * KMeans(K, random_state=0).fit(X).inertia_
    np.testing.assert_array_equal(there.predict(features), there.labels_)


def test_bits_do_not_depend_on_bounds(monkeypatch):
    """Bounds spare comparisons, where there is memory for them: nothing else may change."""
    assert K * D >= lloyd_passes._BOUNDS_PAY
    models = [KMeans(K, init=START, max_iter=15).fit(X)]
    monkeypatch.setattr(lloyd_passes, "_BOUNDS_PAY", 10**9)
    models.append(KMeans(K, init=START, max_iter=15).fit(X))
    for name in ("labels_", "cluster_centers_", "history_"):
        np.testing.assert_array_equal(*(getattr(model, name) for model in models))


@pytest.mark.usefixtures("never_held")
def test_empty_clusters_are_filled_alike(features):
    """A start far from all rows leaves clusters empty, which take the rows farthest from their centres."""
    start = START.copy()
    start[[3, 17, 40]] = 1e3 + np.arange(3)[:, None]
    here, there = (KMeans(K, init=start, max_iter=10).fit(rows) for rows in (X, features))
    np.testing.assert_array_equal(there.labels_, here.labels_)
    assert len(np.unique(here.labels_)) == K


@pytest.mark.usefixtures("never_held")
@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_mixtures_from_a_given_start_are_those_of_memory(features, kind):
    shape = SHAPES[kind]
    start = {"means_init": CORNERS[:4], "weights_init": np.full(4, 0.25), "max_iter": 5, "tol": 0.0}
    start["precisions_init"] = shape.alike(np.full(D, 0.5), 4)
    with pytest.warns(match="still improved"):
        here, there = (
            GaussianMixture(4, covariance_type=kind, **start).fit(rows) for rows in (X, str(features))
        )
    for name in ("weights_", "means_", "covariances_", "lower_bounds_"):
        np.testing.assert_allclose(getattr(there, name), getattr(here, name), rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(there.predict(features), here.predict(X))


@pytest.mark.usefixtures("never_held")
@pytest.mark.parametrize("how", ["kmeans", "k-means++", "random", "random_from_data"])
def test_mixtures_start_out_of_core_too(features, how, monkeypatch):
    monkeypatch.setattr(seeding, "ROWS_FROM_DISK", 10_000)
    settings = {"init_params": how, "random_state": 0, "max_iter": 40, "tol": 1e-2}
    here, there = (GaussianMixture(3, **settings).fit(rows) for rows in (X, features))
    if how == "random":  # shares belong to rows, however they are read
        np.testing.assert_allclose(there.means_, here.means_, rtol=1e-6)
    assert there.lower_bound_ > here.lower_bound_ - 0.3
    assert list(there.feature_names_in_) == [f"x{j}" for j in range(D)]


@pytest.mark.usefixtures("never_held")
def test_planes_are_those_of_memory(folder):
    here, there = LinearRegression().fit(X, Y), LinearRegression().fit(folder, "y")
    np.testing.assert_allclose(there.coef_, here.coef_, rtol=1e-9)
    codes = np.where(np.median(Y) < Y, 1, 0)
    table = pa.table([*X.T, codes], names=[*(f"x{j}" for j in range(D)), "y"])
    pq.write_table(table, folder / "../codes.parquet", row_group_size=5000)
    here = LogisticRegression(max_iter=200).fit(X, codes)
    there = LogisticRegression(max_iter=200).fit(folder / "../codes.parquet", "y")
    # Both end when the gradient is small, but in memory the first steps look at a part of the rows only.
    np.testing.assert_allclose(there.coef_, here.coef_, rtol=1e-4)


def test_a_checkpoint_out_of_core(features, tmp_path, monkeypatch):
    from bisector.engine import checkpoint

    monkeypatch.setattr(checkpoint, "SECONDS_BETWEEN_SAVES", 0.0)
    save, count = checkpoint._File.save, [0]

    def interrupting(self):
        save(self)
        count[0] += 1
        if count[0] == 6:
            raise KeyboardInterrupt

    whole = KMeans(K, random_state=0, max_iter=12).fit(features)
    model = KMeans(K, random_state=0, max_iter=12, checkpoint=tmp_path / "kept")
    monkeypatch.setattr(checkpoint._File, "save", interrupting)
    with pytest.raises(KeyboardInterrupt):
        model.fit(features)
    monkeypatch.setattr(checkpoint._File, "save", save)
    found = model.fit(features)
    for name in ("labels_", "cluster_centers_", "history_"):
        np.testing.assert_array_equal(getattr(found, name), getattr(whole, name))


def test_the_mixtures_rows_on_disk_are_checked(tmp_path):
    one = tmp_path / "one.parquet"
    pq.write_table(pa.table({"a": [1.0], "b": [2.0]}), one)
    with pytest.raises(ValueError, match="a minimum of 2 is required by GaussianMixture"):
        GaussianMixture(1).fit(one)
    bad = X[:50].copy()
    bad[7, 2] = np.nan
    pq.write_table(pa.table(list(bad.T), names=[f"x{j}" for j in range(D)]), one)
    with pytest.raises(ValueError, match=r"NaN in row 7, column 2 \('x2'\)"):
        GaussianMixture(1).fit(one)


def test_blocks_of_a_file_are_rows_in_order(features):
    rows = source(features)
    np.testing.assert_array_equal(np.concatenate([block.X for block in rows.blocks()]), X)
