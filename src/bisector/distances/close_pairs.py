"""The formulas of pairs that are close to each other, from their rows as they came.

A distance that first transforms its rows rounds them: what is left of two images that nearly cancel may be mostly
rounding. The difference of the rows themselves is not rounded so, and these formulas start from it. They take
longer, and so serve only the pairs that need them.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bisector.engine.intrinsics import fma
from bisector.engine.values import lowered


@lowered()
class OfCoordinates(NamedTuple):
    """The formula itself, for rows that are not transformed."""

    formula: Any

    def of_rows(self, x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
        total = 0.0
        for j in range(len(x)):
            total = self.formula.gather(total, self.formula.term(x[j], y[j], self.formula.weight(j)))
        return total


@lowered()
class OfMappedDifference(NamedTuple):
    """‖Lᵀ(x − y)‖², for rows that are mapped by L."""

    mapping: NDArray[np.float64]

    def of_rows(self, x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
        same = 0
        while same < len(x) and x[same] == y[same]:
            same += 1
        if same == len(x):  # as every row is to itself
            return 0.0
        total = 0.0
        for c in range(self.mapping.shape[1]):
            image = 0.0
            for j in range(len(x)):
                image += self.mapping[j, c] * (x[j] - y[j])
            total += image * image
        return total


@lowered()
class OfDirections(NamedTuple):
    """The square of the chord between the directions of two rows, which point nearly the same way."""

    length: float = 1.0

    def of_rows(self, x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
        xx, yy, xy = 0.0, 0.0, 0.0
        for j in range(len(x)):
            xx += x[j] * x[j]
            yy += y[j] * y[j]
            xy += x[j] * y[j]
        if xx == 0.0 or yy == 0.0:
            return 0.0 if xx == yy else 2.0
        # What is left of x when its part along y is taken away has the length |x|·sin; and the same of y along x,
        # so that the rows can change places. Fused, since the two parts of each term nearly cancel; what rounding
        # leaves along the other row is taken away too.
        along_y, along_x = xy / yy, xy / xx
        left_of_x, left_of_y, still_along_y, still_along_x = 0.0, 0.0, 0.0, 0.0
        for j in range(len(x)):
            rest = fma(-along_y, y[j], x[j])
            left_of_x += rest * rest
            still_along_y += rest * y[j]
            rest = fma(-along_x, x[j], y[j])
            left_of_y += rest * rest
            still_along_x += rest * x[j]
        left_of_x = max(0.0, left_of_x - still_along_y * (still_along_y / yy))
        left_of_y = max(0.0, left_of_y - still_along_x * (still_along_x / xx))
        squared_sine = 0.5 * (left_of_x / xx + left_of_y / yy)
        return 2.0 * squared_sine / (1.0 + math.sqrt(max(0.0, 1.0 - squared_sine)))
