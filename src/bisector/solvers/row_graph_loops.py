"""Compiled steps on graphs between rows: lengths of edges, nearest rows of components, spanning edges."""

from typing import Any

import numpy as np

from bisector.distances.tile_loops import gather_entries, weigh_columns
from bisector.engine.loops import given, loop
from bisector.solvers.boruvka_loops import find_root


@loop
def measure_edges(formula: Any, rows: Any, ends: Any, first: int, stop: int, lengths: Any) -> None:
    """Write the reduced distances between the ends of some edges."""
    n_features = rows.shape[1]
    weights, bare = weigh_columns(formula, n_features), formula.bare()
    for e in range(first, stop):
        a, b, total = ends[e, 0], ends[e, 1], 0.0
        for j in range(n_features):
            total = bare.gather(total, bare.term(rows[a, j], rows[b, j], weights[j]))
        lengths[e] = total


@loop
def measure_sparse_edges(formula: Any, rows: Any, ends: Any, first: int, stop: int, lengths: Any) -> None:
    """Do as `measure_edges` does, along the entries of sparse rows (values, columns, starts of rows)."""
    for e in range(first, stop):
        lengths[e] = gather_entries(formula, rows, ends[e, 0], rows, ends[e, 1])


@loop
def keep_nearest_pairs(
    there: Any, back: Any, numbers: Any, groups: Any, outer: int, inner: int, best: Any, pairs: Any
) -> None:
    """Keep the nearest rows of any two groups, as far as a tile of reduced distances shows them.

    Rows stand in the order of their groups, and have other `numbers`. The tile begins at the places `outer` and
    `inner`; `there` has distances from outer to inner rows, `back` those from inner to outer ones: what counts is
    the distance from the smaller number to the larger. Columns of `best` are groups from that of `inner` on.
    """
    height, width = there.shape
    first = groups[inner]
    for i in range(height):
        a, own = numbers[outer + i], groups[outer + i]
        for t in range(width):
            group = groups[inner + t]
            if group <= own:
                continue
            b = numbers[inner + t]
            apart = there[i, t] if a < b else back[i, t]
            if apart > best[own, group - first]:
                continue
            low, high = min(a, b), max(a, b)
            rival_low, rival_high = pairs[own, group - first, 0], pairs[own, group - first, 1]
            before = rival_low < 0 or low < rival_low or (low == rival_low and high < rival_high)
            if apart < best[own, group - first] or (apart == best[own, group - first] and before):
                best[own, group - first] = apart
                pairs[own, group - first, 0], pairs[own, group - first, 1] = low, high


@loop
def choose_spanning_edges(ends: Any, n: int, chosen: Any) -> int:
    """Choose edges one after the other that join what is not joined yet (Kruskal); return how many there are."""
    parents, count = np.arange(n), 0
    for e in range(len(ends)):
        a, b = find_root(parents, ends[e, 0]), find_root(parents, ends[e, 1])
        if a != b:
            parents[max(a, b)] = min(a, b)
            chosen[count] = e
            count += 1
            if count == n - 1:
                break
    return count


def warm() -> None:
    """Compile the loops of this module for Euclidean distance."""
    from bisector.distances.terms import SquaredTerms

    ends, lengths, numbers = given(np.array([[0, 1]])), np.empty(1), given(np.arange(2))
    measure_edges(SquaredTerms(), given(np.ones((2, 1))), ends, 0, 1, lengths)
    entries = given(np.ones(2)), given(np.zeros(2, np.int64)), given(np.arange(3))
    measure_sparse_edges(SquaredTerms(), entries, ends, 0, 1, lengths)
    tile = given(np.ones((1, 1)))
    keep_nearest_pairs(tile, tile, numbers, numbers, 0, 1, np.empty((1, 1)), np.full((1, 1, 2), -1))
    choose_spanning_edges(ends, 2, np.empty(1, np.int64))
