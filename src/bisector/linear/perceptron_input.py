"""What a perceptron is told besides X and y: a penalty, an order, rows to judge by, weights to begin with."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bisector.engine.sources import Source
from bisector.engine.validation import check_choice, check_finite, check_number, find_not_finite
from bisector.solvers.class_sums import class_sums
from bisector.solvers.perceptron_pass import TooLargeError
from bisector.solvers.two_class_problems import TwoClassProblems

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def check_order(order: ArrayLike | None, n_rows: int) -> Integers:
    """Return the order in which rows are visited, as they are numbered by default."""
    if order is None:
        return np.arange(n_rows)
    numbers = np.asarray(order)
    if numbers.dtype.kind not in "iu" or not np.array_equal(np.sort(numbers, axis=None), np.arange(n_rows)):
        raise ValueError(f"order must name each of the {n_rows} rows once, by its number from 0 on.")
    return numbers.astype(np.int64)


def check_penalty(model: Any) -> tuple[float, float] | None:
    """Return the strength of the penalty and the share of its L1 part, if there is one."""
    if model.penalty is None:
        return None
    check_choice("penalty", model.penalty, ("l2", "l1", "elasticnet"))
    if model.averaged or model.history or model.early_stopping:
        raise ValueError(
            "averaged, history and early_stopping have no meaning with a penalty: set penalty=None, or leave them."
        )
    alpha = check_finite("alpha", model.alpha, at_least=0)
    ratio = check_number("l1_ratio", model.l1_ratio, at_least=0)
    if ratio > 1:
        raise ValueError(f"l1_ratio must be a number at least 0 and at most 1, not {model.l1_ratio!r}.")
    return alpha, {"l2": 0.0, "l1": 1.0, "elasticnet": ratio}[model.penalty]


def set_aside(codes: Integers, weight: Floats | None, fraction: float, seed: int) -> Floats:
    """Choose rows of every class to judge by, at random; return their weights, zero for the other rows."""
    from sklearn.model_selection import train_test_split

    present = np.arange(len(codes)) if weight is None else np.flatnonzero(weight)
    many = np.bincount(codes[present]).min() >= 2 and fraction * len(present) >= codes.max() + 1
    try:
        _, chosen = train_test_split(
            present, test_size=fraction, random_state=seed % 2**32, stratify=codes[present] if many else None
        )
    except ValueError:
        raise ValueError(
            f"early_stopping=True sets {fraction:g} of the rows aside, but there are only {len(present)} samples: "
            "use early_stopping=False."
        ) from None
    judges = np.zeros(len(codes))
    judges[chosen] = 1.0 if weight is None else weight[chosen]
    return judges


def check_starts(
    coef: ArrayLike | None, intercept: ArrayLike | None, n_problems: int, n_features: int
) -> Floats:
    """Return weights to begin with that were given, intercepts last; what was not given is zero."""
    starts = np.zeros((n_problems, n_features + 1))
    parts: list[tuple[str, Any, Any]] = [
        ("coef_init", coef, starts[:, :-1]),
        ("intercept_init", intercept, starts[:, -1]),
    ]
    for name, values, part in parts:
        if values is None:
            continue
        shape = part.shape
        numbers = np.asarray(values, dtype=np.float64)
        if n_problems == 1 and numbers.size == np.prod(shape):
            numbers = numbers.reshape(shape)
        if numbers.shape != shape or not np.isfinite(numbers).all():
            raise ValueError(
                f"{name} must hold finite numbers in the shape {shape}, but its shape is {numbers.shape}."
            )
        part[:] = numbers
    return starts


def basic_starts(
    rows: Source, problems: TwoClassProblems, intercept: bool, n_jobs: int | None = None
) -> Floats:
    """Return the basic linear classifier of every two-class problem: μ⊕ − μ⊖, and the middle of the means."""
    found = class_sums(rows, problems.n_classes, n_jobs=n_jobs)
    starts = np.zeros((len(problems), rows.n_features + 1))
    for start, sides in zip(starts, problems.problems, strict=True):
        shares = [np.where(sides == side, found.weights, 0.0) for side in (1, -1)]
        positive, negative = (share @ found.means / share.sum() for share in shares)
        start[:-1] = positive - negative
        start[-1] = -(positive - negative) @ (positive + negative) / 2 if intercept else 0.0
    return starts


@contextmanager
def located(rows: Source) -> Iterator[None]:
    """Say which value of X is not finite, when the solver met one."""
    try:
        yield
    except TooLargeError:
        find_not_finite(rows)
        raise ValueError(
            "X has values so large that their squares overflow: give the features in larger units."
        ) from None
