"""Columns of mixed tables, read from pandas, polars and Arrow tables, arrays and lists.

A column that has a type says by it what it holds: numbers, Booleans, times, categories with or without an order.
One of plain objects is *loose*: what it holds is seen from its values, or from what is expected of it.
"""

import datetime
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.engine.frames import is_frame
from bisector.engine.sources import refuse_collections

NUMERIC, BOOLEAN, ORDINAL, CATEGORICAL = "numeric", "boolean", "ordinal", "categorical"
DATETIME, DURATION = "datetime", "duration"
# Kinds that have a range; datetimes and durations are in microseconds, which float64 holds exactly.
SCALED = (NUMERIC, ORDINAL, DATETIME, DURATION)
KINDS = (*SCALED, BOOLEAN, CATEGORICAL)

_MICROSECOND = {DATETIME: "datetime64[us]", DURATION: "timedelta64[us]"}


@dataclass(frozen=True)
class RawColumn:
    """A column as it came.

    Attributes
    ----------
    name : hashable
        Its name, or its number where columns have no names.
    kind : str
        One of `KINDS`.
    values : ndarray of float64, or list
        Numbers, with NaN where one is missing; objects, with None there, if it is categorical or loose.
    categories : tuple
        Those of an ordinal column in their order.
    loose : bool
        Whether the kind was seen from the values only.
    """

    name: Any
    kind: str
    values: Any
    categories: tuple[Any, ...] = ()
    loose: bool = False

    def objects(self) -> list[Any]:
        """Return the values as objects, None where one is missing."""
        if isinstance(self.values, list):
            return self.values
        numbers = [None if math.isnan(number) else number for number in self.values.tolist()]
        if not self.categories:
            return numbers
        return [None if rank is None else self.categories[int(rank)] for rank in numbers]


class Table:
    """The columns of a table, and whether these have names.

    Parameters
    ----------
    X : frame, array or sequence of rows
    name : str
        What errors call the table.
    """

    def __init__(self, X: Any, name: str) -> None:
        refuse_collections(X)
        if hasattr(X, "tocsr"):
            raise ValueError(
                f"{name} is sparse, but Gower compares the columns of a table: use {name}.toarray(), or "
                "Manhattan() with weights of 1 / range."
            )
        self.named = is_frame(X)
        self.dtype = np.dtype(np.float64)
        if self.named:
            self.columns = _of_frame(X)
            self.n_rows = len(X)
        else:
            array = _matrix(X, name)
            self.columns = [_of_array(array[:, j], j) for j in range(array.shape[1])]
            self.n_rows = len(array)
            if array.dtype == np.float32:
                self.dtype = array.dtype
        if not self.columns:
            raise ValueError(f"{name} has no columns: there is nothing to compare.")
        seen: set[Any] = set()
        for column in self.columns:
            if column.name in seen:
                raise ValueError(
                    f"{name} has several columns called {column.name!r}: give each its own name."
                )
            seen.add(column.name)


def one_row(x: Any, names: Sequence[Any], name: str) -> Any:
    """Return one row as a table of objects: a sequence in the order of the columns, or values by name."""
    if is_frame(x):
        return x
    if isinstance(x, Mapping) or (hasattr(x, "keys") and hasattr(x, "iloc")):
        found = list(x.keys())
        missing = [column for column in names if column not in found]
        if missing:
            raise ValueError(f"{name} has no value for the column {missing[0]!r}.")
        extra = [column for column in found if column not in names]
        if extra:
            raise ValueError(f"{name} has a value for {extra[0]!r}, which is none of the columns.")
        x = [x[column] for column in names]
    row = np.empty((1, len(x)), dtype=object)
    row[0, :] = list(x)
    return row


# Frames


