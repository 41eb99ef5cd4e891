"""Compiled steps that merge clusters along the edges of a graph.

A cluster is known by one of its rows. The edges of each stand in a list that is linked both ways, as halves: half
2e belongs to the first end of edge e, half 2e + 1 to the second. When two clusters become one, the list of the
shorter is taken over edge by edge into the longer, so that any edge moves log₂ n times at most; where both have an
edge to a third cluster, a table that finds the edge between two clusters tells so, and one of the two edges goes.

Edges wait in a heap, four below each. Of equally long ones the one comes first whose later end is the earlier, then
whose other end is, in the order in which clusters came about when its length was last written: rows by their
numbers, then merges.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bisector.engine.loops import compile_methods, given, loop

compile_methods(join=lambda self, x, y, between, n_a, n_b, n_k: None)

# Factors below 2³¹ that spread pairs of clusters over the table, without overflow for 2³¹ rows.
_SPREAD_A, _SPREAD_B = 1_540_483_477, 2_024_399_911
# A place of the table that is empty.
_EMPTY = -1


class GraphOfClusters(NamedTuple):
    """Clusters, and the edges between them.

    Attributes
    ----------
    ends : ndarray of int of shape (n_edges, 2)
        The clusters that an edge joins.
    following, before : ndarray of int of shape (2 · n_edges,)
        The halves that stand after and before each half in the list of its cluster, or −1.
    starts, degrees : ndarray of int of shape (n_rows,)
        The first half of each cluster's list, or −1, and how many there are.
    table : ndarray of int
        Edges, at or after the places that their ends give; as many places as a power of two.
    values : ndarray of shape (n_edges,)
        Linkages, or their squares.
    ages : ndarray of int of shape (n_edges,)
        What decides between equal values: the smaller comes first.
    heap, places : ndarray of int of shape (n_edges,)
        Edges, none before the one at a quarter of its place; and where each edge stands, or −1.
    heaped : ndarray of int of shape (1,)
        How many edges the heap has.
    sizes : ndarray of shape (n_rows,)
        How many rows each cluster has.
    numbers : ndarray of int of shape (n_rows,)
        Rows have their own, merges those after them.
    """

    ends: NDArray[np.int64]
    following: NDArray[np.int64]
    before: NDArray[np.int64]
    starts: NDArray[np.int64]
    degrees: NDArray[np.int64]
    table: NDArray[np.int64]
    values: NDArray[np.float64]
    ages: NDArray[np.int64]
    heap: NDArray[np.int64]
    places: NDArray[np.int64]
    heaped: NDArray[np.int64]
    sizes: NDArray[np.float64]
    numbers: NDArray[np.int64]


# Lists and the table. These are called so often that each is handed its few arrays, not the whole graph.


@loop
def link(starts: Any, degrees: Any, following: Any, before: Any, half: int, cluster: int) -> None:
    """Put a half of an edge at the start of a cluster's list."""
    start = starts[cluster]
    following[half], before[half] = start, -1
    if start >= 0:
        before[start] = half
    starts[cluster] = half
    degrees[cluster] += 1


@loop
def unlink(starts: Any, degrees: Any, following: Any, before: Any, half: int, cluster: int) -> None:
    """Take a half of an edge out of a cluster's list."""
    after, earlier = following[half], before[half]
    if earlier >= 0:
        following[earlier] = after
    else:
        starts[cluster] = after
    if after >= 0:
        before[after] = earlier
    degrees[cluster] -= 1


@loop
def table_place(a: int, b: int, last: int) -> int:
    """Return where in a table the edge between two clusters would stand, if it were alone."""
    spread = min(a, b) * _SPREAD_A + max(a, b) * _SPREAD_B
    return (spread ^ (spread >> 29)) & last


@loop
def enter(table: Any, ends: Any, edge: int) -> None:
    """Enter an edge into the table."""
    last = len(table) - 1
    place = table_place(ends[edge, 0], ends[edge, 1], last)
    while table[place] != _EMPTY:
        place = (place + 1) & last
    table[place] = edge


@loop
def edge_between(table: Any, ends: Any, a: int, b: int) -> int:
    """Return the edge between two clusters, or −1."""
    last = len(table) - 1
    place = table_place(a, b, last)
    while table[place] != _EMPTY:
        edge = table[place]
        if (ends[edge, 0] == a and ends[edge, 1] == b) or (ends[edge, 0] == b and ends[edge, 1] == a):
            return edge
        place = (place + 1) & last
    return -1


@loop
def leave(table: Any, ends: Any, edge: int) -> None:
    """Take an edge out of the table; those after it that would no longer be found move up."""
    last = len(table) - 1
    gap = table_place(ends[edge, 0], ends[edge, 1], last)
    while table[gap] != edge:
        gap = (gap + 1) & last
    place = (gap + 1) & last
    while table[place] != _EMPTY:
        other = table[place]
        wanted = table_place(ends[other, 0], ends[other, 1], last)
        if ((place - wanted) & last) >= ((place - gap) & last):
            table[gap], gap = other, place
        place = (place + 1) & last
    table[gap] = _EMPTY


