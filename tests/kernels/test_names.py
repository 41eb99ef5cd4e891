"""Names, scikit-learn's parameters, and kernels from outside."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.svm import SVC

from bisector.distances import Euclidean
from bisector.kernels import (
    Custom,
    Gaussian,
    GaussianBump,
    Intersection,
    Kernel,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
    Spectrum,
    resolve,
)
from bisector.kernels.dot_loops import warm


@pytest.fixture
def X(rng):
    return rng.normal(size=(9, 4))


@pytest.mark.parametrize("name", ["linear", "poly", "polynomial", "rbf", "laplacian"])
def test_names_and_defaults_of_scikit_learn(X, name):
    np.testing.assert_allclose(resolve(name).gram(X), pairwise_kernels(X, metric=name), rtol=1e-12)


@pytest.mark.parametrize("name", ["linear", "poly", "rbf", "laplacian"])
def test_parameters_of_scikit_learn(X, name):
    params = {"gamma": 0.3, "coef0": 0.5, "degree": 2}
    expected = pairwise_kernels(X, metric=name, filter_params=True, **params)
    np.testing.assert_allclose(resolve(name, **params).gram(X), expected, rtol=1e-12)


@pytest.mark.parametrize("gamma", ["scale", "auto", 0.2])
@pytest.mark.parametrize("name", ["linear", "poly", "rbf"])
def test_support_vectors_mean_the_same_kernel(X, name, gamma):
    y = X[:, 0] > 0
    named = SVC(kernel=name, gamma=gamma, degree=2, coef0=1.0).fit(X, y)
    ours = resolve(name, gamma=gamma, degree=2, coef0=1.0).learned(X)
    given = SVC(kernel=ours.gram).fit(X, y)
    # Two solvers' runs on matrices that differ in their last bits stop within the tolerance, 1e-3.
    np.testing.assert_allclose(given.decision_function(X), named.decision_function(X), atol=5e-3)


def test_names_of_ours():
    assert resolve("gaussian", bandwidth=3) == Gaussian(3.0)
    assert resolve("laplacian", bandwidth="median") == Laplacian("median")
    assert resolve("polynomial", degree=4, bias=2, scale=1) == Polynomial(4, bias=2.0)
    assert resolve("spectrum", n=4) == Spectrum(4)
    assert resolve("intersection") == Intersection()
    assert resolve("precomputed") == Precomputed()
    assert resolve("rbf", gamma="scale") == Gaussian("scale")


def test_a_kernel_is_itself():
    kernel = Linear() + Gaussian()
    assert resolve(kernel) is kernel
    assert (
        resolve(kernel, gamma="scale", degree=3, coef0=0.0) is kernel
    )  # as an estimator passes its parameters
    with pytest.raises(ValueError, match="bandwidth go with a name"):
        resolve(kernel, bandwidth=3)


def test_names_that_mean_nothing():
    with pytest.raises(
        ValueError, match=r"no kernel named 'rbff'\. Did you mean 'rbf'.*The names are gaussian, inter"
    ):
        resolve("rbff")
    with pytest.raises(TypeError, match=r"make one of it, Gaussian\(...\)"):
        resolve(Gaussian)
    for other in (Euclidean(), GaussianBump()):  # they can be called, but not as kernels are
        with pytest.raises(TypeError, match="which is no kernel"):
            resolve(other)
    with pytest.raises(TypeError, match="kernel must be a name or a kernel itself, not 3"):
        resolve(3)
    with pytest.raises(
        ValueError, match="Gaussian has no parameter widht: its parameters are bandwidth, metric"
    ):
        resolve("rbf", widht=3)
    with pytest.raises(ValueError, match="bandwidth is given twice"):
        resolve("rbf", gamma=3.0, bandwidth=3.0)
    with pytest.raises(ValueError, match="gamma must be a number above 0"):
        resolve("rbf", gamma=-1)
    with pytest.raises(ValueError, match="bandwidth must be a number above 0 or one of 'median'"):
        resolve("rbf", gamma="median_")


def test_classes_of_users_take_no_names():
    class Mine(Linear):
        names = ("linear",)

    assert type(resolve("linear")) is Linear
    assert issubclass(Mine, Kernel)


# Functions


def test_a_function_of_matrices(X):
    calls = []

    def dot(A, B):
        calls.append((A.shape, B.shape))
        return A @ B.T

    kernel = resolve(dot)
    assert kernel == Custom(dot)
    np.testing.assert_allclose(kernel.gram(X), X @ X.T)
    np.testing.assert_allclose(kernel.gram(X[:3], X), X[:3] @ X.T)
    assert calls == [((9, 4), (9, 4)), ((3, 4), (9, 4))]  # it sees all rows at once
    np.testing.assert_allclose(kernel.diag(X), (X**2).sum(axis=1))
    assert kernel([1.0, 2.0], [3.0, 4.0]) == 11.0


def test_a_function_of_rows(X):
    kernel = resolve(lambda x, y: float(np.minimum(x, y).sum()), rowwise=True)
    np.testing.assert_allclose(
        kernel.gram(X), pairwise_kernels(X, metric=lambda x, y: np.minimum(x, y).sum()), rtol=1e-14
    )
    lengths = Custom(lambda x, y: float(len(x) * len(y)), rowwise=True)
    np.testing.assert_array_equal(lengths.gram(["a", "abc"]), [[1, 3], [3, 9]])
    assert lengths("ab", "abc") == 6.0


def test_functions_are_named():
    def mine(X, Y):
        return X @ Y.T

    assert "mine" in repr(Custom(mine))
    assert Custom(mine) == Custom(mine)
    assert Custom(mine) != Custom(lambda X, Y: X @ Y.T)


def test_functions_that_return_nonsense(X):
    with pytest.raises(ValueError, match=r"for 9 and 9 rows it returned the shape \(9,\)"):
        Custom(lambda A, B: A[:, 0]).gram(X)
    with pytest.raises(ValueError, match="returned nan for rows 0 and 0"):
        Custom(lambda A, B: np.full((len(A), len(B)), np.nan)).gram(X)
    with pytest.raises(ValueError, match="must return numbers"):
        Custom(lambda x, y: "much", rowwise=True).gram(X)
    with pytest.raises(TypeError, match="function must be a function"):
        Custom(3)


def test_a_matrix_made_beforehand(rng):
    K = rng.normal(size=(4, 4))
    assert Precomputed().gram(K) is K
    np.testing.assert_array_equal(Precomputed().diag(K), np.diag(K))
    out = np.empty((4, 4))
    assert Precomputed().gram(K, out=out) is out
    np.testing.assert_array_equal(out, K)
    with pytest.raises(ValueError, match="has no rows Y"):
        Precomputed().gram(K, K)
    with pytest.raises(TypeError, match="knows its values and not the rows"):
        Precomputed()([1.0], [2.0])
    with pytest.raises(ValueError, match="X holds inf in row 0, column 1"):
        Precomputed().gram([[1.0, np.inf], [0.0, 1.0]])
    with pytest.raises(ValueError, match=r"out must have the shape \(4, 4\)"):
        Precomputed().gram(K, out=np.empty(3))


def test_importing_kernels_loads_nothing_heavy():
    heavy = "numba", "sklearn", "rapidfuzz", "pandas", "scipy.sparse"
    used = "import sys, bisector.kernels as k; k.Gaussian() + k.Linear()"
    code = f"{used}; print([m for m in {heavy} if m in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_loops_warm_up():
    warm()
