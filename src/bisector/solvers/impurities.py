"""How mixed a set of classes is, as totals: impurity times weight, so that the parts of a split add up.

With p_c the share of class c and n the weight of the set (Flach 5.1):

    minority   1 − max p_c           what the majority label gets wrong
    Gini       Σ p_c (1 − p_c)       what a random label drawn from the set gets wrong
    entropy    −Σ p_c log₂ p_c       the bits that a label of the set carries
    √Gini      √(Σ p_c (1 − p_c))    with two classes, √(2 p (1 − p))

Totals are written so that little is lost: n·Gini is (n² − Σn_c²)/n, whose numerator is exact for whole counts below
2²⁶, and n·entropy is h(n) − Σh(n_c) with h(x) = x log₂ x from a table whose entries are rounded to a common
grid, so that their sums are exact too: two splits of equal worth get equal totals.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bisector.engine.values import lowered

# Where splits leave the same minority, the Gini index decides: by so little that it decides nothing else.
TIE_SHARE = 2.0**-26

# A table of x log₂ x is made up to so many whole counts; beyond, and for broken weights, it is computed.
LONGEST_TABLE = 2**24


@lowered()
class GiniImpurity(NamedTuple):
    """What a random label gets wrong."""

    n_classes: float

    def of_two(self, p: float, q: float) -> float:
        return 2.0 * p * q / (p + q)

    def of_counts(self, counts: Any) -> float:
        total, squares = 0.0, 0.0
        for count in counts:
            total += count
            squares += count * count
        return max(total * total - squares, 0.0) / total


@lowered()
class SqrtGiniImpurity(NamedTuple):
    """The root of the Gini index."""

    n_classes: float

    def of_two(self, p: float, q: float) -> float:
        return math.sqrt(2.0 * p * q)

    def of_counts(self, counts: Any) -> float:
        total, squares = 0.0, 0.0
        for count in counts:
            total += count
            squares += count * count
        return math.sqrt(max(total * total - squares, 0.0))


@lowered()
class MinorityImpurity(NamedTuple):
    """What the majority label gets wrong; among equals, the Gini index."""

    tie_share: float

    def of_two(self, p: float, q: float) -> float:
        return min(p, q) + self.tie_share * 2.0 * p * q / (p + q)

    def of_counts(self, counts: Any) -> float:
        total, squares, largest = 0.0, 0.0, 0.0
        for count in counts:
            total += count
            squares += count * count
            largest = max(largest, count)
        return total - largest + self.tie_share * max(total * total - squares, 0.0) / total


@lowered()
class EntropyImpurity(NamedTuple):
    """Bits; `table` holds x log₂ x of whole numbers, or nothing if counts are broken."""

    table: NDArray[np.float64]

    def of_two(self, p: float, q: float) -> float:
        if len(self.table) > 0:
            return self.table[int(p + q)] - self.table[int(p)] - self.table[int(q)]
        total = (p + q) * math.log2(p + q) if p + q > 0.0 else 0.0
        total -= p * math.log2(p) if p > 0.0 else 0.0
        return total - (q * math.log2(q) if q > 0.0 else 0.0)

    def of_counts(self, counts: Any) -> float:
        total, parts = 0.0, 0.0
        if len(self.table) > 0:
            for count in counts:
                total += count
                parts += self.table[int(count)]
            return self.table[int(total)] - parts
        for count in counts:
            total += count
            parts += count * math.log2(count) if count > 0.0 else 0.0
        return (total * math.log2(total) if total > 0.0 else 0.0) - parts


def entropy_table(largest: int) -> NDArray[np.float64]:
    """Return x log₂ x for x = 0 … largest, rounded to a grid on which a few such numbers add up exactly."""
    x = np.arange(largest + 1, dtype=np.float64)
    x[0] = 1.0
    exact = x * np.log2(x)
    grid = 2.0 ** (math.ceil(math.log2(exact[-1] + 1.0)) + 2 - 53)
    return np.round(exact / grid) * grid


def class_impurity(name: str, n_classes: int, weight: NDArray[np.float64] | None, n_rows: int) -> Any:
    """Return the lowered impurity of this name, for labels of so many classes.

    Parameters
    ----------
    name : {"gini", "entropy", "sqrt-gini", "minority"}
    n_classes : int
    weight : ndarray or None
        Weights of the rows; if all are whole, logarithms come from a table.
    n_rows : int
    """
    if name == "gini":
        return GiniImpurity(float(n_classes))
    if name == "sqrt-gini":
        return SqrtGiniImpurity(float(n_classes))
    if name == "minority":
        return MinorityImpurity(TIE_SHARE)
    total = float(n_rows) if weight is None else float(weight.sum())
    whole = weight is None or bool((weight == np.floor(weight)).all())
    return EntropyImpurity(entropy_table(int(total)) if whole and total <= LONGEST_TABLE else np.empty(0))
