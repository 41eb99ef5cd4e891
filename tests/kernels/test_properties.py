"""Kernels on awkward tables: equal rows, offsets, huge and tiny numbers, any form."""

import numpy as np
from hypothesis import assume, given, strategies as st
from tests.properties.strategies import TROUBLES, as_dense, awkward_tables, in_some_form

from bisector.kernels import Gaussian, KernelDistance, Laplacian, Linear, Normalised, Polynomial, is_psd

KERNELS = st.sampled_from(
    [
        Linear(),
        Polynomial(2, bias=1.0),
        Gaussian("median"),
        Laplacian("median"),
        Normalised(Linear()),
        Linear() + 2 * Gaussian("median"),
    ]
)


@st.composite
def tables(draw):
    table = draw(awkward_tables(min_rows=2, max_rows=12, max_features=4, troubles=TROUBLES))
    for _ in range(draw(st.integers(0, 2))):
        table[draw(st.integers(0, len(table) - 1))] = table[0]
    assume((table != table[0]).any())
    return table


@given(tables(), KERNELS, st.data())
def test_gram_matrices(table, kernel, data):
    kernel = kernel.learned(table)
    X = data.draw(in_some_form(table))
    gram = kernel.gram(X)
    size = np.abs(gram).max(initial=np.finfo(np.float64).tiny)
    np.testing.assert_array_equal(gram, gram.T)
    assert is_psd(gram)
    dense = as_dense(X)
    expected = [[kernel(x, y) for y in dense] for x in dense]
    np.testing.assert_allclose(gram, expected, atol=1e-11 * size)
    np.testing.assert_allclose(kernel.diag(X), np.diag(gram), atol=1e-11 * size)


@given(tables(), KERNELS)
def test_distances_in_feature_space(table, kernel):
    distance = KernelDistance(kernel.learned(table))
    D = distance.pairwise(table)
    assert np.isfinite(D).all()
    np.testing.assert_array_equal(D, D.T)
    equal = (table[:, None, :] == table[None, :, :]).all(axis=2)
    np.testing.assert_array_equal(D[equal], 0.0)
    assert (D[:, None, :] <= D[:, :, None] + D[None, :, :] + 1e-7 * D.max()).all()


@given(tables())
def test_single_precision(table):
    with np.errstate(over="ignore"):
        narrow = table.astype(np.float32)
    assume(np.isfinite(narrow).all())
    for kernel in (Linear(), Gaussian(1.0), Laplacian(2.0)):
        gram = kernel.gram(narrow.astype(np.float64))
        assume(np.abs(gram).max() < 1e37)
        found = kernel.gram(narrow)
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, gram, rtol=1e-6, atol=1e-6 * np.abs(gram).max() + 1e-45)
