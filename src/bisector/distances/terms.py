"""The formulas of coordinate-wise distances, as compiled loops see them.

A coordinate-wise distance is a few small functions. Each coordinate gives a `term`, times its `weight` where there
are weights; `gather` collects the terms, in the order of the coordinates, into the **reduced** distance, which is
cheap and orders pairs as the distance does; `finish` turns it into the distance, and `reduce` undoes that, for
radii. Where values are missing, `rescale` estimates the reduced distance from the weight that is present. `bare` is
the formula without arrays, which would slow inner loops down; whoever calls its `term` brings the weight.
Gathering starts at 0, and a coordinate in which both rows are 0 changes nothing, so that sparse rows need only look
where one of them is not 0. A formula that `sums_squares` may also be computed from dot products.

A class holds its formula for one pair of numbers. Whether it runs in plain Python, over a tile of dense rows or
along two sparse ones is the business of others, and the result has the same bits.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bisector.engine.values import lowered

# What several formulas have in common: a NamedTuple class cannot inherit it, so `lowered` hands it out.


def one(self: Any, j: int) -> float:
    return 1.0


def absolute_difference(self: Any, x: float, y: float, weight: float) -> float:
    return abs(x - y)


def squared_difference(self: Any, x: float, y: float, weight: float) -> float:
    difference = x - y
    return difference * difference


def add(self: Any, total: float, term: float) -> float:
    return total + term


def scale_up(self: Any, total: float, weight: float, present: float) -> float:
    return total * (weight / present) if present > 0.0 else math.inf


def keep(self: Any, value: float) -> float:
    return value


def take_root(self: Any, value: float) -> float:
    return value ** (1.0 / self.p)


def raise_to_power(self: Any, value: float) -> float:
    return value**self.p


def multiply(self: Any, value: float) -> float:
    return value * self.scale


def divide(self: Any, value: float) -> float:
    return value / self.scale


def itself(self: Any) -> Any:
    return self


def weigh_inner(self: Any, x: float, y: float, weight: float) -> float:
    return weight * self.inner.term(x, y, 1.0)


def gather_inner(self: Any, total: float, term: float) -> float:
    return self.inner.gather(total, term)


def rescale_inner(self: Any, total: float, weight: float, present: float) -> float:
    return self.inner.rescale(total, weight, present)


def finish_inner(self: Any, value: float) -> float:
    return self.inner.finish(value)


def reduce_inner(self: Any, value: float) -> float:
    return self.inner.reduce(value)


SUMMED = {"weight": one, "gather": add, "rescale": scale_up, "sums_squares": False, "bare": itself}
SQUARED = {**SUMMED, "term": squared_difference, "sums_squares": True}
OF_INNER = {
    "term": weigh_inner,
    "gather": gather_inner,
    "rescale": rescale_inner,
    "finish": finish_inner,
    "reduce": reduce_inner,
}


@lowered(**SUMMED, term=absolute_difference, finish=keep, reduce=keep)
class AbsoluteTerms(NamedTuple):
    """Σ|x−y|: Manhattan."""

    p: float = 1.0


@lowered(**SQUARED)
class SquaredTerms(NamedTuple):
    """√Σ(x−y)²: Euclidean."""

    p: float = 2.0

    def finish(self, value: float) -> float:
        return math.sqrt(value)

    def reduce(self, value: float) -> float:
        return value * value


@lowered(weight=one, term=absolute_difference, finish=keep, reduce=keep, sums_squares=False, bare=itself)
class LargestTerm(NamedTuple):
    """max|x−y|: Chebyshev."""

    p: float = math.inf

    def gather(self, total: float, term: float) -> float:
        return term if term > total else total

    def rescale(self, total: float, weight: float, present: float) -> float:
        return total if present > 0.0 else math.inf


@lowered(**SUMMED, finish=take_root, reduce=raise_to_power)
class PowerTerms(NamedTuple):
    """(Σ|x−y|^p)^(1/p) for any p: thirty times the work of the powers that have a class of their own."""

    p: float

    def term(self, x: float, y: float, weight: float) -> float:
        return abs(x - y) ** self.p


@lowered(**SUMMED)
class RootTerms(NamedTuple):
    """(Σ|x−y|^½)²: Minkowski, p = 0.5."""

    p: float = 0.5

    def term(self, x: float, y: float, weight: float) -> float:
        return math.sqrt(abs(x - y))

    def finish(self, value: float) -> float:
        return value * value

    def reduce(self, value: float) -> float:
        return math.sqrt(value)


@lowered(**SUMMED, finish=take_root, reduce=raise_to_power)
class ThreeHalvesTerms(NamedTuple):
    """(Σ|x−y|^1.5)^(2/3): Minkowski, p = 1.5."""

    p: float = 1.5

    def term(self, x: float, y: float, weight: float) -> float:
        size = abs(x - y)
        return size * math.sqrt(size)


@lowered(**SUMMED, finish=take_root, reduce=raise_to_power)
class CubedTerms(NamedTuple):
    """(Σ|x−y|³)^⅓: Minkowski, p = 3."""

    p: float = 3.0

    def term(self, x: float, y: float, weight: float) -> float:
        size = abs(x - y)
        return size * size * size


@lowered(**SUMMED, finish=take_root, reduce=raise_to_power)
class FourthPowers(NamedTuple):
    """(Σ|x−y|⁴)^¼: Minkowski, p = 4."""

    p: float = 4.0

    def term(self, x: float, y: float, weight: float) -> float:
        square = (x - y) * (x - y)
        return square * square


@lowered(**SUMMED)
class DifferingTerms(NamedTuple):
    """The number of coordinates that differ, as a share of a whole: Hamming."""

    whole: float

    def term(self, x: float, y: float, weight: float) -> float:
        return 1.0 if x != y else 0.0

    def finish(self, value: float) -> float:
        return value / self.whole

    def reduce(self, value: float) -> float:
        return value * self.whole


@lowered(**SQUARED, finish=multiply, reduce=divide)
class KeptSquares(NamedTuple):
    """Σ(x−y)² times a scale: squared Euclidean distance; 1 − cos of unit vectors when the scale is one half."""

    scale: float


@lowered(**SQUARED)
class ArcOfChord(NamedTuple):
    """The arc between points of the unit sphere, from the square of the chord between them; times a radius."""

    radius: float

    def finish(self, value: float) -> float:
        half = 0.5 * math.sqrt(value)
        return 2.0 * self.radius * math.asin(half if half < 1.0 else 1.0)

    def reduce(self, value: float) -> float:
        angle = 0.5 * value / self.radius
        half = math.sin(angle if angle < 0.5 * math.pi else 0.5 * math.pi)
        return 4.0 * half * half


@lowered(**OF_INNER, weight=one, bare=itself)
class TimesWeight(NamedTuple):
    """The terms of another formula, each times the weight that it is given."""

    inner: Any


@lowered(**OF_INNER)
class WeightedTerms(NamedTuple):
    """The terms of another formula, each times the weight of its feature."""

    inner: Any
    weights: NDArray[np.float64]

    @property
    def sums_squares(self) -> bool:
        return bool(self.inner.sums_squares)

    def weight(self, j: int) -> float:
        return self.weights[j]

    def bare(self) -> TimesWeight:
        return TimesWeight(self.inner)
