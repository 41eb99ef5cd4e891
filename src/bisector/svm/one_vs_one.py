"""Two classes at a time: how the solutions of all pairs are kept together, as scikit-learn arranges them.

Support vectors stand class by class. Each has one coefficient for each rival of its class: in row r − 1 for a
rival r after its own class, in row r for one before. Of more than two classes the first of a pair is positive, of
two the second.
"""

import numpy as np
from numpy.typing import NDArray

from bisector.solvers.two_class_problems import two_class_problems
from bisector.svm.soft_margin import SoftMargin
from bisector.svm.training_lines import TrainingLines

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def support_by_class(margins: list[SoftMargin], codes: Integers) -> Integers:
    """Return the rows that hold any of the margins, class by class."""
    holds = np.zeros(len(codes), dtype=bool)
    for margin in margins:
        holds[margin.members[margin.plane.beta != 0]] = True
    support = np.flatnonzero(holds)
    return support[np.argsort(codes[support], kind="stable")]


def dual_coefficients(
    margins: list[SoftMargin], codes: Integers, support: Integers, n_classes: int
) -> Floats:
    """Return the coefficients of the support vectors, one row for each rival class."""
    place = np.full(len(codes), -1)
    place[support] = np.arange(len(support))
    coefficients = np.zeros((n_classes - 1, len(support)))
    for margin in margins:
        weighs = margin.plane.beta != 0
        rows, beta = margin.members[weighs], _sign(margins) * margin.plane.beta[weighs]
        rivals = np.where(codes[rows] == margin.negative, margin.positive - 1, margin.negative)
        coefficients[rivals, place[rows]] = beta
    return coefficients


def offsets(margins: list[SoftMargin], training: TrainingLines) -> Floats:
    """Return the offset of each pair's plane, for rows as they came."""
    found = [margin.plane.offset - training.moved(margin.members, margin.plane.beta) for margin in margins]
    return _sign(margins) * np.array(found)


def pair_weights(dual_coef: Floats, n_support: NDArray[np.int32]) -> Floats:
    """Return what each support vector weighs in each pair, from `dual_coefficients`."""
    if len(n_support) == 2:
        return dual_coef.T
    codes = np.repeat(np.arange(len(n_support)), n_support)
    problems = two_class_problems("one-vs-one", len(n_support)).problems
    weights = np.zeros((len(codes), len(problems)))
    for pair, sides in enumerate(problems):
        first, second = np.flatnonzero(sides)
        weights[codes == first, pair] = dual_coef[second - 1, codes == first]
        weights[codes == second, pair] = dual_coef[first, codes == second]
    return weights


def _sign(margins: list[SoftMargin]) -> float:
    return 1.0 if len(margins) == 1 else -1.0
