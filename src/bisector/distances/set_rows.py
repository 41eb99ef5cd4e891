"""Sets, one a row: as bits of machine words, or as lists of numbered elements.

A set's elements are the columns of a table, or anything hashable, which a vocabulary numbers. Few possible elements
make short rows of bits, which are compared 64 at a time; lists are for sets that are small among many possible
elements.
"""

from abc import abstractmethod
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, replace
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.distances.distance import Rows
from bisector.distances.numeric_rows import NumericRows, numeric_rows
from bisector.distances.set_elements import Vocabulary, is_missing, items_of
from bisector.engine.frames import is_frame

WORD = 64


class SetRows(Rows):
    """Sets of numbered elements.

    Attributes
    ----------
    sizes : ndarray of int64
        How many elements each has.
    header : NumericRows or None
        The table whose columns are the elements, without its rows.
    vocabulary : Vocabulary or None
        The elements' numbers, when they are no columns.
    """

    sizes: NDArray[np.int64]
    header: NumericRows | None
    vocabulary: Vocabulary | None

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    @abstractmethod
    def n_elements(self) -> int:
        """How many different elements the sets may have."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """That of distances between the sets."""
        return np.dtype(np.float64) if self.header is None else self.header.dtype

    @abstractmethod
    def packed(self, n_elements: int) -> NDArray[np.int64]:
        """Return the sets as rows of words, without elements from a number on.

        Element j of a set is bit j % 64 of word j // 64 of its row.
        """


@dataclass(frozen=True)
class BitRows(SetRows):
    """Sets of columns as rows of words."""

    words: NDArray[np.int64]
    sizes: NDArray[np.int64]
    header: NumericRows
    vocabulary = None

    @property
    def n_elements(self) -> int:
        return self.header.n_features

    def packed(self, n_elements: int) -> NDArray[np.int64]:
        return self.words

    def take(self, numbers: NDArray[np.int64]) -> "BitRows":
        return replace(self, words=self.words[numbers], sizes=self.sizes[numbers])

    def joined(self, others: Sequence[Rows]) -> "BitRows":
        parts = [self, *(rows for rows in others if isinstance(rows, BitRows))]
        return BitRows(
            np.concatenate([part.words for part in parts]),
            np.concatenate([part.sizes for part in parts]),
            _joined_header([part.header for part in parts]),
        )


@dataclass(frozen=True)
class ListRows(SetRows):
    """Sets as lists: ``elements[starts[i]:starts[i + 1]]`` are those of set i, in ascending order in a table's."""

    starts: NDArray[np.int64]
    elements: NDArray[np.int64]
    header: NumericRows | None
    vocabulary: Vocabulary | None = None

    @property
    def sizes(self) -> NDArray[np.int64]:  # type: ignore[override]
        return np.diff(self.starts)

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def n_elements(self) -> int:
        if self.header is not None:
            return self.header.n_features
        assert self.vocabulary is not None
        return self.vocabulary.size

    def packed(self, n_elements: int) -> NDArray[np.int64]:
        from bisector.distances.set_loops import pack_lists
        from bisector.engine.loops import given

        words = np.zeros((len(self), -(-n_elements // WORD)), dtype=np.int64)
        pack_lists(given(self.starts), given(self.elements), n_elements, words)
        return words

    def take(self, numbers: NDArray[np.int64]) -> "ListRows":
        sizes = self.sizes[numbers]
        starts = _starts(sizes)
        places = np.repeat(self.starts[:-1][numbers] - starts[:-1], sizes) + np.arange(starts[-1])
        return replace(self, starts=starts, elements=self.elements[places])

    def joined(self, others: Sequence[Rows]) -> "ListRows":
        parts = [self, *(rows for rows in others if isinstance(rows, ListRows))]
        vocabulary = None
        if self.vocabulary is not None:
            vocabulary = self.vocabulary.flattened()
            parts = [part.renumbered(vocabulary) for part in parts]
        headers = [part.header for part in parts if part.header is not None]
        return ListRows(
            _starts(np.concatenate([part.sizes for part in parts])),
            np.concatenate([part.elements for part in parts]),
            _joined_header(headers) if headers else None,
            vocabulary,
        )

    def renumbered(self, vocabulary: Vocabulary) -> "ListRows":
        """Return the same sets with the numbers of another vocabulary, which may grow."""
        assert self.vocabulary is not None
        new = np.zeros(self.vocabulary.size, dtype=np.int64)
        for number, other in self.vocabulary.translation(vocabulary).items():
            new[number] = other
        return replace(self, elements=new[self.elements], vocabulary=vocabulary)


def _joined_header(headers: Sequence[NumericRows]) -> NumericRows:
    return replace(headers[0], dtype=np.result_type(*(header.dtype for header in headers)))


def set_rows(X: Any, like: Rows | None, name: str) -> SetRows:
    """Check sets: a table of zeros and ones, a sparse matrix, or a sequence of Python sets."""
    known = like if isinstance(like, SetRows) else None
    objects = _holds_sets(X)
    if known is not None and objects != (known.header is None):
        raise ValueError(
            f"{name} {'holds Python sets' if objects else 'is a table'}, but the rows it is compared with "
            f"{'are a table' if objects else 'are Python sets'}: give both in one form."
        )
    return _sets_of_objects(X, known, name) if objects else _sets_of_columns(X, known, name)


def one_set(x: Any, like: Rows | None, name: str) -> SetRows:
    """Check one set: a Python set, a row of zeros and ones, a sparse matrix or frame of one row."""
    if isinstance(x, np.ndarray) and x.ndim == 1 and x.dtype.kind in "fiub":
        x = x[None]
    elif not (hasattr(x, "tocsr") or is_frame(x) or getattr(x, "ndim", 1) > 1):
        x = [x.tolist() if hasattr(x, "tolist") else x]
    rows = set_rows(x, like, name)
    if len(rows) != 1:
        raise ValueError(f"{name} must be one set, but has {len(rows)} rows: use pairwise for several.")
    return rows


# Sets of columns


def _sets_of_columns(X: Any, known: SetRows | None, name: str) -> SetRows:
    like = None if known is None else known.header
    if type(X) is np.ndarray and X.ndim == 2 and X.dtype == np.bool_:
        header, members = numeric_rows(X[:0], like, name), X
    else:
        rows = numeric_rows(X, like, name)
        header = replace(rows, values=np.empty((0, rows.n_features)))
        if rows.sparse:
            lists = _lists_of_entries(rows.values, header)
            if isinstance(known, BitRows):
                return BitRows(lists.packed(header.n_features), lists.sizes, header)
            return lists
        members = rows.values != 0
        bad = rows.values != members
        if bad.any():
            row, column = map(int, np.argwhere(bad)[0])
            called = f" ({rows.names[column]!r})" if rows.names else ""
            raise ValueError(
                f"{name} holds {rows.values[row, column]:g} in row {row}, column {column}{called}, but a set has a "
                f"column or has it not: pass {name} > 0 or {name} != 0, whichever you mean."
            )
    sizes = np.count_nonzero(members, axis=1).astype(np.int64)
    if isinstance(known, ListRows):
        return ListRows(_starts(sizes), np.nonzero(members)[1].astype(np.int64), header)
    return BitRows(_bits(members), sizes, header)


def _lists_of_entries(matrix: Any, header: NumericRows) -> ListRows:
    """List the columns in which a sparse matrix is not zero."""
    if not matrix.data.all():
        matrix = matrix.copy()
        matrix.eliminate_zeros()
    return ListRows(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), header)


def _bits(members: NDArray[np.bool_]) -> NDArray[np.int64]:
    packed = np.packbits(members, axis=1, bitorder="little")
    n_words = -(-members.shape[1] // WORD)
    whole = np.zeros((len(members), 8 * n_words), dtype=np.uint8)
    whole[:, : packed.shape[1]] = packed
    return whole.view("<i8").astype(np.int64, copy=False)


def _starts(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes, dtype=np.int64)])


# Sets of anything hashable


def _holds_sets(X: Any) -> bool:
    """Tell a sequence of sets from a table; lists of numbers, of whatever lengths, are rows of a table."""
    if hasattr(X, "tocsr") or getattr(X, "ndim", 1) != 1 or is_frame(X):
        return False
    if isinstance(X, list | tuple):
        return not (all(map(_is_numeric, X)) and any(map(len, X)))  # lists of nothing are empty sets
    return not (isinstance(X, np.ndarray) and X.dtype.kind in "fiub")


def _is_numeric(row: Any) -> bool:
    if isinstance(row, list | tuple):
        return all(isinstance(entry, Number | np.bool_) for entry in row)
    return isinstance(row, np.ndarray) and row.dtype.kind in "fiub"


def _sets_of_objects(X: Any, known: SetRows | None, name: str) -> ListRows:
    vocabulary = Vocabulary(None if known is None else known.vocabulary)
    elements: list[int] = []
    sizes: list[int] = []
    for number, item in enumerate(items_of(X, name)):
        where = f"Row {number} of {name}"
        found = set(vocabulary.numbers(_members(item, where), where))  # a list may hold an element twice
        elements += found
        sizes.append(len(found))
    return ListRows(
        _starts(np.array(sizes, dtype=np.int64)), np.array(elements, dtype=np.int64), None, vocabulary
    )


def _members(item: Any, where: str) -> Iterable[Any]:
    """Return what is in one row."""
    if isinstance(item, Set | list | tuple):
        return item
    if isinstance(item, np.ndarray) and item.ndim == 1:
        return item.tolist()
    if isinstance(item, str):
        raise TypeError(
            f"{where} is the string {item!r}, which is no set: set(...) makes one of its letters, "
            "set(text.split()) of its words; Levenshtein() compares strings."
        )
    if is_missing(item):
        raise ValueError(f"{where} is missing ({item!r}): leave it out, or put set() for the empty set.")
    raise TypeError(f"{where} must be a set, or a list of what is in it, not {item!r}.")
