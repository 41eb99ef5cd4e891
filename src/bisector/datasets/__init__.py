"""Datasets: toy data by name, each with a line on what it shows, and the tables that scikit-learn brings.

Nothing is read from a network, and the same seed gives the same rows. A function decorated with
`registry.makes` is a dataset: its name here is the name that `load` knows.
"""

from .boundaries import (
    disc_and_ring as disc_and_ring,
    gaussian_classes as gaussian_classes,
    margin_points as margin_points,
    overlapping_classes as overlapping_classes,
)
from .bundled import (
    breast_cancer as breast_cancer,
    diabetes as diabetes,
    digit_features as digit_features,
    iris as iris,
    linnerud as linnerud,
    wine as wine,
)
from .clusters import (
    grid_clusters as grid_clusters,
    overlapping_clusters as overlapping_clusters,
    spread_clusters as spread_clusters,
)
from .dataset import Dataset as Dataset
from .distance import (
    five_numbers as five_numbers,
    grid as grid,
    rescaled_pair as rescaled_pair,
    scatter_points as scatter_points,
    triangle as triangle,
    uniform_square as uniform_square,
)
from .registry import load as load, names as names, overview as overview
from .regression import (
    correlated_features as correlated_features,
    height_weight as height_weight,
    height_weight_outlier as height_weight_outlier,
    suppressor as suppressor,
)
from .similarity import (
    double_semicircle as double_semicircle,
    four_gaussians as four_gaussians,
    noisy_curve as noisy_curve,
    random_mixture as random_mixture,
    seven_points as seven_points,
)

__all__ = ["Dataset", "load", "names", "overview"]
__all__ += names()
