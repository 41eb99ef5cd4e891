"""Where rows are dense: histograms, neighbours, bumps, mixtures; and what is new to them."""

from bisector.density.cluster_arrival import ClusterArrivalDetector
from bisector.density.gaussian_mixture import GaussianMixture
from bisector.density.histogram import HistogramDensity
from bisector.density.kernel_density import KernelDensity
from bisector.density.kernel_density_cv import KernelDensityCV
from bisector.density.mixture_classifier import MixtureClassifier
from bisector.density.mixture_regressor import GaussianMixtureRegressor
from bisector.density.nearest_neighbor_density import NearestNeighborDensity
from bisector.density.novelty import NoveltyDetector

__all__ = [
    "ClusterArrivalDetector",
    "GaussianMixture",
    "GaussianMixtureRegressor",
    "HistogramDensity",
    "KernelDensity",
    "KernelDensityCV",
    "MixtureClassifier",
    "NearestNeighborDensity",
    "NoveltyDetector",
]
