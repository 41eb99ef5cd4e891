"""Compiled steps of the perceptron: walk over rows, step at mistakes, and measure weights on all rows.

A walk makes the same mistakes, in the same order, as the plain rule: look at every row, sum w·x in the order of the
features, step if y(w·x) ≤ 0. It looks at fewer rows. A row that was looked at keeps its surplus, y(w·x)/‖x‖
less the distance of w from some reference weights v; and since y(w·x) ≥ y(v·x) − ‖w − v‖·‖x‖, it is surely
right as long as its surplus exceeds the drift ‖w − v‖. There are several references, weights that the walk had
not long ago. What is looked at is scored in the fastest order of summation, and in the order of the features
only where rounding could decide.
"""

from typing import Any, NamedTuple

import numpy as np

from bisector.engine.loops import given, loop
from bisector.solvers.row_loops import add_row, score_in_order, score_rows, some_rows

# Why a walk came back.
CONVERGED, STALLED, EXHAUSTED, NEEDS_ORDERS, NEEDS_MEASURING, NEEDS_ROOM, TOO_LARGE = range(7)

# So many rows are scored together at most.
GROUP = 64
# Up to so many rows, weights are measured after every step.
FEW_ROWS = 64
# Squared lengths beyond this are near the end of float64.
LARGEST_SQUARE = 1e300


class WalkingRule(NamedTuple):
    """What stays the same during a walk.

    Attributes
    ----------
    eta : float
        Length of a step.
    slack : float
        Bounds what rounding does to a score, as a share of ‖w‖·‖x‖.
    averaged, recorded, validated, inline : bool
        Whether weights are averaged over the visits; steps are recorded; other rows than those walked over judge
        the weights, after every pass; and rows are measured within the loop, rather than by whoever called it.
    most_passes : int
    patience : int
        Number of passes without better weights after which the walk may end.
    tolerance : float
        And below this margin, as a share of the longest row; negative: never.
    improvement : float
        How much better weights must be to count as better.
    """

    eta: float
    slack: float
    averaged: bool
    recorded: bool
    validated: bool
    inline: bool
    most_passes: int
    patience: int
    tolerance: float
    improvement: float


KEPT = np.dtype([("surplus", np.float32), ("reference", np.int32)])


class WalkingRows(NamedTuple):
    """What is known of each row.

    Attributes
    ----------
    labels : ndarray of int8
        +1, −1, or 0 for a row that is left out.
    weights, judged : ndarray
        Weight in walking and in judging; either may be empty: all one.
    mistakes : ndarray
        Number of steps.
    kept : record array
        The surplus, and the number of the reference that it belongs to.
    """

    labels: Any
    weights: Any
    judged: Any
    mistakes: Any
    kept: Any


class WalkingWeights(NamedTuple):
    """Weight vectors: current, at the start, of the longest run, best, and for averages; and the last
    references, with an upper bound on the distance of the current weights from each; number k stands in row k
    modulo their number."""

    w: Any
    start: Any
    run: Any
    pocket: Any
    moments: Any
    references: Any
    drifts: Any


class WalkRecord(NamedTuple):
    """The steps in their order: pass, row, and length."""

    passes: Any
    rows: Any
    steps: Any


# Where a walk stands, as a record that loops change:
# - why it came back; the passes that are complete, the number of the present one among the orders given, and
#   the next place in its order;
# - rows passed by in all (visits), mistakes in this pass (wrong), steps in all (updates), and steps recorded;
# - an upper bound on ‖w‖ (norm), and the largest x·x seen;
# - rows passed by without mistake since the last step (run), and the most since rows were measured (longest);
# - numbers of the oldest and newest reference, and the rows looked at since that was made;
# - weight of the rows that the pocket's weights have wrong (best), the pass in which they were found
#   (better_at), and whether rows were measured in this pass;
# - whether there were many mistakes in the pass before, so that references, each of which costs time at every
#   mistake, would spare few looks, and there are none.
COURSE = np.dtype(
    [(name, np.int64) for name in ("why", "passes", "batch", "place", "wrong", "recorded")]
    + [(name, np.int64) for name in ("run", "longest", "oldest", "newest", "looked", "better_at")]
    + [(name, np.float64) for name in ("visits", "updates", "norm", "largest", "best")]
    + [(name, np.int64) for name in ("measured", "many")]
)


