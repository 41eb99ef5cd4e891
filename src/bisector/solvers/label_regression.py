"""Regression on class labels: w = M⁻¹(n₁μ₁ − n₀μ₀), the general linear classifier (Flach, Equation 7.7).

With labels y = ±1 for two classes (for more, +1 for one class and −1 for the rest, one plane a class),
n₁μ₁ − n₀μ₀ = Σy·x, taken about the mean of all rows if centred. M says what is known of the features:

    full       Σxxᵀ + λI, so that w solves the least-squares problem min Σ(y − a − w·x)² + λ‖w‖²
    diagonal   its diagonal alone, as if features were uncorrelated
    identity   nI + λI, as if they all had the variance one as well

M fixes a direction; how long w is and where the threshold lies follow from the projections s = w·x, which are
a single feature: c and a solve min Σ(y − a − c·s)², and c·s + a estimates the label, so that the scores of
different classes compare. For M full, λ = 0 and centred, c is one already. (If not centred, c may be negative:
then w points away from the class, and is turned round.)

For M full the certificate is that of `ridge`; the others are formulas, and off by rounding.
"""

from copy import copy
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bisector.engine.blocks import Block
from bisector.engine.columns import mapped
from bisector.engine.map_reduce import map_reduce
from bisector.engine.moments import Coordinates
from bisector.engine.sources import Source
from bisector.engine.threads import one_blas_thread

from .class_sums import ClassSums, block_class_sums, class_sums
from .column_geometry import EPS
from .least_squares import is_constant
from .ridge import ridge as solve_ridge

Floats = NDArray[np.float64]

# Of the iterative methods, which only very many sparse features need.
TOL = 1e-8


@dataclass(frozen=True)
class LabelPlanes:
    """Planes that estimate labels ±1 by w·x + b.

    Attributes
    ----------
    coef : (n_features, n_planes)
    intercept : (n_planes,)
        By least squares.
    gap : float
        Estimate of the relative error of w as the solution of its equation.
    converged : bool
    """

    coef: Floats
    intercept: Floats
    gap: float
    converged: bool = True


def label_regression(
    rows: Source,
    n_classes: int,
    *,
    covariance: str = "full",
    ridge: float = 0.0,
    centred: bool = True,
    n_jobs: int | None = None,
) -> LabelPlanes:
    """Find the planes of a source whose targets are places of classes.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.engine.sources import source
    >>> from bisector.solvers.label_regression import label_regression
    >>> rows = source(np.array([[0.0], [1.0], [3.0], [4.0]]), y=np.array([0, 0, 1, 1]))
    >>> label_regression(rows, 2).coef
    array([[0.6]])
    """
    if covariance == "full":
        strength = np.array([ridge])
        found = solve_ridge(labelled(rows, n_classes), strength, intercept=centred, tol=TOL, n_jobs=n_jobs)
        made = LabelPlanes(found.coef, found.intercept, found.gap, found.converged)
        if centred and not ridge:
            return made
    else:
        made = _direction_by_feature(rows, n_classes, covariance, ridge, centred, n_jobs)
    return _scaled(rows, made, n_classes, n_jobs)


def labelled(rows: Source, n_classes: int) -> Source:
    """Return the same rows with labels ±1 as targets, one column a plane."""
    assert rows.y is not None
    labels, width = copy(rows), None if n_classes == 2 else n_classes
    labels.y = mapped(rows.y, signs, n_classes, dtype=np.int8, width=width)
    return labels


def signs(codes: NDArray[np.int64], n_classes: int) -> NDArray[np.int8]:
    """Return labels ±1 of places of classes, a byte each until a block is read."""
    one = codes == 1 if n_classes == 2 else codes[:, None] == np.arange(n_classes)
    return np.where(one, np.int8(1), np.int8(-1))


def _direction_by_feature(
    rows: Source, n_classes: int, covariance: str, ridge: float, centred: bool, n_jobs: int | None
) -> LabelPlanes:
    sums = class_sums(rows, n_classes, squares=True, n_jobs=n_jobs)
    unit, n = sums.of_x.scale, sums.weight
    mean = sums.offset * unit  # in units of the coordinates, from here on
    about = mean if centred else -sums.of_x.shift * unit
    squares = np.maximum(sums.squares + n * about * (about - 2 * mean), 0.0)
    if centred:
        constant = is_constant(np.sqrt(squares) / unit, sums.of_x.shift + sums.offset, n)
        squares[constant] = 0.0
    gradient = _against_the_rest(sums.sums - sums.weights[:, None] * about).T
    gradient[squares == 0] = 0.0
    # The roots of the diagonal of M. The ridge, and the identity, are those of the features in their own units.
    lengths = np.hypot(np.sqrt(squares), np.sqrt(ridge) * unit) if covariance == "diagonal" else unit
    # Only the direction counts: lengths are compared with the shortest, lest their squares overflow or vanish.
    counts = gradient.any(axis=1)
    shortest = lengths[counts].min() if counts.any() else 1.0
    longer = np.where(counts, lengths / shortest, 1.0)[:, None]
    direction = gradient / longer / longer
    # To a length at which projections are about one, so that their squares are numbers.
    reach = (np.abs(direction) * np.sqrt(squares / n)[:, None]).max(axis=0, initial=0.0)
    direction /= np.where(reach > 0, reach, 1.0)
    return LabelPlanes(direction * unit[:, None], np.zeros(direction.shape[1]), EPS)


def _against_the_rest(values: Floats) -> Floats:
    """Return, plane by plane, the value of its class less that of the rest, for additive values of classes."""
    return values[1:] - values[:1] if len(values) == 2 else 2 * values - values.sum(axis=0)


# Projections: what w makes of the rows


def projected_sums(rows: Source, coef: Floats, n_classes: int, *, n_jobs: int | None = None) -> ClassSums:
    """Gather the class sums of the projections w·x, one feature a plane."""
    block = next(rows.blocks(range(1)))
    with one_blas_thread:
        shift = np.asarray(block.X @ coef).mean(axis=0)
    of_s = Coordinates(shift, np.ones(len(shift)))
    return map_reduce(block_projected_sums, rows, coef, of_s, n_classes, n_jobs=n_jobs, doing="projecting")


def block_projected_sums(block: Block, coef: Floats, of_s: Coordinates, n_classes: int) -> ClassSums:
    """Make the class sums of one block's projections."""
    return block_class_sums(block._replace(X=np.asarray(block.X @ coef)), of_s, n_classes, True)


def _scaled(rows: Source, made: LabelPlanes, n_classes: int, n_jobs: int | None) -> LabelPlanes:
    """Give directions the length and the intercept that estimate labels best."""
    sums = projected_sums(rows, made.coef, n_classes, n_jobs=n_jobs)
    n, mean = sums.weight, sums.offset
    label = _against_the_rest(sums.weights[:, None])[:, 0] / n  # the mean of y
    products = np.diagonal(_against_the_rest(sums.sums)) - n * label * mean
    squares = sums.squares - n * mean**2
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        length = np.where(squares > 0, products / squares, 0.0)
        intercept = label - length * (mean + sums.of_x.shift)
        return replace(made, coef=made.coef * length, intercept=intercept)
