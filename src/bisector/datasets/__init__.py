"""Datasets: toy data by name, each with a line on what it shows, and the tables that scikit-learn brings.

Nothing is read from a network, and the same seed gives the same rows. A function decorated with
`registry.makes` is a dataset: its name here is the name that `load` knows.
"""

from .boundaries import disc_and_ring as disc_and_ring
from .boundaries import gaussian_classes as gaussian_classes
from .boundaries import margin_points as margin_points
from .boundaries import overlapping_classes as overlapping_classes
from .bundled import breast_cancer as breast_cancer
from .bundled import diabetes as diabetes
from .bundled import digit_features as digit_features
from .bundled import iris as iris
from .bundled import linnerud as linnerud
from .bundled import wine as wine
from .dataset import Dataset as Dataset
from .distance import five_numbers as five_numbers
from .distance import grid as grid
from .distance import rescaled_pair as rescaled_pair
from .distance import scatter_points as scatter_points
from .distance import triangle as triangle
from .distance import uniform_square as uniform_square
from .registry import load as load
from .registry import names as names
from .registry import overview as overview
from .regression import correlated_features as correlated_features
from .regression import height_weight as height_weight
from .regression import height_weight_outlier as height_weight_outlier
from .regression import suppressor as suppressor
from .similarity import double_semicircle as double_semicircle
from .similarity import four_gaussians as four_gaussians
from .similarity import noisy_curve as noisy_curve
from .similarity import random_mixture as random_mixture
from .similarity import seven_points as seven_points

__all__ = ["Dataset", "load", "names", "overview"]
__all__ += names()
