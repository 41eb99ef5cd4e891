"""What holds for every kernel: its laws, and that all ways to compute it agree."""

import pickle

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone

from bisector.kernels import Kernel, is_psd
from bisector.kernels.tiles import all_products

# A kernel value is a sum of a few products: rounding moves it by a few units in the last place of the largest.
ROUNDING = 1e-13


def test_the_gram_matrix_holds_the_value_of_every_pair(kernel, rows):
    gram = kernel.gram(rows)
    pairs = [[kernel(x, y) for y in rows] for x in rows]
    np.testing.assert_allclose(gram, pairs, atol=ROUNDING * np.abs(gram).max(initial=1))


def test_it_is_symmetric(kernel, rows):
    gram = kernel.gram(rows)
    np.testing.assert_array_equal(gram, gram.T)
    assert kernel(rows[0], rows[3]) == kernel(rows[3], rows[0])


def test_it_is_psd_as_it_claims(kernel, rows):
    assert kernel.psd
    assert is_psd(kernel.gram(rows))


def test_diag_is_the_diagonal(kernel, rows):
    gram = kernel.gram(rows)
    np.testing.assert_allclose(kernel.diag(rows), np.diag(gram), atol=ROUNDING * np.abs(gram).max(initial=1))


def test_other_rows(kernel, rows):
    gram = kernel.gram(rows)
    np.testing.assert_allclose(
        kernel.gram(rows[3:], rows[:4]), gram[3:, :4], atol=ROUNDING * np.abs(gram).max(initial=1)
    )


def test_what_is_filled_does_not_depend_on_the_tile(kernel, rows):
    """Bit for bit, for every pair: this is what makes equal rows equally near."""
    prepared = kernel.prepare(rows)
    products = kernel.between(prepared, prepared)
    n = len(prepared)
    whole = np.empty((n, n))
    products.fill(range(n), range(n), whole)
    pieces = np.full((n + 2, n + 3), np.nan)
    for i in range(0, n, 2):
        for j in range(0, n, 3):
            outer, inner = range(i, min(i + 2, n)), range(j, min(j + 3, n))
            products.fill(outer, inner, pieces, i, j)
    np.testing.assert_array_equal(pieces[:n, :n], whole)
    assert np.isnan(pieces[n:]).all()
    assert np.isnan(pieces[:, n:]).all()


def test_tiles_and_threads_do_not_matter(kernel, rows):
    prepared = kernel.prepare(rows)
    n = len(prepared)
    products = kernel.between(prepared, prepared)
    products.tile_shape = (3, 4)

    class InSmallTiles:
        symmetric = False

        def between(self, outer, inner):
            return products

    whole = kernel.gram(rows)
    small = all_products(InSmallTiles(), prepared, n_jobs=2)
    np.testing.assert_allclose(small, whole, atol=ROUNDING * np.abs(whole).max(initial=1))
    np.testing.assert_array_equal(kernel.gram(rows, n_jobs=1), kernel.gram(rows, n_jobs=3))
    assert small.shape == (n, n)


def test_chosen_rows(kernel, rows):
    prepared = kernel.prepare(rows)
    numbers = np.array([4, 0, 0, 3])
    chosen = all_products(kernel, prepared.take(numbers))
    gram = kernel.gram(rows)
    np.testing.assert_allclose(
        chosen, gram[np.ix_(numbers, numbers)], atol=ROUNDING * np.abs(gram).max(initial=1)
    )


def test_joined_rows(kernel, rows):
    first = kernel.prepare(rows[:3])
    whole = first.joined([kernel.prepare(rows[3:5], like=first), kernel.prepare(rows[5:], like=first)])
    assert len(whole) == len(rows)
    gram = kernel.gram(rows)
    np.testing.assert_allclose(all_products(kernel, whole), gram, atol=ROUNDING * np.abs(gram).max(initial=1))


def test_values_are_written_where_they_are_wanted(kernel, rows):
    n = len(rows)
    for dtype in (np.float32, np.float64):
        out = np.full((n, n), np.nan, dtype)
        assert kernel.gram(rows, out=out) is out
        np.testing.assert_allclose(out, kernel.gram(rows), rtol=1e-6, atol=1e-6 * np.abs(out).max(initial=1))


def test_it_is_a_value(kernel):
    assert kernel == pickle.loads(pickle.dumps(kernel))
    assert hash(kernel) == hash(pickle.loads(pickle.dumps(kernel)))
    assert clone(kernel) is kernel
    assert kernel.set_params(**kernel.get_params(deep=False)) == kernel
    assert kernel != Kernel
    assert "object at" not in repr(kernel)


def test_learning_changes_nothing_where_nothing_is_open(kernel, rows):
    assert kernel.learned(rows) == kernel


def test_no_rows_and_one_row(kernel, rows):
    assert kernel.gram(rows[:1]).shape == (1, 1)
    assert kernel.gram(rows[:0], rows).shape == (0, len(rows))
    assert kernel.diag(rows[:0]).shape == (0,)


# Rows of numbers in other forms


@pytest.fixture
def table(rng):
    X = rng.normal(size=(15, 3))
    X[rng.uniform(size=X.shape) < 0.5] = 0.0
    return X


def test_single_precision(numeric_kernel, table):
    narrow = table.astype(np.float32)
    gram = numeric_kernel.gram(narrow)
    assert gram.dtype == np.float32
    # Sums are kept in double precision, so that only the result is rounded.
    expected = numeric_kernel.gram(narrow.astype(np.float64))
    np.testing.assert_allclose(gram, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max(initial=1e-30))
    assert numeric_kernel.gram(narrow, table).dtype == np.float64


@pytest.mark.parametrize("form", [scipy.sparse.csr_matrix, scipy.sparse.csr_array, scipy.sparse.coo_array])
def test_sparse_rows(numeric_kernel, table, form):
    gram = numeric_kernel.gram(table)
    tolerance = ROUNDING * np.abs(gram).max(initial=1)
    sparse = form(table)
    np.testing.assert_allclose(numeric_kernel.gram(sparse), gram, atol=tolerance)
    np.testing.assert_allclose(numeric_kernel.gram(sparse, table), gram, atol=tolerance)
    np.testing.assert_allclose(numeric_kernel.gram(table, sparse), gram, atol=tolerance)
    np.testing.assert_allclose(numeric_kernel.diag(sparse), np.diag(gram), atol=tolerance)
    x, y = (scipy.sparse.csr_matrix(table[i : i + 1]) for i in (0, 3))
    assert numeric_kernel(x, y) == pytest.approx(gram[0, 3], abs=tolerance)


def test_other_forms(numeric_kernel, table):
    gram = numeric_kernel.gram(table)
    for form in (np.asfortranarray(table), table.tolist(), np.repeat(table, 2, axis=1)[:, ::2]):
        np.testing.assert_array_equal(numeric_kernel.gram(form), gram)
