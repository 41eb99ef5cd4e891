"""Strings, one a row, and sequences of tokens as strings whose characters stand for tokens."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.distances.distance import Rows
from bisector.distances.set_elements import Vocabulary, is_missing, items_of

_ELSEWHERE = "for numbers take Euclidean() or another distance of vectors, for sets Jaccard()"


@dataclass(frozen=True)
class StringRows(Rows):
    """Strings.

    Attributes
    ----------
    strings : list of str
    vocabulary : Vocabulary or None
        For sequences of tokens, which character stands for which token.
    """

    strings: list[str]
    vocabulary: Vocabulary | None = None

    def __len__(self) -> int:
        return len(self.strings)

    def take(self, numbers: NDArray[np.int64]) -> "StringRows":
        return replace(self, strings=[self.strings[number] for number in numbers])

    def joined(self, others: Sequence[Rows]) -> "StringRows":
        parts = [self, *(rows for rows in others if isinstance(rows, StringRows))]
        vocabulary = None
        if self.vocabulary is not None:
            vocabulary = self.vocabulary.flattened()
            parts = [part.renumbered(vocabulary) for part in parts]
        return StringRows([string for part in parts for string in part.strings], vocabulary)

    def renumbered(self, vocabulary: Vocabulary) -> "StringRows":
        """Return the same sequences with the characters of another vocabulary, which may grow."""
        assert self.vocabulary is not None
        characters = self.vocabulary.translation(vocabulary)
        return StringRows([string.translate(characters) for string in self.strings], vocabulary)

    def comparable_with(self, other: "StringRows") -> "StringRows":
        """Return these rows with the same characters for the same tokens as another's."""
        if (self.vocabulary is None) != (other.vocabulary is None):
            raise ValueError(
                "Strings cannot be compared with sequences of tokens: split the strings, or join the tokens."
            )
        if (
            self.vocabulary is None
            or other.vocabulary is None
            or self.vocabulary.agrees_with(other.vocabulary)
        ):
            return self
        return self.renumbered(Vocabulary(other.vocabulary))


def string_rows(X: Any, like: Rows | None, name: str) -> StringRows:
    """Check strings, or sequences of tokens."""
    known = like if isinstance(like, StringRows) else None
    if isinstance(X, np.ndarray) and X.dtype.kind in "fiubc":
        raise TypeError(f"{name} holds numbers, but this distance compares strings: {_ELSEWHERE}.")
    items = items_of(X, name)
    tokens = known.vocabulary is not None if known is not None else bool(items) and _is_sequence(items[0])
    if not tokens:
        return StringRows([_string(item, number, name) for number, item in enumerate(items)])
    vocabulary = Vocabulary(None if known is None else known.vocabulary)
    strings = []
    for number, item in enumerate(items):
        where = f"Row {number} of {name}"
        numbers = vocabulary.numbers(_tokens(item, where), where)
        if vocabulary.size > sys.maxunicode:
            raise ValueError(
                f"{name} has more than {sys.maxunicode:,} different tokens, more than can be compared."
            )
        strings.append("".join(map(chr, numbers)))
    return StringRows(strings, vocabulary)


def _is_sequence(item: Any) -> bool:
    return isinstance(item, list | tuple) or (isinstance(item, np.ndarray) and item.ndim == 1)


def _string(item: Any, number: int, name: str) -> str:
    if type(item) is str:
        return item
    if isinstance(item, str):  # NumPy's, say
        return str(item)
    where = f"Row {number} of {name}"
    _refuse_missing(item, where)
    if isinstance(item, bytes):
        raise TypeError(f"{where} holds bytes: decode them into a string first.")
    if _is_sequence(item):
        raise TypeError(
            f"{where} is a sequence, but others are strings: split them all into tokens, or none."
        )
    raise TypeError(f"{where} is {item!r}, but this distance compares strings: {_ELSEWHERE}.")


def _tokens(item: Any, where: str) -> Sequence[Any]:
    if isinstance(item, np.ndarray) and item.ndim == 1:
        return item.tolist()
    if isinstance(item, list | tuple):
        return item
    _refuse_missing(item, where)
    raise TypeError(
        f"{where} is {item!r}, but others are sequences of tokens: split them all into tokens, or none."
    )


def _refuse_missing(item: Any, where: str) -> None:
    if is_missing(item):
        raise ValueError(
            f"{where} is missing ({item!r}): fill it, with an empty string for instance, or leave it out."
        )
