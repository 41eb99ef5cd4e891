"""Reductions of distances as they are made: the nearest, sums, counts, against all distances at once."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from tests.distances.vector_distances import EVERY, rows_for

from bisector.distances import (
    Chebyshev,
    Elliptical,
    Euclidean,
    Hamming,
    Haversine,
    Manhattan,
    Minkowski,
    coordinate_distance as core,
    terms,
)
from bisector.distances.coordinate_distance import largest_reduced
from bisector.distances.distance import Distance, Pairs, Rows
from bisector.distances.reductions import all_distances, counts_within, cut, nearest, nearest_one, sums

each = pytest.mark.parametrize("distance", EVERY, ids=repr)


def exact(distance, queries, references):
    """All distances as the formula decides, query by reference: reduced, and finished."""
    pairs = distance.between(references, queries, flipped=True)
    reduced = np.empty(pairs.shape)
    pairs.fill(range(pairs.shape[0]), range(pairs.shape[1]), reduced)
    return reduced.T, pairs.finish(reduced).T


def prepared(distance, n=17, m=23, seed=0):
    rng = np.random.default_rng(seed)
    references = rows_for(distance, m, rng)
    distance = distance.learned(references)
    known = distance.prepare(references)
    return distance, distance.prepare(rows_for(distance, n, rng), like=known), known


# Against brute force


@each
def test_the_nearest_are_those_of_a_stable_sort(distance):
    distance, queries, references = prepared(distance)
    reduced, finished = exact(distance, queries, references)
    order = np.argsort(reduced, axis=1, kind="stable")
    for k in (1, 2, 23):
        found, numbers = nearest(distance, queries, references, k)
        assert_array_equal(numbers, order[:, :k])
        assert_array_equal(found, np.take_along_axis(finished, order, axis=1)[:, :k])
    found, numbers = nearest_one(distance, queries, references)
    assert_array_equal(numbers, order[:, 0])
    assert_array_equal(found, finished.min(axis=1))


@each
def test_sums_add_up_distances(distance):
    distance, queries, references = prepared(distance)
    weights = np.random.default_rng(1).random(23)
    matrix = all_distances(distance, queries, references)
    assert_allclose(sums(distance, queries, references), matrix.sum(axis=1), rtol=1e-12)
    assert_allclose(sums(distance, queries, references, weights), matrix @ weights, rtol=1e-12)


@each
def test_counts_agree_with_finished_distances_even_at_the_border(distance):
    """The radius is one of the distances: its pair counts, and that with the next smaller number does not."""
    distance, queries, references = prepared(distance)
    _, finished = exact(distance, queries, references)
    for radius in (0.0, *np.quantile(finished, [0.1, 0.5, 0.9]), *finished[0], finished.max(), math.inf):
        for r in (radius, np.nextafter(radius, -1.0), np.nextafter(radius, math.inf)):
            found = counts_within(distance, queries, references, r)
            assert_array_equal(found, (finished <= r).sum(axis=1))
    own = finished[:, 3]
    assert_array_equal(
        counts_within(distance, queries, references, own), (finished <= own[:, None]).sum(axis=1)
    )


# Ties


@pytest.mark.parametrize(
    "distance", [Euclidean(), Manhattan(), Chebyshev(), Hamming(False), Minkowski(3)], ids=repr
)
def test_among_equals_the_smaller_number_comes_first(distance):
    """A lattice, where most distances occur many times; and every row twice."""
    steps = np.arange(4.0)
    lattice = np.array([[x, y] for x in steps for y in steps])
    rows = np.vstack([lattice, lattice])
    known = distance.prepare(rows)
    matrix = distance.pairwise(rows)
    for k in (1, 5, 32):
        _, numbers = nearest(distance, known, known, k)
        assert_array_equal(numbers, np.argsort(matrix, axis=1, kind="stable")[:, :k])
    _, numbers = nearest_one(distance, known, known)
    assert_array_equal(numbers, np.tile(np.arange(16), 2))


@pytest.mark.parametrize("shape", [(1, 1), (3, 2), (7, 64)])
def test_tiles_and_threads_change_no_bit(shape, monkeypatch):
    distances = [Euclidean(), Manhattan(), Minkowski(1.5)]
    rng = np.random.default_rng(0)
    X, Y = rng.integers(0, 3, size=(2, 30, 4)).astype(float)

    def answers(distance, n_jobs):
        queries, references = distance.prepare(X), distance.prepare(Y)
        asked = (distance, queries, references)
        return [
            *nearest(*asked, 6, n_jobs=n_jobs),
            *nearest_one(*asked, n_jobs=n_jobs),
            sums(*asked, np.full(30, 0.1), n_jobs=n_jobs),
            counts_within(*asked, 2.0, n_jobs=n_jobs),
        ]

    expected = [answers(distance, 1) for distance in distances]
    monkeypatch.setattr(core, "_MOST_OUTER", shape[0])
    monkeypatch.setattr(core, "_FEWEST_INNER", 1)
    monkeypatch.setattr(core, "_MOST_INNER", shape[1])
    for distance, before in zip(distances, expected, strict=True):
        for n_jobs in (1, 3):
            for found, answer in zip(answers(distance, n_jobs), before, strict=True):
                assert_array_equal(found, answer)


def test_sparse_rows_give_the_same_answers(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(20, 15)) * rng.normal(size=(20, 15))
    for columns in (4096, 0):
        monkeypatch.setattr(core, "_DENSE_COLUMNS", columns)
        for distance in (Euclidean(), Manhattan()):
            dense, sparse = distance.prepare(X), distance.prepare(sp.csr_array(X))
            for one, other in [(sparse, sparse), (sparse, dense), (dense, sparse)]:
                for found, expected in zip(
                    nearest(distance, one, other, 3), nearest(distance, dense, dense, 3), strict=True
                ):
                    assert_array_equal(found, expected)


# A distance that is not symmetric


class Uphill(Distance):
    """How far up one has to go from x to y: d(x, y) = max(0, y − x); a distance that answers in batches."""

    symmetric = False

    @property
    def law(self):
        return "none"

    def prepare(self, X, like=None, name="X"):
        return Heights(np.asarray(X, dtype=float))

    def between(self, outer, inner, *, flipped=False):
        return Climbs(outer.heights, inner.heights, flipped)

    def __call__(self, x, y):
        return max(0.0, float(y) - float(x))


class Heights(Rows):
    def __init__(self, heights):
        self.heights = heights

    def __len__(self):
        return len(self.heights)

    def take(self, numbers):
        return Heights(self.heights[numbers])

    def joined(self, others):
        return Heights(np.concatenate([self.heights, *(rows.heights for rows in others)]))


class Climbs(Pairs):
    tile_shape = (2, 3)

    def __init__(self, outer, inner, flipped):
        self.outer, self.inner, self.flipped = outer, inner, flipped
        self.shape = (len(outer), len(inner))

    def fill(self, outer, inner, out, row=0, column=0):
        gap = self.inner[None, inner.start : inner.stop] - self.outer[outer.start : outer.stop, None]
        out[row : row + len(outer), column : column + len(inner)] = np.maximum(
            0, -gap if self.flipped else gap
        )

    write = fill


def test_which_row_comes_first_is_kept_where_it_matters():
    distance, x, y = Uphill(), np.array([5.0, 0.0, 3.0, 9.0]), np.array([1.0, 4.0, 6.0, 2.0, 8.0])
    expected = np.maximum(0, y[None, :] - x[:, None])
    assert_array_equal(distance.pairwise(x, y), expected)
    assert_array_equal(distance.pairwise(x), np.maximum(0, x[None, :] - x[:, None]))
    queries, references = distance.prepare(x), distance.prepare(y)
    found, numbers = nearest(distance, queries, references, 3)
    assert_array_equal(numbers, np.argsort(expected, axis=1, kind="stable")[:, :3])
    assert_array_equal(found, np.sort(expected, axis=1)[:, :3])
    assert_array_equal(nearest_one(distance, queries, references)[1], expected.argmin(axis=1))
    assert_array_equal(sums(distance, queries, references), expected.sum(axis=1))
    assert_array_equal(counts_within(distance, queries, references, 1.0), (expected <= 1).sum(axis=1))


# Infinite distances


def test_rows_infinitely_far_are_last_in_the_order_of_their_numbers():
    distance = Euclidean(skip_missing=True)
    references = distance.prepare([[np.nan, 1.0], [5.0, np.nan], [np.nan, 3.0], [2.0, np.nan]])
    queries = distance.prepare([[0.0, np.nan], [np.nan, np.nan], [np.nan, 3.0]])
    found, numbers = nearest(distance, queries, references, 3)
    assert_array_equal(numbers, [[3, 1, 0], [0, 1, 2], [2, 0, 1]])
    assert_allclose(found, [[8**0.5, 50**0.5, math.inf], [math.inf] * 3, [0.0, 8**0.5, math.inf]], rtol=1e-15)
    found, numbers = nearest_one(distance, queries, references)
    assert_array_equal(numbers, [3, 0, 2])
    assert found[1] == math.inf
    assert_array_equal(counts_within(distance, queries, references, 1e300), [2, 0, 2])
    assert_array_equal(counts_within(distance, queries, references, math.inf), [4, 4, 4])


def test_sums_of_infinite_distances():
    distance = Euclidean(skip_missing=True)
    references = distance.prepare([[np.nan, 1.0], [5.0, np.nan]])
    queries = distance.prepare([[2.0, np.nan]])
    assert sums(distance, queries, references)[0] == math.inf
    # A row of weight zero is absent.
    assert sums(distance, queries, references, [0.0, 2.0])[0] == pytest.approx(2 * math.sqrt(18), rel=1e-15)


# Radii


FORMULAS = [
    terms.AbsoluteTerms(),
    terms.SquaredTerms(),
    terms.RootTerms(),
    terms.ThreeHalvesTerms(),
    terms.CubedTerms(),
    terms.FourthPowers(),
    terms.PowerTerms(0.01),
    terms.PowerTerms(2.7),
    terms.PowerTerms(300.0),
    terms.DifferingTerms(7.0),
    terms.KeptSquares(0.5),
    terms.ArcOfChord(1.0),
    terms.ArcOfChord(6371.0),
]


def finished(formula, reduced):
    try:
        return formula.finish(reduced)
    except OverflowError:
        return math.inf


@pytest.mark.parametrize("formula", FORMULAS, ids=repr)
def test_the_largest_reduced_distance_within_a_radius(formula):
    rng = np.random.default_rng(0)
    extremes = [
        0.0,
        -0.0,
        5e-324,
        1e-200,
        1e-162,
        0.5,
        1.0,
        math.pi,
        3.2,
        6371 * math.pi,
        1e100,
        1e200,
        1.7e308,
    ]
    for radius in [*extremes, *rng.exponential(size=20).tolist()]:
        bound = largest_reduced(formula, radius)
        assert finished(formula, bound) <= radius
        assert bound == math.inf or finished(formula, math.nextafter(bound, math.inf)) > radius
    assert largest_reduced(formula, math.inf) == math.inf
    assert largest_reduced(formula, -1.0) < 0


def test_a_radius_beyond_the_globe_reaches_everything():
    distance = Haversine()
    rows = distance.prepare([[0.0, 0.0], [0.0, math.pi], [1.0, 2.0]])
    assert_array_equal(counts_within(distance, rows, rows, math.pi), [3, 3, 3])
    assert_array_equal(counts_within(distance, rows, rows, 100.0), [3, 3, 3])


def test_radii_for_each_query_and_negative_ones():
    rows = Manhattan().prepare([[0.0], [1.0], [3.0]])
    assert_array_equal(counts_within(Manhattan(), rows, rows, [0.0, 1.0, 3.0]), [1, 2, 3])
    assert_array_equal(counts_within(Manhattan(), rows, rows, -1e-9), [0, 0, 0])


# Edges and bad input


def test_no_queries():
    rows = Manhattan().prepare(np.zeros((3, 2)))
    none = Manhattan().prepare(np.zeros((0, 2)))
    assert nearest(Manhattan(), none, rows, 2)[1].shape == (0, 2)
    assert nearest_one(Manhattan(), none, rows)[1].shape == (0,)
    assert sums(Manhattan(), none, rows).shape == (0,)
    assert counts_within(Manhattan(), none, rows, 1.0).shape == (0,)


def test_no_references():
    rows = Manhattan().prepare(np.zeros((3, 2)))
    none = Manhattan().prepare(np.zeros((0, 2)))
    for ask in (nearest, nearest_one):
        with pytest.raises(ValueError, match="There are no rows to search"):
            ask(Manhattan(), rows, none)
    assert_array_equal(sums(Manhattan(), rows, none), np.zeros(3))
    assert_array_equal(counts_within(Manhattan(), rows, none, 1.0), np.zeros(3))


@pytest.mark.parametrize("k", [0, -1, 4])
def test_k_beyond_the_rows_is_refused(k):
    rows = Manhattan().prepare(np.zeros((3, 2)))
    with pytest.raises(ValueError, match=f"k must be a whole number at least 1 and at most 3, not {k}"):
        nearest(Manhattan(), rows, rows, k)


def test_other_bad_input():
    rows = Manhattan().prepare(np.zeros((3, 2)))
    with pytest.raises(TypeError, match="k must be a whole number"):
        nearest(Manhattan(), rows, rows, 1.5)
    with pytest.raises(
        ValueError, match=r"one weight for each of 3 references, but weights have the shape \(2,\)"
    ):
        sums(Manhattan(), rows, rows, [1.0, 2.0])
    with pytest.raises(ValueError, match="radius must be a number, not NaN"):
        counts_within(Manhattan(), rows, rows, math.nan)
    with pytest.raises(ValueError, match=r"one for each of 3 rows, but has the shape \(2,\)"):
        counts_within(Manhattan(), rows, rows, [1.0, 2.0])


def test_cut_covers_everything_once():
    assert cut(0, 4) == []
    assert cut(8, 4) == [range(4), range(4, 8)]
    assert cut(9, 4) == [range(4), range(4, 8), range(8, 9)]


def test_the_formula_decides_even_where_products_fill_in_values():
    """On integers with many coordinates, reduced distances are exact, so ties stay ties."""
    X = np.random.default_rng(0).integers(0, 2, size=(40, 30)).astype(float)
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    for distance in (Euclidean(), Euclidean(squared=True), Elliptical(np.eye(30))):
        rows = distance.prepare(X)
        _, numbers = nearest(distance, rows, rows, 10)
        assert_array_equal(numbers, np.argsort(squares, axis=1, kind="stable")[:, :10])
