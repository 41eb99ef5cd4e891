"""K-medoids by swaps, from given distances and from the same rows to begin with."""

from typing import Any

import numpy as np

from benchmarks.workload import AtLeast, Contestant, Workload

K = 50


def distances(rng: np.random.Generator, n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Euclidean distances among Gaussian rows in single precision, and rows to begin with."""
    X = rng.standard_normal((n, d)).astype(np.float32)
    D = np.empty((n, n), dtype=np.float32)
    squares = np.einsum("ij,ij->i", X, X)
    for first in range(0, n, 1000):
        part = slice(first, first + 1000)
        products = squares[part, None] + squares - 2 * (X[part] @ X.T)
        np.sqrt(np.maximum(products, 0), out=D[part])
    D = np.maximum(D, D.T)  # products round either way
    np.fill_diagonal(D, 0)
    return D, rng.choice(n, K, replace=False)


def ours(data: tuple[np.ndarray, np.ndarray]) -> Any:
    """`KMedoids` as a user calls it: distances are checked, labels and silhouette are found."""
    from bisector import KMedoids

    D, start = data
    return lambda: KMedoids(K, metric="precomputed", init=start).fit(D).inertia_


def kmedoids_package(n_cpu: int) -> Any:
    """`kmedoids.fasterpam`, which goes the same way on one core; on all, swaps come in another order."""

    def prepare(data: tuple[np.ndarray, np.ndarray]) -> Any:
        import kmedoids

        D, start = data
        return lambda: kmedoids.fasterpam(D, start.astype(np.uint64), n_cpu=n_cpu).loss

    return prepare


def loss(value: float) -> dict[str, Any]:
    return {"loss": np.array([value])}


def workload(name: str, n: int, goal: float) -> Workload:
    return Workload(
        name=name,
        about=f"FasterPAM, {K} medoids, {n:,} rows, distances given in single precision.",
        make=distances,
        sizes={"n": n, "d": 10},
        quick={"n": 500},
        ours=Contestant("bisector", "bisector", ours, loss),
        peers=[
            Contestant("kmedoids, one core", "kmedoids", kmedoids_package(1), loss),
            Contestant("kmedoids, all cores", "kmedoids", kmedoids_package(-1), loss),
        ],
        goals={"kmedoids, one core": AtLeast(goal), "kmedoids, all cores": AtLeast(goal)},
        tolerance=0.01,  # another order of swaps ends at another, equally good choice
        patience=1800.0,
    )


WORKLOADS = [workload("small", 5_000, 3), workload("large", 20_000, 6)]
