"""Results for people: numbers as R writes them, tables, and sheets of words and tables.

Everything here holds plain data and can be had twice: as aligned text for a console, and as HTML for a
notebook, in which all that came from the user (names of features, say) is escaped.
"""

import math
import re
import textwrap
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from numbers import Integral, Real
from typing import Protocol

_LINE_WIDTH = 88


def number(x: float | Real, digits: int = 4) -> str:
    """Write a number as R prints it: with `digits` significant digits, in whichever notation is shorter.

    Whole numbers of an integer type are written out; trailing zeros are dropped; NaN is "NA".

    Examples
    --------
    >>> [number(x) for x in (152.13348, 0.5, 0.0001234, 0.00001234, 123456.7, 1e10, float("nan"))]
    ['152.1', '0.5', '0.0001234', '1.234e-05', '123457', '1e+10', 'NA']
    """
    if isinstance(x, Integral):
        return str(int(x))
    x = float(x)
    if not math.isfinite(x):
        return "NA" if math.isnan(x) else "Inf" if x > 0 else "-Inf"
    if x == 0:
        return "0"
    mantissa, exponent = f"{x:.{digits - 1}e}".split("e")
    if "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    n_significant = sum(map(str.isdigit, mantissa))
    fixed = f"{x:.{max(0, n_significant - 1 - int(exponent))}f}"
    scientific = f"{mantissa}e{exponent}"
    return fixed if len(fixed) <= len(scientific) else scientific


def p_value(p: float, digits: int = 3) -> str:
    """Write a p-value as R does: what is below the precision of floating point is only bounded.

    Examples
    --------
    >>> p_value(0.003124), p_value(1e-20)
    ('0.00312', '<2e-16')
    """
    return "<2e-16" if p < 2.220446049250313e-16 else number(float(p), digits)


def stars(p: float) -> str:
    """Mark significance: ``***`` up to 0.001, ``**`` up to 0.01, ``*`` up to 0.05, ``.`` up to 0.1.

    Examples
    --------
    >>> stars(0.0004), stars(0.03), stars(0.2)
    ('***', '*', '')
    """
    levels = [(0.001, "***"), (0.01, "**"), (0.05, "*"), (0.1, ".")]
    return next((mark for level, mark in levels if p <= level), "")


