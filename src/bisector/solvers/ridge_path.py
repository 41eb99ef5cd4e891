"""Ridge regression for every strength of the penalty at once, with exact leave-one-out errors.

One decomposition of the centred rows A = UΣVᵀ serves every α and every target:

    w(α) = V(Σ² + α)⁻¹ΣUᵀy,        degrees of freedom = Σ σ²/(σ² + α), and one for the intercept.

What the model without row i would have predicted there follows from the fit with it: y − ŷ₋ᵢ = r/(1 − h), with its
residual r and its leverage h = v(1/Σv + x·(S + α)⁻¹x), x from the mean (Allen's PRESS, 1974). Generalised
cross-validation (Golub, Heath and Wahba 1979) puts the mean leverage in the place of each.

V and Σ² come from the products of features with features, or, where these would lose more than eight of sixteen
digits, from the triangular factor of the rows; with fewer rows than features, U and Σ² come from the products of
rows with rows.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, svd

from bisector.engine.blocks import Block
from bisector.engine.map_reduce import map_reduce
from bisector.engine.memory import require
from bisector.engine.moments import Coordinates
from bisector.engine.sources import Source

from .column_geometry import EPS
from .joint_factor import joint_factor
from .ridge import PrimalRidge, blas_threads
from .ridge_dual import DualRidge

Floats = NDArray[np.float64]
Mode = Literal["auto", "eigen", "svd"]

# Squared singular values that differ by more leave the smallest with fewer than eight digits.
LARGEST_RATIO = 1e8
# Rows are taken in pieces of about so many numbers, which stay in the second-level cache.
PIECE = 2**18


class LeftOut(NamedTuple):
    """What leaving rows out one at a time shows; arrays are (n_targets, n_alphas).

    Attributes
    ----------
    errors : weighted means of the squared errors at rows left out
    gcv : the same by generalised cross-validation
    residuals : (n_rows, n_targets, n_alphas) errors y − ŷ₋ᵢ, if they were to be kept
    """

    errors: Floats
    gcv: Floats
    residuals: Floats | None


class Spectrum(ABC):
    """A decomposition of the centred rows, which serves all strengths of the penalty."""

    squares: Floats  # σ² of the rows times `scale`
    scale: float
    intercept: bool
    weight: float

    @abstractmethod
    def coefficients(self, alphas: Floats) -> tuple[Floats, Floats]:
        """Return the coefficients, (n_alphas, n_features, n_targets), and intercepts, (n_alphas, n_targets)."""

    @abstractmethod
    def leave_one_out(self, alphas: Floats, *, keep: bool, n_jobs: int | None) -> LeftOut:
        """Return the errors at rows left out, for every alpha."""

    def degrees_of_freedom(self, alphas: Floats) -> Floats:
        """Return the trace of the matrix that takes targets to fitted values."""
        kept = self.squares / (self.squares + self.strengths(alphas)[:, None])
        return kept.sum(axis=1) + self.intercept

    def strengths(self, alphas: Floats) -> Floats:
        """Return penalties in units of `squares`."""
        return np.maximum(alphas * self.scale**2, np.finfo(float).tiny)

    def spaced_alphas(self, count: int) -> Floats:
        """Return penalties from where hardly any direction is shrunk to where all of them are."""
        with np.errstate(over="ignore"):
            squares = np.minimum(self.squares / self.scale**2, 1e300)  # ten times that is still a number
        largest = float(squares.max(initial=0.0)) or 1.0
        seen = squares[squares > 1e-10 * largest]
        smallest = float(seen.min()) if len(seen) else largest
        return np.geomspace(smallest / 10, largest * 10, count)

    def generalised(self, residual_squares: Floats, alphas: Floats) -> Floats:
        """Return (Σvr²/n)/(1 − degrees of freedom/n)², n the sum of the weights."""
        room = np.maximum(1 - self.degrees_of_freedom(alphas) / self.weight, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(room > 0, residual_squares / self.weight / np.square(room), np.inf)


def spectrum_of(
    design: PrimalRidge | DualRidge, smallest: float, *, mode: Mode = "auto", n_jobs: int | None = None
) -> Spectrum:
    """Decompose the rows of a design, accurately enough for penalties from `smallest` on."""
    if isinstance(design, DualRidge):
        with blas_threads(design.rows.n_rows):
            return _of_rows(design, smallest, mode)
    with blas_threads(design.rows.n_features):
        return _of_features(design, smallest, mode, n_jobs)


def _for_every_alpha(axes: Floats, seen: Floats, squares: Floats, strengths: Floats) -> Floats:
    """Return axes·(seen/(σ² + α)), (n_alphas, rows of axes, columns of seen), by one product of matrices."""
    n_alphas, n_targets = len(strengths), seen.shape[1]
    shrunk = seen[:, None, :] / (squares[:, None] + strengths)[:, :, None]
    side_by_side = axes @ shrunk.reshape(len(squares), n_alphas * n_targets)
    return side_by_side.reshape(len(axes), n_alphas, n_targets).transpose(1, 0, 2)


# More rows than features


@dataclass(frozen=True)
class FeatureSpectrum(Spectrum):
    """σ² and V of the features.

    Attributes
    ----------
    axes : (d, k) what turns features in coordinates `of_x` into those along V
    origin : (k,) where the mean lies along V, then
    gradient : (k, T) VᵀAᵀy, in units of y
    """

    rows: Source
    of_x: Coordinates
    of_y: Coordinates
    squares: Floats
    axes: Floats
    origin: Floats
    gradient: Floats
    mean: Floats
    mean_y: Floats
    scale: float
    weight: float
    intercept: bool

    def coefficients(self, alphas: Floats) -> tuple[Floats, Floats]:
        axes = self.axes * self.of_x.scale[:, None]
        with np.errstate(over="ignore", invalid="ignore"):
            coef = _for_every_alpha(axes, self.gradient, self.squares, self.strengths(alphas))
            coef = coef / self.of_y.scale
            offset = self.mean_y - np.einsum("d,adt->at", self.mean, coef)
        return coef, offset if self.intercept else np.zeros_like(offset)

    def leave_one_out(self, alphas: Floats, *, keep: bool, n_jobs: int | None) -> LeftOut:
        n_targets = self.gradient.shape[1]
        kept = None
        if keep and self.rows.executor is not None:
            raise ValueError(
                "Of the rows of a Dask collection no predictions are kept: ask neither for scoring nor for "
                "store_cv_results."
            )
        if keep:
            shape = (self.rows.n_rows, n_targets, len(alphas))
            require(
                8 * int(np.prod(shape)),
                doing=f"leave-one-out at {shape[0]:,} rows",
                holding=f"predictions of {shape[1]:,} targets for {shape[2]:,} alphas",
                instead="ask for fewer alphas, or neither for scoring nor for store_cv_results",
            )
            kept = np.empty(shape)
        sums = map_reduce(
            block_left_out, self.rows, self, self.strengths(alphas), kept, n_jobs=n_jobs, doing="leaving out"
        )
        unit = self.of_y.scale[:, None]
        with np.errstate(over="ignore"):
            errors, squares = sums.errors / self.weight / unit**2, sums.squares / unit**2
        return LeftOut(errors, self.generalised(squares, alphas), kept)


class LeftOutSums(NamedTuple):
    """Σve² of the errors at rows left out and Σvr² of the residuals, (n_targets, n_alphas), in units of y."""

    errors: Floats
    squares: Floats

    def merge(self, other: "LeftOutSums") -> "LeftOutSums":
        return LeftOutSums(self.errors + other.errors, self.squares + other.squares)


def block_left_out(
    block: Block, spectrum: FeatureSpectrum, strengths: Floats, kept: Floats | None
) -> LeftOutSums:
    """Make the sums of one block; write the errors at its rows where they are kept."""
    n, T = block.X.shape[0], spectrum.gradient.shape[1]
    shrink = 1 / (spectrum.squares[:, None] + strengths)
    size = max(64, PIECE // max(spectrum.axes.shape[1], len(strengths), 1))
    errors, squares = np.zeros((2, T, len(strengths)))
    for first in range(0, n, size):
        piece = slice(first, min(first + size, n))
        along = spectrum.of_x.apply(block.X[piece]) @ spectrum.axes
        along -= spectrum.origin
        Y = spectrum.of_y.apply(block.targets[piece])
        if spectrum.intercept:
            Y = Y - (spectrum.mean_y - spectrum.of_y.shift) * spectrum.of_y.scale
        residuals = [Y[:, [t]] - along @ (spectrum.gradient[:, [t]] * shrink) for t in range(T)]
        leverage = np.square(along, out=along) @ shrink
        if spectrum.intercept:
            leverage += 1 / spectrum.weight
        weight = None if block.sample_weight is None else block.sample_weight[piece, None]
        room = 1 - (leverage if weight is None else leverage * weight)
        room[room <= 4 * EPS] = 0.0
        for t, left in enumerate(residuals):
            with np.errstate(divide="ignore", invalid="ignore"):
                out = left / room
            out[room == 0] = np.inf  # nothing but this row tells what to predict there
            if kept is not None:
                kept[block.first_row + piece.start : block.first_row + piece.stop, t] = (
                    out / spectrum.of_y.scale[t]
                )
            for sums, values in ((errors, out), (squares, left)):
                weighted = values if weight is None else values * weight
                sums[t] += np.einsum("ij,ij->j", values, weighted)
    return LeftOutSums(errors, squares)


def _of_features(design: PrimalRidge, smallest: float, mode: Mode, n_jobs: int | None) -> FeatureSpectrum:
    found, intercept = design.found, design.intercept
    scatter, xy, _, lengths = design.products
    largest = float(lengths.max(initial=0.0))
    scale = float(np.ldexp(1.0, -np.clip(np.frexp(largest)[1], -500, 500))) if largest > 0 else 1.0
    of_x, of_y = found.of_x, found.of_y
    if not intercept:
        of_x, of_y = (Coordinates(np.zeros_like(one.shift), one.scale) for one in (of_x, of_y))
    unit = np.where(lengths > 0, scale / of_x.scale, 0.0)
    mean = (found.mean_x - of_x.shift) * of_x.scale * intercept
    if mode != "svd":
        squares, vectors = eigh(
            scatter * unit * unit[:, None], driver="evd", check_finite=False, overwrite_a=True
        )
        squares = np.maximum(squares, 0.0)
        gradient = vectors.T @ (xy * unit[:, None])
    low = smallest * scale**2
    constant = int(np.count_nonzero(lengths == 0))  # their eigenvalues are zero and tell nothing
    if mode == "svd" or (mode == "auto" and _ratio(squares[constant:], low) > LARGEST_RATIO):
        d = len(unit)
        triangle = joint_factor(design.rows, of_x, of_y, intercept=intercept, n_jobs=n_jobs).rows
        inner = triangle[intercept : intercept + d, intercept : intercept + d] * unit
        left, values, right = svd(inner, check_finite=False)
        values = _resolved(values, lengths * scale, low)
        seen = triangle[intercept : intercept + d, intercept + d :]
        squares, vectors = np.square(values), right.T
        gradient = values[:, None] * (left.T @ seen)
    axes = vectors * unit[:, None]
    return FeatureSpectrum(
        design.rows.in_dense_blocks(),
        of_x,
        of_y,
        squares,
        axes,
        mean @ axes,
        gradient,
        design.mean,
        found.mean_y,
        scale,
        found.weight,
        intercept,
    )


def _resolved(values: Floats, lengths: Floats, smallest: float) -> Floats:
    """Return singular values, zero where they may be rounding, largest first.

    A direction that is no more than rounding beside the largest is a dependency, unless some feature is that short
    itself: then a penalty as small as its square cannot be told from none.
    """
    rounding = 16 * EPS * np.sqrt(len(values)) * values.max(initial=0.0)
    if np.sqrt(smallest) < rounding and lengths[lengths > 0].min(initial=np.inf) < 1e3 * rounding:
        raise ValueError(
            "The features are in units so different that the alphas matter to some of them only, beyond what "
            "floating point can tell: divide the features by their spread, or give larger alphas."
        )
    return np.where(values > rounding, values, 0.0)


def _ratio(squares: Floats, smallest: float) -> float:
    """Return how many times the largest eigenvalue of S + α is the smallest."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return float((squares.max(initial=0.0) + smallest) / (squares.min(initial=np.inf) + smallest))