def _of_frame(X: Any) -> list[RawColumn]:
    if hasattr(X, "iloc"):
        return [_pandas_column(X.iloc[:, j], name) for j, name in enumerate(X.columns)]
    if hasattr(X, "to_series"):
        return [_polars_column(X.to_series(j), name) for j, name in enumerate(X.columns)]
    return [_arrow_column(X.column(j), name) for j, name in enumerate(X.schema.names)]


def _pandas_column(column: Any, name: Any) -> RawColumn:
    dtype = column.dtype
    if hasattr(dtype, "categories") and hasattr(dtype, "ordered"):
        return _of_codes(column.cat.codes.to_numpy(), dtype.categories.tolist(), dtype.ordered, name)
    if dtype.kind in "iuf":
        return RawColumn(name, NUMERIC, column.to_numpy(dtype=np.float64, na_value=np.nan))
    if dtype.kind == "b":
        return RawColumn(name, BOOLEAN, column.to_numpy(dtype=np.float64, na_value=np.nan))
    if dtype.kind == "M":
        zone = getattr(column.dt, "tz", None)
        return _of_times((column if zone is None else column.dt.tz_convert(None)).to_numpy(), DATETIME, name)
    if dtype.kind == "m":
        return _of_times(column.to_numpy(), DURATION, name)
    return _of_objects(column.tolist(), name)


def _polars_column(column: Any, name: Any) -> RawColumn:
    import polars

    dtype = column.dtype

    def numbers(series: Any) -> NDArray[np.float64]:
        return series.cast(polars.Float64).fill_null(math.nan).to_numpy()

    if dtype.is_numeric():
        return RawColumn(name, NUMERIC, numbers(column))
    if dtype == polars.Boolean:
        return RawColumn(name, BOOLEAN, numbers(column))
    if dtype == polars.Enum:
        return RawColumn(name, ORDINAL, numbers(column.to_physical()), tuple(dtype.categories.to_list()))
    if dtype == polars.Date:
        return RawColumn(name, DATETIME, numbers(column.cast(polars.Datetime("us")).to_physical()))
    if dtype in (polars.Datetime, polars.Duration):
        kind = DATETIME if dtype == polars.Datetime else DURATION
        return RawColumn(name, kind, numbers(column.dt.cast_time_unit("us").to_physical()))
    return _of_objects(column.to_list(), name)


def _arrow_column(column: Any, name: Any) -> RawColumn:
    import pyarrow
    from pyarrow import types

    if not isinstance(column, pyarrow.ChunkedArray):
        column = pyarrow.chunked_array([column])
    kind = column.type

    def numbers(chunked: Any) -> NDArray[np.float64]:
        return chunked.cast(pyarrow.float64(), safe=False).to_numpy().astype(np.float64)

    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return RawColumn(name, NUMERIC, numbers(column))
    if types.is_boolean(kind):
        return RawColumn(name, BOOLEAN, numbers(column.cast(pyarrow.int8())))
    if types.is_timestamp(kind) or types.is_date(kind):
        return RawColumn(
            name, DATETIME, numbers(column.cast(pyarrow.timestamp("us"), safe=False).cast(pyarrow.int64()))
        )
    if types.is_duration(kind):
        return RawColumn(
            name, DURATION, numbers(column.cast(pyarrow.duration("us"), safe=False).cast(pyarrow.int64()))
        )
    if types.is_dictionary(kind) and kind.ordered:
        whole = column.unify_dictionaries().combine_chunks()
        if isinstance(whole, pyarrow.ChunkedArray):
            whole = whole.chunk(0)
        codes = whole.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        return _of_codes(codes, whole.dictionary.to_pylist(), True, name)
    return _of_objects(column.to_pylist(), name)


def _of_codes(codes: NDArray[Any], categories: list[Any], ordered: bool, name: Any) -> RawColumn:
    """Make the column of numbers of categories, in which −1 means a missing value."""
    if ordered:
        return RawColumn(name, ORDINAL, np.where(codes < 0, np.nan, codes), tuple(categories))
    values = [*categories, None]
    return RawColumn(name, CATEGORICAL, [values[code] for code in codes.tolist()])


