"""What pictures read off the rows they are given: numbers, names, classes, and places to ask a model about."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from bisector.engine.frames import is_frame

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# A model is asked about so many numbers at a time, so that fine grids over many features stay small.
NUMBERS_AT_ONCE = 2**22


def numbers(X: Any, name: str = "X") -> Floats:
    """Return rows as a matrix of finite numbers.

    Examples
    --------
    >>> from bisector.plot.given_rows import numbers
    >>> numbers([[1, 2], [3, 4]])
    array([[1., 2.],
           [3., 4.]])
    """
    try:
        values = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} must hold numbers to be drawn, but it does not: leave out or encode other columns."
        ) from error
    if values.ndim != 2 or not values.size:
        raise ValueError(f"{name} must be a table of rows and columns, but it has the shape {values.shape}.")
    if not np.isfinite(values).all():
        row, column = np.argwhere(~np.isfinite(values))[0]
        raise ValueError(
            f"{name} is {values[row, column]} in row {row}, column {column}: leave such rows out."
        )
    return values


def model_rows(estimator: Any, X: Any) -> Floats:
    """Return rows as a matrix with the features that a fitted estimator expects."""
    check_is_fitted(estimator)
    values = numbers(X)
    expected = getattr(estimator, "n_features_in_", values.shape[1])
    if values.shape[1] != expected:
        raise ValueError(
            f"X has {values.shape[1]} features, but {type(estimator).__name__} was fitted to {expected}: give rows "
            "with the same columns."
        )
    return values


def two_features(estimator: Any, X: Any) -> Floats:
    """Return rows of a model that is drawn in the plane of its two features."""
    values = model_rows(estimator, X)
    if values.shape[1] != 2:
        raise ValueError(
            f"X has {values.shape[1]} features, but this picture is drawn in a plane of two: fit "
            f"{type(estimator).__name__} to two columns of X."
        )
    return values


def in_the_form_of(X: Any, places: Floats) -> Any:
    """Return places as a table of the kind that X is, so that a model meets the names it knows."""
    if not is_frame(X):
        return places
    if hasattr(X, "column_names"):  # Arrow
        return type(X).from_arrays(list(places.T), names=X.column_names)
    names = list(X.columns)
    return type(X)(places, columns=names) if hasattr(X, "iloc") else type(X)(places, schema=names)


def asked(ask: Callable[[Any], Any], X: Any, places: Floats) -> NDArray[Any]:
    """Return a model's answers at places, which are asked for a part at a time.

    Parameters
    ----------
    ask : callable
        A method of the model, such as ``model.predict``.
    X : rows
        In whose form (array, frame) the places are given.
    places : ndarray of shape (n_places, n_features)
    """
    at_once = max(1, NUMBERS_AT_ONCE // places.shape[1])
    parts = [
        np.asarray(ask(in_the_form_of(X, places[first : first + at_once])))
        for first in range(0, len(places), at_once)
    ]
    return np.concatenate(parts)


def codes_of(labels: Any, classes: Sequence[Any] | NDArray[Any], n_rows: int, name: str = "y") -> Integers:
    """Return, for each label, its place among the classes.

    Examples
    --------
    >>> from bisector.plot.given_rows import codes_of
    >>> codes_of(["no", "yes", "no"], ["no", "yes"], 3)
    array([0, 1, 0])
    """
    given = np.asarray(labels)
    if given.shape != (n_rows,):
        raise ValueError(
            f"{name} has the shape {given.shape}, but X has {n_rows} rows: give one label a row."
        )
    order = np.argsort(np.asarray(classes), kind="stable")
    known = np.asarray(classes)[order]
    at = np.minimum(np.searchsorted(known, given), len(known) - 1)
    if (known[at] != given).any():
        row = int(np.argmax(known[at] != given))
        raise ValueError(
            f"Row {row} of {name} is {given[[row]].tolist()[0]!r}, which the model does not know: it was fitted to "
            f"{', '.join(map(repr, np.asarray(classes).tolist()[:10]))}."
        )
    return np.asarray(order[at], dtype=np.int64)
