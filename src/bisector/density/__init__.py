"""Where rows are dense: histograms, neighbours, bumps, mixtures; and what is new to them."""

from bisector.density.gaussian_mixture import GaussianMixture
from bisector.density.kernel_density import KernelDensity
from bisector.density.kernel_density_cv import KernelDensityCV

__all__ = ["GaussianMixture", "KernelDensity", "KernelDensityCV"]
