"""Networks of radial basis functions."""

import numpy as np
import pytest
from sklearn.base import clone

from bisector import RBFNetworkClassifier, RBFNetworkRegressor, RBFRegressor
from bisector.rbf.widths import diameter

CENTRES = ["kmeans", "farthest", "groups", "mixture", "all"]


@pytest.fixture(scope="module")
def drawn():
    rng = np.random.default_rng(2)
    X = rng.uniform(-1, 1, size=(150, 2))
    return X, np.sin(3 * X[:, 0]) * X[:, 1] + 0.05 * rng.normal(size=150)


def three_classes(y):
    return np.array(["low", "mid", "top"])[np.digitize(y, [-0.15, 0.15])]


# By hand


def test_two_bumps_by_hand():
    # φ is 1 at its own centre and 0 at the other's: the weights are the targets less w₀.
    model = RBFNetworkRegressor(centers=[[0.0], [5.0]], width=1.0, bump="window", alpha=0.0)
    model.fit([[0.0], [5.0], [9.0]], [2.0, 3.0, 1.0])
    np.testing.assert_allclose(model.coef_, [1.0, 2.0])
    assert model.intercept_ == pytest.approx(1.0)
    np.testing.assert_allclose(model.predict([[0.5], [100.0]]), [2.0, 1.0])


def test_the_automatic_width_is_the_diameter_over_the_root_of_the_number():
    X = np.array([[0.0, 0.0], [3.0, 4.0], [1.0, 1.0], [2.0, 0.0], [0.0, 2.0]])
    model = RBFNetworkRegressor(4, centers="farthest").fit(X, np.arange(5.0))
    assert model.width_ == pytest.approx(5.0 / 4 ** (1 / 2))


def test_the_diameter_of_many_rows_is_no_less_than_its_bound():
    from bisector.distances import Euclidean

    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 3))
    truth = Euclidean().pairwise(X).max()
    found = diameter(Euclidean(), Euclidean().prepare(X))
    assert truth / np.sqrt(3) <= found <= truth


def test_own_widths_reach_the_nearest_other_centre():
    X = [[0.0], [1.0], [5.0]]
    model = RBFNetworkRegressor(centers="all", width="own").fit(X, [0.0, 1.0, 2.0])
    np.testing.assert_array_equal(model.width_, [1.0, 1.0, 4.0])


# Fits


@pytest.mark.parametrize("centers", CENTRES)
@pytest.mark.parametrize("penalty", ["weights", "curvature"])
def test_every_way_to_place_centres_learns_the_function(centers, penalty, drawn):
    X, y = drawn
    model = RBFNetworkRegressor(25, centers=centers, width=0.6, penalty=penalty, random_state=0).fit(X, y)
    assert model.score(X, y) > (0.5 if centers == "groups" else 0.95)
    assert model.gap_ < 1e-6
    assert (model.intercept_ == 0) == (centers == "all")


def test_full_covariances_fit_what_round_bumps_cannot():
    # The target is made of bumps that are sixteen times as long as wide (Equation 6.6).
    rng = np.random.default_rng(0)
    centre = rng.integers(0, 4, size=600)
    X = np.column_stack([centre * 20.0 + 0.3 * rng.normal(size=600), 5 * rng.normal(size=600)])
    away = (X - np.column_stack([20.0 * centre, 0.0 * centre])) / [0.3, 5.0]
    y = np.where(centre % 2, 1.0, -1.0) * np.exp(-0.5 * np.square(away).sum(axis=1))
    round_ones = RBFNetworkRegressor(4, centers="mixture", random_state=0).fit(X, y)
    own = RBFNetworkRegressor(4, centers="mixture", width="own", random_state=0).fit(X, y)
    assert own.precision_roots_.shape == (4, 2, 2)
    assert own.score(X, y) > 0.97
    assert round_ones.score(X, y) < 0.8


