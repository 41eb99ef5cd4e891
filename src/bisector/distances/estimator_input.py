"""What an estimator that holds a distance asks of its input, and tells of it in scikit-learn's tags.

Imported by estimators only: it needs scikit-learn, which distances themselves do not.
"""

from typing import Any

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.validation import validate_data

from bisector.distances.coordinate_distance import CoordinateDistance
from bisector.distances.distance import Distance
from bisector.distances.names import resolve
from bisector.distances.precomputed import Precomputed
from bisector.engine.sources import Source, refuse_collections
from bisector.engine.validation import find_not_finite, is_plain_table, raise_not_finite


def check_items(estimator: Any, X: Any, distance: Distance, *, reset: bool) -> Any:
    """Check what an estimator is given, as far as its distance does not; note the number and names of features.

    Rows of numbers pass scikit-learn's checks. Strings, sets and other items have no features, and are left to the
    distance.
    """
    refuse_collections(X, estimator)
    if distance.numeric:
        _refuse_strings(X, distance)
        missing, kinds = bool(getattr(distance, "may_miss", False)), [np.float64, np.float32]
        plain = (
            not missing and getattr(X, "dtype", None) in kinds and is_plain_table(estimator, X, reset=reset)
        )
        rows = (
            X
            if plain
            else validate_data(
                estimator,
                X,
                reset=reset,
                accept_sparse="csr",
                dtype=kinds,
                ensure_all_finite="allow-nan" if missing else False,
            )
        )
        if not missing:
            _refuse_gaps(rows, getattr(X, "columns", None))
        return rows
    if hasattr(X, "columns") or getattr(X, "ndim", 1) == 2:
        validate_data(estimator, X, reset=reset, skip_check_array=True)
    return X


def check_collection(distance: Distance, rows: Source) -> Distance:
    """Check the rows of a Dask collection; return the distance with what it learned from them.

    One pass looks for what is not finite, since later a neighbour would only seem to be far.
    """
    if not isinstance(distance, CoordinateDistance):
        raise TypeError(
            f"X is a Dask collection, but {distance!r} needs all rows in memory: take a distance of coordinates, "
            "such as Euclidean(), or pass X.compute(), if that fits into memory."
        )
    if not distance.may_miss:
        find_not_finite(rows)
    return distance.learned(rows)


def tell_input_tags(tags: Tags, metric: Any) -> Tags:
    """Say in scikit-learn's tags what a metric takes."""
    tags.input_tags.sparse = True
    try:
        distance = resolve(metric)
    except (TypeError, ValueError):
        return tags  # fit will say what is wrong with it
    tags.input_tags.pairwise = isinstance(distance, Precomputed)
    tags.input_tags.allow_nan = bool(getattr(distance, "may_miss", False))
    tags.input_tags.string = not distance.numeric
    return tags


def _refuse_strings(X: Any, distance: Distance) -> None:
    first = X[0] if isinstance(X, list | tuple | np.ndarray) and len(X) else None
    if isinstance(first, str):
        raise ValueError(
            f"X holds strings, such as {first!r}, but {distance!r} compares rows of numbers: take a distance of "
            'strings, such as metric="levenshtein".'
        )


def _refuse_gaps(rows: Any, columns: Any) -> None:
    """Raise the error that says where NaN or infinity stands; a sum sees in one pass whether there is any."""
    with np.errstate(invalid="ignore", over="ignore"):
        total = (rows.data if hasattr(rows, "tocsr") else rows).sum(dtype=np.float64)
    if not np.isfinite(total):
        names = None if columns is None else [str(name) for name in columns]
        skip = 'or take metric="nan_euclidean", which skips what is missing'
        raise_not_finite(rows, "X", names, first_row=0, otherwise=skip)
