"""Groups of rows: their means and scatters, with digits to spare far from zero."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bisector.distances import terms
from bisector.distances.coordinate_distance import CoordinateDistance
from bisector.distances.distance import Distance, Rows
from bisector.distances.numeric_rows import NumericRows
from bisector.distances.reductions import cut
from bisector.engine.threads import parallel

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Rows that one thread adds up at once; where such parts end decides how sums are rounded.
_PART = 2**14


class Groups(NamedTuple):
    """Which group each row belongs to, and how often it counts.

    Attributes
    ----------
    codes : ndarray of shape (n_rows,)
        Numbers of groups, from 0.
    weights : ndarray of shape (n_rows,)
        Not negative.
    n_groups : int
    """

    codes: Integers
    weights: Floats
    n_groups: int

    @property
    def sizes(self) -> Floats:
        """What the rows of each group weigh."""
        return np.bincount(self.codes, self.weights, minlength=self.n_groups).astype(np.float64, copy=False)

    def take(self, numbers: Integers) -> "Groups":
        return Groups(self.codes[numbers], self.weights[numbers], self.n_groups)


class Squares(NamedTuple):
    """Rows whose distance is a sum of squares: Σⱼ scaleⱼ(xⱼ − yⱼ)².

    Attributes
    ----------
    rows : NumericRows
    scales : ndarray of shape (n_features,)
    """

    rows: NumericRows
    scales: Floats


def squares_of(distance: Distance, rows: Rows) -> Squares | None:
    """Return the rows with what makes their distance a sum of squares, or None where it is none."""
    if not (isinstance(distance, CoordinateDistance) and isinstance(rows, NumericRows)):
        return None
    if distance.may_miss or rows.before is not None:  # rows that were transformed have lost digits
        return None
    scales = square_scales(distance, rows.values.shape[1])
    return None if scales is None else Squares(rows, scales)


def square_scales(distance: Distance, n_features: int) -> Floats | None:
    """Return by what squared differences are multiplied before they are added up; None where they are not."""
    if not isinstance(distance, CoordinateDistance) or distance.may_miss:
        return None
    formula = distance.lower(n_features)
    weights = formula.weights if isinstance(formula, terms.WeightedTerms) else np.ones(n_features)
    bare = formula.inner if isinstance(formula, terms.WeightedTerms) else formula
    return bare.scale * weights if isinstance(bare, terms.KeptSquares) else None


class Centres(NamedTuple):
    """Means of groups, and how the rows scatter about them.

    Attributes
    ----------
    means, rests : ndarray of shape (n_groups, n_features)
        The mean is their sum: far from zero, a second number holds the digits that the first has no place for.
    sizes : ndarray of shape (n_groups,)
        What the rows of each group weigh.
    scatters : ndarray of shape (n_groups,)
        The squared distances of the rows to the mean of their group, times their weights, added up.
    """

    means: Floats
    rests: Floats
    sizes: Floats
    scatters: Floats


def centres_of(squares: Squares, groups: Groups, *, n_jobs: int | None = None) -> Centres:
    """Return the means of groups of rows, and their scatters."""
    from bisector.distances.group_loops import add_differences, add_squares
    from bisector.engine.loops import given

    rows, scales = squares.rows, given(squares.scales)
    sizes = groups.sizes
    shape = (groups.n_groups, rows.values.shape[1])

    def members(part: range) -> tuple[NDArray[Any], Integers, Floats]:
        chosen = slice(part.start, part.stop)
        return given(rows.dense(part)), given(groups.codes[chosen]), given(groups.weights[chosen])

    def mean_from(origins: Floats) -> Floats:
        def add_up(part: range) -> Floats:
            sums = np.zeros(shape)
            add_differences(*members(part), given(origins), sums)
            return sums

        return _added(parallel(add_up, parts, n_jobs=n_jobs)) / np.where(sizes > 0, sizes, 1.0)[:, None]

    def scatter(part: range) -> Floats:
        sums = np.zeros(groups.n_groups)
        add_squares(*members(part), given(means), given(rests), scales, sums)
        return sums

    parts = cut(len(rows), _PART)
    # Measured from one of its rows, the mean of a tight group keeps its digits wherever the group lies.
    means = np.zeros(shape)
    counted = np.flatnonzero(groups.weights)
    some, firsts = np.unique(groups.codes[counted], return_index=True)
    means[some] = rows.take(counted[firsts]).dense(range(len(some)))
    means += mean_from(means)
    rests = mean_from(means)
    return Centres(means, rests, sizes, _added(parallel(scatter, parts, n_jobs=n_jobs)))


def _added(parts: list[Floats]) -> Floats:
    total = parts[0]
    for part in parts[1:]:
        total += part
    return total
