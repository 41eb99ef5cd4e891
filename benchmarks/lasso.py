"""Lasso: paths and single penalties on wide and on sparse data; and on next to nothing."""

from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from benchmarks.workload import AtLeast, Contestant, Workload


class Problem(NamedTuple):
    """Data centred beforehand: peers' paths have no intercept. `tol` bounds the gap by tol·‖y‖²/n."""

    X: Any
    y: np.ndarray
    alphas: np.ndarray
    tol: float


def _problem(X: Any, rng: np.random.Generator, n_alphas: int, smallest: float, tol: float) -> Problem:
    """Targets made of a hundred features, with noise of a third of their size."""
    n, d = X.shape
    coefficients = np.zeros(d)
    coefficients[rng.choice(d, min(100, d), replace=False)] = rng.standard_normal(min(100, d))
    y = X @ coefficients
    y += rng.standard_normal(n) * y.std() / 3
    y -= y.mean()
    largest = np.abs(X.T @ y).max() / n
    alphas = (
        largest * np.geomspace(1.0, smallest, n_alphas) if n_alphas > 1 else np.array([largest * smallest])
    )
    return Problem(X, y, alphas, tol)


def dense(
    rng: np.random.Generator, n: int, d: int, n_alphas: int, smallest: float, tol: float = 1e-6
) -> Problem:
    """Gaussian features, in columns (as the peers want them)."""
    X = np.asfortranarray(rng.standard_normal((n, d)))
    X -= X.mean(axis=0)
    return _problem(X, rng, n_alphas, smallest, tol)


def sparse(
    rng: np.random.Generator, n: int, d: int, density: float, n_alphas: int, smallest: float
) -> Problem:
    """Gaussian values at random places, in rows (CSR)."""
    per_row = round(density * d)
    columns = rng.integers(d, size=n * per_row)
    X = scipy.sparse.csr_matrix(
        (rng.standard_normal(n * per_row), columns, np.arange(n + 1) * per_row), shape=(n, d)
    )
    X.sum_duplicates()
    return _problem(X, rng, n_alphas, smallest, 1e-6)


def objectives(problem: Problem, coefs: np.ndarray) -> dict[str, np.ndarray]:
    """The objective of every penalty, as shares of that of no coefficients: what a gap bounds."""
    residual = problem.y[:, None] - problem.X @ coefs
    values = np.square(residual).mean(axis=0) / 2 + problem.alphas * np.abs(coefs).sum(axis=0)
    return {"objective": values / (np.square(problem.y).mean() / 2)}


def path_of(label: str, module: str, compute: Any) -> Contestant:
    """A contestant that returns the coefficients of all penalties, (n_features, n_alphas)."""

    def prepare(problem: Problem) -> Any:
        return lambda: (problem, compute(problem))

    return Contestant(label, module, prepare, lambda result: objectives(*result))


def our_path(problem: Problem) -> Any:
    from bisector import lasso_path

    return lasso_path(problem.X, problem.y, alphas=problem.alphas, tol=problem.tol)[1]


def celer_path(problem: Problem) -> Any:
    X = problem.X.tocsc() if scipy.sparse.issparse(problem.X) else problem.X
    return import_module("celer").celer_path(
        X, problem.y, pb="lasso", alphas=problem.alphas, tol=problem.tol
    )[1]


def scikit_learn_path(problem: Problem) -> Any:
    from sklearn.linear_model import lasso_path

    X = problem.X.tocsc() if scipy.sparse.issparse(problem.X) else problem.X
    return lasso_path(X, problem.y, alphas=problem.alphas, tol=problem.tol, max_iter=10_000)[1]


def our_fit(problem: Problem) -> Any:
    from bisector import Lasso

    model = Lasso(alpha=problem.alphas[0], tol=problem.tol, fit_intercept=False)
    return model.fit(problem.X, problem.y).coef_[:, None]


def scikit_learn_fit(problem: Problem) -> Any:
    from sklearn.linear_model import Lasso

    model = Lasso(alpha=problem.alphas[0], tol=problem.tol, fit_intercept=False, max_iter=10_000)
    return model.fit(problem.X, problem.y).coef_[:, None]


def skglm_fit(problem: Problem) -> Any:
    # Its tolerance is on the optimality conditions: as loose as still gives objectives that agree.
    model = import_module("skglm").Lasso(alpha=problem.alphas[0], tol=1e-4, fit_intercept=False)
    return model.fit(problem.X, problem.y).coef_[:, None]


def celer_fit(problem: Problem) -> Any:
    model = import_module("celer").Lasso(alpha=problem.alphas[0], tol=problem.tol, fit_intercept=False)
    return model.fit(problem.X, problem.y).coef_[:, None]


# Two objectives may differ by what the gaps allow: tol, in units of half of ‖y‖²/n.
AGREE = 4e-6

WORKLOADS = [
    Workload(
        name="path_wide",
        about="A hundred penalties down to a hundredth of the largest, to a gap of 1e-6‖y‖²/n.",
        make=dense,
        sizes={"n": 1_000, "d": 20_000, "n_alphas": 100, "smallest": 0.01},
        quick={"n": 100, "d": 1_000, "n_alphas": 20},
        ours=path_of("bisector", "bisector", our_path),
        peers=[
            path_of("celer", "celer", celer_path),
            path_of("scikit-learn", "sklearn.linear_model", scikit_learn_path),
        ],
        goals={"celer": AtLeast(2.5), "scikit-learn": AtLeast(10)},
        tolerance=AGREE,
        seconds=240,
    ),
    Workload(
        name="one_penalty_wide",
        about="One penalty, a twentieth of the largest, from nothing.",
        make=dense,
        sizes={"n": 1_000, "d": 20_000, "n_alphas": 1, "smallest": 0.05},
        quick={"n": 100, "d": 1_000},
        ours=path_of("bisector", "bisector", our_fit),
        peers=[
            path_of("skglm", "skglm", skglm_fit),
            path_of("celer", "celer", celer_fit),
            path_of("scikit-learn", "sklearn.linear_model", scikit_learn_fit),
        ],
        goals={"skglm": AtLeast(1.2)},
        tolerance=AGREE,
    ),
    Workload(
        name="path_sparse",
        about="A hundred penalties down to a hundredth of the largest, on a sparse matrix in rows (CSR).",
        make=sparse,
        sizes={"n": 20_000, "d": 100_000, "density": 1e-3, "n_alphas": 100, "smallest": 0.01},
        quick={"n": 500, "d": 2_000, "density": 1e-2, "n_alphas": 20},
        ours=path_of("bisector", "bisector", our_path),
        peers=[
            path_of("celer", "celer", celer_path),
            path_of("scikit-learn", "sklearn.linear_model", scikit_learn_path),
        ],
        goals={"celer": AtLeast(1.5)},
        tolerance=AGREE,
    ),
    Workload(
        name="tiny",
        about="One penalty on next to nothing: what a call costs before it computes.",
        make=dense,
        sizes={"n": 100, "d": 20, "n_alphas": 1, "smallest": 0.1, "tol": 1e-4},
        ours=path_of("bisector", "bisector", our_fit),
        peers=[path_of("scikit-learn", "sklearn.linear_model", scikit_learn_fit)],
        goals={"scikit-learn": AtLeast(1.0)},
        tolerance=4e-4,
    ),
]
