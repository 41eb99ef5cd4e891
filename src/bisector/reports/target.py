"""The column to predict: classes or a number, and the rows that have one."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bisector.reports.columns import describe_columns
from bisector.reports.faults import TableFault, listed

if TYPE_CHECKING:
    import polars

# Whole numbers with at most so many values, each several times, are read as classes.
MOST_CLASSES = 20
_ROWS_A_CLASS = 5


@dataclass(frozen=True, eq=False)
class Target:
    """What is to be predicted.

    Attributes
    ----------
    name : str
    kind : {"classes", "number"}
    y : ndarray of shape (n_rows,)
        Labels, or numbers.
    rows : ndarray of int of shape (n_rows,)
        Which rows of the table have a target that can be learned.
    notes : tuple of str
        Rows that were left out, and why.
    """

    name: str
    kind: str
    y: NDArray[Any]
    rows: NDArray[np.int64]
    notes: tuple[str, ...]


def choose_target(frame: "polars.DataFrame", name: str) -> Target:
    """Take a column of a typed frame as the target.

    Examples
    --------
    >>> import polars as pl
    >>> from bisector.reports.target import choose_target
    >>> frame = pl.DataFrame({"x": range(6), "y": ["a", "b", "a", None, "b", "c"]})
    >>> target = choose_target(frame, "y")
    >>> target.kind, target.y.tolist(), target.rows.tolist()
    ('classes', ['a', 'b', 'a', 'b'], [0, 1, 2, 4])
    >>> for note in target.notes:
    ...     print(note)
    1 row without 'y' is left out.
    The class 'c' has a single row, which cannot be learned from and tested on: it is left out.
    """
    if name not in frame.columns:
        raise TableFault(f"The table has no column {name!r} to predict; it has {listed(frame.columns)}.")
    column = frame[name]
    missing = column.null_count()
    notes = (
        [f"{missing} row{'s' * (missing > 1)} without {name!r} {_is(missing)} left out."] if missing else []
    )
    rows = np.flatnonzero(column.is_not_null().to_numpy()).astype(np.int64)
    if not len(rows):
        raise TableFault(f"Every cell of the target {name!r} is missing.")
    column = column.drop_nulls()
    if column.n_unique() == 1:
        raise TableFault(
            f"The target {name!r} is {str(column[0])!r} in every row: there is nothing to learn."
        )
    if _is_number(column):
        return Target(name, "number", column.to_numpy().astype(np.float64), rows, tuple(notes))
    role = describe_columns(column.to_frame())[0]
    if role.role == "dropped":
        raise TableFault(
            f"The target {name!r} cannot be predicted: it has {role.distinct} values in {len(column)} rows."
        )
    y = _labels(column)
    classes, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    single = classes[counts < 2]
    if len(classes) - len(single) < 2:
        raise TableFault(
            f"The target {name!r} has fewer than two classes with two rows or more: there is nothing to compare."
        )
    if len(single):
        kept = counts[codes] > 1
        y, rows = y[kept], rows[kept]
        names = listed([str(label) for label in single])
        notes.append(
            f"The class{'es' * (len(single) > 1)} {names} {'have' if len(single) > 1 else 'has'} a single row"
            f"{' each' * (len(single) > 1)}, which cannot be learned from and tested on: it is left out."
        )
    return Target(name, "classes", y, rows, tuple(notes))


def sampled(target: Target, most_rows: int | None) -> NDArray[np.int64]:
    """Return places in a target: all, or a random choice of so many, without classes that are left with one row."""
    n = len(target.y)
    if most_rows is None or n <= most_rows:
        return np.arange(n)
    chosen = np.sort(np.random.default_rng(0).permutation(n)[:most_rows])
    if target.kind == "number":
        return chosen
    _, codes, counts = np.unique(target.y[chosen], return_inverse=True, return_counts=True)
    return chosen[counts[codes] > 1]


def split_target(
    table: "polars.DataFrame", name: str, most_rows: int | None = None
) -> tuple["polars.DataFrame", NDArray[Any]]:
    """Part a table into features and target, without rows that cannot be learned from.

    Parameters
    ----------
    table : polars.DataFrame
        As `as_table` returns it.
    name : str
        The target's column.
    most_rows : int, optional
        Of more rows, so many are chosen at random, always the same ones.

    Returns
    -------
    features : polars.DataFrame
    y : ndarray of shape (n_rows,)

    Examples
    --------
    >>> from bisector.reports import built_in, split_target
    >>> features, y = split_target(built_in("iris"), "species", most_rows=100)
    >>> features.shape, y.shape
    ((100, 4), (100,))
    """
    target = choose_target(table, name)
    places = sampled(target, most_rows)
    return table.drop(name)[target.rows[places]], target.y[places]


def _is_number(column: "polars.Series") -> bool:
    if not column.dtype.is_numeric():
        return column.dtype.is_temporal() and _refuse_dates(column)
    distinct = column.n_unique()
    whole = bool((column == column.floor()).all())
    return (
        not (whole and distinct <= MOST_CLASSES and distinct * _ROWS_A_CLASS <= len(column)) and distinct > 2
    )


def _refuse_dates(column: "polars.Series") -> bool:
    raise TableFault(f"The target {column.name!r} holds dates: turn them into numbers or classes first.")


def _labels(column: "polars.Series") -> NDArray[Any]:
    import polars as pl

    if column.dtype.is_numeric():
        return column.cast(pl.Int64 if bool((column == column.floor()).all()) else pl.Float64).to_numpy()
    return np.array(column.cast(pl.String).to_list())


def _is(count: int) -> str:
    return "is" if count == 1 else "are"
