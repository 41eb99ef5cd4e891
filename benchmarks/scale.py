"""Dask collections: the same fits from the same chunks, on the threads of this machine."""

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from benchmarks.workload import AtLeast, Contestant, Workload


class Problem(NamedTuple):
    """Rows and targets in chunks; centres to start from, and how often to move them."""

    X: Any
    y: Any
    start: np.ndarray
    n_iter: int


def chunks(rng: np.random.Generator, n: int, d: int, k: int, n_iter: int, n_chunks: int) -> Problem:
    """Overlapping normal clusters, in chunks that are in memory; targets with unit noise."""
    da = import_module("dask.array")
    X = 2.0 * rng.standard_normal((k, d))[rng.integers(k, size=n)] + rng.standard_normal((n, d))
    y = X @ rng.standard_normal(d) + 3.0 + rng.standard_normal(n)
    size = -(-n // n_chunks)
    start = X[rng.choice(n, k, replace=False)].copy()
    return Problem(da.from_array(X, (size, d)), da.from_array(y, size), start, n_iter)


def our_clusters(problem: Problem) -> Callable[[], Any]:
    """So many moves of the centres."""
    kind = import_module("bisector").KMeans
    return lambda: kind(len(problem.start), init=problem.start, max_iter=problem.n_iter, tol=0.0).fit(
        problem.X
    )


def their_clusters(problem: Problem) -> Callable[[], Any]:
    """The same; it ends early only when no centre moves."""
    kind = import_module("dask_ml.cluster").KMeans
    return lambda: kind(len(problem.start), init=problem.start, max_iter=problem.n_iter, tol=0.0).fit(
        problem.X
    )


def centres(model: Any) -> dict[str, Any]:
    """The last centres."""
    return {"centres": np.asarray(model.cluster_centers_)}


def our_plane(problem: Problem) -> Callable[[], Any]:
    """Least squares, exact."""
    kind = import_module("bisector").LinearRegression
    return lambda: kind().fit(problem.X, problem.y)


def their_plane(problem: Problem) -> Callable[[], Any]:
    """Least squares by Newton's method, which is exact too; the default method is not."""
    kind = import_module("dask_ml.linear_model").LinearRegression
    return lambda: kind(solver="newton").fit(problem.X, problem.y)


def plane(model: Any) -> dict[str, Any]:
    """The coefficients."""
    return {"coef": np.ravel(model.coef_)}


WORKLOADS = [
    Workload(
        name="k_means_chunks",
        about="Twenty clusters of two million rows with ten features, in sixteen chunks, twenty moves.",
        make=chunks,
        sizes={"n": 2_000_000, "d": 10, "k": 20, "n_iter": 20, "n_chunks": 16},
        quick={"n": 40_000, "n_iter": 4},
        ours=Contestant("bisector", "bisector", our_clusters, centres),
        peers=[Contestant("dask-ml", "dask_ml.cluster", their_clusters, centres)],
        goals={"dask-ml": AtLeast(2.0)},
        tolerance=1e-6,  # dask-ml compares rows and centres by products, whose rounding may decide near a boundary
        memory=False,
    ),
    Workload(
        name="linear_regression_chunks",
        about="Least squares on two million rows with ten features, in sixteen chunks.",
        make=chunks,
        sizes={"n": 2_000_000, "d": 10, "k": 20, "n_iter": 20, "n_chunks": 16},
        quick={"n": 40_000},
        ours=Contestant("bisector", "bisector", our_plane, plane),
        peers=[Contestant("dask-ml", "dask_ml.linear_model", their_plane, plane)],
        goals={"dask-ml": AtLeast(2.0)},
        tolerance=1e-6,  # dask-ml stops at a tolerance of its own
        memory=False,
    ),
]
