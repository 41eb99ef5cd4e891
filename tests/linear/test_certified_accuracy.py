"""Least squares where floating point is at its limits, against answers in rational numbers.

The problems are shaped like the classical certified ones: raw powers, nearly collinear economic series, data
far from zero. Their columns differ by many orders of magnitude and hardly by direction, so that methods which
drop small singular values of the matrix as it stands lose every digit. Here the answer to the numbers as they
are stored is computed exactly and rounded once.
"""

from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest

from bisector import LinearRegression


class Exact(NamedTuple):
    """Coefficients, intercept first, their standard errors, and the residual variance."""

    coef: np.ndarray
    standard_errors: np.ndarray
    residual_variance: float


def solve_exactly(X, y, weight=None) -> Exact:
    """Solve the normal equations of [1 X] by elimination in rational numbers."""
    rows = [[Fraction(1), *map(Fraction, row)] for row in np.asarray(X, dtype=float).tolist()]
    target = [Fraction(value) for value in np.asarray(y, dtype=float).tolist()]
    weights = [Fraction(w) for w in (np.ones(len(rows)) if weight is None else weight).tolist()]
    p = len(rows[0])
    weighted = [[w * value for value in row] for w, row in zip(weights, rows, strict=True)]
    table = [
        [sum(a[j] * b[k] for a, b in zip(weighted, rows, strict=True)) for k in range(p)]
        + [Fraction(j == k) for k in range(p)]
        + [sum(a[j] * t for a, t in zip(weighted, target, strict=True))]
        for j in range(p)
    ]
    for j in range(p):  # the matrix is positive definite: no pivot is zero
        table[j] = [value / table[j][j] for value in table[j]]
        for k in range(p):
            if k != j:
                factor = table[k][j]
                table[k] = [a - factor * b for a, b in zip(table[k], table[j], strict=True)]
    coef = [row[-1] for row in table]
    left = [t - sum(map(Fraction.__mul__, row, coef)) for row, t in zip(rows, target, strict=True)]
    variance = sum(w * r * r for w, r in zip(weights, left, strict=True)) / (sum(weights) - p)
    return Exact(
        np.array([float(value) for value in coef]),
        np.array([root(variance * table[j][p + j]) for j in range(p)]),
        float(variance),
    )


