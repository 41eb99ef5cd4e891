"""Pairs of sets: which form compares them fastest, and their tiles."""

import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.distances.distance import Pairs
from bisector.distances.set_rows import WORD, ListRows, SetRows

# Inner rows of a tile stand word by word in a scratch array that should stay in the second-level cache.
_SCRATCH_BYTES = 2**18
_FEWEST_INNER, _MOST_INNER = 64, 512
# Words are counted about eight times as fast as common elements are found one by one, and reading a pair's
# place costs as much as one of these. With weights every bit is looked at, and every element of both lists.
_WORDS_PER_ELEMENT = 8
_BITS_PER_LISTED = 24


def pairs_of_sets(outer: SetRows, inner: SetRows, weights: NDArray[np.float64] | None) -> Pairs:
    """Join sets into pairs under the Jaccard distance, in the form that compares them fastest."""
    if (outer.header is None) != (inner.header is None):
        raise ValueError("Python sets cannot be compared with rows of a table: give both in one form.")
    if outer.vocabulary is not None and inner.vocabulary is not None:
        assert isinstance(outer, ListRows)
        if not outer.vocabulary.agrees_with(inner.vocabulary):
            outer = outer.renumbered(type(inner.vocabulary)(inner.vocabulary))
    listed = isinstance(outer, ListRows) and isinstance(inner, ListRows) and _lists_pay(outer, inner, weights)
    if weights is None:
        return _CommonElements(outer, inner) if listed else _CommonBits(outer, inner)
    return _WeighedElements(outer, inner, weights) if listed else _WeighedBits(outer, inner, weights)


