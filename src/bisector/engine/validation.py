"""The door: what every estimator asks of its input, once.

Below ``fit`` and ``predict`` all arrays are clean. X stays what it is and becomes a source; that its values
are finite is noticed by the statistic made from it and only then looked for, since a check of its own would
cost as much as a fit. What a fit learns is gathered on a stand-in and stored together at the end, so that an
estimator is never half-fitted.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from .blocks import Block
from .columns import Column
from .sources import Source, is_collection, named_columns, source

Estimator = TypeVar("Estimator")
Seed = int | np.random.Generator

LARGEST_WEIGHT = 1e100


def check_training(
    estimator: Any, X: Any, y: Any, sample_weight: Any = None, *, multi_output: bool = False
) -> tuple[Source, Any]:
    """Check the input of a supervised ``fit`` with numeric targets.

    Returns
    -------
    rows : Source
        X as rows, with float64 targets and weights cut along.
    stand_in : object of the estimator's class
        Holds the parameters and what the input told (``n_features_in_``, ``feature_names_in_``); `store`
        copies it to the estimator at the end of the fit.
    """
    stand_in = blank(estimator)
    require_targets(estimator, y)
    rows = _rows(stand_in, X, y, reset=True)
    name = type(estimator).__name__
    if rows.y is not None:
        rows.y = _check_targets(rows.y, multi_output, name)
    elif not (multi_output or rows.single_target):
        raise ValueError(f"{name} learns one target: let y be the name of one column, not {y!r}.")
    return weighted(rows, sample_weight), stand_in


def weighted(rows: Source, sample_weight: Any) -> Source:
    """Lay checked weights beside the rows."""
    if sample_weight is None or rows.executor is None:
        rows.sample_weight = check_weights(sample_weight, rows.n_rows)
    else:
        from .dask_checks import checked_weights

        rows.sample_weight = checked_weights(rows, sample_weight)
    return rows


class Classed(NamedTuple):
    """The checked input of a classifier's ``fit``.

    Attributes
    ----------
    rows : Source
        X as rows with their weights; ``rows.y`` are the codes.
    codes : ndarray of int
        Places of the rows' labels in `classes`.
    classes : ndarray
        The labels of which a row has a weight, in ascending order: at least two.
    stand_in : object
        As of `check_training`.
    """

    rows: Source
    codes: NDArray[np.int64]
    classes: NDArray[Any]
    stand_in: Any


def check_classes(
    estimator: Any, X: Any, y: Any, sample_weight: Any = None, class_weight: Any = None
) -> Classed:
    """Check the input of a classifier's ``fit``: one label a row, or the name of the column of X that holds them.

    Unlike numeric targets, a list of strings is always labels. A row without weight is as good as absent: rows
    of classes that lose all their weight are left out.
    """
    from .frames import split_column
    from .targets import check_labels, row_weights

    if is_collection(X):
        from .dask_checks import checked_classes

        return checked_classes(estimator, X, y, sample_weight, class_weight)
    stand_in, name = blank(estimator), type(estimator).__name__
    features = None
    if isinstance(y, str):
        X, labels = split_column(X, y)
        if hasattr(X, "get_fragments"):
            features = [column for column in X.schema.names if column != y]
        y = labels
    require_targets(estimator, y)
    rows = _rows(stand_in, X, None, reset=True, features=features)
    found = check_labels(estimator, y, rows.n_rows)
    if not found.single:
        raise ValueError(f"{name} learns one label a row, but y has the shape {np.shape(y)}.")
    codes, classes = found.codes[:, 0], found.classes[0]
    weight = check_weights(sample_weight, rows.n_rows)
    weight = row_weights(class_weight, codes, classes, weight)
    if weight is not None:
        held = np.bincount(codes, weight, minlength=len(classes)) > 0
        if not held.all():
            kept = held[codes]
            rows, weight = source(rows.take(kept)), weight[kept]
            codes, classes = (np.cumsum(held) - 1)[codes[kept]], classes[held]
    require_classes(name, classes, weighted=weight is not None)
    rows.y, rows.sample_weight = codes, weight
    return Classed(rows, codes, classes, stand_in)


def require_classes(name: str, classes: NDArray[Any], *, weighted: bool) -> None:
    """Refuse labels that are all the same."""
    if len(classes) < 2:
        weighed = " with a weight" if weighted else ""
        raise ValueError(
            f"{name} needs rows of at least two classes, but y has one class{weighed}: {classes.tolist()}."
        )


def fresh_rows(estimator: Any, X: Any) -> tuple[Source, Any]:
    """Check the rows of a ``fit`` whose targets are checked apart; return them with a stand-in."""
    stand_in = blank(estimator)
    return _rows(stand_in, X, None, reset=True), stand_in


def check_rows(estimator: Any, X: Any) -> Source:
    """Check the input of ``predict`` and its like against what ``fit`` saw."""
    # What a fit learns is stored together: of an estimator that knows its features, no more need be asked.
    if "n_features_in_" not in vars(estimator):
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(estimator)
    return _rows(estimator, X, None, reset=False)


def store(estimator: Estimator, stand_in: Any, **learned: Any) -> Estimator:
    """Replace what the estimator learned before by what it has learned now, all at once."""
    kept = {name: value for name, value in vars(estimator).items() if not _is_learned(name)}
    found = {name: value for name, value in vars(stand_in).items() if _is_learned(name)}
    estimator.__dict__ = {**kept, **found, **learned}
    return estimator


def _is_learned(name: str) -> bool:
    return name.endswith("_") and not name.startswith("_")


def blank(estimator: Any) -> Any:
    """Make a stand-in with the estimator's parameters, on which a fit notes what it learns until it is done."""
    stand_in = object.__new__(type(estimator))
    vars(stand_in).update({name: value for name, value in vars(estimator).items() if not _is_learned(name)})
    return stand_in


