"""Gower's distance between rows of tables whose columns are of different kinds."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bisector.distances.distance import Distance, Law, Pairs, Rows
from bisector.distances.minkowski import checked_weights
from bisector.distances.mixed_columns import (
    BOOLEAN,
    CATEGORICAL,
    KINDS,
    ORDINAL,
    SCALED,
    RawColumn,
    Table,
    microseconds,
    one_row,
    tightened,
)
from bisector.distances.mixed_rows import MixedPairs, MixedRows
from bisector.engine.validation import check_choice, check_flag, check_number
from bisector.engine.values import Value, frozen_array, value


@value
class Column(Value):
    """What `Gower` knows of a column.

    Parameters
    ----------
    name : hashable
        Its name, or its number where columns have no names.
    kind : str
        "numeric", "datetime", "duration" (both in microseconds), "ordinal", "boolean" or "categorical".
    low : float, default=0.0
        The smallest value, from which differences on a scale are measured.
    range : float, default=0.0
        The difference that counts as 1; if it is 0, every difference does.
    categories : tuple, default=()
        The categories of an ordinal column in their order.
    """

    name: Any
    kind: str
    low: float = 0.0
    range: float = 0.0
    categories: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        self._set(
            kind=check_choice("kind", self.kind, KINDS),
            low=check_number("low", self.low),
            range=check_number("range", self.range, at_least=0),
            categories=tuple(self.categories),
        )


class ByColumn(dict[Any, float]):
    """Numbers by the names of columns, as a value: it never changes, and has a hash."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return ByColumn, (dict(self),)

    def _refuse(self, *arguments: Any, **more: Any) -> Any:
        raise TypeError("Parameters of a distance cannot be changed: set_params gives a new distance.")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse


