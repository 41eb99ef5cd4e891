"""Compiled steps from scores to a ranking, and from a ranking to its ROC curve."""

from typing import Any

import numpy as np

from bisector.engine.loops import given, loop


@loop
def split(values: Any, positive: Any, above: Any, below: Any) -> None:
    """Copy the values of positive rows to `above` and the others to `below`, each one place longer than needed."""
    i, j = 0, 0
    for row in range(len(values)):
        # Both are written and one counts: labels in random order would mislead a branch every other time.
        above[i] = values[row]
        below[j] = values[row]
        step = int(positive[row])
        i += step
        j += 1 - step


@loop
def merge(
    above: Any, below: Any, above_weight: Any, below_weight: Any, scores: Any, positives: Any, negatives: Any
) -> int:
    """Merge ascending scores of positives and negatives; return how many different ones there are.

    Equal scores become one, whose positives and negatives are what they weigh in total.
    """
    i, j, last = 0, 0, -1
    before, positive, negative = np.nan, 0.0, 0.0
    while i < len(above) and j < len(below):
        # Nothing here branches: which class comes next is as good as random.
        a, b = above[i], below[j]
        take_above, take_below = a <= b, b <= a
        value = a if take_above else b
        another = value != before
        last += int(another)
        positive = (0.0 if another else positive) + above_weight[i] * take_above
        negative = (0.0 if another else negative) + below_weight[j] * take_below
        scores[last] = value
        positives[last] = positive
        negatives[last] = negative
        before = value
        i += int(take_above)
        j += int(take_below)
    last = append_rest(above, above_weight, i, last, scores, positives, negatives)
    last = append_rest(below, below_weight, j, last, scores, negatives, positives)
    return last + 1


@loop
def append_rest(values: Any, weights: Any, first: int, last: int, scores: Any, own: Any, others: Any) -> int:
    """Append the values from `first` on, all of one class, after the place `last`; return the last place then."""
    for i in range(first, len(values)):
        if last < 0 or values[i] != scores[last]:
            last += 1
            scores[last] = values[i]
            own[last] = 0.0
            others[last] = 0.0
        own[last] += weights[i]
    return last


@loop
def count_corners(positives: Any, negatives: Any) -> int:
    """Count the points of the ROC curve that are the first, the last, or between two different steps."""
    count = min(len(positives), 2)
    for g in range(len(positives) - 2):
        count += int((positives[g] != positives[g + 1]) | (negatives[g] != negatives[g + 1]))
    return count


@loop
def walk_curve(
    scores: Any, positives: Any, negatives: Any, corners: bool, true: Any, false: Any, thresholds: Any
) -> float:
    """Walk from the highest score down and note points of the ROC curve; return the area below it.

    A point says how much of the positives and of the negatives lies at or above its threshold. If `corners`, one
    between two equal steps is left out, but never the first.
    """
    n, place, area = len(scores), -1, 0.0
    total_true, total_false = 0.0, 0.0
    for k in range(n):
        g = n - 1 - k
        area += negatives[g] * (total_true + 0.5 * positives[g])
        total_true += positives[g]
        total_false += negatives[g]
        later = min(g + 1, n - 1)
        same = (k > 1) & (positives[g] == positives[later]) & (negatives[g] == negatives[later])
        place += 1 - int(corners & same)
        true[place] = total_true
        false[place] = total_false
        thresholds[place] = scores[g]
    return area


def warm() -> None:
    """Compile the loops of this module."""
    one, yes = given(np.ones(1)), given(np.ones(1, bool))
    split(one, yes, np.zeros(2), np.zeros(1))
    merge(one, one, one, one, np.zeros(2), np.zeros(2), np.zeros(2))
    count_corners(one, one)
    walk_curve(one, one, one, True, np.zeros(1), np.zeros(1), np.zeros(1))
