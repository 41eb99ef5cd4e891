"""Compiled tiles of Jaccard distances: from words of bits, or along lists of elements.

Without weights the distance is the quotient of two counts, so that it has the same bits however the counts were
made. With weights, sums run over the elements in ascending order, whatever the form of the sets.
"""

from typing import Any

import numpy as np

from bisector.engine.bits import popcount
from bisector.engine.loops import given, loop

# Words taken per visit to the running counts, which stay in registers for so many.
_UNROLLED = 4


@loop
def pack_lists(starts: Any, elements: Any, n_elements: int, words: Any) -> None:
    """Set the bits of the elements of each set in its row of words, which are zero; leave out those too large."""
    for i in range(len(words)):
        for e in range(starts[i], starts[i + 1]):
            if elements[e] < n_elements:
                words[i, elements[e] >> 6] |= np.int64(1) << (elements[e] & 63)


@loop
def write_ratios(size: int, sizes: Any, first: int, common: Any, out: Any, row: int, column: int) -> None:
    """Write the distances of one set to consecutive ones from how many elements each has in common with it."""
    for b in range(len(common)):
        union = size + sizes[first + b] - common[b]
        out[row, column + b] = (union - common[b]) / union if union > 0 else 0.0


@loop
def stand_wordwise(words: Any, first: int, columns: Any) -> None:
    """Copy rows of words from `first` on into columns, as many as there are."""
    n_words, n = columns.shape
    for b in range(n):
        for w in range(n_words):
            columns[w, b] = words[first + b, w]


@loop
def count_common(row: Any, columns: Any, common: Any) -> None:
    """Count the bits that a row of words has in common with each of several, which stand column-wise."""
    n_words, n = columns.shape
    for b in range(n):
        common[b] = 0
    whole = n_words - n_words % _UNROLLED
    for w in range(0, whole, _UNROLLED):
        x0, x1, x2, x3 = row[w], row[w + 1], row[w + 2], row[w + 3]
        for b in range(n):
            common[b] += (
                popcount(x0 & columns[w, b])
                + popcount(x1 & columns[w + 1, b])
                + popcount(x2 & columns[w + 2, b])
                + popcount(x3 & columns[w + 3, b])
            )
    for w in range(whole, n_words):
        x = row[w]
        for b in range(n):
            common[b] += popcount(x & columns[w, b])


@loop
def fill_from_words(
    outer: Any, outer_sizes: Any, outer_from: int, inner: Any, inner_sizes: Any, inner_from: int,
    out: Any, row: int, column: int, n_rows: int, n_columns: int,
) -> None:  # fmt: skip
    """Write the distances of consecutive outer sets to consecutive inner sets into a rectangle of `out`."""
    columns = np.empty((inner.shape[1], n_columns), dtype=np.int64)
    stand_wordwise(inner, inner_from, columns)
    common = np.empty(n_columns, dtype=np.int64)
    for i in range(n_rows):
        count_common(outer[outer_from + i], columns, common)
        write_ratios(outer_sizes[outer_from + i], inner_sizes, inner_from, common, out, row + i, column)


@loop
def post(starts: Any, elements: Any, first: int, n: int, places: Any, postings: Any) -> None:
    """List, for each element, in which of n consecutive sets it is.

    Sets from `first` on are meant; ``places`` has a zero for each element, and elements that it does not cover are
    left out. Afterwards, where ``places[e]`` is p > 0, ``postings[p]`` is the length of e's list, which follows it.
    """
    for e in range(starts[first], starts[first + n]):
        if elements[e] < len(places):
            places[elements[e]] -= 1
    used = 1
    for b in range(n):
        for e in range(starts[first + b], starts[first + b + 1]):
            if elements[e] < len(places):
                place = places[elements[e]]
                if place < 0:  # met for the first time, minus as often as it will be
                    length = -place
                    place = used
                    places[elements[e]] = place
                    postings[place] = 0
                    used += length + 1
                postings[place] += 1
                postings[place + postings[place]] = b