# The heap


@loop
def comes_first(values: Any, ages: Any, edge: int, other: int) -> bool:
    """Tell whether an edge is merged before another."""
    x, y = values[edge], values[other]
    return x < y or (x == y and ages[edge] < ages[other])


@loop
def sink(heap: Any, places: Any, values: Any, ages: Any, count: int, edge: int) -> None:
    """Move an edge away from the top of the heap as far as it belongs."""
    place = places[edge]
    while 4 * place + 1 < count:
        below = 4 * place + 1
        for rival in range(below + 1, min(below + 4, count)):
            if comes_first(values, ages, heap[rival], heap[below]):
                below = rival
        if not comes_first(values, ages, heap[below], edge):
            break
        heap[place] = heap[below]
        places[heap[place]] = place
        place = below
    heap[place], places[edge] = edge, place


@loop
def move_in_heap(heap: Any, places: Any, values: Any, ages: Any, count: int, edge: int) -> None:
    """Put an edge whose value has changed where it belongs: up, and if it stays there, down."""
    place = places[edge]
    while place > 0:
        above = (place - 1) >> 2
        if not comes_first(values, ages, edge, heap[above]):
            break
        heap[place] = heap[above]
        places[heap[place]] = place
        place = above
    heap[place], places[edge] = edge, place
    sink(heap, places, values, ages, count, edge)


@loop
def drop(heap: Any, places: Any, values: Any, ages: Any, count: int, edge: int) -> None:
    """Take an edge out of a heap that has so many afterwards."""
    moved = heap[count]
    if moved != edge:
        places[moved] = places[edge]
        move_in_heap(heap, places, values, ages, count, moved)
    places[edge] = -1


# Merging


@loop
def age_of(numbers: Any, a: int, b: int) -> int:
    """Return the age of an edge between clusters as they are now."""
    x, y = numbers[a], numbers[b]
    return max(x, y) * (2 * len(numbers)) + min(x, y)


@loop
def arrange_edges(graph: Any) -> None:
    """Make lists, table and heap of edges whose ends and values are known."""
    ends, table, values, ages, numbers = graph.ends, graph.table, graph.values, graph.ages, graph.numbers
    starts, degrees, following, before = graph.starts, graph.degrees, graph.following, graph.before
    heap, places, n_edges = graph.heap, graph.places, len(graph.ends)
    for edge in range(n_edges):
        for side in range(2):
            link(starts, degrees, following, before, 2 * edge + side, ends[edge, side])
        enter(table, ends, edge)
        ages[edge] = age_of(numbers, ends[edge, 0], ends[edge, 1])
        heap[edge] = places[edge] = edge
    graph.heaped[0] = n_edges
    for place in range((n_edges - 2) >> 2, -1, -1):
        sink(heap, places, values, ages, n_edges, heap[place])


@loop
def merge_first_edge(graph: Any, shared: Any) -> tuple[int, int, float, int]:
    """Merge the clusters of the first edge of all, as far as lists, table and heap go.

    Returns
    -------
    kept, gone : int
        The cluster that has all edges now, and the other.
    between : float
        Their linkage.
    count : int
        How many neighbours they had in common: `shared` lists the edge that stays and the one that is dropped.
    """
    ends, table, heaped, count = graph.ends, graph.table, graph.heaped, 0
    starts, degrees, following, before = graph.starts, graph.degrees, graph.following, graph.before
    heap, places, values, ages = graph.heap, graph.places, graph.values, graph.ages
    merged = heap[0]
    a, b = ends[merged, 0], ends[merged, 1]
    heaped[0] -= 1
    drop(heap, places, values, ages, heaped[0], merged)
    leave(table, ends, merged)
    unlink(starts, degrees, following, before, 2 * merged, a)
    unlink(starts, degrees, following, before, 2 * merged + 1, b)
    kept, gone = (a, b) if degrees[a] >= degrees[b] else (b, a)
    half = starts[gone]
    while half >= 0:
        after, edge, side = following[half], half >> 1, half & 1
        neighbour = ends[edge, 1 - side]
        leave(table, ends, edge)
        known = edge_between(table, ends, kept, neighbour)
        if known >= 0:
            unlink(starts, degrees, following, before, 2 * edge + 1 - side, neighbour)
            heaped[0] -= 1
            drop(heap, places, values, ages, heaped[0], edge)
            shared[count, 0], shared[count, 1] = known, edge
            count += 1
        else:
            ends[edge, side] = kept
            enter(table, ends, edge)
            link(starts, degrees, following, before, half, kept)
        half = after
    return kept, gone, values[merged], count


