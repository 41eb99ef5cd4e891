"""Condensed nearest neighbours: a subset that answers to the training rows as all rows do (LFD 6.2.3)."""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bisector.distances.distance import Distance
from bisector.engine.validation import check_choice, check_seed
from bisector.neighbors.kept_rows import Integers
from bisector.neighbors.reducing import Reduced, ReducesRows, check_neighbors, contradictions
from bisector.search.choose import build_index
from bisector.solvers.condense import Condensed, condense_by_cells, condense_one_by_one


class CondensedNearestNeighbor(ReducesRows):
    """Keep a subset of the training rows whose k-NN rule gives every training row the class that all rows give it.

    That is training-set consistency. It does not say that every row gets its own label: for k > 1 not even all
    rows promise that. Elsewhere decisions may change, near the boundary; `VoronoiCondenser` leaves all as they
    are.

    Parameters
    ----------
    n_neighbors : int, default=1
        The k of the rule.
    metric : str, Distance or callable, default="euclidean"
    method : {"auto", "by_cells", "one_by_one"}, default="auto"
        "one_by_one" is the textbook's algorithm, for any k: begin with k rows; while some row x is answered
        otherwise than by all rows, add the row nearest to x that is not yet kept and has the class that all
        rows give x. "by_cells", for k = 1, begins with the row nearest to the mean of each class (the medoid
        where rows have no mean) and adds at once, for every kept row, the nearest of those that it answers
        wrongly. It does not depend on the order of the rows, but for ties, and is faster. "auto" takes it for k
        = 1.
    random_state : int, numpy.random.Generator or None, default=None
        Of "one_by_one": draws the rows to begin with and the order in which rows are looked at. None begins
        with the first k rows and looks at them in their order.
    n_jobs : int, default=None
        Number of threads; None means all cores allowed here. It never changes the result.

    Attributes
    ----------
    sample_indices_ : ndarray of int
        The numbers of the rows that are kept, ascending.
    consistent_ : bool
        Whether the rule of the kept rows agrees with that of all rows on every training row, as found by asking
        both.
    reduction_ : float
        The share of the rows that was left out.
    report_ : Reduction
        Prints how many rows of each class are kept.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    It takes about n·m distances to keep m of n rows, and memory for n·k numbers. Sample weights have no
    meaning here: repeating a row changes nothing for k = 1.

    With more than two classes and k > 2, all rows of the class that x should get may be kept already while
    other votes outnumber them; then the nearest row of any class is added. LFD's Exercise 6.7 has two classes
    in mind.

    References
    ----------
    Hart (1968), The condensed nearest neighbor rule. Angiulli (2005), Fast condensed nearest neighbor rule.

    Examples
    --------
    >>> from bisector import CondensedNearestNeighbor, datasets
    >>> condenser = CondensedNearestNeighbor().fit(*datasets.four_gaussians())
    >>> condenser.report_
    CondensedNearestNeighbor: 4 of 1,000 rows
    =========================================
    <BLANKLINE>
    class  rows  kept  share
    -1      498     2   0.4%
    1       502     2   0.4%
    all    1000     4   0.4%
    <BLANKLINE>
    Consistent: what is kept answers to every training row as all rows do.
    """

    def __init__(
        self,
        n_neighbors: int = 1,
        *,
        metric: Any = "euclidean",
        method: Literal["auto", "by_cells", "one_by_one"] = "auto",
        random_state: int | np.random.Generator | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.method = method
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _reduce(self, items: Any, distance: Distance, codes: Integers, classes: NDArray[Any]) -> Reduced:
        k = check_neighbors(self.n_neighbors, len(codes), len(codes))
        method = check_choice("method", self.method, ("auto", "by_cells", "one_by_one"))
        if method == "by_cells" and k > 1:
            raise ValueError(f'method="by_cells" is for n_neighbors=1, not {k}: take "one_by_one" or "auto".')
        rng = None if self.random_state is None else check_seed(self.random_state)
        found: Condensed
        if k == 1 and method != "one_by_one":
            found = condense_by_cells(distance, distance.prepare(items), codes, n_jobs=self.n_jobs)
        else:
            index = build_index(items, distance)
            found = condense_one_by_one(index, codes, len(classes), k, rng=rng, n_jobs=self.n_jobs)
        remarks = contradictions(codes, found.wanted) if k == 1 else []
        return Reduced(found.kept, found.consistent, remarks, {})
