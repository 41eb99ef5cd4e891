"""Nearest neighbours: they vote, are averaged, or are what one looks for."""

from .condensing import CondensedNearestNeighbor
from .editing import EditedNearestNeighbor
from .influence import InfluenceCondenser
from .k_neighbors import KNeighborsClassifier, KNeighborsRegressor
from .k_neighbors_cv import KNeighborsClassifierCV, KNeighborsRegressorCV
from .learning_curves import LearningCurve, learning_curve, refinement
from .merging import PrototypeMerger
from .nearest_exemplar import NearestExemplarClassifier
from .nearest_neighbors import NearestNeighbors
from .radius_neighbors import RadiusNeighborsClassifier, RadiusNeighborsRegressor
from .voronoi import VoronoiCondenser

__all__ = [
    "CondensedNearestNeighbor",
    "EditedNearestNeighbor",
    "InfluenceCondenser",
    "KNeighborsClassifier",
    "KNeighborsClassifierCV",
    "KNeighborsRegressor",
    "KNeighborsRegressorCV",
    "LearningCurve",
    "NearestExemplarClassifier",
    "NearestNeighbors",
    "PrototypeMerger",
    "RadiusNeighborsClassifier",
    "RadiusNeighborsRegressor",
    "VoronoiCondenser",
    "learning_curve",
    "refinement",
]
