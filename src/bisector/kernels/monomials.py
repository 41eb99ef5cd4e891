"""Feature maps put together: products of columns, side by side or all with all, dense or sparse."""

import math
from collections import Counter
from collections.abc import Sequence
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from bisector.engine.memory import require


def polynomial_features(values: Any, degree: int, bias: float = 0.0) -> Any:
    """Return features whose dot products are (x·y + bias)^degree.

    They are the products of `degree` columns, and with a bias those of fewer columns after them, each times
    the root of what it is multiplied by when the power is multiplied out. For two columns, degree 2 and bias
    1 they are (x₁², x₂², √2·x₁x₂, √2·x₁, √2·x₂, 1).

    Parameters
    ----------
    values : ndarray or CSR matrix of shape (n, d)
    degree : int
    bias : float, default=0.0

    Returns
    -------
    ndarray or CSR matrix
        Of (d + degree - 1 choose degree) columns; with a bias, of (d + degree choose degree).
    """
    n, d = values.shape
    count = math.comb(d + degree, degree) if bias else math.comb(d + degree - 1, degree)
    _require(n, count, f"The feature map of degree {degree} on {d:,} columns")
    parts = [_monomials(values, degree)]
    for order in range(degree - 1, -1, -1) if bias else ():
        part = _monomials(values, order) if order else np.ones((n, 1))
        parts.append(part * math.sqrt(math.comb(degree, order) * bias ** (degree - order)))
    return stacked(parts)


def _monomials(values: Any, degree: int) -> Any:
    """Return every product of `degree` columns, times the root of the number of orders its factors have."""
    chosen = sorted(combinations_with_replacement(range(values.shape[1]), degree), key=_as_textbooks_do)
    columns = np.array(chosen, dtype=np.int64)
    product = _columns(values, columns[:, 0])
    for factor in range(1, degree):
        product = _times(product, _columns(values, columns[:, factor]))
    return _times(product, np.sqrt([_orders(choice) for choice in chosen])[None, :])


def tensor(left: Any, right: Any) -> Any:
    """Return, for every row, the products of each column of `left` with each column of `right`."""
    (n, first), (_, second) = left.shape, right.shape
    _require(n, first * second, f"The product of feature maps with {first:,} and {second:,} columns")
    return _times(
        _columns(left, np.repeat(np.arange(first), second)),
        _columns(right, np.tile(np.arange(second), first)),
    )


def stacked(parts: Sequence[Any]) -> Any:
    """Put matrices side by side; the result is sparse if one of them is."""
    if any(map(_is_sparse, parts)):
        import scipy.sparse

        return scipy.sparse.hstack(parts, format="csr")
    return np.hstack(parts)


def scaled_rows(values: Any, factors: Any) -> Any:
    """Multiply every row by a number."""
    return _times(values, np.asarray(factors)[:, None])


def _as_textbooks_do(choice: tuple[int, ...]) -> tuple[Any, ...]:
    """Order products of columns: x₁³, x₂³, x₁²x₂, x₁x₂²."""
    powers = sorted(Counter(choice).values(), reverse=True)
    return [-power for power in powers], choice


def _orders(choice: tuple[int, ...]) -> float:
    ways = math.factorial(len(choice))
    for power in Counter(choice).values():
        ways //= math.factorial(power)
    return float(ways)


def _require(n: int, count: int, doing: str) -> None:
    require(
        2 * 8 * n * count,
        doing=doing,
        holding=f"{n:,} × {count:,} features",
        instead="use gram, which needs no feature map, or a lower degree",
    )


def _is_sparse(values: Any) -> bool:
    return hasattr(values, "tocsr")


def _columns(values: Any, numbers: Any) -> Any:
    return values.tocsc()[:, numbers] if _is_sparse(values) else values[:, numbers]


def _times(left: Any, right: Any) -> Any:
    if _is_sparse(left):
        return left.multiply(right).tocsr()
    return right.multiply(left).tocsr() if _is_sparse(right) else left * right
