"""Newton's method for the penalised likelihood of planes, with few columns:

    min over V, c of  F(V, c) = (1/W) Σᵢ wᵢ ℓᵢ(V, c) + ½ Σⱼ λⱼ‖Vⱼ‖²,   λ ≥ 0.

A pass over the rows gives F, its gradient g and the second derivatives H; the step is −H⁻¹g, shortened when F does
not decrease enough. Near the solution H hardly changes and is kept, so that a pass costs a gradient only.

The proof is Newton's decrement gᵀH⁻¹g: twice the decrease of F that is left, and, times the number of rows, the
squared distance to the solution in standard errors.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bisector.engine.checkpoint import NOWHERE, Checkpoint
from bisector.engine.map_reduce import map_reduce
from bisector.engine.moments import FEW_COLUMNS, MUCH_WORK, Coordinates
from bisector.engine.sources import Source, SparseSource
from bisector.engine.validation import find_not_finite

from .curvature_factor import CurvatureFactor
from .likelihood import Likelihood, Planes, block_likelihood

Floats = NDArray[np.float64]

# A decrement of so little, times the number of rows, is a hundred-thousandth of a standard error.
SOLVED = 1e-10
# Scores change by about twice the root of the decrement: below this the curvature is as good as constant.
NEARLY_QUADRATIC = 1e-5
# A step that shrinks the decrement by less than this asks for new curvature.
WELL_SHRUNK = 1e-3
# Steps of Newton's method on an ordinary likelihood; more are a sign that it has no maximum.
ORDINARY_STEPS = 12
# Scores of an ordinary fit; e^-30 is a probability of 1e-13.
ORDINARY_SCORE = 30.0


AfterStep = Callable[[str, Planes], bool]


@dataclass(frozen=True)
class SmoothProblem:
    """The objective F for the rows of a source.

    Attributes
    ----------
    rows : with codes of classes as y
    of_x : coordinates of the slopes
    basis : of the scores
    ridge : (d,) penalties λ of the slopes in these coordinates
    intercept : whether there are offsets
    weight : sum W of the weights
    """

    rows: Source
    of_x: Coordinates
    basis: Floats
    ridge: Floats
    intercept: bool
    weight: float
    n_jobs: int | None

    @cached_property
    def by_loop(self) -> bool:
        """Whether there is enough work for a compiled loop to pay for its loading."""
        d, dense = self.rows.n_features, not isinstance(self.rows, SparseSource)
        return dense and len(self.basis) == 1 and d <= FEW_COLUMNS and self.rows.n_rows * d**2 >= MUCH_WORK

    def evaluate(self, planes: Planes, *, curved: bool) -> Likelihood:
        """Return the mean likelihood, without the penalty."""
        found = map_reduce(
            block_likelihood,
            self.rows,
            self.of_x,
            planes,
            self.basis,
            curved,
            self.by_loop,
            n_jobs=self.n_jobs,
            doing="likelihood",
        ).divided(self.weight)
        if not self.intercept:
            found.gradient.offsets[:] = 0.0
        return found

    def objective(self, planes: Planes, found: Likelihood) -> float:
        return found.loss + 0.5 * float(self.ridge @ np.square(planes.slopes).sum(axis=1))

    def gradient(self, planes: Planes, found: Likelihood) -> Planes:
        return Planes(found.gradient.slopes + self.ridge[:, None] * planes.slopes, found.gradient.offsets)

    def curvature(self, found: Likelihood) -> Floats:
        """Return the second derivatives of the loss by what can move, in the order of `flat`."""
        assert found.curvature is not None
        if self.intercept:
            return found.curvature
        kept = np.tile(np.arange(1 + len(self.ridge)) > 0, self.basis.shape[1])
        return found.curvature[np.ix_(kept, kept)]

    def factor(self, found: Likelihood) -> CurvatureFactor:
        """Factorise the second derivatives of F."""
        curvature = self.curvature(found).copy()
        curvature.ravel()[:: len(curvature) + 1] += self._ridge_of_all
        return CurvatureFactor(curvature)

    @cached_property
    def _ridge_of_all(self) -> Floats:
        """The penalty of everything that can move, in the order of `flat`."""
        return np.tile(np.r_[0.0, self.ridge] if self.intercept else self.ridge, self.basis.shape[1])

    def flat(self, planes: Planes) -> Floats:
        """Return the planes as one vector, in the order of the curvature."""
        table = np.vstack([planes.offsets, planes.slopes]) if self.intercept else planes.slopes
        return table.T.ravel()

    def planes(self, vector: Floats) -> Planes:
        table = vector.reshape(self.basis.shape[1], -1).T
        if self.intercept:
            return Planes(np.ascontiguousarray(table[1:]), table[0].copy())
        return Planes(np.ascontiguousarray(table), np.zeros(table.shape[1]))


@dataclass(frozen=True)
class Minimum:
    """Where a solver stopped.

    Attributes
    ----------
    planes : the solution
    found : its likelihood
    iterations : steps taken
    solved : whether the proof says that nothing is left to gain
    unbounded : whether F was found to have no minimum
    """

    planes: Planes
    found: Likelihood
    iterations: int
    solved: bool
    unbounded: bool = False


def newton(
    problem: SmoothProblem,
    start: Planes,
    *,
    max_iter: int,
    enough: float = SOLVED,
    small: Callable[[Planes], bool] = lambda gradient: True,
    has_no_minimum: Callable[[Planes], bool] | None = None,
    after_step: AfterStep = lambda note, planes: True,
    kept: Checkpoint = NOWHERE,
) -> Minimum:
    """Minimise F.

    Parameters
    ----------
    enough : decrement, times the number of rows, at which to stop
    small : whether a gradient of F is as small as the caller wants
    has_no_minimum : called once, when steps do not end as they should: whether F decreases for ever along the
        planes; without it F is known to have a minimum
    after_step : told after every step where it stands; whether to go on
    kept : where steps are noted, and from which they go on
    """
    n = problem.rows.n_rows
    planes, bent_at, first, fresh, before, going = start, start, 0, True, np.inf, True
    known = kept.recall("newton")
    if known is not None:
        planes = Planes(known["slopes"], known["offsets"])
        bent_at = Planes(known["bent_slopes"], known["bent_offsets"])
        first, fresh, before = int(known["iteration"]), bool(known["fresh"]), float(known["before"])
        has_no_minimum = None if known["has_minimum"] else has_no_minimum
    found = problem.evaluate(planes, curved=fresh)
    require_finite(problem.rows, found)
    factor = problem.factor(found if fresh else problem.evaluate(bent_at, curved=True))
    for iteration in range(first, max_iter + 1):
        gradient = problem.gradient(planes, found)
        step = problem.planes(factor.solve(-problem.flat(gradient)))
        decrement = max(0.0, -gradient.dot(step))
        here = Minimum(planes, found, iteration, solved=True)
        if has_no_minimum is not None and found.least_lead > 0 and small(gradient):
            return replace(
                here, unbounded=True
            )  # every row is on its side of the planes: longer slopes are better
        suspicious = iteration >= ORDINARY_STEPS or found.largest_score > ORDINARY_SCORE
        if has_no_minimum is not None and suspicious:
            if has_no_minimum(planes):
                return replace(here, unbounded=True)
            has_no_minimum = None
        at_rounding = fresh and decrement * n < 1e-6 and decrement > 0.5 * before
        if (decrement * n <= enough and small(gradient)) or decrement == 0 or at_rounding:
            return here
        if iteration == max_iter or not going:
            break
        curved = decrement > NEARLY_QUADRATIC or not (fresh or decrement <= WELL_SHRUNK * before)
        planes, found = _descend(problem, planes, found, step, -decrement, curved)
        if curved:
            factor, bent_at = problem.factor(found), planes
        fresh, before = curved, decrement
        kept.note(
            "newton", slopes=planes.slopes, offsets=planes.offsets, bent_slopes=bent_at.slopes,
            bent_offsets=bent_at.offsets, iteration=iteration + 1, fresh=fresh, before=before,
            has_minimum=has_no_minimum is None,
        )  # fmt: skip
        going = after_step(f"objective {problem.objective(planes, found):.6g}", planes)
    return replace(here, solved=False)


def require_finite(rows: Source, found: Likelihood) -> None:
    """Raise the error that names a NaN or infinity in the rows, or OverflowError if only products overflowed."""
    if not found.is_finite:
        find_not_finite(rows)
        raise OverflowError("products of columns overflow in these units")


def _descend(
    problem: SmoothProblem, planes: Planes, found: Likelihood, step: Planes, slope: float, curved: bool
) -> tuple[Planes, Likelihood]:
    """Walk along the step as far as F decreases by at least a part of what its slope promises."""
    level = problem.objective(planes, found)
    rounding = 1e-14 * abs(level)
    length = 1.0
    while True:
        trial = planes.plus(step, length)
        there = problem.evaluate(trial, curved=curved)
        risen = problem.objective(trial, there) - level
        if risen <= 1e-4 * length * slope or length < 1e-8:
            return trial, there
        ahead = problem.gradient(trial, there).dot(step)
        if risen <= rounding and abs(ahead) <= abs(slope):
            return trial, there
        # F is convex: the zero of the slope between its two ends is where the minimum may be.
        part = slope / (slope - ahead) if np.isfinite(ahead) and ahead > 0 else 0.25
        length *= min(max(part, 0.1), 0.5)
