"""The shortest way out of a class's Voronoi cells: the exact distance to the boundary of a nearest-exemplar rule.

A row x belongs to the class of its nearest exemplar. It leaves the class where an exemplar p of another class is at
least as near as every exemplar q of its own, that is in the polyhedron

    Pₚ = {z : (q − p)·z ≤ (‖q‖² − ‖p‖²)/2 for every q of the class},

and the shortest way leads to the nearest of these polyhedra. With one exemplar a class each is a half-space, behind
the perpendicular bisector of the two.

The distance to Pₚ is a quadratic programme of the least distance. It is solved by non-negative least squares
(Lawson and Hanson, *Solving Least Squares Problems*, chapter 23) on a few of the inequalities, to which the most
violated one is added until none is: the distances found on the way are lower bounds, and the last is exact.
Polyhedra are looked at in the order of their distance to single bisectors, another lower bound, until that exceeds
the best found: the rest cannot be nearer.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Bisectors with so many of the nearest own exemplars bound the distances from below.
_BOUNDING = 16
# Programmes that are solved for one row, and inequalities taken into one, before it is given up as unproved.
MOST_PROGRAMMES, _MOST_ROUNDS = 1_000, 300
# A violation below this share of the distance is rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class WayOut:
    """The way to the nearest place that is as near to another class.

    Attributes
    ----------
    to : ndarray of shape (n_features,)
    length : float
    exemplar : int
        Of the other class, that is as near there as the nearest of the own.
    proved : bool
        Whether no way is shorter.
    """

    to: Floats
    length: float
    exemplar: int
    proved: bool


class Cells:
    """Exemplars with the numbers of their classes, as Euclidean distance sees them.

    Parameters
    ----------
    exemplars : ndarray of shape (n_exemplars, n_features)
        Of equal ones the first decides, as in every nearest-neighbour rule of this package.
    codes : ndarray of int of shape (n_exemplars,)

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.solvers.other_cells import Cells
    >>> cells = Cells(np.array([[0.0, 0.0], [4.0, 0.0], [4.0, 9.0]]), np.array([0, 1, 0]))
    >>> out = cells.way_out(np.array([1.0, 0.0]), 0)
    >>> out.to, out.length, out.exemplar, out.proved
    (array([2., 0.]), 1.0, 1, True)
    """

    def __init__(self, exemplars: NDArray[Any], codes: Integers) -> None:
        points = np.asarray(exemplars, dtype=np.float64)
        _, first = np.unique(points, axis=0, return_index=True)
        self.numbers = np.sort(first)
        self.points, self.codes = points[self.numbers], np.asarray(codes)[self.numbers]

    def exemplar(self, way: WayOut) -> Floats:
        """Return where the exemplar at the end of a way lies."""
        return self.points[np.searchsorted(self.numbers, way.exemplar)]

    def way_out(self, x: Floats, code: int) -> WayOut | None:
        """Return the shortest way out of a class for a row that is in it; None if there is no other class."""
        own, others = self.points[self.codes == code] - x, self.points[self.codes != code] - x
        if not len(others) or not len(own):
            return None
        own = own[np.argsort(np.square(own).sum(axis=1), kind="stable")]
        bounds = _bounds(own[:_BOUNDING], others)
        best, chosen, proved = None, 0, True
        length = np.inf
        for count, place in enumerate(np.argsort(bounds, kind="stable")):
            if bounds[place] >= length:
                break
            if count >= MOST_PROGRAMMES:
                proved = False
                break
            step, exact = _least_step(own, others[place], length)
            proved &= exact
            if step is not None and np.linalg.norm(step) < length:
                best, chosen, length = step, int(place), float(np.linalg.norm(step))
        if best is None:
            return None
        exemplar = int(self.numbers[self.codes != code][chosen])
        return WayOut(x + best, length, exemplar, proved)


def _bounds(own: Floats, others: Floats) -> Floats:
    """Return, for every other exemplar, the farthest of its bisectors with some own ones; x is the origin."""
    squares, bounds = np.square(others).sum(axis=1), np.full(len(others), -np.inf)
    for q in own:
        apart = np.sqrt(np.square(others - q).sum(axis=1))
        np.maximum(bounds, (squares - q @ q) / (2 * np.maximum(apart, np.finfo(float).tiny)), out=bounds)
    return bounds


def _least_step(own: Floats, other: Floats, limit: float) -> tuple[Floats | None, bool]:
    """Return the shortest step to where `other` is as near as all own exemplars; None if it is not below a limit.

    Also return whether that is proved.
    """
    normals = own - other
    lengths = np.linalg.norm(normals, axis=1)
    normals = normals / lengths[:, None]
    limits = (np.square(own).sum(axis=1) - other @ other) / (2 * lengths)
    # Each inequality is normal·step ≤ limit; the one that is most negative is farthest away.
    working = [int(np.argmin(limits))]
    if limits[working[0]] >= 0:
        return np.zeros_like(other), True  # already as near: x is on the boundary
    for _ in range(_MOST_ROUNDS):
        step = _shortest(normals[working], limits[working])
        far = float(np.linalg.norm(step))
        if far >= limit:
            return None, True
        beyond = normals @ step - limits
        worst = int(np.argmax(beyond))
        if beyond[worst] <= _ROUNDING * (far + lengths[worst]) or worst in working:
            return step, bool(beyond[worst] <= 1e-9 * (far + lengths[worst]))
        working.append(worst)
    return None, False


def _shortest(normals: Floats, limits: Floats) -> Floats:
    """Return the shortest step with normals·step ≤ limits, by non-negative least squares."""
    if len(normals) == 1:
        return np.asarray(min(limits[0], 0.0) * normals[0])
    from scipy.optimize import nnls

    unit = float(-limits.min())
    system = np.vstack([-normals.T, -limits / unit])
    target = np.zeros(len(system))
    target[-1] = 1.0
    weights, _ = nnls(system, target, maxiter=30 * len(limits) + 100)
    residual = system @ weights - target
    active = weights > 0
    if not active.any() or residual[-1] == 0:
        return np.zeros(normals.shape[1])
    # The planes that are met are known now: the step to where they meet has all its digits.
    step: Floats = np.linalg.lstsq(normals[active], limits[active], rcond=None)[0]
    return step
