"""What splits cost when the mean dissimilarity of pairs is to fall, for any measure of dissimilarity.

The dissimilarities of some rows to each other are known, of all rows if these are few. The mean of a set, over all
ordered pairs of its known rows, a row with itself included, stands for that of all its rows. For squared Euclidean
distances the mean over all pairs is twice the variance, and needs no pairs (`SquaredTargets`).
"""

from typing import Any, NamedTuple

import numpy as np

from bisector.engine.loops import loop
from bisector.engine.values import lowered
from bisector.solvers.split_costs_loops import OF_NUMBERS, ROW


@loop
def _known_rows(targets: Any, records: Any, start: int, stop: int, places: Any, weights: Any, at: Any) -> int:
    """List the rows of a stretch whose dissimilarities are known, in its order; return how many there are."""
    count = 0
    for i in range(start, stop):
        row = records[i] & ROW
        if targets.places[row] >= 0:
            places[count] = targets.places[row]
            weights[count] = targets.weights[row] if len(targets.weights) > 0 else 1.0
            at[count] = i
            count += 1
    return count


@lowered(**OF_NUMBERS)
class PairTargets(NamedTuple):
    """Dissimilarities between some rows; `places` says where in `pairs` a row stands, −1 if nowhere."""

    pairs: Any
    places: Any
    weights: Any

    def fill(
        self, scratch: Any, records: Any, start: int, present: int, stop: int, missing_left: bool,
        stats: Any, weight: float, base: int,
    ) -> None:  # fmt: skip
        cost, left_weight = scratch.cost, scratch.left_weight
        size = min(present - start, len(self.pairs))
        places, at, weights = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size)
        count = _known_rows(self, records, start, present, places, weights, at)
        known, right = 0.0, 0.0
        for k in range(count):
            known += weights[k]
            for other in range(count):
                right += weights[k] * weights[other] * self.pairs[places[k], places[other]]
        left, known_left, reached, k = 0.0, 0.0, 0.0, 0
        for i in range(start, present):
            row = records[i] & ROW
            reached += self.weights[row] if len(self.weights) > 0 else 1.0
            left_weight[i - start] = reached
            if k < count and at[k] == i:
                inner, outer = 0.0, 0.0
                for other in range(k):
                    inner += weights[other] * self.pairs[places[k], places[other]]
                for other in range(k + 1, count):
                    outer += weights[other] * self.pairs[places[k], places[other]]
                own = weights[k] * weights[k] * self.pairs[places[k], places[k]]
                left += 2.0 * weights[k] * inner + own
                right -= 2.0 * weights[k] * outer + own
                known_left += weights[k]
                k += 1
            if k == 0 or k == count:
                cost[i - start] = np.inf  # nothing is known of one side
            else:
                known_right = known - known_left
                cost[i - start] = reached * left / (known_left * known_left)
                cost[i - start] += (weight - reached) * max(right, 0.0) / (known_right * known_right)

    def describe(self, rows: Any, start: int, stop: int, stats: Any) -> Any:
        """Return the weight, it times the mean dissimilarity, and whether nothing is left to tell apart."""
        size = min(stop - start, len(self.pairs))
        places, at, weights = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size)
        count = _known_rows(self, rows, start, stop, places, weights, at)
        weight, known, total = 0.0, 0.0, 0.0
        for i in range(start, stop):
            weight += self.weights[rows[i]] if len(self.weights) > 0 else 1.0
        for k in range(count):
            known += weights[k]
            for other in range(count):
                total += weights[k] * weights[other] * self.pairs[places[k], places[other]]
        total = weight * total / (known * known) if known > 0.0 else 0.0
        return weight, total, total <= 0.0


def warm() -> None:
    """Compile the loops of this module."""
    from bisector.solvers.grow_tree import Limits, grow_tree
    from bisector.solvers.sort_columns import sort_columns

    columns = sort_columns(lambda f: np.array([0.0, 1.0]), 2, np.zeros(1, np.int64))
    targets = PairTargets(1.0 - np.eye(2), np.arange(2), np.empty(0))
    grow_tree(targets, columns, Limits(), n_rows=2, stats_shape=(1, 1))
