"""Why a support vector machine gives a row its class: support vectors, their roles, the way to another class."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bisector.engine.decisions import explain_sums
from bisector.engine.explanation import Explanation, feature_names, unnamed
from bisector.engine.moves import moves_towards, nearest_places
from bisector.engine.plane_reasons import explain_classes, explain_problems
from bisector.kernels import Linear, Precomputed
from bisector.solvers.two_class_problems import two_class_problems
from bisector.svm.one_vs_one import pair_weights
from bisector.svm.training_lines import is_foreign

if TYPE_CHECKING:
    from bisector.svm.told_margins import TellsMargins

Floats = NDArray[np.float64]


def explain_margins(model: "TellsMargins", X: Any) -> list[Explanation]:
    """Explain the classes of rows by the margins between every two classes."""
    classes = model.classes_
    pairs = two_class_problems("one-vs-one", len(classes))
    # Of more than two classes scores are positive for the first of a pair, the problems for the second.
    sign = 1.0 if len(classes) == 2 else -1.0
    weights = sign * pair_weights(model.dual_coef_, model.n_support_)
    offsets = sign * model.intercept_
    codes = np.searchsorted(classes, model.predict(X))
    labels = np.repeat(classes, model.n_support_)
    roles = model.role_[model.support_].reshape(len(model.support_), -1)
    # Scores of pairs are compared as distances from their planes.
    margins = np.atleast_1d(model.margin_)
    found: list[Explanation] = []
    for values in model._support_values(X):
        some = codes[len(found) : len(found) + len(values)]
        found += explain_sums(
            values, weights, offsets, pairs.problems, some, classes,
            rows=model.support_, units=margins, beside=lambda pair: {"class": labels, "role": roles[:, pair]},
        )  # fmt: skip
    if is_foreign(X, model._kernel) or isinstance(model._kernel, Precomputed):
        return found
    rows = model._held_rows(X)
    if isinstance(model._kernel, Linear):
        names = feature_names(model, rows.shape[1])
        planes = model._planes(weights)
        if len(classes) == 2:
            by_features = explain_classes(rows, planes, offsets, codes, classes, names)
        else:
            decide = _decider(model)
            by_features = explain_problems(
                rows, planes, offsets, pairs.problems, decide, classes, names, margins
            )
            if model.break_ties:  # a class may then overtake another without a plane being crossed
                by_features = [
                    replace(one, move=one.move and replace(one.move, smallest=False)) for one in by_features
                ]
        return [
            replace(one, accounts=[*one.accounts, *other.accounts])
            for one, other in zip(by_features, found, strict=True)
        ]
    return _with_moves(model, rows, found)


def _decider(model: "TellsMargins") -> Callable[[Floats], NDArray[np.int64]]:
    """Return how the model decides by the scores of its pairs, positive for the second of each."""
    pairs = two_class_problems("one-vs-one", len(model.classes_))
    if model.break_ties:
        return lambda scores: model._class_scores(-scores).argmax(axis=1)
    return lambda scores: pairs.codes(pairs.decide(scores))


def _with_moves(model: "TellsMargins", rows: Floats, found: list[Explanation]) -> list[Explanation]:
    """Add moves towards the nearest support vectors that are answered otherwise."""
    bare = unnamed(model)
    vectors = model.support_vectors_
    vectors = np.asarray(vectors.toarray() if hasattr(vectors, "tocsr") else vectors, dtype=np.float64)
    if not len(vectors):
        return found
    of_vectors, answers = bare.predict(vectors), bare.predict(rows)
    targets = [
        nearest_places(x, vectors[of_vectors != answer]) for x, answer in zip(rows, answers, strict=True)
    ]
    moves = moves_towards(rows, answers, targets, bare.predict, lambda x, z: float(np.linalg.norm(z - x)))
    return [replace(one, move=move) for one, move in zip(found, moves, strict=True)]
