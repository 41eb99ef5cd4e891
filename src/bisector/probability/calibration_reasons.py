"""Why a calibrated classifier is as sure as it is: scores, and what calibrators make of them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.engine.explanation import Account, Explanation, account_of, plain, told
from bisector.engine.show import number
from bisector.probability.calibrated_pair import CalibratedPair, class_scores


def explain_pairs(pairs: list[CalibratedPair], classes: NDArray[Any], X: Any) -> list[Explanation]:
    """Explain probabilities that are the mean of those of several fitted classifiers."""
    scores = [class_scores(pair.estimator, X) for pair in pairs]
    each = np.stack([pair.predict_proba(X) for pair in pairs])
    codes = each.mean(axis=0).argmax(axis=1)
    names = [f"classifier {j}" for j in range(len(pairs))]
    explained = []
    for i, code in enumerate(codes.tolist()):
        own = each[:, i, code].astype(np.float64)
        told_scores = [_score(pair, part[i], code) for pair, part in zip(pairs, scores, strict=True)]
        columns = {"score": told_scores, "probability": own}
        title = f"probability of {told(classes[code])}"
        accounts = [account_of(title, own / len(pairs), names=names, columns=columns, of="classifiers")]
        if len(pairs) == 1:
            accounts += _inside(pairs[0], scores[0][i], code)
        said = f"{told(classes[code])}, with probability {number(accounts[0].total)}"
        said += f", the mean of {len(pairs)} classifiers." if len(pairs) > 1 else "."
        explained.append(Explanation(plain(classes[code]), said, accounts))
    if len(pairs) == 1 and hasattr(pairs[0].estimator, "explain_rows"):
        inner = pairs[0].estimator.explain_rows(X)
        explained = [
            Explanation(one.answer, one.summary, [*one.accounts, *other.accounts])
            for one, other in zip(explained, inner, strict=True)
        ]
    return explained


def _score(pair: CalibratedPair, scores: NDArray[Any], code: int) -> float | None:
    """Return the score of a class, or of two classes the one score; None for a class that was not met."""
    if len(scores) == 1:
        return float(scores[0])
    place = np.flatnonzero(pair.places == code)
    return float(scores[place[0]]) if len(place) else None


def _inside(pair: CalibratedPair, scores: NDArray[Any], code: int) -> list[Account]:
    """Return what the calibrator of a class makes of its score."""
    place = 0 if len(scores) == 1 else int(np.flatnonzero(pair.places == code)[0])
    explanation = pair.calibrators[place].explain_rows(scores[place : place + 1])[0]
    # Calibrators are fitted to "this class or not": its name is that of the positive class.
    positive = pair.classes[pair.places[1 if len(scores) == 1 else place]]
    return [
        Account(
            f"{account.title.partition(' of ')[0]} of {told(positive)}", account.values, account.total,
            account.names, account.rows, account.columns,
        )
        for account in explanation.accounts
    ]  # fmt: skip
