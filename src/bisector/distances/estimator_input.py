"""What an estimator that holds a distance asks of its input, and tells of it in scikit-learn's tags.

Imported by estimators only: it needs scikit-learn, which distances themselves do not.
"""

from typing import Any

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.validation import validate_data

from bisector.distances.distance import Distance
from bisector.distances.names import resolve
from bisector.distances.precomputed import Precomputed
from bisector.engine.sources import refuse_collections


def check_items(estimator: Any, X: Any, distance: Distance, *, reset: bool) -> Any:
    """Check what an estimator is given, as far as its distance does not; note the number and names of features.

    Rows of numbers pass scikit-learn's checks, with its messages. Strings, sets and other items have no features,
    and are left to the distance.
    """
    refuse_collections(X)
    if distance.numeric:
        finite: Any = "allow-nan" if getattr(distance, "may_miss", False) else True
        kinds = [np.float64, np.float32]
        return validate_data(
            estimator, X, reset=reset, accept_sparse="csr", dtype=kinds, ensure_all_finite=finite
        )
    if hasattr(X, "columns") or getattr(X, "ndim", 1) == 2:
        validate_data(estimator, X, reset=reset, skip_check_array=True)
    return X


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
