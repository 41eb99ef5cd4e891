"""Bumps as compiled loops see them: the height at a distance, or at its square, in units of the bump's radius.

Each class writes its formula once, in terms of whichever is cheaper; the other follows. Those that never reach zero
also know the logarithm of their height, which stays a number however far away.
"""

import math
from typing import Any, NamedTuple

from bisector.engine.exponential import decay
from bisector.engine.loops import compile_methods, loop
from bisector.engine.values import lowered

compile_methods(
    height=lambda self, z: None,
    height_of_square=lambda self, square: None,
    log_height_of_square=lambda self, square: None,
)


def square_first(self: Any, z: float) -> float:
    return self.height_of_square(z * z)


def root_first(self: Any, square: float) -> float:
    return self.height(math.sqrt(square))


@lowered(height=square_first)
class GaussianHeight(NamedTuple):
    """exp(−z²/2)."""

    support: float = math.inf

    def height_of_square(self, square: float) -> float:
        return decay(-0.5 * square)

    def log_height_of_square(self, square: float) -> float:
        return -0.5 * square


@lowered(height=square_first)
class WindowHeight(NamedTuple):
    """1 up to z = 1."""

    support: float = 1.0

    def height_of_square(self, square: float) -> float:
        return 1.0 if square <= 1.0 else 0.0


@lowered(height=square_first)
class EpanechnikovHeight(NamedTuple):
    """1 − z² up to z = 1."""

    support: float = 1.0

    def height_of_square(self, square: float) -> float:
        return 1.0 - square if square <= 1.0 else 0.0


@lowered(height_of_square=root_first)
class ExponentialHeight(NamedTuple):
    """exp(−z)."""

    support: float = math.inf

    def height(self, z: float) -> float:
        return decay(-z)

    def log_height_of_square(self, square: float) -> float:
        return -math.sqrt(square)


@lowered(height_of_square=root_first)
class TriangularHeight(NamedTuple):
    """1 − z up to z = 1."""

    support: float = 1.0

    def height(self, z: float) -> float:
        return 1.0 - z if z <= 1.0 else 0.0


@lowered(height_of_square=root_first)
class CosineHeight(NamedTuple):
    """cos(πz/2) up to z = 1."""

    support: float = 1.0

    def height(self, z: float) -> float:
        return math.cos(0.5 * math.pi * z) if z <= 1.0 else 0.0


@loop
def raise_bumps(
    bump: Any, factor: float, squared: bool, tile: Any, row: int, column: int, n_rows: int, n_columns: int
) -> None:
    """Replace every v in a rectangle by the height at factor · v, which is a distance or the square of one."""
    for i in range(n_rows):
        line = tile[
            row + i, column : column + n_columns
        ]  # indices that could be negative would not be vectorised
        if squared:
            for b in range(n_columns):
                line[b] = bump.height_of_square(factor * line[b])
        else:
            for b in range(n_columns):
                line[b] = bump.height(factor * line[b])


def warm() -> None:
    """Compile the loops of this module for every bump."""
    import numpy as np

    bumps = (GaussianHeight(), WindowHeight(), EpanechnikovHeight(), ExponentialHeight(), TriangularHeight())
    for bump in (*bumps, CosineHeight()):
        raise_bumps(bump, 1.0, True, np.ones((1, 1)), 0, 0, 1, 1)
