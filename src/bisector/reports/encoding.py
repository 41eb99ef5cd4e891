"""From a table to a matrix of numbers, in a way that can be repeated on further rows."""

from collections import Counter
from collections.abc import Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from bisector.reports.column_types import MOST_UNREADABLE, as_type, days, typed, unreadable
from bisector.reports.columns import MOST_LEVELS, Column, describe_columns
from bisector.reports.faults import TableFault, listed

if TYPE_CHECKING:
    import polars

Floats = NDArray[np.float64]
MISSING = "(missing)"
OTHER = "(other)"


class TableEncoder(TransformerMixin, BaseEstimator):
    """Makes a matrix of numbers from the columns of a table.

    Numbers stay as they are, booleans become 0 and 1, dates days, and a column of words one indicator a value.
    Missing numbers take the median of the column; missing words are a value of their own. Columns that cannot
    help are left out: constant ones, those without any cell, identifiers and free text.

    Parameters
    ----------
    types : mapping of str to str, optional
        What columns hold where the guess is wrong: "number", "category", "boolean", "date" or "drop".

    Attributes
    ----------
    columns_ : list of Column
        What became of each column.
    levels_ : dict
        The values of each column of words that have indicators of their own.
    medians_ : dict
        What missing numbers become.
    n_features_in_ : int
    feature_names_in_ : ndarray of str

    Examples
    --------
    >>> import polars as pl
    >>> from bisector.reports import TableEncoder
    >>> frame = pl.DataFrame({"height": [1.6, None, 1.8, 1.7], "sex": ["f", "m", "m", "f"]})
    >>> encoder = TableEncoder().fit(frame)
    >>> list(encoder.get_feature_names_out())
    ['height', 'sex=f', 'sex=m']
    >>> encoder.transform(frame)
    array([[1.6, 1. , 0. ],
           [1.7, 0. , 1. ],
           [1.8, 0. , 1. ],
           [1.7, 1. , 0. ]])
    """

    def __init__(self, types: Mapping[str, str] | None = None) -> None:
        self.types = types

    columns_: list[Column]
    levels_: dict[str, list[str]]
    medians_: dict[str, float]

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn what the columns hold.

        Parameters
        ----------
        X : frame of polars or pandas, Arrow table, mapping of columns, or array
        y : ignored

        Returns
        -------
        self
        """
        frame = as_frame(X)
        given = {name: kind for name, kind in (self.types or {}).items() if name in frame.columns}
        columns = describe_columns(typed(frame, given))
        columns += [
            Column(name, "dropped", "as asked", 0, 0) for name, kind in given.items() if kind == "drop"
        ]
        used = [column for column in columns if column.role != "dropped"]
        if not used:
            raise TableFault(
                f"None of the {frame.width} columns can be used: {columns[0].name!r} {columns[0].use}"
                f"{' and so on' if frame.width > 1 else ''}."
            )
        numbers = [column.name for column in used if column.role != "category"]
        values = self._numbers(
            frame, {column.name: column.role for column in used if column.role != "category"}
        )
        levels = {c.name: _levels(as_type(frame[c.name], "category")) for c in used if c.role == "category"}
        self.columns_, self.levels_ = columns, levels
        self.medians_ = dict(zip(numbers, _medians(values).tolist(), strict=True))
        self.feature_names_in_ = np.array(frame.columns, dtype=object)
        self.n_features_in_ = frame.width
        return self

    def transform(self, X: Any) -> Floats:
        """Encode the rows of a table.

        Parameters
        ----------
        X : frame, as of `fit`
            With the same columns; their order does not matter, and others are ignored.

        Returns
        -------
        ndarray of shape (n_rows, n_features_out)
        """
        check_is_fitted(self)
        frame = as_frame(X)
        self._check_names(frame.columns)
        roles = {column.name: column.role for column in self.columns_ if column.role != "dropped"}
        numbers = {name: role for name, role in roles.items() if role != "category"}
        values = self._numbers(frame, numbers)
        fill = np.array([self.medians_[name] for name in numbers])
        values = np.where(np.isnan(values), fill, values)
        place = {name: values[:, [j]] for j, name in enumerate(numbers)}
        parts = [
            place[name]
            if name in place
            else _indicators(as_type(frame[name], "category"), self.levels_[name])
            for name in roles
        ]
        return np.ascontiguousarray(np.hstack(parts) if self.levels_ else values)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the encoded columns, such as ``sex=f``."""
        check_is_fitted(self)
        names: list[str] = []
        for column in self.columns_:
            if column.role == "category":
                names += [f"{column.name}={level}" for level in self.levels_[column.name]]
            elif column.role != "dropped":
                names.append(column.name)
        return np.array(names, dtype=object)

    def _check_names(self, names: list[str]) -> None:
        wanted = [column.name for column in self.columns_ if column.role != "dropped"]
        absent = [name for name in wanted if name not in set(names)]
        if absent:
            fresh = [name for name in names if name not in set(self.feature_names_in_)]
            near = get_close_matches(absent[0], fresh, 1, 0.6)
            renamed = f" (is {near[0]!r} the same as {absent[0]!r}?)" if near else ""
            raise TableFault(
                f"The table lacks the column{'s' * (len(absent) > 1)} {listed(absent)} that the model was trained "
                f"on{renamed}."
            )

    def _numbers(self, frame: "polars.DataFrame", roles: Mapping[str, str]) -> Floats:
        """Return the columns that are no words as numbers, with NaN where cells are missing."""
        import polars as pl

        if not roles:
            return np.empty((frame.height, 0))
        read = []
        for name, role in roles.items():
            column = frame[name]
            if column.dtype == pl.Float64 and role == "number":
                read.append(column)
                continue
            cells = as_type(column, role)
            wrong = unreadable(as_type(column, "category"), cells)
            if wrong.sum() > MOST_UNREADABLE * max(1, column.count()):
                row = int(wrong.arg_true()[0])
                raise TableFault(
                    f"The column {name!r} held {role}s when the model was trained, but now {int(wrong.sum())} of "
                    f"{len(column)} cells hold something else, such as {str(column[row])[:40]!r} in row {row}."
                )
            read.append(pl.Series(name, days(cells)) if role == "date" else cells.cast(pl.Float64))
        values = pl.DataFrame(read).to_numpy().astype(np.float64, copy=True)
        values[~np.isfinite(values)] = np.nan
        return values


