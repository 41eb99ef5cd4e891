"""Explanations as plain data, which any format can hold: dicts, lists, text, numbers and None."""

import math
from typing import Any

import numpy as np

from bisector.engine.explanation import Account, Explanation, Move


def explanation_data(explanation: Explanation, features: list[str] | None = None) -> dict[str, Any]:
    """Return an explanation as a dict.

    Parameters
    ----------
    explanation : Explanation
    features : list of str, optional
        What the coordinates of a move are called.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.engine.explanation import Account, Explanation
    >>> from bisector.reasons.plain_data import explanation_data
    >>> account = Account("score", np.array([2.0]), 2.0, names=["bmi"], columns={"value": [0.5]})
    >>> explanation_data(Explanation("yes", "It is yes.", [account]))["accounts"]
    [{'title': 'score', 'total': 2.0, 'parts': [{'name': 'bmi', 'adds': 2.0, 'value': 0.5}]}]
    """
    return {
        "answer": plain_value(explanation.answer),
        "summary": explanation.summary,
        "accounts": [_account(account) for account in explanation.accounts],
        "path": [str(step) for step in explanation.path],
        "move": None if explanation.move is None else _move(explanation.move, features),
    }


def _account(account: Account) -> dict[str, Any]:
    parts = []
    for place, value in enumerate(account.values):
        part = {"name": account.name(place), "adds": plain_value(value)}
        if account.rows is not None and account.rows[place] >= 0:
            part["row"] = int(account.rows[place])
        for word, column in account.columns.items():
            if column[place] is not None:
                part[word] = plain_value(column[place])
        parts.append(part)
    return {"title": account.title, "total": plain_value(account.total), "parts": parts}


def _move(move: Move, features: list[str] | None) -> dict[str, Any]:
    to = [plain_value(value) for value in move.to]
    named = None if features is None or len(features) != len(to) else dict(zip(features, to, strict=True))
    return {
        "to": to if named is None or len(named) != len(to) else named,
        "length": plain_value(move.length),
        "answer": plain_value(move.answer),
        "smallest": bool(move.smallest),
    }


def plain_value(value: Any) -> Any:
    """Return a value as JSON can hold it: NaN and infinities, which it has no words for, are None."""
    if isinstance(value, np.ndarray):
        return [plain_value(one) for one in value.tolist()]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, list | tuple):
        return [plain_value(one) for one in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, bool | int | str) or value is None else str(value)
