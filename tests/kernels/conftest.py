"""Kernels and rows that the tests of kernels share."""

import numpy as np
import pytest

from bisector.distances import Elliptical, Euclidean, Hamming, Minkowski
from bisector.kernels import (
    Centred,
    Gaussian,
    Intersection,
    KernelDistance,
    Laplacian,
    Linear,
    Normalised,
    Polynomial,
    Spectrum,
)

NUMERIC = [
    Linear(),
    Polynomial(),
    Polynomial(3, bias=1.0, scale=0.25),
    Polynomial(1, bias=2.0),
    Gaussian(),
    Gaussian(2.0, metric=Euclidean([1.0, 2.0, 0.5])),
    Gaussian(1.5, metric=Elliptical(np.diag([1.0, 2.0, 0.0]))),
    Gaussian(metric=KernelDistance(Polynomial(2))),
    Laplacian(),
    Laplacian(3.0, metric=Euclidean()),
    Laplacian(2.0, metric=Minkowski(1.5)),
    Laplacian(metric=Hamming()),
    Linear() + Gaussian(),
    Polynomial(2) * Laplacian(2.0),
    Linear() ** 3,
    0.5 * Gaussian(3.0),
    0.0 * Linear(),
    (Linear() + 2 * Gaussian()) * Polynomial(2, bias=1.0),
    Normalised(Polynomial(2, bias=1.0)),
    Centred(Linear(), [[0.0, 1.0, 2.0], [2.0, 1.0, 0.5]]),
    Normalised(Centred(Gaussian(), [[0.0, 1.0, 2.0], [2.0, 1.0, 0.5]])),
]

STRINGS = [
    Spectrum(),
    Spectrum(1),
    Spectrum(2) + Spectrum(3),
    Spectrum(2) * Spectrum(1),
    Normalised(Spectrum(2)),
    Centred(Spectrum(2), ["banana", "ananas"]),
    Spectrum(1) ** 2,
]

SETS = [
    Intersection(),
    2 * Intersection(),
    Normalised(Intersection()),
    Intersection() ** 2,
    Centred(Intersection(), [{1, 2}, {2, 3, 4}]),
]

WORDS = ["banana", "ananas", "", "an", "bandana", "banana", "na na", "aaaa"]
GROUPS = [{1, 2, 3}, {2, 3}, set(), {5}, {2, 3}, {1, 5, 9, 11}]


def rows_for(kernel, rng, n=12):
    """Rows that a kernel compares, some of them equal; a few far from the others."""
    if kernel in STRINGS:
        return WORDS
    if kernel in SETS:
        return GROUPS
    X = rng.normal(size=(n, 3))
    X[1] = X[0]
    X[2] = 0.0
    X[-1] += 5.0
    return X


@pytest.fixture(params=NUMERIC + STRINGS + SETS, ids=repr)
def kernel(request):
    return request.param


@pytest.fixture(params=NUMERIC, ids=repr)
def numeric_kernel(request):
    return request.param


@pytest.fixture
def rng():
    return np.random.default_rng(11)


@pytest.fixture
def rows(kernel, rng):
    return rows_for(kernel, rng)
