"""Compiled edit distances of short strings, by operations on bits, a few for each letter.

One string is the pattern: bit i stands for its i-th letter, and ``masks[c]`` has the bits of the places where
letter c stands in it. Other strings are read letter by letter, `LANES` of the same length at once. For each of
their beginnings there is a column of the table of distances between beginnings of both; neighbours in it differ
by −1, 0 or 1, so two words of bits hold it: where it rises and where it falls. A letter updates them all at once
(Myers, 1999; Hyyrö, 2003). For common subsequences one word does (Hyyrö, 2004).

Patterns have up to `LONGEST` letters, so that no sum of two words exceeds a signed integer of 64 bits.
"""

from typing import Any, NamedTuple

import numpy as np

from bisector.engine.bits import popcount
from bisector.engine.loops import compile_methods, given, loop
from bisector.engine.values import lowered

LONGEST = 62
LANES = 32

compile_methods(count_edits=lambda self, masks, n, letters, firsts, length, state, edits: None)


@lowered()
class LevenshteinBits(NamedTuple):
    """How many letters must be inserted, deleted or substituted."""

    longest: int = LONGEST

    def count_edits(
        self, masks: Any, n: int, letters: Any, firsts: Any, length: int, state: Any, edits: Any
    ) -> None:
        full, last = (1 << n) - 1, max(n - 1, 0)
        equal, rising, falling = state[0], state[1], state[2]
        for b in range(LANES):
            rising[b], falling[b], edits[b] = full, 0, n
        for place in range(length):
            for b in range(LANES):
                equal[b] = masks[letters[firsts[b] + place]]
            for b in range(LANES):
                diagonal = ((((equal[b] & rising[b]) + rising[b]) ^ rising[b]) | equal[b] | falling[b]) & full
                right = (falling[b] | ~(diagonal | rising[b])) & full
                left = diagonal & rising[b]
                edits[b] += ((right >> last) & 1) - ((left >> last) & 1)
                right = ((right << 1) | 1) & full
                rising[b] = ((left << 1) | ~(diagonal | right)) & full
                falling[b] = right & diagonal
        if n == 0:  # a pattern without letters has no last row to follow
            for b in range(LANES):
                edits[b] = length


@lowered()
class SwapBits(NamedTuple):
    """The same, where two neighbours may also change places, if they are not edited besides (optimal alignment)."""

    longest: int = LONGEST

    def count_edits(
        self, masks: Any, n: int, letters: Any, firsts: Any, length: int, state: Any, edits: Any
    ) -> None:
        full, last = (1 << n) - 1, max(n - 1, 0)
        equal, rising, falling, before, diagonals = state[0], state[1], state[2], state[3], state[4]
        for b in range(LANES):
            rising[b], falling[b], edits[b] = full, 0, n
            before[b], diagonals[b] = 0, 0
        for place in range(length):
            for b in range(LANES):
                equal[b] = masks[letters[firsts[b] + place]]
            for b in range(LANES):
                swapped = ((~diagonals[b] & equal[b]) << 1) & before[b]
                diagonal = (
                    (((equal[b] & rising[b]) + rising[b]) ^ rising[b]) | equal[b] | falling[b] | swapped
                ) & full
                right = (falling[b] | ~(diagonal | rising[b])) & full
                left = diagonal & rising[b]
                edits[b] += ((right >> last) & 1) - ((left >> last) & 1)
                right = ((right << 1) | 1) & full
                rising[b] = ((left << 1) | ~(diagonal | right)) & full
                falling[b] = right & diagonal
                before[b], diagonals[b] = equal[b], diagonal
        if n == 0:
            for b in range(LANES):
                edits[b] = length


@lowered()
class IndelBits(NamedTuple):
    """How many letters must be inserted or deleted."""

    longest: int = LONGEST

    def count_edits(
        self, masks: Any, n: int, letters: Any, firsts: Any, length: int, state: Any, edits: Any
    ) -> None:
        count_common(masks, n, letters, firsts, length, state, edits)
        for b in range(LANES):
            edits[b] = n + length - 2 * edits[b]


@lowered()
class SubsequenceBits(NamedTuple):
    """The letters of the longer string less those of the longest common subsequence."""

    longest: int = LONGEST

    def count_edits(
        self, masks: Any, n: int, letters: Any, firsts: Any, length: int, state: Any, edits: Any
    ) -> None:
        count_common(masks, n, letters, firsts, length, state, edits)
        for b in range(LANES):
            edits[b] = max(n, length) - edits[b]


@loop
def count_common(masks: Any, n: int, letters: Any, firsts: Any, length: int, state: Any, common: Any) -> None:
    """Count the letters of longest common subsequences."""
    full = (1 << n) - 1
    equal, unmatched = state[0], state[1]
    for b in range(LANES):
        unmatched[b] = full
    for place in range(length):
        for b in range(LANES):
            equal[b] = masks[letters[firsts[b] + place]]
        for b in range(LANES):
            matched = unmatched[b] & equal[b]
            unmatched[b] = ((unmatched[b] + matched) | (unmatched[b] - matched)) & full
    for b in range(LANES):
        common[b] = n - popcount(unmatched[b])


def warm() -> None:
    """Compile the loop of this module; the others become part of those that search."""
    zeros, lanes = np.zeros(1, np.int64), np.zeros(LANES, np.int64)
    letters = given(np.zeros(1, np.int32), np.int32)
    count_common(zeros, 1, letters, lanes, 1, np.zeros((7, LANES), np.int64), lanes.copy())
