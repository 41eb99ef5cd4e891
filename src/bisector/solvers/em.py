"""Expectation maximisation for Gaussian mixtures (LFD 6.4.1).

    maximise  Σᵢ wᵢ log Σₖ πₖ N(xᵢ; μₖ, Σₖ)   over π, μ and Σ,   with every variance ≥ floor.

E: γᵢₖ, the share that component k has in row i. M: weights, means and covariances of the shared rows, which are the
most likely ones given the shares; a variance below the floor is set to it, which is the most likely one that is
allowed. So the likelihood never falls. Without a floor it has no maximum: a component that shrinks onto a
single row makes it infinite (Problem 6.27).

Certificate: `history`, the objective before every step, which rises; `gap`, by how much it still did in the last.

One pass over the rows is one E-step and the sums of one M-step; nothing of the size rows × components is kept.
Sums are taken about the means before the step, where little cancels.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bisector.engine.blocks import Block
from bisector.engine.checkpoint import NOWHERE, Checkpoint
from bisector.engine.map_reduce import map_reduce
from bisector.engine.sources import Source
from bisector.solvers.mixture import Mixture, log_totals
from bisector.solvers.mixture_shapes import Diagonal, Full, Shape, Tied
from bisector.solvers.quadratic_shares import Quadratics, quadratics, share_by_quadratics

Floats = NDArray[np.float64]

# From so many products on, compiled loops are worth loading; beyond so many features the products of a row with
# itself no longer stay in the cache.
MUCH_WORK, FEW_FEATURES = 10**8, 64
# A component so much narrower than the mixture, in squares, would lose more than six of sixteen digits.
LARGEST_COEFFICIENT = 1e5


@dataclass
class Shared:
    """What a pass over the rows gathers.

    Attributes
    ----------
    counts : ndarray of shape (k,)
        Σ γ.
    sums : ndarray of shape (k, d)
        Σ γ (x − reference).
    squares : ndarray of shape (k, d, d), (d, d) or (k, d)
        Σ γ (x − reference)(x − reference)ᵀ, as the shape of the covariances needs it.
    likelihood, weight : float
        Σ w log p(x), and Σ w.
    """

    counts: Floats
    sums: Floats
    squares: Floats
    likelihood: float
    weight: float

    def merge(self, other: "Shared") -> "Shared":
        self.counts += other.counts
        self.sums += other.sums
        self.squares += other.squares
        self.likelihood += other.likelihood
        self.weight += other.weight
        return self


class Floor(NamedTuple):
    """The least variance; or, if `added`, what is added to every variance after a step, as scikit-learn does."""

    variance: float
    added: bool = False

    def applied(self, shape: Shape, covariances: Floats) -> Floats:
        if self.added:
            return shape.added(covariances, self.variance)
        return shape.floored(covariances, self.variance)


@dataclass(frozen=True)
class MixtureFit:
    """A mixture and how it was found.

    Attributes
    ----------
    mixture : Mixture
    history : tuple of float
        The mean log likelihood before every step.
    converged : bool
    gap : float
        By how much the last step raised it.
    """

    mixture: Mixture
    history: tuple[float, ...]
    converged: bool
    gap: float


def expectation_maximisation(
    rows: Source,
    start: Mixture,
    *,
    floor: Floor,
    tol: float = 1e-3,
    max_iter: int = 100,
    fixed: Iterable[str] = (),
    n_jobs: int | None = None,
    kept: Checkpoint = NOWHERE,
) -> MixtureFit:
    """Improve a mixture until a step raises the mean log likelihood by less than `tol`.

    Parameters
    ----------
    rows : Source
        With weights, or without.
    start : Mixture
    floor : Floor
    tol : float
    max_iter : int
    fixed : of "weights", "means", "covariances"
        What stays as it is.
    n_jobs : int, optional
    kept : Checkpoint, optional
        Where steps are noted, and from which they go on.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.engine.sources import source
    >>> from bisector.solvers.em import Floor, Mixture, expectation_maximisation
    >>> from bisector.solvers.mixture_shapes import SHAPES
    >>> rows = source(np.array([[0.0], [1.0], [9.0], [11.0]]))
    >>> start = Mixture(np.array([0.5, 0.5]), np.array([[0.0], [9.0]]), np.ones(2), SHAPES["spherical"])
    >>> found = expectation_maximisation(rows, start, floor=Floor(1e-6))
    >>> found.mixture.means.round(6).ravel()
    array([ 0.5, 10. ])
    """
    fixed, mixture, history = frozenset(fixed), start, [-np.inf]
    converged = False
    known = kept.recall("steps")
    if known is not None:
        mixture = replace(
            start, weights=known["weights"], means=known["means"], covariances=known["covariances"]
        )
        history, converged = known["history"].tolist(), bool(known["converged"])
    while len(history) <= max_iter and not converged:
        found, references = _shared(rows, mixture, n_jobs)
        history.append(found.likelihood / found.weight)
        mixture = maximised(mixture, found, references, floor, fixed)
        converged = bool(abs(history[-1] - history[-2]) < tol)
        kept.note(
            "steps", weights=mixture.weights, means=mixture.means, covariances=mixture.covariances,
            history=history, converged=converged,
        )  # fmt: skip
    gap = history[-1] - history[-2] if len(history) > 1 else np.inf
    return MixtureFit(mixture, tuple(history[1:]), converged, float(gap))


def _shared(rows: Source, mixture: Mixture, n_jobs: int | None) -> tuple[Shared, Floats]:
    """E-step and sums of the M-step, and where these are taken from."""
    k, d = mixture.means.shape
    if type(mixture.shape) is Full and d <= FEW_FEATURES and rows.n_rows * k * d * d >= MUCH_WORK:
        of = quadratics(mixture)
        if of.largest <= LARGEST_COEFFICIENT:
            return _by_quadratics(rows, of, n_jobs)
    found = map_reduce(_share, rows, mixture, n_jobs=n_jobs, doing="mixing")
    return found, references_of(mixture)


def moments_of_shares(X: NDArray[Any], shares: Floats, references: Floats, shape: Shape) -> Shared:
    """Return the sums of one M-step for shares that are given, weights included."""
    X = X.astype(np.float64, copy=False)
    counts = shares.sum(axis=0)
    if isinstance(shape, Tied):
        away = X - references[0]
        rows_count = shares.sum(axis=1)
        return Shared(counts, shares.T @ away, (away.T * rows_count) @ away, 0.0, 0.0)
    (k, d), diagonal = references.shape, isinstance(shape, Diagonal)
    sums, squares = np.empty((k, d)), np.empty((k, d) if diagonal else (k, d, d))
    for j in range(k):
        away = X - references[j]
        sums[j] = shares[:, j] @ away
        if diagonal:
            squares[j] = shares[:, j] @ (away * away)
        else:
            squares[j] = (away.T * shares[:, j]) @ away
    return Shared(counts, sums, squares, 0.0, 0.0)


def references_of(mixture: Mixture) -> Floats:
    """Return where sums are taken from: the means; their centre where all components share the squares."""
    if isinstance(mixture.shape, Tied):
        return np.broadcast_to(mixture.means.mean(axis=0), mixture.means.shape)
    return mixture.means


def _share(block: Block, mixture: Mixture) -> Shared:
    """E-step and sums of the M-step, component by component."""
    X, weights = block.dense, block.weights
    parts = mixture.log_parts(X)
    totals = log_totals(parts)
    shares = np.exp(parts - totals[:, None]) * weights[:, None]
    made = moments_of_shares(X, shares, references_of(mixture), mixture.shape)
    made.likelihood, made.weight = float(weights @ totals), float(weights.sum())
    return made


def _by_quadratics(rows: Source, of: Quadratics, n_jobs: int | None) -> tuple[Shared, Floats]:
    """The same for full covariances, all components at once."""
    found = map_reduce(share_by_quadratics, rows, of, n_jobs=n_jobs, doing="mixing")
    counts, sums, squares = found.unpacked(of)
    return Shared(counts, sums, squares, found.likelihood, found.weight), np.broadcast_to(
        of.centre, sums.shape
    )


def maximised(
    mixture: Mixture, found: Shared, references: Floats, floor: Floor, fixed: frozenset[str] = frozenset()
) -> Mixture:
    """M-step: return the mixture that is most likely given the sums; a component without rows stays as it is."""
    counts = found.counts
    held = counts > 0
    safe = np.where(held, counts, 1.0)
    weights, means, covariances = mixture.weights, mixture.means, mixture.covariances
    if "weights" not in fixed:
        weights = counts / counts.sum()
    if "means" not in fixed:
        means = np.where(held[:, None], references + found.sums / safe[:, None], means)
    if "covariances" not in fixed:
        made = mixture.shape.covariances(_scatter(mixture.shape, found, means - references), safe)
        made = floor.applied(mixture.shape, made)
        if not held.all() and not isinstance(mixture.shape, Tied):
            made[~held] = covariances[~held]
        covariances = made
    return replace(mixture, weights=weights, means=means, covariances=covariances)


def _scatter(shape: Shape, found: Shared, moved: Floats) -> Floats:
    """Return Σ γ (x − μ)(x − μ)ᵀ about the new means, from sums about the references."""
    counts, sums = found.counts, found.sums
    if isinstance(shape, Diagonal):
        return np.maximum(found.squares - 2 * sums * moved + counts[:, None] * moved**2, 0.0)
    cross = np.einsum("ki,kj->kij", sums, moved)
    change = counts[:, None, None] * np.einsum("ki,kj->kij", moved, moved) - cross - cross.transpose(0, 2, 1)
    if isinstance(shape, Tied):
        return found.squares + change.sum(axis=0)
    return found.squares + change
