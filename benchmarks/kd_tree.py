"""Exact neighbours by k-d trees: the tree is built and queried, unless a workload says otherwise."""

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from benchmarks.workload import AtLeast, Contestant, Workload

NEIGHBOURS = 10


class Search(NamedTuple):
    X: np.ndarray
    Q: np.ndarray


class Found(NamedTuple):
    distances: np.ndarray
    numbers: np.ndarray


def uniform(rng: np.random.Generator, n: int, d: int, queries: int) -> Search:
    """Rows and queries all over a cube."""
    return Search(rng.random((n, d)), rng.random((queries, d)))


def clustered(rng: np.random.Generator, n: int, d: int, queries: int) -> Search:
    """Rows and queries in fifty round clusters that do not overlap."""
    centres = rng.uniform(0.0, 10.0, (50, d))

    def around(n: int) -> np.ndarray:
        return centres[rng.integers(50, size=n)] + 0.5 * rng.standard_normal((n, d))

    return Search(around(n), around(queries))


def gaussian(rng: np.random.Generator, n: int, d: int, queries: int) -> Search:
    """Rows and queries in one round cloud."""
    return Search(rng.standard_normal((n, d)), rng.standard_normal((queries, d)))


def answer(found: Any) -> dict[str, np.ndarray]:
    """What is compared: a part of the neighbours, as all of them would not pass between processes."""
    found = Found(*found)
    return {name: np.asarray(part)[::37] for name, part in found._asdict().items()}


def contestant(
    label: str, module: str, tree: Callable[[Any, Search], Callable[[np.ndarray], Any]]
) -> Contestant:
    """A contestant that builds a tree and asks for the neighbours of all queries."""

    def prepare(search: Search) -> Callable[[], Any]:
        imported = import_module(module)
        return lambda: tree(imported, search)(search.Q)

    return Contestant(label, module, prepare, answer)


def standing(one: Contestant, tree: Callable[[Any, Search], Callable[[np.ndarray], Any]]) -> Contestant:
    """The same with a tree that was built before."""

    def prepare(search: Search) -> Callable[[], Any]:
        query = tree(import_module(one.module), search)
        return lambda: query(search.Q)

    return Contestant(one.label, one.module, prepare, answer)


def bisector_tree(module: Any, search: Search) -> Callable[[np.ndarray], Any]:
    index = module.KDTree(search.X)
    return lambda Q: index.query(Q, NEIGHBOURS)


def bisector_minkowski(module: Any, search: Search) -> Callable[[np.ndarray], Any]:
    index = module.KDTree(search.X, import_module("bisector.distances").Minkowski(1.5))
    return lambda Q: index.query(Q, NEIGHBOURS)


def pykdtree_tree(module: Any, search: Search) -> Callable[[np.ndarray], Any]:
    index = module.KDTree(search.X)
    return lambda Q: index.query(Q, k=NEIGHBOURS)


def scipy_tree(module: Any, search: Search) -> Callable[[np.ndarray], Any]:
    index = module.cKDTree(search.X)
    return lambda Q: index.query(Q, k=NEIGHBOURS, workers=-1)


def scipy_one(module: Any, search: Search) -> Callable[[np.ndarray], Any]:
    index = module.cKDTree(search.X)
    return lambda Q: index.query(Q, k=NEIGHBOURS)  # starting threads would only cost


def scipy_minkowski(module: Any, search: Search) -> Callable[[np.ndarray], Any]:
    index = module.cKDTree(search.X)
    return lambda Q: index.query(Q, k=NEIGHBOURS, p=1.5, workers=-1)


def estimator_tree(module: Any, search: Search) -> Callable[[np.ndarray], Any]:
    estimator = module.NearestNeighbors(n_neighbors=NEIGHBOURS, algorithm="kd_tree", n_jobs=-1).fit(search.X)
    return lambda Q: estimator.kneighbors(Q)


def estimator_one(module: Any, search: Search) -> Callable[[np.ndarray], Any]:
    estimator = module.NearestNeighbors(n_neighbors=NEIGHBOURS, algorithm="kd_tree").fit(search.X)
    return lambda Q: estimator.kneighbors(Q)


OURS = contestant("bisector", "bisector.search.kd_tree", bisector_tree)
PYKDTREE = contestant("pykdtree", "pykdtree.kdtree", pykdtree_tree)
SCIPY = contestant("scipy", "scipy.spatial", scipy_tree)
INTELEX = contestant("scikit-learn-intelex", "sklearnex.neighbors", estimator_tree)
SCIKIT_LEARN = contestant("scikit-learn", "sklearn.neighbors", estimator_one)

WORKLOADS = [
    Workload(
        name="uniform",
        about="Ten neighbours of many queries among many rows of three coordinates.",
        make=uniform,
        sizes={"n": 1_000_000, "d": 3, "queries": 100_000},
        quick={"n": 20_000, "queries": 2_000},
        ours=OURS,
        peers=[PYKDTREE, SCIPY, INTELEX],
        goals={"pykdtree": AtLeast(1.3), "scipy": AtLeast(1.8)},
    ),
    Workload(
        name="uniform_standing",
        about="The same in a tree that was built before.",
        make=uniform,
        sizes={"n": 1_000_000, "d": 3, "queries": 100_000},
        quick={"n": 20_000, "queries": 2_000},
        ours=standing(OURS, bisector_tree),
        peers=[
            standing(PYKDTREE, pykdtree_tree),
            standing(SCIPY, scipy_tree),
            standing(INTELEX, estimator_tree),
        ],
    ),
    Workload(
        name="clustered",
        about="Ten neighbours in clusters of sixteen coordinates, where a tree finds the cluster and little more.",
        make=clustered,
        sizes={"n": 100_000, "d": 16, "queries": 10_000},
        quick={"n": 5_000, "queries": 500},
        ours=OURS,
        peers=[INTELEX, PYKDTREE, SCIPY],
        goals={"scikit-learn-intelex": AtLeast(1.2)},
    ),
    Workload(
        name="minkowski",
        about="Ten neighbours by Minkowski distance of order 1.5 in ten coordinates.",
        make=gaussian,
        sizes={"n": 20_000, "d": 10, "queries": 1_000},
        quick={"n": 2_000, "queries": 100},
        ours=contestant("bisector", "bisector.search.kd_tree", bisector_minkowski),
        peers=[contestant("scipy", "scipy.spatial", scipy_minkowski)],
        goals={"scipy": AtLeast(3.0)},
    ),
    Workload(
        name="one_query",
        about="Ten neighbours of one query in a tree that was built before: what a call costs.",
        make=uniform,
        sizes={"n": 10_000, "d": 3, "queries": 1},
        ours=standing(OURS, bisector_tree),
        peers=[standing(SCIKIT_LEARN, estimator_one), standing(SCIPY, scipy_one)],
        goals={"scikit-learn": AtLeast(1.0)},
    ),
]
