"""K-means: the same iterations from the same start in low and high dimension, seeding, tiny data."""

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from benchmarks.workload import AtLeast, Contestant, Workload

# faiss's own BLAS takes processors newer than itself for very old ones.
FAISS = {"OPENBLAS_CORETYPE": "SkylakeX"}


class Problem(NamedTuple):
    """Rows, centres to start from, and how often to move them."""

    X: np.ndarray
    start: np.ndarray
    n_iter: int


def clusters(
    rng: np.random.Generator, n: int, d: int, k: int, n_iter: int, apart: float = 2.0, dtype: str = "f8"
) -> Problem:
    """Overlapping normal clusters, as many as are looked for; the start is rows drawn by chance."""
    y = rng.integers(k, size=n)
    X = (apart * rng.standard_normal((k, d))[y] + rng.standard_normal((n, d))).astype(dtype)
    return Problem(X, X[rng.choice(n, k, replace=False)].copy(), n_iter)


def fitter(label: str, module: str, **options: Any) -> Contestant:
    """A contestant whose `module` has the estimator; so many moves of the centres are timed."""

    def prepare(problem: Problem) -> Callable[[], Any]:
        kind, k = import_module(module).KMeans, len(problem.start)
        return lambda: kind(k, init=problem.start, n_init=1, max_iter=problem.n_iter, tol=0.0, **options).fit(
            problem.X
        )

    return Contestant(label, module, prepare, lambda model: {"inertia": np.array([model.inertia_])})


def prepare_faiss(problem: Problem) -> Callable[[], Any]:
    """Rows in single precision, all of them, from the same start."""
    faiss = import_module("faiss")
    X, start = (np.ascontiguousarray(part, dtype=np.float32) for part in (problem.X, problem.start))
    k, d = start.shape

    def fit() -> Any:
        model = faiss.Kmeans(d, k, niter=problem.n_iter, max_points_per_centroid=len(X), seed=0)
        model.train(X, init_centroids=start)
        return X, model

    return fit


def faiss_inertia(found: Any) -> dict[str, Any]:
    """The inertia of the last centres, computed afterwards."""
    X, model = found
    distances, _ = model.index.search(X, 1)
    return {"inertia": np.array([distances.sum(dtype=np.float64)])}


OURS = fitter("bisector", "bisector")
SKLEARN = fitter("scikit-learn", "sklearn.cluster")
ELKAN = fitter("scikit-learn elkan", "sklearn.cluster", algorithm="elkan")
INTELEX = fitter("scikit-learn-intelex", "sklearnex.cluster")
SINGLE = Contestant("faiss", "faiss", prepare_faiss, faiss_inertia, environment=FAISS)


def our_seeding(problem: Problem) -> Callable[[], Any]:
    """Greedy k-means++, without what follows."""
    sources, seeding = import_module("bisector.engine.sources"), import_module("bisector.solvers.seeding")
    rows, k = sources.source(problem.X), len(problem.start)
    return lambda: seeding.seeds("k-means++", rows, k, np.random.RandomState(0))


def their_seeding(problem: Problem) -> Callable[[], Any]:
    """The same by scikit-learn."""
    draw, k = import_module("sklearn.cluster").kmeans_plusplus, len(problem.start)
    return lambda: draw(problem.X, k, random_state=0)[0]


def by_default(label: str, module: str) -> Contestant:
    """A fit with all defaults but the seed."""

    def prepare(problem: Problem) -> Callable[[], Any]:
        kind = import_module(module).KMeans
        return lambda: kind(len(problem.start), random_state=0).fit(problem.X)

    return Contestant(label, module, prepare, lambda model: {"n_features": np.array([model.n_features_in_])})


WORKLOADS = [
    Workload(
        name="few_features",
        about="A hundred clusters of a million rows with three features, fifty moves.",
        make=clusters,
        sizes={"n": 1_000_000, "d": 3, "k": 100, "n_iter": 50},
        quick={"n": 20_000, "n_iter": 5},
        ours=OURS,
        peers=[SKLEARN, ELKAN, INTELEX, SINGLE],
        goals={peer.label: AtLeast(3.0) for peer in (SKLEARN, ELKAN, INTELEX, SINGLE)},
        tolerance=2e-3,  # the last move of faiss is not followed by an assignment, and its rows are rounded
    ),
    Workload(
        name="many_clusters",
        about="256 clusters of 200,000 rows with 64 features, forty moves.",
        make=clusters,
        sizes={"n": 200_000, "d": 64, "k": 256, "n_iter": 40, "apart": 0.5},
        quick={"n": 10_000, "n_iter": 5},
        ours=OURS,
        peers=[SKLEARN, INTELEX],
        goals={"scikit-learn": AtLeast(1.5), "scikit-learn-intelex": AtLeast(1.3)},
        tolerance=1e-6,
    ),
    Workload(
        name="many_clusters_float32",
        about="The same in single precision.",
        make=clusters,
        sizes={"n": 200_000, "d": 64, "k": 256, "n_iter": 40, "apart": 0.5, "dtype": "f4"},
        quick={"n": 10_000, "n_iter": 5},
        ours=OURS,
        peers=[SKLEARN, INTELEX, SINGLE],
        goals={"faiss": AtLeast(1.5)},
        tolerance=2e-3,
    ),
    Workload(
        name="many_features",
        about="Ten clusters of 100,000 rows with 784 features, twenty moves.",
        make=clusters,
        sizes={"n": 100_000, "d": 784, "k": 10, "n_iter": 20, "apart": 0.05},
        quick={"n": 3_000, "n_iter": 5},
        ours=OURS,
        peers=[SKLEARN, ELKAN, INTELEX],
        goals={peer.label: AtLeast(2.0) for peer in (SKLEARN, ELKAN, INTELEX)},
        tolerance=1e-6,
    ),
    Workload(
        name="seeding",
        about="Greedy k-means++: 256 of 200,000 rows with 64 features; the same rows are drawn.",
        make=clusters,
        sizes={"n": 200_000, "d": 64, "k": 256, "n_iter": 1, "apart": 0.5},
        quick={"n": 5_000, "k": 32},
        ours=Contestant("bisector", "bisector", our_seeding, lambda rows: {"rows": rows}),
        peers=[Contestant("scikit-learn", "sklearn.cluster", their_seeding, lambda rows: {"rows": rows})],
        goals={"scikit-learn": AtLeast(3.0)},
        tolerance=1e-12,
    ),
    Workload(
        name="tiny",
        about="Eight clusters of 300 rows with two features, by default; ours are refined.",
        make=clusters,
        sizes={"n": 300, "d": 2, "k": 8, "n_iter": 1},
        ours=by_default("bisector", "bisector"),
        peers=[by_default("scikit-learn", "sklearn.cluster")],
        goals={"scikit-learn": AtLeast(1.0)},
    ),
]
