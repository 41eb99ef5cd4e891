"""How many clusters can be asked for, and how many came of it."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from bisector.engine.validation import check_count


def checked_number(n_clusters: Any, n_rows: int) -> int:
    """Check the number of clusters against that of the rows."""
    number = check_count("n_clusters", n_clusters)
    if number > n_rows:
        raise ValueError(
            f"n_clusters={number} clusters cannot be made of n_samples={n_rows} rows with a weight: ask for fewer."
        )
    return number


def warn_of_empty(labels: NDArray[np.int64], n_clusters: int) -> None:
    """Say so if some clusters have no rows."""
    n_found = len(np.unique(labels))
    if n_found < n_clusters:
        warnings.warn(
            f"Only {n_found} of {n_clusters} clusters have rows, since too few rows are different: ask for fewer "
            "clusters.",
            ConvergenceWarning,
            stacklevel=3,
        )
