"""Columns of numbers and of categories, as a tree reads them: learned once, and read alike ever after."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from bisector.distances.mixed_columns import BOOLEAN, CATEGORICAL, RawColumn, Table, tightened
from bisector.engine import frames
from bisector.engine.sources import refuse_collections
from bisector.engine.validation import blank, fresh_rows
from bisector.solvers.held_rows import held

Integers = NDArray[np.int64]

# The number of a category that no training row had.
UNSEEN = -1.0


@dataclass(frozen=True, eq=False)
class TreeColumns:
    """What is known of the columns of a table.

    Attributes
    ----------
    kinds : tuple of str, or None if all columns came as numbers
    categories : tuple
        For each column its categories in ascending order, or None if it holds numbers.
    orders : tuple of tuples
        For each column the values of an ordered category, in their order.
    """

    kinds: tuple[str, ...] | None
    categories: tuple[tuple[Any, ...] | None, ...]
    orders: tuple[tuple[Any, ...], ...] = ()

    @property
    def n_categories(self) -> Integers:
        """How many categories each column has; 0 where it holds numbers."""
        return np.array([0 if known is None else max(1, len(known)) for known in self.categories], np.int64)

    def encoded(self, table: Table) -> NDArray[np.float64]:
        """Return a table as numbers: categories by their places, NaN where a value is missing."""
        matrix = np.empty((table.n_rows, len(self.categories)))
        for j, (raw, known) in enumerate(zip(table.columns, self.categories, strict=True)):
            if known is None:
                matrix[:, j] = self._numbers(raw, j)
            else:
                places: dict[Any, float] = {category: float(k) for k, category in enumerate(known)}
                places[None] = np.nan
                matrix[:, j] = [places.get(found, UNSEEN) for found in raw.objects()]
        return matrix

    def _numbers(self, raw: RawColumn, j: int) -> Any:
        assert self.kinds is not None
        kind = self.kinds[j]
        if raw.loose:
            return tightened(raw, kind, self.orders[j])
        if raw.kind == CATEGORICAL or (self.orders[j] and raw.categories != self.orders[j]):
            raise ValueError(
                f"Column {raw.name!r} holds {raw.kind} values, but {kind} values were learned of it: give it the "
                "type that it had in fit."
            )
        return raw.values


def read_training(estimator: Any, X: Any, categorical: Any) -> tuple[Any, TreeColumns, Any]:
    """Read the rows to learn from.

    Parameters
    ----------
    estimator : estimator
    X : array, sparse matrix, frame or path
    categorical : "from_dtype", None, or columns by name, number or mask

    Returns
    -------
    matrix : array of floats or CSR matrix
    columns : TreeColumns
    stand_in : object
        As of `bisector.engine.validation.check_training`.
    """
    refuse_collections(X, estimator)
    by_type = isinstance(categorical, str)
    if by_type and categorical != "from_dtype":
        raise ValueError(f'categorical_features must be "from_dtype", None or columns, not {categorical!r}.')
    named = frames.is_frame(X)
    if not named and (by_type or categorical is None):
        return _numbers_only(estimator, X)
    if hasattr(X, "tocsr"):
        raise ValueError("Categories cannot be read from a sparse matrix: use X.toarray(), or a frame.")
    stand_in = blank(estimator)
    if not named:
        # Numbers keep their checks; anything else is read as it is.
        if not (isinstance(X, np.ndarray) and X.dtype == object):
            X = np.asarray(X)
        validate_data(stand_in, X, skip_check_array=True)
    table = Table(X, "X")
    chosen = {raw.name for raw in table.columns if raw.kind == CATEGORICAL}
    if not by_type:
        asked = _asked(categorical, [raw.name for raw in table.columns])
        loose = [name for name in chosen if name not in asked]
        if loose:
            raise ValueError(
                f"Column {loose[0]!r} holds no numbers: name it in categorical_features, or leave it out."
            )
        chosen = asked
    if named and not chosen and all(raw.kind in ("numeric", BOOLEAN) for raw in table.columns):
        return _numbers_only(estimator, X)
    if named:
        validate_data(
            stand_in, frames.header(X, [raw.name for raw in table.columns], []), skip_check_array=True
        )
    columns = TreeColumns(
        tuple(CATEGORICAL if raw.name in chosen else raw.kind for raw in table.columns),
        tuple(_categories(raw) if raw.name in chosen else None for raw in table.columns),
        tuple(raw.categories for raw in table.columns),
    )
    if not table.n_rows:
        raise ValueError(
            f"Found array with 0 sample(s) (shape=(0, {len(table.columns)})) while a minimum of 1 is required."
        )
    return columns.encoded(table), columns, stand_in


def read_rows(estimator: Any, columns: TreeColumns, X: Any) -> Any:
    """Read the rows of ``predict`` and its like, as an array of floats or a CSR matrix."""
    check_is_fitted(estimator)
    if columns.kinds is None:
        from bisector.engine.validation import check_rows

        return held(check_rows(estimator, X), f"Predicting with {type(estimator).__name__}")
    if frames.is_frame(X):
        validate_data(estimator, frames.header(X, None, []), skip_check_array=True, reset=False)
    else:
        X = X if isinstance(X, np.ndarray) else np.array(X, dtype=object)
        validate_data(estimator, X, skip_check_array=True, reset=False)
    return columns.encoded(Table(X, "X"))


def _numbers_only(estimator: Any, X: Any) -> tuple[Any, TreeColumns, Any]:
    rows, stand_in = fresh_rows(estimator, X)
    matrix = held(rows, f"Fitting {type(estimator).__name__}")
    return matrix, TreeColumns(None, (None,) * rows.n_features), stand_in


def _asked(categorical: Any, names: list[Any]) -> set[Any]:
    """Return the names of the columns that are asked for by name, number or mask."""
    asked = [] if categorical is None else list(categorical)
    if asked and all(isinstance(name, bool | np.bool_) for name in asked):
        if len(asked) != len(names):
            raise ValueError(f"categorical_features has {len(asked)} flags, but X has {len(names)} columns.")
        return {name for name, flag in zip(names, asked, strict=True) if flag}
    chosen = set()
    for name in asked:
        if name in names:
            chosen.add(name)
        elif isinstance(name, int | np.integer) and -len(names) <= name < len(names):
            chosen.add(names[name])
        else:
            raise ValueError(f"categorical_features names the column {name!r}, which X does not have.")
    return chosen


def _categories(raw: RawColumn) -> tuple[Any, ...]:
    found = list(dict.fromkeys(value for value in raw.objects() if value is not None))
    try:
        return tuple(sorted(found))
    except TypeError:  # values of different kinds: as they came
        return tuple(found)


def column_reader(matrix: Any) -> Callable[[int], NDArray[Any]]:
    """Return a function that gives a column of an array or of a sparse matrix."""
    if not hasattr(matrix, "tocsc"):
        return lambda f: matrix[:, f]
    by_column = matrix.tocsc()
    by_column.sum_duplicates()

    def read(f: int) -> NDArray[np.float64]:
        column = np.zeros(by_column.shape[0])
        inside = slice(by_column.indptr[f], by_column.indptr[f + 1])
        column[by_column.indices[inside]] = by_column.data[inside]
        return column

    return read
