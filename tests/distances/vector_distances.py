"""Every distance between rows of numbers, found by its class, with rows that it can compare.

A new class is covered as soon as it exists: by its defaults, or by the instances that `INSTANCES` gives for it.
"""

import math

import numpy as np

import bisector.distances  # noqa: F401  so that all classes exist
from bisector.distances import (
    Chebyshev,
    Cosine,
    Elliptical,
    Euclidean,
    Hamming,
    Haversine,
    Mahalanobis,
    Manhattan,
    Minkowski,
)
from bisector.distances.coordinate_distance import CoordinateDistance

ROUND_AND_LONG = np.array([[5 / 8, -3 / 8, 0.0], [-3 / 8, 5 / 8, 0.0], [0.0, 0.0, 2.0]])
FLAT = np.diag([1.0, 0.0, 4.0])  # differences in the second coordinate do not count
COVARIANCE = np.array([[2.0, 0.6, 0.0], [0.6, 1.0, -0.3], [0.0, -0.3, 0.5]])
UNEQUAL = np.array([0.5, 2.0, 1.0])
SOME_ZERO = np.array([1.0, 0.0, 2.0])

# For rows of three coordinates (two in the case of Haversine).
INSTANCES = {
    Euclidean: [
        Euclidean(),
        Euclidean(UNEQUAL),
        Euclidean(SOME_ZERO),
        Euclidean([3.0, 3.0, 3.0]),
        Euclidean(squared=True),
    ],
    Manhattan: [Manhattan(), Manhattan(UNEQUAL), Manhattan(SOME_ZERO)],
    Chebyshev: [Chebyshev(), Chebyshev(UNEQUAL)],
    Minkowski: [Minkowski(p) for p in (0.5, 0.8, 1, 1.5, 2, 3, 4, 8, math.inf)] + [Minkowski(1.5, UNEQUAL)],
    Hamming: [Hamming(), Hamming(normalised=False), Hamming(weights=UNEQUAL)],
    Elliptical: [
        Elliptical(ROUND_AND_LONG),
        Elliptical(FLAT),
        Elliptical(2 * np.eye(3)),
        Elliptical(ROUND_AND_LONG, squared=True),
    ],
    Mahalanobis: [Mahalanobis(), Mahalanobis(COVARIANCE), Mahalanobis(COVARIANCE, squared=True)],
    Cosine: [Cosine(), Cosine(angle=True)],
    Haversine: [Haversine(), Haversine(6371.0, degrees=True)],
}


def concrete(cls=CoordinateDistance):
    for subclass in cls.__subclasses__():
        if not subclass.__abstractmethods__ and subclass.__module__.startswith("bisector."):
            yield subclass
        yield from concrete(subclass)


EVERY = [distance for cls in concrete() for distance in INSTANCES.get(cls) or [cls()]]


def rows_for(distance, n, rng, size=1.0):
    """Rows that the distance can compare, around zero."""
    if isinstance(distance, Haversine):
        most = (90.0, 180.0) if distance.degrees else (math.pi / 2, math.pi)
        return rng.uniform(-1, 1, size=(n, 2)) * most
    return size * rng.normal(size=(n, 3))
