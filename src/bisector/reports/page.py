"""Sections as one HTML page that needs nothing else: no network, no fonts, no scripts but its own."""

import math
from functools import cache
from numbers import Real
from typing import Any, NamedTuple

from bisector.engine.show import Table, number
from bisector.reports.parts import Section

# Longer tables are cut: a page must open on a phone.
MOST_LINES = 500


class Cell(NamedTuple):
    """A cell as it is written, and what it is sorted by (None: by its words)."""

    text: str
    key: float | None


class Lines(NamedTuple):
    """A table ready for the page."""

    heads: list[str]
    numeric: list[bool]
    rows: list[list[Cell]]
    notes: list[str]


def render(title: str, verdict: str, sections: list[Section]) -> str:
    """Write the page; all that comes from the data is escaped.

    Parameters
    ----------
    title : str
        What the table is called.
    verdict : str
        The answer in a sentence, for those who list pages.
    sections : list of Section

    Returns
    -------
    str

    Examples
    --------
    >>> from bisector.reports.page import render
    >>> from bisector.reports.parts import Section, Words
    >>> page = render("a <b>", "Fine.", [Section("short", "In short", [Words("x < y")])])
    >>> "a &lt;b&gt;" in page, "x &lt; y" in page, "<b>" in page
    (True, True, False)
    """
    import bisector

    return _template().render(
        title=title, verdict=verdict, sections=sections, lines=lines, version=bisector.__version__
    )


def lines(table: Table) -> Lines:
    """Bring a table into the form that the page writes and sorts.

    Examples
    --------
    >>> from bisector.engine.show import Table
    >>> from bisector.reports.page import lines
    >>> made = lines(Table(["model", "score"], [["tree", 0.5], ["line", None]]))
    >>> made.numeric, made.rows[0][1]
    ([False, True], Cell(text='0.5', key=0.5))
    """
    rows = [[_cell(value) for value in row] for row in table.rows[:MOST_LINES]]
    numeric = [
        any(row[j].text for row in rows) and all(row[j].key is not None or not row[j].text for row in rows)
        for j in range(len(table.columns))
    ]
    more = [f"and {len(table.rows) - MOST_LINES:,} more"] if len(table.rows) > MOST_LINES else []
    return Lines(list(table.columns), numeric, rows, [*table.notes, *more])


def _cell(value: Any) -> Cell:
    if value is None:
        return Cell("", None)
    if isinstance(value, Real) and not isinstance(value, bool):
        key = float(value)
        return Cell(number(value), key if math.isfinite(key) else None)
    text = str(value)
    try:
        key = float(text.removesuffix("%").replace(",", ""))
    except ValueError:
        return Cell(text, None)
    return Cell(text, key if math.isfinite(key) else None)


@cache
def _template() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("bisector.reports")
    made = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return made.get_template("report.html.j2")
