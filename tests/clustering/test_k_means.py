"""K-means as an estimator: by hand, against scikit-learn, quality on known clusters, edges and bad input."""

import warnings

import numpy as np
import pytest
import scipy.sparse
from sklearn.cluster import KMeans as Theirs
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning

from bisector import KMeans, datasets, scatter_decomposition

FIVE = np.array([[8.0], [44.0], [50.0], [58.0], [84.0]])


# By hand


def test_five_numbers_are_solved_and_a_given_start_stays_with_lloyd():
    best = KMeans(2, random_state=0).fit(FIVE)
    assert best.optimal_
    assert best.inertia_ == 932.0
    assert best.labels_.tolist() == [0, 1, 1, 1, 1]
    stuck = KMeans(2, init=[[40.0], [84.0]]).fit(FIVE)
    assert not stuck.optimal_
    assert stuck.inertia_ == 1464.0
    assert KMeans(2, init=[[40.0], [84.0]], refine=True).fit(FIVE).inertia_ == 932.0


def test_scatter_is_divided_as_by_its_own_function():
    X = datasets.scatter_points().X
    model = KMeans(2, random_state=0).fit(X)
    assert sorted(model.scatter_.within) == [4.0, 12.0]
    assert (model.scatter_.between, model.scatter_.total) == (60.0, 76.0)
    rng = np.random.default_rng(0)
    X, weights = 100 + rng.standard_normal((200, 3)), rng.integers(0, 3, 200)
    model = KMeans(5, random_state=0).fit(X, sample_weight=weights)
    direct = scatter_decomposition(X, model.labels_, weights)
    np.testing.assert_allclose(model.scatter_.within, direct.within, rtol=1e-9)
    np.testing.assert_allclose(model.scatter_.means, direct.means, rtol=1e-12)
    assert model.scatter_.between == pytest.approx(direct.between, rel=1e-9)
    assert model.scatter_.total == pytest.approx(direct.total, rel=1e-12)


# Oracle: scikit-learn


@pytest.mark.parametrize("seed", range(3))
def test_without_refinement_it_is_scikit_learns(seed):
    X = load_digits().data
    ours = KMeans(10, random_state=seed, refine=False).fit(X)
    theirs = Theirs(10, random_state=seed).fit(X)
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_, atol=1e-9)
    assert ours.inertia_ == pytest.approx(theirs.inertia_, rel=1e-9)
    assert ours.n_iter_ == theirs.n_iter_
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), rtol=1e-9)
    assert ours.score(X) == pytest.approx(theirs.score(X), rel=1e-9)
    np.testing.assert_array_equal(ours.predict(X), ours.labels_)
    assert ours.get_feature_names_out().tolist() == [f"kmeans{c}" for c in range(10)]


def test_a_given_start_gives_scikit_learns_clusters():
    X = load_iris().data
    ours, theirs = KMeans(3, init=X[[0, 60, 120]]).fit(X), Theirs(3, init=X[[0, 60, 120]], n_init=1).fit(X)
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    assert ours.n_iter_ == theirs.n_iter_


# Published


def test_iris_has_the_least_scatter_known():
    # 78.851441: the value that textbooks and programs report for three clusters of Fisher's iris.
    assert KMeans(3, random_state=0).fit(load_iris().data).inertia_ == pytest.approx(78.851441, abs=1e-6)


@pytest.mark.parametrize("name", ["spread_clusters", "grid_clusters", "overlapping_clusters"])
def test_the_defaults_find_the_best_known_scatter(name):
    """From the true centres, refined, one gets the best known scatter; ten random states come as low."""
    X, y = datasets.load(name)
    k = len(np.unique(y))
    centres = np.stack([X[y == c].mean(axis=0) for c in range(k)])
    best = KMeans(k, init=centres, refine=True).fit(X).inertia_
    found = np.array([KMeans(k, random_state=seed).fit(X).inertia_ for seed in range(10)])
    assert (found <= 1.001 * best).all()


# Properties


def test_history_never_rises_and_ends_at_the_inertia():
    X = datasets.spread_clusters(seed=1).X
    model = KMeans(50, random_state=1).fit(X)
    assert (np.diff(model.history_) <= 0).all()
    assert model.history_[-1] == model.inertia_
    assert model.n_iter_ <= 300
    assert model.converged_


