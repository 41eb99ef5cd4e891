"""Which index suits the rows and the distance."""

from typing import Any

from bisector.distances.coordinate_distance import CoordinateDistance
from bisector.distances.distance import Distance
from bisector.distances.names import resolve
from bisector.distances.strings import StringDistance
from bisector.engine.validation import check_choice, check_count
from bisector.search.index import Index
from bisector.search.string_search import StringIndex, letter_bound

ALGORITHMS = ("auto", "brute", "kd_tree", "ball_tree", "metric_tree", "string_search")
# Below so many rows, comparing with each is at least as fast as any tree.
FEW_ROWS = 512
# With more coordinates than this, boxes overlap so much that comparing with every row is faster.
MOST_COORDINATES = 12
# From so many rows on, a tree of metric balls saves more distances than it costs to walk.
MANY_ITEMS = 4_000


def build_index(
    X: Any, metric: Any = "euclidean", *, algorithm: str = "auto", leaf_size: int | None = None
) -> Index:
    """Arrange rows for exact search, in the way that suits their number, dimension and distance.

    Parameters
    ----------
    X : rows
        What the distance compares.
    metric : str, Distance or callable, default="euclidean"
    algorithm : {"auto", "brute", "kd_tree", "ball_tree", "metric_tree", "string_search"}, default="auto"
    leaf_size : int, optional
        How many rows the leaves of a tree may hold; by default what the tree finds good.

    Returns
    -------
    Index
        Its `reason` says why it was chosen. The answers are the same for all.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.search import build_index
    >>> index = build_index(np.random.default_rng(0).random((2000, 3)))
    >>> index.reason
    'KDTree: 2,000 rows of 3 coordinates, few enough for boxes to separate.'
    """
    check_choice("algorithm", algorithm, ALGORITHMS)
    if leaf_size is not None:
        check_count("leaf_size", leaf_size)
    distance = resolve(metric)
    chosen, why = _choose(X, distance) if algorithm == "auto" else (algorithm, "as asked for")
    index = _made(chosen, X, distance, leaf_size)
    index.reason = f"{type(index).__name__}: {why}."
    return index


def _choose(X: Any, distance: Distance) -> tuple[str, str]:
    """Name the algorithm, and say why."""
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    count = f"{n_rows:,} rows"
    if isinstance(distance, CoordinateDistance):
        n_features = X.shape[1] if getattr(X, "ndim", 0) == 2 else 0
        if distance.may_miss:
            return "brute", "values may be missing, which leaves no bound to search by"
        if hasattr(X, "tocsr"):
            return "brute", "the rows are sparse"
        if n_rows < FEW_ROWS:
            return "brute", f"{count} are compared faster than any tree is walked"
        if n_features and n_features <= MOST_COORDINATES:
            return "kd_tree", f"{count} of {n_features} coordinates, few enough for boxes to separate"
        return "brute", f"{count} of {n_features or 'many'} coordinates, too many for boxes to separate"
    if n_rows >= FEW_ROWS and isinstance(distance, StringDistance) and letter_bound(distance) is not None:
        return "string_search", f"{count} that are strings, most of which their letters rule out"
    if distance.law == "none" or not distance.symmetric:
        return "brute", "no triangle inequality to search by"
    if n_rows < MANY_ITEMS:
        return "brute", f"{count} are compared faster than any tree is walked"
    return "metric_tree", f"{count} under a metric, whose triangle inequality rules many out"


def _made(algorithm: str, X: Any, distance: Distance, leaf_size: int | None) -> Index:
    # Imported one by one, because each brings loops of its own.
    if algorithm == "brute":
        from bisector.search.brute_force import BruteForce

        return BruteForce(X, distance)
    if algorithm == "string_search":
        return StringIndex(X, distance)
    tree: Any
    if algorithm == "kd_tree":
        from bisector.search.kd_tree import KDTree as tree
    elif algorithm == "ball_tree":
        from bisector.search.ball_tree import BallTree as tree
    else:
        from bisector.search.metric_tree import MetricTree as tree
    return tree(X, distance) if leaf_size is None else tree(X, distance, leaf_size=leaf_size)