@loop
def fill_from_lists(
    outer: Any, outer_from: int, inner: Any, inner_sizes: Any, inner_from: int, places: Any,
    out: Any, row: int, column: int, n_rows: int, n_columns: int,
) -> None:  # fmt: skip
    """Do as `fill_from_words` does, from lists (starts, elements), touching only what sets have in common.

    ``places`` has a zero for each element that is looked for, before and after.
    """
    outer_starts, outer_elements = outer
    inner_starts, inner_elements = inner
    begin, end = inner_starts[inner_from], inner_starts[inner_from + n_columns]
    postings = np.empty(2 * (end - begin) + 1, dtype=np.int64)
    post(inner_starts, inner_elements, inner_from, n_columns, places, postings)
    common = np.empty(n_columns, dtype=np.int64)
    for i in range(n_rows):
        start, stop = outer_starts[outer_from + i], outer_starts[outer_from + i + 1]
        common[:] = 0
        for e in range(start, stop):
            place = places[outer_elements[e]] if outer_elements[e] < len(places) else 0
            if place > 0:
                for b in postings[place + 1 : place + 1 + postings[place]]:
                    common[b] += 1
        write_ratios(stop - start, inner_sizes, inner_from, common, out, row + i, column)
    for e in range(begin, end):
        if inner_elements[e] < len(places):
            places[inner_elements[e]] = 0


@loop
def fill_weighted_from_words(
    weights: Any, outer: Any, outer_from: int, inner: Any, inner_from: int,
    out: Any, row: int, column: int, n_rows: int, n_columns: int,
) -> None:  # fmt: skip
    """Do as `fill_from_words` does, each element counting with its weight."""
    columns = np.empty((inner.shape[1], n_columns), dtype=np.int64)
    stand_wordwise(inner, inner_from, columns)
    union = np.empty(n_columns)
    differing = np.empty(n_columns)
    for i in range(n_rows):
        union[:] = 0.0
        differing[:] = 0.0
        for j in range(len(weights)):
            word, bit, weight = j >> 6, j & 63, weights[j]
            if (outer[outer_from + i, word] >> bit) & 1:
                for b in range(n_columns):
                    inside = np.float64((columns[word, b] >> bit) & 1)
                    union[b] += weight
                    differing[b] += weight * (1.0 - inside)
            else:
                for b in range(n_columns):
                    inside = np.float64((columns[word, b] >> bit) & 1)
                    union[b] += weight * inside
                    differing[b] += weight * inside
        for b in range(n_columns):
            out[row + i, column + b] = differing[b] / union[b] if union[b] > 0.0 else 0.0


@loop
def fill_weighted_from_lists(
    weights: Any, outer: Any, outer_from: int, inner: Any, inner_from: int,
    out: Any, row: int, column: int, n_rows: int, n_columns: int,
) -> None:  # fmt: skip
    """Do as `fill_weighted_from_words` does, along two lists (starts, elements) at a time, in ascending order."""
    outer_starts, outer_elements = outer
    inner_starts, inner_elements = inner
    for i in range(n_rows):
        for b in range(n_columns):
            x, x_end = outer_starts[outer_from + i], outer_starts[outer_from + i + 1]
            y, y_end = inner_starts[inner_from + b], inner_starts[inner_from + b + 1]
            union = 0.0
            differing = 0.0
            while x < x_end or y < y_end:
                in_x = y == y_end or (x < x_end and outer_elements[x] <= inner_elements[y])
                in_y = x == x_end or (y < y_end and inner_elements[y] <= outer_elements[x])
                weight = weights[outer_elements[x] if in_x else inner_elements[y]]
                union += weight
                if in_x != in_y:
                    differing += weight
                x += in_x
                y += in_y
            out[row + i, column + b] = differing / union if union > 0.0 else 0.0


def warm() -> None:
    """Compile all loops, for `bisector.warmup`."""
    starts, elements, sizes = (given(np.array(part, dtype=np.int64)) for part in ([0, 1, 2], [0, 1], [1, 1]))
    words = np.zeros((2, 1), dtype=np.int64)
    pack_lists(starts, elements, 2, words)
    packed, lists, weights = given(words), (starts, elements), given(np.ones(2))
    places, out, place = np.zeros(2, dtype=np.int64), np.empty((2, 2)), (0, 0, 2, 2)
    fill_from_words(packed, sizes, 0, packed, sizes, 0, out, *place)
    fill_from_lists(lists, 0, lists, sizes, 0, places, out, *place)
    fill_weighted_from_words(weights, packed, 0, packed, 0, out, *place)
    fill_weighted_from_lists(weights, lists, 0, lists, 0, out, *place)
