"""Nearest neighbours: they vote, are averaged, or are what one looks for."""

from .k_neighbors import KNeighborsClassifier, KNeighborsRegressor
from .k_neighbors_cv import KNeighborsClassifierCV, KNeighborsRegressorCV
from .learning_curves import LearningCurve, learning_curve, refinement
from .nearest_exemplar import NearestExemplarClassifier
from .nearest_neighbors import NearestNeighbors
from .radius_neighbors import RadiusNeighborsClassifier, RadiusNeighborsRegressor

__all__ = [
    "KNeighborsClassifier",
    "KNeighborsClassifierCV",
    "KNeighborsRegressor",
    "KNeighborsRegressorCV",
    "LearningCurve",
    "NearestExemplarClassifier",
    "NearestNeighbors",
    "RadiusNeighborsClassifier",
    "RadiusNeighborsRegressor",
    "learning_curve",
    "refinement",
]
