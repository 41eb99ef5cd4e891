"""Compiled search among strings by bounds that their letters give.

A string has two signatures of 64 bits. In the first, a bit says whether a letter (or a class of letters) occurs
at least so often; in the second, whether a pair of neighbours with a certain hash occurs. An edit can spoil one
bit of the first, in each direction, and two or three of the second.
"""

import math
from typing import Any

import numpy as np

from bisector.engine.bits import popcount
from bisector.engine.loops import given, loop
from bisector.search.ball_tree_loops import grown
from bisector.search.edit_loops import LANES, LevenshteinBits
from bisector.search.heap_loops import EMPTY, is_nearer, replace_worst, sort_heap
from bisector.search.spelling import BITS, Spelling

# Bounds are kept in bytes. Larger ones are rounded down, and the last value says that there is none yet.
LARGEST, NONE_YET = 254, 255
# Strings whose bounds are looked through at once.
GROUP = 64
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
def bound_by_letters(
    counted: Any, signature: int, strange: int, apart: int, summed: bool, bounds: Any
) -> None:
    """Bound the edits to strings whose length differs from the query's by `apart`, from the first signature."""
    for i in range(len(counted)):
        lacking = popcount(counted[i] & ~signature)
        surplus = popcount(signature & ~counted[i]) + strange
        edits = lacking + surplus if summed else max(lacking, surplus)
        bounds[i] = min(max(edits, apart), LARGEST)


@loop
def lost_pairs(paired: int, signature: int) -> int:
    """Return how many bits of the second signature one of two strings has and the other lacks."""
    return max(popcount(paired & ~signature), popcount(signature & ~paired))


@loop
def edits_for_pairs(broken: int) -> Any:
    """Return, for every number of lost pairs, how many edits they take at least, if one breaks so many of them."""
    table = np.empty(BITS + 1, np.int64)
    for lost in range(BITS + 1):
        table[lost] = (lost + broken - 1) // broken
    return table


@loop
def bound_lengths(
    words: Any, lengths: Any, rule: Any, queries: Any, q: int, low: int, high: int, bounds: Any
) -> None:
    """Bound the edits from a query to all strings with at least `low` and less than `high` letters."""
    n = queries.starts[q + 1] - queries.starts[q]
    for length in range(max(low, 0), min(high, len(lengths) - 1)):
        first, stop = lengths[length], lengths[length + 1]
        bound_by_letters(
            words.counted[first:stop], queries.counted[q], queries.strange[q], abs(length - n), rule.summed,
            bounds[first:stop],
        )  # fmt: skip


