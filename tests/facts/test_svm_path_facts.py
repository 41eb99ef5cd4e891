"""Examples 7.5 and 7.6 of the sources, from the path and from the linear machine; f(x) = w·x − t."""

import numpy as np
import pytest

from bisector import LinearSVC, svm_path

X = np.array([[1.0, 2.0], [-1.0, 2.0], [-1.0, -2.0], [3.0, 1.0]])
Y = np.array([-1, -1, 1, 1])
EXACT = {"rtol": 0, "atol": 1e-12}

# C, α, w, t, margin
SOLUTIONS = [
    (0.5, [1 / 2, 0, 1 / 10, 2 / 5], [3 / 5, -4 / 5], 0.0, 1.0),
    (7.0, [1 / 2, 0, 1 / 10, 2 / 5], [3 / 5, -4 / 5], 0.0, 1.0),
    (5 / 16, [5 / 16, 0, 1 / 16, 1 / 4], [3 / 8, -1 / 2], -3 / 8, 1.6),
    (1 / 10, [1 / 10] * 4, [1 / 5, -1 / 2], -1 / 5, 1 / np.hypot(1 / 5, 1 / 2)),
]


@pytest.fixture(scope="module")
def path():
    return svm_path(X, Y)


def test_the_knots(path):
    np.testing.assert_allclose(path.knots, [1 / 2, 5 / 16, 3 / 16, 1 / 10], **EXACT)
    assert path.violation < 1e-12
    assert path.largest_C == np.inf


@pytest.mark.parametrize(("C", "alpha", "w", "t", "margin"), SOLUTIONS)
def test_solutions_by_the_path(path, C, alpha, w, t, margin):
    found = path.at(C)
    np.testing.assert_allclose(found.alpha, alpha, **EXACT)
    np.testing.assert_allclose(found.weights, w, **EXACT)
    assert found.threshold == pytest.approx(t, abs=1e-12)
    assert found.margin == pytest.approx(margin, abs=1e-12)


@pytest.mark.parametrize(("C", "alpha", "w", "t", "margin"), SOLUTIONS)
def test_solutions_by_the_linear_machine(C, alpha, w, t, margin):
    found = LinearSVC(loss="hinge", C=C).fit(X, Y)
    # A relative gap of 1e-13 leaves w within the root of twice its cost, √(2·10⁻¹³·0.5).
    close = {"rtol": 0, "atol": 4e-7}
    np.testing.assert_allclose(found.alpha_, alpha, **close)
    np.testing.assert_allclose(found.weights_, w, **close)
    assert found.threshold_ == pytest.approx(t, abs=1e-6)
    assert found.margin_ == pytest.approx(margin, abs=1e-6)


def test_slacks(path):
    np.testing.assert_allclose(path.at(5 / 16).slack, [3 / 4, 0, 0, 0], **EXACT)
    np.testing.assert_allclose(path.at(1 / 10).slack, [2 / 5, 0, 0, 7 / 10], **EXACT)


def test_the_normal_stands_still_between_two_knots(path):
    for C in np.linspace(3 / 16, 5 / 16, 9):
        np.testing.assert_allclose(path.at(C).weights, [3 / 8, -1 / 2], **EXACT)


def test_it_rotates_below_and_then_keeps_its_direction(path):
    direction = path.at(0.15).weights / np.linalg.norm(path.at(0.15).weights)
    assert abs(direction @ [3 / 8, -1 / 2]) < 0.6249  # |(3/8, −1/2)| = 0.625
    for C in (0.01, 0.05, 0.1):
        np.testing.assert_allclose(path.at(C).weights, C * Y @ X, **EXACT)
        np.testing.assert_allclose(path.at(C).alpha, C, **EXACT)


def test_the_threshold_is_the_middle_where_it_is_not_unique(path):
    assert path.at(0.05).threshold == pytest.approx((-0.6 + 0.4) / 2, abs=1e-12)


def test_three_points():
    path = svm_path(X[:3], Y[:3])
    found = path.at(1.0)
    np.testing.assert_allclose(found.alpha, [0, 1 / 8, 1 / 8], **EXACT)
    np.testing.assert_allclose(found.weights, [0, -1 / 2], **EXACT)
    assert (found.threshold, found.margin) == (pytest.approx(0, abs=1e-12), pytest.approx(2))
    assert found.roles.tolist() == ["on margin"] * 3


def test_with_four_against_two_not_all_of_the_larger_class_are_needed():
    rows = np.array([[0.0], [1.0], [2.0], [3.0], [6.0], [7.0]])
    found = svm_path(rows, [0, 0, 0, 0, 1, 1]).at(1e-3)
    np.testing.assert_allclose(found.alpha, [0, 0, 1e-3, 1e-3, 1e-3, 1e-3], rtol=1e-9, atol=1e-15)
