"""The sources' small data sets, and what their books compute on them by hand."""

import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage

from bisector import datasets

# Examples 7.5 and 7.6: support vector machines, f(x) = w·x − t


def test_the_points_of_examples_7_5_and_7_6():
    data = datasets.margin_points()
    assert data.X.tolist() == [[1, 2], [-1, 2], [-1, -2], [3, 1]]
    assert data.y.tolist() == [-1, -1, 1, 1]


def test_gram_matrix_of_example_7_5():
    X, _ = datasets.margin_points(fourth=False)
    assert (X @ X.T).tolist() == [[5, 3, -5], [3, 5, -3], [-5, -3, 5]]


@pytest.mark.parametrize(
    ("n", "alpha", "w", "t", "C", "margin"),
    [
        (3, [0, 1 / 8, 1 / 8], [0, -1 / 2], 0, np.inf, 2),
        (4, [1 / 2, 0, 1 / 10, 2 / 5], [3 / 5, -4 / 5], 0, np.inf, 1),
        (4, [5 / 16, 0, 1 / 16, 1 / 4], [3 / 8, -1 / 2], -3 / 8, 5 / 16, 1.6),
        (4, [1 / 10] * 4, [1 / 5, -1 / 2], -1 / 5, 1 / 10, 1.857),
    ],
)
def test_the_printed_machines_are_optimal(n, alpha, w, t, C, margin):
    """The Kuhn–Tucker conditions, which are sufficient: the problem is convex."""
    X, y = datasets.margin_points(fourth=n == 4)
    alpha = np.array(alpha)
    np.testing.assert_allclose((alpha * y) @ X, w, atol=1e-15)
    assert alpha @ y == pytest.approx(0, abs=1e-15)
    assert 1 / np.linalg.norm(w) == pytest.approx(margin, abs=5e-4)  # as the book rounds
    slack = 1 - y * (X @ w - t)
    rounding = 1e-12
    assert (slack[alpha == 0] <= rounding).all()
    assert (slack[alpha == C] >= -rounding).all()
    np.testing.assert_allclose(slack[(alpha > 0) & (alpha < C)], 0, atol=rounding)


# Examples 8.3 and 8.5: scatter


def scatter(X):
    return ((X - X.mean(axis=0)) ** 2).sum()


def test_example_8_3():
    X, y = datasets.scatter_points()
    assert y is None
    assert X.tolist() == [[0, 3], [3, 3], [3, 0], [-2, -4], [-4, -2]]
    assert X.mean(axis=0).tolist() == [0, 0]
    assert (X.T @ X).tolist() == [[38, 25], [25, 38]]
    assert scatter(X) == 76


@pytest.mark.parametrize(("cut", "within", "between"), [(2, [4.5, 34], 37.5), (3, [12, 4], 60)])
def test_the_two_ways_to_split_example_8_3(cut, within, between):
    X, _ = datasets.scatter_points()
    parts = X[:cut], X[cut:]
    np.testing.assert_allclose([scatter(part) for part in parts], within, rtol=1e-14)
    assert sum(len(part) * (part.mean(axis=0) ** 2).sum() for part in parts) == pytest.approx(
        between, rel=1e-14
    )
    assert sum(within) + between == 76


def test_example_8_5():
    X, y = datasets.five_numbers()
    assert y is None
    assert X[:, 0].tolist() == [8, 44, 50, 58, 84]
    found = [scatter(X[:k]) + scatter(X[k:]) for k in range(1, 5)]
    np.testing.assert_allclose(found, [932, 1280, 1370, 1464], rtol=1e-14)


@pytest.mark.parametrize("cut", range(1, 5))
def test_each_split_of_example_8_5_is_stationary(cut):
    x = datasets.five_numbers().X[:, 0]
    means = np.array([x[:cut].mean(), x[cut:].mean()])
    nearest = np.abs(x[:, None] - means).argmin(axis=1)
    assert nearest.tolist() == [0] * cut + [1] * (5 - cut)


# Figures 8.16 and 8.17: linkage


@pytest.mark.parametrize(
    ("method", "levels"),
    [
        ("complete", [1, 1, 1, 1, 2**0.5, 5**0.5, 10**0.5]),
        ("centroid", [1, 1, 1, 1, 1, 1.5, 2]),
        ("single", [1] * 7),
    ],
)
def test_levels_of_figure_8_16(method, levels):
    X, _ = datasets.grid(irregularity=1e-9)
    np.testing.assert_allclose(linkage(X, method)[:, 2], levels, atol=1e-8)  # the irregularity, a few times


def test_levels_of_single_linkage_on_the_exact_grid():
    assert linkage(datasets.grid().X, "single")[:, 2].tolist() == [1] * 7


def test_figure_8_17():
    first, second = linkage(datasets.triangle().X, "centroid")[:, 2]
    assert second < first


# Problems 6.1 and 6.2


def test_problem_6_1():
    X, y = datasets.seven_points()
    assert X[y < 0].tolist() == [[1, 0], [0, 1], [0, -1], [-1, 0]]
    assert X[y > 0].tolist() == [[0, 2], [0, -2], [-2, 0]]


def test_class_means_of_problem_6_2_make_three_errors():
    X, y = datasets.seven_points()
    means = np.array([X[y < 0].mean(axis=0), X[y > 0].mean(axis=0)])
    np.testing.assert_allclose(means, [[0, 0], [-2 / 3, 0]], atol=1e-15)
    nearest = ((X[:, None] - means) ** 2).sum(axis=2).argmin(axis=1)
    assert (np.array([-1, 1])[nearest] != y).sum() == 3


# Problem 3.1 and Problem 6.13: what the simulators are asked for by default


def test_defaults_of_the_simulators():
    semicircle = datasets.double_semicircle()
    assert semicircle == datasets.double_semicircle(2000, radius=10, thickness=5, separation=5)
    assert datasets.four_gaussians() == datasets.four_gaussians(1000, deviation=0.15)
    assert datasets.random_mixture() == datasets.random_mixture(10_000, centres=10, deviation=0.1)
    assert len(datasets.uniform_square().X) == len(datasets.noisy_curve().X) == 20
