"""Confusion matrices: what was predicted, against what is true (Flach 2.1)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from bisector.engine.show import Table
from bisector.engine.validation import check_choice, check_weights

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class ConfusionMatrix:
    """Rows are true classes and columns predicted ones.

    Stands where scikit-learn's array is expected: ``np.asarray(matrix)``, ``matrix[0, 1]``,
    ``tn, fp, fn, tp = matrix.ravel()``.

    Attributes
    ----------
    counts : ndarray of shape (n_classes, n_classes)
        What the rows of true class i weigh that were predicted as class j; whole numbers without weights.
    labels : ndarray of shape (n_classes,)
    normalize : {"true", "pred", "all"} or None
        By what the matrix is divided when it is taken as an array.
    """

    counts: NDArray[Any]
    labels: NDArray[Any]
    normalize: str | None = None

    @property
    def joint(self) -> Floats:
        """The joint distribution of true and predicted class: all cells sum to one."""
        return _divided(self.counts, self.counts.sum())

    @property
    def class_conditional(self) -> Floats:
        """The distribution of the prediction in each true class: rows sum to one.

        Of two classes, the rows are (true negative rate, false positive rate) and (false negative rate, true
        positive rate), which do not depend on the class ratio. A class without rows has zeros.
        """
        return _divided(self.counts, self.counts.sum(axis=1, keepdims=True))

    @property
    def predicted_conditional(self) -> Floats:
        """The distribution of the true class in each predicted one: columns sum to one, or to zero."""
        return _divided(self.counts, self.counts.sum(axis=0, keepdims=True))

    @property
    def class_distribution(self) -> Floats:
        """The shares of the true classes."""
        return self.joint.sum(axis=1)

    @property
    def accuracy(self) -> float:
        """The share of rows that were predicted right."""
        return float(np.trace(self.counts) / self.counts.sum())

    @property
    def recall(self) -> Floats:
        """For each class, the share of its rows that were found; of two, the second is the true positive rate."""
        return np.diag(self.class_conditional).copy()

    @property
    def precision(self) -> Floats:
        """For each class, the share of predictions of it that are right; zero if there are none."""
        return np.diag(self.predicted_conditional).copy()

    @property
    def average_recall(self) -> float:
        """The mean of the recalls: the accuracy if all classes were equally frequent."""
        return float(self.recall.mean())

    def table(self) -> Table:
        """Return the matrix with its margins."""
        counts = self._array()
        totals = counts.sum(axis=1)
        names = [str(label) for label in self.labels]
        rows = [
            [name, *row, total]
            for name, row, total in zip(names, counts.tolist(), totals.tolist(), strict=True)
        ]
        rows.append(["total", *counts.sum(axis=0).tolist(), totals.sum().item()])
        return Table(["true \\ predicted", *names, "total"], rows)

    def ravel(self) -> NDArray[Any]:
        """Return the cells row by row."""
        return self._array().ravel()

    @property
    def shape(self) -> tuple[int, ...]:
        """(n_classes, n_classes)."""
        return self.counts.shape

    def _array(self) -> NDArray[Any]:
        divided = {
            "true": lambda: self.class_conditional,
            "pred": lambda: self.predicted_conditional,
            "all": lambda: self.joint,
        }
        return self.counts if self.normalize is None else divided[self.normalize]()

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        array = self._array()
        return array.astype(dtype) if dtype is not None or copy else array

    def __getitem__(self, place: Any) -> Any:
        return self._array()[place]

    def __iter__(self) -> Iterator[NDArray[Any]]:
        return iter(self._array())

    def __len__(self) -> int:
        return len(self.counts)

    def __repr__(self) -> str:
        return self.table().text()

    def _repr_html_(self) -> str:
        return self.table().html()


def confusion_matrix(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    normalize: Literal["true", "pred", "all"] | None = None,
) -> ConfusionMatrix:
    """Count what was predicted, for each true class.

    Parameters
    ----------
    y_true, y_pred : array of shape (n,)
        True and predicted labels.
    labels : array of shape (n_classes,), default=None
        The classes in the order of rows and columns; rows with other labels are left out. By default all that
        occur, in ascending order.
    sample_weight : array of shape (n,), default=None
    normalize : {"true", "pred", "all"} or None, default=None
        By what to divide when the result is used as an array; the three ways are attributes too.

    Returns
    -------
    ConfusionMatrix

    References
    ----------
    Flach, *Machine Learning* (2012), section 2.1.

    Examples
    --------
    >>> from bisector.measures.confusion import confusion_matrix
    >>> matrix = confusion_matrix(["no", "no", "no", "yes"], ["no", "no", "yes", "yes"])
    >>> matrix
    true \\ predicted  no  yes  total
    no                 2    1      3
    yes                0    1      1
    total              2    2      4
    >>> matrix.class_conditional.round(2)
    array([[0.67, 0.33],
           [0.  , 1.  ]])
    """
    if normalize is not None:
        check_choice("normalize", normalize, ("true", "pred", "all"))
    true, predicted = _labels(y_true, "y_true"), _labels(y_pred, "y_pred")
    if len(true) != len(predicted):
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: y_true has {len(true)} and y_pred has "
            f"{len(predicted)}."
        )
    weight = check_weights(sample_weight, len(true))
    if (true.dtype.kind in "biuf") != (predicted.dtype.kind in "biuf"):
        raise ValueError(
            f"y_true holds {true.dtype} and y_pred {predicted.dtype}: give both as names or both as numbers."
        )
    both, codes = np.unique(np.concatenate([true, predicted]), return_inverse=True)
    codes = codes.reshape(2, -1)
    if labels is not None:
        classes = _labels(labels, "labels")
        places = {label: place for place, label in enumerate(classes.tolist())}
        if len(places) < len(classes) or not len(classes):
            raise ValueError(f"labels must name each class once, but are {classes.tolist()}.")
        if not set(both.tolist()) & set(places):
            raise ValueError(f"None of the labels {classes.tolist()} occurs in y_true or y_pred.")
        place = np.array([places.get(label, -1) for label in both.tolist()], dtype=np.int64)
        kept = (place[codes] >= 0).all(axis=0)
        codes, weight = place[codes[:, kept]], None if weight is None else weight[kept]
        both = classes
    size = len(both)
    counts = np.bincount(codes[0] * size + codes[1], weight, minlength=size * size).reshape(size, size)
    return ConfusionMatrix(counts, both, normalize)


def _labels(values: Any, name: str) -> NDArray[Any]:
    array = np.asarray(values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(f"{name} must hold one label for each row, but has the shape {array.shape}.")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ValueError(f"{name} contains NaN or infinity: labels must be numbers or names.")
    return array


def _divided(counts: NDArray[Any], totals: Any) -> Floats:
    """Divide, with zero where there is nothing to divide by."""
    return np.divide(
        counts, totals, out=np.zeros(counts.shape), where=np.broadcast_to(totals > 0, counts.shape)
    )
