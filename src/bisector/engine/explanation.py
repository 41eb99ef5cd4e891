"""Why a model answers as it does, as plain data; `bisector.reasons` puts it into words, tables and pictures.

An estimator that can explain itself has a method ``explain_rows(X)``, which returns one `Explanation` for each row.
Its accounts add up: the contributions of the features to the score, the votes of the neighbours to the probability,
the shares of the components to the density.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Account:
    """Parts that add up to a total.

    Attributes
    ----------
    title : str
        What the total is: ``"score"``, ``"votes for 'setosa'"``.
    values : ndarray of shape (n_parts,)
        What each part adds.
    total : float
        Their sum.
    names : sequence of str, optional
        What the parts are called: features, components, exemplars.
    rows : ndarray of int of shape (n_parts,), optional
        Which training rows they are.
    columns : mapping of str to sequence
        What is told beside each part: its distance, its label, the feature's value.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.engine.explanation import Account
    >>> account = Account("score", np.array([2.0, -0.5]), 1.5, names=["bmi", "(intercept)"])
    >>> account.adds_up()
    True
    """

    title: str
    values: Floats
    total: float
    names: Sequence[str] | None = None
    rows: NDArray[np.int64] | None = None
    columns: Mapping[str, Sequence[Any] | NDArray[Any]] = field(default_factory=dict)

    def adds_up(self, tolerance: float = 1e-9) -> bool:
        """Tell whether the parts sum to the total, relative to the sum of their sizes."""
        size = max(float(np.abs(self.values).sum()), abs(self.total), np.finfo(float).tiny)
        return abs(float(np.sum(self.values)) - self.total) <= tolerance * size

    def largest(self, most: int) -> NDArray[np.int64]:
        """Return the places of the parts that add or take away most, the largest first."""
        return np.argsort(-np.abs(self.values), kind="stable")[:most]


@dataclass(frozen=True)
class Move:
    """A small move of a row after which the model answers otherwise.

    Attributes
    ----------
    to : ndarray of shape (n_features,)
        Where the boundary is met; the least step beyond it changes the answer.
    length : float
        How far that is, in the model's own distance.
    answer : object
        What the model answers beyond.
    smallest : bool
        Whether no shorter move changes the answer.
    """

    to: Floats
    length: float
    answer: Any
    smallest: bool


@dataclass(frozen=True)
class Explanation:
    """Why a model answers as it does for one row.

    Attributes
    ----------
    answer : object
        What the model predicts: a class, a number, a cluster, a density.
    summary : str
        One sentence.
    accounts : sequence of Account
        The most telling one first.
    path : sequence of str
        Steps that lead to the answer, for instance the conditions of a tree.
    move : Move, optional
        The move that changes the answer.
    """

    answer: Any
    summary: str
    accounts: Sequence[Account] = ()
    path: Sequence[str] = ()
    move: Move | None = None
