"""Rows with their labels and all else that belongs to them, whatever holds them."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from bisector.engine.items import picked

Weights = NDArray[np.float64] | None


class LabelledRows(NamedTuple):
    """Rows to fit an estimator on.

    Attributes
    ----------
    X : array, sparse matrix, frame or list
    y : ndarray
        Labels.
    classes : ndarray
        All labels there are, in ascending order, also of rows that are not here.
    weight : ndarray or None
    for_fit, for_split : mapping
        Further arguments of the estimator's ``fit``, its weights included, and of the splitter's ``split``.
    """

    X: Any
    y: NDArray[Any]
    classes: NDArray[Any]
    weight: Weights
    for_fit: Mapping[str, Any]
    for_split: Mapping[str, Any]

    def take(self, rows: NDArray[np.int64], *, without_x: bool = False) -> Self:
        """Return some of the rows with what belongs to them."""
        return self._replace(
            X=None if without_x else picked(self.X, rows),
            y=self.y[rows],
            weight=None if self.weight is None else self.weight[rows],
            for_fit=self._beside(self.for_fit, rows),
            for_split=self._beside(self.for_split, rows),
        )

    def _beside(self, arguments: Mapping[str, Any], rows: NDArray[np.int64]) -> dict[str, Any]:
        """Return arguments, of which those with an entry for each row belong to it."""
        return {
            name: picked(value, rows) if _has_rows(value, len(self.y)) else value
            for name, value in arguments.items()
        }

    def fitted(self, estimator: Any) -> Any:
        """Fit a copy of the estimator on these rows."""
        return clone(estimator).fit(self.X, self.y, **self.for_fit)


def _has_rows(value: Any, n_rows: int) -> bool:
    """Tell whether a value has one entry for each row."""
    if isinstance(value, str | bytes | Mapping) or value is None:
        return False
    shape = getattr(value, "shape", None)
    if shape is not None:
        return len(shape) > 0 and shape[0] == n_rows
    return isinstance(value, Sequence) and len(value) == n_rows
