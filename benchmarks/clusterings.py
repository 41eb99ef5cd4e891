"""How good a clustering is: silhouettes, and the gap statistic over many fits."""

from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from benchmarks.workload import AtLeast, Contestant, Workload


class Clustered(NamedTuple):
    X: np.ndarray
    labels: np.ndarray


def heaps(rng: np.random.Generator, n: int, d: int, k: int, apart: float = 2.0) -> Clustered:
    """Normal clusters around normal centres, `apart` times as wide apart as they are wide."""
    labels = rng.integers(k, size=n)
    return Clustered(apart * rng.standard_normal((k, d))[labels] + rng.standard_normal((n, d)), labels)


def silhouettes(package: str, metric: str) -> Contestant:
    """The silhouettes of all rows; both packages have the same function."""
    source = {"bisector": "bisector", "scikit-learn": "sklearn.metrics"}[package]

    def prepare(data: Clustered) -> Any:
        module = import_module(source)
        return lambda: module.silhouette_samples(data.X, data.labels, metric=metric)

    return Contestant(package, source, prepare, lambda values: {"silhouettes": values})


class Curves(NamedTuple):
    """Logarithms of the scatter within 1 to 10 clusters: of the rows, and the mean over references."""

    rows: np.ndarray
    references: np.ndarray


def our_gap(data: Clustered) -> Any:
    import bisector

    kmeans = bisector.KMeans()

    def curves() -> Curves:
        found = bisector.gap_statistic(data.X, kmeans, range(1, 11), n_refs=20)
        return Curves(found.log_scatter, found.log_reference)

    return curves


def their_gap(data: Clustered) -> Any:
    from sklearn.cluster import KMeans

    def logs(X: np.ndarray, seed: int) -> list[float]:
        fits = (KMeans(k, random_state=seed).fit(X) for k in range(1, 11))
        return [float(np.log(model.inertia_)) for model in fits]

    def curves() -> Curves:
        rng = np.random.default_rng(0)
        low, high = data.X.min(axis=0), data.X.max(axis=0)
        references = [logs(rng.uniform(low, high, data.X.shape), seed) for seed in range(20)]
        return Curves(np.array(logs(data.X, 0)), np.mean(references, axis=0))

    return curves


def chosen(curves: Curves) -> dict[str, Any]:
    """What must agree though each draws its own references and starts: k, and the shares of scatter left.

    Of the rows, this is the share in the number of clusters that there are, where all lead to the same ones; in
    other numbers, starts decide, and ours end as low or lower.
    """
    rows, references = curves
    k = 1 + int(np.argmax(references - rows))
    return {
        "k": np.array([k]),
        "share of the rows' scatter in k": np.exp(rows[[0, k - 1]] - rows[0]),
        "shares of the references' scatter": np.exp(references - references[0]),
    }


WORKLOADS = [
    Workload(
        name="silhouette",
        about="Silhouettes of 50,000 rows: 1.25·10⁹ pairs, each with a root.",
        make=heaps,
        sizes={"n": 50_000, "d": 10, "k": 10},
        quick={"n": 3_000},
        ours=silhouettes("bisector", "euclidean"),
        peers=[silhouettes("scikit-learn", "euclidean")],
        goals={"scikit-learn": AtLeast(10)},
        tolerance=1e-10,
        seconds=120.0,
    ),
    Workload(
        name="silhouette_squared",
        about="The same with the squared distance, which needs no pairs: rows are compared with means.",
        make=heaps,
        sizes={"n": 50_000, "d": 10, "k": 10},
        quick={"n": 3_000},
        ours=silhouettes("bisector", "sqeuclidean"),
        peers=[silhouettes("scikit-learn", "sqeuclidean")],
        goals={"scikit-learn": AtLeast(1000)},
        tolerance=1e-10,
        seconds=120.0,
    ),
    Workload(
        name="silhouette_manhattan",
        about="The same with the Manhattan distance.",
        make=heaps,
        sizes={"n": 20_000, "d": 10, "k": 10},
        quick={"n": 2_000},
        ours=silhouettes("bisector", "manhattan"),
        peers=[silhouettes("scikit-learn", "manhattan")],
        tolerance=1e-10,
        seconds=120.0,
    ),
    Workload(
        name="silhouette_tiny",
        about="The same on next to nothing: what a call costs before it computes.",
        make=heaps,
        sizes={"n": 100, "d": 2, "k": 3},
        ours=silhouettes("bisector", "euclidean"),
        peers=[silhouettes("scikit-learn", "euclidean")],
        goals={"scikit-learn": AtLeast(1.0)},
        tolerance=1e-10,
    ),
    Workload(
        name="gap",
        about="The gap statistic with 20 references, for 1 to 10 clusters: 189 clusterings by k-means.",
        make=heaps,
        sizes={"n": 10_000, "d": 4, "k": 5, "apart": 6.0},
        quick={"n": 500},
        ours=Contestant("bisector", "bisector", our_gap, chosen),
        peers=[Contestant("scikit-learn", "sklearn.cluster", their_gap, chosen)],
        goals={"scikit-learn": AtLeast(5)},
        tolerance=0.02,  # of all scatter: references are drawn by each, and k-means finds local optima
        seconds=120.0,
    ),
]