@value
class Gower(Distance):
    """The mean difference over the columns of a table, each between 0 and 1 (Gower, 1971).

    Numbers, datetimes and ordered categories (pandas' ordered ``Categorical``, polars' ``Enum``) differ by their
    difference over the column's range, which for ordered categories is that of their ranks; what lies further apart
    than the range, as rows that were not learned from may, differs by 1. Booleans and other categories
    differ by 1 or not at all; a category that was not seen before differs from all others. A column
    without range, since all values that were learned from are equal, is compared like a category.

    Rows are those of a pandas, polars or Arrow table, of an array, or sequences; one row may also be a mapping from
    names to values. What is known of the columns is learned from rows: those given to `learned`, those an estimator
    is fitted on, or X of ``pairwise(X, Y)``.

    With ``skip_missing=False`` it is a metric, or a pseudo-metric if a weight is 0; where values are missing, a
    detour over a row that lacks the columns in which two rows differ can be shorter.

    Parameters
    ----------
    ranges : mapping or array-like of shape (n_columns,), optional
        The ranges of columns, by name, or in their order with NaN where it should be learned. By default all are.
        That of a datetime may be a timedelta.
    weights : mapping or array-like of shape (n_columns,), optional
        How much columns count, by name (those not named 1) or in their order.
    categorical : sequence, default=()
        Names (or numbers) of columns to be compared as categories whatever they hold: codes that are numbers.
    asymmetric : sequence, default=()
        Names (or numbers) of Boolean columns in which only what is present tells something: where both rows are
        False, the column does not count. Rows that have nothing but that in common are at distance 0.
    skip_missing : bool, default=True
        Compare only the columns in which both rows have a value (not NaN or None), so that the weights of these
        are what the mean is taken over; without any the distance is infinite. Otherwise missing values are refused.
    columns : sequence of Column, optional
        What is known of the columns; by default it is learned.

    Examples
    --------
    >>> import pandas
    >>> from bisector.distances import Gower
    >>> people = pandas.DataFrame({"age": [20, 30, 60], "town": ["Bristol", "Bath", "Bath"]})
    >>> Gower().pairwise(people)
    array([[0.   , 0.625, 1.   ],
           [0.625, 0.   , 0.375],
           [1.   , 0.375, 0.   ]])
    >>> learned = Gower(weights={"age": 3}).learned(people)
    >>> learned({"age": 40, "town": "Wells"}, {"age": 50, "town": "Bath"})
    0.4375
    """

    ranges: Mapping[Any, float] | ArrayLike | None = None
    weights: Mapping[Any, float] | ArrayLike | None = None
    _: KW_ONLY
    categorical: Sequence[Any] = ()
    asymmetric: Sequence[Any] = ()
    skip_missing: bool = True
    columns: Sequence[Column] | None = None

    names = ("gower",)
    translation_invariant = True

    def __post_init__(self) -> None:
        self._set(
            ranges=_checked_ranges(self.ranges),
            weights=_checked_weights(self.weights),
            categorical=_checked_names("categorical", self.categorical),
            asymmetric=_checked_names("asymmetric", self.asymmetric),
            skip_missing=check_flag("skip_missing", self.skip_missing),
        )
        if self.columns is not None:
            self._set(columns=tuple(self.columns))
            if not self.columns or not all(isinstance(column, Column) for column in self.columns):
                raise ValueError("columns must be a sequence of Column, as learned(X) makes them.")
            _ = self._weights, self._asymmetric  # refuse what does not fit the columns now

    @property
    def law(self) -> Law:
        if self.skip_missing:
            return "none"
        # Asymmetric columns break nothing, as they do not in Jaccard distance: what a third row has besides two
        # others can be added to the numerator and the denominator of their distance, which it does not lower.
        weights: Any = self.weights
        numbers = list(weights.values()) if isinstance(weights, ByColumn) else weights
        return "metric" if numbers is None or np.all(numbers) else "pseudo-metric"

    @property
    def scale_invariant(self) -> bool:  # type: ignore[override]
        return self.ranges is None

    def learned(self, X: Any) -> "Gower":
        """Return the distance that knows the names, kinds and ranges of these columns, unless it knows others."""
        if self.columns is not None:
            return self
        table = Table(X, "X")
        if not table.n_rows:
            raise ValueError("X has no rows to learn the ranges of its columns from.")
        names = [raw.name for raw in table.columns]
        ranges = _in_order("ranges", self.ranges, names, math.nan)
        _check_known("categorical", self.categorical, names)
        known = [
            _learned_column(raw, given, as_category=raw.name in self.categorical)
            for raw, given in zip(table.columns, ranges.tolist(), strict=True)
        ]
        return self.set_params(columns=known)

    def prepare(self, X: Any, like: Rows | None = None, name: str = "X") -> "MixedRows":
        known = self._known
        table = Table(X, name)
        self._check_alike(table, name)
        levels: list[dict[Any, int]] = [{} for _ in known]
        values = np.empty((table.n_rows, len(known)))
        for j, (raw, column) in enumerate(zip(table.columns, known, strict=True)):
            values[:, j] = _encoded(raw, column, levels[j], name)
        lacking = np.isnan(values)
        if not self.skip_missing and lacking.any():
            row, j = np.argwhere(lacking)[0].tolist()
            raise ValueError(
                f"{name} has no value in row {row}, column {known[j].name!r}: fill it, leave such rows out, or use "
                "Gower(skip_missing=True)."
            )
        rows = MixedRows(values, tuple(levels), bool(lacking.any()), table.dtype)
        return rows if like is None else rows.coded_like(like)

    def between(self, outer: Rows, inner: Rows, *, flipped: bool = False) -> Pairs:
        assert isinstance(outer, MixedRows)
        assert isinstance(inner, MixedRows)
        return MixedPairs(self._weights, self._asymmetric, outer.coded_like(inner), inner)

    def __call__(self, x: Any, y: Any) -> float:
        names = [column.name for column in self._known]
        second = self.prepare(one_row(y, names, "y"), name="y")
        first = self.prepare(one_row(x, names, "x"), like=second, name="x")
        if len(first) != 1 or len(second) != 1:
            raise ValueError("x and y must be one row each: use pairwise for several.")
        found = np.empty((1, 1))
        self.between(first, second).write(range(1), range(1), found)
        return float(found[0, 0])

    def _check_alike(self, table: Table, name: str) -> None:
        """Check that a table has the columns that were learned from, in their order and of their kinds."""
        known = self._known
        if table.named:
            _check_names([raw.name for raw in table.columns], [column.name for column in known], name)
        if len(table.columns) != len(known):
            raise ValueError(
                f"{name} has {len(table.columns)} columns, but this distance compares {len(known)}."
            )
        for raw, column in zip(table.columns, known, strict=True):
            if raw.loose or column.name in self.categorical:
                continue
            if raw.kind != column.kind:
                raise ValueError(
                    f"Column {column.name!r} of {name} is {raw.kind}, but {column.kind} was learned of it."
                )
            if raw.categories != column.categories:
                raise ValueError(
                    f"Column {column.name!r} of {name} has the ordered categories {raw.categories}, but "
                    f"{column.categories} were learned of it."
                )

    @property
    def _known(self) -> tuple[Column, ...]:
        if self.columns is None:
            raise ValueError(
                "Gower() does not know its columns yet: use learned(X) to take their names, kinds and ranges from "
                "the rows X."
            )
        return tuple(self.columns)

    @cached_property
    def _weights(self) -> NDArray[np.float64]:
        weights = _in_order("weights", self.weights, [column.name for column in self._known], 1.0)
        if not weights.any():
            raise ValueError("weights are all zero: no column would count.")
        return frozen_array(weights)

    @cached_property
    def _asymmetric(self) -> NDArray[np.bool_]:
        _check_known("asymmetric", self.asymmetric, [column.name for column in self._known])
        for column in self._known:
            if column.name in self.asymmetric and column.kind != BOOLEAN:
                raise ValueError(
                    f"Column {column.name!r} is {column.kind}: only Boolean columns can be asymmetric."
                )
        return np.array([column.name in self.asymmetric for column in self._known])


