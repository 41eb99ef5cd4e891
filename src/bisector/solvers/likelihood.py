"""The likelihood of classes given planes, as statistics of blocks: its value, its gradient, its curvature.

Rows are z = (x − shift)·scale in the coordinates of the fit. With planes V (d, q) and offsets c (q,), row i has
the scores (zᵢV + c)Bᵀ, one for each class, and the loss −log of the softmax of its own class. The columns of the
basis B are orthonormal and sum to zero, so that adding the same plane to every class, which changes nothing, is
no direction at all. Two classes have the single score of the second, B = [1], and that of the first is 0.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bisector.engine.blocks import Block
from bisector.engine.moments import Coordinates, block_moments, narrow_block_moments

Floats = NDArray[np.float64]


class Planes(NamedTuple):
    """Slopes V (d, q) and offsets c (q,)."""

    slopes: Floats
    offsets: Floats

    def plus(self, step: "Planes", length: float = 1.0) -> "Planes":
        return Planes(self.slopes + length * step.slopes, self.offsets + length * step.offsets)

    def add(self, other: "Planes") -> None:
        """Add other planes in place."""
        np.add(self.slopes, other.slopes, out=self.slopes)
        np.add(self.offsets, other.offsets, out=self.offsets)

    def times(self, factor: float) -> "Planes":
        return Planes(factor * self.slopes, factor * self.offsets)

    def dot(self, other: "Planes") -> float:
        return float(np.vdot(self.slopes, other.slopes) + np.vdot(self.offsets, other.offsets))

    @property
    def largest(self) -> float:
        """Largest absolute entry."""
        return float(max(np.abs(self.slopes).max(initial=0.0), np.abs(self.offsets).max(initial=0.0)))


@dataclass
class Likelihood:
    """What rows say of planes: sums over rows, or means after `divided`.

    Attributes
    ----------
    loss : minus the log-likelihood
    gradient : of the loss
    curvature : its second derivatives (q(1+d), q(1+d)), of each plane the offset first; None if not asked for
    least_lead : how far the score of a row's own class leads the best other one, in the worst row
    largest_score : largest absolute score
    """

    loss: float
    gradient: Planes
    curvature: Floats | None
    least_lead: float
    largest_score: float

    def merge(self, other: "Likelihood") -> "Likelihood":
        self.loss += other.loss
        self.gradient.add(other.gradient)
        if self.curvature is not None and other.curvature is not None:
            self.curvature += other.curvature
        self.least_lead = min(self.least_lead, other.least_lead)
        self.largest_score = max(self.largest_score, other.largest_score)
        return self

    def divided(self, weight: float) -> "Likelihood":
        return Likelihood(
            self.loss / weight,
            self.gradient.times(1 / weight),
            None if self.curvature is None else self.curvature / weight,
            self.least_lead,
            self.largest_score,
        )

    @property
    def is_finite(self) -> bool:
        curved = 0.0 if self.curvature is None else float(np.trace(self.curvature))
        return bool(np.isfinite(self.loss + curved) and np.isfinite(self.gradient.largest))


def basis_of(n_classes: int, *, complete: bool = False) -> Floats:
    """Return B: [1] for two classes; orthonormal columns that sum to zero for more, or, if `complete`, all of them.

    Examples
    --------
    >>> from bisector.solvers.likelihood import basis_of
    >>> B = basis_of(4)
    >>> B.shape, bool(abs(B.sum(axis=0)).max() < 1e-15), bool(abs(B.T @ B - np.eye(3)).max() < 1e-15)
    ((4, 3), True, True)
    """
    if n_classes == 2:
        return np.ones((1, 1))
    if complete:
        return np.eye(n_classes)
    # Helmert's contrasts: each class against those before it.
    basis = np.zeros((n_classes, n_classes - 1))
    for k in range(1, n_classes):
        basis[:k, k - 1], basis[k, k - 1] = 1.0, -k
        basis[:, k - 1] /= np.sqrt(k * (k + 1))
    return basis


class RowTerms(NamedTuple):
    """Of each row: loss, derivatives by the scores (rows, K or 1), probabilities alike, and its lead."""

    loss: Floats
    residuals: Floats
    probabilities: Floats
    lead: Floats


def row_terms(scores: Floats, codes: NDArray[np.int64]) -> RowTerms:
    """Evaluate rows with the given scores; nothing overflows, and small residuals keep their digits."""
    if scores.shape[1] == 1:
        sign = np.where(codes == 1, -1.0, 1.0)
        against = sign * scores[:, 0]
        small = np.exp(-np.abs(against))
        wrong = np.where(against > 0, 1.0, small)
        wrong /= 1.0 + small
        loss = np.log1p(small)
        loss += np.maximum(against, 0.0)
        residuals = sign * wrong
        return RowTerms(loss, residuals[:, None], (codes + residuals)[:, None], -against)
    every = np.arange(len(scores))
    own = scores[every, codes]
    ahead = scores - own[:, None]
    others = ahead.copy()
    others[every, codes] = -np.inf
    best_other = others.max(axis=1, initial=-np.inf)
    top = np.maximum(best_other, 0.0)
    shares = np.exp(ahead - top[:, None])
    shares[every, codes] = 0.0
    rest, mine = shares.sum(axis=1), np.exp(-top)
    loss = top + np.log1p(rest + (mine - 1.0))
    total = (rest + mine)[:, None]
    residuals = shares / total
    probabilities = residuals.copy()
    probabilities[every, codes] = mine / total[:, 0]
    residuals[every, codes] = -rest / total[:, 0]
    return RowTerms(loss, residuals, probabilities, -best_other)


def scores_at(X: Any, of_x: Coordinates, planes: Planes, basis: Floats) -> tuple[Any, Floats]:
    """Return the rows in the coordinates given, if that is dense, and their scores."""
    if hasattr(X, "tocsr"):
        plain = of_x.is_plain
        slopes = planes.slopes if plain else planes.slopes * of_x.scale[:, None]
        Z: Any = X
        values = np.asarray(X @ slopes) + (planes.offsets if plain else planes.offsets - of_x.shift @ slopes)
    else:
        Z = of_x.apply(X)
        values = Z @ planes.slopes + planes.offsets
    return Z, values if len(basis) == 1 else values @ basis.T


def gradient_at(Z: Any, of_x: Coordinates, residuals: Floats, basis: Floats) -> Planes:
    """Return Σ rᵢzᵢ and Σ rᵢ for weighted residuals by class, Z as `scores_at` gave it."""
    reduced = residuals if len(basis) == 1 else residuals @ basis
    offsets = reduced.sum(axis=0)
    slopes = np.asarray(Z.T @ reduced)
    if hasattr(Z, "tocsr") and not of_x.is_plain:
        slopes = (slopes - np.outer(of_x.shift, offsets)) * of_x.scale[:, None]
    return Planes(slopes, offsets)


def block_likelihood(
    block: Block,
    of_x: Coordinates,
    planes: Planes,
    basis: Floats,
    curved: bool,
    by_loop: bool,
    kept: Floats | None = None,
) -> Likelihood:
    """Make the likelihood of one block.

    `by_loop` lets a compiled loop multiply the columns; the rows' probabilities are written to `kept`, if given.
    """
    weight = block.weights
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):  # noticed in the sums
        Z, scores = scores_at(block.X, of_x, planes, basis)
        terms = row_terms(scores, block.targets[:, 0])
        gradient = gradient_at(Z, of_x, weight[:, None] * terms.residuals, basis)
        if kept is not None:
            kept[block.first_row : block.first_row + len(scores)] = terms.probabilities
        curvature = None
        if curved and len(basis) == 1:
            wrong = np.abs(terms.residuals[:, 0])  # unlike 1 − p, exact when it is tiny
            bend = weight * wrong * (1.0 - wrong)
            curvature = _single_curvature(block, Z, of_x, bend, by_loop)
        elif curved:
            curvature = _joint_curvature(of_x.apply(block.X), weight, terms.probabilities, basis)
        leads = terms.lead if block.sample_weight is None else terms.lead[weight > 0]
        return Likelihood(
            float(weight @ terms.loss),
            gradient,
            curvature,
            float(leads.min(initial=np.inf)),
            float(max(scores.max(), -scores.min())),
        )


def _single_curvature(block: Block, Z: Any, of_x: Coordinates, bend: Floats, by_loop: bool) -> Floats:
    """Return Σ hᵢ(1, zᵢ)(1, zᵢ)ᵀ for the weights h = wp(1 − p)."""
    if not (by_loop or hasattr(Z, "tocsr")):
        table, root = np.empty((len(Z), 1 + Z.shape[1])), np.sqrt(bend)
        table[:, 0] = root
        np.multiply(Z, root[:, None], out=table[:, 1:])
        return table.T @ table
    make = narrow_block_moments if by_loop else block_moments
    found = make(Block(block.first_row, block.X, None, bend), of_x, Coordinates.plain(0))
    curvature = np.empty((1 + len(found.x), 1 + len(found.x)))
    curvature[0, 0], curvature[0, 1:], curvature[1:, 0] = found.weight, found.x, found.x
    curvature[1:, 1:] = found.xx
    return curvature


def _joint_curvature(Z: Floats, weight: Floats, probabilities: Floats, basis: Floats) -> Floats:
    """Return Σ wᵢ Bᵀ(diag pᵢ − pᵢpᵢᵀ)B ⊗ (1, zᵢ)(1, zᵢ)ᵀ."""
    n, d = Z.shape
    q = basis.shape[1]
    table = np.empty((n, 1 + d))
    table[:, 0], table[:, 1:] = 1.0, Z
    curvature = np.empty((q, 1 + d, q, 1 + d))
    for a, b, bend in pair_weights(weight, probabilities, basis):
        products = table.T @ (table * bend[:, None])
        curvature[a, :, b, :] = products
        curvature[b, :, a, :] = products.T
    return curvature.reshape(q * (1 + d), q * (1 + d))


def pair_weights(weight: Floats, probabilities: Floats, basis: Floats) -> Iterator[tuple[int, int, Floats]]:
    """Yield, for each two planes a ≤ b, what each row weighs in the product of their curvatures."""
    mean = probabilities @ basis
    for a in range(basis.shape[1]):
        for b in range(a, basis.shape[1]):
            bend = probabilities @ (basis[:, a] * basis[:, b]) - mean[:, a] * mean[:, b]
            yield a, b, weight * bend


@dataclass
class PlaneSums:
    """Sums over rows in the form of planes: a statistic."""

    planes: Planes

    def merge(self, other: "PlaneSums") -> "PlaneSums":
        self.planes.add(other.planes)
        return self


def block_probabilities(
    block: Block, of_x: Coordinates, planes: Planes, basis: Floats, kept: Floats | None
) -> Floats:
    """Return the probabilities that the planes give a block's rows: as they were kept, or made again."""
    if kept is not None:
        return kept[block.first_row : block.first_row + block.X.shape[0]]
    _, scores = scores_at(block.X, of_x, planes, basis)
    return row_terms(scores, block.targets[:, 0]).probabilities


def block_curvature_product(
    block: Block, of_x: Coordinates, direction: Planes, basis: Floats, planes: Planes, kept: Floats | None
) -> PlaneSums:
    """Multiply the curvature of one block, at the planes, with a direction."""
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        Z, change = scores_at(block.X, of_x, direction, basis)
        p = block_probabilities(block, of_x, planes, basis, kept)
        if len(basis) == 1:
            bent = p * (1.0 - p) * change
        else:
            bent = p * change
            bent -= p * bent.sum(axis=1, keepdims=True)
        return PlaneSums(gradient_at(Z, of_x, block.weights[:, None] * bent, basis))
