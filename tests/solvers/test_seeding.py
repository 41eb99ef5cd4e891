"""Seeding: the rows scikit-learn draws, covering, weights."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.cluster import kmeans_plusplus

from bisector.engine.sources import source
from bisector.exemplars import farthest_first
from bisector.solvers.seeding import WAYS, seeds

X = np.random.default_rng(0).standard_normal((400, 3))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("k", [1, 2, 17])
def test_k_means_plus_plus_draws_the_rows_of_scikit_learn(seed, k):
    ours = seeds("k-means++", source(X), k, np.random.RandomState(seed))
    np.testing.assert_array_equal(ours, kmeans_plusplus(X, k, random_state=seed)[0])
    sparse = seeds("k-means++", source(scipy.sparse.csr_array(X)), k, np.random.RandomState(seed))
    np.testing.assert_array_equal(ours, sparse)


def test_k_means_plus_plus_with_weights_draws_the_rows_of_scikit_learn():
    weights = np.random.default_rng(1).integers(0, 3, size=400).astype(float)
    ours = seeds("k-means++", source(X, sample_weight=weights), 9, np.random.RandomState(3))
    np.testing.assert_array_equal(ours, kmeans_plusplus(X, 9, sample_weight=weights, random_state=3)[0])


@pytest.mark.parametrize("how", ["k-means++", "farthest-first"])
def test_weights_are_rows_repeated_beside_each_other(how):
    weights = np.random.default_rng(2).integers(0, 3, size=400)
    ours = seeds(how, source(X, sample_weight=weights.astype(float)), 6, np.random.RandomState(0))
    repeated = seeds(how, source(np.repeat(X, weights, axis=0)), 6, np.random.RandomState(0))
    np.testing.assert_array_equal(ours, repeated)


def test_farthest_first_is_that_of_the_exemplars():
    first = int(np.random.RandomState(0).choice(400, p=np.full(400, 1 / 400)))
    found = seeds("farthest-first", source(X), 8, np.random.RandomState(0))
    np.testing.assert_array_equal(found, X[farthest_first(X, 8, start=first).indices])


@pytest.mark.parametrize("how", WAYS)
def test_any_way_gives_as_many_centres_of_the_same_dtype(how):
    for rows in (X.astype(np.float32), X, np.ones((5, 2))):
        found = seeds(how, source(rows), 5, np.random.RandomState(1))
        assert found.shape == (5, rows.shape[1])
        assert found.dtype == rows.dtype
        again = seeds(how, source(rows), 5, np.random.RandomState(1), n_jobs=1)
        np.testing.assert_array_equal(found, again)


def test_random_rows_are_different_rows_of_weight():
    weights = (np.arange(400) % 2).astype(float)
    found = seeds("random", source(X, sample_weight=weights), 150, np.random.RandomState(0))
    assert len(np.unique(found, axis=0)) == 150
    assert {*map(tuple, found)} <= {*map(tuple, X[1::2])}


def test_means_of_random_parts_lie_close_to_the_mean():
    found = seeds("random-partition", source(X), 4, np.random.RandomState(0))
    assert np.abs(found - X.mean(axis=0)).max() < 0.5  # five standard errors of a mean of 100 rows


@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e12])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_rough_look_first_draws_the_same_rows(scale, weighted, monkeypatch):
    rng = np.random.default_rng(4)
    # Many rows are equal, so that many candidates leave totals that single precision cannot tell apart.
    long = scale * (5 + rng.integers(0, 2, size=(600, 20)) + np.round(rng.random((600, 20)), 1))
    rows = source(long, sample_weight=rng.integers(0, 3, size=600).astype(float) if weighted else None)
    exact = seeds("k-means++", rows, 40, np.random.RandomState(0))
    monkeypatch.setattr("bisector.solvers.seeding._MANY_NUMBERS", 0)
    np.testing.assert_array_equal(seeds("k-means++", rows, 40, np.random.RandomState(0)), exact)


@pytest.mark.parametrize("weighted", [False, True])
def test_rows_in_many_runs_draw_the_same_rows(weighted, monkeypatch):
    rng = np.random.default_rng(5)
    rows = source(X, sample_weight=rng.integers(0, 3, size=400).astype(float) if weighted else None)
    at_once = seeds("k-means++", rows, 30, np.random.RandomState(2))
    monkeypatch.setattr("bisector.solvers.seeding._NUMBERS_AT_ONCE", 100)
    np.testing.assert_array_equal(seeds("k-means++", rows, 30, np.random.RandomState(2)), at_once)


def test_the_random_state_is_left_alike_whether_rows_come_in_one_run_or_in_many(monkeypatch):
    one, many = np.random.RandomState(0), np.random.RandomState(0)
    equal = source(np.ones((6, 2)))  # where centres run out, draws are made all the same
    seeds("k-means++", equal, 5, one)
    monkeypatch.setattr("bisector.solvers.seeding._NUMBERS_AT_ONCE", 4)
    seeds("k-means++", equal, 5, many)
    assert one.uniform() == many.uniform()
