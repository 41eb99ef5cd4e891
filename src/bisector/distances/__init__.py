"""How far apart two rows are: distances as values, and the axioms they keep."""

from bisector.distances.axioms import AxiomCheck, check_axioms
from bisector.distances.boards import Bing, Bishop, King, Knight, KRook, Pawn, Queen, Rook
from bisector.distances.compiled import Compiled
from bisector.distances.directions import Cosine, Haversine
from bisector.distances.distance import Distance
from bisector.distances.elliptical import Elliptical, Mahalanobis
from bisector.distances.minkowski import Chebyshev, Euclidean, Hamming, Manhattan, Minkowski
from bisector.distances.mixed import Column, Gower
from bisector.distances.names import resolve
from bisector.distances.precomputed import Precomputed
from bisector.distances.sets import Jaccard
from bisector.distances.strings import (
    LCS,
    OSA,
    DamerauLevenshtein,
    Indel,
    Jaro,
    JaroWinkler,
    Levenshtein,
    Postfix,
    Prefix,
    StringHamming,
)
from bisector.distances.unit_balls import unit_ball

__all__ = [
    "LCS",
    "OSA",
    "AxiomCheck",
    "Bing",
    "Bishop",
    "Chebyshev",
    "Column",
    "Compiled",
    "Cosine",
    "DamerauLevenshtein",
    "Distance",
    "Elliptical",
    "Euclidean",
    "Gower",
    "Hamming",
    "Haversine",
    "Indel",
    "Jaccard",
    "Jaro",
    "JaroWinkler",
    "KRook",
    "King",
    "Knight",
    "Levenshtein",
    "Mahalanobis",
    "Manhattan",
    "Minkowski",
    "Pawn",
    "Postfix",
    "Precomputed",
    "Prefix",
    "Queen",
    "Rook",
    "StringHamming",
    "check_axioms",
    "resolve",
    "unit_ball",
]
