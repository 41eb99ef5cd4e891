"""What machines made of kernel values share: the rows they take and keep, and f(x) = Σ βᵢ k(x, xᵢ) + b."""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags

from bisector.engine.map_reduce import map_blocks
from bisector.engine.planes import block_plane
from bisector.engine.sources import Source
from bisector.engine.validation import (
    check_count,
    check_flag,
    check_number,
    check_rows,
    find_not_finite,
)
from bisector.engine.values import HoldsValues
from bisector.kernels import Kernel, Linear, Precomputed, resolve
from bisector.kernels.gram_matrices import checked_square
from bisector.kernels.value_blocks import value_blocks
from bisector.solvers.bisecting_planes import kernel_sums
from bisector.solvers.held_rows import held
from bisector.solvers.support_vectors import SupportVectors
from bisector.svm.training_lines import TrainingLines, foreign_items, is_foreign

Floats = NDArray[np.float64]

# Errors of kernel values that add up to this part of the tolerance are borne for speed.
_ERROR = 0.2


class KernelMachine(HoldsValues, BaseEstimator):
    """Base of support vector machines with kernels."""

    C: float
    kernel: Any
    degree: int
    gamma: Any
    coef0: float
    shrinking: bool
    tol: float
    cache_size: float
    verbose: bool | int
    max_iter: int
    n_jobs: int | None
    warm_start: bool
    checkpoint: Any
    support_: NDArray[np.int32]
    support_vectors_: Any
    dual_coef_: Floats
    intercept_: Floats
    shape_fit_: tuple[int, ...]
    _kernel: Kernel

    _instead_of_gathering = "use LinearSVC or Ridge, or fit a sample of the rows"

    def _check_parameters(self) -> None:
        check_number("C", self.C, above=0)
        check_number("tol", self.tol, above=0)
        check_number("cache_size", self.cache_size, above=0)
        check_count("max_iter", self.max_iter, at_least=-1)
        check_flag("shrinking", self.shrinking)
        check_flag("warm_start", self.warm_start)

    def _resolved(self, gamma: Any = None) -> Kernel:
        """Return the kernel that the parameters mean, before it has seen rows; gamma may be known already."""
        gamma = self.gamma if gamma is None else gamma
        if isinstance(gamma, str) and gamma not in ("scale", "auto"):
            raise ValueError(f"gamma must be a number above 0, 'scale' or 'auto', not {gamma!r}.")
        return resolve(self.kernel, gamma=gamma, coef0=self.coef0, degree=self.degree)

    def _weighted(self, kernel: Kernel, items: Any, weight: NDArray[np.float64] | None) -> Kernel:
        """Return the kernel whose scale, if it is to be learned, counts rows as often as they weigh."""
        by_name = isinstance(self.kernel, str) and not isinstance(kernel, Precomputed)
        if weight is None or not by_name or self.gamma != "scale" or not hasattr(items, "shape"):
            return kernel
        return self._resolved(weighted_scale(items, weight))

    def _training_lines(self, kernel: Kernel, items: Any, *, in_parts: bool = False) -> TrainingLines:
        """Let the kernel learn from the training rows; few that are compared in parts are compared at once."""
        if isinstance(kernel, Precomputed):
            if hasattr(items, "tocsr"):
                raise TypeError("A precomputed Gram matrix must be dense: pass X.toarray().")
            if items.shape[0] != items.shape[1]:
                raise ValueError(
                    "Precomputed matrix must be a square matrix: it holds the kernel values of every two training "
                    f"rows, but X has the shape {items.shape}."
                )
            return TrainingLines.of_gram(checked_square(items, "X"), kernel)
        training = TrainingLines.of_rows(items, kernel, n_jobs=self.n_jobs)
        return training.compared_once() if in_parts else training

    def _bearable_error(self, costs: Floats) -> float:
        """Return how far off a kernel value may typically be: in single precision, values are had sooner."""
        return _ERROR * self.tol / float(np.linalg.norm(costs))

    def _warn(self, found: list[SupportVectors], smallest_eigenvalues: list[float | None]) -> None:
        """Say what the solutions do not promise."""
        negative = [value for value in smallest_eigenvalues if value is not None]
        if negative:
            warnings.warn(
                f"The kernel is not positive semi-definite: a Gram matrix has the eigenvalue {min(negative):.3g}. "
                "The solution keeps the conditions for an optimum, but others may be better.",
                UserWarning,
                stacklevel=3,
            )
        if not all(plane.converged for plane in found):
            worst = max(found, key=lambda plane: plane.violation)
            warnings.warn(
                f"{type(self).__name__} ended after {worst.iterations} steps, with the optimality conditions "
                f"violated by {worst.violation:.3g} (tol is {self.tol:g}): bring the features to one scale, for "
                "instance by StandardScaler, or lower C.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _sums(self, X: Any, weights: Floats, offsets: Floats) -> NDArray[Any]:
        """Return Σ weights·k(x, support vector) + offset for each row of X and each column of the weights."""
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        kernel = self._kernel
        if is_foreign(X, kernel):
            return self._compared(foreign_items(X), weights, kernel) + offsets
        rows = check_rows(self, X)
        if isinstance(kernel, Precomputed):
            values = checked_kernel_values(rows, self.shape_fit_[0])
            return (values[:, self.support_] @ weights + offsets).astype(rows.dtype, copy=False)
        if isinstance(kernel, Linear):
            planes = np.asarray((self.support_vectors_.T @ weights), dtype=np.float64)
            sums = map_blocks(block_plane, rows, planes, offsets, n_jobs=self.n_jobs)
            if not np.isfinite(sums).all():
                find_not_finite(rows)
            return np.asarray(sums, dtype=rows.dtype)
        items = held(rows, f"Predicting by {type(self).__name__}")
        return (self._compared(items, weights, kernel) + offsets).astype(rows.dtype, copy=False)

    def _compared(self, items: Any, weights: Floats, kernel: Kernel) -> Floats:
        if not len(self.support_):
            n = items.shape[0] if hasattr(items, "shape") else len(items)
            return np.zeros((n, weights.shape[1]))
        support = kernel.prepare(self.support_vectors_, name="the support vectors")
        return kernel_sums(kernel, kernel.prepare(items, like=support), support, weights, n_jobs=self.n_jobs)

    # What explanations ask for

    def _support_values(self, X: Any) -> Iterator[Floats]:
        """Yield the kernel values of some rows at a time with all support vectors."""
        kernel = self._kernel
        if isinstance(kernel, Precomputed):
            yield checked_kernel_values(check_rows(self, X), self.shape_fit_[0])[:, self.support_]
            return
        items = foreign_items(X) if is_foreign(X, kernel) else self._held_rows(X)
        if not len(self.support_):
            yield np.zeros((len(items), 0))
            return
        support = kernel.prepare(self.support_vectors_, name="the support vectors")
        for _, values in value_blocks(kernel, items, support, n_jobs=self.n_jobs):
            yield values

    def _held_rows(self, X: Any) -> Floats:
        """Return rows of numbers as a dense array of float64, which must be finite."""
        rows = check_rows(self, X)
        items = held(rows, f"Explaining by {type(self).__name__}")
        dense = np.asarray(items.toarray() if hasattr(items, "tocsr") else items, dtype=np.float64)
        if not np.isfinite(dense).all():
            find_not_finite(rows)
        return dense

    def _planes(self, weights: Floats) -> Floats:
        """Return the planes of a linear kernel, one for each column of the support vectors' weights."""
        return np.asarray(self.support_vectors_.T @ weights, dtype=np.float64).T

    def _require_linear(self) -> None:
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        if not isinstance(self._kernel, Linear):
            raise AttributeError(
                "Only a linear kernel has weights in the space of the rows (coef_, weights_): with "
                f"{self._kernel!r} they live in its feature space."
            )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        try:
            kernel = resolve(self.kernel)
        except (TypeError, ValueError):
            return tags  # fit will say what is wrong with it
        tags.input_tags.pairwise = isinstance(kernel, Precomputed)
        tags.input_tags.sparse = not isinstance(kernel, Precomputed)
        return tags


def checked_kernel_values(rows: Source, n_training: int) -> NDArray[Any]:
    """Check kernel values that came in the place of rows: one for every training row."""
    if rows.n_features != n_training:
        raise ValueError(
            f"X must hold the kernel values of each row with the {n_training} training rows, but has "
            f"{rows.n_features} columns."
        )
    values: NDArray[Any] = held(rows, "Predicting from kernel values")
    if not np.isfinite(values).all():
        find_not_finite(rows)
    return values


def weighted_scale(items: Any, weight: Floats) -> float:
    """Return what ``gamma="scale"`` means when rows have weights: as if they came so many times."""
    n_features = items.shape[1]
    values: Any = items.tocsr() if hasattr(items, "tocsr") else np.asarray(items)
    total = float(weight.sum()) * n_features
    mean = float((weight @ values).sum()) / total
    if hasattr(values, "tocsr"):
        # What a sparse matrix leaves out is zero, and as far from the mean as the mean from zero.
        each = np.repeat(weight, np.diff(values.indptr))
        squares = float(each @ (values.data - mean) ** 2) + (total - float(each.sum())) * mean**2
    else:
        squares = float((weight @ np.square(values - mean, dtype=np.float64)).sum())
    variance = squares / total
    return 1.0 / (n_features * variance) if variance > 0 else 1.0
