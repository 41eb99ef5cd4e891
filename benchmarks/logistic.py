"""Logistic regression: many rows, text, several classes, corners and tiny data."""

from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from benchmarks.workload import AtLeast, Contestant, Workload


class Problem(NamedTuple):
    X: Any
    y: np.ndarray


def dense(rng: np.random.Generator, n: int, d: int, n_classes: int = 2) -> Problem:
    """Gaussian features off the origin, and classes drawn from a softmax of Gaussian planes."""
    X = rng.standard_normal((n, d))
    scores = X @ rng.standard_normal((d, n_classes)) * (2 / np.sqrt(d))
    scores += rng.gumbel(size=scores.shape)
    return Problem(X + rng.standard_normal(d), scores.argmax(axis=1))


def text(rng: np.random.Generator, n: int, d: int, words: int = 100) -> Problem:
    """Rows of words whose frequencies fall as in a language, weighted by rarity and of length one."""
    ranks = np.exp(rng.random(n * words) * np.log(d + 1)) - 1
    columns = rng.permutation(d)[np.minimum(ranks.astype(np.int64), d - 1)]
    X = scipy.sparse.csr_matrix((np.ones(n * words), columns, np.arange(n + 1) * words), shape=(n, d))
    X.sum_duplicates()
    rarity = np.log((1 + n) / (1 + np.bincount(X.indices, minlength=d))) + 1
    X.data = (1 + np.log(X.data)) * rarity[X.indices]
    lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    X.data /= np.repeat(lengths, np.diff(X.indptr))
    scores = X @ (6 * rng.standard_normal(d) * (rng.random(d) < 0.3))
    return Problem(X, (scores - np.median(scores) + rng.logistic(size=n) > 0).astype(int))


def fitter(label: str, module: str, **params: Any) -> Contestant:
    """A contestant whose `module` has a ``LogisticRegression``; answers are probabilities of training rows."""

    def prepare(problem: Problem) -> Any:
        estimator = import_module(module).LogisticRegression

        def fit() -> Any:
            return estimator(**params).fit(problem.X, problem.y), problem.X[:1000]

        return fit

    return Contestant(label, module, prepare, lambda made: {"shares": made[0].predict_proba(made[1])})


OURS = fitter("bisector", "bisector.linear.logistic_regression")
SCIKIT_LEARN = fitter("scikit-learn", "sklearn.linear_model", max_iter=1000)
INTELEX = fitter("scikit-learn-intelex", "sklearnex.linear_model", max_iter=1000)
NEWTON_CG = fitter("scikit-learn newton-cg", "sklearn.linear_model", solver="newton-cg", max_iter=1000)
NEWTON_CHOLESKY = fitter("scikit-learn newton-cholesky", "sklearn.linear_model", solver="newton-cholesky")
LIBLINEAR = fitter("scikit-learn liblinear", "sklearn.linear_model", solver="liblinear", l1_ratio=1.0)

WORKLOADS = [
    Workload(
        name="tall",
        about="Two classes, many rows: a few passes over the data are the floor.",
        make=dense,
        sizes={"n": 500_000, "d": 50},
        quick={"n": 20_000},
        ours=OURS,
        peers=[SCIKIT_LEARN, NEWTON_CHOLESKY, NEWTON_CG, INTELEX],
        goals={"scikit-learn": AtLeast(3)},
        tolerance=1e-2,  # the peers stop at a gradient of 1e-4; ours goes on to rounding
    ),
    Workload(
        name="text",
        about="Two classes of sparse rows with many columns, as texts have.",
        make=text,
        sizes={"n": 50_000, "d": 200_000},
        quick={"n": 5_000, "d": 20_000},
        ours=OURS,
        peers=[SCIKIT_LEARN, NEWTON_CG],
        goals={"scikit-learn": AtLeast(3)},
        tolerance=5e-2,  # a gradient of 1e-4 leaves rare words open
    ),
    Workload(
        name="text_lasso",
        about="The same with a penalty of absolute values: most coefficients are zero.",
        make=text,
        sizes={"n": 50_000, "d": 200_000},
        quick={"n": 5_000, "d": 20_000},
        ours=fitter("bisector", "bisector.linear.logistic_regression", l1_ratio=1.0),
        peers=[LIBLINEAR],
        tolerance=1e-2,  # the peer penalises the intercept too
    ),
    Workload(
        name="several_classes",
        about="Five classes, a softmax of five planes.",
        make=dense,
        sizes={"n": 100_000, "d": 30, "n_classes": 5},
        quick={"n": 5_000},
        ours=OURS,
        peers=[SCIKIT_LEARN, NEWTON_CHOLESKY],
        tolerance=1e-2,  # as above
    ),
    Workload(
        name="tiny",
        about="Logistic regression on next to nothing: what a call costs before it computes.",
        make=dense,
        sizes={"n": 100, "d": 5},
        ours=OURS,
        peers=[SCIKIT_LEARN],
        goals={"scikit-learn": AtLeast(1.0)},
        tolerance=1e-2,  # as above
    ),
]
