"""The planes halfway between class means, wherever the means live.

Of two classes there is one plane, the perpendicular bisector of their means: w = μ₁ − μ₀ through the middle
(μ₀ + μ₁)/2, so that w·x + b is half of ‖x − μ₀‖² − ‖x − μ₁‖². Of more classes each has a plane of its own,
the bisector between its mean and the centre c of all means: w·x + b is half of ‖x − c‖² − ‖x − μₖ‖², and the
largest belongs to the nearest mean.

Both are combinations of means: w = Tμ and middle = Uμ. So only products of means are needed, and the planes can
be had in the feature space of a kernel as well, where μₖ = Σᵢ sᵢₖ φ(xᵢ) and μⱼ·μₖ = Σᵢₗ sᵢⱼ sₗₖ k(xᵢ, xₗ).
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bisector.distances.distance import Pairs, Rows
from bisector.distances.reductions import cut
from bisector.engine.memory import require
from bisector.engine.threads import parallel
from bisector.kernels.kernel import Kernel

Floats = NDArray[np.float64]


class Combinations(NamedTuple):
    """How planes are made of means: w = Tμ, and a point on each plane is Uμ; (n_planes, n_classes) both."""

    normals: Floats
    middles: Floats


def combinations(n_classes: int, *, one_plane: bool) -> Combinations:
    """Say how the means of so many classes make planes: one between two of them, or one for each."""
    if one_plane:
        return Combinations(np.array([[-1.0, 1.0]]), np.array([[0.5, 0.5]]))
    each, centre = np.eye(n_classes), np.full((n_classes, n_classes), 1 / n_classes)
    return Combinations(each - centre, (each + centre) / 2)


class BisectingPlanes(NamedTuple):
    """Planes w·x + b between means: w in coordinates, or as weights on the training rows.

    Attributes
    ----------
    weights : (n_planes, n_features), or (n_planes, n_rows) in feature space
    intercepts : (n_planes,)
    lengths : (n_planes,)
        ‖w‖.
    """

    weights: Floats
    intercepts: Floats
    lengths: Floats


def bisecting_planes(offsets: Floats, shift: Floats, *, one_plane: bool) -> BisectingPlanes:
    """Return the planes between means, given as offsets from a shift, which differences of means do not see.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.solvers.bisecting_planes import bisecting_planes
    >>> means = np.array([[0.0, 1.0], [4.0, 1.0]])
    >>> bisecting_planes(means, np.zeros(2), one_plane=True)
    BisectingPlanes(weights=array([[4., 0.]]), intercepts=array([-8.]), lengths=array([4.]))
    """
    made = combinations(len(offsets), one_plane=one_plane)
    normals = made.normals @ offsets
    middles = made.middles @ offsets + shift
    with np.errstate(over="ignore", invalid="ignore"):  # what no number can hold the estimator refuses
        intercepts = -np.einsum("ij,ij->i", normals, middles)
        return BisectingPlanes(normals, intercepts, np.linalg.norm(normals, axis=1))


def bisecting_planes_in_feature_space(sums: Callable[[Floats], Floats], shares: Floats) -> BisectingPlanes:
    """Return the planes between means in the feature space of a kernel.

    Parameters
    ----------
    sums : callable
        ``sums(shares)`` returns Σₗ k(xᵢ, xₗ)·shares[l] for every training row i.
    shares : (n_rows, n_classes)
        What each row contributes to the mean of each class; they sum to one in each class.
    """
    made = combinations(shares.shape[1], one_plane=shares.shape[1] == 2)
    products = shares.T @ sums(shares)
    products = (products + products.T) / 2
    intercepts = -np.einsum("ij,jk,ik->i", made.normals, products, made.middles)
    squares = np.einsum("ij,jk,ik->i", made.normals, products, made.normals)
    return BisectingPlanes(made.normals @ shares.T, intercepts, np.sqrt(np.maximum(squares, 0.0)))


def kernel_sums(
    kernel: Kernel, queries: Rows, references: Rows, weights: Floats, *, n_jobs: int | None = None
) -> Floats:
    """Return Σᵢ k(query, referenceᵢ)·weights[i] for every query and every column of weights."""
    return weighted_sums(kernel.between(queries, references), weights, n_jobs=n_jobs)


def weighted_sums(pairs: Pairs, weights: Floats, *, n_jobs: int | None = None) -> Floats:
    """Return, for every outer row and every column of weights, the sum over the inner rows, each times its weight.

    Tiles of kernel values or distances are multiplied with the weights as they are made, and forgotten.
    """
    n, m = pairs.shape
    height, width = (min(size, length) for size, length in zip(pairs.tile_shape, (n, m), strict=True))
    require(
        8 * height * width,
        doing=f"Comparing {n:,} with {m:,} rows",
        holding="kernel values of a function that wants to see all rows at once",
        instead="pass fewer rows at a time, or a kernel of bisector",
    )
    totals = np.zeros((n, weights.shape[1]))

    def add(outer: range) -> None:
        tile = np.empty((len(outer), width))
        own = totals[outer.start : outer.stop]
        for inner in cut(m, width):
            pairs.write(outer, inner, tile)
            own += tile[:, : len(inner)] @ weights[inner.start : inner.stop]

    parallel(add, cut(n, height), n_jobs=n_jobs)
    return totals


def class_shares(codes: NDArray[np.int64], weight: Floats | None, n_classes: int) -> tuple[Floats, Floats]:
    """Return what each row contributes to the mean of each class, and what the classes weigh."""
    counts = np.ones(len(codes)) if weight is None else weight
    totals = np.bincount(codes, counts, minlength=n_classes).astype(np.float64)
    shares = np.zeros((len(codes), n_classes))
    shares[np.arange(len(codes)), codes] = counts / np.where(totals > 0, totals, 1.0)[codes]
    return shares, totals
