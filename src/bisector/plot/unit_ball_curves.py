"""Unit balls: the points of the plane at distance 1, one curve a distance."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bisector.distances.names import resolve
from bisector.distances.unit_balls import unit_ball
from bisector.plot.canvas import axes, colour, dash, ink

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]


class UnitBallDisplay:
    """Circles of one radius about one point, as several distances see them (Flach, Figure 8.3).

    Parameters
    ----------
    curves : sequence of array of shape (n_points, 2)
        Closed curves.
    names : sequence of str
        The distance of each.
    center : array of shape (2,), default=(0, 0)
    radius : float, default=1.0

    Attributes
    ----------
    ax_, figure_ : Axes, Figure
    lines_ : list of Line2D
    center_ : Line2D

    Examples
    --------
    >>> from bisector import Euclidean, Manhattan, UnitBallDisplay
    >>> display = UnitBallDisplay.from_distances([Manhattan(), Euclidean()])
    >>> [line.get_label() for line in display.lines_]
    ['Manhattan()', 'Euclidean()']
    """

    def __init__(
        self,
        curves: Sequence[ArrayLike],
        names: Sequence[str],
        *,
        center: ArrayLike = (0.0, 0.0),
        radius: float = 1.0,
    ) -> None:
        if len(curves) != len(names):
            raise ValueError(f"There are {len(names)} names for {len(curves)} curves: give one for each.")
        self.curves = [np.asarray(curve, dtype=np.float64) for curve in curves]
        self.names = [str(name) for name in names]
        self.center = np.asarray(center, dtype=np.float64)
        self.radius = radius

    @classmethod
    def from_distances(
        cls,
        distances: Any,
        *,
        radius: float = 1.0,
        center: ArrayLike = (0.0, 0.0),
        n_points: int = 360,
        ax: "Axes | None" = None,
    ) -> Self:
        """Find the circle of each distance, and draw them all.

        Parameters
        ----------
        distances : Distance, str or callable; or a sequence of them, or a dict by name
            Distances between points of the plane.
        radius : float, default=1.0
        center : array of shape (2,), default=(0, 0)
        n_points : int, default=360
            How many points a curve has.
        ax : Axes, optional

        Returns
        -------
        UnitBallDisplay
        """
        if isinstance(distances, Mapping):
            given = dict(distances)
        else:
            several = (
                distances
                if isinstance(distances, Sequence) and not isinstance(distances, str)
                else [distances]
            )
            given = {repr(resolve(distance)): distance for distance in several}
        if not given:
            raise ValueError("There is no distance to draw: give at least one.")
        curves = [unit_ball(distance, n_points, radius, center) for distance in given.values()]
        return cls(curves, list(given), center=center, radius=radius).plot(ax=ax)

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw the curves, each with a colour and a dash of its own.

        Parameters
        ----------
        ax : Axes, optional

        Returns
        -------
        self
        """
        self.ax_ = axes(ax, layout="compressed")
        self.figure_ = self.ax_.figure
        self.lines_ = [
            self.ax_.plot(*curve.T, color=colour(number), linestyle=dash(number), lw=1.8, label=name)[0]
            for number, (curve, name) in enumerate(zip(self.curves, self.names, strict=True))
        ]
        (self.center_,) = self.ax_.plot(*self.center, "+", color=ink(), ms=8)
        self.ax_.set(
            aspect="equal",
            xlabel="x0",
            ylabel="x1",
            title=f"Points at distance {self.radius:g} from the cross",
        )
        self.ax_.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
        return self
