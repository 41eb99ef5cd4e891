"""A prediction by least squares as a sum over the training rows: targets times weights (LFD, Problem 6.6)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.engine.blocks import as_columns
from bisector.engine.explanation import Account, Explanation, account_of
from bisector.engine.sources import Source, source
from bisector.engine.validation import check_rows, check_training
from bisector.solvers.equivalent_kernel import equivalent_kernel
from bisector.solvers.tikhonov import Tikhonov

Floats = NDArray[np.float64]

# Up to so many training rows that a model still refers to are weighed without being asked for; and so many weights
# are held at a time.
UNASKED = 20_000
AT_ONCE = 2**22
# How far the weighted targets may be from the prediction, as a share of their sizes: more than rounding means that
# other rows were given than those of the fit.
ROUNDING = 1e-6


def training_rows(model: Any, training: Any) -> Source | None:
    """Return the rows that a model was fitted on: those given, or those it still refers to if they are few."""
    if training is not None:
        if not isinstance(training, tuple) or len(training) not in (2, 3):
            raise ValueError("training must be (X, y) or (X, y, sample_weight), as they were given to fit.")
        return check_training(model, *training, multi_output=True)[0]
    kept: Source | None = vars(model).get("_rows")
    if kept is None or kept.y is None or kept.n_rows > UNASKED:
        return None
    return kept


def with_row_accounts(
    explained: list[Explanation],
    model: Any,
    X: Any,
    training: Source,
    alpha: Floats,
    penalty: Tikhonov,
    *,
    intercept: bool,
) -> list[Explanation]:
    """Add to each explanation, for every target, what each training row adds to the prediction."""
    targets = as_columns(training.y, training.n_rows).astype(np.float64)
    strengths = np.broadcast_to(alpha, targets.shape[1])
    rows, made = check_rows(model, X), []
    step = max(1, AT_ONCE // training.n_rows)
    for start in range(0, rows.n_rows, step):
        some = np.arange(start, min(start + step, rows.n_rows))
        weights = {
            float(one): equivalent_kernel(
                training,
                source(rows.take(some)),
                float(one),
                penalty,
                intercept=intercept,
                n_jobs=model.n_jobs,
            )
            for one in np.unique(strengths)
        }
        for place, row in enumerate(some.tolist()):
            of_rows = [
                _account(weights[float(strength)][place], targets[:, t], explained[row].accounts[t])
                for t, strength in enumerate(strengths)
            ]
            before = explained[row]
            made.append(Explanation(before.answer, before.summary, [*before.accounts, *of_rows]))
    return made


def _account(weights: Floats, targets: Floats, by_features: Account) -> Account:
    title = f"{by_features.title}, by training rows"
    parts = weights * targets
    size = float(np.abs(parts).sum()) + abs(by_features.total)
    if abs(float(parts.sum()) - by_features.total) > ROUNDING * size:
        raise ValueError(
            "The rows given as training do not add up to this model's predictions: give those it was fitted on, "
            "with their targets and weights."
        )
    order = np.argsort(-np.abs(parts), kind="stable")
    columns = {"target": targets[order], "weight": weights[order]}
    return account_of(title, parts[order], rows=order, columns=columns)
