"""Partitioning around medoids: swap a medoid for another row while that lowers the loss (Flach, Algorithm 8.3).

*Problem.* Choose k of n rows, the medoids M, with a small loss L(M) = Σ wᵢ min{d(xᵢ, m) : m ∈ M}.

*Methods.* To tell what every swap would change, one pass over n² distances suffices for all k medoids at once if
the two nearest medoids of every row are known (Schubert and Rousseeuw, 2021). Whichever medoid goes, its rows fall
back on their second nearest; that rise is known beforehand, and a candidate changes it only at rows to which it is
nearer than their second nearest medoid. PAM makes the best swap of each pass. The *eager* form, FasterPAM, makes a
swap as soon as a candidate lowers the loss, and needs far fewer passes.

*Certificate.* In the end every candidate has been looked at since the last swap: no single swap lowers the loss by
more than what rounding may feign, a `TOLERANCE` of the distances that were added up. `change` is what the best of
them would do.

*Threads.* Candidates are looked at in parts, on threads; of those that lower the loss the first in the order of the
rows is taken, so that neither the parts nor the threads decide.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.distances.reductions import cut
from bisector.engine.checkpoint import NOWHERE, Arrays, Checkpoint
from bisector.engine.progress import track
from bisector.engine.threads import parallel, threads_for
from bisector.solvers.distance_lines import DistanceLines

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# A swap must lower the loss by so much of the distances of all rows to their second nearest medoid.
TOLERANCE = 1e-12
# Candidates are looked at in parts of about so many distances, and in so many parts at once when no swap is near.
_PART = 2**20
_MOST_PARTS = 64


@dataclass(frozen=True, eq=False)
class Medoids:
    """Medoids that were found, and what is known of them.

    Attributes
    ----------
    medoids : ndarray of int of shape (n_clusters,)
        Row numbers.
    loss : float
        The weighted sum of the distances of all rows to their nearest medoid.
    change : float
        By how much the best single swap would change the loss: not below −rounding if converged. NaN if not every
        swap was looked at.
    rounding : float
        What is taken for no change.
    n_swaps : int
    n_iter : int
        Passes over the candidates that were begun.
    converged : bool
    """

    medoids: Integers
    loss: float
    change: float
    rounding: float
    n_swaps: int
    n_iter: int
    converged: bool

    @classmethod
    def recalled(cls, known: Arrays) -> "Medoids":
        """Return what was noted of medoids under the names of the attributes."""
        values: dict[str, Any] = {
            name: value if value.ndim else value.item() for name, value in known.items()
        }
        return cls(**values)


def swap_medoids(
    lines: DistanceLines,
    start: Integers,
    weights: Floats,
    *,
    max_iter: int,
    eager: bool = True,
    kept: Checkpoint = NOWHERE,
) -> Medoids:
    """Improve medoids by swaps until no swap lowers the loss.

    Parameters
    ----------
    lines : DistanceLines
    start : ndarray of int of shape (n_clusters,)
        The rows to begin with, all different.
    weights : ndarray of shape (n_rows,)
        How often each row counts, all positive.
    max_iter : int
        The most passes over the candidates.
    eager : bool, default=True
        Make each swap that lowers the loss when it is found (FasterPAM), instead of the best of a pass (PAM).
    kept : Checkpoint, optional
        Where to note what is reached.

    Returns
    -------
    Medoids
    """
    if len(start) == 1:
        return _only_medoid(lines, weights)
    found = _Swaps(lines, start, weights, kept)
    with track("k-medoids", total=max_iter) as bar:
        n_iter, converged = (_eagerly if eager else _best_first)(found, max_iter, bar)
    change = float(found.changes.min()) if converged else np.nan
    return Medoids(found.medoids, found.loss, change, found.rounding, found.n_swaps, n_iter, converged)


def _only_medoid(lines: DistanceLines, weights: Floats) -> Medoids:
    """Return the row with the least total distance: one look at every candidate finds it."""
    totals = line_totals(lines, weights)
    best = int(np.argmin(totals))
    others = np.delete(totals, best)
    change = float(others.min() - totals[best]) if len(others) else 0.0
    _require_finite(totals[best])
    return Medoids(np.array([best]), float(totals[best]), change, 0.0, 0, 1, True)


def line_totals(lines: DistanceLines, weights: Floats) -> Floats:
    """Return, for every row, the loss that it has as the only medoid."""
    from bisector.solvers.medoid_swap_loops import sum_lines

    return over_candidates(lines, np.arange(lines.n_rows), sum_lines, weights)


def over_candidates(lines: DistanceLines, candidates: Integers, compute: Any, *arrays: Any) -> Floats:
    """Return one number for each candidate, which a loop computes from its line and from arrays."""
    from bisector.engine.loops import given

    out = np.empty(len(candidates))
    fixed = [given(array) for array in arrays]
    for chunk in cut(len(candidates), lines.at_once):
        values, slots = lines.lent(candidates[chunk.start : chunk.stop])
        held, places = given(values), given(slots)
        own = out[chunk.start : chunk.stop]

        def work(part: range, held: Any = held, places: Any = places, own: Any = own) -> None:
            compute(held, places[part.start : part.stop], *fixed, own[part.start : part.stop])

        parallel(work, cut(len(chunk), _part_size(lines)), n_jobs=lines.n_jobs)
    return out


def _part_size(lines: DistanceLines) -> int:
    return max(1, _PART // lines.n_rows)


def _require_finite(loss: float) -> None:
    if not np.isfinite(loss):
        raise ValueError(
            "Some rows are infinitely far from the medoids, so that swaps cannot be compared: leave out rows "
            "that others cannot be reached from, or give such pairs a large finite distance."
        )


class _Swaps:
    """The medoids, the two nearest of every row, and what taking one away would cost."""

    def __init__(self, lines: DistanceLines, start: Integers, weights: Floats, kept: Checkpoint) -> None:
        from bisector.engine.loops import given
        from bisector.solvers.medoid_swap_loops import NearestTwo, find_nearest_two

        n, known = lines.n_rows, kept.recall("swaps")
        self.lines, self.weights, self._kept = lines, given(weights), kept
        self.medoids = start.copy() if known is None else known["medoids"]
        self.is_medoid = np.zeros(n, dtype=bool)
        self.is_medoid[self.medoids] = True
        self.losses = np.zeros(len(start))
        self._left = np.arange(n)
        self._values, self._slots = lines.of(self.medoids)
        if known is None:
            self.changes, self.places = np.zeros(n), np.zeros(n, dtype=np.int64)
            self.n_swaps, self.noted = 0, [0, 0, 0]
            self.nearest = NearestTwo(
                np.zeros(n, np.int64),
                np.zeros(n, np.int64),
                np.empty(n, lines.dtype),
                np.empty(n, lines.dtype),
            )
            find_nearest_two(given(self._values), given(self._slots), given(self._left), n, self.nearest)
        else:
            self.changes, self.places = known["changes"], known["places"]
            self.n_swaps, *self.noted = known["numbers"].tolist()
            self.nearest = NearestTwo(*(known[name] for name in NearestTwo._fields))
        self._add_up()
        self._window = range(0)
        self._window_lines: tuple[Any, Any] = ((), ())

    def note(self, *numbers: int) -> None:
        """Note what the next turn of a loop begins with: all that is here, and three numbers of its own."""
        self._kept.note(
            "swaps",
            medoids=self.medoids,
            changes=self.changes,
            places=self.places,
            numbers=[self.n_swaps, *numbers],
            **self.nearest._asdict(),
        )

    def look_at(self, candidates: range, bound: float) -> int | None:
        """Find what candidates change at best; return the first that lowers the loss below the bound, if any.

        Those after it need not have been looked at.
        """
        from bisector.engine.loops import given
        from bisector.solvers.medoid_swap_loops import seek_swap

        values, slots = self._window_lines
        first = candidates.start - self._window.start
        held, places = given(values), given(slots)
        own, losses = given(self.is_medoid), given(self.losses)

        def seek(part: range) -> int | None:
            here = slice(candidates.start + part.start, candidates.start + part.stop)
            looked_at = seek_swap(
                held, places[first + part.start : first + part.stop], own[here], self.weights, self.nearest, losses,
                bound, self.changes[here], self.places[here],
            )  # fmt: skip
            last = here.start + looked_at - 1
            return last if self.changes[last] < bound else None

        parts = cut(len(candidates), _part_size(self.lines))
        if len(parts) == 1:
            return seek(parts[0])
        results = parallel(seek, parts, n_jobs=self.lines.n_jobs)
        return next((found for found in results if found is not None), None)

    def window(self, first: int) -> range:
        """Return candidates from `first` on whose lines are at hand, made if need be."""
        if first not in self._window:
            self._window = range(first, min(first + self.lines.at_once, self.lines.n_rows))
            self._window_lines = self.lines.lent(np.arange(self._window.start, self._window.stop))
        return range(first, self._window.stop)

    def swap(self, row: int) -> None:
        """Let a row replace the medoid for which it lowers the loss most."""
        from bisector.engine.loops import given
        from bisector.solvers.medoid_swap_loops import find_nearest_two, swap_medoid

        self.window(row)
        values, slots = self._window_lines
        place, line = int(self.places[row]), given(values[slots[row - self._window.start]])
        self.is_medoid[self.medoids[place]], self.is_medoid[row] = False, True
        self.medoids[place] = row
        self.lines.replace(self._values, self._slots, place, row, line)
        n_left = swap_medoid(line, place, self.nearest, self._left)
        if n_left:
            find_nearest_two(given(self._values), given(self._slots), given(self._left), n_left, self.nearest)
        self._add_up()
        self.changes[row] = 0.0
        self.n_swaps += 1

    def _add_up(self) -> None:
        from bisector.solvers.medoid_swap_loops import sum_losses

        _require_finite(self.nearest.far.max())
        self.loss = sum_losses(self.weights, self.nearest, self.losses)
        to_rivals = float(self.loss + self.losses.sum())
        _require_finite(to_rivals)  # a sum of finite distances may not be
        self.rounding = TOLERANCE * to_rivals


def _eagerly(swaps: _Swaps, max_iter: int, bar: Any) -> tuple[int, bool]:
    """Look at the rows round and round, and swap where that helps, until a whole round brought nothing."""
    n = swaps.lines.n_rows
    place, looked_at, unchanged = swaps.noted
    n_parts = fewest = threads_for(swaps.lines.n_jobs)
    while unchanged < n:
        if looked_at >= max_iter * n:
            return max_iter, False
        size = min(n_parts * _part_size(swaps.lines), n - unchanged, max_iter * n - looked_at)
        here = swaps.window(place)[:size]
        found = swaps.look_at(here, -swaps.rounding)
        if found is None:
            step = len(here)
            unchanged += step
            n_parts = min(2 * n_parts, _MOST_PARTS)
        else:
            swaps.swap(found)
            step = found + 1 - here.start
            unchanged, n_parts = 1, fewest
        if (looked_at + step) // n > looked_at // n:
            bar.advance(note=f"loss {swaps.loss:.6g}, {swaps.n_swaps} swaps")
        looked_at += step
        place = (here.start + step) % n
        swaps.note(place, looked_at, unchanged)
    return -(-looked_at // n), True


def _best_first(swaps: _Swaps, max_iter: int, bar: Any) -> tuple[int, bool]:
    """Look at all rows, make the best swap, and do so again until there is none."""
    n, (n_done, *_) = swaps.lines.n_rows, swaps.noted
    for n_iter in range(1 + n_done, max_iter + 1):
        place = 0
        while place < n:
            here = swaps.window(place)
            swaps.look_at(here, -np.inf)
            place = here.stop
        best = int(np.argmin(swaps.changes))
        if not swaps.changes[best] < -swaps.rounding:
            return n_iter, True
        swaps.swap(best)
        bar.advance(note=f"loss {swaps.loss:.6g}")
        swaps.note(n_iter, 0, 0)
    return max_iter, False
