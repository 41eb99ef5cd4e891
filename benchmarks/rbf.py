"""Radial basis functions: bumps on all rows against tiles of NumPy, networks against a pipeline of scikit-learn."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from benchmarks.workload import AtLeast, Contestant, Workload

ALPHAS = np.geomspace(1e-6, 1e2, 20)


class Problem(NamedTuple):
    """Rows with targets, queries, and how wide the bumps are."""

    X: Any
    y: Any
    queries: Any
    width: float
    centers: Any


def problem(rng: np.random.Generator, n: int, d: int, n_queries: int, k: int) -> Problem:
    X, queries = rng.normal(size=(n, d)), rng.normal(size=(n_queries, d))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, -1] + 0.1 * rng.normal(size=n)
    return Problem(X, y, queries, n ** (-1 / (2 * d)), X[:k])


def averages(given: Problem) -> Callable[[], Any]:
    from bisector import RBFRegressor

    return lambda: RBFRegressor(given.width).fit(given.X, given.y).predict(given.queries)


def numpy_tiles(given: Problem) -> Callable[[], Any]:
    """Averages as a user would write them: a tile of queries at a time, distances by a matrix product."""

    def predict() -> Any:
        X, squares = given.X, np.square(given.X).sum(axis=1)
        found = np.empty(len(given.queries))
        for first in range(0, len(found), 256):
            part = given.queries[first : first + 256]
            tile = squares + np.square(part).sum(axis=1)[:, None] - 2 * part @ X.T
            heights = np.exp(-0.5 * np.maximum(tile, 0) / given.width**2)
            found[first : first + 256] = heights @ given.y / heights.sum(axis=1)
        return found

    return predict


def predictions(found: Any) -> dict[str, Any]:
    return {"predictions": found}


def network(given: Problem) -> Callable[[], Any]:
    from bisector import RBFNetworkRegressor

    model = RBFNetworkRegressor(len(given.centers), width=1.0, random_state=0)
    return lambda: model.fit(given.X, given.y).predict(given.queries)


def pipeline(given: Problem) -> Callable[[], Any]:
    from sklearn.cluster import KMeans
    from sklearn.linear_model import RidgeCV
    from sklearn.metrics.pairwise import rbf_kernel

    def fit() -> Any:
        centres = KMeans(len(given.centers), n_init=1, random_state=0).fit(given.X).cluster_centers_
        model = RidgeCV(ALPHAS).fit(rbf_kernel(given.X, centres, gamma=0.5), given.y)
        return model.predict(rbf_kernel(given.queries, centres, gamma=0.5))

    return fit


def distribution(found: Any) -> dict[str, Any]:
    """Both place their centres by chance: predictions are alike as a whole, and not one by one."""
    return {"mean": np.mean(found), "spread": np.std(found)}


def given_centres(given: Problem) -> Callable[[], Any]:
    from bisector import RBFNetworkRegressor

    model = RBFNetworkRegressor(centers=given.centers, width=1.0, alpha=1.0)
    return lambda: model.fit(given.X, given.y).predict(given.queries)


def given_centres_pipeline(given: Problem) -> Callable[[], Any]:
    from sklearn.linear_model import Ridge
    from sklearn.metrics.pairwise import rbf_kernel

    def fit() -> Any:
        model = Ridge(1.0).fit(rbf_kernel(given.X, given.centers, gamma=0.5), given.y)
        return model.predict(rbf_kernel(given.queries, given.centers, gamma=0.5))

    return fit


WORKLOADS = [
    Workload(
        name="bumps_on_all_rows",
        about="Averages by Gaussian bumps on all rows, of the width that the rule gives.",
        make=problem,
        sizes={"n": 50_000, "d": 5, "n_queries": 20_000, "k": 1},
        quick={"n": 5_000, "n_queries": 1_000},
        ours=Contestant("bisector", "bisector", averages, predictions),
        peers=[Contestant("NumPy tiles", "numpy", numpy_tiles, predictions)],
        goals={"NumPy tiles": AtLeast(5)},
        tolerance=1e-9,
    ),
    Workload(
        name="network",
        about="Centres by k-means, and weights with the penalty of the least generalised cross-validation error.",
        make=problem,
        sizes={"n": 200_000, "d": 5, "n_queries": 10_000, "k": 300},
        quick={"n": 10_000, "n_queries": 1_000, "k": 50},
        ours=Contestant("bisector", "bisector", network, distribution),
        peers=[Contestant("scikit-learn", "sklearn", pipeline, distribution)],
        goals={"scikit-learn": AtLeast(3)},
        tolerance=0.05,
        seconds=120.0,
    ),
    Workload(
        name="network_given_centres",
        about="Weights of bumps at given centres, with a given penalty.",
        make=problem,
        sizes={"n": 200_000, "d": 5, "n_queries": 10_000, "k": 300},
        quick={"n": 10_000, "n_queries": 1_000, "k": 50},
        ours=Contestant("bisector", "bisector", given_centres, predictions),
        peers=[Contestant("scikit-learn", "sklearn", given_centres_pipeline, predictions)],
        goals={"scikit-learn": AtLeast(3)},
        tolerance=1e-6,
    ),
]