def _lists_pay(outer: ListRows, inner: ListRows, weights: NDArray[np.float64] | None) -> bool:
    """Estimate whether it takes less to go along lists than through all words."""
    n_elements = min(outer.n_elements, inner.n_elements)
    mean_outer, mean_inner = (len(rows.elements) / max(len(rows), 1) for rows in (outer, inner))
    if weights is not None:
        return n_elements > _BITS_PER_LISTED * (1 + mean_outer + mean_inner)
    n_words = -(-n_elements // WORD)
    if n_words > _WORDS_PER_ELEMENT * (1 + min(mean_outer, mean_inner)):
        return True
    share_outer, share_inner = (
        np.bincount(rows.elements, minlength=n_elements)[:n_elements] / max(len(rows), 1)
        for rows in (outer, inner)
    )
    return n_words > _WORDS_PER_ELEMENT * (1 + float(share_outer @ share_inner))


class _SetPairs(Pairs):
    """Pairs of sets; the distance is what decides."""

    def __init__(self, outer: SetRows, inner: SetRows) -> None:
        self.shape = (len(outer), len(inner))
        self.dtype = np.result_type(outer.dtype, inner.dtype)

    def write(self, outer: range, inner: range, out: NDArray[Any], row: int = 0, column: int = 0) -> None:
        self.fill(outer, inner, out, row, column)


class _CommonBits(_SetPairs):
    """Counts what sets have in common 64 possible elements at a time."""

    def __init__(self, outer: SetRows, inner: SetRows) -> None:
        super().__init__(outer, inner)
        self._outer, self._inner = _packed(outer, inner)
        self._sizes = _given(outer.sizes, inner.sizes)
        self.tile_shape = _tile_of_words(self._inner)

    def fill(self, outer: range, inner: range, out: NDArray[Any], row: int = 0, column: int = 0) -> None:
        from bisector.distances.set_loops import fill_from_words

        outer_sizes, inner_sizes = self._sizes
        fill_from_words(
            self._outer, outer_sizes, outer.start, self._inner, inner_sizes, inner.start,
            out, row, column, len(outer), len(inner),
        )  # fmt: skip


class _CommonElements(_SetPairs):
    """Counts what sets have in common by listing, for each element, which inner sets of a tile have it."""

    tile_shape = (512, 512)

    def __init__(self, outer: SetRows, inner: SetRows) -> None:
        super().__init__(outer, inner)
        assert isinstance(outer, ListRows)
        assert isinstance(inner, ListRows)
        self._n_elements = min(outer.n_elements, inner.n_elements)
        outer_elements, inner_elements = outer.elements, inner.elements
        if self._n_elements > len(inner_elements):  # of a million columns few may occur at all
            occurring = np.unique(inner_elements)
            self._n_elements = len(occurring)
            inner_elements = np.searchsorted(occurring, inner_elements)
            outer_elements = _places_in(occurring, outer_elements)
        self._outer = _given(outer.starts, outer_elements)
        self._inner = _given(inner.starts, inner_elements)
        (self._sizes,) = _given(inner.sizes)
        self._scratch = threading.local()

    def fill(self, outer: range, inner: range, out: NDArray[Any], row: int = 0, column: int = 0) -> None:
        from bisector.distances.set_loops import fill_from_lists

        if not hasattr(self._scratch, "places"):
            self._scratch.places = np.zeros(self._n_elements, dtype=np.int64)
        fill_from_lists(
            self._outer, outer.start, self._inner, self._sizes, inner.start, self._scratch.places,
            out, row, column, len(outer), len(inner),
        )  # fmt: skip


class _WeighedBits(_SetPairs):
    """Adds the weights of elements, looking at every bit."""

    def __init__(self, outer: SetRows, inner: SetRows, weights: NDArray[np.float64]) -> None:
        super().__init__(outer, inner)
        (self._weights,) = _given(weights)
        self._outer, self._inner = _packed(outer, inner)
        self.tile_shape = _tile_of_words(self._inner)

    def fill(self, outer: range, inner: range, out: NDArray[Any], row: int = 0, column: int = 0) -> None:
        from bisector.distances.set_loops import fill_weighted_from_words

        fill_weighted_from_words(
            self._weights, self._outer, outer.start, self._inner, inner.start,
            out, row, column, len(outer), len(inner),
        )  # fmt: skip


class _WeighedElements(_SetPairs):
    """Adds the weights of elements, along two lists at a time."""

    tile_shape = (64, 64)

    def __init__(self, outer: SetRows, inner: SetRows, weights: NDArray[np.float64]) -> None:
        super().__init__(outer, inner)
        assert isinstance(outer, ListRows)
        assert isinstance(inner, ListRows)
        (self._weights,) = _given(weights)
        self._outer, self._inner = (_given(rows.starts, rows.elements) for rows in (outer, inner))

    def fill(self, outer: range, inner: range, out: NDArray[Any], row: int = 0, column: int = 0) -> None:
        from bisector.distances.set_loops import fill_weighted_from_lists

        fill_weighted_from_lists(
            self._weights, self._outer, outer.start, self._inner, inner.start,
            out, row, column, len(outer), len(inner),
        )  # fmt: skip


def _given(*arrays: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    from bisector.engine.loops import given

    return tuple(given(array) for array in arrays)


def _packed(outer: SetRows, inner: SetRows) -> tuple[NDArray[Any], ...]:
    """Return both as words, of the elements that both may have."""
    n_elements = min(outer.n_elements, inner.n_elements)
    left = outer.packed(n_elements)
    return _given(left, left if inner is outer else inner.packed(n_elements))


def _tile_of_words(words: NDArray[np.int64]) -> tuple[int, int]:
    fitting = _SCRATCH_BYTES // (8 * max(words.shape[1], 1))
    return 256, min(_MOST_INNER, max(_FEWEST_INNER, fitting // 64 * 64))


def _places_in(occurring: NDArray[np.int64], elements: NDArray[np.int64]) -> NDArray[np.int64]:
    """Number elements by their place among those that occur; the others get a number that none has."""
    places = np.searchsorted(occurring, elements)
    found = places < len(occurring)
    found[found] = occurring[places[found]] == elements[found]
    return np.where(found, places, len(occurring))
