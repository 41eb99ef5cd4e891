"""The row with the least total distance to all rows: the medoid.

Comparing all pairs of n rows takes n² distances. Most of them can be spared, because a **lower bound** on a
row's total that exceeds the total of another row rules it out:

- where squared differences, absolute differences or inequalities of coordinates are summed, the totals
  themselves have a closed form, and only rows within its rounding of the least are left;
- the total of Euclidean distances is convex, least at the geometric median, and rises from there at least
  as a certain quadratic form (`bisector.exemplars.total_bounds`): only the rows around the median are left;
- for every other distance that keeps the triangle inequality, the totals of two rows differ by no more than
  the weight of all rows times their distance, so each row that is computed bounds all others (Newling and
  Fleuret, 2017). In many dimensions this rules out little; then all pairs are compared, tile by tile.

**One answer.** All these numbers carry rounding errors and only screen. What is left within their bounds is
decided by the sums of the distances as `Pairs.fill` gives them, added up without any rounding: rows placed alike
have equal totals, and the smaller number wins, whatever the tiles or the number of threads.
"""

import math

import numpy as np
from numpy.typing import NDArray

from bisector.distances.coordinate_distance import CoordinatePairs
from bisector.distances.distance import Distance, Rows
from bisector.distances.numeric_rows import NumericRows
from bisector.distances.reductions import cut
from bisector.engine.threads import one_blas_thread, parallel
from bisector.exemplars.exact_sums import exact_sums
from bisector.exemplars.total_bounds import BOUNDS

Floats = NDArray[np.float64]

# Distances that are roots of differences keep the triangle inequality up to this share.
_TRIANGLE_MARGIN = 1e-6
# Distances held at once while rows are ruled out, and the rows begun with.
_HELD, _FIRST_ROWS = 2**22, 32
# When the distances from so many rows have ruled out fewer than half of the rows, bounds do not pay.
_TRIAL_ROWS = 256
# All pairs are compared in so many parts, whose totals are added in order.
_PARTS = 32


def central_row(
    distance: Distance,
    rows: Rows,
    weights: Floats | None,
    *,
    squared: bool = False,
    n_jobs: int | None = None,
) -> int:
    """Return the number of the row from which the total distance to all rows is least; the first of equals.

    Parameters
    ----------
    distance : Distance
    rows : Rows
        Prepared by it, at least one.
    weights : ndarray of shape (n_rows,) or None
        How often each row counts, all positive.
    squared : bool, default=False
        Sum the squares of the distances.
    n_jobs : int, optional
    """
    return _Search(distance, rows, weights, squared, n_jobs).decide()