def test_weights_are_repeats(drawn):
    X, y = drawn
    counts = np.random.default_rng(0).integers(0, 3, size=150)
    many = np.repeat(X, counts, axis=0), np.repeat(y, counts)
    for parameters in (
        {"centers": "groups"},
        {"centers": "all", "penalty": "curvature", "width": 0.5},
        {"centers": "all", "width": 0.1, "alpha": 0.5},
        {"centers": X[:12], "penalty": "curvature"},
    ):
        weighed = RBFNetworkRegressor(12, **parameters).fit(X, y, sample_weight=counts)
        repeated = RBFNetworkRegressor(12, **parameters).fit(*many)
        assert weighed.alpha_ == pytest.approx(repeated.alpha_, rel=1e-9)
        np.testing.assert_allclose(weighed.predict(X), repeated.predict(X), rtol=1e-6, atol=1e-8)


def test_centres_that_are_rows_are_told_by_their_numbers(drawn):
    X, y = drawn
    weights = np.ones(150)
    weights[:40] = 0.0
    for centers in ("farthest", "all"):
        model = RBFNetworkRegressor(5, centers=centers).fit(X, y, sample_weight=weights)
        np.testing.assert_array_equal(model.centers_, X[model.center_indices_])
        assert (model.center_indices_ >= 40).all()


def test_several_outputs_are_several_fits(drawn):
    X, y = drawn
    both = RBFNetworkRegressor(centers=X[:10], alpha=0.1).fit(X, np.column_stack([y, y**2]))
    alone = [RBFNetworkRegressor(centers=X[:10], alpha=0.1).fit(X, t) for t in (y, y**2)]
    expected = np.column_stack([model.predict(X) for model in alone])
    np.testing.assert_allclose(both.predict(X), expected, rtol=1e-9, atol=1e-11)


def test_cross_validation_of_the_number_and_the_strength(drawn):
    X, y = drawn
    model = RBFNetworkRegressor([2, 30], alpha="cv", width=0.5, random_state=0).fit(X, y)
    assert model.n_centers_ == 30
    assert model.cv_errors_.shape == (2, len(model.cv_alphas_))
    i, j = np.unravel_index(model.cv_errors_.argmin(), model.cv_errors_.shape)
    assert (model.cv_n_centers_[i], model.cv_alphas_[j]) == (30, model.alpha_)
    chosen = RBFNetworkRegressor("cv", random_state=0).fit(X, y)
    assert chosen.n_centers_ in chosen.cv_n_centers_
    assert chosen.cv_errors_.min() < y.var() / 4


def test_same_bits_on_any_number_of_threads(drawn):
    X, y = drawn
    one, two = (RBFNetworkRegressor(20, random_state=0, n_jobs=n).fit(X, y).predict(X) for n in (1, 2))
    np.testing.assert_array_equal(one, two)


# Classes


@pytest.mark.parametrize("output", ["linear", "logistic"])
@pytest.mark.parametrize("penalty", ["weights", "curvature"])
def test_classes(output, penalty, drawn):
    X, y = drawn
    labels = three_classes(y)
    asked = {"centers": "farthest", "output": output, "penalty": penalty, "alpha": 1e-4, "width": 0.6}
    model = RBFNetworkClassifier(25, **asked).fit(X, labels)
    assert model.score(X, labels) > 0.85
    assert model.decision_function(X).shape == (150, 3)
    two = RBFNetworkClassifier(25, **asked).fit(X, labels == "top")
    assert two.decision_function(X).shape == (150,)
    assert two.score(X, labels == "top") > 0.9
    if output == "logistic":
        shares = model.predict_proba(X)
        np.testing.assert_allclose(shares.sum(axis=1), 1)
        np.testing.assert_array_equal(model.classes_[shares.argmax(axis=1)], model.predict(X))
        s = two.decision_function(X)
        np.testing.assert_allclose(two.predict_proba(X)[:, 1], 1 / (1 + np.exp(-s)))
    else:
        assert not hasattr(model, "predict_proba")


def test_logistic_weights_have_no_gradient(drawn):
    X, y = drawn
    model = RBFNetworkClassifier(centers=X[:6], width=0.5, output="logistic", alpha=0.3).fit(X, y > 0)
    Z = np.exp(-0.5 * np.square(X[:, None] - X[:6]).sum(axis=2) / 0.25)
    left = model.predict_proba(X)[:, 1] - (y > 0)
    np.testing.assert_allclose(Z.T @ left + 0.3 * model.coef_, 0, atol=1e-4)
    assert abs(left.sum()) < 1e-4


