"""The exponential of compiled loops, against exact arithmetic."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest

from bisector.engine.exponential import exponential, warm
from bisector.engine.loops import given, loop


@loop
def all_exponentials(numbers, results):
    for i in range(len(numbers)):
        results[i] = exponential(numbers[i])


def exponentials(numbers):
    results = np.empty(len(numbers))
    all_exponentials(given(np.asarray(numbers, dtype=np.float64)), results)
    return results


def relative_errors(numbers):
    """Of each result, against e^x to 40 digits."""
    with localcontext() as context:
        context.prec = 40
        return [
            float(abs(Decimal(float(found)) / Decimal(float(x)).exp() - 1))
            for x, found in zip(numbers, exponentials(numbers), strict=True)
        ]


@pytest.mark.parametrize(
    ("low", "high"), [(-1e-3, 1e-3), (-1, 1), (-40, 0), (-708, 709)], ids=["tiny", "one", "kernel", "all"]
)
def test_it_is_right_to_the_last_digits(low, high):
    numbers = np.random.default_rng(0).uniform(low, high, size=300)
    # 1.65e-16 was the worst of three million; 2^-52 is what the docstring promises.
    assert max(relative_errors(numbers)) < 2.0**-52


def test_it_is_right_where_the_power_of_two_changes():
    halves = (np.arange(-60, 60) + 0.5) * math.log(2)
    numbers = np.concatenate([halves, np.nextafter(halves, -np.inf), np.nextafter(halves, np.inf)])
    assert max(relative_errors(numbers)) < 2.0**-52


def test_special_values():
    found = exponentials([0.0, -0.0, np.inf, -np.inf, np.nan, 1e308, -1e308])
    np.testing.assert_array_equal(found, [1.0, 1.0, np.inf, 0.0, np.nan, np.inf, 0.0])


def test_it_overflows_and_underflows_where_float64_does():
    largest = math.log(np.finfo(np.float64).max)
    assert np.isfinite(exponential(largest))
    assert exponential(largest + 1e-9) == np.inf
    assert exponential(-745.13) == 5e-324
    assert exponential(-745.14) == 0.0


def test_it_underflows_gradually():
    numbers = np.linspace(-745, -708, 100)
    # Below 2^-1022 numbers are 2^-1074 apart; the last product rounds once.
    np.testing.assert_allclose(exponentials(numbers), [math.exp(x) for x in numbers], rtol=1e-15, atol=5e-324)


def test_it_never_falls():
    numbers = np.sort(np.random.default_rng(1).uniform(-50, 5, size=2000))
    found = exponentials(numbers)
    # Neighbours may round apart by one unit in the last place.
    assert (np.diff(found) >= -np.spacing(found[1:])).all()


def test_vectorised_and_single_calls_agree_to_the_bit():
    numbers = np.random.default_rng(2).uniform(-700, 700, size=67)
    assert exponentials(numbers).tolist() == [exponential(x) for x in numbers]


def test_single_precision_is_computed_in_double():
    x = np.float32(-1.25)
    assert exponential(x) == pytest.approx(math.exp(float(x)), rel=1e-15)


def test_it_warms_up():
    warm()
