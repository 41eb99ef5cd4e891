"""Regression and classification by bumps on all rows."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.base import clone

from bisector import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    RadiusNeighborsClassifier,
    RadiusNeighborsRegressor,
    RBFClassifier,
    RBFRegressor,
)

BUMPS = ["gaussian", "window", "epanechnikov", "exponential", "triangular", "cosine"]


@pytest.fixture(scope="module")
def drawn():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(240, 2))
    return X, np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=240), rng.normal(size=(60, 2))


def labels_of(y):
    return np.digitize(y, [-0.4, 0.4])


# By hand


def test_two_rows_by_hand():
    model = RBFRegressor(width=1.0).fit([[0.0], [2.0]], [0.0, 1.0])
    near, far = np.exp(-0.5 * 0.25), np.exp(-0.5 * 2.25)
    np.testing.assert_allclose(model.predict([[0.5], [1.0]]), [far / (near + far), 0.5])


def test_shares_by_hand():
    model = RBFClassifier(width=1.0, bump="triangular").fit([[0.0], [0.5], [1.0]], ["a", "b", "b"])
    np.testing.assert_allclose(model.predict_proba([[0.25]]), [[0.75 / 1.75, 1.0 / 1.75]])
    assert model.predict([[0.25]]) == ["b"]


def test_the_logistic_link():
    X, y = [[0.0], [1.0]], [0, 1]
    share = RBFClassifier(width=0.7).fit(X, y).predict_proba([[0.3]])[0]
    theta = RBFClassifier(width=0.7, link="logistic").fit(X, y).predict_proba([[0.3]])[0]
    g = share[1] - share[0]
    np.testing.assert_allclose(theta, [1 / (1 + np.exp(g)), 1 / (1 + np.exp(-g))])


# Oracles


def test_a_vanishing_width_is_the_nearest_neighbour(drawn):
    X, y, queries = drawn
    nearest = KNeighborsRegressor(1).fit(X, y).predict(queries)
    np.testing.assert_allclose(RBFRegressor(width=1e-8).fit(X, y).predict(queries), nearest, rtol=1e-12)
    labels = labels_of(y)
    voted = KNeighborsClassifier(1).fit(X, labels).predict(queries)
    np.testing.assert_array_equal(RBFClassifier(width=1e-8).fit(X, labels).predict(queries), voted)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_a_window_is_the_rule_of_all_within_the_radius(metric):
    # On a lattice many rows are exactly at the radius, which counts.
    X = np.array([[i, j] for i in range(12) for j in range(12)]) * 0.3
    y = np.random.default_rng(0).normal(size=144)
    for radius in (0.3, 0.6, 0.9):
        theirs = RadiusNeighborsRegressor(radius, metric=metric).fit(X, y).predict(X)
        ours = RBFRegressor(width=radius, bump="window", metric=metric).fit(X, y).predict(X)
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-14)
    labels = labels_of(y)
    theirs = RadiusNeighborsClassifier(0.6, metric=metric).fit(X, labels).predict_proba(X)
    ours = RBFClassifier(width=0.6, bump="window", metric=metric).fit(X, labels).predict_proba(X)
    np.testing.assert_allclose(ours, theirs, rtol=1e-12)


@pytest.mark.parametrize("bump", BUMPS)
@pytest.mark.parametrize("width", [0.4, "rule", "cv"])
@pytest.mark.filterwarnings("ignore:No bump reaches")
def test_weights_are_repeats(bump, width, drawn):
    X, y, queries = drawn
    counts = np.random.default_rng(0).integers(0, 3, size=len(X))
    widths = [0.3, 0.6, 1.2] if width == "cv" else None
    asked = {"width": width, "bump": bump, "widths": widths}
    with np.errstate(all="raise"):
        weighed = RBFRegressor(**asked).fit(X, y, sample_weight=counts)
        repeated = RBFRegressor(**asked).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    np.testing.assert_allclose(weighed.width_, repeated.width_, rtol=1e-12)
    if width == "cv":
        np.testing.assert_allclose(weighed.errors_, repeated.errors_, rtol=1e-9)
    np.testing.assert_allclose(weighed.predict(queries), repeated.predict(queries), rtol=1e-9, atol=1e-12)


def test_leave_one_out_by_hand(drawn):
    X, y, _ = drawn
    X, y, grid = X[:60], y[:60], [0.2, 0.5, 2.0]
    model = RBFRegressor("cv", widths=grid).fit(X, y)
    rest = [np.delete(np.arange(60), i) for i in range(60)]
    errors = [
        np.mean(
            [(RBFRegressor(r).fit(X[k], y[k]).predict(X[[i]])[0] - y[i]) ** 2 for i, k in enumerate(rest)]
        )
        for r in grid
    ]
    np.testing.assert_allclose(model.errors_, errors, rtol=1e-10)
    assert model.width_ == grid[int(np.argmin(errors))]
    labels = labels_of(y)
    votes = RBFClassifier("cv", widths=grid).fit(X, labels)
    wrong = [
        np.mean(
            [
                RBFClassifier(r).fit(X[k], labels[k]).predict(X[[i]])[0] != labels[i]
                for i, k in enumerate(rest)
            ]
        )
        for r in grid
    ]
    np.testing.assert_allclose(votes.errors_, wrong)


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 30), st.floats(1e-6, 1e6), st.sampled_from(BUMPS), st.integers(0, 1000))
def test_an_average_lies_between_the_targets(n, width, bump, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-3, 4, size=(n, 2)).astype(float), rng.normal(size=n)
    model = RBFRegressor(width, bump=bump).fit(X, y)
    found = model.predict(X)
    assert (found >= y.min() - 1e-12).all()
    assert (found <= y.max() + 1e-12).all()


# Widths


def test_the_rule_is_in_units_of_the_data():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 3)), rng.normal(size=100)
    width = RBFRegressor().fit(X, y).width_
    assert width == pytest.approx(100 ** (-1 / 6) * np.sqrt(X.var(axis=0).mean()))
    assert RBFRegressor().fit(1000 * X, y).width_ == pytest.approx(1000 * width)


def test_the_way_to_a_neighbour():
    model = RBFRegressor("neighbor", n_neighbors=1).fit([[0.0], [1.0], [3.0], [3.0]], [0.0, 1.0, 2.0, 3.0])
    np.testing.assert_array_equal(model.width_, [1.0, 1.0, 1.0, 1.0])


def test_strings():
    words, y = ["cat", "cart", "bat", "window", "widow", "winnow"], [0, 0, 0, 1, 1, 1]
    for width in (1.0, "neighbor"):
        model = RBFClassifier(width, metric="levenshtein", n_neighbors=2).fit(words, y)
        np.testing.assert_array_equal(model.predict(["rat", "willow"]), [0, 1])
    window = RBFClassifier(1.0, metric="levenshtein", bump="window").fit(words, y)
    np.testing.assert_array_equal(window.predict(["cat", "widow"]), [0, 1])
    with pytest.raises(ValueError, match="rows of numbers"):
        RBFClassifier(metric="levenshtein").fit(words, y)


# Edges


def test_outside_the_reach_of_all_bumps():
    X, y = [[0.0], [1.0]], [5.0, 7.0]
    model = RBFRegressor(0.5, bump="window").fit(X, y)
    with pytest.warns(UserWarning, match="No bump reaches 1 of 2 queries"):
        np.testing.assert_array_equal(model.predict([[9.0], [0.1]]), [7.0, 5.0])
    with pytest.warns(UserWarning, match="no answer"):
        assert np.isnan(clone(model).set_params(outside="nan").fit(X, y).predict([[9.0]])[0])


@pytest.mark.parametrize("bump", BUMPS)
def test_one_row_and_equal_rows(bump):
    assert RBFRegressor(1.0, bump=bump).fit([[2.0]], [3.0]).predict([[2.0]])[0] == 3.0
    equal = RBFRegressor(bump=bump).fit(np.ones((4, 2)), [1.0, 2.0, 3.0, 4.0])
    assert equal.predict([[1.0, 1.0]])[0] == pytest.approx(2.5)


def test_single_precision_and_sparse_rows(drawn):
    from scipy.sparse import csr_matrix

    X, y, queries = drawn
    exact = RBFRegressor(0.4).fit(X, y).predict(queries)
    single = (
        RBFRegressor(0.4).fit(X.astype(np.float32), y.astype(np.float32)).predict(queries.astype(np.float32))
    )
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, exact, atol=1e-4)
    sparse = RBFRegressor(0.4).fit(csr_matrix(X), y).predict(csr_matrix(queries))
    np.testing.assert_allclose(sparse, exact, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"width": 0.0}, "above 0"),
        ({"width": -1.0}, "above 0"),
        ({"width": "narrow"}, "one of"),
        ({"bump": "hat"}, "bump"),
        ({"width": "cv", "widths": []}, "empty"),
        ({"width": "cv", "widths": [0.5, -1.0]}, "above 0"),
        ({"width": "cv", "widths": [1e-3], "bump": "window"}, "wider"),
        ({"width": "neighbor", "n_neighbors": 3}, "ask for fewer"),
        ({"outside": "zero"}, "outside"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises((ValueError, TypeError), match=message):
        RBFRegressor(**parameters).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0])
