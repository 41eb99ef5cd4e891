"""Perceptrons: to zero errors on many rows, on sparse rows, on rows that nothing separates, and with a kernel."""

from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from benchmarks.workload import AtLeast, Contestant, Workload


class Problem(NamedTuple):
    X: Any
    y: np.ndarray


def dense(rng: np.random.Generator, n: int, d: int, margin: float, wrong: float = 0.0) -> Problem:
    """Gaussian rows, pushed away from a plane; a share of the labels may be wrong."""
    X = rng.standard_normal((n, d))
    w = rng.standard_normal(d)
    w /= np.linalg.norm(w)
    y = np.where(X @ w > 0, 1, -1)
    X += margin * y[:, None] * w
    return Problem(X, np.where(rng.random(n) < wrong, -y, y))


def sparse(rng: np.random.Generator, n: int, d: int, density: float) -> Problem:
    """Rows with few values, whose label is the sign of a sum of them; rows near the plane are left out."""
    per_row = round(density * d)
    X = scipy.sparse.csr_matrix(
        (rng.standard_normal(n * per_row), rng.integers(d, size=n * per_row), np.arange(n + 1) * per_row),
        shape=(n, d),
    )
    X.sum_duplicates()
    scores = X @ rng.standard_normal(d)
    kept = np.abs(scores) > np.std(scores) / 4
    return Problem(X[kept], np.where(scores[kept] > 0, 1, -1))


def ball(rng: np.random.Generator, n: int, d: int) -> Problem:
    """Gaussian rows, inside or outside of a ball that holds about half of them."""
    X = rng.standard_normal((n, d))
    return Problem(X, np.where((X**2).sum(axis=1) > d - 0.7, 1, -1))


def fitter(label: str, module: str, estimator: str = "Perceptron", **chosen: Any) -> Contestant:
    """A contestant whose `module` has the estimator; what counts is how many rows it gets right."""

    def prepare(problem: Problem) -> Any:
        kind = getattr(import_module(module), estimator)
        return lambda: (kind(**chosen).fit(problem.X, problem.y), problem)

    def answer(result: Any) -> dict[str, Any]:
        model, problem = result
        return {"right": model.score(problem.X, problem.y)}

    return Contestant(label, module, prepare, answer)


def untold(contestant: Contestant) -> Contestant:
    """The same, without an answer to compare: where no plane separates, weights are as good as luck has it."""
    return Contestant(contestant.label, contestant.module, contestant.prepare, lambda result: {})


OURS = fitter("bisector", "bisector")
# Its own rule of stopping leaves errors: with so many passes it makes none on these data.
TO_ZERO_ERRORS: dict[str, Any] = {"tol": None, "max_iter": 15}

WORKLOADS = [
    Workload(
        name="tall",
        about="A perceptron to zero errors on many rows.",
        make=dense,
        sizes={"n": 1_000_000, "d": 50, "margin": 0.1},
        quick={"n": 50_000, "margin": 0.3},
        ours=OURS,
        peers=[fitter("scikit-learn", "sklearn.linear_model", **TO_ZERO_ERRORS)],
        goals={"scikit-learn": AtLeast(5)},
    ),
    Workload(
        name="sparse",
        about="A perceptron to zero errors on a sparse matrix in rows (CSR).",
        make=sparse,
        sizes={"n": 200_000, "d": 2_000, "density": 0.01},
        quick={"n": 20_000, "d": 200, "density": 0.05},
        ours=OURS,
        peers=[fitter("scikit-learn", "sklearn.linear_model", tol=None, max_iter=60)],
    ),
    Workload(
        name="no_plane",
        about="A tenth of the labels is wrong, so that no plane separates the classes: the best weights seen.",
        make=dense,
        sizes={"n": 200_000, "d": 50, "margin": 0.1, "wrong": 0.1},
        quick={"n": 20_000},
        ours=untold(OURS),
        peers=[untold(fitter("scikit-learn", "sklearn.linear_model"))],
    ),
    Workload(
        name="kernel",
        about="A kernel perceptron without a matrix of all kernel values; the peer is a support vector machine.",
        make=ball,
        sizes={"n": 20_000, "d": 20},
        quick={"n": 2_000},
        ours=untold(fitter("bisector", "bisector", "KernelPerceptron")),
        peers=[untold(fitter("scikit-learn SVC", "sklearn.svm", "SVC", C=1e6))],
    ),
    Workload(
        name="tiny",
        about="A perceptron on next to nothing: what a call costs before it computes.",
        make=dense,
        sizes={"n": 100, "d": 5, "margin": 0.1},
        ours=untold(OURS),
        peers=[untold(fitter("scikit-learn", "sklearn.linear_model"))],
        goals={"scikit-learn": AtLeast(1.0)},
    ),
]
