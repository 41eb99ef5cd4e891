"""How far apart two clusters are, as compiled loops see it (Flach, Definition 8.5).

Every linkage here can be updated: when clusters a and b become one, its linkage to a third, k, follows from those
of a and b to k (Lance and Williams, 1967). `join` gives it from these two, x and y, from the linkage between a and
b, and from the sizes of the three. It works on distances or on their squares, whichever `values` says.

Where `reducible`, what is merged is never nearer to a third cluster than the nearer of its parts was. Rounding must
not break that: the result is at least the smaller of x and y. Then pairs that are nearest to each other may be
merged in any order, and the levels of the dendrogram rise.

Where there is a `fold`, the linkage of two clusters also follows from the distances of their rows alone: these are
gathered, one after the other, each with the share that the row of the one has in its cluster, and what comes out
likewise with the shares in the other. `split` gives the shares of two parts in what is merged from them.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bisector.engine.values import lowered

Floats = NDArray[np.float64]


@lowered(values="distances", reducible=True)
class CompleteLinkage(NamedTuple):
    """The largest distance between a row of one and a row of the other."""

    power: float = 1.0

    def join(self, x: float, y: float, between: float, n_a: float, n_b: float, n_k: float) -> float:
        return x if x > y else y

    def fold(self, total: float, value: float, share: float) -> float:
        return total if total > value else value

    @staticmethod
    def split(n_a: Floats, n_b: Floats) -> tuple[Floats, Floats]:
        return np.ones_like(n_a), np.ones_like(n_b)


@lowered(values="distances", reducible=True)
class AverageLinkage(NamedTuple):
    """The mean of all distances between a row of one and a row of the other."""

    power: float = 1.0

    def join(self, x: float, y: float, between: float, n_a: float, n_b: float, n_k: float) -> float:
        low = x if x < y else y
        n = n_a + n_b
        mean = (n_a / n) * x + (n_b / n) * y  # shares, which are the same all along a row
        return mean if mean > low else low

    def fold(self, total: float, value: float, share: float) -> float:
        return total + share * value

    @staticmethod
    def split(n_a: Floats, n_b: Floats) -> tuple[Floats, Floats]:
        return n_a / (n_a + n_b), n_b / (n_a + n_b)


@lowered(values="distances", reducible=True)
class WeightedLinkage(NamedTuple):
    """The mean of the linkages of the two parts, whatever their sizes (WPGMA, McQuitty)."""

    power: float = 1.0

    def join(self, x: float, y: float, between: float, n_a: float, n_b: float, n_k: float) -> float:
        return 0.5 * x + 0.5 * y

    def fold(self, total: float, value: float, share: float) -> float:
        return total + share * value

    @staticmethod
    def split(n_a: Floats, n_b: Floats) -> tuple[Floats, Floats]:
        return np.full_like(n_a, 0.5), np.full_like(n_b, 0.5)


@lowered(values="squares", reducible=True)
class WardLinkage(NamedTuple):
    """Twice the growth of the scatter around the means, under the root: √(2·n_a·n_b / (n_a + n_b))·‖ā − b̄‖."""

    power: float = 2.0

    def join(self, x: float, y: float, between: float, n_a: float, n_b: float, n_k: float) -> float:
        low = x if x < y else y
        value = ((n_a + n_k) * x + (n_b + n_k) * y - n_k * between) / (n_a + n_b + n_k)
        return value if value > low else low


@lowered(values="squares", reducible=False)
class CentroidLinkage(NamedTuple):
    """The distance between the means (UPGMC)."""

    power: float = 2.0

    def join(self, x: float, y: float, between: float, n_a: float, n_b: float, n_k: float) -> float:
        n = n_a + n_b
        value = (n_a * x + n_b * y - n_a * n_b * between / n) / n
        return value if value > 0.0 else 0.0


@lowered(values="squares", reducible=False)
class MedianLinkage(NamedTuple):
    """The distance between middles, where that of a cluster lies half way between those of its parts (WPGMC)."""

    power: float = 2.0

    def join(self, x: float, y: float, between: float, n_a: float, n_b: float, n_k: float) -> float:
        value = 0.5 * x + 0.5 * y - 0.25 * between
        return value if value > 0.0 else 0.0


# Single linkage has no formula: its clusters are what a minimum spanning tree gives.
FORMULAS: dict[str, Any] = {
    "complete": CompleteLinkage(),
    "average": AverageLinkage(),
    "weighted": WeightedLinkage(),
    "ward": WardLinkage(),
    "centroid": CentroidLinkage(),
    "median": MedianLinkage(),
}
LINKAGES = ("ward", "complete", "average", "single", "centroid", "median", "weighted")
