"""How sure a least-squares fit is: standard errors, tests and intervals under normal errors of equal variance.

With p coefficients, the intercept among them, and weights that sum to n, the residual variance is
s² = Σwr²/(n − p) and the covariance of the coefficients s²(XᵀWX)⁻¹. An integer weight counts as so many
equal rows.
"""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtrc, stdtr, stdtrit

from bisector.solvers.column_geometry import ColumnGeometry
from bisector.solvers.least_squares import LeastSquares

Floats = NDArray[np.float64]


class Inference:
    """What follows from a least-squares solution about its own precision.

    Arrays have one row a target; where there is an intercept, it comes first among the coefficients. What the
    data do not determine is NaN.
    """

    def __init__(self, fit: LeastSquares, *, intercept: bool) -> None:
        if fit.columns is None:
            raise ValueError(
                "Standard errors need the products of every two features, which exceed the memory budget here: "
                "choose among the features first, or raise the budget with bisector.config(memory=...)."
            )
        self.fit = fit
        self.columns: ColumnGeometry = fit.columns
        self.intercept = intercept
        self.n_coefficients = self.columns.rank + intercept
        self.degrees_of_freedom = fit.weight - self.n_coefficients

    @property
    def coefficients(self) -> Floats:
        coef = self.fit.coef.T
        return np.column_stack([self.fit.intercept, coef]) if self.intercept else coef

    @property
    def tested_with(self) -> float:
        """Degrees of freedom of each coefficient's t value."""
        return self.degrees_of_freedom

    @cached_property
    def residual_error(self) -> Floats:
        """Root of the residual variance."""
        if self.degrees_of_freedom <= 0:
            return np.full(len(self.fit.residual_norm), np.nan)
        return self.fit.residual_norm / np.sqrt(self.degrees_of_freedom)

    @property
    def residual_variance(self) -> Floats:
        with np.errstate(over="ignore", under="ignore"):
            return self.residual_error**2

    @cached_property
    def standard_errors(self) -> Floats:
        return self.residual_error[:, None] * self._relative_errors

    @property
    def _relative_errors(self) -> Floats:
        """Standard errors of the coefficients when the residual variance is one."""
        columns, mean = self.columns, self.fit.mean
        if self.fit.method == "nnls":  # a bound was hit: coefficients are no longer linear in y
            return np.full(columns.n_features + self.intercept, np.nan)
        if self.fit.errors is not None:
            return self.fit.errors
        errors = np.full(columns.n_features, np.nan)
        known = columns.determined
        errors[known] = np.sqrt(columns.inflation[known]) / columns.lengths[known]
        if self.intercept:
            ahead = np.hypot(1 / np.sqrt(self.fit.weight), np.linalg.norm(mean @ columns.root))
            errors = np.r_[ahead if columns.determines(mean[None], self.fit.weight)[0] else np.nan, errors]
        return errors

    @property
    def variance_inflation(self) -> Floats:
        """How many times the variance of each slope exceeds what it would be if features were uncorrelated.

        Infinite where the data do not determine the slope; NaN for a constant feature.
        """
        inflation = np.where(self.columns.determined, self.columns.inflation, np.inf)
        inflation[self.columns.lengths == 0] = np.nan
        return inflation

    @cached_property
    def t_values(self) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.coefficients / self.standard_errors

    @cached_property
    def p_values(self) -> Floats:
        """Probabilities of a larger |t| if the coefficient were zero."""
        return 2 * stdtr(self.tested_with, -np.abs(self.t_values))

    @property
    def r2(self) -> Floats:
        """Share of the variation explained; like scikit-learn's score for a constant target, 1 or 0."""
        residual, total = self.fit.residual_norm, self.fit.total_norm
        with np.errstate(divide="ignore", invalid="ignore"):
            share = 1 - (residual / total) ** 2
        return np.where(total > 0, share, np.where(residual > 0, 0.0, 1.0))

    @property
    def adjusted_r2(self) -> Floats:
        if self.degrees_of_freedom <= 0:
            return np.full(len(self.r2), np.nan)
        return 1 - (1 - self.r2) * (self.fit.weight - self.intercept) / self.degrees_of_freedom

    @property
    def f_test(self) -> tuple[Floats, Floats]:
        """F statistic of all coefficients but the intercept being zero, and its p-value."""
        rank, left = self.columns.rank, self.degrees_of_freedom
        if not rank or left <= 0:
            unknown = np.full(len(self.r2), np.nan)
            return unknown, unknown
        with np.errstate(divide="ignore", invalid="ignore"):
            unexplained = (self.fit.residual_norm / self.fit.total_norm) ** 2
            F = (1 - unexplained) / unexplained * left / rank
        return F, fdtrc(rank, left, F)

    def require_errors(self) -> None:
        """Raise if errors cannot be estimated: a bound was hit, or no rows are left over for it."""
        if self.fit.method == "nnls":
            raise ValueError(
                "There are no standard errors for a fit whose coefficients were held at zero: drop those "
                "features, or fit without positive=True."
            )
        if self.tested_with <= 0:
            raise ValueError(
                f"{self.fit.weight:g} rows (or their weights' sum) against "
                f"{self.columns.n_features + self.intercept} coefficients leave no degree of freedom to estimate "
                "errors from: use more rows or fewer features."
            )

    def confidence_intervals(self, level: float) -> Floats:
        """Return intervals (n_targets, n_coefficients, 2) that hold the true coefficient with this probability."""
        self.require_errors()
        half = self._quantile(level) * self.standard_errors
        return np.stack([self.coefficients - half, self.coefficients + half], axis=-1)

    def prediction_errors(self, X: Floats, *, new: bool) -> Floats:
        """Return the standard error of predictions at the rows of X: of the mean there, or of a new value."""
        self.require_errors()
        variance = self.leverage(X) + new
        variance[~self.columns.determines(X - self.fit.mean, self.fit.weight)] = np.inf
        return np.sqrt(variance)[:, None] * self.residual_error

    def half_widths(self, X: Floats, level: float, *, new: bool) -> Floats:
        """Return half the widths of the prediction intervals at the rows of X."""
        return self._quantile(level) * self.prediction_errors(X, new=new)

    def leverage(self, X: Floats) -> Floats:
        """Return x(XᵀX)⁻¹xᵀ for each row: how far it lies out, and how much a target there pulls the fit."""
        whitened = (X - self.fit.mean) @ self.columns.root
        return np.einsum("ij,ij->i", whitened, whitened) + (1 / self.fit.weight if self.intercept else 0.0)

    def _quantile(self, level: float) -> float:
        return float(stdtrit(self.tested_with, (1 + level) / 2))


class UnivariateInference(Inference):
    """What follows when each coefficient comes from a regression on its feature alone.

    The coefficients of several features together do not minimise a sum of squares, so each is judged by its
    own fit, with n − 2 degrees of freedom (n − 1 without intercept); the joint intercept and the joint
    predictions not at all.
    """

    @property
    def tested_with(self) -> float:
        return self.fit.weight - 1 - self.intercept

    @cached_property
    def standard_errors(self) -> Floats:
        lengths, total = self.columns.lengths, self.fit.total_norm[:, None]
        errors = np.full((len(total), len(lengths)), np.nan)
        if self.tested_with > 0:
            with np.errstate(divide="ignore", invalid="ignore"):
                explained = np.where(total > 0, self.fit.coef.T * lengths / total, 0.0)
                left = np.sqrt(np.maximum(1 - explained**2, 0.0) / self.tested_with)
                errors = np.where(lengths > 0, total * left / lengths, np.nan)
        return np.column_stack([np.full(len(errors), np.nan), errors]) if self.intercept else errors

    def prediction_errors(self, X: Floats, *, new: bool) -> Floats:
        raise ValueError(
            "There are no intervals around predictions from features fitted one by one: their errors are not "
            "known together; fit without decomposed=True."
        )
