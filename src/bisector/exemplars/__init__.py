"""Exemplars: points that stand for many rows, and how far the rows scatter about them (Flach, 8.2 and 8.4).

A **centroid** may lie anywhere: the `mean` has the least total squared distance to the rows, the
`coordinate_median` the least total Manhattan distance, the `geometric_median` the least total Euclidean distance. A
**medoid** is one of the rows, and exists for every distance. `farthest_first` chooses several rows that cover all
others. The **scatter** is the total squared distance to the mean; clusters divide it into scatter within and
between them.

Everywhere an integer weight counts as so many equal rows, and a weight of zero as no row.
"""

from bisector.exemplars.centroids import (
    certified_geometric_median,
    coordinate_median,
    geometric_median,
    mean,
)
from bisector.exemplars.covering import FarthestFirst, farthest_first
from bisector.exemplars.medoids import medoid
from bisector.exemplars.scattering import ScatterDecomposition, scatter, scatter_decomposition, scatter_matrix
from bisector.exemplars.total_distance import GeometricMedian

__all__ = [
    "FarthestFirst",
    "GeometricMedian",
    "ScatterDecomposition",
    "certified_geometric_median",
    "coordinate_median",
    "farthest_first",
    "geometric_median",
    "mean",
    "medoid",
    "scatter",
    "scatter_decomposition",
    "scatter_matrix",
]