@loop
def merge_known_linkages(
    linkage: Any, graph: Any, first: int, stop: int, shared: Any, pairs: Any, levels: Any
) -> None:
    """Make some merges by a linkage that is joined where both parts have one, and else is that of the one part."""
    ends, sizes, numbers, n = graph.ends, graph.sizes, graph.numbers, len(graph.sizes)
    heap, places, values, ages = graph.heap, graph.places, graph.values, graph.ages
    for step in range(first, stop):
        kept, gone, between, count = merge_first_edge(graph, shared)
        pairs[step, 0], pairs[step, 1], levels[step] = kept, gone, between
        numbers[kept], left = n + step, graph.heaped[0]
        n_kept, n_gone = sizes[kept], sizes[gone]
        for t in range(count):
            edge, dropped = shared[t, 0], shared[t, 1]
            neighbour = ends[edge, 0] + ends[edge, 1] - kept
            x, y, n_other = values[edge], values[dropped], sizes[neighbour]
            values[edge] = linkage.join(x, y, between, n_kept, n_gone, n_other)
            ages[edge] = age_of(numbers, kept, neighbour)
            move_in_heap(heap, places, values, ages, left, edge)
        sizes[kept] = n_kept + n_gone


@loop
def link_middles(points: Any, sizes: Any, ward: bool, a: int, b: int) -> float:
    """Return the squared linkage of two clusters known by their middles."""
    square = 0.0
    for j in range(points.shape[1]):
        apart = points[a, j] - points[b, j]
        square += apart * apart
    return square * (2.0 * sizes[a] * sizes[b] / (sizes[a] + sizes[b])) if ward else square


@loop
def measure_middles(graph: Any, points: Any, ward: bool) -> None:
    """Write the squared linkages along all edges."""
    ends, sizes, values = graph.ends, graph.sizes, graph.values
    for edge in range(len(ends)):
        values[edge] = link_middles(points, sizes, ward, ends[edge, 0], ends[edge, 1])


@loop
def merge_along_middles(
    graph: Any, points: Any, ward: bool, halfway: bool, first: int, stop: int, shared: Any, pairs: Any, levels: Any
) -> None:  # fmt: skip
    """Make some merges of clusters known by their middles, which are moved: all edges of a merger change."""
    ends, sizes, numbers, n = graph.ends, graph.sizes, graph.numbers, len(graph.sizes)
    heap, places, values, ages = graph.heap, graph.places, graph.values, graph.ages
    following = graph.following
    for step in range(first, stop):
        kept, gone, between, _ = merge_first_edge(graph, shared)
        pairs[step, 0], pairs[step, 1], levels[step] = kept, gone, between
        numbers[kept], left = n + step, graph.heaped[0]
        share = 0.5 if halfway else sizes[gone] / (sizes[kept] + sizes[gone])
        for j in range(points.shape[1]):
            points[kept, j] += share * (points[gone, j] - points[kept, j])
        sizes[kept] += sizes[gone]
        half = graph.starts[kept]
        while half >= 0:
            edge = half >> 1
            neighbour = ends[edge, 1 - (half & 1)]
            values[edge] = link_middles(points, sizes, ward, kept, neighbour)
            ages[edge] = age_of(numbers, kept, neighbour)
            move_in_heap(heap, places, values, ages, left, edge)
            half = following[half]


def new_graph(ends: NDArray[np.int64], n: int) -> GraphOfClusters:
    """Return rows as clusters of one, and edges between them whose values are not known yet."""
    n_edges = len(ends)
    following, before = np.full((2, 2 * n_edges), -1)
    starts, degrees = np.full(n, -1), np.zeros(n, dtype=np.int64)
    table = np.full(1 << max(2, (2 * n_edges).bit_length()), _EMPTY)
    ages, heap, places = np.empty((3, n_edges), dtype=np.int64)
    heaped, sizes, numbers = np.zeros(1, dtype=np.int64), np.ones(n), np.arange(n)
    edges = np.array(ends, dtype=np.int64, order="C")
    lists = edges, following, before, starts, degrees, table
    return GraphOfClusters(*lists, np.empty(n_edges), ages, heap, places, heaped, sizes, numbers)


def warm() -> None:
    """Compile the loops of this module for all linkages."""
    from bisector.solvers.linkages import FORMULAS

    for formula in FORMULAS.values():
        graph, shared = new_graph(np.array([[0, 1]]), 2), np.empty((2, 2), np.int64)
        made = 0, 1, shared, np.empty((1, 2), np.int64), np.empty(1)
        if formula.values == "distances":
            graph.values[:] = 1.0
            arrange_edges(graph)
            merge_known_linkages(formula, graph, *made)
        else:
            points = np.arange(2.0)[:, None].copy()
            measure_middles(graph, given(points), True)
            arrange_edges(graph)
            merge_along_middles(graph, points, True, False, *made)
