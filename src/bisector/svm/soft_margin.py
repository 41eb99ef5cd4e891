"""The margin between two classes as people see it: how each training row lies to it, and what it pays."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.solvers.support_vectors import SupportVectors

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

ROLES = ("outside", "on margin", "inside", "misclassified")


@dataclass(frozen=True, eq=False)
class SoftMargin:
    """A plane between two classes, fitted to some of the rows.

    Attributes
    ----------
    negative, positive : int
        The places of the two classes.
    members : ndarray of int
        The training rows of the two classes that have a weight.
    sides : ndarray
        −1 or +1 for each member.
    costs : ndarray
        What a unit of its slack costs: C times its weight.
    plane : SupportVectors
    width : float
        How near a row must be to the margin to lie on it, in units of f(x).
    """

    negative: int
    positive: int
    members: Integers
    sides: Floats
    costs: Floats
    plane: SupportVectors
    width: float

    @property
    def alpha(self) -> Floats:
        """The Lagrange multiplier of each member."""
        return np.abs(self.plane.beta)

    @property
    def slack(self) -> Floats:
        """By how much each member misses the margin, 1 − y·f(x), or 0."""
        return np.maximum(0.0, 1.0 - self.sides * self.plane.values)

    @property
    def margin(self) -> float:
        """The distance of the margin from the plane, 1/‖w‖ in feature space; infinite if there is no plane."""
        return 1.0 / self.plane.length if self.plane.length > 0 else np.inf

    @property
    def roles(self) -> Integers:
        """How each member lies to the margin: its place in `ROLES`."""
        return lies(self.plane.values, self.sides, self.width)


def lies(values: Floats, sides: Floats, width: float) -> Integers:
    """Return how rows with f(x) lie to the margin, as places in `ROLES`. It is geometry that decides, not α."""
    reached = sides * values
    wrong = (values > 0) != (sides > 0)
    on_margin = np.abs(reached - 1.0) <= width
    return np.select([on_margin, wrong, reached > 1.0], [1, 3, 0], default=2)


def spread(margins: list[SoftMargin], parts: list[NDArray[Any]], n_rows: int, absent: Any) -> NDArray[Any]:
    """Put what is known of the members into one column for each margin; a vector if there is one margin."""
    table = np.full((n_rows, len(margins)), absent, dtype=np.result_type(*parts))
    for column, (margin, part) in enumerate(zip(margins, parts, strict=True)):
        table[margin.members, column] = part
    return table[:, 0] if len(margins) == 1 else table
