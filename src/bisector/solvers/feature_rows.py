"""Training rows as points of a kernel's feature space: kept, since other rows are compared with them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from bisector.distances.distance import Rows
from bisector.engine.frames import is_frame
from bisector.engine.sources import refuse_collections
from bisector.kernels import Kernel, Precomputed
from bisector.solvers.bisecting_planes import kernel_sums

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class FeatureRows:
    """Rows in the feature space of a kernel.

    Attributes
    ----------
    kernel : Kernel
        With what it learned from the rows.
    items : the rows as they came
    prepared : Rows or None
        As the kernel compares them; None if kernel values come in the place of rows.
    """

    kernel: Kernel
    items: Any
    prepared: Rows | None

    @classmethod
    def of(cls, kernel: Kernel, items: Any) -> "FeatureRows":
        """Let the kernel learn from the rows, and keep them."""
        if isinstance(kernel, Precomputed):
            if items.shape[0] != items.shape[1]:
                raise ValueError(
                    "A precomputed kernel is fitted on the values of all rows with each other, a square matrix, "
                    f"but X has the shape {items.shape}."
                )
            return cls(kernel, items, None)
        kernel = kernel.learned(items)
        return cls(kernel, items, kernel.prepare(items))

    def sums(self, items: Any, weights: Floats, *, n_jobs: int | None = None) -> Floats:
        """Return Σᵢ k(item, rowᵢ)·weights[i] for every item and every column of weights."""
        if self.prepared is None:
            return np.asarray(self.kernel.gram(items) @ weights, dtype=np.float64)
        queries = self.kernel.prepare(items, like=self.prepared)
        return kernel_sums(self.kernel, queries, self.prepared, weights, n_jobs=n_jobs)


def check_items(estimator: Any, X: Any, kernel: Kernel, *, reset: bool) -> Any:
    """Check what a kernel compares: tables of numbers as scikit-learn does; the rest is left to the kernel."""
    refuse_collections(X, estimator)
    if _is_table(X):
        sparse = False if isinstance(kernel, Precomputed) else "csr"
        return validate_data(estimator, X, reset=reset, accept_sparse=sparse, dtype="numeric")
    if not hasattr(X, "__len__"):
        raise TypeError(f"X must be a sequence of rows, not a {type(X).__name__}.")
    return X


def _is_table(X: Any) -> bool:
    """Tell rows of numbers from strings, sets and whatever else a kernel may compare."""
    if hasattr(X, "tocsr") or is_frame(X):
        return True
    if isinstance(X, list | tuple):
        return not X or isinstance(X[0], list | tuple | np.ndarray | float | int)
    if not hasattr(X, "__array__"):
        return False
    table = np.asarray(X)
    return table.ndim != 1 or table.dtype.kind not in "USO"


def count(items: Any) -> int:
    """Count the rows, whatever holds them."""
    return int(items.shape[0]) if hasattr(items, "shape") else len(items)


def picked(items: Any, positions: NDArray[np.int64]) -> Any:
    """Return some of the rows, whatever holds them."""
    if hasattr(items, "iloc"):
        return items.iloc[positions]
    if hasattr(items, "shape") or hasattr(items, "gather"):
        return items[positions]
    return [items[int(position)] for position in positions]
