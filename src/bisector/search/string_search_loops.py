"""Compiled search among strings by bounds that their letters give.

A string has two signatures of 64 bits. In the first, a bit says whether a letter (or a class of letters) occurs
at least so often; in the second, whether a pair of neighbours with a certain hash occurs. An edit can spoil one
bit of the first, in each direction, and two or three of the second.
"""

import math
from typing import Any

import numpy as np

from bisector.engine.bits import popcount
from bisector.engine.loops import loop
from bisector.search.ball_tree_loops import grown
from bisector.search.edit_loops import LANES
from bisector.search.heap_loops import EMPTY, is_nearer, replace_worst, sort_heap
from bisector.search.spelling import BITS, GROUP

# Bounds are kept in bytes. Larger ones are rounded down, and the last value says that there is none any more.
LARGEST, NONE_LEFT = 254, 255
# Few strings have a bound up to this, and the nearest are seldom nearer: to compare them at once saves going
# around.
_FIRST_LEVEL = 2


@loop
def sign(
    letters: Any, starts: Any, classes: Any, bit_class: Any, bit_count: Any, strange: Any, counted: Any, paired: Any
) -> None:  # fmt: skip
    """Set the signatures of strings; bit b of the first means at least ``bit_count[b]`` of ``bit_class[b]``."""
    n_classes = 1
    for b in range(len(bit_class)):
        n_classes = max(n_classes, bit_class[b] + 1)
    counts = np.empty(n_classes, np.int64)
    for i in range(len(starts) - 1):
        for c in range(n_classes):
            counts[c] = 0
        unknown, pairs, before = 0, 0, 0
        for place in range(starts[i], starts[i + 1]):
            letter = int(letters[place])
            if letter < 0:
                unknown += 1
            elif classes[letter] < n_classes:
                counts[classes[letter]] += 1
            pairs |= 1 << hashed_pair(before, letter + 2)
            before = letter + 2
        pairs |= 1 << hashed_pair(before, 0)
        found = 0
        for b in range(len(bit_class)):
            if counts[bit_class[b]] >= bit_count[b]:
                found |= 1 << b
        strange[i], counted[i], paired[i] = unknown, found, pairs


@loop
def hashed_pair(first: int, second: int) -> int:
    """Return one of `BITS` numbers for two neighbouring letters; 0 stands for the beginning and the end."""
    return (((first * 31 + second) * 40503) >> 7) % BITS


@loop
def bound_by_signatures(
    counted: Any, paired: Any, letters: int, pairs: int, strange: int, apart: int, rule: Any, bounds: Any
) -> None:
    """Bound the edits from a query with these signatures to strings whose length differs from its by `apart`."""
    broken, summed = rule.broken, rule.summed
    # Lost pairs divided by how many an edit can break, rounded up: exactly so for up to 63 pairs, and 2 or 3.
    inverse = (256 + broken - 1) // broken
    for i in range(len(counted)):
        lacking = popcount(counted[i] & ~letters)
        surplus = popcount(letters & ~counted[i]) + strange
        edits = lacking + surplus if summed else max(lacking, surplus)
        lost = max(popcount(paired[i] & ~pairs), popcount(pairs & ~paired[i]))
        edits = max(max(edits, ((lost + broken - 1) * inverse) >> 8), apart)
        bounds[i] = min(edits, LARGEST)


@loop
def bound_lengths(
    words: Any, lengths: Any, rule: Any, queries: Any, q: int, low: int, high: int, bounds: Any
) -> None:
    """Bound the edits from a query to all strings with at least `low` and less than `high` letters."""
    n = queries.starts[q + 1] - queries.starts[q]
    signatures = queries.counted[q], queries.paired[q], queries.strange[q]
    for length in range(max(low, 0), min(high, len(lengths) - 1)):
        first, stop = lengths[length] * GROUP, lengths[length + 1] * GROUP
        counted, paired = words.counted[first:stop], words.paired[first:stop]
        bound_by_signatures(counted, paired, *signatures, abs(length - n), rule, bounds[first:stop])


@loop
def list_bounded(bounds: Any, first: int, stop: int, most: int, living: Any, listed: Any) -> int:
    """List the strings alive of some groups with a bound of at most `most`, take it away, and count them."""
    wanted = np.uint8(most)
    n_listed = 0
    for g in range(first, stop):
        n_here = 0
        for j in range(GROUP):
            n_here += bounds[g, j] <= wanted
        if n_here:
            for j in range(GROUP):
                if bounds[g, j] <= wanted:
                    bounds[g, j] = NONE_LEFT
                    listed[n_listed] = g * GROUP + j
                    n_listed += living[g * GROUP + j]
    return n_listed


@loop
def learn_pattern(queries: Any, q: int, masks: Any) -> int:
    """Set the bits of the places where each letter stands in a query; return its length."""
    first, stop = queries.starts[q], queries.starts[q + 1]
    for place in range(first, stop):
        if queries.letters[place] >= 0:
            masks[queries.letters[place]] |= 1 << (place - first)
    return stop - first


@loop
def forget_pattern(queries: Any, q: int, masks: Any) -> None:
    """Undo what `learn_pattern` did."""
    for place in range(queries.starts[q], queries.starts[q + 1]):
        if queries.letters[place] >= 0:
            masks[queries.letters[place]] = 0