def as_frame(data: Any) -> "polars.DataFrame":
    """Return rows as a polars frame: of polars or pandas, Arrow, a mapping of columns, or an array.

    Examples
    --------
    >>> from bisector.reports.encoding import as_frame
    >>> as_frame([[1.0, 2.0], [3.0, 4.0]]).columns
    ['x1', 'x2']
    """
    import polars as pl

    if isinstance(data, pl.DataFrame):
        return data
    if isinstance(data, pl.LazyFrame):
        return data.collect()
    if hasattr(data, "iloc") and hasattr(data, "columns"):  # a frame of pandas, whose names need not be words
        names = [str(name) for name in data.columns]
        if len(set(names)) < len(names):
            raise TableFault(f"Two columns are called {next(n for n in names if names.count(n) > 1)!r}.")
        return pl.DataFrame({name: _column_of_pandas(data.iloc[:, j]) for j, name in enumerate(names)})
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__dataframe__"):
        return pl.DataFrame(data)
    if isinstance(data, Mapping):
        return pl.DataFrame(dict(data), strict=False)
    rows = np.asarray(data)
    if rows.ndim != 2:
        raise TableFault(f"A table has rows and columns, but this has the shape {rows.shape}.")
    return pl.DataFrame({f"x{j + 1}": rows[:, j] for j in range(rows.shape[1])}, strict=False)


def _column_of_pandas(column: Any) -> Any:
    import polars as pl

    values = column.to_numpy()
    if values.dtype.kind in "biufM":
        return pl.Series(values, nan_to_null=True)
    # Words, categories and mixtures: what is missing for pandas is missing, the rest as it is written.
    absent = column.isna().to_numpy()
    cells = [None if gone else cell for cell, gone in zip(values.tolist(), absent, strict=True)]
    if all(cell is None or isinstance(cell, bool) for cell in cells):
        return pl.Series(cells, dtype=pl.Boolean)
    if all(cell is None or isinstance(cell, int | float) for cell in cells):
        return pl.Series(cells, dtype=pl.Float64, strict=False)
    return pl.Series([None if cell is None else str(cell) for cell in cells], dtype=pl.String)


def _levels(column: "polars.Series") -> list[str]:
    """Return the values that have indicators, in alphabetical order; the rare ones of many share one."""
    counts = Counter(column.fill_null(MISSING).to_list())
    often = sorted(counts, key=lambda level: (-counts[level], level))[:MOST_LEVELS]
    return [*sorted(often), OTHER] if len(counts) > MOST_LEVELS else sorted(often)


def _indicators(column: "polars.Series", levels: list[str]) -> Floats:
    """Return a column for each level; a value that was never seen is other, or none of them."""
    import polars as pl

    known = {level: place for place, level in enumerate(levels)}
    codes = column.fill_null(MISSING).replace_strict(
        known, default=known.get(OTHER, -1), return_dtype=pl.Int64
    )
    return (codes.to_numpy()[:, None] == np.arange(len(levels))).astype(np.float64)


def _medians(values: Floats) -> Floats:
    known = np.isfinite(values).any(axis=0)
    middle = np.zeros(values.shape[1])
    middle[known] = np.nanmedian(values[:, known], axis=0)
    return middle