# Fewer rows than features


@dataclass(frozen=True)
class RowSpectrum(Spectrum):
    """σ² and U of the rows, without the direction of the intercept."""

    design: DualRidge
    squares: Floats
    vectors: Floats
    scale: float
    weight: float
    intercept: bool

    def coefficients(self, alphas: Floats) -> tuple[Floats, Floats]:
        rows, seen = self.design.rows, self.vectors.T @ self.design.rows.targets
        dual = _for_every_alpha(self.vectors, seen, self.squares, self.strengths(alphas))
        side_by_side = rows.transposed_times(dual.transpose(1, 0, 2).reshape(rows.n_rows, -1))
        coef = side_by_side.reshape(-1, len(alphas), seen.shape[1]).transpose(1, 0, 2)
        pairs = [rows.original(one) for one in coef]
        return np.stack([one for one, _ in pairs]), np.stack([offset for _, offset in pairs])

    def leave_one_out(self, alphas: Floats, *, keep: bool, n_jobs: int | None) -> LeftOut:
        """With G = AAᵀ + α, outside the direction of the intercept: y − ŷ₋ᵢ = (G⁻¹y)ᵢ/(G⁻¹)ᵢᵢ."""
        rows, strengths = self.design.rows, self.strengths(alphas)
        shrink = 1 / (self.squares[:, None] + strengths)
        room = np.square(self.vectors) @ shrink
        seen = self.vectors.T @ rows.targets
        n_targets = seen.shape[1]
        errors, squares = np.empty((2, n_targets, len(alphas)))
        kept = np.empty((self.design.source.n_rows, n_targets, len(alphas))) if keep else None
        for t in range(n_targets):
            dual = self.vectors @ (seen[:, [t]] * shrink)
            with np.errstate(divide="ignore", invalid="ignore"):
                out = dual / room
            out[room <= 4 * EPS * room.max(initial=0.0)] = np.inf
            errors[t] = np.einsum("ij,ij->j", out, out) / self.weight
            squares[t] = np.square(dual * strengths).sum(axis=0)
            if kept is not None:
                kept[rows.kept, t] = out / rows.root[:, None] / rows.unit_y[t]
        with np.errstate(over="ignore"):
            errors, squares = (values / rows.unit_y[:, None] ** 2 for values in (errors, squares))
        if kept is not None and len(rows.kept) < self.design.source.n_rows:
            self._fill_rows_without_weight(kept, alphas)
        return LeftOut(errors, self.generalised(squares, alphas), kept)

    def _fill_rows_without_weight(self, kept: Floats, alphas: Floats) -> None:
        """A row that was absent all along is predicted by the fit itself."""
        absent = np.setdiff1d(np.arange(self.design.source.n_rows), self.design.rows.kept)
        X = self.design.source.take(absent)
        X = X.toarray() if hasattr(X, "tocsr") else X
        Y = np.concatenate([block.targets for block in self.design.source.blocks()])[absent]
        coef, offset = self.coefficients(alphas)
        kept[absent] = Y[:, :, None] - (np.einsum("nd,adt->nta", X, coef) + offset.T)


