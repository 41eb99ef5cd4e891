"""How far apart two rows are: distances as values, and the axioms they keep."""

from bisector.distances.directions import Cosine, Haversine
from bisector.distances.distance import Distance
from bisector.distances.elliptical import Elliptical, Mahalanobis
from bisector.distances.minkowski import Chebyshev, Euclidean, Hamming, Manhattan, Minkowski
from bisector.distances.names import resolve
from bisector.distances.precomputed import Precomputed

__all__ = [
    "Chebyshev",
    "Cosine",
    "Distance",
    "Elliptical",
    "Euclidean",
    "Hamming",
    "Haversine",
    "Mahalanobis",
    "Manhattan",
    "Minkowski",
    "Precomputed",
    "resolve",
]
