"""Judges paired times: the median with an interval that assumes nothing about how times are distributed."""

from collections.abc import Sequence
from math import comb
from statistics import median
from typing import Literal, NamedTuple

LEVEL = 0.95
# Without an interval (too few pairs), a median ratio below this, or above its inverse, says nothing.
TIE = 1.3

Verdict = Literal["faster", "tie", "behind"]
Standing = Literal["goal met", "goal within the interval", "goal missed"]


class Interval(NamedTuple):
    """The median of a sample, and two of its order statistics.

    Whatever the distribution, the true median lies between them with probability ``coverage``.
    """

    low: float
    median: float
    high: float
    coverage: float


def median_interval(values: Sequence[float], level: float = LEVEL) -> Interval:
    r"""Interval for the median by order statistics.

    The k-th smallest and the k-th largest of n values enclose the median with probability
    :math:`1 - 2 \sum_{i<k} \binom{n}{i} 2^{-n}`; the largest k that keeps this above `level` is taken.
    Below six values no k does (for 95 %): then the interval is the range, and ``coverage`` says how little
    that promises.

    Examples
    --------
    >>> median_interval([9, 1, 8, 2, 7, 3, 6, 4, 5])
    Interval(low=2, median=5, high=8, coverage=0.9609375)
    >>> median_interval([3, 1, 2]).coverage
    0.75
    """
    ordered, n = sorted(values), len(values)
    k, outside = 1, 2 * comb(n, 0) / 2**n
    while k < n // 2 and outside + 2 * comb(n, k) / 2**n <= 1 - level:
        outside += 2 * comb(n, k) / 2**n
        k += 1
    return Interval(ordered[k - 1], median(ordered), ordered[n - k], max(0.0, 1 - outside))


def verdict(ratios: Interval) -> Verdict:
    """Whether ours is faster, judged by the interval of peer's time ÷ ours against 1."""
    if ratios.coverage < LEVEL and 1 / TIE < ratios.median < TIE:
        return "tie"
    if ratios.low > 1:
        return "faster"
    return "behind" if ratios.high < 1 else "tie"


def standing(margins: Interval) -> Standing:
    """Whether a goal is met, judged by the median of its margins against 0."""
    if margins.median >= 0:
        return "goal met"
    return "goal within the interval" if margins.high >= 0 else "goal missed"
