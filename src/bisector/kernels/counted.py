"""Kernels on strings and sets: dot products of how often each part occurs."""

from abc import abstractmethod
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace as replaced
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.distances.distance import Rows
from bisector.distances.numeric_rows import NumericRows
from bisector.engine.validation import check_count
from bisector.engine.values import value
from bisector.kernels.dot_products import PLAIN, dot_products, squared_lengths
from bisector.kernels.kernel import Kernel, Products


@dataclass(frozen=True)
class CountedRows(Rows):
    """How often each part occurs in each row.

    Attributes
    ----------
    counts : CSR matrix
    vocabulary : mapping of part to column
        That of the rows these are compared with, and then what only these have.
    """

    counts: Any
    vocabulary: Mapping[Hashable, int]

    def __len__(self) -> int:
        return int(self.counts.shape[0])

    def take(self, numbers: NDArray[np.int64]) -> "CountedRows":
        return replaced(self, counts=self.counts[numbers])

    def joined(self, others: Sequence[Rows]) -> "CountedRows":
        import scipy.sparse

        # What only the others have stands in the same columns of each of them, and means different parts.
        vocabulary = dict(self.vocabulary)
        parts = [self.counts.copy()]
        for rows in others:
            assert isinstance(rows, CountedRows)
            columns = np.array(
                [vocabulary.setdefault(part, len(vocabulary)) for part in rows.vocabulary], int
            )
            parts.append(
                scipy.sparse.csr_matrix(
                    (rows.counts.data, columns[rows.counts.indices], rows.counts.indptr),
                    shape=(len(rows), len(vocabulary)),
                )
            )
        for part in parts:
            part.resize(part.shape[0], len(vocabulary))
        counts = scipy.sparse.vstack(parts, format="csr")
        counts.sort_indices()
        return CountedRows(counts, vocabulary)

    def numeric(self) -> NumericRows:
        """Return the counts as rows of numbers."""
        return NumericRows(self.counts, np.dtype(np.float64), self.counts.shape[1])


class CountedKernel(Kernel):
    """A kernel that counts common parts of things that are not rows of numbers."""

    @property
    def psd(self) -> bool:
        return True

    @abstractmethod
    def parts(self, item: Any, name: str, row: int) -> Iterable[Hashable]:
        """Return the parts of one row, each as often as it occurs."""

    def prepare(self, X: Any, like: Rows | None = None, name: str = "X") -> CountedRows:
        import scipy.sparse

        counters = [Counter(self.parts(item, name, row)) for row, item in enumerate(_items(X, name))]
        vocabulary = dict(like.vocabulary) if isinstance(like, CountedRows) else {}
        for part in _in_order({part for counter in counters for part in counter} - vocabulary.keys()):
            vocabulary[part] = len(vocabulary)
        columns = [
            sorted((vocabulary[part], count) for part, count in counter.items()) for counter in counters
        ]
        entries = [entry for row in columns for entry in row]
        starts = np.cumsum([0, *map(len, columns)])
        numbers = np.array(entries, dtype=np.int64).reshape(-1, 2)
        counts = scipy.sparse.csr_matrix(
            (numbers[:, 1].astype(np.float64), numbers[:, 0], starts), shape=(len(counters), len(vocabulary))
        )
        return CountedRows(counts, vocabulary)

    def between(self, outer: Rows, inner: Rows) -> Products:
        assert isinstance(outer, CountedRows)
        assert isinstance(inner, CountedRows)
        return dot_products(PLAIN, outer.numeric(), inner.numeric())

    def diagonal(self, rows: Rows) -> NDArray[np.float64]:
        assert isinstance(rows, CountedRows)
        return squared_lengths(rows.numeric())

    def feature_map(self, X: Any, like: Any = None) -> Any:
        if like is None:
            return self.prepare(X).counts
        references = self.prepare(like, name="like")
        return self.prepare(X, references).counts[:, : len(references.vocabulary)]


@value
class Spectrum(CountedKernel):
    """How many runs of n characters two strings share: the sum, over all such runs, of the product of their counts.

    A string shorter than n has no runs: its value with every string, itself included, is 0.

    Parameters
    ----------
    n : int, default=3
        The length of a run.

    Examples
    --------
    >>> from bisector.kernels import Spectrum
    >>> Spectrum(n=2)("banana", "ananas")  # an: 2·2, na: 2·2
    8.0
    >>> Spectrum(n=2).feature_map(["banana", "ananas"]).toarray()  # an, as, ba, na
    array([[2., 0., 1., 2.],
           [2., 1., 0., 2.]])
    """

    n: int = 3

    names = ("spectrum",)

    def __post_init__(self) -> None:
        self._set(n=check_count("n", self.n))

    def parts(self, item: Any, name: str, row: int) -> Iterable[Hashable]:
        if not isinstance(item, str):
            raise ValueError(
                f"{self!r} compares strings, but row {row} of {name} is {item!r}: for rows of numbers take "
                "Linear() or Gaussian(), for sets Intersection()."
            )
        return (item[start : start + self.n] for start in range(len(item) - self.n + 1))


@value
class Intersection(CountedKernel):
    """How many elements two sets have in common: the size of A ∩ B.

    Rows are Python sets, or a Boolean array or sparse matrix whose columns are the possible elements (in a
    sparse matrix, what is not zero is an element). The empty set has nothing in common with any set, itself
    included.

    Examples
    --------
    >>> from bisector.kernels import Intersection
    >>> Intersection()({"gills", "teeth", "beak"}, {"gills", "beak"})
    2.0
    """

    names = ("intersection",)

    def prepare(self, X: Any, like: Rows | None = None, name: str = "X") -> CountedRows:
        if isinstance(X, list | tuple) and X and isinstance(X[0], np.ndarray):
            X = np.array(X)
        if not (hasattr(X, "tocsr") or (isinstance(X, np.ndarray) and X.dtype == np.bool_ and X.ndim == 2)):
            return super().prepare(X, like, name)
        import scipy.sparse

        counts = scipy.sparse.csr_matrix(X, dtype=np.float64, copy=True)
        counts.sum_duplicates()
        counts.eliminate_zeros()
        counts.data[:] = 1.0
        vocabulary: dict[Hashable, int] = {column: column for column in range(counts.shape[1])}
        if isinstance(like, CountedRows) and like.vocabulary != vocabulary:
            raise ValueError(
                f"{name} has {len(vocabulary)} columns, but the sets it is compared with have "
                f"{len(like.vocabulary)} elements of their own: give both as sets, or both with the same columns."
            )
        return CountedRows(counts, vocabulary)

    def parts(self, item: Any, name: str, row: int) -> Iterable[Hashable]:
        if not isinstance(item, set | frozenset):
            raise ValueError(
                f"{self!r} compares sets, but row {row} of {name} is {item!r}: make a set of it, or pass a "
                "Boolean array whose columns are the elements."
            )
        return item


def _items(X: Any, name: str) -> list[Any]:
    """List the rows of a sequence of things."""
    if isinstance(X, str | set | frozenset):
        raise ValueError(f"{name} is one {type(X).__name__}: put it into a list to make it a row.")
    values = X.tolist() if hasattr(X, "tolist") else X  # arrays and series, with Python's own strings in them
    if not np.iterable(values):
        raise ValueError(f"{name} must be a sequence of rows, not {X!r}.")
    return list(values)


def _in_order(parts: set[Hashable]) -> list[Hashable]:
    """Sort parts, so that columns do not depend on the order in which a set gives its elements."""
    try:
        return sorted(parts)  # type: ignore[type-var]
    except TypeError:
        return sorted(parts, key=lambda part: (type(part).__name__, repr(part)))
