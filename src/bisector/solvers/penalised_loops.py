"""Compiled pass of the perceptron with a penalty on its weights."""

from typing import Any

import numpy as np

from bisector.engine.loops import given, loop
from bisector.solvers.row_loops import some_rows


@loop
def penalised_pass(
    rows: Any, labels: Any, weights: Any, order: Any, eta: float, shrink: float, cut: float, w: Any, taken: Any,
    due: Any, mistakes: Any,
) -> Any:  # fmt: skip
    """Walk once over the rows; return the number of mistakes and the loss Σ max(0, −y(w·x)) met on the way.

    The number is −1 if a score is not finite: a value of the rows is not, or the weights have overflowed.

    Parameters
    ----------
    shrink : float
        Factor that all weights but the intercept get at every row (L2).
    cut : float
        By how much each of them is cut towards zero at every row (L1); at the features of the row at once, at
        others when they come. `due` is what each should have been cut by since the beginning, `taken` what it was.
    """
    d, dense, weighted = rows.n_features, len(rows.starts) == 0, len(weights) > 0
    scale, wrong, loss = 1.0, 0, 0.0
    for place in range(len(order)):
        i = order[place]
        first = i * d if dense else rows.starts[i]
        last = first + d if dense else rows.starts[i + 1]
        score = 0.0
        for k in range(first, last):
            score += np.float64(rows.values[k]) * w[k - first if dense else rows.columns[k]]
        score = score * scale + rows.one * w[d]
        if not np.isfinite(score):
            return -1, loss
        scale *= shrink
        if scale < 1e-9:
            for j in range(d):
                w[j] *= scale
            scale = 1.0
        if labels[i] * score <= 0.0:
            count = weights[i] if weighted else 1.0
            loss -= count * labels[i] * score
            wrong += 1
            mistakes[i] += count
            step = eta * count * labels[i]
            for k in range(first, last):
                w[k - first if dense else rows.columns[k]] += step / scale * np.float64(rows.values[k])
            w[d] += step * rows.one
        if cut > 0.0:
            due[0] += cut
            for k in range(first, last):
                j = k - first if dense else rows.columns[k]
                before = w[j] * scale
                after = before
                if before > 0.0:
                    after = max(0.0, before - (due[0] + taken[j]))
                elif before < 0.0:
                    after = min(0.0, before + (due[0] - taken[j]))
                taken[j] += after - before
                w[j] = after / scale
    for j in range(d):
        w[j] *= scale
    return wrong, loss


def warm() -> None:
    """Compile the loop of this module."""
    none, sides = given(np.empty(0)), given(np.array([1, -1], np.int8), np.int8)
    for rows in some_rows():
        penalised_pass(
            rows, sides, none, given(np.arange(2)), 1.0, 0.9, 0.1, np.zeros(3), np.zeros(2), np.zeros(1),
            np.zeros(2)
        )  # fmt: skip
