"""Kernel support vector machines: fitting at two sizes, predicting, several classes, regression, tiny data."""

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from benchmarks.workload import AtLeast, Contestant, Workload

# 1 / (20 features · variance 1), which every contestant is given.
GAMMA = 0.05


class Problem(NamedTuple):
    X: np.ndarray
    y: np.ndarray


def curved_classes(rng: np.random.Generator, n: int, noise: float, d: int = 20) -> Problem:
    """Two classes that a curved surface divides, but for noise."""
    X = rng.standard_normal((n, d))
    score = X[:, 0] * X[:, 1] + X[:, 2 % d] ** 2 - 1 + X[:, 3 % d] + noise * rng.standard_normal(n)
    return Problem(X, (score > 0).astype(np.int64))


def many_classes(rng: np.random.Generator, n: int, n_classes: int) -> Problem:
    """Overlapping Gaussian classes."""
    y = rng.integers(n_classes, size=n)
    return Problem(2 * rng.standard_normal((n_classes, 20))[y] / 3 + rng.standard_normal((n, 20)), y)


def curved_targets(rng: np.random.Generator, n: int) -> Problem:
    """Targets on a curved surface, with noise."""
    X = rng.standard_normal((n, 20))
    return Problem(X, X[:, 0] * X[:, 1] + X[:, 2] + 0.3 * rng.standard_normal(n))


def machine(label: str, module: str, kind: str, answer: Callable[[Any], dict[str, Any]]) -> Contestant:
    """A contestant whose `module` has the estimator; its fit is timed."""

    def prepare(problem: Problem) -> Any:
        estimator = getattr(import_module(module), kind)
        return lambda: estimator(gamma=GAMMA).fit(problem.X, problem.y)

    return Contestant(label, module, prepare, answer)


def predictor(label: str, module: str) -> Contestant:
    """A contestant that is fitted beforehand; its scores of as many other rows are timed."""

    def prepare(problem: Problem) -> Any:
        model = import_module(module).SVC(gamma=GAMMA).fit(problem.X, problem.y)
        others = np.random.default_rng(1).standard_normal(problem.X.shape)
        return lambda: model.decision_function(others)

    return Contestant(label, module, prepare, lambda scores: {"scores": np.asarray(scores)[::7]})


def dual_objective(model: Any) -> dict[str, Any]:
    """Σ|β| − ½ βᵀKβ, from the support vectors alone; the kernel in blocks."""
    beta, rows = np.asarray(model.dual_coef_)[0], np.asarray(model.support_vectors_)
    squares = np.einsum("ij,ij->i", rows, rows)
    total = 0.0
    for start in range(0, len(rows), 1000):
        part = slice(start, start + 1000)
        distances = squares[part, None] + squares - 2 * rows[part] @ rows.T
        total += beta[part] @ (np.exp(-GAMMA * distances) @ beta)
    return {"objective": np.array([np.abs(beta).sum() - 0.5 * total])}


def predictions_of(model: Any) -> dict[str, Any]:
    """Scores of some rows of its own."""
    rows = np.random.default_rng(2).standard_normal((500, 20))
    return {"predictions": np.asarray(model.predict(rows), dtype=np.float64)}


MODULES = [
    ("bisector", "bisector.svm"),
    ("scikit-learn", "sklearn.svm"),
    ("scikit-learn-intelex", "sklearnex.svm"),
]
FITTERS = [machine(label, module, "SVC", dual_objective) for label, module in MODULES]
VOTERS = [machine(label, module, "SVC", predictions_of) for label, module in MODULES]
REGRESSORS = [machine(label, module, "SVR", predictions_of) for label, module in MODULES]
PREDICTORS = [predictor(label, module) for label, module in MODULES]

WORKLOADS = [
    Workload(
        name="rbf",
        about="A Gaussian kernel between two classes of 10,000 rows, to the usual tolerance.",
        make=curved_classes,
        sizes={"n": 10_000, "noise": 0.3},
        quick={"n": 1_500},
        ours=FITTERS[0],
        peers=FITTERS[1:],
        goals={"scikit-learn": AtLeast(3.5), "scikit-learn-intelex": AtLeast(1.4)},
        tolerance=1e-6,
    ),
    Workload(
        name="rbf_more_rows",
        about="The same on 30,000 rows.",
        make=curved_classes,
        sizes={"n": 30_000, "noise": 0.3},
        quick={"n": 3_000},
        ours=FITTERS[0],
        peers=FITTERS[1:],
        goals={"scikit-learn": AtLeast(10), "scikit-learn-intelex": AtLeast(2)},
        tolerance=1e-6,
        seconds=120.0,
    ),
    Workload(
        name="predict",
        about="Scores of 10,000 rows by a machine that holds on to nearly all of its 10,000 training rows.",
        make=curved_classes,
        sizes={"n": 10_000, "noise": 10.0},
        quick={"n": 1_500},
        ours=PREDICTORS[0],
        peers=PREDICTORS[1:],
        goals={"scikit-learn": AtLeast(12), "scikit-learn-intelex": AtLeast(1.1)},
        tolerance=3e-3,  # each contestant's machine is the optimum up to the tolerance of 1e-3
    ),
    Workload(
        name="ten_classes",
        about="Ten classes, two at a time: 45 machines.",
        make=many_classes,
        sizes={"n": 5_000, "n_classes": 10},
        quick={"n": 1_000},
        ours=VOTERS[0],
        peers=VOTERS[1:],
        tolerance=1.0,  # a row between two classes may go to either: within the tolerance of 1e-3, both are right
    ),
    Workload(
        name="regression",
        about="Regression within a tube on 5,000 rows.",
        make=curved_targets,
        sizes={"n": 5_000},
        quick={"n": 1_000},
        ours=REGRESSORS[0],
        peers=REGRESSORS[1:],
        goals={"scikit-learn": AtLeast(2)},
        tolerance=3e-3,  # the tolerance of 1e-3 leaves so much
    ),
    Workload(
        name="tiny",
        about="Two classes of next to nothing: what a call costs before it computes.",
        make=curved_classes,
        sizes={"n": 200, "noise": 0.3, "d": 4},
        ours=FITTERS[0],
        peers=FITTERS[1:],
        goals={"scikit-learn": AtLeast(1.0)},
        tolerance=1e-5,  # the gap that the tolerance of 1e-3 leaves
    ),
]
