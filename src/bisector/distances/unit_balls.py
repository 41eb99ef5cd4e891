"""Unit balls: the points of the plane at distance 1 from one point, drawn in Flach's Figure 8.3."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bisector.distances.distance import Distance
from bisector.distances.reductions import all_distances
from bisector.engine.validation import check_number

Floats = NDArray[np.float64]

# A point counts as found when its distance is right up to this share.
_PRECISION = 1e-9
# How far along a ray is looked for a point, in units of the radius.
_NEAREST, _FARTHEST = 1e-9, 1e9


def unit_ball(d: Any, n_points: int = 360, radius: float = 1.0, center: ArrayLike = (0.0, 0.0)) -> Floats:
    """Return the points of the plane at distance 1 from a point, as a closed curve.

    On every ray from the center there is one point: the first whose distance from the center is the radius.

    Parameters
    ----------
    d : Distance, str or callable
        A distance between points of the plane, its name, or a function of two points.
    n_points : int, default=360
        How many directions are looked into, the first along the first axis.
    radius : float, default=1.0
        The distance of the points, if it is not to be 1.
    center : array-like of shape (2,), default=(0, 0)
        The point they are at that distance from.

    Returns
    -------
    ndarray of shape (n_points + 1, 2)
        The last point is the first again.

    Raises
    ------
    ValueError
        If there is no such point on some ray, because the distance never gets that large, jumps over the
        radius, or reaches it at once, as `Hamming` and `Cosine` do.

    Examples
    --------
    >>> from bisector.distances import Manhattan
    >>> from bisector.distances.unit_balls import unit_ball
    >>> unit_ball(Manhattan(), n_points=4)
    array([[ 1.,  0.],
           [ 0.,  1.],
           [-1.,  0.],
           [ 0., -1.],
           [ 1.,  0.]])
    """
    from bisector.distances.names import resolve

    radius = check_number("radius", radius, above=0)
    if isinstance(n_points, bool) or not isinstance(n_points, int | np.integer) or n_points < 3:
        raise ValueError(f"n_points must be a whole number, at least 3, not {n_points!r}.")
    middle = np.asarray(center, dtype=np.float64)
    if middle.shape != (2,) or not np.isfinite(middle).all():
        raise ValueError(f"center must be a point of the plane, two finite numbers, not {center!r}.")
    angles = 2 * np.pi * np.arange(n_points) / n_points
    directions = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    directions[np.abs(directions) < 1e-15] = 0.0  # the axes are meant
    rays = _Rays(resolve(d), middle, directions, radius)
    points = rays.points(rays.lengths())
    return np.concatenate([points, points[:1]])


class _Rays:
    """How the distance from the center grows along several directions, all looked at together."""

    def __init__(self, distance: Distance, center: Floats, directions: Floats, radius: float) -> None:
        self.distance, self.center, self.directions, self.radius = distance, center, directions, radius

    def points(self, lengths: Floats) -> Floats:
        return self.center + lengths[:, None] * self.directions

    def distances(self, lengths: Floats) -> Floats:
        points = self.distance.prepare(self.points(lengths))
        origin = self.distance.prepare(self.center[None], like=points)
        return all_distances(self.distance, origin, points, np.empty((1, len(lengths))))[0]

    def lengths(self) -> Floats:
        """Find, on every ray, how far away the distance is the radius."""
        start = np.full(len(self.directions), self.radius)
        found = self.distances(start)
        if (found > self.radius / _FARTHEST).all() and np.isfinite(found).all():
            # A distance that grows in proportion, as those of a norm do, is solved by one division.
            lengths = start * (self.radius / found)
            if self._reaches(lengths, 1.0) and self._reaches(lengths, 0.5):
                return lengths
        low, high = self._bracket(start, found)
        return self._bisect(low, high)

    def _reaches(self, lengths: Floats, share: float) -> bool:
        """Whether a share of the lengths leads to that share of the radius."""
        wanted = share * self.radius
        return bool(
            (np.abs(self.distances(share * lengths) - wanted) <= 16 * np.finfo(np.float64).eps * wanted).all()
        )

    def _bracket(self, lengths: Floats, found: Floats) -> tuple[Floats, Floats]:
        """Find lengths at which the distance is below the radius, and at which it is not."""
        low, high = np.zeros_like(lengths), np.full_like(lengths, np.inf)
        while True:
            below = found < self.radius
            low = np.where(below, np.maximum(low, lengths), low)
            high = np.where(below, high, np.minimum(high, lengths))
            open_above, open_below = np.isinf(high), low == 0
            if not (open_above.any() or open_below.any()):
                return low, high
            # Small steps: some distances, such as that on a globe, accept no points far away.
            lengths = np.where(open_above, 1.2 * low, np.where(open_below, high / 4, high))
            self._refuse(open_above & (lengths > _FARTHEST * self.radius), found, "stays below")
            self._refuse(open_below & (lengths < _NEAREST * self.radius), found, "is at once at least")
            found = self.distances(lengths)

    def _bisect(self, low: Floats, high: Floats) -> Floats:
        while (high - low > 2 * np.spacing(high)).any():
            middle = 0.5 * (low + high)
            below = self.distances(middle) < self.radius
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        found = self.distances(high)
        self._refuse(found > self.radius * (1 + _PRECISION), found, "jumps over")
        return high

    def _refuse(self, missing: NDArray[np.bool_], found: Floats, how: str) -> None:
        if missing.any():
            ray = int(np.argmax(missing))
            along = ", ".join(f"{x:.3g}" for x in self.directions[ray])
            raise ValueError(
                f"{self.distance!r} has no ball of radius {self.radius:g}: in the direction ({along}) the distance "
                f"{how} {self.radius:g} (it was {found[ray]:.6g}). Choose another radius or center, or a distance "
                "that grows steadily from zero."
            )
