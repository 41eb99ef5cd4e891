"""Feature maps: their dot products are the kernel's values."""

import math

import numpy as np
import pytest
import scipy.sparse

import bisector
from bisector.kernels import (
    Centred,
    Gaussian,
    Intersection,
    Laplacian,
    Linear,
    Normalised,
    Polynomial,
    Spectrum,
)

FINITE = [
    Linear(),
    Polynomial(1),
    Polynomial(2),
    Polynomial(2, bias=1.0),
    Polynomial(5, bias=0.3, scale=2.0),
    Polynomial(1, bias=2.0),
    Linear() + Polynomial(3),
    Polynomial(2) * (Linear() + 2 * Polynomial(1, bias=1.0)),
    Linear() ** 4,
    Polynomial(2, bias=1.0) ** 2,
    3 * Linear(),
    0 * Linear(),
    Normalised(Polynomial(2, bias=1.0)),
    Normalised(Linear()),
    Centred(Polynomial(2), [[1.0, 2.0, 3.0], [0.0, -1.0, 1.0]]),
]


def products(features, others=None):
    others = features if others is None else others
    made = features @ others.T
    return made.toarray() if scipy.sparse.issparse(made) else made


@pytest.mark.parametrize("kernel", FINITE, ids=repr)
@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_matrix], ids=["dense", "sparse"])
def test_dot_products_of_features_are_the_kernel(rng, kernel, form):
    X = rng.normal(size=(8, 3))
    X[0] = 0.0
    X[rng.uniform(size=X.shape) < 0.3] = 0.0
    gram = kernel.gram(X)
    features = kernel.feature_map(form(X))
    np.testing.assert_allclose(products(features), gram, rtol=1e-12, atol=1e-12 * np.abs(gram).max(initial=1))
    assert scipy.sparse.issparse(features) == (
        form is scipy.sparse.csr_matrix and "Centred" not in repr(kernel)
    )


@pytest.mark.parametrize("kernel", FINITE[:10], ids=repr)
def test_features_of_rows_do_not_depend_on_other_rows(rng, kernel):
    X, Z = rng.normal(size=(5, 3)), rng.normal(size=(4, 3))
    gram = kernel.gram(Z, X)
    found = products(kernel.feature_map(Z), kernel.feature_map(X))
    np.testing.assert_allclose(found, gram, rtol=1e-12, atol=1e-12 * np.abs(gram).max())


@pytest.mark.parametrize(("d", "degree"), [(1, 4), (3, 2), (4, 3), (2, 7)])
def test_how_many_features_there_are(rng, d, degree):
    X = rng.normal(size=(2, d))
    assert Polynomial(degree).feature_map(X).shape[1] == math.comb(d + degree - 1, degree)
    assert Polynomial(degree, bias=1.0).feature_map(X).shape[1] == math.comb(d + degree, degree)


def test_the_order_of_features():
    cubes = Polynomial(3).feature_map([[2.0, 3.0]])[0]
    np.testing.assert_allclose(cubes, [8, 27, np.sqrt(3) * 12, np.sqrt(3) * 18], rtol=1e-15)


def test_a_feature_map_is_a_copy(rng):
    X = rng.normal(size=(4, 2))
    assert not np.shares_memory(Linear().feature_map(X), X)


@pytest.mark.parametrize(
    "kernel", [Spectrum(2), Spectrum(1) + Spectrum(2), Spectrum(1) * Spectrum(2)], ids=repr
)
def test_strings(kernel):
    words = ["banana", "ananas", "", "nab"]
    features = kernel.feature_map(words)
    assert scipy.sparse.issparse(features)
    np.testing.assert_array_equal(products(features), kernel.gram(words))


def test_columns_of_other_rows():
    fitted = ["banana", "ananas"]
    features = Spectrum(2).feature_map(["bass", "an"], like=fitted)
    np.testing.assert_array_equal(features.toarray(), [[0, 1, 1, 0], [1, 0, 0, 0]])  # an, as, ba, na
    np.testing.assert_array_equal(
        products(features, Spectrum(2).feature_map(fitted)), Spectrum(2).gram(["bass", "an"], fitted)
    )


def test_centred_strings():
    kernel = Centred(Spectrum(1), ["ab", "bc"])
    words = ["abba", "cd", "dd"]
    np.testing.assert_allclose(
        products(kernel.feature_map(words)), kernel.gram(words), rtol=1e-12, atol=1e-12
    )


def test_sets():
    groups = [{"a", "b"}, {"b"}, set()]
    np.testing.assert_array_equal(Intersection().feature_map(groups).toarray(), [[1, 1], [0, 1], [0, 0]])


def test_elements_that_cannot_be_sorted():
    groups = [{1, "a", None}, {None, 2.5}]
    np.testing.assert_array_equal(products(Intersection().feature_map(groups)), [[3, 1], [1, 2]])


@pytest.mark.parametrize(
    "kernel", [Gaussian(), Laplacian(), Linear() + Gaussian(), Gaussian() ** 2], ids=repr
)
def test_infinite_feature_spaces(kernel):
    with pytest.raises(ValueError, match="has no finite feature map"):
        kernel.feature_map([[1.0]])


def test_too_many_features_are_refused_before_they_are_made():
    with (
        bisector.config(memory="1 GiB"),
        pytest.raises(MemoryError, match="The feature map of degree 10 on 100 columns"),
    ):
        Polynomial(10, bias=1.0).feature_map(np.ones((10, 100)))
