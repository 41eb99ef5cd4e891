"""Ridge regression: all penalties by leave-one-out; tall, wide and sparse data; kernels; errors in x and y."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import scipy.linalg

from benchmarks.linear_regression import Problem, dense, sparse
from benchmarks.workload import AtLeast, Contestant, Workload

ALPHAS = np.geomspace(1e-2, 1e4, 100)


def fitter(
    label: str, module: str, name: str, answer: Callable[[Any], dict[str, Any]], **parameters: Any
) -> Contestant:
    """A contestant that fits the estimator of this name in `module`."""

    def prepare(problem: Problem) -> Callable[[], Any]:
        estimator = getattr(import_module(module), name)
        return lambda: estimator(**parameters).fit(problem.X, problem.y)

    return Contestant(label, module, prepare, answer)


def coefficients(fit: Any) -> dict[str, Any]:
    return {"coef": fit.coef_, "intercept": fit.intercept_}


def chosen(fit: Any) -> dict[str, Any]:
    return {"alpha": fit.alpha_, "score": fit.best_score_, "coef": fit.coef_}


def dual_coefficients(fit: Any) -> dict[str, Any]:
    return {"fitted": fit.predict(np.asarray(fit.X_fit_)[:100])}


def nearest_plane(problem: Problem) -> Callable[[], Any]:
    """Total least squares as a user would write it: the singular value decomposition of the centred table."""

    def fit() -> Any:
        table = np.column_stack([problem.X, problem.y])
        table -= table.mean(axis=0)
        normal = scipy.linalg.svd(table, full_matrices=False)[2][-1]
        return -normal[:-1] / normal[-1]

    return fit


WORKLOADS = [
    Workload(
        name="leave_one_out",
        about="Exact leave-one-out errors of 100 penalties.",
        make=dense,
        sizes={"n": 20_000, "d": 500},
        quick={"n": 1_000, "d": 50},
        ours=fitter("bisector", "bisector", "RidgeCV", chosen, alphas=ALPHAS),
        peers=[fitter("scikit-learn", "sklearn.linear_model", "RidgeCV", chosen, alphas=ALPHAS)],
        goals={"scikit-learn": AtLeast(50)},
        seconds=180.0,
    ),
    Workload(
        name="leave_one_out_few_rows",
        about="The same with fewer rows than features.",
        make=dense,
        sizes={"n": 1_000, "d": 5_000},
        quick={"n": 100, "d": 300},
        ours=fitter("bisector", "bisector", "RidgeCV", chosen, alphas=ALPHAS),
        peers=[fitter("scikit-learn", "sklearn.linear_model", "RidgeCV", chosen, alphas=ALPHAS)],
    ),
    Workload(
        name="tall",
        about="One penalty on many rows.",
        make=dense,
        sizes={"n": 1_000_000, "d": 50},
        quick={"n": 50_000},
        ours=fitter("bisector", "bisector", "Ridge", coefficients),
        peers=[
            fitter("scikit-learn", "sklearn.linear_model", "Ridge", coefficients),
            fitter("scikit-learn-intelex", "sklearnex.linear_model", "Ridge", coefficients),
        ],
        goals={"scikit-learn": AtLeast(1.0)},
    ),
    Workload(
        name="wide",
        about="One penalty with fewer rows than features.",
        make=dense,
        sizes={"n": 2_000, "d": 20_000},
        quick={"n": 200, "d": 1_000},
        ours=fitter("bisector", "bisector", "Ridge", coefficients),
        peers=[fitter("scikit-learn", "sklearn.linear_model", "Ridge", coefficients)],
    ),
    Workload(
        name="sparse_text",
        about="One penalty on sparse rows of very many features, both iterating to the same precision.",
        make=sparse,
        sizes={"n": 50_000, "d": 200_000, "density": 0.0005},
        quick={"n": 2_000, "d": 10_000, "density": 0.005},
        ours=fitter("bisector", "bisector", "Ridge", coefficients, alpha=10.0, tol=1e-8),
        peers=[
            fitter("scikit-learn", "sklearn.linear_model", "Ridge", coefficients, alpha=10.0, tol=1e-8),
        ],
        tolerance=1e-5,  # each stops by a rule of its own
    ),
    Workload(
        name="kernel",
        about="Kernel ridge regression with the Gaussian kernel.",
        make=dense,
        sizes={"n": 5_000, "d": 20},
        quick={"n": 500},
        ours=fitter("bisector", "bisector", "KernelRidge", dual_coefficients, kernel="rbf"),
        peers=[
            fitter("scikit-learn", "sklearn.kernel_ridge", "KernelRidge", dual_coefficients, kernel="rbf")
        ],
        tolerance=1e-7,
    ),
    Workload(
        name="total_least_squares",
        about="Total least squares, against the singular value decomposition of the whole table.",
        make=dense,
        sizes={"n": 500_000, "d": 20},
        quick={"n": 20_000},
        ours=fitter("bisector", "bisector", "TotalLeastSquares", lambda fit: {"coef": fit.coef_}),
        peers=[Contestant("SciPy", "scipy", nearest_plane, lambda coef: {"coef": coef})],
        goals={"SciPy": AtLeast(1.0)},
    ),
]
