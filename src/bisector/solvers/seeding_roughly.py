"""Greedy k-means++ by a rough look first: all rows against a few candidates in single precision.

Seen from a point among the rows, and in units of their size, let a be a row and c a candidate. What
‖a‖² + ‖c‖² − 2a·c gives is off by at most E(‖a‖² + ‖c‖²), E being the roundings of a product of d terms and of
those around it. So for most rows it is sure that the candidate is not nearer than their centre: these gain nothing,
and add nothing to the error of what is gained. The others are listed. Candidates whose gains are too close to tell
are compared exactly; and when one becomes a centre, the rows of its list are.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bisector.engine.blocks import spread_rows
from bisector.engine.sources import ArraySource
from bisector.engine.threads import parallel

if TYPE_CHECKING:
    from bisector.solvers.seeding import Floats, Held

# Rows whose squared distances make one total, by which a draw finds where to look for its row: whole groups of 16.
_STRETCH = 1024
# So many parts share the work evenly among threads, unless numbers are too few for a call, or too many for one.
_PARTS, _FEW_NUMBERS, _MANY_NUMBERS = 8, 2**18, 2**21
# Rows from which origin and unit are taken; and squared lengths too small to be told even in double precision.
_SAMPLE, _NEAREST = 4096, 1e-280
# Weights below so much of the heaviest are too small for single precision.
_LIGHTEST = 1e-30
# Numbers so far below the unit may vanish in single precision.
_VANISHING = 2.0**-120
_ROUNDING = float(np.finfo(np.float32).eps) / 2
# Gains are sums of some forty terms before they are added in double precision; what is closest is rounded as well.
_OF_GAINS, _OF_CLOSEST = 64 * _ROUNDING, 4 * _ROUNDING


class _Part(NamedTuple):
    """Rows that one call looks at. The arrays are parts of those of all rows; a loop only reads what is `given`."""

    rows: slice
    X: NDArray[Any] | None  # if exact rows can be had as they are
    weights: "Floats"
    closest: "Floats"
    given_closest: "Floats"
    owners: NDArray[np.int64]
    groups: NDArray[np.float32]
    given_groups: NDArray[np.float32]
    known: NDArray[np.float32]
    given_known: NDArray[np.float32]
    near: NDArray[np.uint16]
    listed: NDArray[np.int64]
    totals: "Floats"


class RoughLook:
    """Rows in single precision, in groups of sixteen side by side.

    Parameters
    ----------
    held : Held
        With their first centre.
    n_candidates : int
        How many are looked at, at most.

    Attributes
    ----------
    possible : bool
        Whether single precision holds such rows.
    run_rows : int
        Rows that share a total.
    totals : ndarray
        For so many rows after each other, the weighted sums of their squared distances to the closest centre.
    """

    run_rows = _STRETCH

    def __init__(self, held: "Held", n_candidates: int) -> None:
        self._held, self._n_columns = held, n_candidates + n_candidates % 2
        self._share = np.float32(2 * _ROUNDING * (held.rows.n_features + 16))
        weights = np.ones(1) if held.weights is None else held.weights[held.weights > 0]
        self._heaviest = float(weights.max())
        sample = held.take(spread_rows(held.n_rows, _SAMPLE))
        self._origin = sample.mean(axis=0, dtype=np.float64)
        away = sample - self._origin
        largest = float(np.einsum("ij,ij->i", away, away).max())
        self.possible = _NEAREST < largest < np.inf and float(weights.min()) > _LIGHTEST * self._heaviest
        if self.possible:
            self._scale = 0.5 ** int(np.frexp(np.sqrt(largest))[1])
            self.totals = np.empty(-(-held.n_rows // _STRETCH))
            self._parts = self._cut()
            self.possible = all(parallel(self._narrow, self._parts, n_jobs=held.n_jobs))

    def _cut(self) -> list[_Part]:
        """Make room for rows and what is known of them, in parts that do not depend on the number of threads."""
        from bisector.engine.group_products import GROUP
        from bisector.engine.loops import given

        held, n_stretches = self._held, len(self.totals)
        n, d = held.n_rows, held.rows.n_features
        n_groups = -(-n // GROUP)
        groups, known = (np.empty((n_groups, height, GROUP), np.float32) for height in (d, 3))
        near, listed = np.zeros((n_groups, self._n_columns), np.uint16), np.empty(n, np.int64)
        exact = _as_it_is(held.rows)
        n_parts = min(_PARTS, -(-n * d // _FEW_NUMBERS)) * -(-n * d // (_PARTS * _MANY_NUMBERS))
        n_parts = min(n_parts, n_stretches)
        parts = []
        for part in range(n_parts):
            first, last = (n_stretches * end // n_parts for end in (part, part + 1))
            rows = slice(first * _STRETCH, min(last * _STRETCH, n))
            in_groups = slice(rows.start // GROUP, -(-rows.stop // GROUP))
            parts.append(
                _Part(
                    rows,
                    None if exact is None else given(exact[rows]),
                    given(held.weights_of(rows)),
                    held.closest[rows],
                    given(held.closest[rows]),
                    held.owners[rows],
                    groups[in_groups],
                    given(groups[in_groups]),
                    known[in_groups],
                    given(known[in_groups]),
                    near[in_groups],
                    listed[rows],
                    self.totals[first:last],
                )
            )
        return parts

    def _narrow(self, part: _Part) -> bool:
        """Write rows in single precision, if it can hold them; tell whether it can."""
        from bisector.engine.loops import given
        from bisector.solvers.seeding_roughly_loops import add_stretches, narrow_rows

        X = given(self._held.dense(part.rows)) if part.X is None else part.X
        frame = given(self._origin), self._scale, self._heaviest
        add_stretches(part.weights, part.given_closest, _STRETCH, part.totals)
        return narrow_rows(X, part.weights, part.given_closest, *frame, part.groups, part.known)

    def best(self, numbers: list[int], candidates: Any) -> int:
        """Return which of some rows leaves the least total when it becomes a centre, the first of equal ones."""
        gains, errors = self._gains(np.asarray(candidates, dtype=np.float64))
        near = np.flatnonzero(gains + errors >= (gains - errors).max()).tolist()
        different = sorted({numbers[c]: c for c in reversed(near)}.values())
        if len(different) == 1:
            return different[0]
        return different[int(np.argmin(self._held.totals_with(candidates[different])))]

    def _gains(self, candidates: "Floats") -> tuple["Floats", "Floats"]:
        """Return about how much less of the total each candidate leaves, and by how much that may be off.

        In units of the frame, and of the heaviest weight.
        """
        from bisector.engine.loops import given
        from bisector.solvers.seeding_roughly_loops import weigh_candidates

        k, d = candidates.shape
        away = (candidates - self._origin) * self._scale
        across, sizes = np.zeros((d, self._n_columns), np.float32), np.zeros((2, self._n_columns), np.float32)
        across[:, :k] = 2 * away.T
        sizes[0, :k], sizes[0, k:] = np.einsum("ij,ij->i", away, away), np.inf
        sizes[1, :k] = self._share * sizes[0, :k] + _VANISHING
        across, sizes = given(across), given(sizes)

        def weigh(part: _Part) -> "Floats":
            found = np.zeros((2, self._n_columns))
            known = part.given_groups, part.given_known
            weigh_candidates(*known, across, sizes, self._share, part.near, found)
            return found

        gains, errors = np.sum(parallel(weigh, self._parts, n_jobs=self._held.n_jobs), axis=0)[:, :k]
        total = float(self.totals.sum()) * self._scale * self._scale / self._heaviest
        always = _OF_CLOSEST * total + _VANISHING * self._held.n_rows
        return gains, 1.01 * errors + _OF_GAINS * gains + always

    def add(self, centre: Any, candidate: int) -> "Floats":
        """Make the candidate of this number, among those looked at last, a centre; return what is left."""
        from bisector.engine.loops import given
        from bisector.solvers.seeding_roughly_loops import add_stretches, list_near, own_nearer

        number, wide = self._held.note(centre)

        def compare(part: _Part) -> None:
            listed = given(part.listed[: list_near(part.near, candidate, part.listed)])
            if part.X is None:
                X, at = given(self._held.take(part.rows.start + listed)), given(np.arange(len(listed)))
            else:
                X, at = part.X, listed
            own_nearer(X, at, listed, wide, number, self._scale, part.closest, part.owners, part.known)
            add_stretches(part.weights, part.given_closest, _STRETCH, part.totals)

        parallel(compare, self._parts, n_jobs=self._held.n_jobs)
        return self.totals


def _as_it_is(rows: Any) -> NDArray[Any] | None:
    """Return the array of rows, if loops can take it without a copy."""
    if not isinstance(rows, ArraySource):
        return None
    X = rows.X
    return X if X.dtype == rows.dtype and X.flags.c_contiguous and X.flags.aligned else None
