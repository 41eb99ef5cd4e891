"""Products of columns by compiled loops, against plain matrix products."""

import numba
import numpy as np
import pytest
from scipy.sparse import csr_array

from bisector.engine.blocks import ColumnsInPlace
from bisector.engine.column_products import joint_products, sparse_column_products
from bisector.engine.intrinsics import WIDTH, add_products

# As plain Python, a fused multiply-add is exact arithmetic on fractions: a few shapes are enough.
COMPILED = not numba.config.DISABLE_JIT


@pytest.mark.parametrize("columns", [1, 6, 7, 8, 15, 31, 120] if COMPILED else [1, 7])
@pytest.mark.parametrize("rows", [0, 1, 63, 64, 65, 1000] if COMPILED else [3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_joint_products_are_those_of_the_moved_and_weighted_columns(rows, columns, dtype):
    rng = np.random.default_rng(rows + columns)
    X = (3 + rng.standard_normal((rows, columns))).astype(dtype)
    Y, root = rng.standard_normal((rows, 2)), rng.random(rows)
    shift, scale = rng.standard_normal(columns + 2), 2.0 ** rng.integers(-3, 4, columns + 2)
    A = np.column_stack([(np.column_stack([X, Y]) - shift) * scale, np.ones(rows)]) * root[:, None]
    products = joint_products(X, Y, shift, scale, root)
    np.testing.assert_allclose(
        products, A.T @ A, rtol=1e-12, atol=1e-12 * (1 + np.abs(A).max(initial=0)) ** 2
    )
    np.testing.assert_array_equal(products, products.T)


def test_without_weights_the_bits_are_those_of_ones():
    rng = np.random.default_rng(1)
    X, Y, shift, scale = (
        rng.standard_normal((70, 3)),
        rng.standard_normal((70, 1)),
        np.arange(4.0),
        np.ones(4),
    )
    plain = joint_products(X, Y, shift, scale)
    np.testing.assert_array_equal(plain, joint_products(X, Y, shift, scale, np.ones(70)))
    assert plain[-1, -1] == 70


def test_nan_and_infinity_reach_the_sums():
    X = np.ones((70, 3))
    X[66, 1] = np.nan
    products = joint_products(X, np.empty((70, 0)), np.zeros(3), np.ones(3))
    assert np.isnan(products[1]).all()
    assert np.isfinite(products[2, 2])


@pytest.mark.parametrize("columns", [1, 7, 8, 17, 33] if COMPILED else [9])
@pytest.mark.parametrize(
    ("rows", "pieces"), [(0, [0, 9]), (5, [0, 14]), (1000, [0, 1009]), (1000, [0, 8, 520, 1200])]
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_columns_in_place_give_the_bits_of_rows(columns, rows, pieces, dtype):
    """Rows from the fourth one on, of columns that stand anywhere in memory, aligned or not."""
    rows = rows if COMPILED else min(rows, 13)
    rng, cuts = np.random.default_rng(columns), np.array(pieces)
    raw = np.zeros(columns * cuts[-1] * np.dtype(dtype).itemsize + 3, np.uint8)
    table = np.ndarray((columns, cuts[-1]), dtype, raw, offset=3)
    table[:] = rng.normal(size=table.shape)
    addresses = raw.ctypes.data + 3 + np.arange(columns) * table.strides[0] + cuts[:-1, None] * table.itemsize
    in_place = ColumnsInPlace(addresses, cuts, 3, rows, table.dtype)
    X = np.ascontiguousarray(table[:, 3 : 3 + rows].T)
    for n_targets in (0, 2):
        shift, Y = rng.normal(size=columns + n_targets), rng.normal(size=(rows, n_targets))
        scale = 2.0 ** rng.integers(-3, 4, columns + n_targets)
        for root in (None, rng.random(rows)):
            np.testing.assert_array_equal(
                joint_products(in_place, Y, shift, scale, root), joint_products(X, Y, shift, scale, root)
            )


def test_products_in_registers_have_the_bits_of_the_plain_function():
    from bisector.engine.loops import loop

    @loop
    def compiled(tile, sums):
        add_products(tile, 0, 8, sums)

    rng = np.random.default_rng(0)
    tile = rng.standard_normal((5, 2 * WIDTH))
    ours = rng.standard_normal((2 * WIDTH, 2 * WIDTH))
    plain = ours.copy()
    compiled(tile, ours)
    add_products(tile, 0, 8, plain)
    np.testing.assert_array_equal(ours, plain)


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_sparse_products_count_repeated_and_unsorted_entries(index):
    values, columns = np.array([1.0, 2.0, 3.0, 4.0]), np.array([2, 0, 2, 1], dtype=index)
    X = csr_array((values, columns, np.array([0, 3, 3, 4], dtype=index)), shape=(3, 4))
    np.testing.assert_array_equal(sparse_column_products(X), X.toarray().T @ X.toarray())
