"""Where scikit-learn has the estimator, ours gives its answers."""

import warnings

import numpy as np
import pytest
import sklearn.neighbors
from sklearn.datasets import load_diabetes, load_iris

import bisector


@pytest.fixture(scope="module")
def flowers():
    """Iris, moved by so little that no two distances are equal: at ties the two libraries may differ."""
    X, y = load_iris(return_X_y=True)
    rng = np.random.default_rng(0)
    X = X + 1e-3 * rng.random(X.shape)
    chosen = rng.random(len(X)) < 0.7
    return X[chosen], y[chosen], X[~chosen], y[~chosen]


def both(name, *args, **params):
    return getattr(bisector, name)(*args, **params), getattr(sklearn.neighbors, name)(*args, **params)


SETTINGS = [
    {},
    {"n_neighbors": 1},
    {"weights": "distance"},
    {"weights": lambda d: 1 / (1 + d), "n_neighbors": 8},
    {"metric": "manhattan", "n_neighbors": 7},
    {"metric": "chebyshev"},
    {"p": 3},
    {"p": 1},
    {"metric": "cosine", "algorithm": "brute"},
    {"metric": "mahalanobis", "metric_params": {"VI": np.diag([1.0, 2.0, 3.0, 4.0])}, "algorithm": "brute"},
]


@pytest.mark.parametrize("params", SETTINGS, ids=lambda p: "-".join(p) or "defaults")
def test_classifier(flowers, params):
    X, y, new, truth = flowers
    ours, theirs = (model.fit(X, y) for model in both("KNeighborsClassifier", **params))
    np.testing.assert_allclose(ours.predict_proba(new), theirs.predict_proba(new), atol=1e-9)
    np.testing.assert_array_equal(ours.predict(new), theirs.predict(new))
    np.testing.assert_array_equal(ours.classes_, theirs.classes_)
    assert ours.score(new, truth) == theirs.score(new, truth)
    assert ours.n_samples_fit_ == theirs.n_samples_fit_
    assert ours.outputs_2d_ == theirs.outputs_2d_


@pytest.mark.parametrize("params", SETTINGS, ids=lambda p: "-".join(p) or "defaults")
def test_neighbours_and_graphs(flowers, params):
    X, _, new, _ = flowers
    params = {name: value for name, value in params.items() if name != "weights"}
    ours, theirs = (model.fit(X) for model in both("NearestNeighbors", **params))
    for rows in (None, new):
        for mine, peers in zip(ours.kneighbors(rows), theirs.kneighbors(rows), strict=True):
            np.testing.assert_allclose(mine, peers, atol=1e-7)  # cosine by products in the peer: 1e-8
        for mode in ("connectivity", "distance"):
            difference = ours.kneighbors_graph(rows, mode=mode) - theirs.kneighbors_graph(rows, mode=mode)
            assert abs(difference).max() < 1e-7
            difference = ours.radius_neighbors_graph(rows, 0.4, mode=mode) - theirs.radius_neighbors_graph(
                rows, 0.4, mode=mode
            )
            assert abs(difference).max() < 1e-7
        distances, positions = ours.radius_neighbors(rows, 0.4, sort_results=True)
        expected, places = theirs.radius_neighbors(rows, 0.4, sort_results=True)
        for a, b, c, d in zip(distances, expected, positions, places, strict=True):
            np.testing.assert_allclose(a, b, atol=1e-7)
            np.testing.assert_array_equal(c, d)


@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_regressor_with_several_targets(weights):
    X, y = load_diabetes(return_X_y=True)
    targets = np.column_stack([y, -y])
    ours, theirs = (m.fit(X, targets) for m in both("KNeighborsRegressor", 9, weights=weights))
    np.testing.assert_allclose(ours.predict(X + 1e-3), theirs.predict(X + 1e-3))
    assert ours.score(X, targets) == pytest.approx(theirs.score(X, targets))


def test_classifier_with_several_outputs(flowers):
    X, y, new, _ = flowers
    labels = np.column_stack([y, y > 0])
    ours, theirs = (model.fit(X, labels) for model in both("KNeighborsClassifier"))
    np.testing.assert_array_equal(ours.predict(new), theirs.predict(new))
    for mine, peers in zip(ours.predict_proba(new), theirs.predict_proba(new), strict=True):
        np.testing.assert_allclose(mine, peers)


@pytest.mark.parametrize("outlier", [0, 2, "most_frequent", 7])
@pytest.mark.parametrize("radius", [0.3, 1.0])
def test_radius_classifier(flowers, radius, outlier):
    X, y, new, _ = flowers
    new = np.vstack([new, [[50.0, 50.0, 50.0, 50.0]]])
    ours, theirs = (
        m.fit(X, y)
        for m in both("RadiusNeighborsClassifier", radius, outlier_label=outlier, weights="distance")
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # both say that 7 is no class
        np.testing.assert_array_equal(ours.predict(new), theirs.predict(new))
        np.testing.assert_allclose(ours.predict_proba(new), theirs.predict_proba(new))
    assert ours.outlier_label_ == list(theirs.outlier_label_)


def test_radius_regressor(flowers):
    X, _, new, _ = flowers
    ours, theirs = (m.fit(X, X[:, 0]) for m in both("RadiusNeighborsRegressor", 0.25))
    with pytest.warns(UserWarning, match="no neighbors within"):
        mine = ours.predict(new)
    with pytest.warns(UserWarning, match="no neighbors within"):
        expected = theirs.predict(new)
    np.testing.assert_allclose(mine, expected)


def test_precomputed_distances(flowers):
    X, y, new, _ = flowers
    among = bisector.Euclidean().pairwise(X)
    to_them = bisector.Euclidean().pairwise(new, X)
    ours, theirs = (m.fit(among, y) for m in both("KNeighborsClassifier", metric="precomputed"))
    np.testing.assert_array_equal(ours.predict(to_them), theirs.predict(to_them))
    np.testing.assert_array_equal(
        ours.predict(to_them), bisector.KNeighborsClassifier().fit(X, y).predict(new)
    )
