"""What neighbours know of a query: labels or numbers, one or several."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_consistent_length, column_or_1d


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
    check_classification_targets(values)
    if len(values) != n_rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: [{n_rows}, {len(values)}]"
        )
    table = values[:, None] if values.ndim == 1 else values
    codes, all_classes = [], []
    for column in table.T:
        found, code = np.unique(column, return_inverse=True)
        codes.append(code.reshape(-1))
        all_classes.append(found)
    if classes is not None:
        known = np.unique(np.asarray(classes))
        unknown = np.setdiff1d(all_classes[0], known)
        if len(unknown):
            raise ValueError(f"y has the label {unknown[0]!r}, which is not among classes {known.tolist()}.")
        codes, all_classes = [np.searchsorted(known, table[:, 0])], [known]
    return Labels(np.stack(codes, axis=1).astype(np.int64), all_classes, single)


def check_numbers(estimator: Any, y: Any, n_rows: int) -> tuple[NDArray[np.float64], bool]:
    """Check numeric targets; return them as a matrix, and whether they came as a vector."""
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None: call fit(X, y)."
        )
    values = check_array(y, ensure_2d=False, dtype="numeric", input_name="y")
    check_consistent_length(np.empty(n_rows), values)
    single = values.ndim == 1
    return (values[:, None] if single else values).astype(np.float64), single
