"""What every place to split a run of rows would cost: one compiled pass a node and feature.

Rows stand in the order of a feature, as *records* (its rank in the upper half of 64 bits, the row's number in the
lower). For targets of one kind, ``fill`` sets ``cost[j]`` for every split after the j-th record: what is left
of the impurity, up to a constant of the node, so that the least cost is the largest gain. ``left_weight[j]``
and, where means are constrained, ``left_sum[j]`` are those of the rows on the left.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from bisector.engine.loops import compile_methods, loop
from bisector.engine.values import lowered

ROW = 0xFFFFFFFF

compile_methods(
    of_two=lambda self, p, q: None,
    of_counts=lambda self, counts: None,
    fill=lambda self, scratch, records, start, present, stop, missing_left, stats, weight, base: None,
    describe=lambda self, rows, start, stop, stats: None,
    many_cost=lambda self, scratch, records, start, stop, stats: None,
    key=lambda self, row, which: None,
    n_keys=lambda self: None,
    level=lambda self, stats: None,
)


class SplitScratch(NamedTuple):
    """Room for one thread."""

    cost: Any
    left_weight: Any
    left_sum: Any
    records: Any
    counts: Any
    before: Any
    after: Any


def split_scratch(n_rows: int, n_classes: int, *, medians: bool) -> SplitScratch:
    """Make room for nodes of up to so many rows."""
    linked = n_rows + 2 if medians else 0
    return SplitScratch(
        np.empty(n_rows),
        np.empty(n_rows),
        np.zeros(n_rows),
        np.empty(n_rows, np.int64),
        np.empty((2, max(n_classes, 2))),
        np.empty(linked, np.int64),
        np.empty(linked, np.int64),
    )


@loop
def n_places(start: int, present: int, stop: int, missing_left: bool) -> int:
    """Return after how many of the records that are present a split leaves rows on the right."""
    return present - start - (stop == present or missing_left)


# Labels


@loop
def _two_class_costs(
    impurity: Any, codes: Any, weights: Any, scratch: Any, records: Any, start: int, present: int, stop: int,
    missing_left: bool, totals: Any,
) -> None:  # fmt: skip
    cost, left_weight, left_sum = scratch.cost, scratch.left_weight, scratch.left_sum
    all_positive, all_negative = totals[1], totals[0]
    weighted = len(weights) > 0
    p, n = 0.0, 0.0
    if missing_left:
        for i in range(present, stop):
            row = records[i] & ROW
            w = weights[row] if weighted else 1.0
            n += w
            p += w * codes[row]
    if weighted:
        for i in range(start, present):
            row = records[i] & ROW
            n += weights[row]
            p += weights[row] * codes[row]
            left_weight[i - start] = n
            left_sum[i - start] = p
    else:
        counted = int(p)
        for i in range(start, present):
            counted += codes[records[i] & ROW]
            left_sum[i - start] = counted
        for j in range(present - start):
            left_weight[j] = n + (j + 1)
    for j in range(n_places(start, present, stop, missing_left)):
        p = left_sum[j]
        q = left_weight[j] - p
        cost[j] += impurity.of_two(p, q) + impurity.of_two(
            max(all_positive - p, 0.0), max(all_negative - q, 0.0)
        )


@loop
def _many_class_costs(
    impurity: Any, codes: Any, weights: Any, n_classes: int, scratch: Any, records: Any, start: int,
    present: int, stop: int, missing_left: bool, totals: Any,
) -> None:  # fmt: skip
    cost, left_weight = scratch.cost, scratch.left_weight
    left, right = scratch.counts[0, :n_classes], scratch.counts[1, :n_classes]
    weighted = len(weights) > 0
    n, last = 0.0, n_places(start, present, stop, missing_left)
    for c in range(n_classes):
        left[c] = 0.0
        right[c] = totals[c]
    if missing_left:
        for i in range(present, stop):
            row = records[i] & ROW
            w = weights[row] if weighted else 1.0
            n += w
            left[codes[row]] += w
            right[codes[row]] = max(right[codes[row]] - w, 0.0)
    for i in range(start, start + last):
        row = records[i] & ROW
        w = weights[row] if weighted else 1.0
        n += w
        left[codes[row]] += w
        right[codes[row]] = max(right[codes[row]] - w, 0.0)
        left_weight[i - start] = n
        if i + 1 == present or (records[i] >> 32) != (records[i + 1] >> 32):
            cost[i - start] += impurity.of_counts(left) + impurity.of_counts(right)


@lowered()
class LabelTargets(NamedTuple):
    """Labels of one or several outputs, and the impurity that is to fall."""

    impurity: Any
    codes: Any
    weights: Any
    n_classes: Any

    def fill(
        self, scratch: Any, records: Any, start: int, present: int, stop: int, missing_left: bool,
        stats: Any, weight: float, base: int,
    ) -> None:  # fmt: skip
        scratch.cost[: present - start] = 0.0
        for o in range(len(self.codes)):
            if self.n_classes[o] <= 2:
                _two_class_costs(
                    self.impurity, self.codes[o], self.weights, scratch, records, start, present, stop,
                    missing_left, stats[o],
                )  # fmt: skip
            else:
                _many_class_costs(
                    self.impurity, self.codes[o], self.weights, self.n_classes[o], scratch, records, start,
                    present, stop, missing_left, stats[o],
                )  # fmt: skip

    def many_cost(self, scratch: Any, records: Any, start: int, stop: int, stats: Any) -> float:
        """Return the cost of giving every value of a feature a child of its own."""
        weighted = len(self.weights) > 0
        cost = 0.0
        for o in range(len(self.codes)):
            counts = scratch.counts[0, : max(self.n_classes[o], 2)]
            counts[:] = 0.0
            for i in range(start, stop):
                row = records[i] & ROW
                counts[self.codes[o, row]] += self.weights[row] if weighted else 1.0
                if i + 1 == stop or (records[i] >> 32) != (records[i + 1] >> 32):
                    cost += self.impurity.of_counts(counts)
                    counts[:] = 0.0
        return cost

    def describe(self, rows: Any, start: int, stop: int, stats: Any) -> Any:
        """Count classes; return the weight, the total impurity, and whether there is one class only."""
        weighted = len(self.weights) > 0
        weight, total, pure = 0.0, 0.0, True
        for o in range(len(self.codes)):
            counts = stats[o]
            counts[:] = 0.0
            for i in range(start, stop):
                counts[self.codes[o, rows[i]]] += self.weights[rows[i]] if weighted else 1.0
            held = 0
            for c in range(self.n_classes[o]):
                held += counts[c] > 0.0
            pure = pure and held <= 1
            weight = counts.sum()
            total += self.impurity.of_counts(counts) if held > 1 else 0.0
        return weight, total / len(self.codes), pure

    def key(self, row: int, which: int) -> float:
        """Return what categories are ordered by: whether a row is of a class."""
        o, c = 0, which
        if len(self.codes) == 1 and self.n_classes[0] <= 2:
            return float(self.codes[0, row])
        while c >= self.n_classes[o]:
            c -= self.n_classes[o]
            o += 1
        return 1.0 if self.codes[o, row] == c else 0.0

    def n_keys(self) -> int:
        total = 0
        for o in range(len(self.codes)):
            total += self.n_classes[o]
        return 1 if len(self.codes) == 1 and total <= 2 else total

    def level(self, stats: Any) -> Any:
        """Return what means are measured from, and the sum of all rows."""
        return 0.0, stats[0, 1]


# Numbers


@loop
def _sum_prefix(
    y: Any, weights: Any, center: float, scratch: Any, records: Any, start: int, present: int, stop: int,
    missing_left: bool,
) -> None:  # fmt: skip
    """Set the weights and the sums, measured from `center`, of the rows left of every place."""
    left_weight, left_sum = scratch.left_weight, scratch.left_sum
    weighted = len(weights) > 0
    n, s = 0.0, 0.0
    if missing_left:
        for i in range(present, stop):
            row = records[i] & ROW
            w = weights[row] if weighted else 1.0
            n += w
            s += w * (y[row] - center)
    for i in range(start, present):
        row = records[i] & ROW
        w = weights[row] if weighted else 1.0
        n += w
        s += w * (y[row] - center)
        left_weight[i - start] = n
        left_sum[i - start] = s


@loop
def _mean_and_squares(y: Any, weights: Any, rows: Any, start: int, stop: int) -> Any:
    """Return the weight, the mean, the sum of squares about it, and whether all are equal."""
    weighted = len(weights) > 0
    first = y[rows[start]]
    weight, total, equal = 0.0, 0.0, True
    for i in range(start, stop):
        w = weights[rows[i]] if weighted else 1.0
        weight += w
        total += w * (y[rows[i]] - first)
        equal = equal and y[rows[i]] == first
    mean = first + total / weight
    squares = 0.0
    for i in range(start, stop):
        w = weights[rows[i]] if weighted else 1.0
        squares += w * (y[rows[i]] - mean) ** 2
    return weight, mean, 0.0 if equal else squares, equal


def _key(self: Any, row: int, which: int) -> float:
    """Return what categories are ordered by: the target."""
    return self.y[which, row]


def _n_keys(self: Any) -> int:
    return len(self.y)


def _never_many(self: Any, scratch: Any, records: Any, start: int, stop: int, stats: Any) -> float:
    """Children for every value are not offered."""
    return np.inf


def _no_level(self: Any, stats: Any) -> Any:
    """Means are not constrained."""
    return 0.0, np.nan


# What numeric targets have in common, unless they say otherwise.
OF_NUMBERS: dict[str, Any] = {"key": _key, "n_keys": _n_keys, "many_cost": _never_many, "level": _no_level}


@lowered(**OF_NUMBERS)
class SquaredTargets(NamedTuple):
    """Numbers whose scatter is to fall: the squared distances to the mean."""

    y: Any
    weights: Any

    def fill(
        self, scratch: Any, records: Any, start: int, present: int, stop: int, missing_left: bool,
        stats: Any, weight: float, base: int,
    ) -> None:  # fmt: skip
        cost, left_weight, left_sum = scratch.cost, scratch.left_weight, scratch.left_sum
        cost[: present - start] = 0.0
        for o in range(len(self.y)):
            _sum_prefix(
                self.y[o], self.weights, stats[o, 0], scratch, records, start, present, stop, missing_left
            )
            for j in range(n_places(start, present, stop, missing_left)):
                # The sums of both sides add up to nothing, since they are measured from the mean of the node.
                cost[j] -= left_sum[j] * left_sum[j] * weight / (left_weight[j] * (weight - left_weight[j]))

    def many_cost(self, scratch: Any, records: Any, start: int, stop: int, stats: Any) -> float:
        """Return the cost of giving every value of a feature a child of its own."""
        weighted = len(self.weights) > 0
        cost = 0.0
        for o in range(len(self.y)):
            n, s = 0.0, 0.0
            for i in range(start, stop):
                row = records[i] & ROW
                w = self.weights[row] if weighted else 1.0
                n += w
                s += w * (self.y[o, row] - stats[o, 0])
                if i + 1 == stop or (records[i] >> 32) != (records[i + 1] >> 32):
                    cost -= s * s / n
                    n, s = 0.0, 0.0
        return cost

    def describe(self, rows: Any, start: int, stop: int, stats: Any) -> Any:
        """Set the means; return the weight, the scatter, and whether all rows are equal."""
        weight, total, pure = 0.0, 0.0, True
        for o in range(len(self.y)):
            weight, stats[o, 0], squares, equal = _mean_and_squares(
                self.y[o], self.weights, rows, start, stop
            )
            total += squares
            pure = pure and equal
        return weight, total / len(self.y), pure

    def level(self, stats: Any) -> Any:
        return stats[0, 0], 0.0


@lowered(**OF_NUMBERS)
class PoissonTargets(NamedTuple):
    """Counts whose deviance is to fall: Σ y log(y / mean)."""

    y: Any
    weights: Any
    at_least: float

    def fill(
        self, scratch: Any, records: Any, start: int, present: int, stop: int, missing_left: bool,
        stats: Any, weight: float, base: int,
    ) -> None:  # fmt: skip
        cost, left_weight, left_sum = scratch.cost, scratch.left_weight, scratch.left_sum
        cost[: present - start] = 0.0
        for o in range(len(self.y)):
            mean = stats[o, 0]
            _sum_prefix(self.y[o], self.weights, 0.0, scratch, records, start, present, stop, missing_left)
            for j in range(present - start):
                left, right = left_sum[j], mean * weight - left_sum[j]
                if left > self.at_least * weight and right > self.at_least * weight:
                    cost[j] -= left * math.log(left / left_weight[j] / mean)
                    cost[j] -= right * math.log(right / (weight - left_weight[j]) / mean)
                else:
                    cost[j] = np.inf  # a child may not predict that nothing ever happens

    def describe(self, rows: Any, start: int, stop: int, stats: Any) -> Any:
        weighted = len(self.weights) > 0
        weight, total, pure = 0.0, 0.0, True
        for o in range(len(self.y)):
            weight, mean, _, equal = _mean_and_squares(self.y[o], self.weights, rows, start, stop)
            stats[o, 0] = mean
            for i in range(start, stop):
                count = self.y[o, rows[i]]
                if count > 0.0 and not equal:
                    total += (self.weights[rows[i]] if weighted else 1.0) * count * math.log(count / mean)
            pure = pure and equal
        return weight, max(total, 0.0) / len(self.y), pure


def warm() -> None:
    """Nothing to do: these loops are compiled into those of `grow_tree_loops`."""
