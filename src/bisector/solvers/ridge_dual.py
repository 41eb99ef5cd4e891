"""Ridge regression with fewer rows than features, through products of rows with rows.

With the centred, weighted rows A, the solution of min ‖t − Az‖² + λ‖z‖² is z = Aᵀu with

    (AAᵀ + λI)u = t.

The n × n matrix is factorised by Cholesky, and u refined by steps of the same factor where its condition number κ
is not small. A step gains about −log₁₀(κ·eps) digits, and since the residual t − Az − λu is made from A itself,
what remains is an error of z as small as that of a method that never squares A. Where κ is large, as with
features in very different units, the problem is solved through its features after all; or, if there are too many of
them and refinement has no digit to gain, by the singular value decomposition of A, in which what rounding may have
made counts as zero.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack, svd

from bisector.engine.memory import require
from bisector.engine.sources import Source

from .centred_rows import CentredRows, centred_rows
from .column_geometry import EPS
from .ridge import Method, PrimalRidge, RidgeSolution, blas_threads
from .tikhonov import Tikhonov

Floats = NDArray[np.float64]

# Beyond the first condition number products of features are more accurate, where they can be afforded; up to the
# second, refinement still gains three digits a step.
SAFE_CONDITION, LARGEST_CONDITION = 1e8, 1e12
MOST_STEPS = 4
# Coefficients that are settled to this are not refined.
SETTLED = 1e-13
# Up to so many features, products of features are affordable where those of rows lose too many digits.
MOST_FEATURES = 4000


@dataclass(frozen=True)
class DualRidge:
    """Ridge regression through products of rows with rows."""

    source: Source
    penalty: Tikhonov
    rows: CentredRows
    n_jobs: int | None

    @classmethod
    def of(
        cls, rows: Source, penalty: Tikhonov, *, intercept: bool, n_jobs: int | None = None
    ) -> "DualRidge":
        n = rows.n_rows
        require(
            3 * 8 * n * n,
            doing=f"ridge regression on {n:,} rows",
            holding="products of every two of them",
            instead='use Ridge(solver="sparse_cg"), which needs none, or fewer rows',
        )
        return cls(rows, penalty, centred_rows(rows, penalty.diagonal, intercept=intercept), n_jobs)

    @cached_property
    def through_features(self) -> PrimalRidge | None:
        """The same problem by products of features, if these are not too many."""
        if self.source.n_features > MOST_FEATURES:
            return None
        return PrimalRidge.of(self.source, self.penalty, intercept=self.rows.intercept, n_jobs=self.n_jobs)

    @cached_property
    def gram(self) -> Floats:
        return self.rows.gram()

    @cached_property
    def decomposition(self) -> tuple[Floats, Floats, Floats]:
        """U, σ and Vᵀ of A = U·diag(σ)·Vᵀ; singular values that may be rounding are zero."""
        A = self.rows.dense()
        require(
            8 * 4 * A.size,
            doing=f"ridge regression on {A.shape[0]:,} nearly dependent rows of {A.shape[1]:,} features",
            instead="raise alpha, or use fewer rows",
        )
        left, values, right = svd(A, full_matrices=False, check_finite=False)
        values[values <= values.max(initial=0.0) * EPS * max(A.shape)] = 0.0
        return left, values, right

    def solve(self, alpha: float, method: Method = "auto", positive: bool = False) -> RidgeSolution:
        """Solve for one strength of the penalty; `positive` is not for this method."""
        with blas_threads(self.rows.n_rows):
            return self._solve(alpha, method)

    def _solve(self, alpha: float, method: Method) -> RidgeSolution:
        strength = alpha * self.rows.scale**2
        inverse = None if method == "svd" else self._cholesky(strength)
        if inverse is None:
            if self.through_features is not None:
                return self.through_features.solve(alpha, "svd")
            return self._by_decomposition(strength)
        factor, condition, solve = inverse
        targets = self.rows.targets
        dual = solve(targets)
        coef = self.rows.transposed_times(dual)
        gap = condition * EPS
        for _ in range(MOST_STEPS):
            if gap <= SETTLED:
                break
            step = solve(targets - self.rows.times(coef) - strength * dual)
            change = self.rows.transposed_times(step)
            dual, coef = dual + step, coef + change
            gap = _relative(change, coef) * condition * EPS  # a step leaves so much of the error it mends
        taken = strength * np.square(lapack.dtrtri(factor, lower=1)[0]).sum()
        if self.rows.intercept:
            taken += 1 - strength / (strength + self.lift)  # all of the direction of the intercept
        freedom = max(self.rows.n_rows - taken, 0.0) + self.rows.intercept
        # λ·uᵀt is the minimum: ‖t − Az‖² + λ‖z‖² with t − Az = λu.
        objective = np.maximum(strength * np.einsum("ij,ij->j", dual, targets), 0.0)
        return self._solution(coef, objective, freedom, "cholesky", gap)

    @cached_property
    def lift(self) -> float:
        """The mean eigenvalue of AAᵀ."""
        return float(np.trace(self.gram)) / self.rows.n_rows or 1.0

    def _cholesky(self, strength: float) -> tuple[Floats, float, Callable[[Floats], Floats]] | None:
        """Return the factor, its condition number, and how to solve with it; None if too few digits would be left.

        AAᵀ vanishes in the direction of the intercept, in which the targets have nothing either: there the
        matrix may be anything, and is made as large as elsewhere.
        """
        matrix = self.gram.copy()
        matrix[np.diag_indices_from(matrix)] += strength
        if self.rows.intercept:
            constant = self.rows.root / np.sqrt(self.rows.weight)
            matrix += np.outer(constant, self.lift * constant)
        norm = lapack.dlange("1", matrix.T)
        factor, failed = lapack.dpotrf(matrix.T, lower=1, overwrite_a=1)
        reciprocal = 0.0 if failed else lapack.dpocon(factor, norm, uplo="L")[0]
        many = self.source.n_features > MOST_FEATURES
        if not reciprocal * (LARGEST_CONDITION if many else SAFE_CONDITION) >= 1:
            return None

        def solve(right: Floats) -> Floats:
            found: Floats = lapack.dpotrs(factor, right, lower=1)[0]
            return found

        return factor, 1 / reciprocal, solve

    def _by_decomposition(self, strength: float) -> RidgeSolution:
        left, values, right = self.decomposition
        targets = self.rows.targets
        seen = left.T @ targets
        shrunk = shrinkage(values, strength)
        coef = right.T @ (shrunk[:, None] * seen)
        kept = values * shrunk
        freedom = float(kept.sum()) + self.rows.intercept
        outside = np.maximum(np.square(targets).sum(axis=0) - np.square(seen).sum(axis=0), 0.0)
        objective = outside + ((1 - kept)[:, None] * np.square(seen)).sum(axis=0)
        positive = values[values > 0]
        return self._solution(
            coef, objective, freedom, "svd", EPS * (positive[0] / positive[-1] if len(positive) else 1.0)
        )

    def _solution(
        self, coef: Floats, objective: Floats, freedom: float, method: str, gap: float
    ) -> RidgeSolution:
        coef, offset = self.rows.original(coef)
        with np.errstate(over="ignore"):
            objective = objective / self.rows.unit_y**2
        return RidgeSolution(
            coef, offset, objective, np.full(len(offset), freedom), method, gap, converged=gap <= 1e-8
        )

    def is_accurate(self, alpha: float) -> bool:
        """Tell whether the products of rows leave enough digits for this strength of the penalty."""
        return self._cholesky(alpha * self.rows.scale**2) is not None

    def hat_of(self, new: Floats, alpha: float) -> Floats:
        """Return the weights with which the targets of the kept rows enter the slopes' part of new predictions.

        `new` are rows as `CentredRows.like` gives them; the result is new·Aᵀ(AAᵀ + λI)⁻¹diag(√v).
        """
        strength = alpha * self.rows.scale**2
        inverse = self._cholesky(strength)
        if inverse is None:
            left, values, right = self.decomposition
            return ((new @ right.T) * shrinkage(values, strength)) @ left.T * self.rows.root
        _, _, solve = inverse
        return solve(self.rows.times(new.T)).T * self.rows.root


def shrinkage(values: Floats, strength: float) -> Floats:
    """Return σ/(σ² + λ), and 0 for σ = 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(values > 0, 1 / (values + strength / values), 0.0)


def _relative(change: Floats, whole: Floats) -> float:
    size = np.linalg.norm(whole)
    return float(np.linalg.norm(change) / size) if size > 0 else 0.0
