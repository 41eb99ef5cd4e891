"""e^x inside compiled loops, several numbers at once.

The exponential of the C library is called for one number at a time, and takes longer than everything else a
kernel or a density does with a distance. This one is straight arithmetic, which compilers turn into vector
instructions.
"""

import numpy as np

from bisector.engine.intrinsics import fma
from bisector.engine.loops import loop

# Beyond these the result is 0 or inf anyway, and the exponent would leave its bits.
_LOWEST, _HIGHEST = -1400.0, 1400.0
# The smallest for which e^x is held with all its digits.
_LEAST_NORMAL = -708.0
_LOG2_E = 1.4426950408889634
# ln 2 as a sum of two numbers, so that x − n·ln 2 keeps its last digits.
_LN2, _LN2_REST = 0.6931471805599453, 2.3190468138462996e-17
# Added to a number, this leaves it rounded to an integer, plus the bias of an exponent, in the last bits.
_ROUNDING = 1.5 * 2.0**52 + 1023.0
# (e^r − 1 − r) / r² for |r| ≤ ln 2 / 2: interpolated at the Chebyshev nodes, wrong by at most 2e-17.
_C0, _C1, _C2 = 0.5000000000000001, 0.16666666666666669, 0.04166666666662413
_C3, _C4, _C5 = 0.008333333333330062, 0.0013888888917213717, 0.00019841269863053618
_C6, _C7, _C8 = 2.4801521295954376e-05, 2.7557268459997064e-06, 2.7620088445409746e-07
_C9 = 2.510038549551032e-08


@loop
def exponential(x: float) -> float:
    """Return e^x in float64, for use in loops; the relative error is below 2.3e-16.

    With x = n·ln 2 + r, e^x is 2^n times a polynomial in r. The result underflows gradually to 0 and overflows to
    inf; NaN stays NaN.

    Examples
    --------
    >>> from bisector.engine.exponential import exponential
    >>> exponential(0.0)
    1.0
    >>> round(exponential(1.0), 12)
    2.718281828459
    """
    x = _LOWEST if x < _LOWEST else x  # in this order, so that NaN passes
    x = _HIGHEST if x > _HIGHEST else x
    n = fma(x, _LOG2_E, _ROUNDING) - _ROUNDING
    mantissa = _mantissa(x, n)
    # 2^n in two factors: one alone would leave the range of exponents where the result is still a number.
    half = fma(n, 0.5, _ROUNDING)
    rest = (n - (half - _ROUNDING)) + _ROUNDING
    return mantissa * _power_of_two(half) * _power_of_two(rest)


@loop
def decay(x: float) -> float:
    """Return e^x for x ≤ 0, and 0 for x < −708, where few digits would be left: a fifth faster than `exponential`.

    Examples
    --------
    >>> from bisector.engine.exponential import decay
    >>> round(decay(-1.0), 12)
    0.367879441171
    >>> decay(-709.0)
    0.0
    """
    near = _LEAST_NORMAL if x < _LEAST_NORMAL else x
    rounded = fma(near, _LOG2_E, _ROUNDING)
    power = _mantissa(near, rounded - _ROUNDING) * _power_of_two(rounded)
    return 0.0 if x < _LEAST_NORMAL else power


@loop
def _mantissa(x: float, n: float) -> float:
    """Return e^r for r = x − n·ln 2, which is near zero."""
    r = fma(-n, _LN2_REST, fma(-n, _LN2, x))
    q = fma(fma(_C9, r, _C8), r, _C7)
    q = fma(fma(q, r, _C6), r, _C5)
    q = fma(fma(q, r, _C4), r, _C3)
    q = fma(fma(q, r, _C2), r, _C1)
    q = fma(q, r, _C0)
    return fma(r * r, q, r) + 1.0


@loop
def _power_of_two(rounded: float) -> float:
    """Return 2^n, where `rounded` is n + _ROUNDING: its last bits are moved to where the exponent stands."""
    return float(np.int64(np.float64(rounded).view(np.int64) << 52).view(np.float64))


def warm() -> None:
    """Compile the loops of this module."""
    exponential(1.0)
    decay(-1.0)
