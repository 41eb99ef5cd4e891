"""K-means for several numbers of clusters: by a ladder where that pays, else by a fit for each."""

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from bisector.engine.memory import budget
from bisector.engine.sources import ArraySource, Source
from bisector.engine.validation import check_count, check_training
from bisector.solvers.cluster_ladder import Clustering, cluster_ladder, is_ladder

Floats = NDArray[np.float64]

# A ladder holds the rows once more, and a few numbers for each: so few bytes, or up to this share of the budget.
_LITTLE, _SHARE = 2**26, 0.25


def cluster_each(model: Any, X: Any, k_range: Iterable[int], *, may_climb: bool) -> list[Clustering]:
    """Find clusters in several numbers.

    Parameters
    ----------
    model : KMeans
        With its parameters checked; it stays as it is.
    X : rows, as for `fit`
    k_range : iterable of int
    may_climb : bool
        Whether clusters may begin from those of another number.
    """
    numbers = [check_count("k_range", number) for number in k_range]
    if not numbers:
        raise ValueError("k_range is empty: give the numbers of clusters to find, such as range(1, 11).")
    rows, _ = check_training(model, X, None)
    if rows.n_rows < max(numbers):
        raise ValueError(
            f"k_range asks for {max(numbers)} clusters, but X has only {rows.n_rows} rows: try at most "
            f"{rows.n_rows}."
        )
    values = _worth_climbing(rows, numbers) if may_climb else None
    if values is None:
        return [_fitted(model, X, number) for number in numbers]
    random = check_random_state(model.random_state)
    found = cluster_ladder(values, numbers, random, max_iter=model.max_iter, tol=model.tol)
    for number, one in zip(numbers, found, strict=True):
        if one.n_clusters < number:
            warnings.warn(
                f"Number of distinct clusters ({one.n_clusters}) found smaller than {number}, which was asked for. "
                "Possibly due to duplicate points in X.",
                ConvergenceWarning,
                stacklevel=3,
            )
    return found


def _worth_climbing(rows: Source, numbers: list[int]) -> Floats | None:
    """Return the rows as an array if a ladder is the better way."""
    n, d = rows.n_rows, rows.n_features
    if not isinstance(rows, ArraySource) or not is_ladder(numbers, d):
        return None
    n_bytes = 16 * n * (d + 4)
    if n_bytes > _LITTLE and n_bytes > _SHARE * budget():
        return None
    values = np.ascontiguousarray(rows.between(0, n), dtype=np.float64)
    # A fit says which number is not finite, and copes with rows that are only far from zero.
    return values if np.isfinite(np.vdot(values, values)) else None


def _fitted(model: Any, X: Any, number: int) -> Clustering:
    fitted = clone(model).set_params(n_clusters=number).fit(X)
    parts = fitted.scatter_
    return Clustering(fitted.labels_, float(parts.within.sum()), len(parts.within))
