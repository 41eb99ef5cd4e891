"""The door for Dask collections: targets, labels and weights checked where they are.

What can be told from types is told at once. The rest is a reduction over the partitions: which labels there are,
whether weights are sound, and, once a statistic has shown that something is not finite, where that is.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .blocks import Block
from .columns import Column
from .dask_source import Borders
from .map_reduce import map_reduce
from .row_sums import weight_by_class
from .sources import is_collection
from .targets import check_labels, class_weights
from .validation import (
    Classed,
    check_weight_values,
    check_weights,
    fresh_rows,
    not_finite_in,
    require_classes,
    require_targets,
    require_weight,
)

# Numbers with so many different fractions in a block are no labels; a few of them are enough to say so.
FEW_FRACTIONS = 100


@dataclass(frozen=True)
class Fault:
    """The message about the first thing that is wrong, if anything is: a statistic."""

    message: str | None

    def merge(self, other: "Fault") -> "Fault":
        return other if self.message is None else self


def find_fault(rows: Any) -> None:
    """Look for the first NaN or infinity in X and y and raise the error that names it."""
    found = map_reduce(block_fault, rows, rows.borders, doing="looking for missing values")
    if found.message is not None:
        raise ValueError(found.message)


def block_fault(block: Block, borders: Borders) -> Fault:
    """Look for what is not finite in one block."""
    try:
        not_finite_in(block, borders)
    except ValueError as error:
        return Fault(str(error))
    return Fault(None)


# Targets


def checked_targets(
    y: Column, multi_output: bool, name: str, check: Callable[[Any, bool, str], NDArray[np.float64]]
) -> Column:
    """Check numeric targets; those in memory by `check`. That they are finite the statistic will show."""
    if y.held is not None:
        return Column.of(check(y.held, multi_output, name), y.sizes)
    if y.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {name} needs real numbers as targets.")
    if y.dtype.kind not in "iufbO":
        raise ValueError(f"{name} needs numbers as targets, but y has the type {y.dtype}.")
    if y.width is not None and not multi_output:
        y = _single(y, f"{name} learns one target, but y has the shape {y.shape}.")
    return y.mapped(as_targets, name, dtype=np.float64, width=y.width)


def as_targets(values: NDArray[Any], name: str) -> NDArray[np.float64]:
    """Return the targets of one partition as numbers."""
    try:
        return np.ascontiguousarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} needs numbers as targets, but y has the type {values.dtype}.") from None


def _single(y: Column, refusal: str) -> Column:
    if y.width is None:
        return y
    if y.width != 1:
        raise ValueError(refusal)
    return y.mapped(np.ravel, dtype=y.dtype)


# Weights


def checked_weights(rows: Any, sample_weight: Any) -> Column:
    """Check weights: in memory at once, in a collection by a pass over them."""
    if not is_collection(sample_weight):
        return rows.column("sample_weight", check_weights(sample_weight, rows.n_rows))
    column = rows.column("sample_weight", sample_weight)
    if column.dtype.kind not in "iufbO":
        raise ValueError("sample_weight must hold one number for each row of X.")
    beside = rows.beside()
    beside.y = None
    column = _single(
        column, f"sample_weight.shape == {column.shape}, expected {(rows.n_rows,)}: give one a row."
    )
    beside.sample_weight = column.astype(np.float64)
    found = map_reduce(block_weights, beside, rows.borders, doing="checking weights")
    if found.message is not None:
        raise ValueError(found.message)
    require_weight(found.any)
    return column.astype(np.float64)


@dataclass(frozen=True)
class WeightFacts:
    """Whether weights are sound, and any is positive: a statistic."""

    message: str | None
    any: bool

    def merge(self, other: "WeightFacts") -> "WeightFacts":
        first = other.message if self.message is None else self.message
        return WeightFacts(first, self.any or other.any)


def block_weights(block: Block, borders: Borders) -> WeightFacts:
    """Check the weights of one block."""
    try:
        check_weight_values(block.weights, block.first_row, borders.whereabouts)
    except ValueError as error:
        return WeightFacts(str(error), True)
    return WeightFacts(None, bool(block.weights.any()))


# Labels


class Found(NamedTuple):
    """The different labels, ascending: a statistic."""

    labels: NDArray[Any]

    def merge(self, other: "Found") -> "Found":
        return Found(np.union1d(self.labels, other.labels))


def block_labels(block: Block) -> Found:
    """Tell which labels one block has."""
    labels = np.unique(block.targets[:, 0])
    fractions = labels.dtype.kind == "f" and not np.array_equal(labels, np.floor(labels))
    return Found(labels[:FEW_FRACTIONS] if fractions else labels)


def checked_classes(
    estimator: Any, X: Any, y: Any, sample_weight: Any, class_weight: Any, *, at_least: int = 2
) -> Classed:
    """Check the input of a classifier's ``fit``, as `check_classes` does; the codes stay beside the rows."""
    name = type(estimator).__name__
    require_targets(estimator, y)
    if isinstance(y, str):
        X, y = split_named(X, y)
    rows, stand_in = fresh_rows(estimator, X)
    labels = rows.column("y", y)
    labels = _single(labels, f"{name} learns one label a row, but y has the shape {labels.shape}.")
    rows.y = labels
    found = map_reduce(block_labels, rows.beside(), doing="finding classes").labels
    # Each label twice, since labels that are all different would not look like classes.
    classes = check_labels(estimator, np.repeat(found, 2), 2 * len(found)).classes[0]
    rows.y = codes = labels.mapped(codes_of, classes, dtype=np.int64)
    if sample_weight is not None:
        rows.sample_weight = checked_weights(rows, sample_weight)
    of_class = class_weights(class_weight, weight_by_class(rows, len(classes)), classes)
    if of_class is not None:
        rows.sample_weight = codes.mapped(weights_of, of_class, rows.sample_weight, dtype=np.float64)
    if rows.sample_weight is not None:
        held = weight_by_class(rows, len(classes)) > 0
        if not held.all():  # rows without weight are as good as absent, whatever class they are said to have
            places = np.maximum(np.cumsum(held) - 1, 0)
            rows.y, classes = codes.mapped(codes_among, places, dtype=np.int64), classes[held]
    if at_least > 1:
        require_classes(name, classes, weighted=rows.sample_weight is not None)
    return Classed(rows, rows.y, classes, stand_in)


def split_named(X: Any, name: str) -> tuple[Any, Any]:
    """Take the column of labels out of a dataframe, or out of delayed frames."""
    if isinstance(X, list | tuple):
        return [block.drop(columns=name) for block in X], [block[name] for block in X]
    if not hasattr(X, "columns"):
        raise TypeError(f"y={name!r} names a column, but X is a Dask array, whose columns have no names.")
    from .frames import check_targets

    check_targets([name], list(X.columns))
    return X.drop(columns=name), X[name]


def codes_of(labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.int64]:
    """Return the places of one partition's labels."""
    return np.searchsorted(classes, labels).astype(np.int64)


def codes_among(codes: NDArray[np.int64], places: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return new places of one partition's codes."""
    return places[codes]


def weights_of(
    codes: NDArray[np.int64], of_class: NDArray[np.float64], weight: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """Return what the rows of one partition weigh by themselves and by their class."""
    return of_class[codes] if weight is None else of_class[codes] * weight