@dataclass(frozen=True)
class Table:
    """Rows under named columns.

    Numbers stand on the right, words on the left; a column is one of numbers if each of its cells is a
    number, reads as one ("<2e-16"), or is empty (None).

    Parameters
    ----------
    columns : iterable of str
        The headings.
    rows : iterable of sequences
        The cells; numbers are written by `number`.
    title : str or None, default=None
        Stands above.
    notes : iterable of str, default=()
        Stand below, a line each.

    Examples
    --------
    >>> print(Table(["", "Estimate", "p"], [["(Intercept)", 152.13348, "<2e-16"], ["bmi", -0.25, 0.0123]]))
                 Estimate       p
    (Intercept)     152.1  <2e-16
    bmi             -0.25  0.0123
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    title: str | None = None
    notes: Sequence[str] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))
        object.__setattr__(self, "rows", tuple(map(tuple, self.rows)))
        object.__setattr__(self, "notes", tuple(self.notes))
        for i, row in enumerate(self.rows):
            if len(row) != len(self.columns):
                raise ValueError(
                    f"Row {i} of the table has {len(row)} cells under {len(self.columns)} columns; "
                    "give every row one cell a column, None for an empty one."
                )

    def text(self) -> str:
        """Return the table as aligned lines."""
        head = [_visible(name) for name in self.columns]
        body = [[_visible(cell) for cell in row] for row in self._written()]
        widths = [max(map(_width, column)) for column in zip(head, *body, strict=True)]
        sides = self._sides()
        lines = ["  ".join(map(_padded, row, widths, sides)).rstrip() for row in [head, *body] if row]
        title = [] if self.title is None else [_visible(self.title)]
        return "\n".join([*title, *lines, *map(_visible, self.notes)])

    def html(self) -> str:
        """Return the table as HTML, every text escaped and every colour left to the page."""
        sides = self._sides()

        def row(cells: Iterable[str], tag: str, style: str) -> str:
            inside = (
                f'<{tag} style="text-align: {side}; {style}">{escape(cell)}</{tag}>'
                for cell, side in zip(cells, sides, strict=True)
            )
            return f"<tr>{''.join(inside)}</tr>"

        space = "padding: 0.2em 0.8em"
        title = "" if self.title is None else f"{_CAPTION}{escape(self.title)}</caption>"
        head = row(self.columns, "th", f"{space}; border-bottom: 1px solid currentColor")
        body = "".join(row(cells, "td", space) for cells in self._written())
        span = max(1, len(self.columns))
        notes = "".join(
            f'<tr><td colspan="{span}" style="text-align: left; {space}">{escape(note)}</td></tr>'
            for note in self.notes
        )
        foot = f"<tfoot>{notes}</tfoot>" if notes else ""
        return f"{_TABLE}{title}<thead>{head}</thead><tbody>{body}</tbody>{foot}</table>"

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        return self.html()

    def _written(self) -> list[list[str]]:
        return [[_written(cell) for cell in row] for row in self.rows]

    def _sides(self) -> list[str]:
        """The side each column leans to."""
        columns = list(zip(*self._written(), strict=True)) or [()] * len(self.columns)
        return ["right" if _reads_as_numbers(column) else "left" for column in columns]


class Part(Protocol):
    """A piece of a sheet."""

    def text(self) -> str: ...

    def html(self) -> str: ...


@dataclass(frozen=True)
class Heading:
    """A line that names what follows."""

    words: str

    def text(self) -> str:
        line = _visible(self.words)
        return f"{line}\n{'=' * _width(line)}"

    def html(self) -> str:
        return f"<h4>{escape(self.words)}</h4>"


@dataclass(frozen=True)
class Paragraph:
    """Plain words; their line breaks are kept, and long lines are wrapped."""

    words: str

    def text(self) -> str:
        return _wrapped(self.words)

    def html(self) -> str:
        return f"<p>{_with_breaks(self.words)}</p>"


@dataclass(frozen=True)
class Caution:
    """Plain words that the reader must not miss."""

    words: str

    def text(self) -> str:
        return _wrapped(f"Warning: {self.words}")

    def html(self) -> str:
        return f"{_CAUTION}<strong>Warning:</strong> {_with_breaks(self.words)}</p>"


@dataclass(frozen=True, repr=False)
class Sheet:
    """Headings, paragraphs, tables and warnings, one below the other.

    Parameters
    ----------
    parts : iterable
        Of `Heading`, `Paragraph`, `Caution`, `Table` and `Sheet`; a plain string is a paragraph.

    Examples
    --------
    >>> Sheet([Heading("Fit"), "Two features.", Table(["name", "coef"], [["a", 1.5], ["b", -2.0]])])
    Fit
    ===
    <BLANKLINE>
    Two features.
    <BLANKLINE>
    name  coef
    a      1.5
    b       -2
    """

    parts: Sequence[Part | str]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple(self.parts))

    def text(self) -> str:
        """Return the sheet as text, a blank line between its parts."""
        return "\n\n".join(part.text() for part in self._parts())

    def html(self) -> str:
        """Return the sheet as HTML, every text escaped."""
        return f"<div>{''.join(part.html() for part in self._parts())}</div>"

    def __repr__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        return self.html()

    def _parts(self) -> list[Part]:
        return [Paragraph(part) if isinstance(part, str) else part for part in self.parts]


_TABLE = '<table style="border-collapse: collapse; font-variant-numeric: tabular-nums">'
_CAPTION = '<caption style="text-align: left; font-weight: bold">'
_CAUTION = '<p style="border-left: 0.25em solid currentColor; padding-left: 0.75em">'

_NUMERAL = re.compile(r"[<>]?\s?-?(\d+(\.\d*)?|\.\d+)(e[-+]?\d+)?%?|NA|-?Inf", re.IGNORECASE)


def _reads_as_numbers(cells: Iterable[str]) -> bool:
    filled = [cell for cell in cells if cell]
    return bool(filled) and all(_NUMERAL.fullmatch(cell) for cell in filled)


def _written(cell: object) -> str:
    if cell is None:
        return ""
    if isinstance(cell, Real) and not isinstance(cell, bool):
        return number(cell)
    return str(cell)


def _visible(words: str) -> str:
    """Spell out control characters: in a name they would break lines, or command the terminal."""
    return "".join(
        c if unicodedata.category(c) not in {"Cc", "Zl", "Zp"} else c.encode("unicode_escape").decode()
        for c in words
    )


def _width(words: str) -> int:
    """Columns on a terminal: East Asian wide characters take two, combining ones none."""
    return sum(
        0 if unicodedata.category(c) in {"Mn", "Me", "Cf"} else 1 + (unicodedata.east_asian_width(c) in "WF")
        for c in words
    )


def _padded(words: str, width: int, side: str) -> str:
    space = " " * (width - _width(words))
    return space + words if side == "right" else words + space


def _wrapped(words: str) -> str:
    lines = (
        textwrap.fill(_visible(line), _LINE_WIDTH, break_long_words=False, break_on_hyphens=False)
        for line in words.split("\n")
    )
    return "\n".join(lines)


def _with_breaks(words: str) -> str:
    return escape(words).replace("\n", "<br>")