def _of_times(times: NDArray[Any], kind: str, name: Any) -> RawColumn:
    exact = np.asarray(times).astype(_MICROSECOND[kind])
    return RawColumn(name, kind, np.where(np.isnat(exact), np.nan, exact.astype(np.int64)))


# Arrays and lists


def _matrix(X: Any, name: str) -> NDArray[Any]:
    try:
        array = X if isinstance(X, np.ndarray) else np.array(X, dtype=object)
    except ValueError:
        array = np.empty(0)
    if array.ndim != 2:
        raise ValueError(
            f"{name} must have rows and columns: pass a frame, an array of two dimensions, or rows of equal length."
        )
    if array.dtype.kind == "c":
        raise ValueError(f"{name} holds complex numbers, which have no range: split them into two columns.")
    return array


def _of_array(column: NDArray[Any], name: int) -> RawColumn:
    if column.dtype.kind in "fiu":
        return RawColumn(name, NUMERIC, column.astype(np.float64))
    if column.dtype.kind == "b":
        return RawColumn(name, BOOLEAN, column.astype(np.float64))
    if column.dtype.kind in "Mm":
        return _of_times(column, DATETIME if column.dtype.kind == "M" else DURATION, name)
    return _of_objects(column.tolist(), name)


# Loose columns


def _of_objects(values: list[Any], name: Any) -> RawColumn:
    objects = [None if _is_missing(found) else found for found in values]
    present = [found for found in objects if found is not None]
    kind = next((kind for kind, holds in _LOOSE.items() if present and all(map(holds, present))), CATEGORICAL)
    return RawColumn(name, kind, objects, loose=True)


def _is_missing(found: Any) -> bool:
    if isinstance(found, float | np.floating | np.datetime64 | np.timedelta64):
        return bool(found != found)
    return found is None or type(found).__name__ in ("NAType", "NaTType")


def _is_boolean(found: Any) -> bool:
    return isinstance(found, bool | np.bool_)


def _is_number(found: Any) -> bool:
    return isinstance(found, Number | np.number) and not isinstance(
        found, complex | np.complexfloating | bool
    )


def _is_datetime(found: Any) -> bool:
    return isinstance(found, datetime.date | np.datetime64)


def _is_duration(found: Any) -> bool:
    return isinstance(found, datetime.timedelta | np.timedelta64)


_LOOSE = {BOOLEAN: _is_boolean, NUMERIC: _is_number, DATETIME: _is_datetime, DURATION: _is_duration}


def tightened(raw: RawColumn, kind: str, categories: tuple[Any, ...]) -> NDArray[np.float64]:
    """Turn the objects of a loose column into numbers of the kind that is expected, NaN where one is missing."""
    ranks = {category: rank for rank, category in enumerate(categories)}
    numbers = np.full(len(raw.values), np.nan)
    for row, found in enumerate(raw.values):
        if found is None:
            continue
        fits = found in ranks if kind == ORDINAL else _LOOSE[kind](found)
        if not fits:
            expected = f"one of {', '.join(map(repr, categories))}" if kind == ORDINAL else f"{kind} values"
            raise ValueError(
                f"Column {raw.name!r} holds {found!r} in row {row}, but {expected} was learned of it."
            )
        numbers[row] = ranks[found] if kind == ORDINAL else _number(found, kind)
    return numbers


def _number(found: Any, kind: str) -> float:
    if kind in _MICROSECOND:
        return microseconds(found)
    return float(found)


def microseconds(found: Any) -> float:
    """Return a datetime (since 1970, in UTC if it has a time zone) or a duration in microseconds."""
    if isinstance(found, datetime.datetime) and found.tzinfo is not None:
        found = found.astimezone(datetime.UTC).replace(tzinfo=None)
    kind = DURATION if _is_duration(found) else DATETIME
    return float(np.array(found).astype(_MICROSECOND[kind]).astype(np.int64))