def _of_rows(design: DualRidge, smallest: float, mode: Mode) -> RowSpectrum:
    rows = design.rows
    squares, vectors = np.empty(0), np.empty((rows.n_rows, 0))
    if mode != "svd":
        K = design.gram.copy()
        if rows.intercept:
            # The direction of the intercept, in which K is zero, is lifted above all others to be told from them.
            constant = rows.root / np.sqrt(rows.weight)
            K += np.outer(constant, (2 * np.linalg.norm(K) + 1) * constant)
        squares, vectors = eigh(K, driver="evd", check_finite=False, overwrite_a=True)
        if rows.intercept:
            squares, vectors = squares[:-1], vectors[:, :-1]
        squares = np.maximum(squares, 0.0)
    if mode == "svd" or (mode == "auto" and _ratio(squares, smallest * rows.scale**2) > LARGEST_RATIO):
        squares, vectors = _complete(design, smallest * rows.scale**2)
    return RowSpectrum(design, squares, vectors, rows.scale, rows.weight, rows.intercept)


def _complete(design: DualRidge, smallest: float) -> tuple[Floats, Floats]:
    """Return σ² and U of the singular value decomposition, without the direction of the intercept."""
    left, values, _ = design.decomposition
    rows = design.rows
    values = _resolved(values, rows.column_lengths(), smallest)
    if not rows.intercept:
        return np.square(values), left
    # Of the directions without variation, one is to be the intercept's: they are chosen anew around it.
    seen = left[:, values > 0]
    constant = rows.root / np.sqrt(rows.weight)
    basis = np.linalg.qr(np.column_stack([constant, seen]), mode="complete")[0]
    vectors = np.column_stack([seen, basis[:, 1 + seen.shape[1] :]])
    squares = np.zeros(vectors.shape[1])
    squares[: seen.shape[1]] = np.square(values[values > 0])
    return squares, vectors
