"""Condensing by influence sets (LFD, Problem 6.12)."""

from typing import Any

from numpy.typing import NDArray

from bisector.distances.distance import Distance
from bisector.neighbors.kept_rows import Integers
from bisector.neighbors.reducing import Reduced, ReducesRows, contradictions
from bisector.search.choose import build_index
from bisector.solvers.condense import certify
from bisector.solvers.influence import condense_by_influence


class InfluenceCondenser(ReducesRows):
    """Keep the rows that stand for most others, for the nearest-neighbour rule.

    The influence set of a row holds the rows of its class that are nearer to it than to any row of another
    class. The row with the largest set is kept and its set left out; both no longer count in the sets of
    others; and so on until no set holds a row. What remains is training-set consistent: every row that was left
    out is nearer to a kept row of its class than to any row of another.

    Parameters
    ----------
    metric : str, Distance or callable, default="euclidean"
    n_jobs : int, default=None
        Number of threads; None means all cores allowed here. It never changes the result.

    Attributes
    ----------
    sample_indices_ : ndarray of int
        The numbers of the rows that are kept, ascending.
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
    It takes about two distances for every pair of rows of a class and one for every pair of classes, and memory
    for n numbers: the sets are counted, not stored. Of equally large sets that of the first row goes first.
    Sample weights have no meaning here.

    Examples
    --------
    >>> from bisector import InfluenceCondenser
    >>> X = [[0], [1], [2], [3], [10], [11], [12], [13]]
    >>> InfluenceCondenser().fit(X, [0, 0, 0, 0, 1, 1, 1, 1]).sample_indices_
    array([0, 4])
    """

    def __init__(self, *, metric: Any = "euclidean", n_jobs: int | None = None) -> None:
        self.metric = metric
        self.n_jobs = n_jobs

    def _reduce(self, items: Any, distance: Distance, codes: Integers, classes: NDArray[Any]) -> Reduced:
        index = build_index(items, distance)
        kept = condense_by_influence(index.distance, index.rows, codes, n_jobs=self.n_jobs)
        found = certify(index, codes, kept, n_jobs=self.n_jobs)
        return Reduced(kept, found.consistent, contradictions(codes, found.wanted), {})
