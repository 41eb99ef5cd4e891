"""The parameters of a Gaussian mixture: checked when they are given, told when they are found."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bisector.engine.blocks import Block
from bisector.engine.map_reduce import map_reduce
from bisector.engine.sources import Source
from bisector.solvers.em import MixtureFit, Shared, moments_of_shares
from bisector.solvers.mixture import Mixture
from bisector.solvers.mixture_shapes import SHAPES, Diagonal, Shape

Floats = NDArray[np.float64]


def check_mixture_weights(name: str, weights: ArrayLike, k: int) -> Floats:
    """Check the weights of k components, which add up to one."""
    found = np.array(weights, dtype=np.float64)
    if found.shape != (k,):
        raise ValueError(f"{name} must hold {k} weights, one a component, but has the shape {found.shape}.")
    if not (np.isfinite(found).all() and (found >= 0).all() and abs(found.sum() - 1) < 1e-6):
        raise ValueError(f"{name} must hold numbers from 0 to 1 that add up to 1, not {found.tolist()}.")
    return found / found.sum()


def check_means(name: str, means: ArrayLike, k: int | None = None, d: int | None = None) -> Floats:
    """Check means, one row a component."""
    found = np.array(means, dtype=np.float64)
    if found.ndim != 2 or (k is not None and found.shape != (k, d)):
        wanted = "one row a component" if k is None else f"the shape {(k, d)}"
        raise ValueError(f"{name} must have {wanted}, but has the shape {found.shape}.")
    if not np.isfinite(found).all():
        raise ValueError(f"{name} must hold finite numbers.")
    return found


def check_covariances(name: str, covariances: ArrayLike, shape: Shape, k: int, d: int) -> Floats:
    """Check covariances, or precisions: symmetric and positive."""
    found = np.array(covariances, dtype=np.float64)
    if found.shape != shape.wanted(k, d):
        raise ValueError(
            f"{name} must have the shape {shape.wanted(k, d)} for covariance_type={shape.name!r}, but has the "
            f"shape {found.shape}."
        )
    positive = (
        (found > 0).all()
        if isinstance(shape, Diagonal)
        else np.allclose(found, np.swapaxes(found, -1, -2), rtol=1e-8)
        and (np.linalg.eigvalsh(found) > 0).all()
    )
    if not (np.isfinite(found).all() and positive):
        kind = "numbers above 0" if isinstance(shape, Diagonal) else "symmetric, positive definite matrices"
        raise ValueError(f"{name} must hold {kind}.")
    return found


def told(found: MixtureFit) -> dict[str, Any]:
    """Return what an estimator stores of a fit."""
    mixture = found.mixture
    return {
        "_mixture": mixture,
        "weights_": mixture.weights,
        "means_": mixture.means,
        "covariances_": mixture.covariances,
        "precisions_cholesky_": mixture.roots,
        "precisions_": mixture.precisions,
        "converged_": found.converged,
        "n_iter_": len(found.history),
        "lower_bound_": found.history[-1] if found.history else -np.inf,
        "lower_bounds_": list(found.history),
    }


def collapsed(mixture: Mixture, rows: Source, mean: Floats, floor: float) -> NDArray[np.bool_]:
    """Tell which components lie at the floor in more directions than the data as a whole."""
    k, d = mixture.means.shape
    least = floor * (1 + 1e-6)
    variances = np.linalg.eigvalsh(mixture.shape.matrices(mixture.covariances, k, d))
    low = (variances <= least).sum(axis=1)
    if not low.any():
        return np.zeros(k, dtype=bool)
    found = map_reduce(_block_scatter, rows, mean, doing="measuring")
    whole = np.linalg.eigvalsh(found.squares[0] / found.counts[0])
    return np.asarray(low > (whole <= least).sum())


def _block_scatter(block: Block, mean: Floats) -> Shared:
    return moments_of_shares(block.dense, block.weights[:, None], mean[None], SHAPES["full"])
