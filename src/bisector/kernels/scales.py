"""Rules that scale a kernel to the rows it will compare, as scikit-learn's ``gamma`` knows them."""

from typing import Any

import numpy as np

from bisector.distances.numeric_rows import numeric_rows
from bisector.engine.validation import check_finite

SCALES = ("auto", "scale")


def checked_scale(name: str, value: Any, rules: tuple[str, ...]) -> float | str:
    """Check a parameter that is a number above 0, or the name of a rule by which it is learned."""
    if not isinstance(value, str):
        return check_finite(name, value, above=0)
    if value not in rules:
        raise ValueError(
            f"{name} must be a number above 0 or one of {', '.join(map(repr, rules))}, not {value!r}."
        )
    return value


def learned_gamma(rule: str, X: Any) -> float:
    """Return 1/d for ``"auto"``; for ``"scale"``, 1/(d · the variance of all entries of X)."""
    rows = numeric_rows(X, None, "X")
    if rule == "auto":
        return 1.0 / rows.n_features
    if not len(rows):
        raise ValueError("X has no rows to learn a scale from.")
    entries = rows.values.data if rows.sparse else rows.values
    size = rows.values.shape[0] * rows.values.shape[1]
    mean = float(np.sum(entries, dtype=np.float64)) / size
    squares = float(np.sum(np.square(entries - mean, dtype=np.float64)))
    variance = (squares + (size - entries.size) * mean**2) / size  # what a sparse matrix leaves out is zero
    return 1.0 / (rows.n_features * variance) if variance > 0 else 1.0