def test_the_strength_of_a_logistic_fit_is_cross_validated(drawn):
    X, y = drawn
    model = RBFNetworkClassifier(8, centers="farthest", output="logistic", random_state=0).fit(X, y > 0)
    assert model.alpha_ == model.cv_alphas_[model.cv_errors_[0].argmin()]


def test_strings():
    words = ["cat", "cart", "bat", "rat", "window", "widow", "winnow", "minnow"]
    for centers in ("farthest", "all"):
        model = RBFNetworkClassifier(2, centers=centers, width=2.0, metric="levenshtein")
        model.fit(words, [0] * 4 + [1] * 4)
        np.testing.assert_array_equal(model.predict(["hat", "willow"]), [0, 1])
    given = RBFNetworkClassifier(centers=["cat", "window"], width="own", metric="levenshtein")
    np.testing.assert_array_equal(given.fit(words, [0] * 4 + [1] * 4).predict(["hat", "willow"]), [0, 1])


# Edges


def test_interpolation_that_floating_point_cannot_is_said():
    X = np.linspace(0, 1, 40)[:, None]
    with pytest.warns(UserWarning, match="so wide"):
        RBFNetworkRegressor(centers="all", width=5.0, alpha=0).fit(X, np.sign(np.sin(40 * X[:, 0])))


def test_single_precision_and_sparse_rows(drawn):
    from scipy.sparse import csr_matrix

    X, y = drawn
    model = RBFNetworkRegressor(centers=X[:9], alpha=0.1)
    exact = model.fit(X, y).predict(X)
    single = clone(model).fit(X.astype(np.float32), y.astype(np.float32)).predict(X.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, exact, atol=1e-3)
    sparse = RBFNetworkRegressor(9, centers="farthest", alpha=0.1)
    dense = clone(sparse).fit(X, y).predict(X)
    np.testing.assert_allclose(
        sparse.fit(csr_matrix(X), y).predict(csr_matrix(X)), dense, rtol=1e-7, atol=1e-9
    )


def test_one_row_and_equal_rows():
    assert RBFNetworkRegressor(1, alpha=1.0).fit([[1.0]], [4.0]).predict([[1.0]])[0] == pytest.approx(4.0)
    flat = RBFNetworkRegressor(1).fit(np.ones((5, 2)), np.arange(5.0))
    assert flat.predict([[1.0, 1.0]])[0] == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"width": 0.0}, "above 0"),
        ({"width": -2}, "above 0"),
        ({"width": "wide"}, "width"),
        ({"n_centers": 0}, "n_centers"),
        ({"n_centers": 11}, "n_centers is 11"),
        ({"n_centers": []}, "empty"),
        ({"centers": "random"}, "centers"),
        ({"centers": [[0.0, 1.0]]}, "centers has 2"),
        ({"alpha": -1.0}, "alpha"),
        ({"alpha": "best"}, "alpha"),
        ({"penalty": "l1"}, "penalty"),
        ({"penalty": "curvature", "alpha": 0}, "no penalty"),
        ({"penalty": "curvature", "bump": "window", "width": 3.0, "centers": "all"}, "Green's function"),
        ({"penalty": "curvature", "width": "own", "n_centers": 3}, "one shape"),
        ({"centers": "mixture", "width": "own", "bump": "window", "n_centers": 2}, "Gaussian"),
        ({"metric": "precomputed"}, "precomputed"),
    ],
)
def test_bad_parameters(parameters, message):
    X = np.arange(10.0)[:, None]
    with pytest.raises((ValueError, TypeError), match=message):
        RBFNetworkRegressor(**{"n_centers": 3, **parameters}).fit(
            X if "metric" not in parameters else X - X.T, X[:, 0]
        )


def test_a_network_forgets_the_rows_and_bumps_on_rows_do_not(drawn):
    X, y = drawn
    assert RBFNetworkRegressor(5, random_state=0).fit(X, y).centers_.shape == (5, 2)
    assert RBFRegressor().fit(X, y).predict(X).shape == (150,)
