"""Scored rows: one score and one of two labels a row, as calibrators and measures of scores take them."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .sources import is_collection
from .validation import check_weights


class ScoredRows(NamedTuple):
    """Checked scores with their labels.

    Attributes
    ----------
    scores : ndarray of float64
        Finite; the higher, the more positive.
    positive : ndarray of bool
        Which rows are of the positive class; some are and some are not.
    weight : ndarray of float64 or None
        None if every row counts once; rows that do not count are left out.
    classes : ndarray of shape (2,)
        The labels, the positive one last.
    dtype : dtype
        In which the scores came: float32 or float64.
    """

    scores: NDArray[np.float64]
    positive: NDArray[np.bool_]
    weight: NDArray[np.float64] | None
    classes: NDArray[Any]
    dtype: np.dtype[Any]

    @property
    def class_weights(self) -> tuple[float, float]:
        """How much the positive and the negative rows weigh in total."""
        if self.weight is None:
            count = int(np.count_nonzero(self.positive))
            return float(count), float(len(self.positive) - count)
        return float(self.weight[self.positive].sum()), float(self.weight[~self.positive].sum())


def check_scored_rows(
    scores: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    pos_label: Any = None,
    names: tuple[str, str] = ("scores", "y"),
) -> ScoredRows:
    """Check scores and the labels beside them.

    Parameters
    ----------
    scores : array of shape (n,) or (n, 1)
    y : array of shape (n,)
        Labels of two classes; of more if `pos_label` says which of them stands against the rest.
    sample_weight : array of shape (n,), optional
    pos_label : label, optional
        Which class is positive; by default the second of the two in ascending order.
    names : pair of str
        What errors call the scores and the labels.
    """
    values = check_scores(scores, names[0])
    labels = _one_column(y, names[1])
    if len(labels) != len(values):
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: {names[0]} has {len(values)} and "
            f"{names[1]} has {len(labels)}."
        )
    weight = check_weights(gathered(sample_weight), len(values))
    if weight is not None and not weight.all():
        counted = weight > 0
        values, labels, weight = values[counted], labels[counted], weight[counted]
    positive, classes = _told_apart(labels, pos_label, names[1])
    return ScoredRows(values.astype(np.float64, copy=False), positive, weight, classes, values.dtype)


def gathered(values: Any) -> Any:
    """Return a column of a Dask collection as an array, within the memory budget; what is here stays as it is."""
    if not is_collection(values):
        return values
    from .dask_source import lazy_column

    return np.asarray(lazy_column(values))


def check_scores(scores: Any, name: str = "scores") -> NDArray[Any]:
    """Return scores as a vector of finite float32 or float64 numbers."""
    from sklearn.utils.validation import check_array

    scores = gathered(scores)
    values = check_array(scores, ensure_2d=False, dtype=(np.float64, np.float32), input_name=name)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise ValueError(
            f"{name} must hold one number for each row, but has the shape {values.shape}: give one column of them."
        )
    return np.ascontiguousarray(values)


def _one_column(y: Any, name: str) -> NDArray[Any]:
    if y is None:
        raise ValueError(f"requires y to be passed, but the target y is None: give {name}, one label a row.")
    labels = np.asarray(gathered(y))
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise ValueError(f"{name} must hold one label for each row, but has the shape {labels.shape}.")
    return labels


def _told_apart(labels: NDArray[Any], pos_label: Any, name: str) -> tuple[NDArray[np.bool_], NDArray[Any]]:
    """Tell which rows are positive; return the negative and the positive label beside it."""
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError(f"{name} contains NaN or infinity: labels must be numbers or names.")
    if pos_label is not None:
        positive = np.asarray(labels == pos_label)
        if positive.any() and not positive.all():
            return positive, np.array([labels[np.argmin(positive)], labels[np.argmax(positive)]])
        found = np.unique(labels).tolist()
        raise ValueError(
            f"{name} needs rows with the label {pos_label!r} and rows without, but its labels are {found}: "
            "give another pos_label, or other rows."
        )
    # Two labels are found without sorting a million of them.
    is_first = np.asarray(labels == labels[0])
    another = labels[np.argmin(is_first)]
    is_other = np.asarray(labels == another)
    if not is_first.all() and (is_first | is_other).all():
        classes = np.unique(np.array([labels[0], another], dtype=labels.dtype))
        return is_first if classes[1] == labels[0] else is_other, classes
    classes = np.unique(labels)
    few = classes.tolist() if len(classes) < 6 else [*classes[:5].tolist(), "…"]
    some = "one class" if len(classes) == 1 else f"{len(classes)} classes"
    raise ValueError(f"{name} must have rows of two classes, but has {some}: {few}.")
