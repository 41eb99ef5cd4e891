"""Linear support vector machines: hinge and squared hinge on tall, sparse and tiny data; and the path of all C."""

from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from benchmarks.workload import AtLeast, Contestant, Workload

# Where paths are compared.
COSTS = np.geomspace(1e-3, 1.0, 10)


class Problem(NamedTuple):
    X: Any
    y: np.ndarray


def dense(rng: np.random.Generator, n: int, d: int) -> Problem:
    """Gaussian features, and sides that no plane separates."""
    X = rng.standard_normal((n, d))
    score = X @ rng.standard_normal(d) / np.sqrt(d) + 0.3
    return Problem(X, (score + 0.5 * rng.standard_normal(n) > 0).astype(int))


def text(rng: np.random.Generator, n: int, d: int, words: int) -> Problem:
    """Rows like documents: words as frequent as one over their rank, weighted by rarity, of length one."""
    share = 1 / np.arange(1, d + 1)
    columns = np.searchsorted(np.cumsum(share) / share.sum(), rng.random(n * words))
    rows = np.repeat(np.arange(n), words)
    X = scipy.sparse.csr_matrix((np.ones(n * words), (rows, columns)), shape=(n, d))
    rarity = np.log((1 + n) / (1 + np.bincount(X.indices, minlength=d))) + 1
    X.data = (1 + np.log(X.data)) * rarity[X.indices]
    lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    X = (scipy.sparse.diags(1 / lengths) @ X).tocsr()
    score = X @ (rng.standard_normal(d) * (rng.random(d) < 0.2))
    noise = 0.1 * score.std() * rng.standard_normal(n)
    return Problem(X, (score + noise > np.median(score)).astype(int))


def fitter(label: str, module: str, loss: str, **parameters: Any) -> Contestant:
    """A contestant whose `module` has a ``LinearSVC``."""

    def prepare(problem: Problem) -> Any:
        estimator = import_module(module).LinearSVC

        def fit() -> Any:
            import warnings

            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the peer does not converge
                return estimator(loss=loss, **parameters).fit(problem.X, problem.y), problem

        return fit

    return Contestant(
        label, module, prepare, lambda found: {"cost": np.array(cost(found[0], found[1], loss))}
    )


def cost(model: Any, problem: Problem, loss: str) -> float:
    """What the plane costs, by the problem's definition."""
    margin = np.where(problem.y == model.classes_[1], 1, -1) * model.decision_function(problem.X)
    slack = np.maximum(1 - margin, 0)
    return 0.5 * float((model.coef_**2).sum()) + float((slack if loss == "hinge" else slack**2).sum())


def overlapping(rng: np.random.Generator, n: int, d: int) -> Problem:
    """Two classes of equal size that overlap, so that the path has several knots for each row."""
    y = np.arange(n) % 2
    return Problem(rng.standard_normal((n, d)) + 0.5 * y[:, None], y)


def our_path(problem: Problem) -> Any:
    from bisector import svm_path

    return lambda: svm_path(problem.X, problem.y)


def their_fits(problem: Problem) -> Any:
    from sklearn.svm import SVC

    # Nobody else follows the path: as many fits as a user would try.
    return lambda: [SVC(C=C, kernel="linear").fit(problem.X, problem.y) for C in COSTS]


def margins_of_path(path: Any) -> dict[str, Any]:
    return {"margins": np.array([path.at(C).margin for C in COSTS])}


def margins_of_fits(models: Any) -> dict[str, Any]:
    return {"margins": np.array([1 / np.linalg.norm(model.coef_) for model in models])}


def contestants(loss: str, **theirs: Any) -> dict[str, Any]:
    return {
        "ours": fitter("bisector", "bisector.svm.linear_svc", loss),
        "peers": [fitter("scikit-learn", "sklearn.svm", loss, random_state=0, **theirs)],
    }


WORKLOADS = [
    Workload(
        name="hinge",
        about="The hinge loss on many rows: ours to a proven gap of 1e-4, the peer's 1,000 rounds do not converge.",
        make=dense,
        sizes={"n": 100_000, "d": 100},
        quick={"n": 5_000, "d": 20},
        **contestants("hinge", dual=True),
        goals={"scikit-learn": AtLeast(10)},
        tolerance=2e-2,  # the peer has not converged
    ),
    Workload(
        name="squared_hinge",
        about="The squared hinge loss, the default, on many rows.",
        make=dense,
        sizes={"n": 100_000, "d": 100},
        quick={"n": 5_000, "d": 20},
        **contestants("squared_hinge"),
        tolerance=1e-3,  # the peer penalises the intercept
    ),
    Workload(
        name="text",
        about="The squared hinge loss on a sparse matrix with more features than rows.",
        make=text,
        sizes={"n": 50_000, "d": 100_000, "words": 80},
        quick={"n": 2_000, "d": 5_000},
        **contestants("squared_hinge"),
        goals={"scikit-learn": AtLeast(3)},
        tolerance=1e-3,  # a gap of 1e-4, and the peer's penalty on the intercept
    ),
    Workload(
        name="text_hinge",
        about="The same with the hinge loss.",
        make=text,
        sizes={"n": 50_000, "d": 100_000, "words": 80},
        quick={"n": 2_000, "d": 5_000},
        **contestants("hinge"),
        tolerance=1e-3,
    ),
    Workload(
        name="path",
        about="The machine for every C at once, at most 50 µs a knot; the peer is fitted at ten values of C.",
        make=overlapping,
        sizes={"n": 1_000, "d": 20},
        quick={"n": 200},
        ours=Contestant("bisector", "bisector", our_path, margins_of_path),
        peers=[Contestant("scikit-learn, ten values of C", "sklearn.svm", their_fits, margins_of_fits)],
        tolerance=2e-3,  # the peer's tolerance of 1e-3
    ),
    Workload(
        name="tiny",
        about="Next to nothing: what a call costs before it computes.",
        make=dense,
        sizes={"n": 100, "d": 5},
        **contestants("squared_hinge"),
        goals={"scikit-learn": AtLeast(1.0)},
        tolerance=2e-2,  # the peer penalises the intercept, which weighs more on few rows
    ),
]
