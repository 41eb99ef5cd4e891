"""What a report is made of: sections of words, warnings, tables, pictures and code."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from bisector.engine.show import Caution, Heading, Paragraph, Part, Sheet, Table


@dataclass(frozen=True)
class Words:
    """A paragraph."""

    kind: ClassVar[str] = "words"
    text: str

    def shown(self) -> list[Part]:
        return [Paragraph(self.text)]


@dataclass(frozen=True)
class Verdict:
    """The sentence that matters most in its section."""

    kind: ClassVar[str] = "verdict"
    text: str

    def shown(self) -> list[Part]:
        return [Paragraph(self.text)]


@dataclass(frozen=True)
class Beware:
    """What must not be missed."""

    kind: ClassVar[str] = "beware"
    text: str

    def shown(self) -> list[Part]:
        return [Caution(self.text)]


@dataclass(frozen=True)
class Figures:
    """A table, with what its columns mean."""

    kind: ClassVar[str] = "figures"
    caption: str
    table: Table
    meanings: Mapping[str, str] = field(default_factory=dict)

    def shown(self) -> list[Part]:
        return [Table(self.table.columns, self.table.rows, title=f"{self.caption}:", notes=self.table.notes)]


@dataclass(frozen=True)
class Picture:
    """A drawing, with words for those who cannot see it."""

    kind: ClassVar[str] = "picture"
    caption: str
    svg: str

    def shown(self) -> list[Part]:
        return []


@dataclass(frozen=True)
class Code:
    """Python code."""

    kind: ClassVar[str] = "code"
    text: str

    def shown(self) -> list[Part]:
        return [Paragraph(self.text)]


Piece = Words | Verdict | Beware | Figures | Picture | Code


@dataclass(frozen=True)
class Section:
    """A part of a report under one heading.

    Attributes
    ----------
    anchor : str
        What links to it are called.
    title : str
    pieces : list
    """

    anchor: str
    title: str
    pieces: list[Piece]


def as_sheet(sections: list[Section]) -> Sheet:
    """Return sections as plain text for a console, without pictures.

    Examples
    --------
    >>> from bisector.reports.parts import Section, Words, as_sheet
    >>> as_sheet([Section("short", "In short", [Words("All is well.")])])
    In short
    ========
    <BLANKLINE>
    All is well.
    """
    parts: list[Part | str] = []
    for section in sections:
        parts.append(Heading(section.title))
        for piece in section.pieces:
            parts += piece.shown()
    return Sheet(parts)
