"""Exemplars: the medoid, where rows can be ruled out and where all pairs must be compared."""

from typing import Any

import numpy as np

from benchmarks.workload import AtLeast, Contestant, Workload

# SciPy's matrix of all distances would take 3.2 GB: it is made and summed in strips of so many rows.
STRIP = 1000


def gaussian(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """Independent Gaussian features."""
    return rng.standard_normal((n, d))


def ours(metric: str) -> Contestant:
    """The number of the central row, by `bisector.exemplars.medoid`."""

    def prepare(X: np.ndarray) -> Any:
        from bisector.exemplars import medoid

        return lambda: medoid(X, metric)

    return Contestant("bisector", "bisector", prepare, lambda row: {"medoid": np.array([row])})


def scipy_sums(metric: str) -> Contestant:
    """The number of the row with the least sum of all distances, by `scipy.spatial.distance.cdist`."""

    def prepare(X: np.ndarray) -> Any:
        from scipy.spatial.distance import cdist

        def central() -> int:
            firsts = range(0, len(X), STRIP)
            sums = [cdist(X[first : first + STRIP], X, metric).sum(axis=1) for first in firsts]
            return int(np.argmin(np.concatenate(sums)))

        return central

    return Contestant("scipy", "scipy.spatial.distance", prepare, lambda row: {"medoid": np.array([row])})


WORKLOADS = [
    Workload(
        name="medoid",
        about="The row with the least total Euclidean distance: only rows near the geometric median count.",
        make=gaussian,
        sizes={"n": 20_000, "d": 10},
        quick={"n": 2_000},
        ours=ours("euclidean"),
        peers=[scipy_sums("euclidean")],
        goals={"scipy": AtLeast(5)},
        tolerance=0.0,
    ),
    Workload(
        name="medoid_manhattan",
        about="The row with the least total Manhattan distance: sorted columns give the totals.",
        make=gaussian,
        sizes={"n": 20_000, "d": 10},
        quick={"n": 2_000},
        ours=ours("manhattan"),
        peers=[scipy_sums("cityblock")],
        goals={"scipy": AtLeast(5)},
        tolerance=0.0,
    ),
    Workload(
        name="medoid_tiles",
        about="The row with the least total Chebyshev distance: no bound helps here, so all pairs are compared.",
        make=gaussian,
        sizes={"n": 20_000, "d": 10},
        quick={"n": 2_000},
        ours=ours("chebyshev"),
        peers=[scipy_sums("chebyshev")],
        goals={"scipy": AtLeast(5)},
        tolerance=0.0,
    ),
]
