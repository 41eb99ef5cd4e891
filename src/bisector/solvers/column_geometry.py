"""The geometry of a design: how the columns of X lie to each other, apart from their units.

Columns are divided by their lengths (equilibrated), so that metres or millimetres decide neither the rank nor
the condition number. What is left is a factor A with AᵀA = D⁻¹XᵀXD⁻¹, D the lengths, from which follow
solutions of XᵀXb = g, their covariance, the rank, and which directions the data hardly determine.
"""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack, svd

Floats = NDArray[np.float64]
EPS = float(np.finfo(np.float64).eps)

# Normal equations lose twice the digits of the design's condition number κ; beyond κ = 1000 that shows.
LARGEST_SAFE_CONDITION = 1e3
# Units of dependent columns may differ by this much; beyond, rounding would decide which solution is shortest.
LARGEST_UNITS_RATIO = 1e5


class ColumnGeometry:
    """Columns of X (centred, when there is an intercept), known by the factor of their cross-products.

    Parameters
    ----------
    lengths : (d,) lengths of the columns; zero for a column that is constant
    factor : (p, k) matrix A, for the k columns that are not constant; upper triangular if p = k
    squared_condition : square of the condition number, if it is known that the k columns are independent
    """

    def __init__(self, lengths: Floats, factor: Floats, squared_condition: float | None = None) -> None:
        self.n_features = len(lengths)
        self.lengths = lengths
        self.active = np.flatnonzero(lengths)
        self.factor = factor
        # The rank up to what rounding can tell; a singular value decomposition is not spent on the obvious.
        self.rank = len(self.active) if squared_condition is not None else self._numerical_rank()
        self.squared_condition = squared_condition

    @classmethod
    def from_scatter(cls, scatter: Floats, lengths: Floats, scale: Floats) -> "ColumnGeometry | None":
        """Take the Cholesky factor of (X·scale)ᵀ(X·scale); None if the columns are too close to dependence.

        The scatter is overwritten.
        """
        active = np.flatnonzero(lengths)
        if len(active) < len(lengths):
            scatter = scatter[np.ix_(active, active)]
        if not len(active):
            return cls(lengths / scale, scatter, 1.0)
        inverse = 1 / lengths[active]
        scatter *= inverse
        scatter *= inverse[:, None]
        # LAPACK itself: the checks and batching around it cost more than small problems do. It reads columns
        # first, so that the transpose of what NumPy holds costs no copy, and sees the same symmetric matrix.
        norm = lapack.dlange("1", scatter.T)
        lower, failed = lapack.dpotrf(scatter.T, lower=1, overwrite_a=1)
        reciprocal = 0.0 if failed else lapack.dpocon(lower, norm, uplo="L")[0]
        if reciprocal * LARGEST_SAFE_CONDITION**2 < 1:
            return None
        return cls(lengths / scale, lower.T, 1 / reciprocal)

    @classmethod
    def uncorrelated(cls, lengths: Floats) -> "ColumnGeometry":
        """Take the columns to be at right angles to each other, whether they are or not."""
        k = int(np.count_nonzero(lengths))
        return cls(lengths, np.eye(k), squared_condition=1.0)

    @classmethod
    def from_rows(cls, rows: Floats, scale: Floats, constant: NDArray[np.bool_]) -> "ColumnGeometry":
        """Take rows R with RᵀR = (X·scale)ᵀ(X·scale), as a QR decomposition leaves them."""
        lengths = column_norms(rows)
        lengths[constant] = 0.0
        active = np.flatnonzero(lengths)
        factor = rows[:, active] / lengths[active]
        if len(factor) >= len(active):
            factor = np.asarray(np.linalg.qr(factor, mode="r"))
        return cls(lengths / scale, factor)

    @cached_property
    def _svd(self) -> tuple[Floats, Floats]:
        """Singular values, largest first, and right singular vectors as rows."""
        if not self.factor.size:
            return np.empty(0), np.empty((0, len(self.active)))
        _, values, rows = svd(self.factor, full_matrices=False, check_finite=False)
        return values, rows

    @property
    def singular_values(self) -> Floats:
        return self._svd[0]

    @property
    def raw_singular_values(self) -> Floats:
        """Singular values of the columns in their own units."""
        if not self.factor.size:
            return np.empty(0)
        return svd(self.factor * self.lengths[self.active], compute_uv=False, check_finite=False)

    def _numerical_rank(self) -> int:
        values = self.singular_values
        return int(np.count_nonzero(values > values.max(initial=0.0) * 16 * EPS * np.sqrt(len(self.active))))

    @property
    def is_full(self) -> bool:
        """Whether every column that is not constant is independent of the others."""
        return self.rank == len(self.active)

    @property
    def condition_number(self) -> float:
        """Largest over smallest singular value of the equilibrated columns; infinite if they are dependent."""
        if not len(self.active):
            return 1.0
        values = self.singular_values
        return float(values[0] / values[-1]) if self.is_full else float("inf")

    def project(self, gradient: Floats) -> Floats:
        """Return A⁻ᵀD⁻¹g: the coordinates of a target y with Xᵀy = g in an orthonormal basis of the columns."""
        scaled = gradient[self.active] / self.lengths[self.active, None]
        if self.is_full:
            return _solve_triangle(self.factor, scaled, transposed=True)
        values, rows = self._svd
        return (rows[: self.rank] @ scaled) / values[: self.rank, None]

    def combine(self, coordinates: Floats) -> Floats:
        """Return the coefficients b with these coordinates: D⁻¹A⁻¹c, or the shortest of many."""
        coef = np.zeros((self.n_features, coordinates.shape[1]))
        lengths = self.lengths[self.active, None]
        if self.is_full:
            coef[self.active] = _solve_triangle(self.factor, coordinates) / lengths
            return coef
        values, rows = self._svd
        scaled = rows[: self.rank].T @ (coordinates / values[: self.rank, None])
        coef[self.active] = scaled / lengths
        free, seen, basis, triangle = self._exchange
        if triangle is not None:
            coef[self.active[free]] = basis @ _solve_triangle(triangle, seen @ scaled[free], transposed=True)
        return coef

    @cached_property
    def _exchange(self) -> tuple[NDArray[np.int64], Floats, Floats, Floats | None]:
        """How the columns that are not determined stand in for each other.

        Their coefficients enter only as MDb, with M a basis of what the data see of these columns: of all b
        with the same MDb the shortest is in the row space of MD = (QR)ᵀ. Returns the columns, M, Q and R; no R
        where units differ too much for it, and the solution stays the shortest in units of the columns' lengths.
        """
        free = np.flatnonzero(~self.determined[self.active])
        seen = self._svd[1][: self.rank]
        alone = len(self.active) - len(free)
        if alone:  # determined columns are no part of the exchange, and their rounding must not become one
            seen = svd(seen[:, free], full_matrices=False, check_finite=False)[2][: self.rank - alone]
        basis, triangle = np.linalg.qr((seen * self.lengths[self.active[free]]).T)
        return free, seen, basis, triangle if _condition(triangle) <= LARGEST_UNITS_RATIO else None

    def solve(self, gradient: Floats) -> Floats:
        """Return the shortest b with XᵀXb = g."""
        return self.combine(self.project(gradient))

    @cached_property
    def root(self) -> Floats:
        """Matrix B (d, rank) with BBᵀ = (XᵀX)⁺: σ²BBᵀ is the covariance of the coefficients."""
        return self.combine(np.eye(self.rank))

    @property
    def inflation(self) -> Floats:
        """Diagonal of D(XᵀX)⁺D: how many times each slope's variance is what it would be at right angles."""
        return np.square(self.root * self.lengths[:, None]).sum(axis=1)

    @cached_property
    def determined(self) -> NDArray[np.bool_]:
        """Which slopes the data determine at all."""
        known = self.lengths > 0
        if not self.is_full:
            inside = self._svd[1][: self.rank]
            known[self.active] = 1 - np.square(inside).sum(axis=0) < 1e-10
        return known

    def determines(self, directions: Floats, weight: float) -> NDArray[np.bool_]:
        """Tell for each row c of `directions` whether the data determine c·b at all.

        They do not if c points, even in part, where the columns are dependent. Columns without any
        variation are left out of the question: their coefficient is zero by convention. What is small beside
        the spread of the data (whose rows weigh `weight` together) is rounding and points nowhere.
        """
        if self.is_full:
            return np.ones(len(directions), dtype=bool)
        scaled = directions[:, self.active] / self.lengths[self.active]
        inside = self._svd[1][: self.rank]
        outside = scaled - (scaled @ inside.T) @ inside
        size = np.maximum(np.linalg.norm(scaled, axis=1), 1 / np.sqrt(weight))
        return np.linalg.norm(outside, axis=1) <= 1e-8 * size

    def variance_shares(self) -> tuple[Floats, Floats]:
        """Return condition indices and, for each, the share of every coefficient's variance it causes.

        Belsley, Kuh and Welsch (1980): a large index (above 30, say) that causes most of the variance of two
        or more coefficients points at the features whose roles the data cannot tell apart.
        """
        values, rows = self._svd
        values = np.maximum(values, EPS * values.max(initial=0.0))
        parts = (rows / values[:, None]) ** 2
        shares = np.zeros((len(values), self.n_features))
        if len(values):
            shares[:, self.active] = parts / parts.sum(axis=0)
        return values.max(initial=0.0) / values, shares


def column_norms(A: Floats) -> Floats:
    """Return the lengths of columns whose squares may be no float64 numbers."""
    largest = np.abs(A).max(axis=0, initial=0.0)
    unit = np.ldexp(1.0, np.clip(np.frexp(largest)[1], -1000, 1000))
    return np.linalg.norm(A / unit, axis=0) * unit


def _condition(triangle: Floats) -> float:
    """Return the condition number of an upper triangle in the 1-norm."""
    if not triangle.size:
        return 1.0
    inverse, failed = lapack.dtrtri(triangle)
    return np.inf if failed else float(np.linalg.norm(triangle, 1) * np.linalg.norm(inverse, 1))


def _solve_triangle(triangle: Floats, right: Floats, *, transposed: bool = False) -> Floats:
    """Solve Rx = c or Rᵀx = c for an upper triangular R without zeros on its diagonal."""
    if not triangle.size:
        return np.zeros_like(right)
    if triangle.flags.c_contiguous:  # to LAPACK, which reads columns first, a lower triangle
        return lapack.dtrtrs(triangle.T, right, lower=1, trans=int(not transposed))[0]
    return lapack.dtrtrs(triangle, right, lower=0, trans=int(transposed))[0]
