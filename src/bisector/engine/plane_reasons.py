"""Why a plane answers as it does: what each feature adds, weight times value, and the way to another answer.

Everything is counted in float64, whatever the precision of the model: the parts add up, and to the model's own
value as far as that is known.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .decisions import comparison, nearest_problem
from .explanation import Account, Explanation, account_of, plain, told
from .moves import distances_to_planes, least_move, move_over_planes
from .show import number

Floats = NDArray[np.float64]


def feature_account(title: str, x: Floats, slope: Floats, intercept: float, names: list[str]) -> Account:
    """Return what each feature adds to w·x + b.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.engine.plane_reasons import feature_account
    >>> account = feature_account("score", np.array([1.0, 2.0]), np.array([3.0, -1.0]), 0.5, ["a", "b"])
    >>> account.names, account.values, account.total
    (['a', 'b', '(intercept)'], array([ 3. , -2. ,  0.5]), 1.5)
    """
    columns = {"value": x, "weight": slope}
    return account_of(
        title, slope * x, names=names, columns=columns, also={"(intercept)": float(intercept)}, of="features"
    )


def explain_values(
    X: Floats, coef: Floats, intercept: Floats, names: list[str], *, single: bool
) -> list[Explanation]:
    """Explain predicted numbers, one or several a row.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
    coef : ndarray of shape (n_targets, n_features)
    intercept : ndarray of shape (n_targets,)
    names : list of str
        Of the features.
    single : bool
        Whether there is one target.
    """
    found = []
    for x in X:
        titles = ["prediction"] if single else [f"prediction of target {t}" for t in range(len(coef))]
        accounts = [
            feature_account(title, x, slope, offset, names)
            for title, slope, offset in zip(titles, coef, intercept, strict=True)
        ]
        totals = [account.total for account in accounts]
        said = f"Predicted {', '.join(map(number, totals))}"
        found.append(
            Explanation(totals[0] if single else totals, f"{said}: {accounts[0].in_words()}.", accounts)
        )
    return found


def explain_classes(
    X: Floats,
    coef: Floats,
    intercept: Floats,
    codes: NDArray[np.int64],
    classes: NDArray[Any],
    names: list[str],
) -> list[Explanation]:
    """Explain classes decided by the sign of one score or the largest of several.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
    coef : ndarray of shape (1, n_features) for two classes, or (n_classes, n_features)
    intercept : ndarray of shape (1,) or (n_classes,)
    codes : ndarray of int
        The places of the classes that the model predicts.
    classes : ndarray
    names : list of str
    """
    scores = X @ coef.T + intercept
    if len(coef) == 1:
        return [
            _of_two(x, float(score), coef[0], float(intercept[0]), classes, int(code), names)
            for x, score, code in zip(X, scores[:, 0], codes, strict=True)
        ]
    return [
        _of_several(x, own, coef, intercept, classes, int(code), names)
        for x, own, code in zip(X, scores, codes, strict=True)
    ]


def _of_two(
    x: Floats, score: float, slope: Floats, offset: float, classes: NDArray[Any], code: int, names: list[str]
) -> Explanation:
    account = feature_account(f"score, positive for {told(classes[1])}", x, slope, offset, names)
    side = 1.0 if code else -1.0
    move = least_move(x, np.array([abs(score)]), side * slope[None], classes[[1 - code]])
    away = "" if move is None else f", {number(move.length)} away from the boundary"
    said = f"{told(classes[code])}, by a score of {number(score)}{away}: {account.in_words()}."
    return Explanation(plain(classes[code]), said, [account], move=move)


def _of_several(
    x: Floats,
    scores: Floats,
    coef: Floats,
    intercept: Floats,
    classes: NDArray[Any],
    code: int,
    names: list[str],
) -> Explanation:
    others = np.array(
        [k for k in range(len(classes)) if k != code and np.isfinite(scores[k])], dtype=np.int64
    )
    label = told(classes[code])
    accounts = [feature_account(f"score of {label}", x, coef[code], intercept[code], names)]
    said = f"{label}, by the largest score, {number(scores[code])}"
    move = None
    if len(others):
        leads, slopes = np.maximum(scores[code] - scores[others], 0.0), coef[code] - coef[others]
        move = least_move(x, leads, slopes, classes[others])
        second = others[int(np.argmin(leads))]
        ahead = feature_account(
            f"lead over {told(classes[second])}", x, coef[code] - coef[second],
            intercept[code] - intercept[second], names,
        )  # fmt: skip
        accounts.append(ahead)
        said += f", {number(ahead.total)} ahead of {told(classes[second])}"
        if move is not None:
            said += f" and {number(move.length)} away from the nearest boundary, with {told(move.answer)}"
    return Explanation(plain(classes[code]), f"{said}: {accounts[0].in_words()}.", accounts, move=move)


def explain_problems(
    X: Floats,
    coef: Floats,
    intercept: Floats,
    problems: NDArray[np.int64],
    decide: Callable[[Floats], NDArray[np.int64]],
    classes: NDArray[Any],
    names: list[str],
    units: Floats | None = None,
) -> list[Explanation]:
    """Explain classes decided by comparing some with others, a plane for each comparison.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
    coef, intercept : ndarray of shape (n_problems, n_features) and (n_problems,)
    problems : ndarray of int of shape (n_problems, n_classes)
        +1 where a class is positive, −1 where it is negative, 0 where it is left out.
    decide : callable
        From scores, (n_rows, n_problems), to the places of the classes.
    classes : ndarray
    names : list of str
    units : ndarray of shape (n_problems,), optional
        In which scores are compared to find the comparison that was won by least; by default as they are.
    """
    scores = X @ coef.T + intercept
    found = []
    for x, own, code in zip(X, scores, decide(scores), strict=True):
        place, side = nearest_problem(own if units is None else own * units, problems, int(code))
        account = feature_account(
            f"score of {comparison(problems[place], side, classes)}",
            x, side * coef[place], side * intercept[place], names,
        )  # fmt: skip
        move = move_over_planes(x, own, coef, code, lambda moved: decide(moved[None])[0])
        away = distances_to_planes(own[place : place + 1], coef[place : place + 1])[0]
        said = (
            f"{told(classes[code])}, by {number(account.total)} as the {account.title}, {number(float(away))} away "
            f"from that plane: {account.in_words()}."
        )
        if move is not None:
            move = type(move)(move.to, move.length, plain(classes[move.answer]), move.smallest)
        found.append(Explanation(plain(classes[code]), said, [account], move=move))
    return found
