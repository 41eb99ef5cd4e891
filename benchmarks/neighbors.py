"""Nearest-neighbour models: the choice of k against one search, and a user's metric against a callable's price."""

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from benchmarks.workload import AtLeast, Contestant, Workload

K_MAX = 200


class Labelled(NamedTuple):
    """Rows with their classes, and queries."""

    X: Any
    y: Any
    Q: Any


def blobs(rng: np.random.Generator, n: int, d: int, q: int = 0) -> Labelled:
    """Five overlapping normal clusters, one a class."""
    y = rng.integers(5, size=n + q)
    X = rng.uniform(-1, 1, size=(5, d))[y] + rng.standard_normal((n + q, d))
    return Labelled(X[:n], y[:n], X[n:])


def choose_k(rows: Labelled) -> Callable[[], Any]:
    """Leave-one-out errors of every k."""
    chooser = import_module("bisector").KNeighborsClassifierCV
    return lambda: chooser(K_MAX).fit(rows.X, rows.y).error_curve_


class Searched(NamedTuple):
    """The neighbours of every row, and the classes they vote with."""

    neighbours: Any
    y: Any


def search_once(rows: Labelled) -> Callable[[], Any]:
    """Find the 200 neighbours of every row, and no more."""
    index = import_module("bisector").NearestNeighbors
    return lambda: Searched(index(n_neighbors=K_MAX).fit(rows.X).kneighbors(return_distance=False), rows.y)


def errors_of_votes(searched: Searched) -> dict[str, Any]:
    """Let the neighbours vote, outside of what is timed."""
    y = np.asarray(searched.y)
    shares = np.cumsum(y[searched.neighbours][:, :, None] == np.arange(5), axis=1)
    return {"errors": (shares.argmax(axis=2) != y[:, None]).mean(axis=0)}


def bray_curtis(x: Any, y: Any) -> Any:
    """Σ|x−y| / Σ|x+y|, as a user would write it."""
    apart, size = 0.0, 0.0
    for j in range(len(x)):
        apart += abs(x[j] - y[j])
        size += abs(x[j] + y[j])
    return apart / size


def our_neighbours(rows: Labelled) -> Callable[[], Any]:
    """Ten neighbours by a user's function, which is compiled when it is first met."""
    index = import_module("bisector").NearestNeighbors
    return lambda: index(n_neighbors=10, metric=bray_curtis).fit(rows.X).kneighbors(rows.Q)


def their_neighbours(rows: Labelled) -> Callable[[], Any]:
    """scikit-learn with the same function, by comparing with every row, on all cores."""
    index = import_module("sklearn.neighbors").NearestNeighbors
    return lambda: (
        index(n_neighbors=10, metric=bray_curtis, algorithm="brute", n_jobs=-1).fit(rows.X).kneighbors(rows.Q)
    )


def distances(found: Any) -> dict[str, Any]:
    return {"distances": found[0]}


WORKLOADS = [
    Workload(
        name="choosing_k",
        about="Leave-one-out errors of k = 1 to 200, against one search for the 200 neighbours of every row.",
        make=blobs,
        sizes={"n": 20_000, "d": 10},
        quick={"n": 1_000},
        ours=Contestant("bisector", "bisector", choose_k, lambda errors: {"errors": errors}),
        peers=[Contestant("one search", "bisector", search_once, errors_of_votes)],
        goals={"one search": AtLeast(1 / 1.3)},
        tolerance=1e-12,
    ),
    Workload(
        name="users_metric",
        about="Ten neighbours by a user's Python function of two rows.",
        make=blobs,
        sizes={"n": 20_000, "d": 10, "q": 100},
        quick={"n": 500, "q": 10},
        ours=Contestant("bisector", "bisector", our_neighbours, distances),
        peers=[Contestant("scikit-learn", "sklearn", their_neighbours, distances)],
        goals={"scikit-learn": AtLeast(100.0)},
        tolerance=1e-10,
    ),
]