def root(value: Fraction) -> float:
    """The square root of a rational number that float64 may not hold."""
    shift = max(0, (value.denominator.bit_length() - value.numerator.bit_length()) // 2)
    return float(value * 4**shift) ** 0.5 / 2.0**shift


def raw_powers(x, degree):
    # By products: exact for whole numbers, where a power function may not be.
    return np.cumprod(np.repeat(x[:, None], degree, axis=1), axis=1)


def quintic(residuals):
    """A polynomial of degree five with all coefficients one on 0, 1, …, 20."""
    X = raw_powers(np.arange(21.0), 5)
    return X, 1 + X.sum(axis=1) + residuals


def wiggle(n):
    """Residuals of size one that look like noise and are the same everywhere."""
    return np.round(np.sin(12.9898 * np.arange(1, n + 1) ** 2) * 1.5, 3)


def small_coefficients():
    X = raw_powers(np.arange(21.0), 5)
    return X, 1 + X @ 0.1 ** np.arange(1, 6) + 1e-3 * wiggle(21)


def tenth_degree():
    """82 points on [−9, −3]: condition number of the raw powers beyond 10¹⁴, of scaled columns 10⁹."""
    x = np.round(np.linspace(-8.78, -3.13, 82), 6)
    return raw_powers(x, 10), np.round(0.85 + 0.04 * np.sin(2 * x) + 0.003 * wiggle(82), 4)


def economic_series():
    """Sixteen years of six series, of which most grow with time."""
    t, w = np.arange(16.0), wiggle(16 * 6).reshape(16, 6)
    X = np.column_stack(
        [
            np.round(83 + 2.2 * t + 0.5 * w[:, 0], 1),
            np.round(234_000 + 21_000 * t + 1_500 * w[:, 1]),
            np.round(2_900 + 90 * t + 500 * w[:, 2]),
            np.round(2_600 + 400 * w[:, 3]),
            np.round(107_600 + 1_480 * t + 12 * w[:, 4]),
            1947 + t,
        ]
    )
    return X, np.round(60_300 + 690 * t + 300 * w[:, 5])


def far_from_zero():
    w = wiggle(160).reshape(40, 4)
    return 1e8 + w[:, :3], w[:, :3] @ [1.0, -2.0, 3.0] + w[:, 3]


def mixed_units():
    """The same four columns in units from 10⁻¹² to 10¹²."""
    w = wiggle(150).reshape(30, 5)
    return w[:, :4] * [1e-12, 1.0, 1e6, 1e12] + [0, 0, 1e9, 0], w[:, :4].sum(axis=1) + w[:, 4]


PROBLEMS = {
    "degree 5, residuals 1e-5": lambda: quintic(1e-5 * wiggle(21)),
    "degree 5, residuals 1": lambda: quintic(wiggle(21)),
    "degree 5, residuals 1e5": lambda: quintic(1e5 * wiggle(21)),
    "degree 5, coefficients 0.1^k": small_coefficients,
    "degree 10": tenth_degree,
    "economic series": economic_series,
    "offset 1e8": far_from_zero,
    "mixed units": mixed_units,
}


@pytest.fixture(scope="module", params=PROBLEMS)
def certified(request):
    X, y = PROBLEMS[request.param]()
    return X, y, solve_exactly(X, y)


def fitted(X, y, with_ones, **parameters):
    """Fit with the intercept as a parameter of its own, or as the coefficient of a column of ones."""
    if with_ones:
        return LinearRegression(fit_intercept=False).fit(
            np.column_stack([np.ones(len(X)), X]), y, **parameters
        )
    return LinearRegression().fit(X, y, **parameters)


def coefficients(model):
    return model.coef_ if not model.fit_intercept else np.r_[model.intercept_, model.coef_]


@pytest.mark.parametrize("with_ones", [False, True], ids=["intercept fitted", "column of ones"])
def test_coefficients_errors_and_variance(certified, with_ones):
    X, y, exact = certified
    model = fitted(X, y, with_ones)
    # Refined coefficients are rounded once; where the condition number is below 1000 (normal equations) at
    # most six of sixteen digits go.
    np.testing.assert_allclose(coefficients(model), exact.coef, rtol=1e-9)
    np.testing.assert_allclose(model.standard_errors_, exact.standard_errors, rtol=1e-9)
    np.testing.assert_allclose(model.residual_variance_, exact.residual_variance, rtol=1e-9)
    assert model.gap_ <= 1e-9
    assert model.rank_ == X.shape[1] + with_ones


@pytest.mark.parametrize("with_ones", [False, True], ids=["intercept fitted", "column of ones"])
@pytest.mark.parametrize("name", ["degree 5, residuals 1e5", "degree 10", "economic series"])
def test_where_refinement_is_used_every_digit_of_the_coefficients_is_right(name, with_ones):
    X, y = PROBLEMS[name]()
    model = fitted(X, y, with_ones)
    assert model.solver_ == "qr"
    np.testing.assert_allclose(coefficients(model), solve_exactly(X, y).coef, rtol=4e-16)


@pytest.mark.parametrize("with_ones", [False, True], ids=["intercept fitted", "column of ones"])
@pytest.mark.parametrize("name", ["degree 10", "economic series", "offset 1e8"])
def test_weighted(name, with_ones):
    X, y = PROBLEMS[name]()
    weight = 1.0 + np.arange(len(y)) % 3
    exact = solve_exactly(X, y, weight)
    model = fitted(X, y, with_ones, sample_weight=weight)
    np.testing.assert_allclose(coefficients(model), exact.coef, rtol=1e-9)
    np.testing.assert_allclose(model.standard_errors_, exact.standard_errors, rtol=1e-9)
    np.testing.assert_allclose(model.residual_variance_, exact.residual_variance, rtol=1e-9)


def test_several_targets_are_as_exact_as_one():
    X, y = PROBLEMS["degree 10"]()
    both = LinearRegression().fit(X, np.column_stack([y, 1e6 * y[::-1]]))
    for target, row in enumerate([y, 1e6 * y[::-1]]):
        exact = solve_exactly(X, row)
        np.testing.assert_allclose(both.coef_[target], exact.coef[1:], rtol=1e-9)
        np.testing.assert_allclose(both.standard_errors_[target], exact.standard_errors, rtol=1e-9)


def test_an_exact_polynomial_is_recovered():
    """Integers all along: the residuals are zero, and the coefficients are one to the last digit."""
    model = LinearRegression().fit(*quintic(0.0))
    np.testing.assert_allclose(coefficients(model), np.ones(6), rtol=4e-16)
    assert model.residual_variance_ <= 1e-18


def test_float32_data_are_solved_as_the_float64_numbers_they_are():
    X, y = (values.astype(np.float32) for values in PROBLEMS["economic series"]())
    exact = solve_exactly(X, y)
    model = LinearRegression().fit(X, y)
    np.testing.assert_allclose(model.coef_, exact.coef[1:], rtol=1e-7)  # rounded to float32
    np.testing.assert_allclose(model.standard_errors_, exact.standard_errors, rtol=1e-9)
