"""Lines of Gram matrices: made when asked for, forgotten when there is no room, in either precision."""

import numpy as np
import pytest
import scipy.sparse

from bisector.kernels import Gaussian, Laplacian, Linear, Polynomial
from bisector.solvers.gaussian_lines import gaussian_lines
from bisector.solvers.kernel_lines import MadeLines

KERNELS = [Gaussian(), Gaussian(bandwidth=3.0), Laplacian(), Linear(), Polynomial(degree=3, bias=1.0)]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("single", [False, True])
def test_lines_hold_the_gram_matrix_in_any_order_and_after_forgetting(kernel, single):
    X = np.random.default_rng(0).normal(size=(40, 13))
    K = kernel.gram(X)
    lines = MadeLines(kernel, kernel.prepare(X), single=single, capacity=7)
    close = {"rtol": 1e-5 if single else 1e-10, "atol": 3e-6 if single else 1e-10}
    rng = np.random.default_rng(1)
    for _ in range(10):
        rows = rng.choice(40, size=7, replace=False)
        held, slots = lines.held(rows)
        np.testing.assert_allclose(held[slots], K[rows], **close)
        np.testing.assert_allclose(lines.square(rows), K[np.ix_(rows, rows)], **close)
    totals, factors = np.zeros(40), rng.normal(size=40)
    lines.add(np.arange(40), factors, totals)  # more than are kept at once
    np.testing.assert_allclose(totals, K @ factors, **{**close, "atol": 1e-4 if single else 1e-9})


def test_gaussian_lines_are_within_their_error():
    X = np.random.default_rng(0).normal(size=(50, 20)) + 1000.0
    kernel = Gaussian(bandwidth=4.0)
    fast = gaussian_lines(kernel, kernel.prepare(X))
    apart = fast.among(np.arange(50)) - kernel.gram(X)
    assert np.sqrt(np.mean(apart**2)) < fast.error
    assert np.abs(apart).max() < 10 * fast.error


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_other_kernels_have_no_gaussian_lines(dtype):
    X = np.eye(5, dtype=dtype)
    assert gaussian_lines(Laplacian(), Laplacian().prepare(X)) is None
    assert gaussian_lines(Gaussian(metric="manhattan"), Gaussian(metric="manhattan").prepare(X)) is None
    assert gaussian_lines(Gaussian(), Gaussian().prepare(scipy.sparse.csr_matrix(X))) is None
    assert gaussian_lines(Gaussian(), Gaussian().prepare(X)) is not None
