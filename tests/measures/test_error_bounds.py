"""Cover and Hart's bounds, and the error of k neighbours in the limit."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest

from bisector.measures.error_bounds import asymptotic_error, error_bounds


@pytest.mark.parametrize("classes", [2, 3, 10])
def test_the_lower_bound_inverts_the_upper_one(classes):
    """E = 2E* − c/(c−1) E*², for E* from 0 to (c−1)/c."""
    for best in np.linspace(0, (classes - 1) / classes, 12):
        error = 2 * best - classes / (classes - 1) * best**2
        bounds = error_bounds(error, classes)
        assert bounds.low == pytest.approx(best, abs=1e-7)  # the root is flat at its end: √eps
        assert bounds.high == pytest.approx(error)


def test_bounds_saturate_at_guessing():
    bounds = error_bounds(0.9, 3)
    assert bounds.low == bounds.high == pytest.approx(2 / 3)
    assert error_bounds(0.0).low == 0


def test_bounds_allow_for_the_sample():
    plain, few, many = error_bounds(0.2), error_bounds(0.2, n=50), error_bounds(0.2, n=5000)
    assert few.low < many.low < plain.low
    assert few.high > many.high > plain.high
    # Wilson's interval for 10 of 50, as published tables have it.
    assert few.high == pytest.approx(0.3304, abs=1e-4)


def test_what_it_says():
    assert str(error_bounds(0.18)) == (
        "One nearest neighbour errs on 18.0%; in the limit of many rows, no classifier errs on less than 10.0%, "
        "and the best on at most 18.0%."
    )


def exact(k, eta):
    """The sum of Exercise 6.3, in fractions."""
    return sum(
        comb(k, i) * (eta ** (i + 1) * (1 - eta) ** (k - i) + (1 - eta) ** (i + 1) * eta ** (k - i))
        for i in range((k - 1) // 2 + 1)
    )


@pytest.mark.parametrize("k", [1, 3, 5, 21, 101])
@pytest.mark.parametrize("eta", [Fraction(1, 100), Fraction(1, 10), Fraction(1, 3), Fraction(1, 2)])
def test_limit_of_k_neighbours(k, eta):
    assert float(asymptotic_error(k, float(eta))) == pytest.approx(float(exact(k, eta)), rel=1e-12)


def test_facts_of_the_limit():
    eta = np.linspace(0, 0.5, 101)
    np.testing.assert_allclose(asymptotic_error(1, eta), 2 * eta * (1 - eta))
    assert (asymptotic_error(3, eta) <= eta + 3 * eta**2 + 1e-15).all()
    assert (asymptotic_error(5, eta) <= eta + 10 * eta**3 + 1e-15).all()
    curves = np.array([asymptotic_error(k, eta) for k in (1, 3, 5, 11, 51)])
    assert (np.diff(curves, axis=0) <= 1e-15).all()  # more neighbours never err more
    np.testing.assert_allclose(asymptotic_error(3, 0.01), 0.01029204, rtol=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: error_bounds(1.2), "share from 0 to 1"),
        (lambda: error_bounds(0.1, 1), "n_classes must be a whole number at least 2"),
        (lambda: error_bounds(0.1, n=10, level=1.0), "level must be a number"),
        (lambda: asymptotic_error(2, 0.1), "k must be odd"),
        (lambda: asymptotic_error(3, 0.6), "between 0 and ½"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
