"""Frames as sources: pandas, polars, Arrow tables in memory. Data on disk are `bisector.engine.dataset_source`."""

import os
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .sources import ColumnSource


def _made_by(X: Any, library: str, *kinds: str) -> bool:
    # A module that another thread is importing may lack its classes yet.
    module = sys.modules.get(library)
    return isinstance(X, tuple(getattr(module, kind, ()) for kind in kinds))


def is_frame(X: Any) -> bool:
    """Tell whether X is a table in memory with named columns."""
    return (
        _made_by(X, "pandas", "DataFrame")
        or _made_by(X, "polars", "DataFrame")
        or _made_by(X, "pyarrow", "Table", "RecordBatch")
    )


def is_dataset(X: Any) -> bool:
    """Tell whether X is data on disk: a path, or an Arrow dataset."""
    return isinstance(X, str | os.PathLike) or _made_by(X, "pyarrow.dataset", "Dataset")


def header(X: Any, feature_names: list[str] | None, targets: list[str]) -> Any:
    """Return a table without rows that has the names of X's columns, the targets left out."""
    if _made_by(X, "pandas", "DataFrame"):
        return X.iloc[:0, [j for j, name in enumerate(X.columns) if name not in targets]]
    if _made_by(X, "polars", "DataFrame"):
        return X.clear().drop(targets)
    import pyarrow

    names = feature_names or []
    return pyarrow.table([pyarrow.array([], pyarrow.float64())] * len(names), names=names)


def split_column(X: Any, name: str) -> tuple[Any, NDArray[Any]]:
    """Take one column out of a frame or of data on disk: return the rest, and the column as it is."""
    if is_dataset(X):
        from .dataset_source import open_dataset

        X = open_dataset(X)
        check_targets([name], list(X.schema.names))
        return X, _arrow_column(X.to_table(columns=[name]).column(0))
    if not is_frame(X):
        raise TypeError(
            f"y={name!r} names a column, but X is a {type(X).__name__}, whose columns have no names."
        )
    names, column = _columns_of(X)
    check_targets([name], names)
    values = column(names.index(name))
    if _made_by(X, "pandas", "DataFrame"):
        return X.drop(columns=name), values
    if _made_by(X, "polars", "DataFrame"):
        return X.drop(name), values
    return X.drop_columns(name), values


def frame_source(X: Any, targets: list[str], *, single_target: bool) -> ColumnSource:
    """Make the source of a frame; `targets` are columns to be read as y."""
    names, column = _columns_of(X)
    check_targets(targets, names)
    kept = [j for j, name in enumerate(names) if name not in targets]
    strings = all(isinstance(name, str) for name in names)
    made = ColumnSource(
        [numbers_of(column(j), names[j]) for j in kept],
        [names[j] for j in kept] if strings else None,
        n_rows=len(X),
    )
    if targets:
        columns = [numbers_of(column(names.index(name)), name) for name in targets]
        made.y = columns[0] if single_target else np.column_stack(columns)
    return made


def check_targets(targets: list[str], names: list[Any]) -> None:
    """Check that y names columns, each of which there is once."""
    for target in targets:
        if target not in names:
            raise ValueError(f"y names the column {target!r}, which X does not have; it has {names}.")
        if names.count(target) > 1:
            raise ValueError(f"y names the column {target!r}, of which X has {names.count(target)}.")


def column_values(X: Any, j: int) -> NDArray[Any]:
    """Return column j of a frame as an array, a view if it can."""
    values: NDArray[Any] = _columns_of(X)[1](j)
    return values


def _columns_of(X: Any) -> tuple[list[Any], Any]:
    """Return the names of the columns and a function that gives column j as an array, a view if it can."""
    if _made_by(X, "pandas", "DataFrame"):
        return list(X.columns), lambda j: _pandas_column(X.iloc[:, j])
    if _made_by(X, "polars", "DataFrame"):
        return list(X.columns), lambda j: X.to_series(j).to_numpy()
    return list(X.schema.names), lambda j: _arrow_column(X.column(j))


def _pandas_column(column: Any) -> NDArray[Any]:
    kind = column.dtype.kind
    if isinstance(column.dtype, np.dtype) and kind in "iufb":
        return column.to_numpy()
    if kind in "iufb":  # an extension type that may hold missing values
        single = (kind, getattr(column.dtype, "itemsize", None)) == ("f", 4)
        return column.to_numpy(dtype=np.float32 if single else np.float64, na_value=np.nan)
    return column.to_numpy(dtype=object, na_value=np.nan)


def _arrow_column(column: Any) -> NDArray[Any]:
    chunked = hasattr(column, "combine_chunks") and hasattr(column, "num_chunks")
    return column.to_numpy() if chunked else column.to_numpy(zero_copy_only=False)


def numbers_of(column: NDArray[Any], name: Any, first_row: int = 0) -> NDArray[Any]:
    """Return the column as numbers, missing ones as NaN, or say which of its values is none."""
    if column.dtype.kind in "iufb" and column.ndim == 1:
        return column
    numbers = np.empty(len(column))
    for i, value in enumerate(column):
        try:
            numbers[i] = _number(value)
        except (TypeError, ValueError):
            raise ValueError(
                f"Column {name!r} holds {value!r} in row {first_row + i}, which is not a number: encode the "
                "column first, for example with sklearn.preprocessing.OneHotEncoder, or leave it out."
            ) from None
    return numbers


def _number(value: Any) -> float:
    if isinstance(value, np.ndarray | np.datetime64 | np.timedelta64):
        raise TypeError  # NumPy would make a float of some of them
    return np.nan if value is None else float(value)
