"""Distances between directions: angles, and points on a globe."""

import math
from dataclasses import KW_ONLY
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.distances import terms
from bisector.distances.coordinate_distance import CoordinateDistance
from bisector.distances.distance import Law
from bisector.distances.numeric_rows import NumericRows
from bisector.engine.validation import check_finite, check_flag
from bisector.engine.values import value


@value
class Cosine(CoordinateDistance):
    """1 − cos of the angle between two rows, seen from the origin; lengths do not matter.

    No metric: detours can be shorter. With ``angle=True`` it is the angle itself in radians, which orders pairs
    alike and keeps the triangle inequality; rows in one direction are at distance zero, so it is a pseudo-metric.
    A row of zeros has no direction: it is at cosine 0 (a right angle) from every row but those of zeros.

    Parameters
    ----------
    angle : bool, default=False
        Return the angle instead of 1 − cos.

    Examples
    --------
    >>> from bisector.distances import Cosine
    >>> Cosine()([1, 0], [0, 2])
    1.0
    >>> round(Cosine(angle=True)([1, 0], [1, 1]), 4)
    0.7854
    """

    angle: bool = False

    names = ("cosine",)
    rotation_invariant = True

    def __post_init__(self) -> None:
        self._set(angle=check_flag("angle", self.angle))

    @property
    def law(self) -> Law:
        return "pseudo-metric" if self.angle else "none"

    def lower(self, n_features: int) -> Any:
        return terms.ArcOfChord(1.0) if self.angle else terms.KeptSquares(0.5)

    def transform(self, rows: NumericRows, like: NumericRows | None) -> NumericRows:
        """Bring every row to length one, on which 1 − cos is half the squared distance."""
        return rows.of_unit_length()

    def again(self, formula: Any) -> Any:
        from bisector.distances.close_pairs import OfDirections

        return OfDirections()


@value
class Haversine(CoordinateDistance):
    """The way along a great circle between points given as (latitude, longitude).

    It is known to a few 1e-16 of the radius, nanometres on Earth; between points that are nearly opposite to
    1e-8 of it.

    Parameters
    ----------
    radius : float, default=1.0
        Of the globe; 6371.0088 gives kilometres on Earth.
    degrees : bool, default=False
        Whether the rows are in degrees; otherwise in radians, as scikit-learn has it.

    Examples
    --------
    Bristol to Amsterdam, in kilometres:

    >>> from bisector.distances import Haversine
    >>> round(Haversine(radius=6371.0088, degrees=True)([51.4545, -2.5879], [52.3676, 4.9041]))
    524
    """

    radius: float = 1.0
    _: KW_ONLY
    degrees: bool = False

    names = ("haversine",)

    def __post_init__(self) -> None:
        self._set(
            radius=check_finite("radius", self.radius, above=0), degrees=check_flag("degrees", self.degrees)
        )

    @property
    def law(self) -> Law:
        # Longitudes a full turn apart, and all longitudes at a pole, mean one place.
        return "pseudo-metric"

    def lower(self, n_features: int) -> Any:
        return terms.ArcOfChord(float(self.radius))

    def transform(self, rows: NumericRows, like: NumericRows | None) -> NumericRows:
        """Place every row on the unit sphere, where the square of the chord orders as the arc does."""
        if rows.n_features != 2:
            raise ValueError(
                f"Haversine compares rows of (latitude, longitude), not of {rows.n_features} columns."
            )

        def on_sphere(values: NDArray[np.float64]) -> NDArray[np.float64]:
            most = 90.0 if self.degrees else math.pi / 2
            outside = np.abs(values[:, 0]) > most * (1 + 1e-12)
            if outside.any():
                row = int(np.argmax(outside))
                unit = "degrees" if self.degrees else "radians"
                hint = "" if self.degrees else ": for degrees take Haversine(degrees=True)"
                raise ValueError(
                    f"The latitude in row {row} is {values[row, 0]:.6g}, but latitudes lie between "
                    f"{-most:.6g} and {most:.6g} {unit}{hint}. Rows are (latitude, longitude)."
                )
            latitude, longitude = (np.radians(values) if self.degrees else values).T
            return np.stack(
                [
                    np.cos(latitude) * np.cos(longitude),
                    np.cos(latitude) * np.sin(longitude),
                    np.sin(latitude),
                ],
                axis=1,
            )

        return rows.mapped(on_sphere)
