"""Gram matrices: Gaussian, polynomial, Laplacian and linear kernels; two sets of rows, float32, sparse rows."""

from collections.abc import Callable
from importlib import import_module
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse

from benchmarks.workload import AtLeast, Contestant, Workload

GAMMA = 0.01


class Rows(NamedTuple):
    X: Any
    Y: Any = None


def dense(
    rng: np.random.Generator,
    n: int,
    d: int,
    dtype: Literal["float32", "float64"] = "float64",
    others: bool = False,
) -> Rows:
    """Gaussian features off the origin; with `others`, two sets of rows."""
    X = rng.standard_normal((n, d), dtype=dtype) + rng.standard_normal(d, dtype=dtype)
    return Rows(X, rng.standard_normal((n, d), dtype=dtype) if others else None)


def sparse(rng: np.random.Generator, n: int, d: int, density: float) -> Rows:
    """About ``density * d`` features of a row are not zero."""
    per_row = round(density * d)
    columns = rng.integers(d, size=n * per_row)
    values = rng.standard_normal(n * per_row)
    X = scipy.sparse.csr_matrix((values, columns, np.arange(n + 1) * per_row), shape=(n, d))
    X.sum_duplicates()
    return Rows(X)


def sampled(gram: np.ndarray) -> dict[str, np.ndarray]:
    """Some values from all parts of the matrix."""
    return {"values": np.asarray(gram)[::97, ::89].copy()}


def ours(make: Callable[[Any], Any]) -> Contestant:
    """A kernel of ours, made from the module that has them."""

    def prepare(rows: Rows) -> Any:
        kernel = make(import_module("bisector.kernels"))
        return lambda: kernel.gram(rows.X, rows.Y)

    return Contestant("bisector", "bisector.kernels", prepare, sampled)


def theirs(name: str, **params: Any) -> Contestant:
    """A kernel function of scikit-learn."""

    def prepare(rows: Rows) -> Any:
        function = getattr(import_module("sklearn.metrics.pairwise"), name)
        return lambda: function(rows.X, rows.Y, **params)

    return Contestant("scikit-learn", "sklearn.metrics.pairwise", prepare, sampled)


GAUSSIAN = ours(lambda kernels: kernels.Gaussian.from_gamma(GAMMA))
RBF = theirs("rbf_kernel", gamma=GAMMA)
LINEAR = ours(lambda kernels: kernels.Linear())
SIZES = {"n": 10_000, "d": 50}
QUICK = {"n": 1_000}

WORKLOADS = [
    Workload(
        name="gaussian",
        about="The Gram matrix of the Gaussian kernel: a matrix product and an exponential for every pair.",
        make=dense,
        sizes=SIZES,
        quick=QUICK,
        ours=GAUSSIAN,
        peers=[RBF],
        goals={"scikit-learn": AtLeast(3)},
    ),
    Workload(
        name="gaussian_two_sets",
        about="The same between two sets of rows, where no half can be mirrored.",
        make=dense,
        sizes={**SIZES, "others": True},
        quick=QUICK,
        ours=GAUSSIAN,
        peers=[RBF],
    ),
    Workload(
        name="gaussian_float32",
        about="The same as gaussian, in single precision.",
        make=dense,
        sizes={**SIZES, "dtype": "float32"},
        quick=QUICK,
        ours=GAUSSIAN,
        peers=[RBF],
        tolerance=1e-5,  # the peer's squares cancel in single precision
    ),
    Workload(
        name="polynomial",
        about="The Gram matrix of the polynomial kernel of degree 3.",
        make=dense,
        sizes=SIZES,
        quick=QUICK,
        ours=ours(lambda kernels: kernels.Polynomial(3, bias=1.0, scale=GAMMA)),
        peers=[theirs("polynomial_kernel", degree=3, coef0=1.0, gamma=GAMMA)],
    ),
    Workload(
        name="laplacian",
        about="The Gram matrix of the Laplacian kernel: Manhattan distances are no matrix product.",
        make=dense,
        sizes=SIZES,
        quick=QUICK,
        ours=ours(lambda kernels: kernels.Laplacian.from_gamma(GAMMA)),
        peers=[theirs("laplacian_kernel", gamma=GAMMA)],
        goals={"scikit-learn": AtLeast(2)},
    ),
    Workload(
        name="linear",
        about="The Gram matrix of the linear kernel: the matrix product and nothing else.",
        make=dense,
        sizes=SIZES,
        quick=QUICK,
        ours=LINEAR,
        peers=[theirs("linear_kernel")],
    ),
    Workload(
        name="linear_sparse",
        about="The same on a sparse matrix in rows (CSR).",
        make=sparse,
        sizes={"n": 10_000, "d": 10_000, "density": 0.002},
        quick=QUICK,
        ours=LINEAR,
        peers=[theirs("linear_kernel", dense_output=True)],
    ),
]
