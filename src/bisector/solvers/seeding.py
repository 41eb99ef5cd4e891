"""Where clusters begin: rows, or means of random parts, from which centres set out.

- *k-means++* (Arthur and Vassilvitskii, 2007) draws rows one after the other, each with a chance proportional to
  its weight times its squared distance from the rows drawn before. The *greedy* form draws a few candidates at a
  time and keeps the one that leaves the least total. With the same random state, the rows are scikit-learn's.
- *k-means‖* draws many rows at a time, in a few passes, and clusters these (`parallel_seeding`). It is also what
  k-means++ means for rows on disk that are too many to hold.
- *random* draws different rows.
- *farthest-first* draws the first row, and then takes the row farthest from those taken.
- *random-partition* gives every row to a random cluster, and begins with the means.

An integer weight counts as so many equal rows beside each other, and a weight of zero as no row.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.engine.memory import budget
from bisector.engine.sources import MemorySource, Source, source
from bisector.engine.threads import one_blas_thread, parallel
from bisector.solvers.keyed_draws import different_rows
from bisector.solvers.side_by_side import PIECE, by_fours, in_pieces

Floats = NDArray[np.float64]

PARALLEL = "k-means||"
# Of data on disk, so many rows are drawn to seed from: the other ways read their rows once for every centre.
ROWS_FROM_DISK = 2**18
# Numbers that a thread compares in one go.
_NUMBERS_AT_ONCE = 2**19
# Pieces of rows that a thread looks at roughly at a time.
PIECES_AT_ONCE = 8
# Rows so long, and so many numbers, are worth a copy in single precision; but not rows that it could not hold.
_LONG_ROWS, _MANY_NUMBERS, _FARTHEST = 12, 2**20, 1e30


def seeds(how: str, rows: Source, k: int, random: np.random.RandomState, *, n_jobs: int | None = None) -> Any:
    """Return k centres to begin with, in the dtype of the rows.

    Parameters
    ----------
    how : str
        One of `WAYS`.
    rows : Source
        At least k, with weights if there are any.
    k : int
    random : numpy.random.RandomState
    n_jobs : int, optional

    Returns
    -------
    ndarray of shape (k, n_features)

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.engine.sources import source
    >>> from bisector.solvers.seeding import seeds
    >>> numbers = np.array([[0.0], [1.0], [9.0], [10.0]])
    >>> np.sort(seeds("k-means++", source(numbers), 2, np.random.RandomState(0)).ravel())
    array([1., 9.])
    """
    with one_blas_thread:  # once, rather than for every centre
        many = not isinstance(rows, MemorySource) and rows.n_rows > ROWS_FROM_DISK
        if how == PARALLEL or (how == "k-means++" and many):
            from bisector.solvers.parallel_seeding import spread_in_passes

            return spread_in_passes(rows, k, random, n_jobs=n_jobs)
        return _HELD[how](_Held(rows, random, n_jobs), k, random)


class _Held:
    """Rows in memory, read in runs; CSR rows become dense a run at a time."""

    def __init__(self, rows: Source, random: np.random.RandomState, n_jobs: int | None) -> None:
        weights = rows.sample_weight
        if not isinstance(rows, MemorySource):
            if rows.n_rows <= ROWS_FROM_DISK:
                chosen = np.arange(rows.n_rows)
            else:
                chosen = np.sort(different_rows(rows.n_rows, ROWS_FROM_DISK, random))
            weights = None if weights is None else weights[chosen]
            rows = source(rows.take(chosen), sample_weight=weights)
        self.rows, self.weights, self.n_jobs = rows, weights, n_jobs
        self.n_rows = rows.n_rows
        size = max(1, _NUMBERS_AT_ONCE // rows.n_features)
        self.runs = [slice(first, min(first + size, self.n_rows)) for first in range(0, self.n_rows, size)]
        self.closest = np.zeros(self.n_rows)
        self.owners = np.zeros(self.n_rows, dtype=np.int64)
        self._chosen = np.empty((0, rows.n_features))
        self._rough: RoughSquares | None = None

    def look_roughly(self, n_candidates: int) -> None:
        """Compare in single precision first, from now on, where that is worth a copy of the rows."""
        n, d = self.n_rows, self.rows.n_features
        if d >= _LONG_ROWS and n * d >= _MANY_NUMBERS and 4 * n * (d + n_candidates) <= budget() // 4:
            rough = RoughSquares(self, n_candidates)
            self._rough = rough if float(rough.norms.max()) < _FARTHEST else None

    @property
    def at_once(self) -> bool:
        """Whether there is only one run, compared exactly: so few rows that calls take longer than what they do."""
        return len(self.runs) == 1 and self._rough is None

    def dense(self, run: slice) -> Any:
        X = self.rows.between(run.start, run.stop)  # type: ignore[attr-defined]
        return X.toarray() if hasattr(X, "tocsr") else X

    def take(self, numbers: Any) -> Any:
        X = self.rows.take(numbers)
        return X.toarray() if hasattr(X, "tocsr") else X

    def weights_of(self, run: slice) -> Floats:
        return np.empty(0) if self.weights is None else self.weights[run]

    def draw_first(self, random: np.random.RandomState) -> int:
        shares = np.ones(self.n_rows) if self.weights is None else self.weights
        return int(random.choice(self.n_rows, p=shares / shares.sum()))

    def add(self, centre: Any, candidate: int | None = None) -> Floats:
        """Make a row a centre; return what is left of the total, for each run.

        If it was the candidate of this number, rows that it is surely not nearer to are passed over.
        """
        from bisector.engine.loops import given
        from bisector.solvers.seeding_loops import draw_nearer

        number, wide = len(self._chosen), given(centre[None, :], np.float64)
        apart = self._apart(wide)
        self._chosen = np.concatenate([self._chosen, wide])

        def compare(run: slice) -> float:
            X, weights = given(self.dense(run)), given(self.weights_of(run))
            lows = given(np.empty(0))
            if self._rough is not None and candidate is not None:
                lows = given(self._rough.lows(run, candidate))
            return draw_nearer(X, weights, lows, self.closest[run], self.owners[run], wide, number, apart)

        return np.array(parallel(compare, self.runs, n_jobs=self.n_jobs))

    def _apart(self, candidates: Floats) -> Floats:
        """Return the squared distances of candidates from the centres so far, in an array of fixed type."""
        from bisector.engine.loops import given
        from bisector.solvers.seeding_loops import measure_apart

        apart = np.empty((len(candidates), len(self._chosen)))
        measure_apart(candidates, given(self._chosen), apart)
        return given(apart)

    def totals_with(self, candidates: Any) -> Floats:
        """Return, for each candidate, the total left if it becomes a centre; exactly where it may be the least."""
        wide = np.asarray(candidates, dtype=np.float64)
        if self._rough is None:
            return self._exact_totals(wide)
        totals, error = self._rough.totals_with(wide)
        near = np.flatnonzero(totals <= totals.min() + 2 * error)
        if len(near) > 1:
            totals[near] = self._exact_totals(wide[near])
        return totals

    def _exact_totals(self, candidates: Floats) -> Floats:
        from bisector.engine.loops import given
        from bisector.solvers.seeding_loops import potentials

        wide = given(candidates)
        apart = self._apart(wide)

        def compare(run: slice) -> Floats:
            found = np.zeros(len(wide))
            X, weights = given(self.dense(run)), given(self.weights_of(run))
            potentials(X, weights, given(self.closest[run]), given(self.owners[run]), wide, apart, found)
            return found

        return np.sum(parallel(compare, self.runs, n_jobs=self.n_jobs), axis=0)

    def rows_at(self, marks: Floats, totals: Floats) -> list[int]:
        """Return the rows at which the running total reaches marks, given the totals of the runs, not all zero."""
        from bisector.engine.loops import given
        from bisector.solvers.seeding_loops import walk_to

        ends, last = np.cumsum(totals), int(np.flatnonzero(totals)[-1])
        rows = []
        for mark, number in zip(marks.tolist(), np.searchsorted(ends, marks).tolist(), strict=True):
            number = min(number, last)
            run = self.runs[number]
            before = float(ends[number - 1]) if number else 0.0
            walked = walk_to(given(self.weights_of(run)), given(self.closest[run]), mark - before)
            rows.append(run.start + walked)
        return rows


class RoughSquares:
    """Squared distances of all rows from a few candidates, by products in single precision.

    Seen from their mean, let a be a row and c a candidate. What −2a·c + ‖a‖² + ‖c‖² gives is off by at most
    E(‖a‖² + ‖c‖²), E being the roundings of a product of d terms and of those around it.
    """

    def __init__(self, held: _Held, n_candidates: int) -> None:
        self.held = held
        n, d = held.n_rows, held.rows.n_features
        self.share = (d + 16) * float(np.finfo(np.float32).eps)
        self.mean = np.zeros(d)
        for run in held.runs:
            self.mean += held.dense(run).sum(axis=0, dtype=np.float64) / n
        self.norms = np.empty(n, np.float32)
        self.weights = np.ones(n) if held.weights is None else held.weights
        self.squares, self.sizes = np.empty((n_candidates, n), np.float32), np.zeros(n_candidates)
        self.runs = [
            slice(first, first + PIECES_AT_ONCE * PIECE) for first in range(0, n, PIECES_AT_ONCE * PIECE)
        ]

        def narrow(run: slice) -> tuple[Any, float]:
            away = held.dense(slice(run.start, min(run.stop, n))) - self.mean
            norms = np.einsum("ij,ij->i", away, away)
            self.norms[run] = norms
            return in_pieces(by_fours(away)), float(self.weights[run] @ norms)

        made = parallel(narrow, self.runs, n_jobs=held.n_jobs)
        self.pieces, self.spread = [one for one, _ in made], sum(spread for _, spread in made)

    def totals_with(self, candidates: Floats) -> tuple[Floats, float]:
        """Return, for each candidate, about the total that is left with it, and by how much that may be off."""
        from bisector.engine.loops import given
        from bisector.solvers.seeding_loops import rough_potentials

        held, away = self.held, candidates - self.mean
        self.sizes = np.einsum("ij,ij->i", away, away)
        twice, sizes = given(by_fours(2 * away)), given(self.sizes.astype(np.float32))

        def compare(number: int) -> Floats:
            run, found = self.runs[number], np.zeros(len(away))
            known = given(self.norms[run]), given(held.closest[run]), given(self.weights[run])
            squares = np.empty((len(away), len(known[0])), np.float32)
            rough_potentials(twice, sizes, given(self.pieces[number]), *known, squares, found)
            self.squares[: len(away), run] = squares
            return found

        totals = np.sum(parallel(compare, range(len(self.runs)), n_jobs=held.n_jobs), axis=0)
        return totals, self.share * (self.spread + float(self.weights.sum()) * float(self.sizes.max()))

    def lows(self, run: slice, candidate: int) -> Floats:
        """Return what the squared distances from a candidate are at least."""
        below = self.share * (self.norms[run] + float(self.sizes[candidate]))
        return np.asarray(self.squares[candidate, run] - below, dtype=np.float64)


def _plus_plus(held: _Held, k: int, random: np.random.RandomState) -> Any:
    trials = 2 + int(math.log(k))
    first = held.draw_first(random)
    held.look_roughly(trials)
    if held.at_once:
        return held.take(_drawn_at_once(held, first, random.uniform(size=(k - 1, trials))))
    chosen = [held.take([first])[0]]
    totals = held.add(chosen[0])
    while len(chosen) < k:
        marks = random.uniform(size=trials) * totals.sum()
        # When every row is a centre already, the last one is another.
        numbers = held.rows_at(marks, totals) if totals.any() else [held.n_rows - 1]
        candidates = held.take(numbers)
        several = len(numbers) > 1
        best = int(np.argmin(held.totals_with(candidates))) if several else 0
        chosen.append(candidates[best])
        totals = held.add(candidates[best], best if several else None)
    return np.stack(chosen)


def _drawn_at_once(held: _Held, first: int, draws: Floats) -> NDArray[np.int64]:
    """Return the numbers of the rows that `_plus_plus` draws from a single run, in one compiled step."""
    from bisector.engine.loops import given
    from bisector.solvers.seeding_loops import draw_centres

    (run,) = held.runs
    chosen = np.full(len(draws) + 1, first)
    X, weights = given(held.dense(run)), given(held.weights_of(run))
    draw_centres(X, weights, held.closest, held.owners, given(draws), chosen)
    return chosen


def _random_rows(held: _Held, k: int, random: np.random.RandomState) -> Any:
    shares = None if held.weights is None else held.weights / held.weights.sum()
    if shares is not None and np.count_nonzero(shares) < k:
        some = np.flatnonzero(shares)
        return held.take(np.concatenate([some, np.resize(some, k - len(some))]))
    return held.take(random.choice(held.n_rows, size=k, replace=False, p=shares))


def _farthest_first(held: _Held, k: int, random: np.random.RandomState) -> Any:
    number = held.draw_first(random)
    chosen: list[Any] = []
    counted = None if held.weights is None else held.weights > 0
    while len(chosen) < k:
        chosen.append(held.take([number])[0])
        held.add(chosen[-1])
        number = int(np.argmax(held.closest if counted is None else np.where(counted, held.closest, -1.0)))
    return np.stack(chosen)


def _random_partition(held: _Held, k: int, random: np.random.RandomState) -> Any:
    labels = random.randint(k, size=held.n_rows)
    weights = np.ones(held.n_rows) if held.weights is None else held.weights
    some = _random_rows(held, k, random)
    sums, sizes = np.zeros(some.shape), np.bincount(labels, weights, minlength=k)
    for run in held.runs:
        X = held.dense(run).astype(np.float64)
        for cluster in range(k):
            sums[cluster] += np.where(labels[run] == cluster, weights[run], 0.0) @ X
    # A part without rows begins with a row.
    return np.where(sizes[:, None] > 0, sums / np.where(sizes > 0, sizes, 1.0)[:, None], some).astype(
        some.dtype
    )


_HELD: dict[str, Callable[[_Held, int, np.random.RandomState], Any]] = {
    "k-means++": _plus_plus,
    "random": _random_rows,
    "farthest-first": _farthest_first,
    "random-partition": _random_partition,
}
WAYS = (*_HELD, PARALLEL)
