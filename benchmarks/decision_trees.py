"""Decision trees: growing by two impurities to two depths, absolute errors, predicting, tiny data."""

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from benchmarks.workload import AtLeast, Contestant, Workload


class Problem(NamedTuple):
    X: np.ndarray
    y: np.ndarray
    parameters: dict[str, Any]


def curved_classes(rng: np.random.Generator, n: int, d: int = 20, **parameters: Any) -> Problem:
    """Two classes that a curved surface divides, but for noise; single precision, as scikit-learn takes it."""
    X = rng.standard_normal((n, d), dtype=np.float32)
    score = X[:, 0] * X[:, 1] + X[:, 2 % d] ** 2 - 1 + X[:, 3 % d] + rng.standard_normal(n)
    return Problem(X, (score > 0).astype(np.int64), parameters)


def curved_targets(rng: np.random.Generator, n: int, d: int = 10, **parameters: Any) -> Problem:
    """Targets on a curved surface, with noise."""
    X = rng.standard_normal((n, d), dtype=np.float32)
    return Problem(X, X[:, 0] * X[:, 1] + X[:, 2] + 0.3 * rng.standard_normal(n), parameters)


def grower(label: str, module: str, kind: str, answer: Callable[[Any], dict[str, Any]]) -> Contestant:
    """A contestant whose fit is timed."""

    def prepare(problem: Problem) -> Any:
        estimator = getattr(import_module(module), kind)
        return lambda: estimator(random_state=0, **problem.parameters).fit(problem.X, problem.y)

    return Contestant(label, module, prepare, answer)


def predictor(label: str, module: str) -> Contestant:
    """A contestant that is fitted beforehand; its predictions of a million other rows are timed."""

    def prepare(problem: Problem) -> Any:
        model = import_module(module).DecisionTreeClassifier(random_state=0, **problem.parameters)
        model.fit(problem.X[:100_000], problem.y[:100_000])
        return lambda: model.predict(problem.X)

    # Where splits are equally good, each takes one of them: a row in a thousand may differ.
    return Contestant(label, module, prepare, lambda found: {"positives": np.array([np.mean(found)])})


def shape_of(model: Any) -> dict[str, Any]:
    """The first splits, and how much the leaves leave: equal splits lower down may be broken differently."""
    tree = model.tree_
    leaves = tree.children_left < 0
    left = (tree.impurity * tree.weighted_n_node_samples)[leaves].sum() / tree.weighted_n_node_samples[0]
    root = np.array([tree.feature[0], tree.threshold[0], tree.impurity[0]])
    return {"root": root, "left": np.array([1.0 + left])}


MODULES = [("bisector", "bisector.trees"), ("scikit-learn", "sklearn.tree")]
CLASSIFIERS = [grower(label, module, "DecisionTreeClassifier", shape_of) for label, module in MODULES]
REGRESSORS = [grower(label, module, "DecisionTreeRegressor", shape_of) for label, module in MODULES]
PREDICTORS = [predictor(label, module) for label, module in MODULES]


def growing(criterion: str, depth: int | None) -> Workload:
    """Grow a tree on many rows."""
    deep = "as deep as it goes" if depth is None else f"to a depth of {depth}"
    name = f"{criterion}_{'unlimited' if depth is None else f'depth_{depth}'}"
    return Workload(
        name=name,
        about=f"A tree on 200,000 rows of 20 features, by {criterion}, {deep}.",
        make=curved_classes,
        sizes={"n": 200_000, "criterion": criterion, "max_depth": depth},
        quick={"n": 5_000},
        ours=CLASSIFIERS[0],
        peers=CLASSIFIERS[1:],
        goals={"scikit-learn": AtLeast(4)},
        tolerance=5e-3,  # splits of equal gain are broken differently, and lead to other splits below
    )


WORKLOADS = [
    growing("gini", None),
    growing("gini", 10),
    growing("entropy", None),
    growing("entropy", 10),
    Workload(
        name="absolute_error",
        about="A regression tree of depth 8 on 100,000 rows of 10 features, by absolute errors.",
        make=curved_targets,
        sizes={"n": 100_000, "criterion": "absolute_error", "max_depth": 8},
        quick={"n": 3_000},
        ours=REGRESSORS[0],
        peers=REGRESSORS[1:],
        goals={"scikit-learn": AtLeast(4)},
        tolerance=5e-3,  # many splits are exactly as good as another, and lead to other splits below
    ),
    Workload(
        name="predict",
        about="Labels of a million rows, by a tree grown on 100,000.",
        make=curved_classes,
        sizes={"n": 1_000_000},
        quick={"n": 100_000},
        ours=PREDICTORS[0],
        peers=PREDICTORS[1:],
        goals={"scikit-learn": AtLeast(3)},
        tolerance=5e-3,
    ),
    Workload(
        name="tiny",
        about="A tree on next to nothing: what a call costs before it computes.",
        make=curved_classes,
        sizes={"n": 200, "d": 5},
        ours=CLASSIFIERS[0],
        peers=CLASSIFIERS[1:],
        tolerance=5e-3,
    ),
]