# What is learned of a column, and what it makes of values


def _learned_column(raw: RawColumn, range_given: float, *, as_category: bool) -> Column:
    kind = CATEGORICAL if as_category else raw.kind
    if kind not in SCALED:
        if not math.isnan(range_given):
            raise ValueError(f"ranges names the column {raw.name!r}, which is {kind} and has no range.")
        return Column(raw.name, kind)
    numbers = tightened(raw, kind, raw.categories) if raw.loose else raw.values
    _check_finite(numbers, raw.name, "X")
    present = numbers[~np.isnan(numbers)]
    if kind == ORDINAL:
        low, width = 0.0, float(max(len(raw.categories) - 1, 0))
    elif len(present):
        low, width = float(present.min()), float(present.max()) - float(present.min())
    else:
        low, width = 0.0, 0.0
    if not math.isfinite(width):
        raise ValueError(
            f"The range of column {raw.name!r} is beyond the largest number: divide the column by some number."
        )
    return Column(raw.name, kind, low, width if math.isnan(range_given) else range_given, raw.categories)


def _encoded(raw: RawColumn, column: Column, levels: dict[Any, int], name: str) -> NDArray[np.float64]:
    """Return the values of a column on a scale whose range is 1, or as codes; NaN where one is missing."""
    if column.kind == CATEGORICAL:
        return _coded(raw.objects(), levels, column.name)
    numbers = tightened(raw, column.kind, column.categories) if raw.loose else raw.values
    if column.kind not in SCALED:
        return numbers
    _check_finite(numbers, column.name, name)
    if not column.range:
        return _coded(replace(raw, values=numbers).objects(), levels, column.name)
    with np.errstate(over="ignore"):
        scaled = (numbers - column.low) / column.range
    # Further away than any number of ranges that could matter; infinities would have no difference.
    return np.clip(scaled, -1e300, 1e300)