class _Search:
    """The totals known so far, and lower bounds on the others."""

    def __init__(
        self, distance: Distance, rows: Rows, weights: Floats | None, squared: bool, n_jobs: int | None
    ) -> None:
        n = len(rows)
        self.distance, self.rows, self.squared, self.n_jobs = distance, rows, squared, n_jobs
        self.given_weights = weights
        self.weights = np.ones(n) if weights is None else weights
        self.totals = np.full(n, np.inf)
        self.bounds = np.zeros(n)
        # By what share of a total its sum may be rounded, in whatever order it was made.
        self.rounding = (4 * n + 64) * float(np.finfo(np.float64).eps)

    def decide(self) -> int:
        if len(self.rows) == 1:
            return 0
        with one_blas_thread:
            self._screen()
        least = self.totals.min()
        if not least < math.inf:
            raise ValueError(
                "No row has a finite total distance to all rows, so none is central: leave out rows that others "
                "cannot be reached from, or bring the rows to smaller numbers."
            )
        close = np.flatnonzero(self.totals <= least * (1 + 2 * self.rounding))
        if (
            isinstance(self.rows, NumericRows) and not self.rows.sparse
        ):  # of equal rows, the first stands for all
            _, first = np.unique(self.rows.values[close], axis=0, return_index=True)
            close = close[np.sort(first)]
        if len(close) == 1 or least == 0.0:
            return int(close[0])
        return int(close[np.argmin(self._exact_totals(close, float(least)))])

    def _screen(self) -> None:
        """Set the totals of all rows that could have the least."""
        n = len(self.rows)
        bounded = self._set_bounds()
        by_triangles = self.distance.law != "none" and not self.squared
        # In an order that has nothing to do with how the rows are stored, unless bounds say where to begin.
        left = np.argsort(self.bounds) if bounded else np.random.default_rng(0).permutation(n)
        size, looked_at = _FIRST_ROWS, 0
        while len(left):
            hopeless = not (by_triangles or bounded) or (looked_at >= _TRIAL_ROWS and 2 * len(left) > n)
            if n <= size or hopeless:
                self._compare_all()
                return
            batch, left = left[:size], left[size:]
            self._look_at(batch, by_triangles and not bounded)
            looked_at += len(batch)
            left = left[self.bounds[left] <= self.totals.min() * (1 + self.rounding)]
            size = max(1, min(2 * size, _HELD // n))

    def _set_bounds(self) -> bool:
        """Bound totals by what is special about a formula, if anything is; return whether it was."""
        pairs = self.distance.between(self.rows, self.rows)
        if not isinstance(pairs, CoordinatePairs) or pairs.may_miss or self.squared:
            return False
        bound = BOUNDS.get(type(pairs.formula))
        with np.errstate(over="ignore", invalid="ignore"):
            bounds = None if bound is None else bound(pairs.formula, pairs.inner.values, self.weights)
        if bounds is None:
            return False
        self.bounds = np.nan_to_num(bounds, nan=0.0, posinf=0.0)  # of numbers too large nothing is known
        return True

    def _look_at(self, batch: NDArray[np.int64], by_triangles: bool) -> None:
        """Set the totals of a few rows, and bound the others by their distances to these."""
        pairs = self.distance.between(self.rows.take(batch), self.rows)
        reduced, whole = np.empty(pairs.shape), range(len(batch))
        parallel(
            lambda inner: pairs.fill(whole, inner, reduced, 0, inner.start),
            cut(pairs.shape[1], pairs.tile_shape[1]),
            n_jobs=self.n_jobs,
        )
        distances = pairs.finish(reduced)
        totals = (distances * distances if self.squared else distances) @ self.weights
        self.totals[batch] = totals
        if by_triangles:
            from bisector.distances.exemplar_loops import raise_bounds
            from bisector.engine.loops import given

            weight = float(self.weights.sum())
            raise_bounds(given(distances), given(totals), weight, _TRIANGLE_MARGIN, self.bounds)

    def _compare_all(self) -> None:
        """Set the totals of all rows; a symmetric distance is computed once for each pair."""
        from bisector.distances.exemplar_loops import add_to_totals
        from bisector.engine.loops import given

        pairs = self.distance.between(self.rows, self.rows)
        n, size, both = len(self.rows), min(pairs.tile_shape), self.distance.symmetric
        blocks, weights, none = cut(n, size), given(self.weights), np.empty(0)

        def add(part: int) -> Floats:
            totals, tile = np.zeros(n), np.zeros((size, size))
            for outer in blocks[part::_PARTS]:
                for inner in blocks:
                    if both and inner.start < outer.start:
                        continue
                    pairs.fill(outer, inner, tile)
                    mirrored = both and inner.start > outer.start
                    add_to_totals(
                        given(pairs.finish(tile)), len(outer), len(inner), self.squared,
                        weights[outer.start : outer.stop], weights[inner.start : inner.stop],
                        totals[outer.start : outer.stop],
                        totals[inner.start : inner.stop] if mirrored else none,
                    )  # fmt: skip
            return totals

        parts = parallel(add, range(min(_PARTS, len(blocks))), n_jobs=self.n_jobs)
        self.totals = np.sum(parts, axis=0)

    def _exact_totals(self, close: NDArray[np.int64], least: float) -> list[float]:
        """Return the totals of a few rows, each rounded once."""
        n = len(self.rows)

        def add(part: range) -> list[float]:
            pairs = self.distance.between(self.rows.take(close[part.start : part.stop]), self.rows)
            reduced = np.empty(pairs.shape)
            for inner in cut(n, pairs.tile_shape[1]):
                pairs.fill(range(len(part)), inner, reduced, 0, inner.start)
            distances = pairs.finish(reduced)
            return exact_sums(distances, self.given_weights, squared=self.squared, about=least)

        parts = parallel(add, cut(len(close), max(1, 2**16 // n)), n_jobs=self.n_jobs)
        return [total for part in parts for total in part]
