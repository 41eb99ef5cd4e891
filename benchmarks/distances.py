"""All distances between rows: one pair of rows costs a few nanoseconds, or the peers' loops."""

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from benchmarks.workload import AtLeast, Contestant, Workload


class Table(NamedTuple):
    X: np.ndarray
    Y: np.ndarray
    out: np.ndarray


def numbers(rng: np.random.Generator, n: int, d: int) -> Table:
    """Two tables of Gaussian features off the origin, and memory for the distances that was touched before."""
    return Table(rng.standard_normal((n, d)) + 3.0, rng.standard_normal((n, d)) + 3.0, np.zeros((n, n)))


def codes(rng: np.random.Generator, n: int, d: int) -> Table:
    """Two tables of five codes."""
    return Table(
        rng.integers(5, size=(n, d)).astype(float),
        rng.integers(5, size=(n, d)).astype(float),
        np.zeros((n, n)),
    )


def bits(rng: np.random.Generator, n: int, d: int) -> Table:
    """Two tables of Booleans, a third of them true."""
    return Table(rng.random((n, d)) < 0.3, rng.random((n, d)) < 0.3, np.zeros((n, n)))


def answer(distances: np.ndarray) -> dict[str, np.ndarray]:
    """What is compared: a part of the distances, as all of them would not pass between processes."""
    return {"distances": distances[::97, ::89]}


def ours(name: str, **params: Any) -> Contestant:
    """bisector, writing into memory that is there."""

    def prepare(table: Table) -> Callable[[], np.ndarray]:
        distance = getattr(import_module("bisector.distances"), name)(**params)
        return lambda: distance.pairwise(table.X, table.Y, out=table.out)

    return Contestant("bisector", "bisector", prepare, answer)


def scipy(metric: str, options: Callable[[Table], dict[str, Any]] = lambda table: {}) -> Contestant:
    """SciPy's cdist, on one core, writing into memory that is there."""

    def prepare(table: Table) -> Callable[[], np.ndarray]:
        cdist = import_module("scipy.spatial.distance").cdist
        given = options(table)
        return lambda: cdist(table.X, table.Y, metric, out=table.out, **given)

    return Contestant("scipy", "scipy", prepare, answer)


def scikit_learn(metric: str, **options: Any) -> Contestant:
    """scikit-learn's pairwise_distances, which makes its own memory."""

    def prepare(table: Table) -> Callable[[], np.ndarray]:
        pairwise = import_module("sklearn.metrics").pairwise_distances
        return lambda: pairwise(table.X, table.Y, metric=metric, n_jobs=-1, **options)

    return Contestant("scikit-learn", "sklearn", prepare, answer)


def both(metric: str, **options: Any) -> list[Contestant]:
    """The two peers that compute all distances of a name."""
    return [scipy(metric, lambda table: options), scikit_learn(metric, **options)]


def product(table: Table) -> Callable[[], Table]:
    """Prepare what Euclidean distances cannot be faster than: the matrix product, written out."""

    def multiply() -> Table:
        np.dot(table.X, table.Y.T, out=table.out)
        return table

    return multiply


def from_products(table: Table) -> dict[str, np.ndarray]:
    """Turn products into distances, outside of what is timed."""
    lengths, others = np.square(table.X).sum(axis=1), np.square(table.Y).sum(axis=1)
    return answer(np.sqrt(lengths[:, None] + others - 2 * table.out))


PRODUCT = Contestant("matrix product", "numpy", product, from_products)


def inverse_covariance(table: Table) -> dict[str, np.ndarray]:
    return {"VI": np.linalg.inv(np.cov(table.X, rowvar=False, bias=True))}


def loop_over_coordinates(x: Any, y: Any) -> Any:
    """Sum absolute differences, as a user would write it."""
    total = 0.0
    for j in range(len(x)):
        total += abs(x[j] - y[j])
    return total


def built_in(name: str) -> Contestant:
    """Our own distance of that name, as the mark for a user's function."""
    return replace(ours(name), label=f"built-in {name}")


def workload(name: str, about: str, contestant: Contestant, peers: list[Contestant], **more: Any) -> Workload:
    """A workload of 10,000 × 10,000 distances in 50 features, twice as fast as its peers unless said otherwise."""
    return Workload(
        name=name,
        about=about,
        ours=contestant,
        peers=peers,
        **{
            "make": numbers,
            "sizes": {"n": 10_000, "d": 50},
            "quick": {"n": 600},
            "goals": {peer.label: AtLeast(2.0) for peer in peers},
            "tolerance": 1e-10,
            **more,
        },
    )


WORKLOADS = [
    workload("manhattan", "Sums of absolute differences.", ours("Manhattan"), both("cityblock")),
    workload("chebyshev", "Largest differences.", ours("Chebyshev"), both("chebyshev")),
    workload(
        "minkowski",
        "Minkowski distances of order 1.5.",
        ours("Minkowski", p=1.5),
        both("minkowski", p=1.5),
        sizes={"n": 3_000, "d": 50},  # with 10,000 rows a peer takes more than a minute
    ),
    workload("cosine", "1 − cos.", ours("Cosine"), both("cosine")),
    workload("hamming", "Shares of codes that differ.", ours("Hamming"), both("hamming"), make=codes),
    workload(
        "jaccard", "1 − shared / all, of sets as Booleans.", ours("Jaccard"), both("jaccard"), make=bits
    ),
    workload(
        "mahalanobis",
        "Euclidean distances after decorrelation, the covariance learned.",
        ours("Mahalanobis"),
        [scipy("mahalanobis", inverse_covariance)],
        sizes={"n": 3_000, "d": 50},
    ),
    workload(
        "euclidean",
        "Euclidean distances, against the product that they are made of and the peers.",
        ours("Euclidean"),
        [PRODUCT, *both("euclidean")],
        goals={"matrix product": AtLeast(1 / 1.2)},
    ),
    workload(
        "users_function",
        "A user's Python function of two rows, against the built-in of the same formula.",
        ours("Compiled", function=loop_over_coordinates),
        [built_in("Manhattan")],
        goals={"built-in Manhattan": AtLeast(1 / 1.5)},
    ),
]
