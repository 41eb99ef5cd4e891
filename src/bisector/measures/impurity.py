"""Impurity of sets of labels, and what a split takes off it (Flach 5.1, 5.2)."""

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bisector.engine.validation import check_choice
from bisector.solvers.impurities import EntropyImpurity, GiniImpurity, SqrtGiniImpurity

Floats = NDArray[np.float64]
Criterion = Literal["gini", "entropy", "sqrt-gini", "minority"]

_NAMES = ("gini", "entropy", "sqrt-gini", "minority")


def impurity(counts: ArrayLike, criterion: Criterion = "gini") -> float:
    """Return how mixed a set is whose classes have these counts, or weights.

    Parameters
    ----------
    counts : array of shape (n_classes,)
    criterion : {"gini", "entropy", "sqrt-gini", "minority"}, default="gini"
        Σp(1 − p), −Σp log₂ p, √Σp(1 − p) or 1 − max p.

    Examples
    --------
    >>> from bisector.measures.impurity import impurity
    >>> impurity([3, 1]), impurity([2, 2], "entropy"), impurity([3, 1], "minority")
    (0.375, 1.0, 0.25)
    """
    check_choice("criterion", criterion, _NAMES)
    held = _checked(counts)
    total = float(held.sum())
    if total == 0:
        return 0.0
    if criterion == "minority":
        return 1.0 - float(held.max()) / total
    formulas: dict[str, Any] = {
        "gini": GiniImpurity(float(len(held))),
        "sqrt-gini": SqrtGiniImpurity(float(len(held))),
        "entropy": EntropyImpurity(np.empty(0)),
    }
    return float(formulas[criterion].of_counts(held.tolist())) / total


def split_impurity(children: ArrayLike, criterion: Criterion = "gini") -> float:
    """Return the impurity of a split: the mean over its children, weighted by their size.

    Parameters
    ----------
    children : array of shape (n_children, n_classes)

    Examples
    --------
    >>> from bisector.measures.impurity import impurity, split_impurity
    >>> split_impurity([[3, 0], [1, 4]])
    0.2
    >>> impurity([4, 4]) - split_impurity([[3, 0], [1, 4]])  # the gain
    0.3
    """
    sets = [_checked(counts) for counts in np.asarray(children, dtype=np.float64)]
    total = sum(float(held.sum()) for held in sets)
    return sum(float(held.sum()) * impurity(held, criterion) for held in sets) / total


def relative_impurity(children: ArrayLike, criterion: Criterion = "gini") -> Floats:
    """Return the impurity of each child, weighted by its share of the rows, in proportion to that of the parent.

    A split minimises the sum. With two classes the one of √Gini is √(tpr · fpr) of each child, the shares of the
    positives and of the negatives that it gets: it does not change when one class is counted twice. Those of
    the Gini index and of entropy do change, and so may their choice of a split.

    Parameters
    ----------
    children : array of shape (n_children, n_classes)

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.measures.impurity import relative_impurity
    >>> children = np.array([[8, 2], [2, 8]])
    >>> relative_impurity(children, "sqrt-gini"), relative_impurity(children * [10, 1], "sqrt-gini")
    (array([0.4, 0.4]), array([0.4, 0.4]))
    >>> relative_impurity(children), relative_impurity(children * [10, 1]).round(2)
    (array([0.32, 0.32]), array([0.21, 0.63]))
    """
    table = np.asarray(children, dtype=np.float64)
    parent = table.sum(axis=0)
    whole = float(parent.sum()) * impurity(parent, criterion)
    if whole == 0:
        raise ValueError("The parent is pure: nothing is left to be in proportion to.")
    return np.array([float(held.sum()) * impurity(held, criterion) / whole for held in table])


def _checked(counts: ArrayLike) -> Floats:
    held = np.asarray(counts, dtype=np.float64)
    if held.ndim != 1 or not len(held) or not (np.isfinite(held) & (held >= 0)).all():
        raise ValueError("counts must be a vector of numbers that are finite and not negative, one a class.")
    return held
