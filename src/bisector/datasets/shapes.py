"""What several makers draw: labelled rows in random order, points in a ring, uncorrelated columns."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .dataset import Floats


def labels(negatives: int, positives: int) -> NDArray[np.int64]:
    """Return so many labels −1, and then so many +1."""
    return np.repeat(np.array([-1, 1], dtype=np.int64), [negatives, positives])


def shuffled(X: Floats, y: NDArray[np.int64], rng: np.random.Generator) -> tuple[Floats, NDArray[np.int64]]:
    """Put rows into random order, so that their order teaches nothing."""
    order = rng.permutation(len(y))
    return X[order], y[order]


def in_ring(inner: ArrayLike, outer: ArrayLike, angle: Floats, rng: np.random.Generator) -> Floats:
    """Draw points around the origin, spread evenly over the area between two radii, at the given angles."""
    inner, outer = np.asarray(inner, dtype=np.float64), np.asarray(outer, dtype=np.float64)
    share = rng.random(len(angle))
    # A ring's area grows with the square of its radius.
    radius = np.clip(np.sqrt(inner**2 + share * (outer**2 - inner**2)), inner, outer)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


def uncorrelated(n: int, k: int, rng: np.random.Generator) -> list[Floats]:
    """Draw k normal columns, then make their sample means 0, variances (over n) 1 and correlations 0.

    Plain sums rather than a factorisation: bits then do not depend on the threads of a linear algebra library.
    """
    done: list[Floats] = []
    for _ in range(k):
        column = rng.standard_normal(n)
        for _ in range(2):  # once more removes what rounding left
            column -= column.mean()
            for other in done:
                column -= (other * column).mean() * other
        done.append(column / np.sqrt((column**2).mean()))
    return done
