"""Kernel values among training rows, for as many problems as a machine solves on parts of them."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from bisector.distances.distance import Distance, Rows
from bisector.engine.blocks import spread_rows
from bisector.engine.frames import is_frame
from bisector.engine.threads import cores
from bisector.kernels import Custom, Kernel, Linear, Precomputed, is_psd
from bisector.kernels.counted import CountedKernel
from bisector.kernels.tiles import all_products
from bisector.solvers.kernel_lines import FEW, AllLines, KernelLines, kernel_lines
from bisector.solvers.smo import AT_ONCE

Integers = NDArray[np.int64]

# Up to so many rows, problems on parts of them share one Gram matrix.
_SHARED = 2 * FEW
# Rows whose kernel values tell one table, or one kernel, from another.
_ROWS_TO_COMPARE = 64
# By what part of its largest value a Gram matrix may differ from its mirror image, in single precision.
_ASYMMETRY = 1e-5


@dataclass(frozen=True, eq=False)
class TrainingLines:
    """The training rows of a machine as its kernel sees them.

    Attributes
    ----------
    kernel : Kernel
        With what it learned from the rows.
    items : rows
        As they came.
    prepared : Rows or None
    gram : ndarray or None
        One of the two is there: rows that can be compared, or all values.
    centre : ndarray of shape (n_features,) or None
        What was subtracted from the rows. In the space of the rows a plane does not mind, but rounding does.
    n_jobs : int or None
    """

    kernel: Kernel
    items: Any
    prepared: Rows | None
    gram: NDArray[Any] | None
    centre: NDArray[np.float64] | None = None
    n_jobs: int | None = None

    @classmethod
    def of_gram(cls, gram: NDArray[Any], kernel: Kernel, items: Any = None) -> "TrainingLines":
        """Take values that are there already, which must be symmetric."""
        size = float(np.abs(gram).max(initial=0.0))
        apart = np.abs(gram - gram.T)
        if apart.size and apart.max() > _ASYMMETRY * size:
            row, column = map(int, np.unravel_index(np.argmax(apart), apart.shape))
            raise ValueError(
                f"A kernel must be symmetric, but the value of rows {row} and {column} is {gram[row, column]:.6g} "
                f"one way and {gram[column, row]:.6g} the other."
            )
        return cls(kernel, gram if items is None else items, None, gram)

    @classmethod
    def of_rows(cls, items: Any, kernel: Kernel, *, n_jobs: int | None) -> "TrainingLines":
        """Let a kernel learn from rows, and bring them into the form it compares."""
        kernel, centre = kernel.learned(items), None
        if isinstance(kernel, Custom):  # it may look at all rows at once
            prepared = kernel.prepare(items)
            return cls.of_gram(all_products(kernel, prepared, n_jobs=n_jobs), kernel, items)
        compared = items
        if isinstance(kernel, Linear) and not hasattr(items, "tocsr") and len(items):
            with np.errstate(over="ignore", invalid="ignore"):
                centre = np.asarray(items).mean(axis=0, dtype=np.float64)
                compared = items - centre
            if not np.isfinite(compared).all():  # the rows are not finite, or too large to be moved
                compared, centre = items, None
        return cls(kernel, items, kernel.prepare(compared), None, centre, n_jobs)

    def compared_once(self) -> "TrainingLines":
        """Return the same with all values, if there are not too many: parts that overlap then share them."""
        if self.prepared is None or len(self.prepared) > _SHARED:
            return self
        gram = all_products(self.kernel, self.prepared, n_jobs=self.n_jobs)
        return replace(self, prepared=None, gram=gram)

    def among(self, members: Integers, *, allowed_error: float, sharing: int) -> KernelLines:
        """Return the lines of the Gram matrix of some rows; see `kernel_lines`."""
        n = len(self.gram) if self.gram is not None else len(self.prepared or ())
        everyone = len(members) == n
        if self.gram is not None:
            part = self.gram if everyone else self.gram[members][:, members]
            return AllLines(np.asarray(part, dtype=np.float64, order="C"), n_jobs=self.n_jobs)
        assert self.prepared is not None
        return kernel_lines(
            self.kernel,
            self.prepared if everyone else self.prepared.take(members),
            at_least=AT_ONCE,
            allowed_error=allowed_error,
            # Not by the number of threads asked for, which must not change a result.
            sharing=min(sharing, cores()),
            n_jobs=self.n_jobs,
        )

    def some_values(self) -> NDArray[Any]:
        """Return values among rows from all over, by which these data and this kernel can be told from others."""
        n = len(self.gram) if self.gram is not None else len(self.prepared or ())
        chosen = spread_rows(n, _ROWS_TO_COMPARE)
        if self.gram is not None:
            return self.gram[np.ix_(chosen, chosen)]
        assert self.prepared is not None
        return all_products(self.kernel, self.prepared.take(chosen), n_jobs=self.n_jobs)

    @property
    def precision(self) -> float:
        """The rounding of one kernel value, as a part of it."""
        values = np.dtype(np.float64) if self.gram is None else self.gram.dtype
        return float(np.finfo(values).eps)

    def moved(self, members: Integers, beta: NDArray[np.float64]) -> float:
        """Return by how much the values of Σ βᵢ k(·, xᵢ) are off because rows were moved to the centre."""
        if self.centre is None:
            return 0.0
        weighs = np.flatnonzero(beta)
        return float((self.items[members[weighs]].T @ beta[weighs]) @ self.centre)

    def vectors(self, chosen: Integers) -> Any:
        """Return some rows as they came; none if only values did."""
        if isinstance(self.kernel, Precomputed):
            return np.empty((0, 0))
        if hasattr(self.items, "shape"):
            return self.items[chosen]
        return [self.items[int(row)] for row in chosen]


def smallest_eigenvalue(
    kernel: Kernel, lines: KernelLines, suspects: Integers, seen: bool, precision: float
) -> float | None:
    """Return the smallest eigenvalue of a Gram matrix if it is negative beyond rounding; None otherwise.

    Of many rows only the suspects are looked at, and only when the solver has seen that something is wrong.
    `precision` is that of the values as they came.
    """
    if kernel.psd:
        return None
    if lines.n_rows > FEW:
        if not seen or not len(suspects):
            return None
        chosen = suspects[: min(FEW, lines.most_at_once)]
    else:
        chosen = np.arange(lines.n_rows)
    return negative_eigenvalue(lines.square(chosen), precision)


def negative_eigenvalue(values: NDArray[Any], precision: float) -> float | None:
    """Return the smallest eigenvalue of a symmetric matrix if it is negative beyond rounding; None otherwise.

    Parameters
    ----------
    values : ndarray of shape (n, n)
    precision : float
        By what part of the largest value each may be off, through rounding.
    """
    gram = values.astype(np.float64)
    gram = (gram + gram.T) / 2
    shifted = gram + np.eye(len(gram)) * (1e-12 * float(np.abs(np.diagonal(gram)).max(initial=0.0)))
    try:
        scipy.linalg.cholesky(shifted, lower=True, overwrite_a=True, check_finite=False)
    except scipy.linalg.LinAlgError:
        verdict = is_psd(gram)
        # Errors of one size in all places move an eigenvalue by about 2√n of it; and what a user computed is no
        # more precise than the values it came from.
        share = max(4 * precision * len(gram) ** 0.5, 1e-9)
        tolerance = max(verdict.tolerance, share * float(np.abs(gram).max(initial=0.0)))
        return verdict.smallest if verdict.smallest < -tolerance else None
    return None


def is_foreign(X: Any, kernel: Kernel) -> bool:
    """Tell strings, sets and whatever else a kernel compares from tables of numbers, which have features."""
    if compares_numbers(kernel) or isinstance(kernel, Precomputed):
        return False
    if hasattr(X, "tocsr") or is_frame(X) or isinstance(X, str):
        return False
    if isinstance(X, np.ndarray):
        return X.ndim == 1 or X.dtype.kind in "USO"
    first = X[0] if isinstance(X, list | tuple) and len(X) else None
    return not isinstance(first, list | tuple | np.ndarray | float | int)


def foreign_items(X: Any) -> Any:
    """Return strings, sets and the like as something that is indexed by row numbers."""
    return X.to_numpy() if hasattr(X, "to_numpy") else X


def compares_numbers(kernel: Kernel) -> bool:
    """Tell whether all parts of a kernel compare rows of numbers."""
    parts = [kernel, *kernel.get_params().values()]
    return not any(
        isinstance(part, CountedKernel | Custom) or (isinstance(part, Distance) and not part.numeric)
        for part in parts
    )
