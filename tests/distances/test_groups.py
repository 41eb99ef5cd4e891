"""Sums of distances by group, and the means and scatters of groups, against all distances at once."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from tests.distances.vector_distances import EVERY, rows_for

from bisector.distances import Euclidean, Levenshtein, Precomputed, groups as module
from bisector.distances.group_centres import Groups, Squares, centres_of, squares_of
from bisector.distances.groups import exemplar_distances, group_sums
from bisector.distances.numeric_rows import numeric_rows
from bisector.distances.reductions import all_distances

each = pytest.mark.parametrize("distance", EVERY, ids=repr)
SQUARED = Euclidean(squared=True)


def drawn(n, k, rng, weights=None):
    codes = rng.permutation(np.arange(n) % k)
    return Groups(codes, np.ones(n) if weights is None else np.asarray(weights, float), k)


def held(function, distance, rows, third, **options):
    """The sums that a function hands to its visitor, put together."""
    table = None

    def visit(numbers, sums):
        nonlocal table
        table = np.full((len(sums), len(rows)), np.nan) if table is None else table
        assert np.isnan(table[:, numbers]).all(), "a row is handed on once"
        table[:, numbers] = sums

    function(distance, rows, third, visit, n_jobs=1, **options)
    return table


def by_hand(distance, rows, groups):
    matrix = all_distances(distance, rows).astype(float)
    np.fill_diagonal(matrix, 0.0)
    memberships = np.eye(groups.n_groups)[groups.codes] * groups.weights[:, None]
    return (matrix @ memberships).T


@each
def test_sums_are_those_of_all_distances(distance):
    rng = np.random.default_rng(0)
    X = rows_for(distance, 23, rng)
    distance = distance.learned(X)
    rows = distance.prepare(X)
    for weights in (None, rng.integers(0, 3, 23), rng.random(23)):
        groups = drawn(23, 4, rng, weights)
        found, expected = held(group_sums, distance, rows, groups), by_hand(distance, rows, groups)
        assert_allclose(found, expected, rtol=1e-10, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("n", [1, 2, 5, 6, 7, 40, 101])
def test_strips_meet_once(n, monkeypatch):
    """However rows are cut into strips and tiles."""
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 3))
    distance = Euclidean()
    rows, groups = distance.prepare(X), drawn(n, min(n, 3), rng, rng.random(n) + 0.1)
    monkeypatch.setattr(module, "_STRIP", 6)
    monkeypatch.setattr(module, "_MOST_STRIPS", 1000)
    monkeypatch.setattr(module, "_TILE", (2, 4))
    monkeypatch.setattr(module, "_BLOCK", 7)
    assert_allclose(held(group_sums, distance, rows, groups), by_hand(distance, rows, groups), rtol=1e-12)


@pytest.mark.parametrize("n", range(1, 12))
def test_in_a_round_nobody_plays_twice_and_in_all_everybody_meets(n):
    rounds = list(module._rounds(n))
    for matches in rounds:
        teams = [team for match in matches for team in match]
        assert len(teams) == len(set(teams))
    met = [frozenset(match) for matches in rounds for match in matches]
    assert len(met) == len(set(met)) == n * (n - 1) // 2
    assert all(len(match) == 2 and max(match) < n for match in met)


def test_many_groups_are_summed_without_a_table(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    rows, groups = Euclidean().prepare(X), drawn(60, 30, rng)
    both = held(group_sums, Euclidean(), rows, groups)
    monkeypatch.setattr(module, "_TABLE_BYTES", 0)
    assert_allclose(held(group_sums, Euclidean(), rows, groups), both, rtol=1e-13)


@pytest.mark.parametrize("distance", [Euclidean(), SQUARED], ids=repr)
def test_threads_change_no_bit(distance, monkeypatch):
    monkeypatch.setattr(module, "_STRIP", 16)
    rng = np.random.default_rng(0)
    rows, groups = distance.prepare(rng.normal(size=(200, 3))), drawn(200, 5, rng)
    tables = []
    for n_jobs in (1, 2, 5):
        table = np.empty((5, 200))

        def visit(numbers, sums, table=table):
            table[:, numbers] = sums

        group_sums(distance, rows, groups, visit, n_jobs=n_jobs)
        tables.append(table)
    assert_array_equal(tables[0], tables[1])
    assert_array_equal(tables[0], tables[2])


def test_distances_from_a_row_count_when_there_are_two_ways():
    rng = np.random.default_rng(0)
    matrix = rng.random((12, 12))
    groups = drawn(12, 3, rng)
    rows = Precomputed().prepare(matrix)
    assert_allclose(held(group_sums, Precomputed(), rows, groups), by_hand(Precomputed(), rows, groups))


def test_words_have_sums_too():
    words = ["a", "ab", "abc", "xyz", "xy", ""]
    rows, groups = Levenshtein().prepare(words), drawn(6, 2, np.random.default_rng(0))
    assert_array_equal(held(group_sums, Levenshtein(), rows, groups), by_hand(Levenshtein(), rows, groups))


def test_rows_without_weight_may_be_infinitely_far():
    matrix = np.array([[0.0, 1.0, np.inf], [1.0, 0.0, np.inf], [np.inf, np.inf, 0.0]])
    groups = Groups(np.array([0, 0, 0]), np.array([1.0, 1.0, 0.0]), 1)
    assert_array_equal(
        held(group_sums, Precomputed(), Precomputed().prepare(matrix), groups)[0], [1, 1, np.inf]
    )


@each
def test_exemplars_are_compared_with_every_row(distance):
    rng = np.random.default_rng(0)
    X = rows_for(distance, 9, rng)
    distance = distance.learned(X)
    rows = distance.prepare(X)
    exemplars = rows.take(np.array([2, 5]))
    assert_allclose(
        held(exemplar_distances, distance, rows, exemplars),
        all_distances(distance, rows, exemplars).T,
        rtol=1e-10,
    )


# Means and scatters


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_centres_are_means_and_scatters(dtype, form):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 4)).astype(dtype)
    weights = rng.integers(0, 3, 50).astype(float)
    groups = drawn(50, 3, rng, weights)
    found = centres_of(Squares(numeric_rows(form(X), None, "X"), np.ones(4)), groups)
    for g in range(3):
        own = np.repeat(X[groups.codes == g], weights[groups.codes == g].astype(int), axis=0).astype(float)
        assert found.sizes[g] == len(own)
        assert_allclose(found.means[g] + found.rests[g], own.mean(axis=0), rtol=1e-12)
        assert_allclose(found.scatters[g], len(own) * own.var(axis=0).sum(), rtol=1e-12)


def test_far_from_zero_squares_keep_their_digits():
    """Two clusters close to each other at 1e8 and one at −1e8: no common origin is near to all."""
    rng = np.random.default_rng(0)
    near = rng.integers(-8, 8, size=(30, 2)) / 8  # with the offset, still exact numbers
    offsets = np.repeat([[1e8, 1e8], [1e8 + 3, 1e8], [-1e8, 0.0]], 10, axis=0)
    rows = SQUARED.prepare(near + offsets)
    groups = Groups(np.repeat([0, 1, 2], 10), np.ones(30), 3)
    found = held(group_sums, SQUARED, rows, groups)
    differences = (near + offsets)[:20, None] - (near + offsets)[None, :20]
    exact = (differences**2).sum(axis=2)
    assert_allclose(found[0, :20], exact[:, :10].sum(axis=1), rtol=1e-13)
    assert_allclose(found[1, :20], exact[:, 10:].sum(axis=1), rtol=1e-13)


def test_only_sums_of_squares_have_the_closed_form():
    X = np.random.default_rng(0).normal(size=(5, 3))
    scales = {
        distance: squares_of(distance, distance.prepare(X))
        for distance in (SQUARED, Euclidean([1, 2, 3], squared=True), Euclidean())
    }
    (plain, weighted, rooted) = scales.values()
    assert_array_equal(plain.scales, 1)
    assert_array_equal(weighted.scales, [1, 2, 3])
    assert rooted is None
    assert squares_of(Precomputed(), Precomputed().prepare(np.zeros((2, 2)))) is None
