"""Agglomerative clustering along a graph: only clusters that an edge joins may be merged.

Two clusters are neighbours if a row of the one has an edge to a row of the other. Of all neighbours the closest are
merged, until one cluster is left; a graph of several components is completed first (`bisector.solvers.row_graph`).
How close neighbours are:

- **Ward**, **centroid** and **median** linkage compare middles, as they do without a graph.
- **Single** linkage is the shortest edge between two clusters: a minimum spanning tree of the graph.
- **Complete**, **average** and **weighted** linkage know distances along edges only. Where both parts of a merger
  have a linkage to a third cluster, that of the merger follows by the formula of the linkage; where one part has,
  it is that one's. So it is in scikit-learn.

Certificate: replayed in the order of the result, each merge joins two neighbours than which none are closer. Levels
rise, except those by middles: a cluster may become the neighbour of one to which it is closer than its parts were
to each other. There is no n² memory: m edges take some 150 bytes each, and about m·log m steps, unless clusters by
middles have many neighbours, all of which must be compared again with every merger.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.distances.coordinate_distance import CoordinateDistance
from bisector.distances.distance import Distance, Rows
from bisector.distances.numeric_rows import NumericRows
from bisector.distances.reductions import cut
from bisector.distances.terms import SquaredTerms, WeightedTerms
from bisector.engine.memory import require
from bisector.engine.progress import track
from bisector.solvers.linkages import FORMULAS
from bisector.solvers.merge import Hierarchy, euclidean_points, merge_clusters, number
from bisector.solvers.row_graph import Components, edge_lengths, join_components
from bisector.solvers.spanning_tree import sorted_edges

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# What an edge takes, at most, and how many merges are made between two looks at the clock.
_BYTES_OF_EDGE, _AT_ONCE = 150, 2**15


def merge_along_graph(
    distance: Distance,
    rows: Rows,
    linkage: str,
    ends: Integers,
    components: Components,
    *,
    n_jobs: int | None = None,
) -> Hierarchy:
    """Merge rows into ever larger clusters along the edges of a graph.

    Parameters
    ----------
    distance : Distance
    rows : Rows
        Prepared by it; at least one.
    linkage : str
        One of ``LINKAGES``. Ward, centroid and median linkage need rows of Euclidean space.
    ends : ndarray of int of shape (n_edges, 2)
        The edges, each once, the smaller row first, in the order of the first rows.
    components : Components
        Of the graph, from `find_components`; if there are several, they are joined by their nearest rows.
    n_jobs : int, optional

    Returns
    -------
    Hierarchy
        Merges in the order in which they were made.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.distances import Euclidean
    >>> from bisector.solvers.merge_graph import merge_along_graph
    >>> from bisector.solvers.row_graph import find_components
    >>> rows = Euclidean().prepare(np.array([[0.0], [1.0], [5.0]]))
    >>> ends = np.array([[0, 2], [1, 2]])
    >>> merge_along_graph(Euclidean(), rows, "single", ends, find_components(ends, 3)).levels
    array([4., 5.])
    """
    n, by_middles = len(rows), linkage != "single" and FORMULAS[linkage].values == "squares"
    points = _points(distance, rows) if by_middles else None
    if by_middles and points is None:
        raise ValueError(
            f'linkage="{linkage}" along a graph compares the middles of clusters, but {distance!r} gives rows no '
            'coordinates: take linkage="average", "weighted", "complete" or "single".'
        )
    # Without edges every two rows are a pair of components that is joined: any clusters may be merged.
    if components.number == n or 2 * len(ends) == n * (n - 1):
        return merge_clusters(distance, rows, linkage, n_jobs=n_jobs)
    if components.number > 1:
        joining = join_components(distance, rows, components, n_jobs=n_jobs)
        ends = np.concatenate([ends, joining])
        ends = ends[np.lexsort((ends[:, 1], ends[:, 0]))]
    if linkage == "single":
        return _merge_by_shortest(distance, rows, ends, n_jobs)
    require(
        len(ends) * _BYTES_OF_EDGE,
        doing=f"Merging {n:,} rows along a graph",
        holding=f"{len(ends):,} edges",
        instead='use linkage="single", or a graph with fewer edges',
    )
    if points is not None:
        return _merge_by_middles(points, linkage, ends)
    lengths = edge_lengths(distance, rows, ends, n_jobs=n_jobs)
    return _merge_by_linkages(FORMULAS[linkage], n, ends, lengths)


def _points(distance: Distance, rows: Rows) -> Floats | None:
    """Return rows as points of Euclidean space; features that have weights are stretched by their roots."""
    if isinstance(distance, CoordinateDistance) and isinstance(rows, NumericRows) and not distance.may_miss:
        formula = distance.lower(rows.values.shape[1])
        if isinstance(formula, WeightedTerms) and isinstance(formula.inner, SquaredTerms):
            return rows.dense(range(len(rows))).astype(np.float64) * np.sqrt(formula.weights)
    return euclidean_points(distance, rows)


def _merge_by_shortest(distance: Distance, rows: Rows, ends: Integers, n_jobs: int | None) -> Hierarchy:
    """Merge by the edges of a minimum spanning tree of the graph."""
    from bisector.engine.loops import given
    from bisector.solvers.row_graph_loops import choose_spanning_edges

    lengths = edge_lengths(distance, rows, ends, reduced=True, n_jobs=n_jobs)
    ends, lengths = sorted_edges(ends, lengths)
    chosen = np.empty(len(rows) - 1, dtype=np.int64)
    choose_spanning_edges(given(ends), len(rows), chosen)
    return number(ends[chosen], distance.between(rows, rows).finish(lengths[chosen]))


def _merge_by_linkages(formula: Any, n: int, ends: Integers, lengths: Floats) -> Hierarchy:
    """Merge by linkages that follow from those of the parts."""
    from bisector.solvers import merge_graph_loops as loops

    graph = loops.new_graph(ends, n)
    graph.values[:] = lengths
    loops.arrange_edges(graph)

    def merge(part: range, *made: Any) -> None:
        loops.merge_known_linkages(formula, graph, part.start, part.stop, *made)

    return _merge_all(merge, n)


def _merge_by_middles(points: Floats, linkage: str, ends: Integers) -> Hierarchy:
    """Merge by the distances of middles, which move; the points are overwritten."""
    from bisector.engine.loops import given
    from bisector.solvers import merge_graph_loops as loops

    ward, halfway = linkage == "ward", linkage == "median"
    graph = loops.new_graph(ends, len(points))
    loops.measure_middles(graph, given(points), ward)
    loops.arrange_edges(graph)

    def merge(part: range, *made: Any) -> None:
        loops.merge_along_middles(graph, points, ward, halfway, part.start, part.stop, *made)

    found = _merge_all(merge, len(points))
    return found._replace(levels=np.sqrt(found.levels))


def _merge_all(merge: Any, n: int) -> Hierarchy:
    """Let a loop make all merges, some at a time."""
    shared, pairs, levels = np.empty((n, 2), np.int64), np.empty((n - 1, 2), np.int64), np.empty(n - 1)
    with track("merging", total=n - 1) as bar:
        for part in cut(n - 1, _AT_ONCE):
            merge(part, shared, pairs, levels)
            bar.advance(len(part))
    return number(pairs, levels)
