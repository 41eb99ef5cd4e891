"""Single machine instructions that compiled loops need and Python does not have."""

from fractions import Fraction
from math import inf, isfinite
from typing import Any

from numba import types
from numba.extending import intrinsic, overload


def fma(a: float, b: float, c: float) -> float:
    """Compute a·b + c with a single rounding, in float64.

    Inside a loop this is the processor's fused multiply-add; called from Python, the same number from
    exact arithmetic. What a product loses by rounding is ``fma(a, b, -(a * b))``.

    Examples
    --------
    >>> from bisector.engine.intrinsics import fma
    >>> product = 0.1 * 0.1
    >>> fma(0.1, 0.1, -product)
    -8.326672684688674e-19
    """
    a, b, c = float(a), float(b), float(c)
    if not (isfinite(a) and isfinite(b)):
        return a * b + c
    if not isfinite(c):
        return c  # even where a·b alone would overflow
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        return a * b + c  # exact too, and its zero has the right sign
    try:
        return float(exact)
    except OverflowError:
        return inf if exact > 0 else -inf


@intrinsic
def _fused(typing_context: Any, a: Any, b: Any, c: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.fma(*arguments)

    return types.float64(types.float64, types.float64, types.float64), emit


@overload(fma)
def _compile_fma(a: Any, b: Any, c: Any) -> Any:
    if all(isinstance(kind, types.Float | types.Integer) for kind in (a, b, c)):

        def fused(a: Any, b: Any, c: Any) -> Any:
            return _fused(a, b, c)

        return fused
    return None
