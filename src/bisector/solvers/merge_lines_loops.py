"""Compiled steps that make the line of a cluster, its linkages to all others, from the rows.

All rows stand column-wise in tiles of equal width: first one row of every cluster, in the order of the clusters,
then the further ones in the same order. So the columns of the first rows become those of the clusters, and the
others are gathered into them.
"""

import math
from typing import Any

import numpy as np

from bisector.distances.tile_loops import gather_row, weigh_columns
from bisector.engine.loops import compile_methods, given, loop
from bisector.solvers.merge_loops import nearest_alive

compile_methods(fold=lambda self, total, value, share: None)


@loop
def fold_tile(linkage: Any, formula: Any, totals: Any, share: float, line: Any) -> None:
    """Gather the distances of a row, known by their reduced values, into a part of the line of its cluster."""
    for b in range(len(line)):
        line[b] = linkage.fold(line[b], formula.finish(totals[b]), share)


@loop
def gather_distances(
    linkage: Any, formula: Any, weights: Any, tiles: Any, rows: Any, shares: Any, first: int, line: Any
) -> None:
    """Gather the distances of the rows of a cluster to all rows in the tiles from `first` on."""
    width = tiles.shape[2]
    totals = np.empty(width)
    for tile in range(first, len(tiles)):
        start = tile * width
        part = line[start : start + width]
        for b in range(len(part)):
            part[b] = 0.0
        for r in range(len(rows)):
            gather_row(formula, weights, rows[r], tiles[tile], totals)
            fold_tile(linkage, formula, totals, shares[r], part)


@loop
def gather_clusters(linkage: Any, shares: Any, cluster_of: Any, m: int, first: int, line: Any) -> None:
    """Gather the columns of rows into those of their clusters, from cluster `first` on.

    No cluster before it may be looked at afterwards.
    """
    for c in range(first, m):
        line[c] = linkage.fold(0.0, line[c], shares[c])
    for b in range(m + np.searchsorted(cluster_of[m:], first), len(cluster_of)):
        c = cluster_of[b]
        line[c] = linkage.fold(line[c], line[b], shares[b])


@loop
def make_line(linkage: Any, formula: Any, weights: Any, clusters: Any, c: int, first: int, line: Any) -> None:
    """Make the line of cluster c from cluster `first` on; it is NaN to itself."""
    start, stop = clusters.starts[c], clusters.starts[c + 1]
    rows, own = clusters.points[start:stop], clusters.own_shares[start:stop]
    tile = first // clusters.tiles.shape[2]
    gather_distances(linkage, formula, weights, clusters.tiles, rows, own, tile, line)
    gather_clusters(linkage, clusters.shares, clusters.cluster_of, len(clusters.starts) - 1, first, line)
    line[c] = math.nan


@loop
def find_nearest_by_rows(
    linkage: Any, formula: Any, clusters: Any, asked: Any, nearest: Any, lowest: Any
) -> None:
    """Find whoever is nearest to some clusters."""
    m, n = len(clusters.starts) - 1, len(clusters.cluster_of)
    weights, bare = weigh_columns(formula, clusters.points.shape[1]), formula.bare()
    line, alive = np.empty(n), np.zeros(m, np.int64)
    bits = line.view(np.int64)
    for q in range(len(asked)):
        c = asked[q]
        make_line(linkage, bare, weights, clusters, c, 0, line)
        nearest[c] = nearest_alive(bits[:m], alive)
        lowest[c] = line[nearest[c]]


@loop
def write_lines(
    linkage: Any, formula: Any, clusters: Any, first: int, stop: int, lines: Any, matrix: Any
) -> None:
    """Write the lines of consecutive clusters and, across the diagonal, their columns.

    Sums come out a bit differently when the rows of the other cluster go first: only one half is computed.
    """
    m = len(clusters.starts) - 1
    weights, bare = weigh_columns(formula, clusters.points.shape[1]), formula.bare()
    for c in range(first, stop):
        line = lines[c - first]
        make_line(linkage, bare, weights, clusters, c, first, line)
        for b in range(c, m):
            matrix[c, b] = line[b]
    for b in range(first, m):
        for c in range(first, min(b, stop)):
            matrix[b, c] = lines[c - first, b]


def warm() -> None:
    """Compile the loops of this module for Euclidean distance."""
    from bisector.distances.terms import SquaredTerms
    from bisector.solvers.linkages import FORMULAS
    from bisector.solvers.merge_lines import RowsOfClusters

    formula = SquaredTerms()
    rows = RowsOfClusters.alone(np.arange(4.0)[:, None])
    nearest, lowest = np.empty(4, np.int64), np.empty(4)
    for linkage in (FORMULAS["complete"], FORMULAS["average"]):
        find_nearest_by_rows(linkage, formula, rows, given(np.arange(4)), nearest, lowest)
        write_lines(linkage, formula, rows, 0, 4, np.empty((4, 4)), np.empty((4, 4)))
