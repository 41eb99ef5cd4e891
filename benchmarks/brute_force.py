"""Nearest neighbours by brute force: a matrix product is the floor, in single precision half of that."""

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from benchmarks.workload import AtLeast, Contestant, Workload

K = 10
# faiss brings an OpenBLAS that takes newer processors for old ones.
RIGHT_KERNELS = {"OPENBLAS_CORETYPE": "SkylakeX"}


class Search(NamedTuple):
    X: np.ndarray
    Q: np.ndarray


def gaussian(rng: np.random.Generator, n: int, d: int, queries: int, dtype: str = "float64") -> Search:
    """Gaussian rows and queries off the origin: without clusters, so that no tree could help."""
    return Search(
        (rng.standard_normal((n, d)) + 1.0).astype(dtype),
        (rng.standard_normal((queries, d)) + 1.0).astype(dtype),
    )


def distances(result: Any) -> dict[str, np.ndarray]:
    """What is compared: distances, nearest first. Rows at nearly the same distance may change places."""
    return {"distances": result[0]}


def ours(search: Search) -> Callable[[], Any]:
    index = import_module("bisector.search.brute_force").BruteForce
    return lambda: index(search.X).query(search.Q, K)


def ours_at_once(search: Search) -> Callable[[], Any]:
    index = import_module("bisector.search.brute_force").BruteForce(search.X)
    index.query(search.X[:100], K)
    return lambda: index.query(search.Q, K)


def estimator(module: str) -> Callable[[Search], Callable[[], Any]]:
    def prepare(search: Search) -> Callable[[], Any]:
        neighbors = import_module(module).NearestNeighbors(n_neighbors=K, algorithm="brute")
        return lambda: neighbors.fit(search.X).kneighbors(search.Q)

    return prepare


def estimator_at_once(module: str) -> Callable[[Search], Callable[[], Any]]:
    def prepare(search: Search) -> Callable[[], Any]:
        neighbors = import_module(module).NearestNeighbors(n_neighbors=K, algorithm="brute").fit(search.X)
        return lambda: neighbors.kneighbors(search.Q)

    return prepare


def flat_index(search: Search) -> Any:
    index = import_module("faiss").IndexFlatL2(search.X.shape[1])
    index.add(search.X)
    return index


def faiss(search: Search) -> Callable[[], Any]:
    return lambda: flat_index(search).search(search.Q, K)


def faiss_at_once(search: Search) -> Callable[[], Any]:
    index = flat_index(search)
    return lambda: index.search(search.Q, K)


def roots(result: Any) -> dict[str, np.ndarray]:
    """faiss returns squares."""
    return {"distances": np.sqrt(result[0])}


OURS = Contestant("bisector", "bisector", ours, distances)
SCIKIT_LEARN = Contestant("scikit-learn", "sklearn.neighbors", estimator("sklearn.neighbors"), distances)
INTELEX = Contestant(
    "scikit-learn-intelex", "sklearnex.neighbors", estimator("sklearnex.neighbors"), distances
)
FAISS = Contestant("faiss", "faiss", faiss, roots, RIGHT_KERNELS)

WORKLOADS = [
    Workload(
        name="many_coordinates",
        about="The ten nearest of 10,000 queries, in double precision.",
        make=gaussian,
        sizes={"n": 100_000, "d": 128, "queries": 10_000},
        quick={"n": 5_000, "queries": 500},
        ours=OURS,
        peers=[SCIKIT_LEARN, INTELEX],
        goals={"scikit-learn": AtLeast(1.7), "scikit-learn-intelex": AtLeast(1.2)},
        tolerance=1e-10,
    ),
    Workload(
        name="single_precision",
        about="The same, of rows in single precision; the peers also compute in it.",
        make=gaussian,
        sizes={"n": 100_000, "d": 128, "queries": 10_000, "dtype": "float32"},
        quick={"n": 5_000, "queries": 500},
        ours=OURS,
        peers=[FAISS, SCIKIT_LEARN],
        goals={"faiss": AtLeast(1.1)},
        tolerance=1e-4,
    ),
    Workload(
        name="few_coordinates",
        about="The ten nearest by sixteen coordinates: less to multiply, as much to select from.",
        make=gaussian,
        sizes={"n": 100_000, "d": 16, "queries": 10_000},
        quick={"n": 5_000, "queries": 500},
        ours=OURS,
        peers=[SCIKIT_LEARN, INTELEX],
        tolerance=1e-10,
    ),
    Workload(
        name="one_query",
        about="The ten nearest of one query, in an index that stands.",
        make=gaussian,
        sizes={"n": 100_000, "d": 128, "queries": 1},
        quick={"n": 5_000},
        ours=Contestant("bisector", "bisector", ours_at_once, distances),
        peers=[
            Contestant(
                "scikit-learn", "sklearn.neighbors", estimator_at_once("sklearn.neighbors"), distances
            ),
        ],
        tolerance=1e-10,
    ),
    Workload(
        name="one_query_single_precision",
        about="The same, of rows in single precision.",
        make=gaussian,
        sizes={"n": 100_000, "d": 128, "queries": 1, "dtype": "float32"},
        quick={"n": 5_000},
        ours=Contestant("bisector", "bisector", ours_at_once, distances),
        peers=[Contestant("faiss", "faiss", faiss_at_once, roots, RIGHT_KERNELS)],
        tolerance=1e-4,
    ),
]
