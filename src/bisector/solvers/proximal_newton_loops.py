"""Compiled coordinate descent on a quadratic with corners: the inner problem of a proximal Newton step.

The quadratic is given by its matrix where there are few coefficients, and by the columns of the data where there
are many: then the changes of the rows' scores are carried along instead of products of columns.
"""

from typing import Any

import numpy as np

from bisector.engine.loops import given, loop


@loop
def descend(
    curvature: Any, slope: Any, lasso: Any, ridge: Any, solution: Any, enough: float, most_sweeps: int
) -> tuple[int, float]:
    """Minimise g·(u − u₀) + ½(u − u₀)ᵀH(u − u₀) + Σ(αⱼ|uⱼ| + ½βⱼuⱼ²) from u₀ = `solution`, by coordinates.

    `slope` is the gradient of the quadratic and is kept up to date, as is the solution. Ends when no coordinate
    gains more than `enough` in a sweep over all of them; between two such sweeps only coordinates that are not zero
    are visited. Returns the number of sweeps and the largest gain in the first.
    """
    first, sweeps = -1.0, 0
    everywhere = True
    while sweeps < most_sweeps:
        sweeps += 1
        largest = 0.0
        for j in range(len(solution)):
            if not everywhere and solution[j] == 0.0:
                continue
            bend = curvature[j, j] + ridge[j]
            if bend <= 0.0:
                continue
            before = solution[j]
            free = before - (slope[j] + ridge[j] * before) / bend
            threshold = lasso[j] / bend
            after = free - threshold if free > threshold else (free + threshold if free < -threshold else 0.0)
            change = after - before
            if change != 0.0:
                solution[j] = after
                line = curvature[j]
                for k in range(len(slope)):
                    slope[k] += change * line[k]
                largest = max(largest, change * change * bend)
        first = largest if first < 0.0 else first
        if largest <= enough and everywhere:
            break
        everywhere = largest <= enough
    return sweeps, first


@loop
def descend_by_columns(
    starts: Any,
    rows: Any,
    values: Any,
    weights: Any,
    probabilities: Any,
    gradient: Any,
    lasso: Any,
    ridge: Any,
    slopes: Any,
    offset_gradient: Any,
    offsets: Any,
    intercept: bool,
    changes: Any,
    means: Any,
    bends: Any,
    shrink: float,
    most_sweeps: int,
) -> int:
    """Minimise the same model for sparse columns, (starts, rows, values), and planes of one or several classes.

    With score changes tᵢₖ (`changes`) and their means uᵢ = Σₖ pᵢₖtᵢₖ (`means`), both zero at first, the model's
    slope by coefficient (j, k) is gⱼₖ + Σᵢ xᵢⱼwᵢpᵢₖ(tᵢₖ − uᵢ): a visit costs what the column stores. `bends` has a
    place for every coefficient. Returns the number of sweeps.
    """
    (d, q), n = slopes.shape, len(weights)
    for j in range(d):
        for a in range(starts[j], starts[j + 1]):
            square = values[a] * values[a] * weights[rows[a]]
            for k in range(q):
                p = probabilities[rows[a], k]
                bends[j, k] += square * p * (1.0 - p)
    first, sweeps = -1.0, 0
    everywhere = True
    while sweeps < most_sweeps:
        sweeps += 1
        largest = 0.0
        for k in range(q):
            if intercept:
                slope, bend = offset_gradient[k], 0.0
                for i in range(n):
                    p = probabilities[i, k]
                    slope += weights[i] * p * (changes[i, k] - means[i])
                    bend += weights[i] * p * (1.0 - p)
                if bend > 0.0:
                    change = -slope / bend
                    offsets[k] += change
                    largest = max(largest, change * change * bend)
                    for i in range(n):
                        changes[i, k] += change
                        means[i] += probabilities[i, k] * change
            for j in range(d):
                before = slopes[j, k]
                bend = bends[j, k] + ridge[j]
                if bend <= 0.0 or (before == 0.0 and not everywhere):
                    continue
                slope = gradient[j, k] + ridge[j] * before
                for a in range(starts[j], starts[j + 1]):
                    i = rows[a]
                    slope += values[a] * weights[i] * probabilities[i, k] * (changes[i, k] - means[i])
                free, threshold = before - slope / bend, lasso[j] / bend
                after = (
                    free - threshold if free > threshold else (free + threshold if free < -threshold else 0.0)
                )
                change = after - before
                if change != 0.0:
                    slopes[j, k] = after
                    largest = max(largest, change * change * bend)
                    for a in range(starts[j], starts[j + 1]):
                        i = rows[a]
                        changes[i, k] += change * values[a]
                        means[i] += probabilities[i, k] * change * values[a]
        if first < 0.0:
            first = largest
        if largest <= shrink * first:
            if everywhere:
                break
            everywhere = True
        else:
            everywhere = False
    return sweeps


def warm() -> None:
    """Compile the loops of this module."""
    one, table = given(np.ones(1)), given(np.ones((1, 1)))
    descend(table, np.ones(1), one, one, np.zeros(1), 0.0, 1)
    starts, rows = given(np.array([0, 1], np.uint64), np.uint64), given(np.zeros(1, np.uint32), np.uint32)
    out, outs = np.zeros(1), np.zeros((1, 1))
    descend_by_columns(
        starts, rows, one, one, table, table, one, one, outs.copy(), one, out.copy(), True, outs.copy(), out,
        outs, 0.0, 1,
    )  # fmt: skip
