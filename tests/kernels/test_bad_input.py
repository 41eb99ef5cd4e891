"""Parameters and rows that make no sense are refused, in one sentence."""

import numpy as np
import pytest

import bisector
from bisector.distances import Chebyshev
from bisector.kernels import Gaussian, Laplacian, Linear, Polynomial


@pytest.mark.parametrize("degree", [0, -1])
def test_degrees_are_positive(degree):
    with pytest.raises(ValueError, match=f"degree must be a whole number at least 1, not {degree}"):
        Polynomial(degree)


@pytest.mark.parametrize("degree", [2.5, 2.0, "2", None, True])
def test_degrees_are_whole(degree):
    with pytest.raises(TypeError, match="degree must be a whole number at least 1"):
        Polynomial(degree)


def test_other_parameters_of_polynomials():
    with pytest.raises(ValueError, match="bias must be a number at least 0, not -1"):
        Polynomial(2, bias=-1)
    with pytest.raises(ValueError, match="bias must be finite"):
        Polynomial(2, bias=np.inf)
    with pytest.raises(ValueError, match="scale must be a number above 0, not 0"):
        Polynomial(2, scale=0)
    with pytest.raises(
        ValueError, match="scale must be a number above 0 or one of 'auto', 'scale', not 'big'"
    ):
        Polynomial(2, scale="big")


@pytest.mark.parametrize("kernel", [Gaussian, Laplacian])
def test_bandwidths(kernel):
    for bandwidth in (0, -1.0):
        with pytest.raises(ValueError, match="bandwidth must be a number above 0"):
            kernel(bandwidth)
    with pytest.raises(ValueError, match="bandwidth must be finite"):
        kernel(np.inf)
    with pytest.raises(ValueError, match="bandwidth must be a number above 0"):
        kernel(np.nan)
    with pytest.raises(TypeError, match="bandwidth must be a number above 0"):
        kernel(None)
    with pytest.raises(ValueError, match="one of 'median', 'auto', 'scale', not 'mean'"):
        kernel("mean")
    for bandwidth in (1e-200, 1e200):
        with pytest.raises(ValueError, match="whose square is no float64 number"):
            kernel(bandwidth)
    with pytest.raises(ValueError, match="gamma must be a number above 0"):
        kernel.from_gamma(0)
    with pytest.raises(TypeError, match="metric must be a name, a distance or a function"):
        kernel(metric=7)
    with pytest.raises(TypeError, match=r"Linear\(\) is a kernel: KernelDistance makes a distance"):
        kernel(metric=Linear())
    assert kernel(metric="l1").metric.names[0] == "manhattan"


@pytest.mark.parametrize(
    "kernel", [Gaussian("median"), Laplacian("auto"), Polynomial(scale="scale")], ids=repr
)
def test_what_is_not_known_yet(kernel):
    with pytest.raises(ValueError, match=r"does not know its (bandwidth|scale) yet: use learned\(X\)"):
        kernel([1.0], [2.0])


def test_nothing_to_learn_from():
    for rows in (np.ones((5, 2)), np.ones((1, 2))):
        with pytest.raises(ValueError, match="cannot be learned from rows that are all equal"):
            Gaussian("median").learned(rows)
    with pytest.raises(ValueError, match="X has no rows"):
        Gaussian("scale").learned(np.ones((0, 2)))


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2), Gaussian(), Linear() + Gaussian()], ids=repr)
def test_rows_that_do_not_fit(kernel):
    with pytest.raises(ValueError, match="X has 2 columns, but the rows it is compared with have 3"):
        kernel.gram(np.ones((4, 2)), np.ones((4, 3)))
    with pytest.raises(ValueError, match="x has 2 co"):
        kernel([1.0, 2.0], [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="X holds NaN in row 1, column 0"):
        kernel.gram([[1.0], [np.nan]])
    with pytest.raises(ValueError, match="Y holds inf in row 0, column 1"):
        kernel.gram([[1.0, 2.0]], [[1.0, np.inf]])
    with pytest.raises(ValueError, match="must have rows and columns"):
        kernel.gram(np.ones(3))
    with pytest.raises(ValueError, match="must be one row"):
        kernel(np.ones((2, 3)), np.ones((1, 3)))


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2)], ids=repr)
@pytest.mark.parametrize(
    "rows", [["abc", "de"], np.array(["abc", "de"]), [["abc"], ["de"]], [{1}, {2}]], ids=repr
)
def test_strings_and_sets_for_kernels_of_numbers(kernel, rows):
    with pytest.raises(
        ValueError, match=r"compares numbers: for strings take Spectrum\(\), for sets Intersection"
    ):
        kernel.gram(rows)


def test_strings_for_radial_kernels():
    with pytest.raises(ValueError, match="compares numbers"):
        Gaussian().gram(["abc", "de"])


def test_places_that_do_not_fit():
    X = np.ones((3, 2))
    sealed, strided = np.empty((3, 3)), np.empty((3, 6))[:, ::2]
    sealed.setflags(write=False)
    for out in (
        np.empty((2, 3)),
        np.empty((3, 3), int),
        np.empty((3, 3), order="F"),
        strided,
        sealed,
        [[0.0]],
    ):
        with pytest.raises((TypeError, ValueError), match=r"out must be an aligned, writable, C-contiguous"):
            Linear().gram(X, out=out)


def test_too_many_rows_for_the_memory():
    with (
        bisector.config(memory="1 MB"),
        pytest.raises(MemoryError, match=r"1,000 × 1,000 kernel values.*Use fewer rows"),
    ):
        Gaussian().gram(np.ones((1000, 2)))


def test_a_metric_of_any_law_makes_a_kernel():
    assert Gaussian(metric=Chebyshev())([0.0, 0.0], [2.0, 1.0]) == pytest.approx(np.exp(-2), rel=1e-14)


@pytest.mark.parametrize("n_jobs", [0, "two"])
def test_numbers_of_threads(n_jobs):
    with pytest.raises((ValueError, TypeError), match="n_jobs"):
        Linear().gram(np.ones((600, 2)), n_jobs=n_jobs)