def blank_records(count: int, kind: Any) -> Any:
    """Make records of zeros whose fields are attributes, in loops and outside."""
    return np.zeros(count, dtype=kind).view(np.recarray)


class Measured(NamedTuple):
    """What rows say about weights: weight of those wrong under the current ones and under those of the longest run,
    the smallest y(w·x) under the current ones, and the largest x·x."""

    wrong: float
    wrong_run: float
    smallest: float
    largest: float


@loop(fast=True)
def length(w: Any) -> float:
    total = 0.0
    for j in range(len(w)):
        total += w[j] * w[j]
    return np.sqrt(total)


@loop(fast=True)
def distance(w: Any, v: Any) -> float:
    total = 0.0
    for j in range(len(w)):
        total += (w[j] - v[j]) * (w[j] - v[j])
    return np.sqrt(total)


@loop
def copy_into(target: Any, w: Any) -> None:
    for j in range(len(w)):  # assigning to a slice takes far longer to compile
        target[j] = w[j]


@loop
def measure(rows: Any, about: Any, w: Any, run: Any, first: Any, last: Any) -> Any:
    """Measure the current weights, and those of the longest run unless it is empty, on rows `first` to `last`."""
    both = len(run) > 0
    wrong = wrong_run = largest = 0.0
    smallest = np.inf
    scores, others, squares = np.empty(GROUP), np.empty(GROUP), np.empty(GROUP)
    numbers = np.empty(GROUP, np.int64)
    for start in range(first, last, GROUP):
        count = min(last - start, GROUP)
        for g in range(count):
            numbers[g] = start + g
        score_rows(rows, numbers[:count], w, scores, squares)
        if both:
            score_rows(rows, numbers[:count], run, others, squares)
        for g in range(count):
            i = numbers[g]
            y, square = about.labels[i], squares[g] if squares[g] <= LARGEST_SQUARE else np.inf
            if y == 0.0:
                continue
            margin = y * scores[g]
            smallest, largest = min(smallest, margin), max(largest, square)
            counts = about.judged[i] if len(about.judged) else 1.0
            # As predictions are made: a score of zero is negative.
            if (scores[g] > 0.0) != (y > 0):
                wrong += counts
            if both and (others[g] > 0.0) != (y > 0):
                wrong_run += counts
    return Measured(wrong, wrong_run if both else np.inf, smallest, largest)


@loop
def settle(found: Any, rule: Any, weights: Any, course: Any) -> None:
    """Put better weights into the pocket."""
    here = course[0]
    if min(found.wrong, found.wrong_run) < here.best:
        if min(found.wrong, found.wrong_run) < here.best - rule.improvement:
            here.better_at = here.passes
        here.best = min(found.wrong, found.wrong_run)
        copy_into(weights.pocket, weights.w if found.wrong <= found.wrong_run else weights.run)
    here.longest = 0
    here.largest = max(here.largest, found.largest)
    here.measured = 1


