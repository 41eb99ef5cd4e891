"""Chapter 7, margins and boundaries: which lines part the classes, and how well."""

import numpy as np
import pytest

from bisector import LinearRegression, datasets

# Overlapping classes


def test_three_mistakes_and_no_threshold_makes_fewer():
    """Figure 7.4."""
    X, y = datasets.overlapping_classes()
    assert [(y < 0).sum(), (y > 0).sum()] == [10, 20]
    wrong = LinearRegression().fit(X, y).predict(X) * y < 0
    in_order = y[X[:, 0].argsort()]
    mistakes = [(in_order[:k] > 0).sum() + (in_order[k:] < 0).sum() for k in range(31)]
    assert wrong.sum() == min(mistakes) == 3


def test_the_classes_are_normal_and_as_far_apart_as_asked():
    X, y = datasets.overlapping_classes(5000, 20_000, separation=3.0)
    for sign, n, mean in [(-1, 5000, 0), (1, 20_000, 3)]:
        x = X[y == sign, 0]
        assert len(x) == n
        assert x.mean() == pytest.approx(mean, abs=4 / np.sqrt(n))
        assert x.std() == pytest.approx(1, rel=4 / np.sqrt(2 * n))


# Margins


def test_three_points_or_four():
    three, four = datasets.margin_points(fourth=False), datasets.margin_points()
    np.testing.assert_array_equal(three.X, four.X[:3])
    np.testing.assert_array_equal(three.y, four.y[:3])
    assert three.X.base is None
    assert (len(three.X), len(four.X)) == (3, 4)


# Normal classes


def test_the_means_lie_on_the_diagonal():
    n = 40_000
    X, y = datasets.gaussian_classes(n, separation=3.0, deviations=(0.5, 2.0))
    middle = 3 / 2 / np.sqrt(2)
    for sign in (-1, 1):
        rows = X[y == sign]
        assert len(rows) == n / 2
        error = np.array([0.5, 2.0]) / np.sqrt(n / 2)
        assert (np.abs(rows.mean(axis=0) - sign * middle) < 4 * error).all()
        np.testing.assert_allclose(rows.std(axis=0), [0.5, 2.0], rtol=4 / np.sqrt(n))
        assert abs(np.corrcoef(rows.T)[0, 1]) < 4 / np.sqrt(n / 2)


def test_the_logistic_function_of_the_distance_is_the_probability():
    """Example 7.7: with γ = ‖μ⊕ − μ⊖‖/σ² and d₀ = 0, rows of about equal p are positive in that share."""
    X, y = datasets.gaussian_classes(100_000, separation=2.0)
    distance = X @ [np.sqrt(0.5), np.sqrt(0.5)]
    p = 1 / (1 + np.exp(-2.0 * distance))
    for low in np.arange(0, 1, 0.1):
        within = (p >= low) & (p < low + 0.1)
        error = 0.5 / np.sqrt(within.sum())  # a share's largest standard error
        assert (y[within] > 0).mean() == pytest.approx(p[within].mean(), abs=4 * error)


@pytest.mark.parametrize(
    ("n", "share", "positives"), [(1000, 0.1, 100), (100, 0.29, 29), (3, 0.01, 1), (3, 0.99, 2), (2, 0.5, 1)]
)
def test_the_share_of_positives(n, share, positives):
    _, y = datasets.gaussian_classes(n, positive=share)
    assert len(y) == n
    assert (y > 0).sum() == positives


# A disc in a ring


@pytest.mark.parametrize("shape", [{}, {"radius": 3.0, "gap": 0.1, "thickness": 0.2}])
def test_each_class_keeps_to_its_place(shape):
    X, y = datasets.disc_and_ring(2001, **shape)
    size = {"radius": 1.0, "gap": 0.5, "thickness": 1.0, **shape}
    distance = np.hypot(*X.T)
    rounding = 1e-12
    assert (y > 0).sum() == 1000
    assert distance[y > 0].max() <= size["radius"] + rounding
    assert distance[y < 0].min() >= size["radius"] + size["gap"] - rounding
    assert distance[y < 0].max() <= sum(size.values()) + rounding


def test_it_is_spread_evenly_over_its_area():
    n = 20_000
    X, y = datasets.disc_and_ring(n)
    disc = np.hypot(*X[y > 0].T)
    four_errors = 4 * 0.5 / np.sqrt(n / 2)
    assert (disc < np.sqrt(0.5)).mean() == pytest.approx(0.5, abs=four_errors)
    ring = np.hypot(*X[y < 0].T)
    assert (ring < np.sqrt((1.5**2 + 2.5**2) / 2)).mean() == pytest.approx(0.5, abs=four_errors)
    for side in (X[:, 0] > 0, X[:, 1] > 0, X[:, 0] > X[:, 1]):
        assert side.mean() == pytest.approx(0.5, abs=four_errors)


@pytest.mark.parametrize("seed", range(5))
def test_squares_make_it_separable(seed, a_line_parts):
    """Example 7.8."""
    X, y = datasets.disc_and_ring(seed=seed)
    assert not a_line_parts(X, y)
    assert a_line_parts(X**2, y)


# Rows in random order


@pytest.mark.parametrize("name", ["overlapping_classes", "gaussian_classes", "disc_and_ring"])
def test_the_order_of_rows_teaches_nothing(name):
    y = datasets.load(name).y
    changes = (y[1:] != y[:-1]).sum()
    assert changes > len(y) / 4  # sorted labels change once
