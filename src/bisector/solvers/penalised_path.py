"""Penalised least squares for one penalty after the other: the lasso and the elastic net.

In scikit-learn's terms the objective is

    1/(2W) Σᵢ wᵢ(yᵢ − b − c·xᵢ)² + α·ρ‖c‖₁ + ½α(1 − ρ)‖c‖²,      W = Σᵢ wᵢ,

with α = `alpha` and ρ = `l1_ratio`. `lasso_problem` says what a solution's proof is. Data with few columns, or
with many more rows than columns, are read once: their moments hold all that the problem depends on. Of other data
the columns are looked at as often as `working_sets` needs them.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bisector.engine.blocks import as_columns
from bisector.engine.checkpoint import NOWHERE, Checkpoint
from bisector.engine.memory import readable, require
from bisector.engine.moments import LARGEST, SMALLEST
from bisector.engine.progress import track
from bisector.engine.sources import ArraySource, Source, SparseSource
from bisector.engine.threads import one_blas_thread

from .centred_columns import centred_columns
from .lasso_problem import FINEST, Penalised, Penalty
from .least_squares import column_lengths, gather, least_squares, nonnegative

if TYPE_CHECKING:
    from .coordinate_descent import Descended
    from .lasso_homotopy import Knot

Floats = NDArray[np.float64]

# Up to so many columns, the products of every two of them cost next to nothing.
FEW_FEATURES = 256
# Of many more rows than columns all products are made at once, if they are at most so many.
TALL, MANY_PRODUCTS = 30, 10**11
# A factor of the penalty beyond this forbids a coefficient; its square is still no infinity to multiply with zero.
_FORBIDDING = 1e150
# Correlations with a column are known up to this share of its length times that of the target.
_ROUNDING = 1e-12


class Fit(Protocol):
    """The problem of one target, solved for one penalty after the other, each from where the last one ended."""

    square: float

    @property
    def coefficients(self) -> Floats: ...

    @property
    def residual_square(self) -> float: ...

    def start(self, v: Floats) -> None: ...

    def solve(self, penalty: Penalty, tol: float, max_iter: int) -> "Descended": ...


class PenalisedData(ABC):
    """X with the weights of its rows, ready to be fitted to its targets.

    Attributes
    ----------
    n_features, n_targets : int
    weight : float
        The sum of the weights.
    mean : (n_features,) what columns are measured from
    unit : (n_features,) in which columns are measured
    mean_y, unit_y : (n_targets,) the same for the targets
    """

    n_features: int
    n_targets: int
    weight: float
    mean: Floats
    unit: Floats
    mean_y: Floats
    unit_y: Floats

    @abstractmethod
    def fit(self, target: int) -> Fit:
        """Set up the problem of one target."""

    @abstractmethod
    def correlations(self, target: int) -> Floats:
        """Return the products of the columns with a target, in the units of both."""

    def largest_alpha(self, target: int, l1_ratio: float, *, positive: bool) -> float:
        """Return the smallest penalty for which all coefficients are zero."""
        with one_blas_thread:
            products = self.correlations(target) / self.unit / self.unit_y[target]
        sizes = products if positive else np.abs(products)
        return max(0.0, float(sizes.max(initial=0.0))) / (self.weight * l1_ratio)

    @abstractmethod
    def lengths(self) -> Floats:
        """Return the lengths of the columns, in their units."""

    def penalty(
        self, alpha: float, l1_ratio: float, target: int, length: float, *, positive: bool
    ) -> Penalty:
        """Return the factors of the penalty in the units of the columns and the target, whose length is given.

        A factor below the rounding of correlations is raised to it, which changes the objective about as little as
        rounding does: no proof could tell the difference.
        """
        with np.errstate(over="ignore"):
            l1 = alpha * l1_ratio * self.weight * self.unit * self.unit_y[target]
            l2 = alpha * (1 - l1_ratio) * self.weight * self.unit * self.unit
        if l1_ratio > 0:
            l1 = np.maximum(l1, _ROUNDING * length * self.lengths())
        return Penalty(np.minimum(l1, _FORBIDDING), np.minimum(l2, _FORBIDDING), positive)


class Moments(PenalisedData):
    """Data known by their first and second moments, which a checkpoint keeps: what follows reads no rows."""

    def __init__(
        self, rows: Source, *, intercept: bool, n_jobs: int | None, kept: Checkpoint = NOWHERE
    ) -> None:
        known = kept.recall("moments")
        if known is None:
            known = self._gathered(rows, intercept, n_jobs)
            kept.note("moments", **known)
        self._G, self._q, self._squares = known["G"], known["q"], known["squares"]
        self.n_features, self.n_targets = self._q.shape
        self.weight = float(known["weight"])
        self.unit, self.unit_y = known["unit"], known["unit_y"]
        self.mean, self.mean_y = known["mean"], known["mean_y"]

    @staticmethod
    def _gathered(rows: Source, intercept: bool, n_jobs: int | None) -> dict[str, Any]:
        with one_blas_thread:
            found = gather(rows, n_jobs)
        G, q, squares = found.about_mean() if intercept else found.about_zero()
        constant = column_lengths(found, G, intercept) == 0
        if constant.any():
            G[constant], G[:, constant], q[constant] = 0.0, 0.0, 0.0
        d, n_targets = q.shape
        return {
            "G": G,
            "q": q,
            "squares": squares,
            "weight": found.weight,
            "unit": found.of_x.scale,
            "unit_y": found.of_y.scale,
            "mean": found.mean_x if intercept else np.zeros(d),
            "mean_y": found.mean_y if intercept else np.zeros(n_targets),
        }

    def correlations(self, target: int) -> Floats:
        return self._q[:, target]

    def lengths(self) -> Floats:
        return np.sqrt(np.maximum(np.diagonal(self._G), 0.0))

    def fit(self, target: int) -> Fit:
        return _MomentsFit(self._G, np.ascontiguousarray(self._q[:, target]), float(self._squares[target]))


class _MomentsFit:
    """All columns are in the working set."""

    def __init__(self, G: Floats, q: Floats, square: float) -> None:
        from .coordinate_descent import ProductSet

        self.square = square
        self._set = ProductSet(G, q, square)

    @property
    def coefficients(self) -> Floats:
        return self._set.v.copy()

    @property
    def residual_square(self) -> float:
        return self._set.residual_square

    def start(self, v: Floats) -> None:
        self._set.start(v)

    def solve(self, penalty: Penalty, tol: float, max_iter: int) -> "Descended":
        return self._set.minimise(penalty, max(tol, FINEST) * self.square, max_iter)


class Columns(PenalisedData):
    """Data whose columns are at hand."""

    def __init__(self, rows: Source, *, intercept: bool, n_jobs: int | None) -> None:
        rows = _in_memory(rows)
        with one_blas_thread:
            self._columns = centred_columns(rows, intercept=intercept, n_jobs=n_jobs)
        Y = as_columns(rows.y, rows.n_rows)
        self.n_features, self.n_targets = rows.n_features, Y.shape[1]
        self.weight, self.mean, self.unit = self._columns.weight, self._columns.mean, self._columns.unit
        made = [self._columns.target(y) for y in Y.T]
        self.mean_y = np.array([mean for _, mean in made])
        self.unit_y = np.array([_unit(y) for y, _ in made])
        self._targets = [y * unit for (y, _), unit in zip(made, self.unit_y, strict=True)]

    def correlations(self, target: int) -> Floats:
        return self._columns.correlations(self._targets[target])

    def lengths(self) -> Floats:
        return np.sqrt(self._columns.squares)

    def fit(self, target: int) -> Fit:
        from .working_sets import WorkingSetFit

        return WorkingSetFit(self._columns, self._targets[target])

    def knots(
        self, *, ridge: float, alpha_min: float, positive: bool, most: int | None, target: int = 0
    ) -> "list[Knot]":
        """Follow the lasso's path exactly; return its knots with penalties and coefficients in the data's units."""
        from .lasso_homotopy import lasso_homotopy

        unit_y = float(self.unit_y[target])
        factors = self.weight * self.unit * unit_y
        with np.errstate(over="ignore"):
            l2 = np.minimum(ridge * self.weight * self.unit * self.unit, _FORBIDDING)
        found = lasso_homotopy(
            self._columns,
            self._targets[target],
            factors,
            l2,
            positive=positive,
            smallest=alpha_min,
            most=most,
        )
        with np.errstate(over="ignore"):
            return [
                knot._replace(
                    v=knot.v * self.unit[knot.features] / unit_y,
                    gap=float(np.float64(knot.gap) / self.weight / unit_y / unit_y),
                )
                for knot in found
            ]


def _unit(y: Floats) -> float:
    """Return a power of two that brings values whose squares are no numbers to about one."""
    size = float(np.abs(y).max())
    ordinary = size == 0 or SMALLEST < size < LARGEST
    return 1.0 if ordinary else float(np.ldexp(1.0, -max(int(np.frexp(size)[1]), -1000)))


def _in_memory(rows: Source) -> Source:
    """Read rows that cannot be looked at by column."""
    if isinstance(rows, ArraySource | SparseSource):
        return rows
    n_bytes = 2 * rows.n_rows * rows.n_features * rows.dtype.itemsize
    require(
        n_bytes,
        doing=f"a fit with an L1 penalty on {rows.n_features:,} features",
        holding=f"the table twice ({readable(n_bytes // 2)} a copy)",
        instead="choose among the features first, or pass them as a sparse matrix",
    )
    blocks = list(rows.blocks())
    held = ArraySource(np.concatenate([block.dense for block in blocks]))
    held.feature_names = rows.feature_names
    held.sample_weight = None if rows.sample_weight is None else np.asarray(rows.sample_weight)
    held.y = np.concatenate([np.asarray(block.y, dtype=np.float64) for block in blocks])
    return held


def penalised_data(
    rows: Source, *, intercept: bool = True, n_jobs: int | None = None, kept: Checkpoint = NOWHERE
) -> PenalisedData:
    """Read what the problem depends on from a source with targets; note it, if that is much less than the rows."""
    n, d = rows.n_rows, rows.n_features
    products = rows.X.nnz * (1 + rows.X.nnz // n) if isinstance(rows, SparseSource) else n * d * d
    tall = n >= TALL * d and products + d * d <= MANY_PRODUCTS
    if d <= FEW_FEATURES or tall:
        return Moments(rows, intercept=intercept, n_jobs=n_jobs, kept=kept)
    return Columns(rows, intercept=intercept, n_jobs=n_jobs)


def penalised_path(
    data: PenalisedData,
    alphas: Sequence[float] | Floats,
    *,
    target: int = 0,
    l1_ratio: float = 1.0,
    positive: bool = False,
    tol: float = 1e-4,
    max_iter: int = 1000,
    start: Floats | None = None,
    verbose: bool | int = False,
) -> Iterator[Penalised]:
    """Solve for one `alpha` after the other, which is fastest if they fall.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.engine.sources import source
    >>> from bisector.solvers.penalised_path import penalised_data, penalised_path
    >>> X, y = np.array([[-1.0], [0.0], [1.0]]), np.array([0.0, 3.0, 6.0])
    >>> data = penalised_data(source(X, y))
    >>> [float(found.coef[0].round(6)) for found in penalised_path(data, [2.0, 1.0, 0.5])]
    [0.0, 1.5, 2.25]
    """
    unit, unit_y = data.unit, float(data.unit_y[target])
    fit = data.fit(target)
    if start is not None and start.any():
        with one_blas_thread:
            fit.start(start / unit * unit_y)
    with track("fitting penalties", total=len(alphas), verbose=verbose) as bar:
        for alpha in alphas:
            penalty = data.penalty(float(alpha), l1_ratio, target, np.sqrt(fit.square), positive=positive)
            with one_blas_thread, np.errstate(over="ignore"):
                sweeps, gap, converged = fit.solve(penalty, tol, max_iter)
                v = fit.coefficients
                coef = v * unit / unit_y
                values = np.array([0.5 * fit.residual_square + penalty.cost(v), gap])
                objective, true_gap = (values / data.weight / unit_y / unit_y).tolist()
                intercept = float(data.mean_y[target] - data.mean @ coef)
            yield Penalised(coef, intercept, objective, true_gap, sweeps, converged)
            bar.advance()


def unpenalised(rows: Source, *, intercept: bool, positive: bool, n_jobs: int | None) -> list[Penalised]:
    """Solve for `alpha` = 0, least squares, for every target; the gap is estimated from the solution's error."""
    found = least_squares(rows, intercept=intercept, n_jobs=n_jobs)
    if positive and (found.coef < 0).any():
        found = nonnegative(rows, found, n_jobs=n_jobs)
    objective = 0.5 * found.residual_norm**2 / found.weight
    explained = 0.5 * found.total_norm**2 / found.weight - objective
    gaps = np.maximum(explained, 0.0) * found.gap**2
    return [
        Penalised(coef, float(offset), float(value), float(gap), 1, found.converged)
        for coef, offset, value, gap in zip(found.coef.T, found.intercept, objective, gaps, strict=True)
    ]


def alpha_grid(largest: float, eps: float, count: int) -> Floats:
    """Return `count` penalties from the largest down to `eps` times it, each the same share of the one before."""
    finest = float(np.finfo(np.float64).resolution)
    if largest <= finest:
        return np.full(count, finest)
    return np.geomspace(largest, largest * eps, num=count)