def _coded(objects: list[Any], levels: dict[Any, int], column: Any) -> NDArray[np.float64]:
    codes = np.full(len(objects), np.nan)
    for row, found in enumerate(objects):
        if found is not None:
            try:
                codes[row] = levels.setdefault(found, len(levels))
            except TypeError:
                raise ValueError(
                    f"Column {column!r} holds a {type(found).__name__} in row {row}, which is no category: "
                    "make it a string or a tuple, or leave the column out."
                ) from None
    return codes


def _check_finite(numbers: NDArray[np.float64], column: Any, name: str) -> None:
    infinite = np.isinf(numbers)
    if infinite.any():
        row = int(np.argmax(infinite))
        raise ValueError(
            f"{name} holds inf in row {row}, column {column!r}: replace it by a number or leave such rows out."
        )


def _check_names(names: Sequence[Any], wanted: Sequence[Any], name: str) -> None:
    unnamed = list(range(len(wanted)))  # learned from rows without names
    if list(wanted) in (list(names), unnamed):
        return
    for column in wanted:
        if column not in names:
            raise ValueError(f"{name} has no column {column!r}, which this distance compares.")
    for column in names:
        if column not in wanted:
            raise ValueError(
                f"{name} has the column {column!r}, which this distance does not know: leave it out."
            )
    for found, column in zip(names, wanted, strict=True):
        if found != column:
            raise ValueError(
                f"The columns of {name} stand in another order than was learned: column {found!r} is where "
                f"{column!r} was."
            )


# Parameters


def _checked_ranges(ranges: Any) -> Any:
    if ranges is None or isinstance(ranges, ByColumn):
        return ranges
    if isinstance(ranges, Mapping):
        return ByColumn({column: _checked_range(column, width) for column, width in ranges.items()})
    return frozen_array(
        [
            _checked_range(j, width, or_learned=True)
            for j, width in enumerate(np.ravel(np.asarray(ranges, dtype=object)))
        ]
    )


def _checked_range(column: Any, width: Any, *, or_learned: bool = False) -> float:
    if or_learned and isinstance(width, float) and math.isnan(width):
        return width
    if hasattr(width, "days") or isinstance(width, np.timedelta64):
        width = microseconds(width)
    found = check_number(f"the range of column {column!r}", width, above=0)
    if math.isinf(found):
        raise ValueError(f"the range of column {column!r} must be finite.")
    return found


def _checked_weights(weights: Any) -> Any:
    if not isinstance(weights, Mapping):
        return checked_weights(weights)
    for column, weight in weights.items():
        if math.isinf(check_number(f"the weight of column {column!r}", weight, at_least=0)):
            raise ValueError(f"the weight of column {column!r} must be finite.")
    return ByColumn({column: float(weight) for column, weight in weights.items()})


def _checked_names(parameter: str, names: Any) -> tuple[Any, ...]:
    if isinstance(names, str) or not hasattr(names, "__iter__"):
        raise ValueError(f"{parameter} must be a sequence of names or numbers of columns, not {names!r}.")
    return tuple(names)


def _check_known(parameter: str, wanted: Any, names: Sequence[Any]) -> None:
    for column in wanted:
        if column not in names:
            raise ValueError(
                f"{parameter} names the column {column!r}, but the columns are {', '.join(map(repr, names))}."
            )


def _in_order(parameter: str, numbers: Any, names: Sequence[Any], default: float) -> NDArray[np.float64]:
    """Return numbers that were given by name, in order, or not at all as one for each column."""
    if numbers is None:
        return np.full(len(names), default)
    if isinstance(numbers, ByColumn):
        _check_known(parameter, numbers, names)
        return np.array([numbers.get(column, default) for column in names])
    if len(numbers) != len(names):
        raise ValueError(f"There are {len(numbers)} {parameter}, but the rows have {len(names)} columns.")
    return np.asarray(numbers)
