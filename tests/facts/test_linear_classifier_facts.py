"""Sections 7.1, 7.2 and 7.5: what the book says of linear classifiers, on data small enough to follow."""

import numpy as np
import pytest

from bisector import BasicLinearClassifier, LeastSquaresClassifier, Polynomial, datasets, linear_separability


def unit(v):
    return np.ravel(v) / np.linalg.norm(v)


@pytest.fixture
def line():
    """One feature, 10 negatives and 20 positives (Example 7.4)."""
    X, y = datasets.overlapping_classes()
    return X, y


@pytest.fixture
def plane():
    """Two features, correlated, and classes of 30 and 12."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(42, 2)) @ [[2.0, 1.5], [0.0, 0.5]] + [4.0, -1.0]
    y = np.repeat([-1, 1], [30, 12])
    X[y > 0] += [0.5, 1.5]
    return X, y


# The least-squares classifier


@pytest.mark.parametrize("covariance", ["full", "diagonal", "identity"])
def test_univariate_slope_and_boundary(line, covariance):
    """Equation 7.6: b = 2·pos·neg·(μ⊕ − μ⊖)/σ_xx, and the boundary x̄ − (pos − neg)/b."""
    X, y = line
    x, pos, neg = X[:, 0], 20 / 30, 10 / 30
    slope = 2 * pos * neg * (x[y > 0].mean() - x[y < 0].mean()) / x.var()
    model = LeastSquaresClassifier(covariance=covariance).fit(X, y)
    assert model.weights_[0] == pytest.approx(slope, rel=1e-12)
    boundary = x.mean() - (pos - neg) / slope
    assert model.threshold_ / model.weights_[0] == pytest.approx(boundary, rel=1e-12)


def test_example_7_4_three_mistakes_and_no_threshold_makes_fewer(line):
    X, y = line
    wrong = (LeastSquaresClassifier().fit(X, y).predict(X) != y).sum()
    best = (LeastSquaresClassifier(threshold="training-error").fit(X, y).predict(X) != y).sum()
    assert wrong == best == 3


def test_with_equal_class_sizes_the_boundary_is_at_the_mean():
    X, y = datasets.overlapping_classes(15, 15)
    model = LeastSquaresClassifier().fit(X, y)
    assert model.threshold_ / model.weights_[0] == pytest.approx(X.mean(), rel=1e-12)


def test_equation_7_7(plane):
    """w = (XᵀX)⁻¹(Pos·μ⊕ − Neg·μ⊖) for zero-centred features."""
    X, y = plane
    centred = X - X.mean(axis=0)
    means = [centred[y == sign].mean(axis=0) for sign in (1, -1)]
    w = np.linalg.solve(centred.T @ centred, 12 * means[0] - 30 * means[1])
    np.testing.assert_allclose(LeastSquaresClassifier().fit(X, y).weights_, w, rtol=1e-11)


@pytest.mark.parametrize("threshold", ["intercept", "midpoint"])
def test_identity_and_equal_sizes_are_the_basic_linear_classifier(plane, threshold):
    X, y = plane
    rows = np.r_[:12, 30:42]  # twelve of each class
    least = LeastSquaresClassifier(covariance="identity", threshold=threshold).fit(X[rows], y[rows])
    basic = BasicLinearClassifier().fit(X[rows], y[rows])
    np.testing.assert_allclose(least.signed_distance(X), basic.signed_distance(X), atol=1e-12)


def test_centred_identity_is_parallel_to_the_difference_of_means_for_any_sizes(plane):
    X, y = plane
    difference = X[y > 0].mean(axis=0) - X[y < 0].mean(axis=0)
    for class_weight in (None, "balanced", {-1: 7.0}):
        model = LeastSquaresClassifier(covariance="identity", class_weight=class_weight).fit(X, y)
        np.testing.assert_allclose(unit(model.weights_), unit(difference), atol=1e-12)


def test_uncentred_identity_depends_on_the_origin(plane):
    X, y = plane
    uncentred = LeastSquaresClassifier(covariance="identity", centred=False)
    here = unit(uncentred.fit(X, y).weights_)
    there = unit(uncentred.fit(X + [10.0, -30.0], y).weights_)
    assert abs(here @ there) < 0.99
    centred = LeastSquaresClassifier(covariance="identity")
    np.testing.assert_allclose(
        centred.fit(X, y).weights_, centred.fit(X + [10.0, -30.0], y).weights_, rtol=1e-11
    )


def test_the_threshold_is_a_choice_of_its_own(plane):
    X, y = plane
    models = [
        LeastSquaresClassifier(threshold=t).fit(X, y) for t in ("midpoint", "intercept", "training-error")
    ]
    for model in models[1:]:
        np.testing.assert_allclose(unit(model.weights_), unit(models[0].weights_), atol=1e-12)
    # The larger class is the negative one: the intercept gives it more room than the midpoint does.
    assert models[1].threshold_ > models[0].threshold_


# The basic linear classifier


def test_its_boundary_is_the_perpendicular_bisector_of_the_means(plane):
    X, y = plane
    model = BasicLinearClassifier().fit(X, y)
    negative, positive = model.means_
    np.testing.assert_allclose(model.weights_, positive - negative, rtol=1e-12)
    assert model.threshold_ == pytest.approx((positive @ positive - negative @ negative) / 2, rel=1e-12)
    assert model.decision_function([(positive + negative) / 2])[0] == pytest.approx(0, abs=1e-12)


def test_nearest_mean_is_the_same_rule(plane):
    from bisector import NearestExemplarClassifier

    X, y = plane
    queries = np.random.default_rng(0).normal(size=(200, 2)) * 4
    np.testing.assert_array_equal(
        BasicLinearClassifier().fit(X, y).predict(queries),
        NearestExemplarClassifier().fit(X, y).predict(queries),
    )


def test_weights_are_combinations_of_rows(plane):
    """Equation 7.10: α = 1/Pos and 1/Neg."""
    X, y = plane
    dual = BasicLinearClassifier(kernel="linear").fit(X, y)
    np.testing.assert_allclose(dual.dual_coef_[0], np.where(y > 0, 1 / 12, -1 / 30), rtol=1e-13)
    np.testing.assert_allclose(dual.dual_coef_[0] @ X, BasicLinearClassifier().fit(X, y).weights_, rtol=1e-12)


def test_problem_6_2_means_of_the_seven_points():
    X, y = datasets.seven_points()
    model = BasicLinearClassifier().fit(X, y)
    np.testing.assert_allclose(model.means_, [[0, 0], [-2 / 3, 0]], atol=1e-15)
    assert (model.predict(X) != y).sum() == 3


# Separability


def test_means_can_miss_a_plane_that_separates():
    """Section 7.2: move all positives but one away, and the bisector passes the one that stays."""
    y = np.repeat([-1, 1], [5, 5])
    x = np.array([-3.0, -2.5, -2.0, -1.5, -1.0, 1.0, 1.5, 2.0, 2.5, 3.0])
    assert (BasicLinearClassifier().fit(x[:, None], y).predict(x[:, None]) == y).all()
    x[6:] += 20
    moved = BasicLinearClassifier().fit(x[:, None], y)
    assert (moved.predict(x[:, None]) != y).tolist() == [False] * 5 + [True] + [False] * 4
    assert (LeastSquaresClassifier().fit(x[:, None], y).predict(x[:, None]) != y).sum() == 1
    assert moved.separability(x[:, None], y)


def test_example_7_8_squares_make_the_disc_separable():
    X, y = datasets.disc_and_ring()
    assert not linear_separability(X, y)
    assert linear_separability(X**2, y)


def test_quadratic_kernel_is_the_basic_linear_classifier_on_quadratic_features():
    """(x·z)² is the dot product in (x1², x2², √2·x1·x2)."""
    X, y = datasets.disc_and_ring()
    features = np.column_stack([X**2, np.sqrt(2) * X[:, 0] * X[:, 1]])
    kernel = BasicLinearClassifier(kernel=Polynomial(2)).fit(X, y)
    np.testing.assert_allclose(
        kernel.decision_function(X),
        BasicLinearClassifier().fit(features, y).decision_function(features),
        atol=1e-11,
    )
