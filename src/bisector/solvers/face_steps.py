"""Steps on a face: the minimum of the objective over coefficients that keep their signs.

On a face the objective is quadratic, ½δᵀMδ − slope·δ for a step δ. `Factor` solves for its minimum by Cholesky,
`conjugate_gradients` where M can only be multiplied with; `keep_signs` stops what would leave the face.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# The diagonal is raised by these shares until a face's products can be factorised: with dependent columns, a step
# that is a little short still leads down.
_RAISED = (0.0, 1e-12, 1e-8, 1e-4)
# How far a step that changes signs is followed.
_PARTS = (0.5, 0.2, 0.1, 0.03)
_MOST_GRADIENTS = 60


class Factor(NamedTuple):
    """The products of the columns of a face, with their Cholesky factor."""

    face: Integers
    l2: Floats
    M: Floats
    triangle: Floats

    @classmethod
    def of(cls, M: Floats, face: Integers, l2: Floats) -> "Factor | None":
        """Factorise products that are positive semi-definite up to rounding; None if that fails."""
        for share in _RAISED:
            raised = M.copy()
            np.fill_diagonal(raised, np.diagonal(M) * (1 + share))
            triangle, failed = lapack.dpotrf(raised.T, overwrite_a=1, clean=0)
            if not failed:
                return cls(face, l2, M, triangle)
        return None

    def fits(self, face: Integers, l2: Floats) -> bool:
        """Tell whether this is the factor of a face, with these ridge penalties of all features."""
        return np.array_equal(self.face, face) and np.array_equal(self.l2, l2[face])

    def solve(self, slope: Floats) -> Floats:
        """Return the step to the minimum."""
        return lapack.dpotrs(self.triangle, slope)[0]

    def form(self, step: Floats) -> float:
        """Return δᵀMδ."""
        return float(step @ (self.M @ step))


def conjugate_gradients(multiply: Callable[[Floats], Floats], right: Floats, diagonal: Floats) -> Floats:
    """Solve Mx = right, roughly: any number of steps lowers the objective whose slope `right` is."""
    x, rest = np.zeros_like(right), right.copy()
    scaled = rest / diagonal
    direction, size = scaled, float(rest @ scaled)
    enough = 1e-12 * size
    for _ in range(_MOST_GRADIENTS):
        if size <= enough:
            break
        image = multiply(direction)
        curvature = float(direction @ image)
        if curvature <= 0:
            break
        x = x + (size / curvature) * direction
        rest = rest - (size / curvature) * image
        scaled = rest / diagonal
        size, before = float(rest @ scaled), size
        direction = scaled + (size / before) * direction
    return x


def keep_signs(v: Floats, steps: Floats, slope: Floats, form: Callable[[Floats], float]) -> Floats:
    """Change steps so that no coefficient changes its sign, in the way that lowers the objective most.

    The way to the end of the steps is followed in part, and coefficients that would change their sign stop at zero:
    how far is best is tried. `form(step)` is the quadratic form of the objective, which a step changes by
    ½form(step) − slope·step.
    """
    choices = [_stopped_at_zero(v, steps)]
    if choices[0] is not steps:
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(v * steps < 0, -v / steps, np.inf)
        share = ratio.min()
        shorter = [part for part in _PARTS if part > share]
        choices += [_stopped_at_zero(v, part * steps) for part in shorter]
        choices.append(np.where(ratio == share, -v, share * steps))
    gains = [float(slope @ step) - 0.5 * form(step) for step in choices]
    best = int(np.argmax(gains))
    return choices[best] if gains[best] > 0 else np.zeros_like(steps)


def _stopped_at_zero(v: Floats, steps: Floats) -> Floats:
    crossing = ((v + steps) * v <= 0) & (v != 0)
    return np.where(crossing, -v, steps) if crossing.any() else steps
