"""Rows of mixed tables as numbers, and pairs of them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bisector.distances import terms
from bisector.distances.distance import Pairs, Rows
from bisector.engine.values import lowered

# Inner rows of a tile stand column-wise in a scratch array that should stay in the second-level cache.
_SCRATCH_BYTES = 2**18


@lowered(**terms.SUMMED, finish=terms.divide, reduce=terms.multiply)
class ClippedTerms(NamedTuple):
    """Σ min(|x−y|, 1) over a scale: Gower, on columns of which the range is 1."""

    scale: float

    def term(self, x: float, y: float, weight: float) -> float:
        gap = abs(x - y)
        return gap if gap < 1.0 else 1.0


@dataclass(frozen=True)
class MixedRows(Rows):
    """Rows of a table as numbers.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_columns)
        Numbers on a scale whose range is 1, or codes of categories; NaN where a value is missing.
    levels : tuple of dict
        For every column, the codes of the categories.
    may_miss : bool
        Whether values may be missing.
    dtype : dtype
        That of the distances.
    """

    values: NDArray[np.float64]
    levels: tuple[dict[Any, int], ...]
    may_miss: bool
    dtype: np.dtype[Any]

    def __len__(self) -> int:
        return len(self.values)

    def take(self, numbers: NDArray[np.int64]) -> "MixedRows":
        return replace(self, values=self.values[numbers])

    def joined(self, others: Sequence[Rows]) -> "MixedRows":
        whole = self
        for rows in others:
            assert isinstance(rows, MixedRows)
            more = rows.coded_like(whole)
            whole = MixedRows(
                np.concatenate([whole.values, more.values]),
                tuple(max(pair, key=len) for pair in zip(whole.levels, more.levels, strict=True)),
                whole.may_miss or more.may_miss,
                np.result_type(whole.dtype, more.dtype),
            )
        return whole

    def coded_like(self, other: Rows) -> "MixedRows":
        """Return these rows with codes that mean the same as those of other rows."""
        assert isinstance(other, MixedRows)
        recoded = {}
        for j, (mine, theirs) in enumerate(zip(self.levels, other.levels, strict=True)):
            if not (mine.items() <= theirs.items() or theirs.items() <= mine.items()):
                common = dict(theirs)
                codes = np.array([common.setdefault(level, len(common)) for level in mine], dtype=np.float64)
                recoded[j] = (common, codes)
        if not recoded:
            return self
        values, levels = self.values.copy(), list(self.levels)
        for j, (common, codes) in recoded.items():
            present = ~np.isnan(values[:, j])
            values[present, j] = codes[values[present, j].astype(np.int64)]
            levels[j] = common
        return replace(self, values=values, levels=tuple(levels))


class MixedPairs(Pairs):
    """Pairs of rows of a table.

    The mean difference itself decides which of two is nearer: it is the same number, however it is computed.
    """

    def __init__(
        self, weights: NDArray[np.float64], asymmetric: NDArray[np.bool_], outer: MixedRows, inner: MixedRows
    ) -> None:
        self.weights, self.asymmetric = weights, asymmetric
        self.outer, self.inner = outer, inner
        self.shape = (len(outer), len(inner))
        self.dtype = np.result_type(outer.dtype, inner.dtype)
        self.all_count = not (outer.may_miss or inner.may_miss or asymmetric.any())
        fitting = _SCRATCH_BYTES // (8 * len(weights))
        self.tile_shape = (256, min(512, max(64, fitting // 64 * 64)))

    def fill(self, outer: range, inner: range, out: NDArray[Any], row: int = 0, column: int = 0) -> None:
        self.write(outer, inner, out, row, column)

    def write(self, outer: range, inner: range, out: NDArray[Any], row: int = 0, column: int = 0) -> None:
        from bisector.distances.mixed_loops import fill_shared_tile
        from bisector.distances.tile_loops import fill_tile
        from bisector.engine.loops import given

        rows, others = given(self.outer.values), given(self.inner.values)
        place = (out, row, column, len(outer), len(inner))
        if self.all_count:
            # Added up like the weights of the columns that count, so that the mean has the same bits.
            total = 0.0
            for weight in self.weights.tolist():
                total += weight
            formula = terms.WeightedTerms(ClippedTerms(total), given(self.weights))
            fill_tile(formula, rows, outer.start, others, inner.start, True, *place)
        else:
            weights, asymmetric = given(self.weights), given(self.asymmetric)
            fill_shared_tile(weights, asymmetric, rows, outer.start, others, inner.start, *place)
