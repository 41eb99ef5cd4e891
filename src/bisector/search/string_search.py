"""Search among strings: most are too far by their letters alone.

An edit changes one letter. So two strings that differ in length by m, or of which one has m letters that the
other lacks, are at least m edits apart, whatever the order of their letters; and since an edit breaks at most two
pairs of neighbours, strings of which one has m pairs that the other lacks are at least m/2 edits apart. Both
bounds are read from 64 bits a string. Strings are compared in the order of their bounds, until the next bound
exceeds the k-th distance found.

The triangle inequality is not needed; where it holds, it would leave far more strings to compare.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bisector.distances.distance import Rows
from bisector.distances.reductions import cut
from bisector.distances.string_rows import StringRows
from bisector.distances.strings import (
    LCS,
    OSA,
    DamerauLevenshtein,
    Indel,
    Levenshtein,
    Postfix,
    Prefix,
    StringDistance,
    StringHamming,
)
from bisector.engine.threads import parallel
from bisector.search.index import Floats, Index, Integers, Nearest, Structure, Within
from bisector.search.spelling import GROUP, Alphabet, Spelling

# Queries that a thread takes at once.
_BLOCK = 32
# Strings that are compared with a query before it is known how far the nearest are, where each comparison is
# dear.
_FIRST_COMPARED = 64


class StringIndex(Index):
    """Strings, or lists of tokens, searched by the letters they have.

    For distances that count edits: not for their shares of a length, nor for Jaro's, which letters do not bound
    so.

    Parameters
    ----------
    X : sequence of str, or of lists of tokens
    metric : str or Distance, default="levenshtein"

    Examples
    --------
    >>> from bisector.search.string_search import StringIndex
    >>> index = StringIndex(["apple", "maple", "plum", "cherry"])
    >>> index.query(["ample"], k=2)
    (array([[1., 2.]]), array([[0, 1]]))
    """

    def __init__(self, X: Any, metric: Any = "levenshtein") -> None:
        super().__init__(X, metric)

    def _refusal(self) -> str | None:
        if not isinstance(self.distance, StringDistance):
            return f"StringIndex compares strings, which {self.distance!r} does not: use another index."
        if letter_bound(self.distance) is None:
            return f"Letters do not bound {self.distance!r}, which counts no edits: use BruteForce."
        return None

    def _arrange(self, rows: Rows) -> "WordStructure":
        assert isinstance(self.distance, StringDistance)
        assert isinstance(rows, StringRows)
        return WordStructure(self.distance, rows)


class LetterBound(NamedTuple):
    """How the letters of two strings bound their distance.

    Attributes
    ----------
    cost : float
        What an edit costs at least.
    summed : bool
        Whether letters that the one lacks and letters that the other lacks take an edit each, since none is
        substituted.
    broken : int
        How many pairs of neighbours an edit can break, or make.
    """

    cost: float
    summed: bool
    broken: int


# Swapped neighbours break three pairs; so does, for common subsequences, one letter more here and another there,
# which count once. The last three never count fewer edits than Levenshtein distance.
_BOUNDS: dict[type[StringDistance], LetterBound] = {
    OSA: LetterBound(1.0, False, 3),
    DamerauLevenshtein: LetterBound(1.0, False, 3),
    Indel: LetterBound(1.0, True, 2),
    LCS: LetterBound(1.0, False, 3),
    StringHamming: LetterBound(1.0, False, 2),
    Prefix: LetterBound(1.0, False, 2),
    Postfix: LetterBound(1.0, False, 2),
}


def letter_bound(distance: StringDistance) -> LetterBound | None:
    """Return how letters bound a distance; None if it does not count edits, or some are free."""
    if not distance.counts:
        return None
    if isinstance(distance, Levenshtein):
        cost = min(distance.weights)
        return LetterBound(float(cost), False, 2) if cost else None
    return _BOUNDS.get(type(distance))


def bit_metric(distance: StringDistance) -> Any:
    """Return how to count the edits of short strings by operations on bits; None if that is not possible."""
    from bisector.search import edit_loops

    if isinstance(distance, Levenshtein):
        return edit_loops.LevenshteinBits() if len(set(distance.weights)) == 1 else None
    kinds: dict[type, Any] = {
        OSA: edit_loops.SwapBits,
        Indel: edit_loops.IndelBits,
        LCS: edit_loops.SubsequenceBits,
    }
    return kinds[type(distance)]() if type(distance) in kinds else None


class WordStructure(Structure):
    """Strings in groups of one length, with their signatures."""

    distance: StringDistance
    rows: StringRows

    def __init__(self, distance: StringDistance, rows: StringRows) -> None:
        from bisector.engine.loops import given

        super().__init__(distance, rows)
        bound = letter_bound(distance)
        assert bound is not None
        self.bound, self.metric = bound, bit_metric(distance)
        sizes = np.array([len(string) for string in rows.strings], dtype=np.int64)
        counts = np.bincount(sizes)
        n_groups = -(-counts // GROUP)
        # The group with which the strings of each length begin, and where each string stands.
        self.lengths = given(np.concatenate([[0], np.cumsum(n_groups)]))
        by_size = np.argsort(sizes, kind="stable")
        before = np.cumsum(counts) - counts
        places = (GROUP * self.lengths[:-1] - before)[sizes[by_size]] + np.arange(len(sizes))
        order = np.full(GROUP * self.lengths[-1], -1)
        order[places] = by_size
        self.order = given(order)
        self.alphabet = Alphabet(rows.strings)
        spelt = ["", *rows.strings]
        self.words = self.alphabet.spell([spelt[number + 1] for number in order.tolist()])

    def __setstate__(self, state: dict[str, Any]) -> None:
        from bisector.engine.loops import given

        vars(self).update(state)
        # Arrays come back writable, which to a loop is another type.
        self.words = type(self.words)(*(given(part, part.dtype) for part in self.words))
        self.order, self.lengths = given(self.order), given(self.lengths)

    def nearest(self, queries: Rows, k: int, alive: NDArray[np.bool_] | None, n_jobs: int | None) -> Nearest:
        from bisector.search.string_search_loops import find_nearest_words

        reduced, numbers = np.empty((len(queries), k)), np.empty((len(queries), k), dtype=np.int64)

        def find(some: Integers, queries: Spelling, living: Any) -> int:
            best, found = np.empty((len(some), k)), np.empty((len(some), k), dtype=np.int64)
            compared = find_nearest_words(
                self.metric, self.bound, self.words, self.lengths, self.order, living, len(self.alphabet), queries,
                best, found,
            )  # fmt: skip
            reduced[some], numbers[some] = best, found
            return int(compared)

        def find_one(number: int, query: "_Query") -> None:
            reduced[number], numbers[number] = query.nearest(k)

        return Nearest(reduced, numbers, self._search(queries, alive, n_jobs, find, find_one))

    def within(
        self, queries: Rows, bounds: Floats, alive: NDArray[np.bool_] | None, n_jobs: int | None
    ) -> Within:
        counts = np.empty(len(queries), dtype=np.int64)
        listed: list[tuple[Integers, Floats, Integers]] = [
            (np.empty(0, dtype=np.int64), np.empty(0), np.empty(0, dtype=np.int64))
        ]
        compared = self._find_within(queries, bounds, alive, n_jobs, counts, listed)
        owner, reduced, numbers = (np.concatenate(side) for side in zip(*listed, strict=True))
        order = np.lexsort((numbers, owner))
        starts = np.concatenate([[0], np.cumsum(counts)])
        return Within(starts, reduced[order], numbers[order], compared)

    def count(
        self, queries: Rows, bounds: Floats, alive: NDArray[np.bool_] | None, n_jobs: int | None
    ) -> tuple[Integers, int]:
        counts = np.empty(len(queries), dtype=np.int64)
        return counts, self._find_within(queries, bounds, alive, n_jobs, counts, None)

    def _find_within(
        self,
        queries: Rows,
        bounds: Floats,
        alive: NDArray[np.bool_] | None,
        n_jobs: int | None,
        counts: Integers,
        listed: list[tuple[Integers, Floats, Integers]] | None,
    ) -> int:
        """Count the strings within the bounds, and append to `listed`, if given, whose and which they are."""
        from bisector.engine.loops import given
        from bisector.search.string_search_loops import find_words_within

        def find(some: Integers, queries: Spelling, living: Any) -> int:
            counted = np.empty(len(some), dtype=np.int64)
            values, found, compared = find_words_within(
                self.metric, self.bound, self.words, self.lengths, self.order, living, len(self.alphabet), queries,
                given(bounds[some]), listed is not None, counted,
            )  # fmt: skip
            counts[some] = counted
            if listed is not None:
                listed.append((np.repeat(some, counted), values, found))
            return int(compared)

        def find_one(number: int, query: "_Query") -> None:
            values, found = query.within(bounds[number])
            counts[number] = len(found)
            if listed is not None:
                listed.append((np.full(len(found), number), values, found))

        return self._search(queries, alive, n_jobs, find, find_one)

    def _search(
        self,
        queries: Rows,
        alive: NDArray[np.bool_] | None,
        n_jobs: int | None,
        find: Callable[[Integers, Spelling, Any], int],
        find_one: Callable[[int, "_Query"], None],
    ) -> int:
        """Let short queries be found together, in compiled loops, and others one by one; return what it took."""
        from bisector.engine.loops import given
        from bisector.search.edit_loops import LONGEST

        assert isinstance(queries, StringRows)
        rows = queries.comparable_with(self.rows)
        living = self.order >= 0 if alive is None else (self.order >= 0) & alive[self.order]
        short = np.array(
            [self.metric is not None and len(string) <= LONGEST for string in rows.strings], dtype=bool
        )

        def by_bits(some: Integers) -> int:
            return find(some, self.alphabet.spell(rows.take(some).strings), given(living))

        def one_by_one(some: Integers) -> int:
            compared = 0
            for number in some.tolist():
                query = _Query(self, rows.take(np.array([number])), living)
                find_one(number, query)
                compared += query.compared
            return compared

        def work(item: tuple[bool, Integers]) -> int:
            together, some = item
            return by_bits(some) if together else one_by_one(some)

        items = [
            (together, which[block.start : block.stop])
            for together, which in ((True, np.flatnonzero(short)), (False, np.flatnonzero(~short)))
            for block in cut(len(which), _BLOCK)
        ]
        return sum(parallel(work, items, n_jobs=n_jobs))


class _Query:
    """One query among strings, compared by the distance itself."""

    def __init__(self, structure: WordStructure, row: StringRows, living: NDArray[np.bool_]) -> None:
        from bisector.search.string_search_loops import bound_lengths

        self.structure = structure
        self.row = row
        self.compared = 0
        words, lengths = structure.words, structure.lengths
        bounds = np.empty(len(living), dtype=np.uint8)
        spelt = structure.alphabet.spell(row.strings)
        bound_lengths(words, lengths, structure.bound, spelt, 0, 0, len(lengths), bounds)
        self._numbers, self._bounds = structure.order[living], bounds[living]

    def nearest(self, k: int) -> tuple[Floats, Integers]:
        """Return the distances and the numbers of the k nearest strings."""
        n_up_to = np.cumsum(np.bincount(self._bounds, minlength=256))
        first = int(np.searchsorted(n_up_to, max(k, _FIRST_COMPARED)))
        values, numbers = self._compare(self._bounds <= first)
        if len(values) >= k:
            farthest = np.partition(values, k - 1)[k - 1]
            near = self._bounds * self.structure.bound.cost <= farthest
            more = self._compare(near & (self._bounds > first))
            values, numbers = np.concatenate([values, more[0]]), np.concatenate([numbers, more[1]])
        order = np.lexsort((numbers, values))[:k]
        lacking = np.full(k - len(order), np.inf), np.full(k - len(order), -1)
        return np.concatenate([values[order], lacking[0]]), np.concatenate([numbers[order], lacking[1]])

    def within(self, bound: float) -> tuple[Floats, Integers]:
        """Return the distances and the numbers of the strings within a bound."""
        values, numbers = self._compare(self._bounds * self.structure.bound.cost <= bound)
        return values[values <= bound], numbers[values <= bound]

    def _compare(self, which: NDArray[np.bool_]) -> tuple[Floats, Integers]:
        numbers = self._numbers[which]
        pairs = self.structure.distance.between(self.row, self.structure.rows.take(numbers))
        values = np.empty((1, len(numbers)))
        pairs.fill(range(1), range(len(numbers)), values)
        self.compared += len(numbers)
        return values[0], numbers
