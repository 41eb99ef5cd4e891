"""Least squares: tall, wide, float32, sparse and tiny data."""

from importlib import import_module
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse

from benchmarks.workload import AtLeast, Contestant, Workload


class Problem(NamedTuple):
    X: Any
    y: np.ndarray


def dense(
    rng: np.random.Generator, n: int, d: int, dtype: Literal["float32", "float64"] = "float64"
) -> Problem:
    """Gaussian features off the origin, Gaussian coefficients, unit noise."""
    X = rng.standard_normal((n, d), dtype=dtype)
    X += rng.standard_normal(d, dtype=dtype)
    return Problem(X, _targets(rng, X))


def sparse(rng: np.random.Generator, n: int, d: int, density: float) -> Problem:
    """The same, with about ``density * d`` features of a row not zero."""
    per_row = round(density * d)
    columns = rng.integers(d, size=n * per_row)
    values = rng.standard_normal(n * per_row)
    X = scipy.sparse.csr_matrix((values, columns, np.arange(n + 1) * per_row), shape=(n, d))
    X.sum_duplicates()
    return Problem(X, _targets(rng, X))


def _targets(rng: np.random.Generator, X: Any) -> np.ndarray:
    n, d = X.shape
    coefficients = rng.standard_normal(d).astype(X.dtype)
    noise = rng.standard_normal(n).astype(X.dtype)
    return X @ coefficients + X.dtype.type(3) + noise


def fitter(label: str, module: str) -> Contestant:
    """A contestant whose `module` has a ``LinearRegression``."""

    def prepare(problem: Problem) -> Any:
        estimator = import_module(module).LinearRegression
        return lambda: estimator().fit(problem.X, problem.y)

    return Contestant(label, module, prepare, lambda fit: {"coef": fit.coef_, "intercept": fit.intercept_})


OURS = fitter("bisector", "bisector")
SCIKIT_LEARN = fitter("scikit-learn", "sklearn.linear_model")
INTELEX = fitter("scikit-learn-intelex", "sklearnex.linear_model")

WORKLOADS = [
    Workload(
        name="tall",
        about="Least squares on many rows: one pass over the data is the floor.",
        make=dense,
        sizes={"n": 1_000_000, "d": 50},
        quick={"n": 50_000},
        ours=OURS,
        peers=[SCIKIT_LEARN, INTELEX],
        goals={"scikit-learn": AtLeast(20), "scikit-learn-intelex": AtLeast(1.0)},
    ),
    Workload(
        name="wide",
        about="Least squares on many columns: the matrix product and the factorisation count.",
        make=dense,
        sizes={"n": 20_000, "d": 1_000},
        quick={"n": 2_000, "d": 200},
        ours=OURS,
        peers=[SCIKIT_LEARN, INTELEX],
        goals={"scikit-learn": AtLeast(8), "scikit-learn-intelex": AtLeast(1.0)},
    ),
    Workload(
        name="tall_float32",
        about="The same as tall, in single precision.",
        make=dense,
        sizes={"n": 1_000_000, "d": 50, "dtype": "float32"},
        quick={"n": 50_000},
        ours=OURS,
        peers=[SCIKIT_LEARN, INTELEX],
        tolerance=2e-3,  # the peers sum in single precision: their intercepts are off by up to 6e-4
    ),
    Workload(
        name="sparse",
        about="Least squares on a sparse matrix in rows (CSR).",
        make=sparse,
        sizes={"n": 200_000, "d": 1_000, "density": 0.01},
        quick={"n": 10_000},
        ours=OURS,
        peers=[SCIKIT_LEARN],
        tolerance=1e-5,  # the peer iterates (LSQR) to a relative tolerance of 1e-6
    ),
    Workload(
        name="tiny",
        about="Least squares on next to nothing: what a call costs before it computes.",
        make=dense,
        sizes={"n": 100, "d": 5},
        ours=OURS,
        peers=[SCIKIT_LEARN, INTELEX],
        goals={"scikit-learn": AtLeast(1.0)},
    ),
]
