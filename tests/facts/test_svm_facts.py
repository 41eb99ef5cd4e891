"""Section 7.3: Examples 7.5 and 7.6 exactly, with the corrected signs of t (f(x) = w·x − t)."""

import numpy as np
import pytest

from bisector.datasets import margin_points
from bisector.svm import SVC

EXACT = 1e-8


def fitted(C, fourth=True):
    X, y = margin_points(fourth=fourth)
    return SVC(C=C, kernel="linear").fit(X, y)


def test_example_7_5_three_points():
    model = fitted(np.inf, fourth=False)
    np.testing.assert_allclose(model.alpha_, [0, 1 / 8, 1 / 8], atol=EXACT)
    np.testing.assert_allclose(model.weights_, [0, -1 / 2], atol=EXACT)
    assert model.threshold_ == pytest.approx(0, abs=EXACT)
    assert model.margin_ == pytest.approx(2, abs=EXACT)


def test_example_7_5_the_first_point_is_on_the_margin_without_holding_it():
    model = fitted(np.inf, fourth=False)
    assert model.role_.tolist() == ["on margin"] * 3
    assert model.alpha_[0] == 0
    assert model.support_.tolist() == [1, 2]


def test_example_7_5_a_fourth_point():
    model = fitted(np.inf)
    np.testing.assert_allclose(model.alpha_, [1 / 2, 0, 1 / 10, 2 / 5], atol=EXACT)
    np.testing.assert_allclose(model.weights_, [3 / 5, -4 / 5], atol=EXACT)
    assert model.threshold_ == pytest.approx(0, abs=EXACT)
    assert model.margin_ == pytest.approx(1, abs=EXACT)


def test_example_7_6_a_soft_margin():
    model = fitted(5 / 16)
    np.testing.assert_allclose(model.alpha_, [5 / 16, 0, 1 / 16, 1 / 4], atol=EXACT)
    np.testing.assert_allclose(model.weights_, [3 / 8, -1 / 2], atol=EXACT)
    assert model.threshold_ == pytest.approx(-3 / 8, abs=EXACT)
    assert model.margin_ == pytest.approx(1.6, abs=EXACT)
    np.testing.assert_allclose(model.slack_, [3 / 4, 0, 0, 0], atol=EXACT)
    assert model.role_.tolist() == ["inside", "on margin", "on margin", "on margin"]


def test_example_7_6_all_points_are_support_vectors():
    model = fitted(1 / 10)
    np.testing.assert_allclose(model.alpha_, np.full(4, 1 / 10), atol=EXACT)
    np.testing.assert_allclose(model.weights_, [1 / 5, -1 / 2], atol=EXACT)
    assert model.margin_ == pytest.approx(1 / np.hypot(1 / 5, 1 / 2), abs=EXACT)
    assert model.margin_ == pytest.approx(1.857, abs=5e-4)
    assert model.threshold_ == pytest.approx(-1 / 5, abs=EXACT)
    np.testing.assert_allclose(model.slack_[[0, 3]], [2 / 5, 7 / 10], atol=EXACT)


@pytest.mark.parametrize("C", [0.09, 0.05, 0.001])
def test_below_w_shrinks_with_C_towards_the_basic_linear_classifier(C):
    X, y = margin_points()
    model = fitted(C)
    np.testing.assert_allclose(model.alpha_, np.full(4, C), atol=EXACT)
    np.testing.assert_allclose(model.weights_, C * (y @ X), atol=EXACT)
    between_means = X[y > 0].mean(axis=0) - X[y < 0].mean(axis=0)
    assert np.cross([*model.weights_, 0], [*between_means, 0])[2] == pytest.approx(0, abs=EXACT)


def test_a_threshold_that_is_not_unique_is_the_middle():
    assert fitted(0.05).threshold_ == pytest.approx((-0.6 + 0.4) / 2, abs=EXACT)


@pytest.mark.parametrize("C", [0.2, 0.25, 0.3])
def test_w_does_not_move_between_the_knots_3_16_and_5_16(C):
    np.testing.assert_allclose(fitted(C).weights_, [3 / 8, -1 / 2], atol=EXACT)


def test_all_alpha_equal_C_needs_balanced_classes():
    X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]])
    alpha = SVC(C=1e-3, kernel="linear").fit(X, [0, 0, 0, 0, 1, 1]).alpha_
    assert (alpha == 0).any()
    assert alpha[:4].sum() == pytest.approx(alpha[4:].sum())


def test_roles_follow_from_alpha_as_far_as_it_decides():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 2))
    y = (X[:, 0] + 0.7 * rng.normal(size=80) > 0).astype(int)
    model = SVC(C=0.5).fit(X, y)
    alpha, role = model.alpha_, model.role_
    assert set(role[alpha == 0]) <= {"outside", "on margin"}
    assert set(role[(alpha > 0) & (alpha < 0.5)]) == {"on margin"}
    assert set(role[alpha == 0.5]) <= {"on margin", "inside", "misclassified"}
