"""Distances between sets."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bisector.distances.distance import Distance, Law, Pairs, Rows
from bisector.distances.minkowski import checked_weights
from bisector.distances.set_pairs import pairs_of_sets
from bisector.distances.set_rows import SetRows, one_set, set_rows
from bisector.engine.values import value


@value
class Jaccard(Distance):
    """The share of what two sets have together that only one of them has: 1 − #(A ∩ B) / #(A ∪ B).

    Sets come as the rows of a table of zeros and ones (an array, a frame), whose columns are the possible
    elements; as a sparse matrix, where what is not zero is an element; or as a sequence of Python sets or lists of
    anything hashable (lists of numbers are rows of a table: make sets of them if they are not). All give the
    same numbers: the quotient of two counts, rounded once. Two empty sets are at distance 0, an empty one and one
    that is not at distance 1.

    Parameters
    ----------
    weights : array-like of shape (n_features,), optional
        How much each column of a table counts: the sum of weights takes the place of the number of elements. A
        pair of sets without any weight is at distance 0.

    Examples
    --------
    >>> from bisector.distances import Jaccard
    >>> Jaccard()({"gills", "teeth", "beak"}, {"gills", "beak"})
    0.3333333333333333
    >>> Jaccard()([1, 1, 1, 0], [1, 0, 1, 0])
    0.3333333333333333
    """

    weights: ArrayLike | None = None

    names = ("jaccard",)
    synonyms = {"w": "weights"}  # noqa: RUF012

    def __post_init__(self) -> None:
        self._set(weights=checked_weights(self.weights))

    @property
    def law(self) -> Law:
        return "metric" if self.weights is None or np.all(self.weights) else "pseudo-metric"

    def prepare(self, X: Any, like: Rows | None = None, name: str = "X") -> SetRows:
        return self._checked(set_rows(X, like, name), name)

    def between(self, outer: Rows, inner: Rows, *, flipped: bool = False) -> Pairs:
        assert isinstance(outer, SetRows)
        assert isinstance(inner, SetRows)
        return pairs_of_sets(outer, inner, None if self.weights is None else np.asarray(self.weights))

    def __call__(self, x: Any, y: Any) -> float:
        right = self._checked(one_set(y, None, "y"), "y")
        left = self._checked(one_set(x, right, "x"), "x")
        distance = np.empty((1, 1))
        self.between(left, right).write(range(1), range(1), distance)
        return float(distance[0, 0])

    def _checked(self, rows: SetRows, name: str) -> SetRows:
        if self.weights is None:
            return rows
        n_weights = len(np.asarray(self.weights))
        if rows.header is None:
            raise ValueError(
                f"weights are of the columns of a table, but {name} holds Python sets: make a table of them, for "
                "example with sklearn.preprocessing.MultiLabelBinarizer."
            )
        if rows.n_elements != n_weights:
            raise ValueError(f"There are {n_weights} weights, but {name} has {rows.n_elements} columns.")
        return rows
