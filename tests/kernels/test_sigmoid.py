"""The sigmoid kernel, which is none."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.metrics.pairwise import sigmoid_kernel

from bisector.kernels import is_psd, resolve
from bisector.kernels.sigmoid import Sigmoid

X = np.random.default_rng(0).normal(size=(20, 3))


def test_values_of_scikit_learn():
    np.testing.assert_allclose(
        Sigmoid(bias=0.5, scale=0.1).gram(X), sigmoid_kernel(X, gamma=0.1, coef0=0.5), rtol=1e-12
    )
    by_name = resolve("sigmoid").gram(X)  # gamma and coef0 by default, as there
    np.testing.assert_allclose(by_name, sigmoid_kernel(X), rtol=1e-12)
    sparse = scipy.sparse.csr_array(X)
    np.testing.assert_allclose(Sigmoid().gram(sparse), Sigmoid().gram(X), rtol=1e-12)


def test_diagonal():
    kernel = Sigmoid(bias=-1.0, scale=2.0)
    np.testing.assert_allclose(kernel.diag(X), np.diag(kernel.gram(X)), rtol=1e-12)
    assert kernel([1.0, 2.0], [0.5, 0.0]) == pytest.approx(np.tanh(2 * 0.5 - 1))


def test_it_is_not_psd_and_makes_no_distance():
    assert not Sigmoid().psd
    assert not is_psd(Sigmoid(bias=-1.0).gram(X))
    with pytest.raises(ValueError, match="no distance"):
        Sigmoid().apart(Sigmoid().prepare(X), Sigmoid().prepare(X))


def test_a_scale_must_be_known_before_rows_are_compared():
    with pytest.raises(ValueError, match="does not know its scale yet"):
        Sigmoid(scale="auto").between(Sigmoid().prepare(X), Sigmoid().prepare(X))
    assert Sigmoid(scale="auto").learned(X).scale == pytest.approx(1 / 3)
