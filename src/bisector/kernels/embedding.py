"""Which distances fit into a feature space, and so make radial kernels psd (Schoenberg).

exp(−t·d^α) is psd for every t > 0 exactly when rows can be placed in a Euclidean space, of any dimension, so
that the squares of the distances there are d^α. If that holds for one α it holds for every smaller one. The
p-norm allows α up to p for p ≤ 2, and none for p > 2.
"""

from functools import singledispatch

from bisector.distances import Distance, Elliptical, Hamming, Mahalanobis
from bisector.distances.minkowski import Euclidean, PowerDistance


@singledispatch
def largest_exponent(metric: Distance) -> float:
    """Return the largest α for which exp(−d^α) is known to be psd; 0 if none is."""
    return 0.0


@largest_exponent.register
def _(metric: PowerDistance) -> float:
    return 0.0 if metric.skip_missing or metric.order > 2 else metric.order


@largest_exponent.register
def _(metric: Euclidean) -> float:
    return 0.0 if metric.skip_missing else _of_root(metric.squared)


@largest_exponent.register(Elliptical)
@largest_exponent.register(Mahalanobis)
def _(metric: Elliptical | Mahalanobis) -> float:
    return _of_root(metric.squared)


@largest_exponent.register
def _(metric: Hamming) -> float:
    return 0.0 if metric.skip_missing else 1.0


def _of_root(squared: bool) -> float:
    return 1.0 if squared else 2.0
