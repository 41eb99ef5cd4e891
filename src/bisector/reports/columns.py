"""What a model may learn from each column of a table, and what is left out and why."""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from bisector.engine.show import Table

if TYPE_CHECKING:
    import polars

# Words with more values than this, or than this share of the rows, name rows rather than groups of them.
MOST_LEVELS = 50
_SHARE_OF_LEVELS = 0.2
_MOSTLY_DISTINCT = 0.9
_FEW_ROWS = 20
_ID_NAME = re.compile(
    r"(^|[_\s.-])(id|ids|uuid|guid|index|key|nr|row|rownames?|unnamed: 0)$|^$|[a-z]Id$", re.IGNORECASE
)


@dataclass(frozen=True)
class Column:
    """One column of a table, and how it is used.

    Attributes
    ----------
    name : str
    role : {"number", "boolean", "category", "date", "dropped"}
    use : str
        How it is encoded, or why it is left out.
    missing, distinct : int
        How many cells are missing, and how many different ones there are among the others.
    """

    name: str
    role: str
    use: str
    missing: int
    distinct: int

    def as_dict(self) -> dict[str, Any]:
        """Return the column as plain data."""
        return asdict(self)


def describe_columns(frame: "polars.DataFrame") -> list[Column]:
    """Say of each column of a typed frame what a model may learn from it.

    Parameters
    ----------
    frame : polars.DataFrame
        As `read_table` returns it.

    Returns
    -------
    list of Column

    Examples
    --------
    >>> import polars as pl
    >>> from bisector.reports.columns import describe_columns
    >>> frame = pl.DataFrame({"id": [1, 2, 3], "sex": ["f", "m", "f"], "always": [7.0, 7.0, 7.0]})
    >>> [(column.name, column.role, column.use) for column in describe_columns(frame)]
    [('id', 'dropped', 'names the rows'), ('sex', 'category', 'one indicator a value'),
     ('always', 'dropped', 'has the same value in every row')]
    """
    import polars as pl

    nulls = frame.select(pl.all().null_count()).row(0)
    plain = [
        name
        for name, kind in frame.schema.items()
        if not kind.is_nested() and kind not in (pl.Object, pl.Binary)
    ]
    counted = (
        dict(zip(plain, frame.select(pl.col(plain).drop_nulls().n_unique()).row(0), strict=True))
        if plain
        else {}
    )
    return [
        Column(name, *_role(frame[name], missing, counted.get(name, 0)), missing, counted.get(name, 0))
        for name, missing in zip(frame.columns, nulls, strict=True)
    ]


def _role(column: "polars.Series", missing: int, distinct: int) -> tuple[str, str]:
    import polars as pl

    n, kind = len(column), column.dtype
    if missing == n:
        return "dropped", "every cell is missing"
    if kind.is_nested() or kind in (pl.Object, pl.Binary, pl.Time, pl.Duration):
        return "dropped", f"holds cells of the kind {kind}, which are no numbers, words or dates"
    if distinct == 1 and not missing:
        return "dropped", "has the same value in every row"
    if kind == pl.Boolean:
        return "boolean", "1 for true, 0 for false"
    if kind in (pl.Date, pl.Datetime):
        return "date", "days since 1970"
    if kind.is_numeric():
        if _is_id(column, distinct, missing):
            return "dropped", "names the rows"
        return "number", "as it is"
    return _role_of_words(column, n - missing, distinct)


def _is_id(column: "polars.Series", distinct: int, missing: int) -> bool:
    """Whole numbers, all different, that are called an identifier or simply count the rows."""
    if missing or distinct < len(column) or len(column) < 3 or not bool((column == column.floor()).all()):
        return False
    counts = bool((column.diff().drop_nulls() == 1).all()) and len(column) >= _FEW_ROWS
    return counts or bool(_ID_NAME.search(column.name))


def _role_of_words(column: "polars.Series", there: int, distinct: int) -> tuple[str, str]:
    if there >= _FEW_ROWS and distinct >= _MOSTLY_DISTINCT * there:
        words = bool(column.drop_nulls()[:200].cast(str).str.contains(" ").mean() > 0.5)
        return "dropped", "free text" if words else "names the rows"
    if distinct > MOST_LEVELS and distinct > _SHARE_OF_LEVELS * there:
        return "dropped", f"{distinct} different words in {there} rows: too many to be groups"
    if distinct > MOST_LEVELS:
        return "category", f"one indicator for each of the {MOST_LEVELS} most frequent values"
    return "category", "one indicator a value"


def columns_table(columns: Sequence[Column], most: int = 200) -> Table:
    """Return the columns as a table.

    Examples
    --------
    >>> from bisector.reports.columns import Column, columns_table
    >>> print(columns_table([Column("age", "number", "as it is", 3, 40)]))
    column  used as  how       missing  distinct
    age     number   as it is        3        40
    """
    rows = [
        [column.name, column.role, column.use, column.missing, column.distinct] for column in columns[:most]
    ]
    more = [f"and {len(columns) - most:,} more columns"] if len(columns) > most else []
    return Table(["column", "used as", "how", "missing", "distinct"], rows, notes=more)
