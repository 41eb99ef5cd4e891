"""Boxes: one interval a feature, over which densities are integrated or to which they are confined."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from bisector.engine.sources import refuse_collections

Floats = NDArray[np.float64]


def check_box(name: str, box: Any, n_features: int) -> Floats:
    """Return a box as an array of shape (n_features, 2): the lowest and the highest value of each feature."""
    wanted = f"{name} must hold a lowest and a highest value for each of the {n_features} features"
    try:
        found = np.array(box, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{wanted}, such as [(0, 1)] for one feature; use ±inf for no limit.") from None
    if found.shape == (2,) and n_features == 1:
        found = found[None]
    if found.shape != (n_features, 2):
        raise ValueError(f"{wanted}, but has the shape {found.shape}.")
    bad = np.flatnonzero(~(found[:, 0] < found[:, 1]))
    if bad.size:
        low, high = found[bad[0]]
        raise ValueError(
            f"{name} is empty in feature {bad[0]}: its lowest value {low:g} is not below {high:g}."
        )
    return found


def refuse_outside(rows: Floats, box: Floats, name: str) -> None:
    """Refuse rows that lie outside a box."""
    outside = np.argwhere((rows < box[:, 0]) | (rows > box[:, 1]))
    if len(outside):
        row, column = outside[0]
        low, high = box[column]
        raise ValueError(
            f"Row {row} of X has {rows[row, column]:g} in column {column}, outside of {name} "
            f"({low:g} to {high:g}): widen {name}, or leave such rows out."
        )


def outside(rows: Floats, box: Floats) -> NDArray[np.bool_]:
    """Tell which rows lie outside a box."""
    return np.asarray(((rows < box[:, 0]) | (rows > box[:, 1])).any(axis=1))


def check_dense(estimator: Any, X: Any, *, reset: bool, at_least: int = 1) -> NDArray[Any]:
    """Check rows of numbers: finite, dense, float32 or float64."""
    refuse_collections(X, estimator)
    kinds = [np.float64, np.float32]
    return np.asarray(
        validate_data(estimator, X, reset=reset, dtype=kinds, order="C", ensure_min_samples=at_least)
    )
