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
from bisector.solvers.seeding_roughly import RoughLook

Floats = NDArray[np.float64]

PARALLEL = "k-means||"
# Of data on disk, so many rows are drawn to seed from: the other ways read their rows once for every centre.
ROWS_FROM_DISK = 2**18
# Numbers that a thread compares in one go.
_NUMBERS_AT_ONCE = 2**19
# So many centres, and so many numbers looked at for all of them, are worth a copy of the rows in single precision.
# What is done once for a row counts as a few numbers more.
_SEVERAL, _MANY_NUMBERS, _NUMBERS_OF_A_ROW = 4, 2**23, 8


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
        return _HELD[how](Held(rows, random, n_jobs), k, random)


class Held:
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
        self.run_rows = max(1, _NUMBERS_AT_ONCE // rows.n_features)
        firsts = range(0, self.n_rows, self.run_rows)
        self.runs = [slice(first, min(first + self.run_rows, self.n_rows)) for first in firsts]
        self.closest = np.zeros(self.n_rows)
        self.owners = np.zeros(self.n_rows, dtype=np.int64)
        self._chosen = np.empty((0, rows.n_features))

    def worth_a_copy(self, k: int) -> bool:
        """Tell whether to compare in single precision first, for so many centres, if there is room for a copy."""
        n, d = self.n_rows, self.rows.n_features
        many = k >= _SEVERAL and k * n * (d + _NUMBERS_OF_A_ROW) >= _MANY_NUMBERS
        return many and 4 * n * (d + _NUMBERS_OF_A_ROW) <= budget() // 4

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

    def note(self, centre: Any) -> tuple[int, Floats]:
        """Take a row for a centre; return its number, and the row as loops want it."""
        from bisector.engine.loops import given

        number, wide = len(self._chosen), given(centre[None, :], np.float64)
        self._chosen = np.concatenate([self._chosen, wide])
        return number, wide

    def add(self, centre: Any, candidate: int = 0) -> Floats:
        """Make a row a centre; return what is left of the total, for each run."""
        from bisector.engine.loops import given
        from bisector.solvers.seeding_loops import draw_nearer

        apart = self._apart(given(centre[None, :], np.float64))
        number, wide = self.note(centre)

        def compare(run: slice) -> float:
            X, weights = given(self.dense(run)), given(self.weights_of(run))
            return draw_nearer(X, weights, self.closest[run], self.owners[run], wide, number, apart)

        return np.array(parallel(compare, self.runs, n_jobs=self.n_jobs))

    def _apart(self, candidates: Floats) -> Floats:
        """Return the squared distances of candidates from the centres so far, in an array of fixed type."""
        from bisector.engine.loops import given
        from bisector.solvers.seeding_loops import measure_apart

        apart = np.empty((len(candidates), len(self._chosen)))
        measure_apart(candidates, given(self._chosen), apart)
        return given(apart)

    def best(self, numbers: list[int], candidates: Any) -> int:
        """Return which of some rows leaves the least total when it becomes a centre, the first of equal ones."""
        return int(np.argmin(self.totals_with(candidates)))

    def totals_with(self, candidates: Any) -> Floats:
        """Return, for each candidate, the total left if it becomes a centre."""
        from bisector.engine.loops import given
        from bisector.solvers.seeding_loops import potentials

        wide = given(candidates, np.float64)
        apart = self._apart(wide)

        def compare(run: slice) -> Floats:
            found = np.zeros(len(wide))
            X, weights = given(self.dense(run)), given(self.weights_of(run))
            potentials(X, weights, given(self.closest[run]), given(self.owners[run]), wide, apart, found)
            return found

        return np.sum(parallel(compare, self.runs, n_jobs=self.n_jobs), axis=0)

    def rows_at(self, marks: Floats, totals: Floats, run_rows: int) -> list[int]:
        """Return the rows at which the running total reaches marks.

        Given are the totals, not all zero, of so many rows after each other.
        """
        from bisector.engine.loops import given
        from bisector.solvers.seeding_loops import find_rows

        rows = np.empty(len(marks), np.int64)
        weights = given(self.weights_of(slice(None)))
        find_rows(weights, given(self.closest), given(totals), run_rows, given(marks), rows)
        return rows.tolist()


def _plus_plus(held: Held, k: int, random: np.random.RandomState) -> Any:
    trials = 2 + int(math.log(k))
    first = held.draw_first(random)
    rough = held.worth_a_copy(k)
    if len(held.runs) == 1 and not rough:  # so few rows that calls would take longer than what they do
        return held.take(_drawn_at_once(held, first, random.uniform(size=(k - 1, trials))))
    chosen = [held.take([first])[0]]
    totals = held.add(chosen[0])
    way: Held | RoughLook = held
    if rough and (look := RoughLook(held, trials)).possible:
        way, totals = look, look.totals
    while len(chosen) < k:
        marks = random.uniform(size=trials) * totals.sum()
        if totals.any():
            numbers = held.rows_at(marks, totals, way.run_rows)
            candidates = held.take(numbers)
            best = way.best(numbers, candidates)
            chosen.append(candidates[best])
            totals = way.add(candidates[best], best)
        else:  # every row is a centre already: the last one is another
            chosen.append(held.take([held.n_rows - 1])[0])
    return np.stack(chosen)


def _drawn_at_once(held: Held, first: int, draws: Floats) -> NDArray[np.int64]:
    """Return the numbers of the rows that `_plus_plus` draws from a single run, in one compiled step."""
    from bisector.engine.loops import given
    from bisector.solvers.seeding_loops import draw_centres

    (run,) = held.runs
    chosen = np.full(len(draws) + 1, first)
    X, weights = given(held.dense(run)), given(held.weights_of(run))
    draw_centres(X, weights, held.closest, held.owners, given(draws), chosen)
    return chosen


def _random_rows(held: Held, k: int, random: np.random.RandomState) -> Any:
    shares = None if held.weights is None else held.weights / held.weights.sum()
    if shares is not None and np.count_nonzero(shares) < k:
        some = np.flatnonzero(shares)
        return held.take(np.concatenate([some, np.resize(some, k - len(some))]))
    return held.take(random.choice(held.n_rows, size=k, replace=False, p=shares))


def _farthest_first(held: Held, k: int, random: np.random.RandomState) -> Any:
    number = held.draw_first(random)
    chosen: list[Any] = []
    counted = None if held.weights is None else held.weights > 0
    while len(chosen) < k:
        chosen.append(held.take([number])[0])
        held.add(chosen[-1])
        number = int(np.argmax(held.closest if counted is None else np.where(counted, held.closest, -1.0)))
    return np.stack(chosen)


def _random_partition(held: Held, k: int, random: np.random.RandomState) -> Any:
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


_HELD: dict[str, Callable[[Held, int, np.random.RandomState], Any]] = {
    "k-means++": _plus_plus,
    "random": _random_rows,
    "farthest-first": _farthest_first,
    "random-partition": _random_partition,
}
WAYS = (*_HELD, PARALLEL)
