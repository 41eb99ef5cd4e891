"""Lines of Gram matrices: made when asked for, forgotten when there is no room, in either precision."""

import numba
import numpy as np
import pytest
import scipy.sparse

from bisector.kernels import Gaussian, Laplacian, Linear, Polynomial
from bisector.solvers.gaussian_lines import gaussian_lines
from bisector.solvers.kernel_lines import MadeLines

# As plain Python the same loops take a thousand times as long: fewer rows do.
COMPILED = not numba.config.DISABLE_JIT

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


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("n_features", [13, 40])
def test_noted_lines_are_made_again_with_the_same_bits(kernel, single, n_features):
    """In the same company, after which others are forgotten in the same order."""
    n = 300 if COMPILED else 60
    X = np.random.default_rng(0).normal(size=(n, n_features))
    lines = MadeLines(kernel, kernel.prepare(X), single=single, capacity=50)
    rng = np.random.default_rng(1)
    for size in (1, 2, 30, 1, 40, 7, 50, 3, 20):
        lines.held(rng.choice(n, size=size, replace=False))
    again = MadeLines(kernel, kernel.prepare(X), single=single, capacity=80)
    again.go_on({name: np.array(value) for name, value in lines.as_notes().items()})
    for size in (10, 1, 45, 30, 2):
        rows = rng.choice(n, size=size, replace=False)
        (held, slots), (other, places) = lines.held(rows), again.held(rows)
        np.testing.assert_array_equal(other[places], held[slots])
        np.testing.assert_array_equal(again.square(rows), lines.square(rows))


def test_what_loops_make_has_the_same_bits_in_any_company():
    """So that such lines need not be made again when a fit goes on."""
    n = 1500 if COMPILED else 200
    X, kernel = np.random.default_rng(0).normal(size=(n, 32)), Gaussian(bandwidth=4.0)
    fast = gaussian_lines(kernel, kernel.prepare(X))
    assert fast.by_loops
    whole = np.empty((n, n), np.float32)
    fast.write_lines(np.arange(n), whole, np.arange(n), None)
    for size in (1, 2, 3, 5, 130):
        rows, part = np.random.default_rng(size).permutation(n)[:size], np.empty((size, n), np.float32)
        fast.write_lines(rows, part, np.arange(size), None)
        np.testing.assert_array_equal(part, whole[rows])


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
