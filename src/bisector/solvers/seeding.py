"""Where clusters begin: rows, or means of random parts, from which centres set out.

- *k-means++* (Arthur and Vassilvitskii, 2007) draws rows one after the other, each with a chance proportional to
  its weight times its squared distance from the rows drawn before. The *greedy* form draws a few candidates at a
  time and keeps the one that leaves the least total. With the same random state, the rows are scikit-learn's.
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

from bisector.engine.sources import MemorySource, Source, source
from bisector.engine.threads import one_blas_thread, parallel

Floats = NDArray[np.float64]

# Of data on disk, so many rows are drawn to seed from: seeding reads its rows once for every centre.
ROWS_FROM_DISK = 2**18
# Numbers that a thread compares in one go.
_NUMBERS_AT_ONCE = 2**19


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
        return WAYS[how](_Held(rows, random, n_jobs), k, random)


class _Held:
    """Rows in memory, read in runs; CSR rows become dense a run at a time."""

    def __init__(self, rows: Source, random: np.random.RandomState, n_jobs: int | None) -> None:
        weights = rows.sample_weight
        if not isinstance(rows, MemorySource):
            chosen = np.arange(rows.n_rows)
            if rows.n_rows > ROWS_FROM_DISK:
                chosen = np.sort(random.choice(rows.n_rows, ROWS_FROM_DISK, replace=False))
            weights = None if weights is None else weights[chosen]
            rows = source(rows.take(chosen), sample_weight=weights)
        self.rows, self.weights, self.n_jobs = rows, weights, n_jobs
        self.n_rows = rows.n_rows
        size = max(1, _NUMBERS_AT_ONCE // rows.n_features)
        self.runs = [slice(first, min(first + size, self.n_rows)) for first in range(0, self.n_rows, size)]
        self.closest = np.zeros(self.n_rows)
        self.owners = np.zeros(self.n_rows, dtype=np.int64)
        self._chosen: list[Any] = []

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

    def add(self, centre: Any) -> Floats:
        """Make a row a centre; return what is left of the total, for each run."""
        from bisector.engine.loops import given
        from bisector.solvers.seeding_loops import draw_nearer

        number, wide = len(self._chosen), given(centre[None, :], np.float64)
        apart = self._apart(wide)
        self._chosen.append(wide[0])

        def compare(run: slice) -> float:
            X, weights = given(self.dense(run)), given(self.weights_of(run))
            return draw_nearer(X, weights, self.closest[run], self.owners[run], wide, number, apart)

        return np.array(parallel(compare, self.runs, n_jobs=self.n_jobs))

    def _apart(self, candidates: Floats) -> Floats:
        """Return the squared distances of candidates from the centres so far, in an array of fixed type."""
        from bisector.engine.loops import given

        if not self._chosen:
            return given(np.empty((len(candidates), 0)))
        chosen = np.stack(self._chosen)
        return given(np.stack([np.square(chosen - row).sum(axis=1) for row in candidates]))

    def totals_with(self, candidates: Any) -> Floats:
        """Return, for each candidate, the total that is left if it becomes a centre."""
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

    def row_at(self, mark: float, totals: Floats) -> int:
        """Return the row at which the running total reaches a mark, given the totals of the runs."""
        from bisector.engine.loops import given
        from bisector.solvers.seeding_loops import walk_to

        ends = np.cumsum(totals)
        number = int(np.searchsorted(ends, mark))
        number = min(number, int(np.flatnonzero(totals)[-1]) if totals.any() else 0)
        run = self.runs[number]
        before = float(ends[number - 1]) if number else 0.0
        return run.start + walk_to(given(self.weights_of(run)), given(self.closest[run]), mark - before)


def _plus_plus(held: _Held, k: int, random: np.random.RandomState) -> Any:
    trials = 2 + int(math.log(k))
    first = held.draw_first(random)
    chosen = [held.take([first])[0]]
    totals = held.add(chosen[0])
    while len(chosen) < k:
        marks = random.uniform(size=trials) * totals.sum()
        # When every row is a centre already, the last one is another.
        numbers = [held.row_at(mark, totals) for mark in marks] if totals.any() else [held.n_rows - 1]
        candidates = held.take(numbers)
        best = int(np.argmin(held.totals_with(candidates))) if len(numbers) > 1 else 0
        chosen.append(candidates[best])
        totals = held.add(candidates[best])
    return np.stack(chosen)


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


WAYS: dict[str, Callable[[_Held, int, np.random.RandomState], Any]] = {
    "k-means++": _plus_plus,
    "random": _random_rows,
    "farthest-first": _farthest_first,
    "random-partition": _random_partition,
}
