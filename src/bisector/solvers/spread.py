"""Where rows lie and how far they spread, found out in one pass before others."""

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from bisector.engine.blocks import Block
from bisector.engine.map_reduce import map_reduce
from bisector.engine.sources import Source
from bisector.engine.validation import find_not_finite

Floats = NDArray[np.float64]

# Rows of the first block that the origin is the median of.
_ROWS_FOR_ORIGIN = 101
_NO_WEIGHTS = np.empty(0)


class Spread(NamedTuple):
    """How rows lie about their mean: weight, sums and squares as seen from an origin."""

    weight: float
    sums: Floats
    squares: Floats

    def merge(self, other: Self) -> Self:
        with np.errstate(over="ignore", invalid="ignore"):
            np.add(self.sums, other.sums, out=self.sums)
            np.add(self.squares, other.squares, out=self.squares)
        return self._replace(weight=self.weight + other.weight)

    @property
    def scatters(self) -> Floats:
        """Σ w(x − mean)², of every column."""
        with np.errstate(over="ignore", invalid="ignore"):
            return np.maximum(0.0, self.squares - self.sums * self.sums / self.weight)


class Measured(NamedTuple):
    """What a fit knows of its rows beforehand.

    Attributes
    ----------
    origin : ndarray of shape (n_features,)
        Where sums are measured from, since far from zero they lose their digits: a value of each column, so that
        differences of whole numbers stay whole; zero for sparse rows.
    mean : ndarray of shape (n_features,)
    scatter, weight : float
        About the mean; and of all rows.
    variances : ndarray of shape (n_features,)
    """

    origin: Floats
    mean: Floats
    scatter: float
    weight: float
    variances: Floats


def measure(rows: Source, *, n_jobs: int | None = None) -> Measured:
    """Find out where rows lie and how far they spread; raise if one of them is not finite."""
    sample = next(iter(rows.blocks(range(1)))).X
    if hasattr(sample, "tocsr"):
        origin = np.zeros(rows.n_features)
    else:
        some = sample[:: -(-len(sample) // _ROWS_FOR_ORIGIN)]
        middle = len(some) // 2
        origin = np.partition(some, middle, axis=0)[middle].astype(np.float64)
        if not np.isfinite(origin).all():
            origin = np.nan_to_num(origin)
    spread = map_reduce(_block_spread, rows, origin, n_jobs=n_jobs, doing="measuring")
    scatters, weight = spread.scatters, spread.weight
    check_finite_sums(rows, float(scatters.sum()))
    return Measured(origin, origin + spread.sums / weight, float(scatters.sum()), weight, scatters / weight)


def check_finite_sums(rows: Source, total: float) -> None:
    """Say where a number is not finite, if a total tells that one is not, or that numbers are too large."""
    if not np.isfinite(total):
        find_not_finite(rows)
        raise ValueError(
            "X has numbers so large that their squares overflow: divide its columns by a common factor."
        )


def _block_spread(block: Block, origin: Floats) -> Spread:
    from bisector.engine.loops import given
    from bisector.solvers.lloyd_loops import add_spread

    d = block.X.shape[1]
    weights = _NO_WEIGHTS if block.sample_weight is None else block.sample_weight
    if hasattr(block.X, "tocsr"):
        X = block.X.astype(np.float64)
        ones = block.weights
        return Spread(float(ones.sum()), np.asarray(X.T @ ones), np.asarray(X.multiply(X).T @ ones).ravel())
    sums, squares = np.zeros(d), np.zeros(d)
    weight = add_spread(given(block.X), given(weights), given(origin), sums, squares)
    return Spread(weight, sums, squares)
