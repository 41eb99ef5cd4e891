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
from bisector.engine.map_reduce import map_reduce
from bisector.engine.sources import Source
from bisector.solvers.mixture import Mixture, log_totals
from bisector.solvers.mixture_shapes import Diagonal, Full, Shape, Tied

Floats = NDArray[np.float64]

# From so many products on, compiled loops are worth loading.
MUCH_WORK = 10**8


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
    k, d = start.means.shape
    compiled = rows.n_rows * k * d * d >= MUCH_WORK and type(start.shape) is Full
    make = _compiled_share if compiled else _share
    fixed, mixture, history = frozenset(fixed), start, [-np.inf]
    converged = False
    for _ in range(max_iter):
        found = map_reduce(make, rows, mixture, n_jobs=n_jobs, doing="mixing")
        history.append(found.likelihood / found.weight)
        mixture = _step(mixture, found, floor, fixed)
        if abs(history[-1] - history[-2]) < tol:
            converged = True
            break
    gap = history[-1] - history[-2] if len(history) > 1 else np.inf
    return MixtureFit(mixture, tuple(history[1:]), converged, float(gap))


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


def _compiled_share(block: Block, mixture: Mixture) -> Shared:
    """The same for full covariances: rows are whitened for all components by one product."""
    from bisector.engine.column_products import joint_products
    from bisector.engine.loops import given
    from bisector.solvers.em_loops import share_rows

    X, weights = block.dense.astype(np.float64, copy=False), block.weights
    (k, d), n = mixture.means.shape, len(X)
    centre = mixture.means.mean(axis=0)
    offsets = given(np.einsum("kd,kde->ke", mixture.means - centre, mixture.roots).ravel())
    roots_of_shares, totals = np.empty((k, n)), np.empty(n)
    heights = given(mixture.log_heights)
    centred = X - centre
    for first in range(0, n, 256):
        part = slice(first, first + 256)
        whitened = given(mixture.stacked.T @ centred[part].T)
        own_roots, own_totals = np.empty((k, whitened.shape[1])), np.empty(whitened.shape[1])
        share_rows(whitened, offsets, heights, given(weights[part]), own_roots, own_totals)
        roots_of_shares[:, part], totals[part] = own_roots, own_totals
    nothing, ones = np.empty((n, 0)), np.ones(d)
    counts, sums, squares = np.empty(k), np.empty((k, d)), np.empty((k, d, d))
    for j in range(k):
        products = joint_products(X, nothing, mixture.means[j], ones, roots_of_shares[j])
        counts[j], sums[j], squares[j] = products[0, 0], products[0, 1:], products[1:, 1:]
    return Shared(counts, sums, squares, float(weights @ totals), float(weights.sum()))


def _step(mixture: Mixture, found: Shared, floor: Floor, fixed: frozenset[str]) -> Mixture:
    """M-step: the most likely parameters, given what each component shares of the rows."""
    return maximised(mixture, found, references_of(mixture), floor, fixed)


def maximised(
    mixture: Mixture, found: Shared, references: Floats, floor: Floor, fixed: frozenset[str] = frozenset()
) -> Mixture:
    """Return the mixture that is most likely given the sums; a component without rows stays as it is."""
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