@loop
def walk(rows: Any, about: Any, order: Any, rule: Any, weights: Any, record: Any, course: Any) -> int:
    """Go on along the order, from the place where the walk stands; return why it stopped, or −1 at the end.

    Rows that must be looked at are gathered and scored in groups, which a mistake breaks off.
    """
    here = course[0]
    places, numbers = np.empty(GROUP, np.int64), np.empty(GROUP, np.int64)
    scores, squares = np.empty(GROUP), np.empty(GROUP)
    kept, drifts, turn = about.kept, weights.drifts, len(weights.drifts)
    place, wanted = here.place, 4
    while place < len(order):
        if here.looked * 8 >= len(order) and not here.many and drifts[here.newest % turn] > 0.0:
            renew_reference(weights, here)
        count, ahead = 0, place
        while ahead < len(order) and count < wanted:
            i = order[ahead]
            reference = kept[i].reference
            if reference < here.oldest or not kept[i].surplus > drifts[reference % turn]:
                places[count], numbers[count] = ahead, i
                count += 1
            ahead += 1
        score_rows(rows, numbers[:count], weights.w, scores, squares)
        here.looked += count
        wrong = -1
        taken = drifts[here.newest % turn] + 2.0 * rule.slack * here.norm
        for g in range(count):
            i, long = numbers[g], np.sqrt(squares[g])
            if not squares[g] <= LARGEST_SQUARE:
                return TOO_LARGE
            if abs(scores[g]) <= rule.slack * here.norm * long:
                scores[g] = score_in_order(rows, i, weights.w)
            if about.labels[i] * scores[g] <= 0.0:
                wrong = g
                break
            here.largest = max(here.largest, squares[g])
            keep_surplus(about, i, scores[g], long, taken, here.newest)
        passed = (ahead if wrong < 0 else places[wrong]) - place
        place += passed
        here.visits += passed
        here.run += passed
        if wrong < 0:
            wanted = min(GROUP, 2 * wanted)
        elif rule.recorded and here.recorded == len(record.rows):
            here.place = place
            return NEEDS_ROOM
        else:
            wanted = max(4, wanted // 2)
            step_at(rows, numbers[wrong], scores[wrong], squares[wrong], about, rule, weights, record, here)
            place += 1
            if rule.inline and len(order) <= FEW_ROWS:  # so few that all weights can be measured
                settle(
                    measure(rows, about, weights.w, weights.run[:0], np.int64(0), rows.n_rows),
                    rule,
                    weights,
                    course,
                )
    here.place = place
    return -1


@loop
def keep_surplus(about: Any, i: int, score: float, long: float, taken: float, newest: int) -> None:
    """Note by how much a row is right; rounded down, since it is kept in single precision."""
    surplus = about.labels[i] * score / long if long > 0.0 else -np.inf
    about.kept[i].surplus = surplus - taken - 1e-6 * (abs(surplus) + taken)
    about.kept[i].reference = newest


@loop
def renew_reference(weights: Any, here: Any) -> None:
    """Make the current weights a reference; the oldest may have to go."""
    turn = len(weights.drifts)
    here.looked = 0
    here.newest += 1
    here.oldest = max(here.oldest, here.newest - turn + 1)
    copy_into(weights.references[here.newest % turn], weights.w)
    weights.drifts[here.newest % turn] = 0.0


@loop
def step_at(
    rows: Any,
    i: int,
    score: float,
    square: float,
    about: Any,
    rule: Any,
    weights: Any,
    record: Any,
    here: Any,
) -> None:
    """Step towards a row on the wrong side."""
    if here.run > here.longest:
        here.longest = here.run
        copy_into(weights.run, weights.w)
    here.run = 0
    y, count = about.labels[i], 1.0
    if len(about.weights):
        count = steps_to_go(about.weights[i], -y * score, rule.eta * square)
    step = rule.eta * count * y
    add_row(rows, i, step, weights.w)
    about.mistakes[i] += count
    here.updates += count
    here.wrong += 1
    if rule.averaged:
        add_row(rows, i, step * here.visits, weights.moments)
    if rule.recorded:
        record.passes[here.recorded], record.rows[here.recorded] = here.passes, i
        record.steps[here.recorded] = step
        here.recorded += 1
    here.largest = max(here.largest, square)
    here.visits += 1
    if len(rows.starts) == 0 or 8 * (rows.starts[i + 1] - rows.starts[i]) > rows.n_features:
        here.norm = length(weights.w) * (1.0 + rule.slack)
        for number in range(here.oldest, here.newest + 1):
            k = number % len(weights.drifts)
            weights.drifts[k] = distance(weights.w, weights.references[k]) * (1.0 + 2.0 * rule.slack)
    else:  # too few values to look at all weights for them: ‖w + c x − v‖² = ‖w − v‖² + 2c (w − v)·x + c² x·x
        long, before = np.sqrt(square), here.norm
        here.norm = further(
            before, 2.0 * step * score, step * step * square, rule.slack * abs(step) * before * long
        )
        for number in range(here.oldest, here.newest + 1):
            k = number % len(weights.drifts)
            ahead = score - score_in_order(rows, i, weights.references[k])
            rounding = 2.0 * rule.slack * abs(step) * (2.0 * before + weights.drifts[k]) * long
            weights.drifts[k] = further(weights.drifts[k], 2.0 * step * ahead, step * step * square, rounding)


@loop
def further(distance: float, change: float, square: float, rounding: float) -> float:
    """Return an upper bound on a distance whose square changes by these terms and an error within `rounding`."""
    total = distance * distance + change + square + rounding
    return np.sqrt(max(total, 0.0) + 1e-15 * (distance * distance + abs(change) + square)) * (1.0 + 1e-15)


@loop
def steps_to_go(weight: float, behind: float, gain: float) -> float:
    """Return how many steps a row takes that is shown so many times, `weight`: until it is right, if it ever is.

    Each step brings its score, which lies `behind` zero, forward by `gain`.
    """
    return min(weight, np.floor(behind / gain) + 1.0) if gain > 0.0 else weight


@loop
def walk_passes(
    rows: Any, about: Any, orders: Any, rule: Any, weights: Any, record: Any, course: Any
) -> None:
    """Walk along one order after the other, until no mistake is made or something is needed."""
    here = course[0]
    while here.batch < len(orders):
        order = orders[here.batch]
        here.why = walk(rows, about, order, rule, weights, record, course)
        if here.why >= 0:
            return
        # Many mistakes: probably no plane separates the rows, and the best weights are worth measuring. Few:
        # perhaps the walk is near its end, so that they are measured after 2, 4, 8 … times the patience.
        many, rounds = here.wrong * 64 >= len(order), (here.passes + 1) // rule.patience
        few = rounds > 1 and (here.passes + 1) % rule.patience == 0 and rounds & (rounds - 1) == 0
        due = rule.validated or (here.wrong > 0 and (many or few))
        if due and not here.measured:
            if not rule.inline:
                here.why = NEEDS_MEASURING
                return
            settle(
                measure(rows, about, weights.w, weights.run, np.int64(0), rows.n_rows),
                rule,
                weights,
                course,
            )
        here.why = end_pass(rule, weights, course)
        if here.why <= EXHAUSTED:
            return
        here.many = many
        if many:
            here.oldest = here.newest + 1
    here.why = NEEDS_ORDERS


@loop
def end_pass(rule: Any, weights: Any, course: Any) -> int:
    """Count a pass, and say whether it was the last."""
    here = course[0]
    wrong, measured = here.wrong, here.measured
    here.passes += 1
    here.batch += 1
    here.place = here.wrong = here.measured = 0
    if wrong == 0:
        return CONVERGED
    if measured and rule.tolerance >= 0.0 and here.passes > here.better_at + rule.patience:
        # Of separable rows, a plane with margin γ gains ηγ by every step: γ ≤ ‖w − w₀‖ / (η · steps).
        moved = distance(weights.w, weights.start)
        if rule.validated or moved <= rule.tolerance * np.sqrt(here.largest) * rule.eta * here.updates:
            return STALLED
    return EXHAUSTED if here.passes >= rule.most_passes else NEEDS_ORDERS


def warm() -> None:
    """Compile the loops of this module."""
    none = given(np.empty(0))
    rule = WalkingRule(1.0, 1e-15, True, True, True, True, 1, 1, 0.0, 0.0)
    for rows in some_rows():
        sides = given(np.array([1, -1], np.int8), np.int8)
        about = WalkingRows(sides, none, none, np.zeros(2), blank_records(2, KEPT))
        w, start, run, pocket, moments = np.zeros((5, 3))
        weights = WalkingWeights(w, start, run, pocket, moments, np.zeros((2, 3)), np.zeros(2))
        record = WalkRecord(np.zeros(2, np.int64), np.zeros(2, np.int64), np.zeros(2))
        course = blank_records(1, COURSE)
        walk_passes(rows, about, given(np.array([[0, 1]])), rule, weights, record, course)
        settle(measure(rows, about, weights.w, weights.run, 0, 2), rule, weights, course)
