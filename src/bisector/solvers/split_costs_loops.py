"""What every place to split a run of rows would cost: one compiled pass a node and feature.

Rows stand in the order of a feature, as *records* (its rank in the upper half of 64 bits, the row's number in the
lower). For targets of one kind, ``fill`` sets ``cost[j]`` for every split after the j-th record: what is left of the
impurity, up to a constant of the node, so that the least cost is the largest gain. ``left_weight[j]`` and, where means
are constrained, ``left_sum[j]`` are those of the rows on the left.

Medians cost no more than means: the rows of a node are linked in the order of their targets, all of them first; then
the last of the run is unlinked, and the one before it, and the median moves by a step or two each time.
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
    for j in range(present - start):
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
    n = 0.0
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
    for i in range(start, present):
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


@lowered()
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
            for j in range(present - start):
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

    def key(self, row: int, which: int) -> float:
        return self.y[which, row]

    def n_keys(self) -> int:
        return len(self.y)

    def level(self, stats: Any) -> Any:
        return stats[0, 0], 0.0


@lowered()
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

    def many_cost(self, scratch: Any, records: Any, start: int, stop: int, stats: Any) -> float:
        return np.inf

    def describe(self, rows: Any, start: int, stop: int, stats: Any) -> Any:
        weighted = len(self.weights) > 0
        weight, total, pure = 0.0, 0.0, True
        for o in range(len(self.y)):
            weight, mean, squares, equal = _mean_and_squares(self.y[o], self.weights, rows, start, stop)
            stats[o, 0] = mean
            for i in range(start, stop):
                count = self.y[o, rows[i]]
                if count > 0.0 and not equal:
                    total += (self.weights[rows[i]] if weighted else 1.0) * count * math.log(count / mean)
            pure = pure and equal
        return weight, max(total, 0.0) / len(self.y), pure

    def key(self, row: int, which: int) -> float:
        return self.y[which, row]

    def n_keys(self) -> int:
        return len(self.y)

    def level(self, stats: Any) -> Any:
        return 0.0, np.nan


# Medians


@loop
def _link(places: Any, rows_here: Any, records: Any, first: int, last: int, step: int, scratch: Any) -> Any:
    """Mark the places of the records first, first + step, …, last."""
    i = first
    while i != last + step:
        scratch.before[places[records[i] & ROW] - rows_here] = 1
        i += step


@loop
def _add_deviations(
    targets: Any, o: int, scratch: Any, records: Any, first: int, last: int, other: int, after_other: int,
    base: int, size: int, center: float, offset: int,
) -> None:  # fmt: skip
    """Add to ``cost[i − offset]`` the deviations of the records from `first` to i, and of some others, for every i.

    The records are taken away one by one from `last` back to `first`; what remains is linked in the order of its
    targets.
    """
    y, places, order = targets.y[o], targets.places[o], targets.orders[o]
    weighted = len(targets.weights) > 0
    before, after, cost = scratch.before, scratch.after, scratch.cost
    step = 1 if last >= first else -1
    before[: size + 2] = 0
    _link(places, base - 1, records, first, last, step, scratch)
    if after_other > other:
        _link(places, base - 1, records, other, after_other - 1, 1, scratch)
    # Places 1 … size; 0 and size + 1 are the ends.
    total, weight, latest = 0.0, 0.0, 0
    for place in range(1, size + 1):
        if before[place] == 1:
            row = order[base + place - 1]
            w = targets.weights[row] if weighted else 1.0
            weight += w
            total += w * (y[row] - center)
            before[place] = latest
            after[latest] = place
            latest = place
    after[latest] = size + 1
    before[size + 1] = latest
    middle, below, sum_below = after[0], 0.0, 0.0
    i = last
    while True:
        # The median is the first place up to which at least half of the weight lies.
        row = order[base + middle - 1]
        w = targets.weights[row] if weighted else 1.0
        while below + w < 0.5 * weight and after[middle] <= size:
            below += w
            sum_below += w * (y[row] - center)
            middle = after[middle]
            row = order[base + middle - 1]
            w = targets.weights[row] if weighted else 1.0
        while below >= 0.5 * weight and before[middle] > 0:
            middle = before[middle]
            row = order[base + middle - 1]
            w = targets.weights[row] if weighted else 1.0
            below -= w
            sum_below -= w * (y[row] - center)
        median = y[row] - center
        rest = total - sum_below - w * median
        cost[i - offset] += median * below - sum_below + rest - median * (weight - below - w)
        if i == first:
            return
        gone = records[i] & ROW
        place = places[gone] - (base - 1)
        w = targets.weights[gone] if weighted else 1.0
        weight -= w
        total -= w * (y[gone] - center)
        if place < middle:
            below -= w
            sum_below -= w * (y[gone] - center)
        elif place == middle:
            if after[middle] <= size:
                middle = after[middle]
            else:
                middle = before[middle]
                row = order[base + middle - 1]
                w = targets.weights[row] if weighted else 1.0
                below -= w
                sum_below -= w * (y[row] - center)
        after[before[place]] = after[place]
        before[after[place]] = before[place]
        i -= step


@lowered()
class AbsoluteTargets(NamedTuple):
    """Numbers whose absolute deviations from the median are to fall.

    `orders` are the rows of every node in ascending order of y, `places` where in it each row stands.
    """

    y: Any
    weights: Any
    orders: Any
    places: Any

    def fill(
        self, scratch: Any, records: Any, start: int, present: int, stop: int, missing_left: bool,
        stats: Any, weight: float, base: int,
    ) -> None:  # fmt: skip
        size, n = stop - start, present - start
        scratch.cost[:n] = 0.0
        weighted = len(self.weights) > 0
        total = 0.0
        if missing_left:
            for i in range(present, stop):
                total += self.weights[records[i] & ROW] if weighted else 1.0
        for i in range(start, present):
            total += self.weights[records[i] & ROW] if weighted else 1.0
            scratch.left_weight[i - start] = total
        for o in range(len(self.y)):
            center = stats[o, 0]
            left = (present, stop) if missing_left else (0, 0)
            _add_deviations(
                self, o, scratch, records, start, present - 1, left[0], left[1], base, size, center, start
            )
            if n > 1:
                right = (0, 0) if missing_left else (present, stop)
                _add_deviations(
                    self, o, scratch, records, present - 1, start + 1, right[0], right[1], base, size,
                    center, start + 1,
                )  # fmt: skip
            if present < stop and not missing_left:
                # All that is present on the left: the missing ones alone on the right.
                _add_deviations(
                    self, o, scratch, records, present, present, present + 1, stop, base, size, center,
                    start + 1,
                )  # fmt: skip

    def many_cost(self, scratch: Any, records: Any, start: int, stop: int, stats: Any) -> float:
        return np.inf

    def describe(self, rows: Any, start: int, stop: int, stats: Any) -> Any:
        """Set the medians; return the weight, the sum of deviations, and whether all rows are equal."""
        weighted = len(self.weights) > 0
        weight, total, pure = 0.0, 0.0, True
        for o in range(len(self.y)):
            weight = 0.0
            for i in range(start, stop):
                weight += self.weights[self.orders[o, i]] if weighted else 1.0
            below, i = 0.0, start
            while True:
                w = self.weights[self.orders[o, i]] if weighted else 1.0
                if below + w >= 0.5 * weight or i + 1 == stop:
                    break
                below += w
                i += 1
            median = self.y[o, self.orders[o, i]]
            if below + w == 0.5 * weight and i + 1 < stop:
                median = 0.5 * median + 0.5 * self.y[o, self.orders[o, i + 1]]
            stats[o, 0] = median
            for i in range(start, stop):
                row = self.orders[o, i]
                total += (self.weights[row] if weighted else 1.0) * abs(self.y[o, row] - median)
            pure = pure and self.y[o, self.orders[o, start]] == self.y[o, self.orders[o, stop - 1]]
        return weight, total / len(self.y), pure

    def key(self, row: int, which: int) -> float:
        return self.y[which, row]

    def n_keys(self) -> int:
        return len(self.y)

    def level(self, stats: Any) -> Any:
        return 0.0, np.nan
