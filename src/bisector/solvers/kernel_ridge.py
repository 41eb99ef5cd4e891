"""Ridge regression in the feature space of a kernel.

Minimises Σᵢ vᵢ(yᵢ − f(xᵢ))² + α‖f‖² over f(x) = Σᵢ cᵢ k(xᵢ, x). With K the Gram matrix times √v on both sides and
t = √v·y, the solution is c = √v·u with

    (K + αI)u = t.

Certificate: with r = t − Ku − αu, made from K itself, the objective lies above its minimum by at most ‖r‖². Steps
of refinement with the same factor bring r to rounding.

For many α, one eigendecomposition K = U diag(μ) Uᵀ serves all, and gives the errors at rows left out:
t − t̂₋ᵢ = (G⁻¹t)ᵢ/(G⁻¹)ᵢᵢ with G = K + αI.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas, eigh, lapack

from .column_geometry import EPS

Floats = NDArray[np.float64]

# Refinement gains digits up to this condition number.
LARGEST_CONDITION = 1e13
MOST_STEPS = 3


@dataclass(frozen=True)
class KernelRidgeSolution:
    """The solution with its proof.

    Attributes
    ----------
    dual : (n_rows, n_targets) u
    objective : (n_targets,)
    gap : bound on how much of Σvy² the objective lies above its minimum
    method : "cholesky" or "eigen"
    psd : whether the kernel matrix has no negative eigenvalue, as far as was seen; else the solution is a
        stationary point
    """

    dual: Floats
    objective: Floats
    gap: float
    method: str
    psd: bool

    @property
    def converged(self) -> bool:
        return self.gap <= 1e-12


def kernel_ridge(K: Floats, targets: Floats, alpha: Floats) -> KernelRidgeSolution:
    """Solve for one strength of the penalty for all targets, (1,), or one for each.

    K is used as working memory: afterwards one of its triangles holds something else.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.solvers.kernel_ridge import kernel_ridge
    >>> kernel_ridge(np.array([[1.0, 0.0], [0.0, 3.0]]), np.array([[2.0], [4.0]]), np.array([1.0])).dual
    array([[1.],
           [1.]])
    """
    held = np.asfortranarray(K.T)  # of a C-contiguous array, the transpose is no copy
    strengths = np.unique(alpha)
    dual, objective, gap, method, psd = np.empty_like(targets), np.empty(targets.shape[1]), 0.0, "", True
    for number, strength in enumerate(strengths):
        chosen = np.flatnonzero(np.broadcast_to(alpha, targets.shape[1:]) == strength)
        if number:
            _mirror(held)
        one = _solve(held, np.asfortranarray(targets[:, chosen]), float(strength))
        dual[:, chosen], objective[chosen] = one.dual, one.objective
        gap, method, psd = max(gap, one.gap), one.method, psd and one.psd
    return KernelRidgeSolution(dual, objective, gap, method, psd)


def _solve(held: Floats, targets: Floats, alpha: float) -> KernelRidgeSolution:
    """Factorise in the lower triangle; the upper one keeps K, but for the diagonal."""
    diagonal = np.diagonal(held).copy()
    place = np.diag_indices_from(held)
    norm = lapack.dlange("1", held) + alpha
    held[place] = diagonal + alpha
    _, failed = lapack.dpotrf(held, lower=1, clean=0, overwrite_a=1)
    if failed or lapack.dpocon(held, norm, uplo="L")[0] * LARGEST_CONDITION < 1:
        held[place] = diagonal
        _mirror(held)
        return kernel_spectrum(held).solution(targets, alpha)
    factor_diagonal = np.diagonal(held).copy()

    def image(u: Floats) -> Floats:
        product: Floats = blas.dsymm(1.0, held, u, lower=0)
        return product + (diagonal - factor_diagonal)[:, None] * u

    dual = lapack.dpotrs(held, targets, lower=1)[0]
    left = targets - image(dual) - alpha * dual
    for _ in range(MOST_STEPS):
        better = dual + lapack.dpotrs(held, left, lower=1)[0]
        rest = targets - image(better) - alpha * better
        if np.linalg.norm(rest) >= np.linalg.norm(left) / 2:
            break
        dual, left = better, rest
    held[place] = diagonal
    # t − Ku = αu at the solution, so that the minimum is α·uᵀt.
    objective = alpha * np.einsum("ij,ij->j", dual, targets)
    return KernelRidgeSolution(dual, objective, _share(left, targets), "cholesky", True)


def _mirror(held: Floats) -> None:
    """Copy the upper triangle into the lower one, some columns at a time."""
    size = 256
    for first in range(0, len(held), size):
        last = min(first + size, len(held))
        held[last:, first:last] = held[first:last, last:].T
        corner = held[first:last, first:last]
        corner[:] = np.triu(corner) + np.triu(corner, 1).T


def _share(left: Floats, targets: Floats) -> float:
    total = np.square(targets).sum(axis=0)
    gaps = np.square(left).sum(axis=0)
    return float(np.divide(gaps, total, out=np.zeros_like(total), where=total > 0).max(initial=0.0))


class KernelLeftOut(NamedTuple):
    """What leaving out one row at a time shows, for every alpha.

    Attributes
    ----------
    squares : (n_targets, n_alphas) Σv(y − ŷ₋ᵢ)²
    degrees_of_freedom : (n_alphas,)
    """

    squares: Floats
    degrees_of_freedom: Floats


class KernelSpectrum(NamedTuple):
    """The eigendecomposition of K."""

    values: Floats
    vectors: Floats

    @property
    def psd(self) -> bool:
        return bool((self.values >= 0).all())

    def solution(self, targets: Floats, alpha: float) -> KernelRidgeSolution:
        """Solve for one alpha; directions in which K + αI vanishes are left out."""
        values = self.values + alpha
        seen = np.abs(values) > EPS * len(values) * np.abs(values).max(initial=0.0)
        inverse = np.divide(1.0, values, out=np.zeros_like(values), where=seen)
        along = self.vectors.T @ targets
        dual = self.vectors @ (inverse[:, None] * along)
        left = along[~seen]
        objective = alpha * np.einsum("ij,ij->j", dual, targets) + np.square(left).sum(axis=0)
        spread = EPS * (np.abs(values).max(initial=0.0) * np.abs(inverse).max(initial=0.0))
        return KernelRidgeSolution(dual, objective, spread**2, "eigen", self.psd)

    def leave_one_out(self, targets: Floats, alphas: Floats) -> KernelLeftOut:
        """Return the errors at rows left out."""
        with np.errstate(divide="ignore", invalid="ignore"):
            shrink = 1 / (self.values[:, None] + alphas)
            room = np.square(self.vectors) @ shrink
            along = self.vectors.T @ targets
            squares = np.stack(
                [np.square((self.vectors @ (one[:, None] * shrink)) / room).sum(axis=0) for one in along.T]
            )
            freedom = (self.values[:, None] * shrink).sum(axis=0)
        squares[np.isnan(squares)] = np.inf
        return KernelLeftOut(squares, freedom)


def kernel_spectrum(K: Floats) -> KernelSpectrum:
    """Decompose a Gram matrix, which is overwritten; negative eigenvalues as small as rounding are zero."""
    values, vectors = eigh(K, driver="evd", overwrite_a=True, check_finite=False)
    small = np.abs(values) <= EPS * len(values) * np.abs(values).max(initial=0.0)
    return KernelSpectrum(np.where(small & (values < 0), 0.0, values), vectors)
