"""How neighbours come to an answer: each counts, weighted by its distance, and the counts are put together."""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bisector.engine.validation import check_choice
from bisector.kernels.bumps import Bump
from bisector.neighbors.kept_rows import Floats, Found, Integers

Aggregate = Literal["mean", "median"] | Callable[[Floats, Floats], Any]
Weights = str | Bump | Callable[[NDArray[Any]], NDArray[Any]] | None


def check_vote_weights(weights: Weights) -> None:
    """Check the parameter `weights`, as far as that can be done without neighbours."""
    if isinstance(weights, str):
        check_choice("weights", weights, ("uniform", "distance"))
    elif weights is not None and not callable(weights):
        raise ValueError(
            f"weights must be 'uniform', 'distance', a bump or a function of distances, not {weights!r}."
        )


def votes(found: Found, weights: Weights) -> Floats:
    """Return how much each neighbour's vote counts.

    Parameters
    ----------
    found : Found
    weights : "uniform", "distance", bump or callable
        By distance: its reciprocal, so that neighbours at distance zero outvote all others. A bump is as wide as
        the farthest neighbour is away. A function is called with the distances of one query.
    """
    counts = np.ones(len(found.positions)) if found.counts is None else found.counts
    if weights is None or (isinstance(weights, str) and weights == "uniform"):
        return counts
    queries = found.queries
    if isinstance(weights, str):
        weight = _reciprocals(found, queries)
    elif isinstance(weights, Bump):
        farthest = np.zeros(len(found.starts) - 1)
        np.maximum.at(farthest, queries, found.distances)
        width = np.where(farthest > 0, farthest, 1.0)[queries]
        weight = np.asarray(weights(found.distances / width))
    else:
        weight = _called(weights, found)
    total = np.bincount(queries, counts * weight, minlength=len(found.starts) - 1)
    # Where no neighbour has any weight they count alike: a query is never without an answer.
    return np.where((total > 0)[queries], counts * weight, counts)


def _reciprocals(found: Found, queries: Integers) -> Floats:
    at_zero = found.distances == 0
    has_zero = np.bincount(queries, at_zero, minlength=len(found.starts) - 1)[queries] > 0
    with np.errstate(divide="ignore", over="ignore"):
        weight = np.where(has_zero, at_zero.astype(np.float64), 1.0 / found.distances)
    # Distances so small that their reciprocals overflow: their ratios still count.
    beyond = np.bincount(queries, np.isinf(weight), minlength=len(found.starts) - 1)[queries] > 0
    if beyond.any():
        nearest = np.minimum.reduceat(found.distances, found.starts[:-1])[queries]
        weight = np.where(beyond, nearest / np.where(beyond, found.distances, 1.0), weight)
    return weight


def _called(weights: Callable[[NDArray[Any]], NDArray[Any]], found: Found) -> Floats:
    """Ask the user's function, once for all queries that have equally many neighbours."""
    sizes = np.diff(found.starts)
    weight = np.empty(len(found.distances))
    for size in np.unique(sizes[sizes > 0]):
        places = (found.starts[:-1][sizes == size, None] + np.arange(size)).ravel()
        distances = found.distances[places].reshape(-1, int(size))
        given = np.asarray(weights(distances), dtype=np.float64)
        if given.shape != distances.shape:
            raise ValueError(
                f"weights must return as many numbers as it is given, an array of shape {distances.shape}, "
                f"but returned one of {given.shape}."
            )
        weight[places] = given.ravel()
    if not (np.isfinite(weight) & (weight >= 0)).all():
        raise ValueError("weights returned a number that is negative, infinite or NaN: it must give weights.")
    return weight


def class_shares(found: Found, vote: Floats, codes: Integers, n_classes: int) -> Floats:
    """Return the share of each class in the votes, for each query; zeros for a query without neighbours."""
    n_queries = len(found.starts) - 1
    cells = found.queries * n_classes + codes[found.positions]
    shares = np.bincount(cells, vote, minlength=n_queries * n_classes).reshape(n_queries, n_classes)
    total = shares.sum(axis=1, keepdims=True)
    return shares / np.where(total > 0, total, 1.0)


def nearest_among_winners(found: Found, codes: Integers, shares: Floats) -> Integers:
    """Return, for each query, which of the classes with most votes has the nearest neighbour."""
    wins = shares == shares.max(axis=1, keepdims=True)
    chosen = np.argmax(shares, axis=1)
    winning = wins[found.queries, codes[found.positions]]
    order = np.lexsort((found.positions[winning], found.distances[winning], found.queries[winning]))
    queries, first = np.unique(found.queries[winning][order], return_index=True)
    chosen[queries] = codes[found.positions[winning][order][first]]
    return chosen


def mean(found: Found, vote: Floats, targets: Floats) -> Floats:
    """Return the weighted mean of the neighbours' targets, for each query; NaN without neighbours."""
    n_queries = len(found.starts) - 1
    total = np.bincount(found.queries, vote, minlength=n_queries)
    columns = [
        np.bincount(found.queries, vote * column[found.positions], minlength=n_queries)
        for column in targets.T
    ]
    with np.errstate(invalid="ignore"):
        return np.stack(columns, axis=1) / np.where(total > 0, total, np.nan)[:, None]


def median(found: Found, vote: Floats, targets: Floats) -> Floats:
    """Return the weighted median of the neighbours' targets, for each query; NaN without neighbours.

    Half of the votes lie on either side; where exactly half do, it is the middle between the two targets there.
    """
    n_queries = len(found.starts) - 1
    queries = found.queries
    middle = np.full((n_queries, targets.shape[1]), np.nan)
    for j, column in enumerate(targets.T):
        values = column[found.positions]
        order = np.lexsort((values, queries))
        ordered, weight = values[order], vote[order]
        running = np.cumsum(weight)
        before = np.concatenate([[0.0], running])[found.starts[:-1]]
        inside = running - np.repeat(before, np.diff(found.starts))
        half = np.repeat(np.bincount(queries, vote, minlength=n_queries) / 2, np.diff(found.starts))
        slack = 1e-12 * half
        low = _first_where(inside >= half - slack, found.starts)
        high = _first_where(inside > half + slack, found.starts)
        has = np.diff(found.starts) > 0
        middle[has, j] = (ordered[low[has]] + ordered[high[has]]) / 2
    return middle


def _first_where(holds: NDArray[np.bool_], starts: Integers) -> Integers:
    """Return, for each query, the first place where something holds; its last place if nowhere."""
    places = np.flatnonzero(holds)
    first = np.searchsorted(places, starts[:-1])
    found = places[np.minimum(first, len(places) - 1)] if len(places) else starts[:-1]
    return np.minimum(np.where(first < len(places), found, starts[1:] - 1), starts[1:] - 1)


def check_aggregate(aggregate: Any) -> None:
    """Check the parameter `aggregate`."""
    if not callable(aggregate):
        check_choice("aggregate", aggregate, ("mean", "median"))


def aggregated(found: Found, vote: Floats, targets: Floats, aggregate: Aggregate) -> Floats:
    """Put the neighbours' targets together, for each query; NaN without neighbours."""
    if not callable(aggregate):
        return (mean if aggregate == "mean" else median)(found, vote, targets)
    answers = np.full((len(found.starts) - 1, targets.shape[1]), np.nan)
    for query, (start, stop) in enumerate(zip(found.starts[:-1], found.starts[1:], strict=True)):
        if stop > start:
            near = targets[found.positions[start:stop]]
            for j in range(targets.shape[1]):
                answers[query, j] = aggregate(near[:, j], vote[start:stop])
    return answers
