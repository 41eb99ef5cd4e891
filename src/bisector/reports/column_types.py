"""What the cells of a column are: numbers, booleans, dates or words, guessed from the words of a text file."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bisector.reports.faults import TableFault, listed

if TYPE_CHECKING:
    import polars

TYPES = ("number", "category", "boolean", "date", "drop")
MISSING_WORDS = ("", "NA", "N/A", "#N/A", "NaN", "nan", "null", "NULL", "?")
# A few cells that cannot be read as the others count as missing; more say that the column is of another type.
MOST_UNREADABLE = 0.05
_BOOLEANS = {
    "true": True,
    "false": False,
    "yes": True,
    "no": False,
    "y": True,
    "n": False,
    "t": True,
    "f": False,
}
_DATES = ("%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y%m%d")
_TIMES = ("%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M")
_LOOK_AT = 200


def typed(frame: "polars.DataFrame", types: Mapping[str, str] | None = None) -> "polars.DataFrame":
    """Read the words of a frame as numbers, booleans or dates, where that is what they are.

    Parameters
    ----------
    frame : polars.DataFrame
        Columns that are no words stay as they are, unless `types` says otherwise.
    types : mapping of str to str, optional
        What columns hold where the guess would be wrong; "drop" leaves a column out.

    Returns
    -------
    polars.DataFrame

    Examples
    --------
    >>> import polars as pl
    >>> from bisector.reports.column_types import typed
    >>> frame = pl.DataFrame({"a": ["1", "2.5"], "b": ["x", "y"], "c": ["yes", "no"], "zip": ["01", "02"]})
    >>> typed(frame, {"zip": "category"}).dtypes
    [Float64, String, Boolean, String]
    """
    given = check_types(frame.columns, types)
    made = [
        as_type(frame[name], given[name]) if name in given else _guessed(frame[name])
        for name in frame.columns
        if given.get(name) != "drop"
    ]
    return type(frame)(made)


def check_types(names: list[str], types: Mapping[str, str] | None) -> dict[str, str]:
    """Refuse types of columns that are not there, and types that do not exist."""
    given = dict(types or {})
    unknown = [name for name in given if name not in names]
    if unknown:
        raise TableFault(
            f"The table has no column {listed(unknown)} to give a type to; it has {listed(names)}."
        )
    wrong = [word for word in given.values() if word not in TYPES]
    if wrong:
        raise TableFault(f"{wrong[0]!r} is no type of a column: choose among {', '.join(TYPES)}.")
    return given


def as_type(column: "polars.Series", kind: str) -> "polars.Series":
    """Read a column as a type; cells that cannot be read so become missing.

    Examples
    --------
    >>> import polars as pl
    >>> from bisector.reports.column_types import as_type
    >>> as_type(pl.Series("x", ["1", " 2 ", "two"]), "number").to_list()
    [1.0, 2.0, None]
    """

    if kind == "number":
        return _numbers(column)
    if kind == "boolean":
        return _booleans(column)
    if kind == "date":
        return _dates(column)
    return _words(column)


def unreadable(column: "polars.Series", read: "polars.Series") -> "polars.Series":
    """Tell which cells were there and could not be read."""
    return column.is_not_null() & read.is_null()


def _guessed(column: "polars.Series") -> "polars.Series":
    import polars as pl

    if column.dtype in (pl.Categorical, pl.Enum):
        return column.cast(pl.String)
    if column.dtype != pl.String:
        return column
    column = _words(column)
    known = column.drop_nulls()
    if not len(known):
        return column
    look = known[:_LOOK_AT]
    for read in (_booleans, _numbers, _dates):
        # Most columns show what they are in a few cells; the others are read as a whole before it is decided.
        if unreadable(look, read(look)).mean() > max(
            MOST_UNREADABLE, 1.5 / len(look) if read is _numbers else 0
        ):
            continue
        whole = read(column)
        if unreadable(column, whole).sum() <= (MOST_UNREADABLE * len(known) if read is _numbers else 0):
            return whole
    return column


def _words(column: "polars.Series") -> "polars.Series":
    """Return cells as words without blanks around them; those that stand for a missing cell are missing."""
    import polars as pl

    words = column.cast(pl.String, strict=False).str.strip_chars()
    return words.set(words.is_in(list(MISSING_WORDS)).fill_null(False), None)


def _numbers(column: "polars.Series") -> "polars.Series":
    import polars as pl

    if column.dtype == pl.String:
        column = _words(column)
    if column.dtype in (pl.Date, pl.Datetime):
        return column.cast(pl.Datetime("us")).dt.epoch("us").cast(pl.Float64) / 86_400e6
    numbers = column.cast(pl.Float64, strict=False)
    return numbers.fill_nan(None).set(numbers.is_infinite().fill_null(False), None)


def _booleans(column: "polars.Series") -> "polars.Series":
    import polars as pl

    if column.dtype == pl.Boolean:
        return column
    words = _words(column).str.to_lowercase()
    # The cells 0 and 1 are numbers unless somebody says otherwise; as such they mean the same to a model.
    return words.replace_strict(_BOOLEANS, default=None, return_dtype=pl.Boolean)


def _dates(column: "polars.Series") -> "polars.Series":
    import polars as pl

    if column.dtype in (pl.Date, pl.Datetime):
        return column
    words = _words(column)
    there = max(1, words.count())
    best: Any = pl.Series(column.name, [None] * len(column), dtype=pl.Date)
    for formats, kind in ((_DATES, pl.Date), (_TIMES, pl.Datetime("us"))):
        for pattern in formats:
            read = words.str.strptime(kind, pattern, strict=False)
            if read.count() == there:
                return read
            if read.count() > best.count():
                best = read
    return best


def days(column: "polars.Series") -> np.ndarray:
    """Return dates as days since 1970, with NaN where there is none."""
    return _numbers(column).to_numpy().astype(np.float64)
