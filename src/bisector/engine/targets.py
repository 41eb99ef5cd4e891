"""Targets: labels or numbers, one or several a row; and what classes weigh."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_consistent_length, column_or_1d

# Of so few labels scikit-learn does not say that they are hardly classes.
_FEW_LABELS = 20


class Labels(NamedTuple):
    """Class labels, one or several a row.

    Attributes
    ----------
    codes : ndarray of int of shape (n_rows, n_outputs)
        Places in `classes`.
    classes : list of ndarray
        The labels of each output, in ascending order.
    single : bool
        Whether y was a vector.
    """

    codes: NDArray[np.int64]
    classes: list[NDArray[Any]]
    single: bool

    def decoded(self, codes: NDArray[np.int64]) -> NDArray[Any]:
        """Turn places into labels, in the form of y."""
        columns = [classes[codes[:, j]] for j, classes in enumerate(self.classes)]
        return columns[0] if self.single else np.stack(columns, axis=1)


def check_labels(estimator: Any, y: Any, n_rows: int, classes: Any = None) -> Labels:
    """Check class labels; they may be restricted to given classes."""
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None: call fit(X, y)."
        )
    values = np.asarray(y)
    if values.ndim == 0 or values.ndim > 2:
        raise ValueError(
            f"y must have one label for each row, or one column for each output, not {values.shape}."
        )
    single = values.ndim == 1 or values.shape[1] == 1
    if values.ndim == 2 and values.shape[1] == 1:
        values = column_or_1d(values, warn=True)
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        what = "NaN" if np.isnan(values).any() else "infinity or a value too large for its type"
        raise ValueError(f"Input y contains {what}: labels must be numbers or names.")
    # Whole numbers and text are labels without a closer look, which costs as much as a small fit.
    surely_labels = values.ndim == 1 and values.dtype.kind in "biuUS"
    if not surely_labels:
        check_classification_targets(values)
    if len(values) != n_rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: [{n_rows}, {len(values)}]"
        )
    table = values[:, None] if values.ndim == 1 else values
    codes, all_classes = [], []
    for column in table.T:
        found, code = told_apart(column)
        codes.append(code)
        all_classes.append(found)
    if surely_labels and len(values) > _FEW_LABELS and 2 * len(all_classes[0]) > len(values):
        check_classification_targets(values)  # warns of numbers that are hardly labels
    if classes is not None:
        known = np.unique(np.asarray(classes))
        unknown = np.setdiff1d(all_classes[0], known)
        if len(unknown):
            raise ValueError(f"y has the label {unknown[0]!r}, which is not among classes {known.tolist()}.")
        codes, all_classes = [np.searchsorted(known, table[:, 0])], [known]
    return Labels(np.stack(codes, axis=1).astype(np.int64), all_classes, single)


def told_apart(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the different values, ascending, and the place of each value among them.

    Whole numbers that lie close together, as labels do, are counted instead of sorted.

    Examples
    --------
    >>> from bisector.engine.targets import told_apart
    >>> told_apart(np.array([3, 7, 3, 4]))
    (array([3, 4, 7]), array([0, 2, 0, 1]))
    """
    if values.dtype.kind in "iu" and len(values):
        least = values.min()
        if int(values.max()) - int(least) < max(len(values), 256):
            wide = values if values.dtype.kind == "u" else values.astype(np.int64)
            steps = (wide - least).astype(np.int64)
            present = np.bincount(steps) > 0
            found = np.flatnonzero(present).astype(values.dtype) + least
            return found, (np.cumsum(present) - 1)[steps]
    found, places = np.unique(values, return_inverse=True)
    return found, places.reshape(-1)


def row_weights(
    class_weight: Mapping[Any, float] | str | None,
    codes: NDArray[np.int64],
    classes: NDArray[Any],
    sample_weight: NDArray[np.float64] | None,
) -> NDArray[np.float64] | None:
    """Return what each row weighs by itself and by its class; None if all weigh one.

    Parameters
    ----------
    class_weight : dict from label to weight, "balanced" or None
        Classes that are not named weigh one; balanced classes weigh the same in total, n/K of n rows.
    codes : places of the rows' labels in `classes`
    """
    if class_weight is None:
        return sample_weight
    counts = np.bincount(codes, sample_weight, minlength=len(classes))
    weights = class_weights(class_weight, counts, classes)
    assert weights is not None
    return weights[codes] if sample_weight is None else weights[codes] * sample_weight


def class_weights(
    class_weight: Mapping[Any, float] | str | None, counts: NDArray[Any], classes: NDArray[Any]
) -> NDArray[np.float64] | None:
    """Return what a row of each class weighs; None if all weigh one. `counts` is how much the classes weigh now."""
    if class_weight is None:
        return None
    if isinstance(class_weight, str):
        if class_weight != "balanced":
            raise ValueError(f'class_weight must be a dict, "balanced" or None, not {class_weight!r}.')
        held = counts > 0  # a class whose rows weigh nothing is as good as absent
        weights = counts.sum() / (held.sum() * np.where(held, counts, np.inf))
    elif isinstance(class_weight, Mapping):
        unknown = [label for label in class_weight if label not in classes]
        if unknown:
            raise ValueError(
                f"class_weight names the class {unknown[0]!r}, which y does not have; it has {classes.tolist()}."
            )
        weights = np.array([class_weight.get(label, 1.0) for label in classes.tolist()], dtype=np.float64)
        if not (np.isfinite(weights).all() and (weights >= 0).all()):
            raise ValueError("class_weight must hold finite weights that are not negative.")
    else:
        raise TypeError(f'class_weight must be a dict, "balanced" or None, not {class_weight!r}.')
    return np.asarray(weights, dtype=np.float64)


class Numbers(NamedTuple):
    """Numeric targets, one or several a row.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_targets)
        float64, in which is computed.
    single : bool
        Whether y was a vector.
    dtype : dtype
        That of predictions: float32 if y was, else float64.
    """

    values: NDArray[np.float64]
    single: bool
    dtype: np.dtype[Any]

    def shaped(self, predicted: NDArray[np.float64]) -> NDArray[Any]:
        """Return predictions in the form of y."""
        return (predicted[:, 0] if self.single else predicted).astype(self.dtype, copy=False)


def check_numbers(estimator: Any, y: Any, n_rows: int) -> Numbers:
    """Check numeric targets."""
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None: call fit(X, y)."
        )
    values = check_array(y, ensure_2d=False, dtype="numeric", input_name="y")
    check_consistent_length(np.empty(n_rows), values)
    single = values.ndim == 1
    dtype = np.dtype(np.float32 if values.dtype == np.float32 else np.float64)
    return Numbers((values[:, None] if single else values).astype(np.float64), single, dtype)
