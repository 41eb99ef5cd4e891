"""Several classes as two-class problems, and the way back from their scores to a class.

K classes become P problems, each of which sets some classes against others and may leave some out. They are written
as a table of P rows and K columns with +1 for a class on the positive side, −1 on the negative and 0 left out. Two
classes are one problem under every scheme: the second class is positive.

A score of exactly 0 counts for the negative side, and classes that end level are decided for the first of them; in
a nested sequence, first in its order.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bisector.engine.validation import check_choice

Floats = NDArray[np.floating[Any]]
Scheme = Literal["one-vs-rest", "one-vs-one", "nested"]

# The usual short names mean the same.
_SCHEMES: dict[str, Scheme] = {
    "one-vs-rest": "one-vs-rest",
    "ovr": "one-vs-rest",
    "one-vs-one": "one-vs-one",
    "ovo": "one-vs-one",
    "nested": "nested",
}


@dataclass(frozen=True, eq=False)
class TwoClassProblems:
    """How K classes are told apart by two-class problems.

    Attributes
    ----------
    scheme : {"one-vs-rest", "one-vs-one", "nested"}
    problems : ndarray of int of shape (n_problems, n_classes)
        +1 where a class is positive, −1 where it is negative, 0 where it is left out.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.solvers.two_class_problems import two_class_problems
    >>> pairs = two_class_problems("one-vs-one", 3)
    >>> pairs.problems
    array([[-1,  1,  0],
           [-1,  0,  1],
           [ 0, -1,  1]])
    >>> values = pairs.decide(np.array([[2.0, 1.0, -0.5]]))  # 1 beats 0, 2 beats 0, 1 beats 2
    >>> values, pairs.codes(values)
    (array([[0., 2., 1.]]), array([1]))
    """

    scheme: Scheme
    problems: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.problems)

    @property
    def n_classes(self) -> int:
        return self.problems.shape[1]

    def labels(self, problem: int, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the side of each row in one problem, +1 or −1, or 0 for a row that is left out."""
        return self.problems[problem][codes]

    def decide(self, scores: Floats) -> Floats:
        """Turn the scores of the problems into one value for each class; the largest value decides.

        Parameters
        ----------
        scores : ndarray of shape (n_rows, n_problems)
            Positive for the positive side.

        Returns
        -------
        ndarray of shape (n_rows, n_classes), or (n_rows,) for two classes
            One against the rest: the scores themselves. One against one: the number of comparisons won. Nested:
            the smallest score on the way to the class, each counted positive for the side that the way takes, so
            that the class decided for is the one with no negative value. Two classes: their one score.
        """
        if len(self) == 1:
            return scores[:, 0]
        if self.scheme == "one-vs-rest":
            return scores
        if self.scheme == "one-vs-one":
            return self._comparisons_won(scores)
        return self._smallest_on_the_way(scores)

    def codes(self, values: Floats) -> NDArray[np.int64]:
        """Return the class that values of `decide` decide for, as its place among the classes."""
        if values.ndim == 1:
            return (values > 0).astype(np.int64)
        if self.scheme == "nested":
            # A zero on the way leaves two classes level: the one split off earlier is taken.
            order = self._order
            return order[values[:, order].argmax(axis=1)]
        return values.argmax(axis=1)

    def _comparisons_won(self, scores: Floats) -> Floats:
        positive = (scores > 0).astype(scores.dtype)
        won: Floats = positive @ (self.problems > 0) + (1 - positive) @ (self.problems < 0)
        return won

    def _smallest_on_the_way(self, scores: Floats) -> Floats:
        values = np.full((len(scores), self.n_classes), np.inf, dtype=scores.dtype)
        for score, sides in zip(scores.T, self.problems, strict=True):
            for code in np.flatnonzero(sides):
                np.minimum(values[:, code], sides[code] * score, out=values[:, code])
        return values

    @property
    def _order(self) -> NDArray[np.int64]:
        """The classes in the order in which a nested sequence splits them off."""
        split_off = [int(np.flatnonzero(sides < 0)[0]) for sides in self.problems]
        last = np.flatnonzero(self.problems[-1] > 0)
        return np.array([*split_off, *last])


def two_class_problems(
    scheme: str, n_classes: int, order: Sequence[int] | NDArray[np.int64] | None = None
) -> TwoClassProblems:
    """Make the two-class problems of a scheme.

    Parameters
    ----------
    scheme : {"one-vs-rest", "one-vs-one", "nested"}
        Each class against all others; every two classes against each other; or one class after the other against
        those that are left ("1 or not 1; if not, 2 or not 2", LFD 6.2.5). "ovr" and "ovo" mean the first two.
    n_classes : int
        At least two.
    order : sequence of int, optional
        In which order a nested sequence splits off the classes; by default as they are numbered.

    Examples
    --------
    >>> from bisector.solvers.two_class_problems import two_class_problems
    >>> two_class_problems("nested", 3, order=[1, 0, 2]).problems
    array([[ 1, -1,  1],
           [-1,  0,  1]])
    """
    name = _SCHEMES[check_choice("multi_class", scheme, tuple(_SCHEMES))]
    places = list(range(n_classes)) if order is None else [int(code) for code in order]
    if order is not None and (name != "nested" or sorted(places) != list(range(n_classes))):
        raise ValueError(
            "An order of the classes goes with a nested sequence of two-class problems, and names each class once."
        )
    if n_classes == 2:
        sides = np.array([[-1, 1]])  # whatever the scheme
    elif name == "one-vs-rest":
        sides = 2 * np.eye(n_classes, dtype=np.int64) - 1
    elif name == "one-vs-one":
        pairs = np.array(list(combinations(range(n_classes), 2)))
        sides = np.zeros((len(pairs), n_classes), dtype=np.int64)
        sides[np.arange(len(pairs)), pairs[:, 0]] = -1
        sides[np.arange(len(pairs)), pairs[:, 1]] = 1
    else:
        sides = np.zeros((n_classes - 1, n_classes), dtype=np.int64)
        for problem in range(n_classes - 1):
            sides[problem, places[problem]] = -1
            sides[problem, places[problem + 1 :]] = 1
    return TwoClassProblems(name, sides)


def ordered_problems(
    scheme: str, classes: NDArray[Any], order: Sequence[Any] | None = None
) -> TwoClassProblems:
    """Make the two-class problems of a scheme for labels, which a nested sequence splits off in a given order.

    Parameters
    ----------
    scheme : as for `two_class_problems`
    classes : ndarray
        The labels, in ascending order.
    order : sequence of labels, optional
    """
    if order is None:
        return two_class_problems(scheme, len(classes))
    labels = list(order)
    places = {label: place for place, label in enumerate(classes.tolist())}
    if len(labels) != len(places) or set(labels) != set(places):
        raise ValueError(f"class_order must name each of the classes {classes.tolist()} once, not {labels}.")
    return two_class_problems(scheme, len(classes), [places[label] for label in labels])
