"""Which of several two-class problems a class was closest to losing, and what made it win."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .explanation import Explanation, account_of, plain, told
from .show import number

Floats = NDArray[np.float64]


def nearest_problem(scores: Floats, problems: NDArray[np.int64], code: int) -> tuple[int, int]:
    """Return the two-class problem that a class takes part in and wins by least, and its side there.

    Parameters
    ----------
    scores : ndarray of shape (n_problems,)
        Positive for the positive side.
    problems : ndarray of int of shape (n_problems, n_classes)
        +1 where a class is positive, −1 where it is negative, 0 where it is left out.
    code : int
        The place of the class.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.engine.decisions import nearest_problem
    >>> pairs = np.array([[-1, 1, 0], [-1, 0, 1], [0, -1, 1]])
    >>> nearest_problem(np.array([2.0, 1.0, -0.5]), pairs, 1)
    (2, -1)
    """
    sides = problems[:, code]
    with np.errstate(invalid="ignore"):
        won = np.where(sides != 0, sides * scores, np.inf)
    place = int(np.argmin(won))
    return place, int(sides[place])


def comparison(sides: NDArray[np.int64], side: int, classes: NDArray[Any]) -> str:
    """Say which classes a two-class problem sets against which, beginning with those on a side.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.engine.decisions import comparison
    >>> comparison(np.array([-1, 1, 0]), -1, np.array(["a", "b", "c"]))
    "'a' against 'b'"
    """
    for_it, against = (" or ".join(told(label) for label in classes[sides == one]) for one in (side, -side))
    return f"{for_it} against {against}"


def explain_sums(
    values: Floats,
    weights: Floats,
    offsets: Floats,
    problems: NDArray[np.int64],
    codes: NDArray[np.int64],
    classes: NDArray[Any],
    *,
    beside: Callable[[int], Mapping[str, Any]],
    rows: NDArray[Any] | None = None,
    names: list[str] | None = None,
    units: Floats | None = None,
    value: str = "kernel",
    of: str = "rows",
) -> list[Explanation]:
    """Explain classes decided by scores Σⱼ weights[j]·values[j] + offset, such as of a machine with a kernel.

    Parameters
    ----------
    values : ndarray of shape (n_queries, n_parts)
        What each query has of each part: a kernel value, the height of a bump.
    weights : ndarray of shape (n_parts, n_problems)
    offsets : ndarray of shape (n_problems,)
    problems : ndarray of int of shape (n_problems, n_classes)
        As of `nearest_problem`; if each class has one of its own, its score is explained.
    codes : ndarray of int
        The places of the classes that the model predicts.
    classes : ndarray
    beside : callable
        From a problem to what is told beside each part.
    rows, names
        Which training rows the parts are, or what they are called.
    units : ndarray of shape (n_problems,), optional
        In which scores are compared to find the problem that was won by least; by default as they are.
    value, of : str
        What `values` and the parts are called.
    """
    scores = values @ weights + offsets
    own_each = len(problems) == len(classes) > 2 and bool((problems != 0).all())
    found = []
    for line, own, code in zip(values, scores, codes, strict=True):
        if len(problems) == 1:
            place, side, title = 0, 1, f"score, positive for {told(classes[1])}"
        elif own_each:
            place, side, title = int(code), 1, f"score of {told(classes[code])}"
        else:
            place, side = nearest_problem(own if units is None else own * units, problems, int(code))
            title = f"score of {comparison(problems[place], side, classes)}"
        weight = side * weights[:, place]
        told_beside = {value: line, "weight": weight, **beside(place)}
        used = np.flatnonzero(weight)
        used = used[np.argsort(-np.abs(weight * line)[used], kind="stable")]
        account = account_of(
            title,
            (weight * line)[used],
            rows=None if rows is None else rows[used],
            names=None if names is None else [names[j] for j in used],
            columns={word: np.asarray(column)[used] for word, column in told_beside.items()},
            also={"(intercept)": side * float(offsets[place])},
            of=of,
        )
        said = f"{told(classes[code])}, by {number(account.total)} as the {title}: {account.in_words()}."
        found.append(Explanation(plain(classes[code]), said, [account]))
    return found
