"""MetricTree: the rows that comparing with every row finds, for everything that has a metric."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from numpy.testing import assert_array_equal
from tests.properties.strategies import awkward_tables
from tests.search.every_row import check_answers, come_and_go

from bisector.distances import (
    LCS,
    Bishop,
    Chebyshev,
    Compiled,
    Cosine,
    DamerauLevenshtein,
    Euclidean,
    Gower,
    Haversine,
    Indel,
    Jaccard,
    King,
    Knight,
    Levenshtein,
    Manhattan,
    Minkowski,
    Pawn,
)
from bisector.search.index import Stats
from bisector.search.metric_tree import MetricTree

SHAPES = [{"branches": 2, "leaf_size": 1}, {"branches": 4, "leaf_size": 3}, {"branches": 30, "leaf_size": 5}]


def longest_side(x, y):
    """A metric as a user would write it."""
    largest = 0.0
    for j in range(len(x)):
        largest = max(largest, abs(x[j] - y[j]))
    return largest


def depth_in_tree(x, y):
    """The way from branch to branch of a tree whose branches are words: up to where they part, and down again."""
    common = 0
    while common < min(len(x), len(y)) and x[common] == y[common]:
        common += 1
    return len(x) + len(y) - 2 * common


def words(rng, n, letters="abc", longest=6):
    return ["".join(rng.choice(list(letters), size=rng.integers(0, longest + 1))) for _ in range(n)]


# By hand


def test_four_words():
    index = MetricTree(["apple", "maple", "plum", "cherry"], "levenshtein", branches=2, leaf_size=1)
    distances, numbers = index.query(["applet"], k=4)
    assert_array_equal(numbers, [[0, 1, 2, 3]])
    assert_array_equal(distances, [[1, 3, 4, 6]])


def test_a_far_cluster_is_passed_over():
    """Twenty rows at 0 and twenty at 100, of which each query sees one cluster and the pivot of the other."""
    X = np.repeat([[0.0], [100.0]], 20, axis=0) + np.arange(40)[:, None] / 1000
    index = MetricTree(X, branches=2, leaf_size=20)
    assert_array_equal(index.query([[0.0102]], k=1)[1], [[10]])
    # Straight to the nearest, then once more to see whether another is nearer: 2 pivots and 19 rows each time.
    assert index.stats.distances == 2 * (2 + 19)


# Against every row


@settings(max_examples=100)
@given(
    strings=st.lists(st.text("ab", max_size=5), min_size=1, max_size=50),
    queries=st.lists(st.text("abc", max_size=6), min_size=1, max_size=5),
    shape=st.sampled_from(SHAPES),
)
def test_strings_with_many_ties(strings, queries, shape):
    index = MetricTree(strings, "levenshtein", **shape)
    check_answers(index, strings, queries, ks={1, min(4, len(strings)), len(strings)}, shares=(0.0, 0.5))


@settings(max_examples=80)
@given(table=awkward_tables(max_rows=40), shape=st.sampled_from(SHAPES))
def test_awkward_tables(table, shape):
    """Tiny, huge, overflowing and vanishing differences; far from zero; all equal."""
    Q = np.concatenate([table[:2], table.mean(axis=0, keepdims=True)])
    check_answers(MetricTree(table, **shape), table, Q, ks={1, len(table)}, shares=(0.0, 0.5))


@pytest.mark.parametrize(
    "distance",
    [Levenshtein(), Levenshtein(weights=(2, 2, 3)), DamerauLevenshtein(), Indel(), LCS(normalised=True)],
    ids=repr,
)
def test_string_distances(distance):
    rng = np.random.default_rng(0)
    strings, queries = words(rng, 300), words(rng, 40, letters="abcd")
    for shape in SHAPES:
        check_answers(MetricTree(strings, distance, **shape), strings, queries, ks=(1, 5, 300))


@pytest.mark.parametrize(
    "distance",
    [
        Euclidean(),
        Cosine(angle=True),
        pytest.param(Euclidean(weights=[1.0, 0.0, 3.0]), marks=pytest.mark.slow),
        pytest.param(Manhattan(), marks=pytest.mark.slow),
        pytest.param(Chebyshev(), marks=pytest.mark.slow),
        pytest.param(Minkowski(3), marks=pytest.mark.slow),
    ],
    ids=repr,
)
def test_vectors(distance):
    rng = np.random.default_rng(1)
    for X in (rng.normal(size=(250, 3)), rng.integers(-1, 2, size=(250, 3)).astype(float)):
        Q = np.concatenate([X[:10], rng.normal(size=(10, 3))])
        for shape in SHAPES[1:]:
            check_answers(MetricTree(X, distance, **shape), X, Q, ks=(1, 6, 250))


def test_points_on_a_globe():
    rng = np.random.default_rng(2)
    X = np.column_stack([rng.uniform(-90, 90, 200), rng.uniform(-180, 180, 200)])
    index = MetricTree(X, Haversine(degrees=True), **SHAPES[1])
    check_answers(index, X, -X[:20], ks=(1, 5, 200))


def test_sets():
    rng = np.random.default_rng(3)
    sets = [set(rng.choice(8, size=rng.integers(0, 6), replace=False).tolist()) for _ in range(200)]
    check_answers(MetricTree(sets, Jaccard(), **SHAPES[1]), sets, sets[:20], ks=(1, 5, 200))


def test_mixed_rows():
    rng = np.random.default_rng(4)
    table = pd.DataFrame(
        {
            "size": rng.integers(0, 5, size=150) / 2,
            "colour": rng.choice(["red", "green", "blue"], size=150),
            "old": rng.random(150) < 0.3,
        }
    )
    check_answers(
        MetricTree(table, Gower(skip_missing=False), **SHAPES[1]), table, table[:15], ks=(1, 5, 150)
    )


@pytest.mark.parametrize("piece", [King(), Knight(), Bishop()], ids=repr)
def test_squares_that_a_piece_may_not_reach(piece):
    """A bishop never leaves its colour: what is infinitely far away comes last, by number."""
    squares = np.argwhere(np.ones((8, 8)))
    for shape in SHAPES:
        check_answers(MetricTree(squares, piece, **shape), squares, squares[::7], ks=(1, 9, 64))


def test_a_users_function():
    rng = np.random.default_rng(5)
    X = rng.integers(0, 9, size=(200, 2)).astype(float)
    check_answers(
        MetricTree(X, Compiled(longest_side, law="metric"), **SHAPES[1]), X, X[:20] + 0.5, ks=(1, 7)
    )


def test_a_users_function_of_objects():
    rng = np.random.default_rng(6)
    branches = [tuple(rng.integers(0, 2, size=rng.integers(0, 7)).tolist()) for _ in range(120)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it says that the function runs as Python
        index = MetricTree(branches, Compiled(depth_in_tree, law="metric"), **SHAPES[0])
        check_answers(index, branches, branches[:9], ks=(1, 5), shares=(0.2,))
        index.stats = Stats()
        index.query(branches[:9], 1)
    assert index.stats.share < 0.5


def test_infinite_values_that_only_overflowed():
    """Squares of differences above 1e154 are infinite: nothing follows from them."""
    X = np.concatenate([np.linspace(-2e154, 2e154, 60), np.linspace(-1.0, 1.0, 20)])[:, None]
    for shape in SHAPES:
        check_answers(MetricTree(X, "euclidean", **shape), X, X[::9] * 0.99, ks=(1, 30, 80))


def test_distances_with_large_rounding_errors():
    """Angles by arccos are wrong by 1e-8 near zero; nobody would see it, and nothing is lost."""

    def angle(x, y):
        product = min(1.0, x[0] * y[0] + x[1] * y[1])
        return np.arccos(product)

    turns = np.random.default_rng(7).uniform(0, 3, size=300)
    X = np.column_stack([np.cos(turns), np.sin(turns)])
    index = MetricTree(X, Compiled(angle, law="metric"), **SHAPES[1])
    check_answers(index, X, X[:40], ks=(1, 3, 20), shares=(0.1,))


def test_rows_come_and_go():
    rng = np.random.default_rng(8)
    for seed in range(6):
        strings = words(np.random.default_rng(seed), 60)
        come_and_go(
            lambda rows: MetricTree(rows, "levenshtein", **SHAPES[1]), strings, strings[:4] + ["b"], rng
        )


# What must not matter


def test_threads_do_not_matter():
    rng = np.random.default_rng(9)
    strings, queries = words(rng, 400), words(rng, 2500)
    index = MetricTree(strings, "levenshtein", **SHAPES[1])
    expected = index.query(queries, 4, n_jobs=1)
    for found, wanted in zip(index.query(queries, 4, n_jobs=2), expected, strict=True):
        assert_array_equal(found, wanted)


def test_it_pickles():
    strings = words(np.random.default_rng(10), 100)
    index = MetricTree(strings, "levenshtein", **SHAPES[1])
    again = pickle.loads(pickle.dumps(index))
    assert_array_equal(again.query(strings, 3)[1], index.query(strings, 3)[1])


# Edges


def test_one_row_and_no_queries():
    index = MetricTree(["word"], "levenshtein")
    assert_array_equal(index.query(["ward"])[0], [[1.0]])
    distances, numbers = index.query([], 1)
    assert distances.shape == numbers.shape == (0, 1)
    assert index.query_radius([], 1.0).shape == (0, 1)
    assert index.query_radius([], 1.0, count_only=True).shape == (0,)


def test_equal_rows():
    index = MetricTree(["same"] * 200, "levenshtein", **SHAPES[0])
    assert_array_equal(index.query(["same"], 4)[1], [[0, 1, 2, 3]])
    assert_array_equal(index.query_radius(["some"], 1.0, count_only=True), [200])


def test_rows_that_are_all_equally_far():
    """Every string differs from every other in its only letter: no pivot is better than another."""
    strings = [chr(200 + i) for i in range(300)]
    index = MetricTree(strings, "levenshtein", branches=4, leaf_size=10)
    check_answers(index, strings, strings[:5], ks=(1, 3))


# Refusals


@pytest.mark.parametrize(
    "distance", [Euclidean(squared=True), Cosine(), Levenshtein(normalised=True), Minkowski(0.5), Pawn()]
)
def test_what_is_no_metric_is_refused(distance):
    with pytest.raises(ValueError, match=r"MetricTree needs the triangle inequality.*use BruteForce"):
        MetricTree([[0.0]], distance)


def test_a_function_must_say_that_it_is_a_metric():
    with pytest.raises(ValueError, match=r'Compiled\(function, law="metric"\)'):
        MetricTree([[0.0]], longest_side)


@pytest.mark.parametrize("parameter", ["branches", "leaf_size"])
def test_parameters_are_checked(parameter):
    with pytest.raises(ValueError, match=f"{parameter} must be a whole number at least"):
        MetricTree([[0.0]], **{parameter: 0})