@pytest.mark.parametrize("init", ["k-means++", "random", "farthest-first", "random-partition"])
def test_every_init_with_a_seed_gives_one_answer(init):
    X = datasets.overlapping_clusters(600).X
    first, again = (KMeans(15, init=init, random_state=3, n_jobs=n_jobs).fit(X) for n_jobs in (1, 2))
    np.testing.assert_array_equal(first.labels_, again.labels_)
    np.testing.assert_array_equal(first.cluster_centers_, again.cluster_centers_)


def test_a_callable_gives_the_start():
    def start(X, k, random_state):
        assert isinstance(random_state, np.random.RandomState)
        return X[:k]

    X = load_iris().data
    ours = KMeans(3, init=start, n_init=1).fit(X)
    np.testing.assert_array_equal(ours.labels_, KMeans(3, init=X[:3]).fit(X).labels_)


@pytest.mark.parametrize("change", [np.asfortranarray, scipy.sparse.csr_array, scipy.sparse.csc_matrix])
def test_other_forms_of_the_same_rows(change):
    X = np.round(load_iris().data * 8)  # whole numbers: sums are exact from any origin
    plain, other = (KMeans(3, random_state=0).fit(rows) for rows in (X, change(X)))
    np.testing.assert_array_equal(plain.labels_, other.labels_)
    np.testing.assert_array_equal(plain.labels_, other.predict(change(X)))
    np.testing.assert_allclose(plain.transform(X), other.transform(change(X)), rtol=1e-9)


def test_parquet(tmp_path):
    pandas = pytest.importorskip("pandas")
    X = load_iris().data
    pandas.DataFrame(X, columns=list("abcd")).to_parquet(tmp_path / "iris.parquet")
    model = KMeans(3, random_state=0).fit(tmp_path / "iris.parquet")
    np.testing.assert_array_equal(model.labels_, KMeans(3, random_state=0).fit(X).labels_)


def test_float32_stays():
    X = load_iris().data.astype(np.float32)
    model = KMeans(3, random_state=0).fit(X)
    assert model.cluster_centers_.dtype == model.transform(X).dtype == np.float32
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    assert model.inertia_ == pytest.approx(78.851441, abs=1e-4)


# Edges and bad input


def test_one_row_equal_rows_and_as_many_clusters_as_rows():
    assert KMeans(1).fit([[3.0, 4.0]]).cluster_centers_.tolist() == [[3.0, 4.0]]
    X = np.arange(8.0).reshape(4, 2)
    assert KMeans(4, random_state=0).fit(X).inertia_ == 0.0
    with pytest.warns(ConvergenceWarning, match="distinct clusters"):
        model = KMeans(3, random_state=0).fit(np.ones((5, 2)))
    assert model.inertia_ == 0.0
    with pytest.warns(ConvergenceWarning, match="distinct clusters"):
        assert KMeans(3).fit(np.ones((5, 1))).optimal_


@pytest.mark.parametrize(("parameters", "message"), [
    ({"n_clusters": 7}, "n_samples=5 should be >= n_clusters=7"),
    ({"n_clusters": 0}, "n_clusters must be a whole number"),
    ({"n_clusters": 2, "init": "best"}, "init must be one of"),
    ({"n_clusters": 2, "init": [[1.0], [2.0], [3.0]]}, "shape of the initial centers"),
    ({"n_clusters": 2, "init": [[1.0], [np.nan]]}, "init contains NaN in row 1"),
    ({"n_clusters": 2, "algorithm": "fast"}, "algorithm must be one of"),
    ({"n_clusters": 2, "tol": -1.0}, "tol must be a number at least 0"),
    ({"n_clusters": 2, "refine": "often"}, "refine must be True or False"),
    ({"n_clusters": 2, "n_init": "many"}, "n_init must be one of"),
])  # fmt: skip
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        KMeans(**parameters).fit(FIVE)


def test_many_inits_of_a_given_start_are_warned_of():
    with pytest.warns(RuntimeWarning, match="performing only one init"):
        KMeans(2, init=[[1.0], [2.0]], n_init=5).fit(FIVE)


def test_nothing_is_learned_from_bad_rows():
    model = KMeans(2)
    X = np.ones((5, 3))
    X[1, 2] = np.nan
    with warnings.catch_warnings(), pytest.raises(ValueError, match="row 1, column 2"):
        model.fit(X)
    assert not hasattr(model, "cluster_centers_")
