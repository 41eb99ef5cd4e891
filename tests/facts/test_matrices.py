"""Background 7.2: the matrices made from a data matrix, on its example."""

import numpy as np
import pytest

from bisector.engine.moments import moments
from bisector.engine.sources import source

X = np.array([[5.0, 0.0], [3.0, 5.0], [1.0, 7.0]])


@pytest.fixture
def found():
    return moments(source(X))


def test_column_means(found):
    np.testing.assert_allclose(found.mean_x, [3, 4], rtol=1e-15)


def test_cross_products(found):
    np.testing.assert_allclose(found.about_zero()[0], [[35, 22], [22, 74]], rtol=1e-14)


def test_scatter(found):
    np.testing.assert_allclose(found.about_mean()[0], [[8, -14], [-14, 26]], rtol=1e-14)


def test_covariance_is_the_scatter_over_n(found):
    np.testing.assert_allclose(found.about_mean()[0] / 3, [[8 / 3, -14 / 3], [-14 / 3, 26 / 3]], rtol=1e-14)


def test_covariance_subtracts_the_means_once_and_not_inside_the_sum(found):
    """The slip: the means' product is taken from the mean of the products, not from each of n terms in it."""
    mean = found.mean_x
    np.testing.assert_allclose(
        found.about_mean()[0] / 3, found.about_zero()[0] / 3 - np.outer(mean, mean), rtol=1e-14
    )


def test_gram_matrix_has_the_cross_products_of_rows():
    gram = moments(source(X.T)).about_zero()[0]
    np.testing.assert_allclose(gram, [[25, 15, 5], [15, 34, 38], [5, 38, 50]], rtol=1e-14)


def test_blocks_do_not_change_them():
    one_by_one = moments(source(X, block_rows=1))
    np.testing.assert_allclose(one_by_one.about_mean()[0], [[8, -14], [-14, 26]], rtol=1e-14)
    np.testing.assert_allclose(one_by_one.about_zero()[0], [[35, 22], [22, 74]], rtol=1e-14)
