"""Synthetic clusters: how little scatter can a clustering have."""

import numpy as np

from bisector.engine.validation import Seed, check_count, check_finite, check_seed

from .dataset import Floats, Rows
from .registry import makes

PLANE = ("x1", "x2")
CLUSTER = ("cluster",)
_TRIES = 1000


@makes(
    "Many round clusters apart from each other",
    shows="Lloyd's algorithm leaves two centres in one cluster and one in two.",
    source="after Fränti and Sieranoja (2018), A-sets",
)
def spread_clusters(n: int = 7500, *, clusters: int = 50, deviation: float = 0.25, seed: Seed = 0) -> Rows:
    """Simulate equal normal clusters whose centres are drawn at random, but not close to each other.

    The more clusters there are, the less likely a start has one centre in each; from others, Lloyd's algorithm
    rarely finds back.

    Parameters
    ----------
    n : int, default=7500
        Number of rows.
    clusters : int, default=50
        Number of clusters.
    deviation : float, default=0.25
        Standard deviation of a cluster in every direction, where centres are at least 1 apart.
    seed : int or numpy.random.Generator, default=0

    Returns
    -------
    Dataset
        With the number of each row's cluster as y.

    Examples
    --------
    >>> from bisector import datasets
    >>> X, y = datasets.spread_clusters(3000, clusters=20)
    >>> X.shape, len(set(y.tolist()))
    ((3000, 2), 20)
    """
    n, clusters, rng = check_count("n", n), check_count("clusters", clusters), check_seed(seed)
    deviation = check_finite("deviation", deviation, at_least=0)
    return _around(_apart(clusters, rng), n, deviation, rng)


@makes(
    "Round clusters on a grid",
    shows="Even where clusters lie evenly, starts by chance miss some.",
    source="after Zhang and others (1997), Birch1",
)
def grid_clusters(n: int = 10_000, *, side: int = 7, deviation: float = 0.2, seed: Seed = 0) -> Rows:
    """Simulate equal normal clusters around the points of a square grid of width one.

    Parameters
    ----------
    n : int, default=10_000
        Number of rows.
    side : int, default=7
        Number of clusters along each side.
    deviation : float, default=0.2
        Standard deviation of a cluster in every direction.
    seed : int or numpy.random.Generator, default=0

    Returns
    -------
    Dataset
        With the number of each row's cluster as y.

    Examples
    --------
    >>> from bisector import datasets
    >>> X, y = datasets.grid_clusters(900, side=3)
    >>> len(set(y.tolist()))
    9
    """
    n, side, rng = check_count("n", n), check_count("side", side), check_seed(seed)
    deviation = check_finite("deviation", deviation, at_least=0)
    places = np.array([divmod(c, side) for c in range(side * side)], dtype=np.float64)
    return _around(places, n, deviation, rng)


@makes(
    "Clusters that run into each other",
    shows="The best clusters differ from those the rows were drawn from.",
    source="after Fränti and Sieranoja (2018), S-sets",
)
def overlapping_clusters(
    n: int = 5000, *, clusters: int = 15, deviation: float = 0.5, seed: Seed = 0
) -> Rows:
    """Simulate unequal clusters, longer in one direction than in the other, that overlap.

    Parameters
    ----------
    n : int, default=5000
        Number of rows.
    clusters : int, default=15
        Number of clusters.
    deviation : float, default=0.5
        Largest standard deviation of a cluster, where centres are at least 1 apart.
    seed : int or numpy.random.Generator, default=0

    Returns
    -------
    Dataset
        With the number of each row's cluster as y.

    Examples
    --------
    >>> from bisector import datasets
    >>> X, y = datasets.overlapping_clusters()
    >>> X.shape, len(set(y.tolist()))
    ((5000, 2), 15)
    """
    n, clusters, rng = check_count("n", n), check_count("clusters", clusters), check_seed(seed)
    deviation = check_finite("deviation", deviation, at_least=0)
    places = _apart(clusters, rng)
    lengths = deviation * rng.uniform(0.3, 1.0, size=(clusters, 2))
    angles = np.pi * rng.random(clusters)
    turned = np.array([[np.cos(angles), -np.sin(angles)], [np.sin(angles), np.cos(angles)]])
    y = np.sort(rng.integers(clusters, size=n))
    y[:clusters] = np.arange(clusters) if n >= clusters else y[:clusters]
    offsets = lengths[y] * rng.standard_normal((n, 2))
    X = places[y] + np.einsum("abi,ib->ia", turned[:, :, y], offsets)
    return Rows(np.ascontiguousarray(X), y, PLANE, CLUSTER)


def _around(places: Floats, n: int, deviation: float, rng: np.random.Generator) -> Rows:
    """Draw as many rows around each place."""
    y = np.arange(n) * len(places) // n
    return Rows(places[y] + deviation * rng.standard_normal((n, 2)), y.astype(np.int64), PLANE, CLUSTER)


def _apart(count: int, rng: np.random.Generator) -> Floats:
    """Draw points of a square that are at least one apart; where none fits any more, the square grows."""
    side = 1.3 * np.sqrt(count)
    found: list[Floats] = []
    tries = 0
    while len(found) < count:
        place = side * rng.random(2)
        if all(np.hypot(*(place - other)) >= 1.0 for other in found):
            found.append(place)
        tries += 1
        side *= 1.0 if tries % _TRIES else 1.05
    return np.array(found)
