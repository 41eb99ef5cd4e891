"""Linear classifiers in closed form: class means and regression on labels; and whether any plane would do."""

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from benchmarks.workload import AtLeast, Contestant, Workload


class Labelled(NamedTuple):
    X: Any
    y: np.ndarray


def dense(rng: np.random.Generator, n: int, d: int, n_classes: int = 2) -> Labelled:
    """Normal classes off the origin, each around a mean of its own."""
    y = rng.integers(n_classes, size=n)
    return Labelled(rng.standard_normal((n, d)) + rng.standard_normal((n_classes, d))[y] + 1.0, y)


def sparse(rng: np.random.Generator, n: int, d: int, density: float) -> Labelled:
    """Two classes of rows in which few features are not zero, as in texts."""
    per_row = round(density * d)
    columns, values = rng.integers(d, size=n * per_row), rng.random(n * per_row)
    X = scipy.sparse.csr_matrix((values, columns, np.arange(n + 1) * per_row), shape=(n, d))
    X.sum_duplicates()
    return Labelled(X, rng.integers(2, size=n))


def parted(rng: np.random.Generator, n: int, d: int, gap: float) -> Labelled:
    """Rows on either side of a plane, moved away from it by a gap; a negative gap lets the sides overlap."""
    X, w = rng.standard_normal((n, d)), rng.standard_normal(d)
    w /= np.linalg.norm(w)
    y = (X @ w > 0).astype(np.int64)
    return Labelled(X + np.outer(gap * (2 * y - 1), w), y)


def fitter(
    label: str, module: str, name: str, answer: Callable[[Any], dict[str, Any]], **parameters: Any
) -> Contestant:
    """A contestant that fits the estimator of this name in `module`."""

    def prepare(data: Labelled) -> Callable[[], Any]:
        estimator = getattr(import_module(module), name)
        return lambda: estimator(**parameters).fit(data.X, data.y)

    return Contestant(label, module, prepare, answer)


def our_means(fit: Any) -> dict[str, Any]:
    return {"means": fit.means_}


def their_means(fit: Any) -> dict[str, Any]:
    return {"means": fit.centroids_}


def plane(fit: Any) -> dict[str, Any]:
    return {"coef": np.ravel(fit.coef_), "intercept": np.ravel(fit.intercept_)}


def ask(data: Labelled) -> Callable[[], Any]:
    linear_separability = import_module("bisector").linear_separability
    return lambda: bool(linear_separability(data.X, data.y))


def ask_a_linear_programme(data: Labelled) -> Callable[[], Any]:
    """As a user would write it: the widest gap between the classes, all rows at once."""
    from scipy.optimize import linprog

    def ask() -> bool:
        signs, (n, d) = np.where(data.y == 1, 1.0, -1.0), data.X.shape
        constraints = np.column_stack([-signs[:, None] * data.X, -signs, np.ones(n)])
        objective = np.append(np.zeros(d + 1), -1.0)
        bounds = [(-1.0, 1.0)] * d + [(None, None)] * 2
        return bool(linprog(objective, constraints, np.zeros(n), bounds=bounds).x[-1] > 1e-7)

    return ask


def separable(yes: bool) -> dict[str, Any]:
    return {"separable": np.array([float(yes)])}


OUR_MEANS = fitter("bisector", "bisector", "BasicLinearClassifier", our_means)
THEIR_MEANS = fitter("scikit-learn", "sklearn.neighbors", "NearestCentroid", their_means)
OUR_ANSWER = Contestant("bisector", "bisector", ask, separable)
PROGRAMME = Contestant("scipy (HiGHS)", "scipy.optimize", ask_a_linear_programme, separable)

WORKLOADS = [
    Workload(
        name="means",
        about="The means of two classes: one pass over the data is the floor.",
        make=dense,
        sizes={"n": 1_000_000, "d": 50},
        quick={"n": 50_000},
        ours=OUR_MEANS,
        peers=[THEIR_MEANS],
        goals={"scikit-learn": AtLeast(5)},
    ),
    Workload(
        name="means_of_many_classes",
        about="The means of a hundred classes.",
        make=dense,
        sizes={"n": 500_000, "d": 50, "n_classes": 100},
        quick={"n": 20_000},
        ours=OUR_MEANS,
        peers=[THEIR_MEANS],
        goals={"scikit-learn": AtLeast(5)},
    ),
    Workload(
        name="means_sparse",
        about="The means of two classes of a sparse matrix in rows (CSR); the peer makes it dense.",
        make=sparse,
        sizes={"n": 20_000, "d": 2_000, "density": 0.01},
        quick={"n": 2_000},
        ours=OUR_MEANS,
        peers=[THEIR_MEANS],
    ),
    Workload(
        name="label_regression",
        about="Regression on labels −1 and +1 (the peer with a penalty too small to matter).",
        make=dense,
        sizes={"n": 1_000_000, "d": 50},
        quick={"n": 50_000},
        ours=fitter("bisector", "bisector", "LeastSquaresClassifier", plane),
        peers=[fitter("scikit-learn", "sklearn.linear_model", "RidgeClassifier", plane, alpha=1e-9)],
        goals={"scikit-learn": AtLeast(5)},
    ),
    Workload(
        name="separable",
        about="Is there a plane between two classes? Yes, just so.",
        make=parted,
        sizes={"n": 100_000, "d": 20, "gap": 0.01},
        quick={"n": 5_000},
        ours=OUR_ANSWER,
        peers=[PROGRAMME],
        goals={"scipy (HiGHS)": AtLeast(10)},
    ),
    Workload(
        name="not_separable",
        about="The same where the sides overlap by a little: no.",
        make=parted,
        sizes={"n": 100_000, "d": 20, "gap": -0.05},
        quick={"n": 5_000},
        ours=OUR_ANSWER,
        peers=[PROGRAMME],
        goals={"scipy (HiGHS)": AtLeast(10)},
    ),
]
