"""Why a model answers as it does, as plain data; `bisector.reasons` puts it into words, tables and pictures.

An estimator that can explain itself has a method ``explain_rows(X)``, which returns one `Explanation` for each row.
Its accounts add up: the contributions of the features to the score, the votes of the neighbours to the probability,
the shares of the components to the density.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .show import number

Floats = NDArray[np.float64]
Model = TypeVar("Model")

# Of more parts than these only the largest are kept, and the others added up: a model of a million rows would
# otherwise explain one prediction by a million numbers.
MOST_PARTS = 100


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
        Which training rows they are; −1 for a part that is none.
    columns : mapping of str to sequence
        What is told beside each part: its distance, its label, the feature's value.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.engine.explanation import Account
    >>> account = Account("score", np.array([2.0, -0.5]), 1.5, names=["bmi", "(intercept)"])
    >>> account.adds_up()
    True
    >>> account.in_words()
    'bmi adds 2 and (intercept) takes away 0.5'
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

    def in_words(self, most: int = 2) -> str:
        """Say which parts add or take away most, as in "bmi adds 2 and age takes away 0.5"."""
        words: list[str] = []
        # What is named in brackets, an intercept or parts added up, is there whatever the row is.
        order = sorted(self.largest(len(self.values)), key=lambda place: self.name(place).startswith("("))
        for place in order[:most]:
            value = float(self.values[place])
            if value or not words:
                verb = "adds" if value >= 0 else "takes away"
                words.append(f"{self.name(int(place))} {verb} {number(abs(value))}")
        return " and ".join(words) or "nothing adds anything"

    def name(self, place: int) -> str:
        """Return what a part is called."""
        if self.names is not None:
            return str(self.names[place])
        return f"part {place}" if self.rows is None else f"row {int(self.rows[place])}"


@dataclass(frozen=True)
class Move:
    """A small move of a row after which the model answers otherwise.

    Attributes
    ----------
    to : ndarray of shape (n_features,)
        Where the boundary is met; the least step beyond it changes the answer.
    length : float
        How far that is: in a straight line where a boundary is known exactly, else in the model's own distance.
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


def account_of(
    title: str,
    values: Any,
    *,
    names: Sequence[str] | None = None,
    rows: NDArray[Any] | None = None,
    columns: Mapping[str, Any] | None = None,
    also: Mapping[str, float] | None = None,
    of: str = "rows",
    most: int = MOST_PARTS,
) -> Account:
    """Make an account whose total is the sum of its parts.

    Parameters
    ----------
    title : str
    values : array of shape (n_parts,)
        Of more than `most` of them the largest come first, and the others are added up.
    names : sequence of str, optional
        By default the rows are named.
    rows : array of int of shape (n_parts,), optional
    columns : mapping of str to sequence, optional
    also : mapping of str to float, optional
        Parts that stand at the end and are always kept, such as an intercept; nothing is told beside them.
    of : str
        What the parts are, for the words that stand for those added up.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.engine.explanation import account_of
    >>> account = account_of("sum", [1.0, -5.0, 0.5], rows=np.array([7, 8, 9]), also={"(intercept)": 2.0}, most=1)
    >>> account.names, account.values, account.total
    (['row 8', '(2 other rows)', '(intercept)'], array([-5. ,  1.5,  2. ]), -1.5)
    """
    parts = np.asarray(values, dtype=np.float64)
    kept = np.arange(len(parts))
    extra = dict(also or {})
    if len(parts) > most:
        order = np.argsort(-np.abs(parts), kind="stable")
        kept = order[:most]
        extra = {f"({len(parts) - most:,} other {of})": float(parts[order[most:]].sum()), **extra}
    if names is None:
        numbers = kept if rows is None else np.asarray(rows)[kept]
        said = [f"row {number}" for number in numbers.tolist()]
    else:
        said = [str(names[int(place)]) for place in kept]
    beside = {
        word: [*(plain(column[place]) for place in kept), *([None] * len(extra))]
        for word, column in (columns or {}).items()
    }
    whole = np.concatenate([parts[kept], np.fromiter(extra.values(), np.float64, len(extra))])
    places = None
    if rows is not None:
        places = np.concatenate([np.asarray(rows, np.int64)[kept], np.full(len(extra), -1)])
    return Account(title, whole, float(np.sum(whole)), [*said, *extra], places, beside)


def feature_names(estimator: Any, n_features: int) -> list[str]:
    """Return what the features of a fitted model are called: as the columns of X were, or x0, x1, …

    Examples
    --------
    >>> from bisector import LinearRegression
    >>> from bisector.engine.explanation import feature_names
    >>> feature_names(LinearRegression().fit([[0.0, 1.0], [1.0, 1.0]], [0.0, 1.0]), 2)
    ['x0', 'x1']
    """
    learned = vars(estimator)
    for known in ("_words_for_features", "feature_names_in_"):
        if known in learned and len(learned[known]) == n_features:
            return [str(name) for name in learned[known]]
    return [f"x{j}" for j in range(n_features)]


def called(estimator: Model, names: Sequence[str]) -> Model:
    """Return a copy of a fitted model that calls its features otherwise; what it learned is shared."""
    same = unnamed(estimator)
    vars(same)["_words_for_features"] = [str(name) for name in names]
    return same


def unnamed(estimator: Model) -> Model:
    """Return a copy of a fitted model that takes arrays without a word about the names of their columns."""
    same = object.__new__(type(estimator))
    kept = {name: value for name, value in vars(estimator).items() if name != "feature_names_in_"}
    vars(same).update(kept)
    return same


def plain(value: Any) -> Any:
    """Return a label or a number as Python has it, rather than NumPy."""
    return value.item() if isinstance(value, np.generic) else value


def told(label: Any) -> str:
    """Write a label so that text and numbers can be told apart.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.engine.explanation import told
    >>> told(np.array(["a"])[0]), told(np.int64(3))
    ("'a'", '3')
    """
    return repr(plain(label))
