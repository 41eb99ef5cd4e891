"""Newton's method without a matrix, for many columns: steps by conjugate gradients, a pass over the rows each.

The problem is that of `newton`. A step solves Hp = −g only as far as it pays: roughly when the gradient is large,
ever more closely as it shrinks, so that the last steps converge as fast as Newton's. Conjugate gradients are
preconditioned by the diagonal of H, or, where a sample of the rows tells how columns depend on each other, by
that sample's curvature.

The proof is the gradient itself, in units of the columns as given.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bisector.engine.blocks import Block
from bisector.engine.checkpoint import NOWHERE, Checkpoint
from bisector.engine.map_reduce import map_reduce
from bisector.engine.moments import Coordinates
from bisector.engine.row_sums import Weight

from .likelihood import Likelihood, Planes, block_curvature_product, block_likelihood, block_probabilities
from .newton import ORDINARY_STEPS, AfterStep, Minimum, SmoothProblem, require_finite

Floats = NDArray[np.float64]

# Conjugate gradients on a convex function always gain, but beyond so many steps a new gradient gains more.
MOST_INNER_STEPS = 250


class CurvedProblem:
    """F at the planes where it was last evaluated, with the probabilities that its curvature needs.

    Of rows that are elsewhere the probabilities are not kept, but made again from the planes.
    """

    def __init__(self, problem: SmoothProblem) -> None:
        self.problem = problem
        self.planes: Planes | None = None
        self.probabilities: Floats | None = None
        if problem.rows.executor is None:
            self.probabilities = np.empty((problem.rows.n_rows, len(problem.basis)))

    def evaluate(self, planes: Planes) -> Likelihood:
        p, self.planes = self.problem, planes
        found = map_reduce(
            block_likelihood,
            p.rows,
            p.of_x,
            planes,
            p.basis,
            False,
            False,
            self.probabilities,
            n_jobs=p.n_jobs,
            doing="likelihood",
        ).divided(p.weight)
        if not p.intercept:
            found.gradient.offsets[:] = 0.0
        return found

    def product(self, direction: Planes) -> Planes:
        """Return Hp."""
        p = self.problem
        found = map_reduce(
            block_curvature_product,
            p.rows,
            p.of_x,
            direction,
            p.basis,
            self.planes,
            self.probabilities,
            n_jobs=p.n_jobs,
        )
        slopes, offsets = found.planes.times(1 / p.weight)
        offsets = offsets if p.intercept else np.zeros_like(offsets)
        return Planes(slopes + p.ridge[:, None] * direction.slopes, offsets)

    def mean_bend(self) -> float:
        """Return the mean over rows and planes of p(1 − p), the curvature of a score."""
        p, probabilities = self.problem, self.probabilities
        if probabilities is not None:
            bend = (probabilities * (1.0 - probabilities)).mean(axis=1)
            return float(np.average(bend, weights=p.rows.sample_weight))
        found = map_reduce(block_bend, p.rows, p.of_x, self.planes, p.basis, n_jobs=p.n_jobs)
        return float(found.sums) / p.weight


def block_bend(block: Block, of_x: Coordinates, planes: Planes, basis: Floats) -> Weight:
    """Add up p(1 − p) over the rows of one block, of several planes their mean."""
    p = block_probabilities(block, of_x, planes, basis, None)
    return Weight(np.asarray(block.weights @ (p * (1.0 - p)).mean(axis=1)))


def newton_cg(
    problem: SmoothProblem,
    start: Planes,
    precondition: Callable[[float], Callable[[Planes], Planes]],
    *,
    max_iter: int,
    small: Callable[[Planes], bool],
    has_no_minimum: Callable[[Planes], bool] | None = None,
    after_step: AfterStep = lambda note, planes: True,
    kept: Checkpoint = NOWHERE,
) -> Minimum:
    """Minimise F.

    Parameters
    ----------
    precondition : makes, from the mean curvature of scores, a function close to p ↦ H⁻¹p
    small : whether a gradient of F is small enough to stop
    has_no_minimum, after_step, kept : as for `newton`
    """
    curved = CurvedProblem(problem)
    planes, first, size_before, going = start, 0, np.inf, True
    known = kept.recall("newton-cg")
    if known is not None:
        planes = Planes(known["slopes"], known["offsets"])
        first, size_before = int(known["iteration"]), float(known["size"])
    found = curved.evaluate(planes)
    require_finite(problem.rows, found)
    for iteration in range(first, max_iter + 1):
        gradient = problem.gradient(planes, found)
        here = Minimum(planes, found, iteration, solved=True)
        if small(gradient):
            return here
        if iteration == ORDINARY_STEPS and has_no_minimum is not None and has_no_minimum(planes):
            return replace(here, unbounded=True)
        if iteration == max_iter or not going:
            break
        inverse = precondition(curved.mean_bend())
        size = float(np.sqrt(max(gradient.dot(inverse(gradient)), 0.0)))
        forcing = min(0.25, size, (size / size_before) ** 1.5 if np.isfinite(size_before) else 0.25)
        size_before = size
        step = conjugate_gradients(curved.product, gradient.times(-1.0), inverse, max(forcing, 1e-8))
        slope = gradient.dot(step)
        if not slope < 0:
            return here  # rounding is all that is left
        moved = _search(curved, planes, found, step, slope)
        if moved is None:
            return here
        planes, found = moved
        kept.note(
            "newton-cg", slopes=planes.slopes, offsets=planes.offsets, iteration=iteration + 1, size=size
        )
        going = after_step(f"objective {problem.objective(planes, found):.6g}", planes)
    return replace(here, solved=False)


def conjugate_gradients(
    product: Callable[[Planes], Planes], right: Planes, inverse: Callable[[Planes], Planes], forcing: float
) -> Planes:
    """Solve Hp = r until the residual, measured by the preconditioner, has shrunk to the share `forcing`."""
    solution = right.times(0.0)
    residual = right
    closer = inverse(residual)
    direction, size = closer, residual.dot(closer)
    enough = forcing**2 * size
    for _ in range(MOST_INNER_STEPS):
        bent = product(direction)
        curvature = direction.dot(bent)
        if not curvature > 0:
            return solution if solution.largest else direction
        length = size / curvature
        solution = solution.plus(direction, length)
        residual = residual.plus(bent, -length)
        closer = inverse(residual)
        before, size = size, residual.dot(closer)
        if size <= enough:
            break
        direction = closer.plus(direction, size / before)
    return solution


def _search(
    curved: CurvedProblem, planes: Planes, found: Likelihood, step: Planes, slope: float
) -> tuple[Planes, Likelihood] | None:
    """Walk along the step until F has decreased; None if it does not, whatever the length."""
    problem = curved.problem
    level = problem.objective(planes, found)
    length = 1.0
    while length > 1e-8:
        trial = planes.plus(step, length)
        there = curved.evaluate(trial)
        risen = problem.objective(trial, there) - level
        ahead = problem.gradient(trial, there).dot(step)
        at_rounding = risen <= 1e-14 * abs(level) and abs(ahead) <= abs(slope)
        if risen <= 1e-4 * length * slope or at_rounding:
            return trial, there
        part = slope / (slope - ahead) if np.isfinite(ahead) and ahead > 0 else 0.25
        length *= min(max(part, 0.1), 0.5)
    return None