def _rows(estimator: Any, X: Any, y: Any, *, reset: bool, features: list[str] | None = None) -> Source:
    if is_plain_table(estimator, X, reset=reset):
        return source(X, y)
    from sklearn.utils.validation import validate_data

    from . import frames

    name = type(estimator).__name__
    if frames.is_dataset(X) or frames.is_frame(X) or is_collection(X):
        # A file may hold more than the model was fitted on, its target for one.
        rows = source(X, y, features=features if reset else getattr(estimator, "feature_names_in_", None))
        if not rows.n_rows or not rows.n_features:
            raise ValueError(
                f"Found array with {rows.n_rows} sample(s) and {rows.n_features} feature(s) "
                f"(shape={(rows.n_rows, rows.n_features)}) while a minimum of 1 is required by {name}."
            )
        validate_data(estimator, _header(X, y, rows), reset=reset, skip_check_array=True)
        return rows
    X = validate_data(
        estimator, X, reset=reset, accept_sparse="csr", dtype="numeric", ensure_all_finite=False
    )
    return source(X, y)


def _header(X: Any, y: Any, rows: Source) -> Any:
    """Return a table without rows that has the columns of X."""
    from . import frames

    if rows.executor is not None and rows.feature_names is None:
        return np.empty((0, rows.n_features))
    in_memory = X if rows.executor is None else None
    return frames.header(in_memory, rows.feature_names, named_columns(y))


def is_plain_table(estimator: Any, X: Any, *, reset: bool) -> bool:
    """Tell whether X is an array of real numbers that fits the estimator; on `reset`, note its width there.

    Of such an array scikit-learn's `validate_data` would find nothing to say but whether it is finite, and take a
    fifth of the time of a small fit.
    """
    if not (type(X) is np.ndarray and X.ndim == 2 and X.size > 0 and X.dtype.kind in "fiu"):
        return False
    if reset:
        vars(estimator).pop("feature_names_in_", None)
        estimator.n_features_in_ = X.shape[1]
        return True
    learned = vars(estimator)
    return learned.get("n_features_in_") == X.shape[1] and "feature_names_in_" not in learned


def require_targets(estimator: Any, y: Any) -> None:
    """Refuse to learn without y what needs it."""
    from sklearn.utils import get_tags

    if y is None and get_tags(estimator).target_tags.required:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None: call fit(X, y)."
        )


def _check_targets(y: Any, multi_output: bool, name: str) -> Any:
    from sklearn.utils.validation import column_or_1d

    if isinstance(y, Column):
        from .dask_checks import checked_targets

        return checked_targets(y, multi_output, name, _check_targets)

    if not multi_output and y.ndim != 1:
        y = column_or_1d(y, warn=True)
    elif y.ndim > 2:
        raise ValueError(f"y must have one or two dimensions, but has {y.ndim}.")
    if not y.size:
        raise ValueError(f"y has the shape {y.shape}, which holds no targets: give one a row.")
    if y.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {name} needs real numbers as targets.")
    try:
        if y.dtype.kind in "US":  # text that reads as numbers is still text
            raise TypeError
        y = np.ascontiguousarray(y, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} needs numbers as targets, but y has the type {y.dtype}.") from None
    raise_not_finite(y, "y", None, first_row=0)
    return y


def check_weights(sample_weight: Any, n_rows: int) -> NDArray[np.float64] | None:
    """Return the weights as an array, or None; they must be finite, not negative, and not all zero."""
    if sample_weight is None:
        return None
    try:
        weight = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("sample_weight must hold one number for each row of X.") from None
    if weight.ndim == 0:
        weight = np.full(n_rows, float(weight))
    if weight.shape != (n_rows,):
        raise ValueError(
            f"sample_weight.shape == {weight.shape}, expected {(n_rows,)}: give one weight for each row of X."
        )
    check_weight_values(weight, 0)
    require_weight(bool(weight.any()))
    return np.ascontiguousarray(weight)


