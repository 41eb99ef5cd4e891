"""Compiled steps of isotonic regression."""

from typing import Any

import numpy as np

from bisector.engine.loops import given, loop


@loop
def pool_violators(
    sums: Any, weights: Any, starts: Any, block_sums: Any, block_weights: Any, values: Any
) -> int:
    """Pool adjacent groups until their means ascend; return the number of blocks.

    The last of the blocks so far is pooled with what comes next as long as its mean is not lower. The mean is
    always the quotient of two sums: where these are whole numbers, equal means are equal as floats.
    """
    last = -1
    for i in range(len(sums)):
        first, total, weight = i, sums[i], weights[i]
        mean = total / weight
        while last >= 0 and values[last] >= mean:
            first = starts[last]
            total += block_sums[last]
            weight += block_weights[last]
            mean = total / weight
            last -= 1
        last += 1
        starts[last] = first
        block_sums[last] = total
        block_weights[last] = weight
        values[last] = mean
    return last + 1


@loop
def certify(sums: Any, weights: Any, starts: Any, values: Any) -> tuple[float, float]:
    """Return the sum of squares that is left, and how far it is at most above the smallest possible."""
    objective, gap = 0.0, 0.0
    for k in range(len(values)):
        multiplier, residual_sum = 0.0, 0.0
        for i in range(starts[k], starts[k + 1]):
            residual = sums[i] - values[k] * weights[i]
            residual_sum += residual
            feasible = max(residual_sum, 0.0) if i + 1 < starts[k + 1] else 0.0
            excess = residual - (feasible - multiplier)
            objective += residual * residual / weights[i]
            gap += excess * excess / weights[i]
            multiplier = feasible
    return objective, gap


def warm() -> None:
    """Compile the loops of this module."""
    one = given(np.ones(1))
    pool_violators(one, one, np.zeros(2, np.int64), np.zeros(1), np.zeros(1), np.zeros(1))
    certify(one, one, given(np.array([0, 1])), one)
