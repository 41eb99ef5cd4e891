"""Sums, products, powers and multiples of kernels."""

import numpy as np
import pytest

from bisector.kernels import (
    Centred,
    Custom,
    Gaussian,
    Laplacian,
    Linear,
    Normalised,
    Polynomial,
    Power,
    Precomputed,
    Product,
    Scaled,
    Sum,
)

A, B, C = Linear(), Gaussian(2.0), Polynomial(2, bias=1.0)


@pytest.fixture
def X(rng):
    return rng.normal(size=(9, 4))


def test_operators_make_kernels():
    assert Sum(A, B) == A + B
    assert Product(A, B) == A * B
    assert Power(A, 3) == A**3
    assert 2 * A == A * 2 == Scaled(A, 2.0) == np.float64(2) * A == A * np.int64(2)
    assert A + B != B + A
    assert len({A + B, Sum(A, B), A * B, A**2, 2 * A}) == 4


def test_gram_matrices_follow(X):
    a, b, c = (kernel.gram(X) for kernel in (A, B, C))
    # The same numbers are added and multiplied: no rounding in between.
    np.testing.assert_array_equal((A + B).gram(X), a + b)
    np.testing.assert_array_equal((A * B).gram(X), a * b)
    np.testing.assert_array_equal((2 * B).gram(X), 2 * b)
    np.testing.assert_array_equal((A**2).gram(X), a * a)
    np.testing.assert_allclose((A**5).gram(X), a**5, rtol=1e-14)
    np.testing.assert_allclose(((A + B) * C + 3 * A).gram(X), (a + b) * c + 3 * a, rtol=1e-14)
    np.testing.assert_array_equal((0 * A).gram(X), np.zeros((9, 9)))


def test_laws(X):
    for left, right in [
        ((A + B) + C, A + (B + C)),
        (A * (B + C), A * B + A * C),
        (A**2, A * A),
        (C, (Linear() + Scaled(one_everywhere(), 1.0)) ** 2),
        (Gaussian(1.0) * Gaussian(1.0), Gaussian(np.sqrt(0.5))),
        (Laplacian(1.0) ** 3, Laplacian(1 / 3)),
    ]:
        np.testing.assert_allclose(left.gram(X), right.gram(X), rtol=1e-12)


def one_everywhere():
    """The kernel that is 1 everywhere, as a user would write it."""
    return Custom(lambda X, Y: np.ones((len(X), len(Y))))


@pytest.mark.parametrize(
    "written",
    [
        "Linear() + Gaussian(bandwidth=2.0)",
        "Linear() + Gaussian() + Polynomial()",
        "Linear() + (Gaussian() + Polynomial())",
        "(Linear() + Gaussian()) * Polynomial(degree=3)",
        "Linear() * Gaussian() + Polynomial()",
        "Linear() * (Gaussian() * Polynomial())",
        "Linear() * Gaussian() * Polynomial()",
        "2.0 * Linear() * Gaussian()",
        "2.0 * (Linear() * Gaussian())",
        "2.0 * (3.0 * Linear())",
        "(2.0 * Linear()) ** 3",
        "(Linear() ** 2) ** 3",
        "2.0 * Linear() ** 3",
        "Normalised(kernel=Linear() + Gaussian()) * Linear()",
    ],
)
def test_expressions_print_as_they_are_written(written):
    made = eval(written)
    assert repr(made) == written
    assert eval(repr(made)) == made


def test_parameters_can_be_searched():
    kernel = A + 2 * B
    assert kernel.get_params()["right__kernel__bandwidth"] == 2.0
    changed = kernel.set_params(right__kernel__bandwidth=5.0, right__scale=3.0)
    assert changed == A + 3 * Gaussian(5.0)
    assert kernel == A + 2 * B


def test_names_stand_for_kernels():
    assert Sum("linear", "gaussian") == Linear() + Gaussian.from_gamma(1.0).set_params(bandwidth="auto")


def test_what_is_open_is_learned_inside(X):
    learned = (Gaussian("median") + Linear() * Laplacian("median") ** 2).learned(X)
    assert learned.left == Gaussian("median").learned(X)
    assert learned.right.right.kernel == Laplacian("median").learned(X)
    assert (3 * Gaussian("scale")).learned(X) == 3 * Gaussian("scale").learned(X)


def test_claims_follow():
    unknown = Custom(lambda X, Y: X @ Y.T)
    for kernel in (unknown + A, A * unknown, unknown**2, 2 * unknown, Normalised(unknown), Centred(unknown)):
        assert not kernel.psd
        assert not kernel.symmetric
    assert not Precomputed().psd


@pytest.mark.parametrize("other", [1, 2.5, "linear", None, np.ones(3)], ids=repr)
def test_only_kernels_are_added(other):
    with pytest.raises(TypeError, match="Only kernels can be added"):
        A + other
    with pytest.raises(TypeError, match="Only kernels can be added"):
        other + A


@pytest.mark.parametrize("other", ["linear", None, np.ones(3), True, 1j], ids=repr)
def test_only_kernels_and_numbers_are_factors(other):
    with pytest.raises(TypeError, match="multiplied by a kernel or a number"):
        A * other
    with pytest.raises(TypeError, match="multiplied by a kernel or a number"):
        other * A


def test_factors_are_not_negative():
    with pytest.raises(ValueError, match="scale must be a number at least 0, not -1"):
        -1 * A
    with pytest.raises(ValueError, match="scale must be finite"):
        np.inf * A


@pytest.mark.parametrize("exponent", [0, -2])
def test_powers_are_positive(exponent):
    with pytest.raises(ValueError, match="exponent must be a whole number at least 1"):
        A**exponent


@pytest.mark.parametrize("exponent", [0.5, 2.0, "2", True])
def test_powers_are_whole(exponent):
    with pytest.raises(TypeError, match="exponent must be a whole number"):
        A**exponent
