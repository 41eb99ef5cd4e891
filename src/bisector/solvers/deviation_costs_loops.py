"""What splits cost when absolute deviations from the median are to fall.

Medians cost no more than means: the rows of a node are linked in the order of their targets, all of them first;
then the last of the run is unlinked, and the one before it, and the median moves by a step or two each time. So a
node and feature take a number of steps proportional to the rows, unless their weights are very unequal.
"""

from typing import Any, NamedTuple

from bisector.engine.loops import loop
from bisector.engine.values import lowered
from bisector.solvers.split_costs_loops import OF_NUMBERS, ROW


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


@lowered(**OF_NUMBERS)
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


def warm() -> None:
    """Nothing to do: these loops are compiled into those of `grow_tree_loops`."""
