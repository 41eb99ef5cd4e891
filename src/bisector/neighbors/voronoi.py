"""Condensing that changes no decision, by the Voronoi diagram (LFD, Problem 6.11)."""

from typing import Any

from numpy.typing import NDArray

from bisector.distances.distance import Distance
from bisector.neighbors.kept_rows import Integers
from bisector.neighbors.reducing import Reduced, ReducesRows, contradictions, euclidean_coordinates
from bisector.search.choose import build_index
from bisector.solvers.condense import certify
from bisector.solvers.voronoi import condense_by_cells_beside


class VoronoiCondenser(ReducesRows):
    """Keep the rows whose Voronoi cell has a cell of another class beside it.

    The nearest-neighbour rule of these rows decides everywhere as that of all rows does, not only on the
    training rows: the boundary is made of faces between cells of different classes, and the rows at both sides
    of every such face are kept.

    Parameters
    ----------
    metric : str or Distance, default="euclidean"
        Euclidean distance, with or without weights, elliptical or Mahalanobis distance.
    n_jobs : int, default=None
        Number of threads of the check; the triangulation runs on one.

    Attributes
    ----------
    sample_indices_ : ndarray of int
        The numbers of the rows that are kept, ascending. If all rows have one class, the first.
    consistent_ : bool
        Whether the nearest kept row gives every training row the class that the nearest of all rows gives it.
    reduction_ : float
        The share of the rows that was left out.
    report_ : Reduction
        Prints how many rows of each class are kept.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Which cells are beside each other is read off the Delaunay triangulation, by Qhull. Its size grows fast with
    the dimensions that the rows span: on average 2 simplices a row in the plane, 7 in space, 32, 187, 1,300,
    10,000 and 90,000 in four to eight dimensions. Beyond eight it is refused, and before when it would exceed
    the memory budget. Rows on a line, in a plane and so on are triangulated there. Of rows at one place the
    first decides, as in the rule itself. Sample weights have no meaning here.

    Examples
    --------
    >>> from bisector import VoronoiCondenser
    >>> X = [[0], [1], [2], [3], [10], [11], [12], [13]]
    >>> VoronoiCondenser().fit(X, [0, 0, 0, 0, 1, 1, 1, 1]).sample_indices_
    array([3, 4])
    """

    def __init__(self, *, metric: Any = "euclidean", n_jobs: int | None = None) -> None:
        self.metric = metric
        self.n_jobs = n_jobs

    def _reduce(self, items: Any, distance: Distance, codes: Integers, classes: NDArray[Any]) -> Reduced:
        points = euclidean_coordinates(distance, items, "A Voronoi diagram")
        kept = condense_by_cells_beside(points, codes)
        found = certify(build_index(items, distance), codes, kept, n_jobs=self.n_jobs)
        return Reduced(kept, found.consistent, contradictions(codes, found.wanted), {})