@loop
def groups_of_lengths(lengths: Any, low: int, high: int) -> tuple[int, int]:
    """Return the groups, from the first to before the last, of strings with `low` to less than `high` letters."""
    most = len(lengths) - 1
    first, stop = lengths[min(max(low, 0), most)], lengths[min(max(high, 0), most)]
    return first // GROUP, (stop + GROUP - 1) // GROUP


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
def list_bounded(
    bounds: Any, first: int, stop: int, most: int, living: Any, paired: Any, pairs: int, edits: Any, listed: Any
) -> int:  # fmt: skip
    """List the strings alive, in some groups, that neither letters nor pairs bound by more than `most`; count them.

    Those that pairs bound by more get that bound, and the others none: this was their turn.
    """
    wanted = np.uint8(most)
    n_found = 0
    for g in range(first, stop):
        n_here = 0
        for j in range(GROUP):
            n_here += bounds[g, j] <= wanted
        if n_here:
            for j in range(GROUP):
                if bounds[g, j] <= wanted:
                    listed[n_found] = g * GROUP + j
                    n_found += 1
    n_listed = 0
    for c in range(n_found):
        i = listed[c]
        tighter = edits[lost_pairs(paired[i], pairs)]
        bounds[i // GROUP, i % GROUP] = tighter if tighter > most else NONE_YET
        listed[n_listed] = i
        n_listed += (tighter <= most) & living[i]
    return n_listed


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
    letters, starts, paired, cost = words.letters, words.starts, words.paired, rule.cost
    edits = edits_for_pairs(rule.broken)
    bounds = np.empty((len(order) // GROUP + 1, GROUP), np.uint8)
    flat = bounds.reshape(bounds.size)
    listed, compared = np.empty(len(flat), np.int64), np.empty(len(flat))
    masks, state = np.zeros(n_letters, np.int64), np.empty((7, LANES), np.int64)
    n_compared, n_living = 0, 0
    for i in range(len(living)):
        n_living += living[i]
    for q in range(len(best)):
        values, found = best[q], numbers[q]
        for i in range(len(values)):
            values[i], found[i] = math.inf, EMPTY
        for i in range(len(flat)):
            flat[i] = NONE_YET
        n = learn_pattern(queries, q, masks)
        low, high = n, n
        left = n_living
        for level in range(_FIRST_LEVEL, LARGEST + 1):
            if left == 0 or level * cost > values[0]:
                break
            # Strings whose lengths differ by more have larger bounds.
            lowest, highest = (n - level, n + level + 1) if level < LARGEST else (0, len(lengths))
            bound_lengths(words, lengths, rule, queries, q, lowest, low, flat)
            bound_lengths(words, lengths, rule, queries, q, high, highest, flat)
            low, high = lowest, highest
            first, stop = groups_of_lengths(lengths, low, high)
            n_listed = list_bounded(
                bounds, first, stop, level, living, paired, queries.paired[q], edits, listed
            )
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
    letters, starts, paired, cost = words.letters, words.starts, words.paired, rule.cost
    edits = edits_for_pairs(rule.broken)
    bounds = np.empty((len(order) // GROUP + 1, GROUP), np.uint8)
    flat = bounds.reshape(bounds.size)
    listed, compared = np.empty(len(flat), np.int64), np.empty(len(flat))
    masks, state = np.zeros(n_letters, np.int64), np.empty((7, LANES), np.int64)
    reduced, numbers = np.empty(0), np.empty(0, np.int64)
    n_found, n_compared = 0, 0
    for q in range(len(limits)):
        for i in range(len(flat)):
            flat[i] = NONE_YET
        n = learn_pattern(queries, q, masks)
        most = int(min(limits[q] / cost, LARGEST))
        low, high = (n - most, n + most + 1) if most < LARGEST else (0, len(lengths))
        bound_lengths(words, lengths, rule, queries, q, low, high, flat)
        first, stop = groups_of_lengths(lengths, low, high)
        n_listed = list_bounded(bounds, first, stop, most, living, paired, queries.paired[q], edits, listed)
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


@loop
def bound_words(words: Any, lengths: Any, rule: Any, queries: Any, q: int, bounds: Any) -> None:
    """Bound the edits from a query to all strings."""
    bound_lengths(words, lengths, rule, queries, q, 0, len(lengths), bounds)
    paired, pairs, edits = words.paired, queries.paired[q], edits_for_pairs(rule.broken)
    for i in range(len(bounds)):
        bounds[i] = max(int(bounds[i]), edits[lost_pairs(paired[i], pairs)])


def warm() -> None:
    """Compile the loops of this module, for Levenshtein distance."""
    from bisector.search.string_search import LetterBound

    letters, numbers, row = given(np.zeros(1, np.int32), np.int32), np.zeros(1, np.int64), np.ones((1, 1))
    starts, zero, lengths = given(np.arange(2)), given(np.zeros(1, np.int64)), given(np.array([0, 0, 1]))
    sign(letters, starts, zero, zero, zero, numbers, numbers.copy(), numbers.copy())
    spelling, alive = Spelling(letters, starts, zero, zero, zero), given(np.ones(1, np.bool_))
    rule = LetterBound(1.0, False, 2)
    bound_words(spelling, lengths, rule, spelling, 0, np.zeros(1, np.uint8))
    metric, found, limit = LevenshteinBits(), np.zeros((1, 1), np.int64), given(np.ones(1))
    find_nearest_words(metric, rule, spelling, lengths, zero, alive, 1, spelling, row, found)
    find_words_within(metric, rule, spelling, lengths, zero, alive, 1, spelling, limit, True, numbers)
