"""Dot products in feature space, their algebra, and the distance they make; and bumps, functions of a distance."""

from bisector.kernels.adjusted import Centred, Normalised
from bisector.kernels.algebra import Power, Product, Scaled, Sum
from bisector.kernels.bumps import (
    Bump,
    CosineBump,
    EpanechnikovBump,
    ExponentialBump,
    GaussianBump,
    TriangularBump,
    WindowBump,
    resolve_bump,
)
from bisector.kernels.counted import Intersection, Spectrum
from bisector.kernels.custom import Custom, Precomputed
from bisector.kernels.gram_matrices import PsdVerdict, centre, is_psd, normalise
from bisector.kernels.kernel import Kernel
from bisector.kernels.kernel_distance import KernelDistance
from bisector.kernels.names import resolve
from bisector.kernels.polynomial import Linear, Polynomial
from bisector.kernels.radial import Gaussian, Laplacian
from bisector.kernels.sigmoid import Sigmoid

__all__ = [
    "Bump",
    "Centred",
    "CosineBump",
    "Custom",
    "EpanechnikovBump",
    "ExponentialBump",
    "Gaussian",
    "GaussianBump",
    "Intersection",
    "Kernel",
    "KernelDistance",
    "Laplacian",
    "Linear",
    "Normalised",
    "Polynomial",
    "Power",
    "Precomputed",
    "Product",
    "PsdVerdict",
    "Scaled",
    "Sigmoid",
    "Spectrum",
    "Sum",
    "TriangularBump",
    "WindowBump",
    "centre",
    "is_psd",
    "normalise",
    "resolve",
    "resolve_bump",
]