def check_weight_values(
    weight: NDArray[np.float64], first_row: int, whereabouts: Callable[[int], str] = "row {}".format
) -> None:
    """Refuse weights that are not finite, negative, or too large; the first is that of `first_row`."""
    bad = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if bad.size:
        kind = "negative" if weight[bad[0]] < 0 else "NaN or infinite"
        raise ValueError(
            f"sample_weight is {kind} in {whereabouts(first_row + int(bad[0]))} ({weight[bad[0]]}): weights must "
            "be zero or positive."
        )
    row = int(weight.argmax()) if weight.size else 0
    if weight.size and weight[row] > LARGEST_WEIGHT:
        raise ValueError(
            f"sample_weight is {weight[row]:g} in {whereabouts(first_row + row)}: a weight counts as so many equal "
            f"rows, and sums of such numbers overflow; divide all weights to stay below {LARGEST_WEIGHT:g}."
        )


def require_weight(found: bool) -> None:
    """Refuse weights of which none is positive."""
    if not found:
        raise ValueError("sample_weight is zero for every row, which leaves nothing to learn from.")


def find_not_finite(rows: Source) -> None:
    """Look for the first NaN or infinity in X and y and raise the error that names it; return if all are finite."""
    if rows.executor is not None:
        from .dask_checks import find_fault

        return find_fault(rows)
    for block in rows.blocks():
        not_finite_in(block, rows)
    return None


def not_finite_in(block: Block, rows: Any) -> None:
    """Raise the error that names the first NaN or infinity in one block of the rows, if it has one."""
    X = block.X
    if not np.isfinite(X.data if hasattr(X, "tocsr") else X).all():
        raise_not_finite(X, "X", rows.feature_names, block.first_row, whereabouts=rows.whereabouts)
    if block.y is not None and not np.isfinite(block.y).all():
        raise_not_finite(block.y, "y", None, block.first_row, whereabouts=rows.whereabouts)


def raise_not_finite(
    values: Any,
    what: str,
    names: list[str] | None,
    first_row: int,
    *,
    otherwise: str = "",
    whereabouts: Callable[[int], str] = "row {}".format,
) -> None:
    """Raise the error that says where in `values` the first NaN or infinity is, if there is one.

    It says what to do: fill it, leave the row out, or, for NaN, `otherwise`. `whereabouts` says where a row is.
    """
    table = values.toarray() if hasattr(values, "tocsr") else np.asarray(values)
    finite = np.isfinite(table)
    if finite.all():
        return
    places = np.argwhere(~finite)
    row = first_row + int(places[0][0])
    value = "NaN" if np.isnan(table[tuple(places[0])]) else "inf"
    where = whereabouts(row)
    if table.ndim == 2:
        column = int(places[0][1])
        where += f", column {column}" + (f" ({names[column]!r})" if names else "")
    remedy = "fill it (for example with sklearn.impute.SimpleImputer) or leave such rows out"
    if otherwise and value == "NaN":
        remedy += f", {otherwise}"
    raise ValueError(f"{what} contains {value} in {where}: {remedy}.")


def check_flag(name: str, value: Any) -> bool:
    """Check a parameter that is true or false."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, not {value!r}.")
    return bool(value)


def check_number(
    name: str,
    value: Any,
    *,
    above: float | None = None,
    at_least: float | None = None,
    below: float | None = None,
) -> float:
    """Check a parameter that is a real number within bounds."""
    is_number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if (
        is_number
        and not math.isnan(value)
        and (above is None or value > above)
        and (at_least is None or value >= at_least)
        and (below is None or value < below)
    ):
        return float(value)
    limits = {"above": above, "at least": at_least, "below": below}
    words = " and ".join(f"{word} {limit:g}" for word, limit in limits.items() if limit is not None)
    wanted = f"{name} must be a number {words}".rstrip()
    raise (ValueError if is_number else TypeError)(f"{wanted}, not {value!r}.")


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> str:
    """Check a parameter that is one of a few words."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, not {value!r}.")
    return str(value)


def check_count(name: str, value: Any, *, at_least: int = 1, at_most: int | None = None) -> int:
    """Check a parameter that is a whole number within bounds."""
    is_whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if is_whole and value >= at_least and (at_most is None or value <= at_most):
        return int(value)
    limits = f"at least {at_least}" + (f" and at most {at_most}" if at_most is not None else "")
    raise (ValueError if is_whole else TypeError)(f"{name} must be a whole number {limits}, not {value!r}.")


def check_finite(
    name: str, value: Any, *, above: float | None = None, at_least: float | None = None
) -> float:
    """Check a parameter that is a finite number within bounds."""
    number = check_number(name, value, above=above, at_least=at_least)
    if math.isinf(number):
        raise ValueError(f"{name} must be finite, not {value!r}.")
    return number


def check_seed(seed: Any) -> np.random.Generator:
    """Return the generator that a seed stands for: the same for the same number, or the one given."""
    if isinstance(seed, np.random.Generator):
        return seed
    whole = isinstance(seed, int | np.integer) and not isinstance(seed, bool)
    if not whole or seed < 0:
        kind = ValueError if whole else TypeError
        raise kind(f"seed must be a whole number at least 0, or a numpy.random.Generator, not {seed!r}.")
    return np.random.default_rng(int(seed))