@loop
def compare_listed(
    metric: Any, cost: float, masks: Any, n: int, letters: Any, starts: Any, listed: Any, n_listed: int, state: Any,
    values: Any,
) -> None:  # fmt: skip
    """Set the distances from the pattern in `masks` to listed strings, those of a length standing together."""
    firsts, edits = state[5], state[6]
    done = 0
    while done < n_listed:
        start = starts[listed[done]]
        length = starts[listed[done] + 1] - start
        n_here = 0
        for b in range(LANES):
            if done + b == n_listed or starts[listed[done + b] + 1] - starts[listed[done + b]] != length:
                break
            firsts[b] = starts[listed[done + b]]
            n_here += 1
        for b in range(n_here, LANES):
            firsts[b] = start
        metric.count_edits(masks, n, letters, firsts, length, state, edits)
        for b in range(n_here):
            values[done + b] = cost * edits[b]
        done += n_here


@loop
def find_nearest_words(
    metric: Any, rule: Any, words: Any, lengths: Any, order: Any, living: Any, n_letters: int, queries: Any,
    best: Any, numbers: Any,
) -> int:  # fmt: skip
    """Find, for each query, the nearest strings, as many as `best` has places; return how many were compared.

    They are compared in the order of their bounds: first those with small ones, then level by level.
    """
    # Taken out of the tuples here: in a loop that would count references.
    letters, starts, cost = words.letters, words.starts, rule.cost
    bounds = np.empty((len(order) // GROUP, GROUP), np.uint8)
    flat = bounds.reshape(bounds.size)
    listed, compared = np.empty(len(order) + 1, np.int64), np.empty(len(order))
    masks, state = np.zeros(n_letters, np.int64), np.empty((7, LANES), np.int64)
    longest = len(lengths) - 1
    n_compared, n_living = 0, 0
    for i in range(len(living)):
        n_living += living[i]
    for q in range(len(best)):
        values, found = best[q], numbers[q]
        for i in range(len(values)):
            values[i], found[i] = math.inf, EMPTY
        n = learn_pattern(queries, q, masks)
        low, high = n, n
        left = n_living
        for level in range(_FIRST_LEVEL, LARGEST + 1):
            if left == 0 or level * cost > values[0]:
                break
            # Strings whose lengths differ by more have larger bounds.
            lowest, highest = (n - level, n + level + 1) if level < LARGEST else (0, longest)
            bound_lengths(words, lengths, rule, queries, q, lowest, low, flat)
            bound_lengths(words, lengths, rule, queries, q, high, highest, flat)
            low, high = lowest, highest
            first, stop = lengths[min(max(low, 0), longest)], lengths[min(high, longest)]
            n_listed = list_bounded(bounds, first, stop, level, living, listed)
            compare_listed(metric, cost, masks, n, letters, starts, listed, n_listed, state, compared)
            n_compared += n_listed
            left -= n_listed
            for c in range(n_listed):
                if compared[c] <= values[0]:
                    number = order[listed[c]]
                    if is_nearer(compared[c], number, values[0], found[0]):
                        replace_worst(values, found, compared[c], number)
        forget_pattern(queries, q, masks)
        sort_heap(values, found)
    return n_compared


@loop
def find_words_within(
    metric: Any, rule: Any, words: Any, lengths: Any, order: Any, living: Any, n_letters: int, queries: Any,
    limits: Any, listing: bool, counts: Any,
) -> Any:  # fmt: skip
    """Count, for each query, the strings whose distance is at most its limit, and list them if so asked.

    Returns
    -------
    reduced, numbers : ndarray
        The list, for one query after the other, in no particular order.
    n_compared : int
        How many strings were compared with a query.
    """
    letters, starts, cost = words.letters, words.starts, rule.cost
    bounds = np.empty((len(order) // GROUP, GROUP), np.uint8)
    flat = bounds.reshape(bounds.size)
    listed, compared = np.empty(len(order) + 1, np.int64), np.empty(len(order))
    masks, state = np.zeros(n_letters, np.int64), np.empty((7, LANES), np.int64)
    reduced, numbers = np.empty(0), np.empty(0, np.int64)
    longest = len(lengths) - 1
    n_found, n_compared = 0, 0
    for q in range(len(limits)):
        n = learn_pattern(queries, q, masks)
        most = int(min(limits[q] / cost, LARGEST))
        low, high = (n - most, n + most + 1) if most < LARGEST else (0, longest)
        bound_lengths(words, lengths, rule, queries, q, low, high, flat)
        first, stop = lengths[min(max(low, 0), longest)], lengths[min(high, longest)]
        n_listed = list_bounded(bounds, first, stop, most, living, listed)
        compare_listed(metric, cost, masks, n, letters, starts, listed, n_listed, state, compared)
        n_compared += n_listed
        if listing and n_found + n_listed > len(reduced):
            reduced, numbers = grown(reduced, n_found + n_listed), grown(numbers, n_found + n_listed)
        counts[q] = 0
        for c in range(n_listed):
            if compared[c] <= limits[q]:
                counts[q] += 1
                if listing:
                    reduced[n_found], numbers[n_found] = compared[c], order[listed[c]]
                    n_found += 1
        forget_pattern(queries, q, masks)
    return reduced[:n_found], numbers[:n_found], n_compared


def warm() -> None:
    """Compile the loops of this module, for Levenshtein distance."""
    from bisector.search.string_search import StringIndex

    index = StringIndex(["word"])
    index.query(["ward", "wo" * 40])
    index.query_radius(["ward"], 1.0)
