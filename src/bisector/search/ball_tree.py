"""Branch and bound in a tree of balls (Learning From Data, 6.2.3).

The rows are divided into a few parts, each enclosed in a ball, and every part is divided again until little
remains. A query searches the nearest ball first. Let ℓ be its distance to the best row so far: a ball with centre
μ and radius r holds nothing nearer if ‖q − μ‖ − r > ℓ, and is passed over with all the balls inside.

That takes the triangle inequality, but not the distance's own: any function of the reduced distance that is
larger where the distance is, and keeps the inequality, serves to measure centres, radii and bounds. It is called
the *length* here. So squared Euclidean distance and 1 − cos are searched by the straight line between the
(normalised) rows, and Minkowski distances with p < 1 by Σ|x−y|^p, which keeps the inequality where its root does
not.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bisector.distances import terms
from bisector.distances.coordinate_distance import CoordinateDistance
from bisector.distances.distance import Rows
from bisector.distances.numeric_rows import NumericRows
from bisector.distances.reductions import cut
from bisector.engine.memory import require
from bisector.engine.threads import parallel
from bisector.engine.validation import check_choice, check_count
from bisector.engine.values import lowered
from bisector.search.index import Floats, Index, Integers, Nearest, Structure, Within

# Queries that a thread takes at once.
_BLOCK = 128
# More queries are ordered, so that those which visit the same balls come one after the other.
_TO_BE_ORDERED = 1024


@lowered()
class RootLength(NamedTuple):
    """√Σ(x−y)²: the straight line, for distances that sum squares."""

    p: float = 2.0

    def length(self, value: float) -> float:
        return math.sqrt(value)


@lowered()
class FinishedLength(NamedTuple):
    """The distance itself, where it is a metric."""

    formula: Any

    def length(self, value: float) -> float:
        return self.formula.finish(value)


@lowered()
class ReducedLength(NamedTuple):
    """The reduced distance, where that is a metric though the distance is none."""

    p: float

    def length(self, value: float) -> float:
        return value


def length_of(distance: CoordinateDistance, formula: Any) -> Any:
    """Return the length that orders rows as a distance does, or None if no such length is known."""
    if distance.may_miss:
        return None
    if formula.sums_squares:
        return RootLength()
    bare = formula.bare()
    if distance.law != "none":
        return FinishedLength(bare)
    inner = getattr(bare, "inner", bare)
    is_power = isinstance(inner, terms.PowerTerms | terms.RootTerms)
    return ReducedLength(inner.p) if is_power and inner.p <= 1 else None


def squares(formula: Any) -> Any:
    """Return the formula of Euclidean distance with the weights of one that sums squares too."""
    if isinstance(formula, terms.WeightedTerms):
        return terms.WeightedTerms(terms.SquaredTerms(), formula.weights)
    return terms.SquaredTerms()


class Slack(NamedTuple):
    """By how much a computed length may differ from the true one.

    A sum of n positive terms, each rounded a few times, is wrong by less than (n + 8)·eps, relatively, and no
    length makes that more. Terms that are so small that they vanish are wrong by at most the smallest number
    there is.
    """

    relative: float
    absolute: float

    @classmethod
    def of(cls, formula: Any, length: Any, n_features: int) -> "Slack":
        """Return the slack of lengths between rows of so many coordinates."""
        weights = math.fsum(max(1.0, formula.weight(j)) for j in range(n_features))
        vanishing = float(length.length(4 * weights * math.ulp(0.0)))
        return cls((n_features + 8) * np.finfo(np.float64).eps, vanishing)


class Shape(NamedTuple):
    """How a tree divides rows: see the parameters of `BallTree`."""

    at_medians: bool
    branches: int
    leaf_size: int
    depth: int | None


class BallTree(Index):
    """A tree of balls: fast where rows lie in clusters, also with tens of coordinates.

    For distances that are computed coordinate by coordinate and measure some length: all but those that skip
    missing values. Centres are means of the rows, after what the distance does to them (whitening, weighting,
    normalising).

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
    metric : str, Distance or callable, default="euclidean"
    split : "farthest-first" or "median", default="farthest-first"
        How rows are divided: among centres that are far from each other, each region's mean then becoming its
        centre once (Learning From Data, 6.2.3); or into parts of equal size along the coordinates in which they
        are widest.
    branches : int, default=10
        Into how many parts.
    leaf_size : int, default=64
        Parts with no more rows than these are not divided.
    depth : int, optional
        How often rows are divided at most; by default as often as it takes. With 1 there is one partition.

    Examples
    --------
    >>> from bisector.search.ball_tree import BallTree
    >>> index = BallTree([[0, 0], [1, 0], [5, 5]])
    >>> distances, numbers = index.query([[4, 5]], k=2)
    >>> numbers
    array([[2, 1]])
    >>> distances.round(3)
    array([[1.   , 5.831]])
    """

    def __init__(
        self,
        X: Any,
        metric: Any = "euclidean",
        *,
        split: str = "farthest-first",
        branches: int = 10,
        leaf_size: int = 64,
        depth: int | None = None,
    ) -> None:
        self.shape = Shape(
            check_choice("split", split, ("farthest-first", "median")) == "median",
            check_count("branches", branches, at_least=2),
            check_count("leaf_size", leaf_size),
            None if depth is None else check_count("depth", depth),
        )
        super().__init__(X, metric)

    def _refusal(self) -> str | None:
        if not isinstance(self.distance, CoordinateDistance):
            return (
                f"BallTree needs rows that have a mean, and {self.distance!r} compares no coordinates: use "
                "MetricTree if it is a metric, else BruteForce."
            )
        if self.distance.may_miss:
            return (
                f"BallTree needs the triangle inequality, which {self.distance!r} breaks by skipping what is "
                "missing: use BruteForce."
            )
        return None

    def _arrange(self, rows: Rows) -> "BallStructure":
        assert isinstance(self.distance, CoordinateDistance)
        assert isinstance(rows, NumericRows)
        return BallStructure(self.distance, rows, self.shape)


class BallStructure(Structure):
    """Rows in a tree of balls."""

    distance: CoordinateDistance
    rows: NumericRows

    def __init__(self, distance: CoordinateDistance, rows: NumericRows, shape: Shape) -> None:
        super().__init__(distance, rows)
        n_features = rows.values.shape[1]
        formula = distance.lower(n_features)
        self.length = length_of(distance, formula)
        # One compilation for all that sum squares, however they finish.
        self.formula = squares(formula) if formula.sums_squares else formula
        if self.length is None:
            raise ValueError(
                f"BallTree needs the triangle inequality, which {distance!r} breaks: use BruteForce."
            )
        self.balls = _grow(self.formula, self.length, _doubles(rows), shape)

    def __setstate__(self, state: dict[str, Any]) -> None:
        from bisector.engine.loops import given

        vars(self).update(state)
        # Arrays come back writable, which to a loop is another type.
        self.balls = type(self.balls)(
            *(given(part) if isinstance(part, np.ndarray) else part for part in self.balls)
        )

    def nearest(self, queries: Rows, k: int, alive: NDArray[np.bool_] | None, n_jobs: int | None) -> Nearest:
        from bisector.engine.loops import given
        from bisector.search.ball_tree_loops import find_nearest

        reduced = np.empty((len(queries), k))
        numbers = np.empty((len(queries), k), dtype=np.int64)
        living = given(np.empty(0, dtype=bool) if alive is None else alive)

        def search(block: Integers) -> int:
            best, found = np.empty((len(block), k)), np.empty((len(block), k), dtype=np.int64)
            rows = _doubles(queries.take(block))
            computed = find_nearest(self.formula, self.length, self.balls, living, rows, best, found)
            reduced[block], numbers[block] = best, found
            return int(computed)

        blocks, computed = self._neighbouring(queries, n_jobs)
        return Nearest(reduced, numbers, computed + sum(parallel(search, blocks, n_jobs=n_jobs)))

    def within(
        self, queries: Rows, bounds: Floats, alive: NDArray[np.bool_] | None, n_jobs: int | None
    ) -> Within:
        counts = np.empty(len(queries), dtype=np.int64)
        found = self._find_within(queries, bounds, alive, n_jobs, True, counts)
        reduced = np.concatenate([np.empty(0), *(values for values, _, _ in found)])
        numbers = np.concatenate([np.empty(0, dtype=np.int64), *(rows for _, rows, _ in found)])
        order = np.lexsort((numbers, np.repeat(np.arange(len(queries)), counts)))
        starts = np.concatenate([[0], np.cumsum(counts)])
        return Within(starts, reduced[order], numbers[order], sum(int(cost) for _, _, cost in found))

    def count(
        self, queries: Rows, bounds: Floats, alive: NDArray[np.bool_] | None, n_jobs: int | None
    ) -> tuple[Integers, int]:
        counts = np.empty(len(queries), dtype=np.int64)
        found = self._find_within(queries, bounds, alive, n_jobs, False, counts)
        return counts, sum(int(cost) for _, _, cost in found)

    def _find_within(
        self,
        queries: Rows,
        bounds: Floats,
        alive: NDArray[np.bool_] | None,
        n_jobs: int | None,
        listing: bool,
        counts: Integers,
    ) -> list[Any]:
        from bisector.engine.loops import given
        from bisector.search.ball_tree_loops import find_within

        order = self.balls.order
        living = np.ones(len(order), dtype=np.int64) if alive is None else alive[order]
        before = given(np.concatenate([[0], np.cumsum(living)]))

        def search(block: range) -> Any:
            some = slice(block.start, block.stop)
            rows, limits = _doubles(queries.take(np.asarray(block))), given(bounds[some])
            return find_within(
                self.formula, self.length, self.balls, before, rows, limits, listing, counts[some]
            )

        return parallel(search, cut(len(queries), _BLOCK), n_jobs=n_jobs)

    def _neighbouring(self, queries: Rows, n_jobs: int | None) -> tuple[list[Integers], int]:
        """Cut queries into blocks, if they are many into such as lie near each other; return also the cost."""
        from bisector.search.ball_tree_loops import enter

        if len(queries) <= _TO_BE_ORDERED:
            return [np.arange(block.start, block.stop) for block in cut(len(queries), _BLOCK)], 0
        leaves = np.empty(len(queries), dtype=np.int64)

        def find_leaves(block: range) -> int:
            rows = _doubles(queries.take(np.asarray(block)))
            return int(enter(self.formula, self.balls, rows, leaves[block.start : block.stop]))

        computed = sum(parallel(find_leaves, cut(len(queries), 8 * _BLOCK), n_jobs=n_jobs))
        order = np.argsort(leaves, kind="stable")
        return [order[block.start : block.stop] for block in cut(len(queries), _BLOCK)], computed


def _grow(formula: Any, length: Any, rows: Floats, shape: Shape) -> Any:
    """Divide rows into balls and lay them out for the search."""
    from bisector.engine.loops import given
    from bisector.search.ball_partition import divide
    from bisector.search.ball_partition_loops import lay_out_rows
    from bisector.search.ball_tree_loops import Balls, measure_all

    parts = divide(formula, rows, shape)
    slack = Slack.of(formula, length, rows.shape[1])
    radii = np.empty(len(parts.radii))
    measure_all(length, given(parts.radii), radii)
    children, starts, stops, order = map(given, (parts.children, parts.starts, parts.stops, parts.order))
    leaves = children[:-1] == children[1:]
    centres, columns = np.zeros(parts.centres.size), np.empty(rows.size)
    own_order = given(np.arange(len(starts)))
    lay_out_rows(given(parts.centres), own_order, given(children[:-1]), given(children[1:]), centres)
    lay_out_rows(rows, order, given(starts[leaves]), given(stops[leaves]), columns)
    return Balls(
        children,
        starts,
        stops,
        given(centres),
        given(radii * (1 + 2 * slack.relative) + 2 * slack.absolute),
        given(columns),
        order,
        shrunk=1 - 4 * slack.relative,
        absolute=2 * slack.absolute,
        most_parts=shape.branches,
        largest_leaf=int((stops - starts)[leaves].max()),
        depth=parts.n_levels,
    )


def _doubles(rows: Rows) -> NDArray[np.float64]:
    """Return rows as a dense float64 array that loops can read."""
    from bisector.engine.loops import given

    assert isinstance(rows, NumericRows)
    if rows.sparse:
        n, n_features = rows.values.shape
        require(
            n * n_features * 8,
            doing="Searching sparse rows in a BallTree",
            holding=f"{n:,} × {n_features:,} numbers",
            instead="use BruteForce, which leaves them sparse",
        )
    return given(rows.dense(range(len(rows))), np.float64)
