"""StringIndex: the strings that comparing with every string finds, by bounds that letters give."""

import pickle
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.testing import assert_array_equal
from tests.search.every_row import check_answers, come_and_go, reduced_distances

from bisector.distances import (
    LCS,
    OSA,
    DamerauLevenshtein,
    Euclidean,
    Indel,
    Jaro,
    Levenshtein,
    Postfix,
    Prefix,
    StringHamming,
)
from bisector.search.spelling import Alphabet
from bisector.search.string_search import StringIndex, letter_bound

COUNTS = [
    Levenshtein(),
    Levenshtein(weights=(3, 3, 3)),
    Levenshtein(weights=(1, 2, 3)),
    Levenshtein(weights=(2, 2, 1)),
    OSA(),
    DamerauLevenshtein(),
    Indel(),
    pytest.param(LCS(), marks=pytest.mark.slow),
    StringHamming(),
    Prefix(),
    Postfix(),
]


def words(rng, n, letters="abc", longest=8):
    return ["".join(rng.choice(list(letters), size=rng.integers(0, longest + 1))) for _ in range(n)]


# By hand


def test_four_words():
    index = StringIndex(["apple", "maple", "plum", "cherry"])
    distances, numbers = index.query(["applet"], k=4)
    assert_array_equal(numbers, [[0, 1, 2, 3]])
    assert_array_equal(distances, [[1, 3, 4, 6]])
    found = index.query_radius(["apple"], 2.0)
    assert_array_equal(found.indices, [0, 1])
    assert_array_equal(found.data, [0, 2])


def test_words_without_common_letters_are_not_compared():
    index = StringIndex(["abcd"] * 10 + ["efgh"] * 1000)
    assert_array_equal(index.query(["abcf"], 3)[1], [[0, 1, 2]])
    assert index.stats.distances == 10


def test_anagrams_are_told_apart_by_their_neighbours():
    """They have the same letters; of the pairs of neighbours of one, the other has none."""
    index = StringIndex(["abcdefgh"] * 10 + ["hgfedcba"] * 1000)
    assert_array_equal(index.query(["abcdefgh"], 3)[1], [[0, 1, 2]])
    assert index.stats.distances == 10


# Against every string


@settings(max_examples=150)
@given(
    strings=st.lists(st.text("ab", max_size=7), min_size=1, max_size=80),
    queries=st.lists(st.text("abc", max_size=9), min_size=1, max_size=5),
)
def test_strings_with_many_ties(strings, queries):
    index = StringIndex(strings)
    check_answers(index, strings, queries, ks={1, min(4, len(strings)), len(strings)}, shares=(0.0, 0.5))


@pytest.mark.parametrize("distance", COUNTS, ids=repr)
def test_every_distance_that_counts_edits(distance):
    rng = np.random.default_rng(0)
    strings, queries = words(rng, 400), words(rng, 30, letters="abcd", longest=12)
    check_answers(StringIndex(strings, distance), strings, queries, ks=(1, 5, 400))


@pytest.mark.parametrize("distance", COUNTS, ids=repr)
def test_letters_never_bound_too_much(distance):
    """All strings of up to four of three letters: no bound exceeds a distance, and compiled distances are right."""
    strings = ["".join(word) for n in range(5) for word in product("abc", repeat=n)]
    index = StringIndex(strings, distance)
    reduced, _ = reduced_distances(distance, strings, strings)
    for limit in range(5):
        counts = index.query_radius(strings, float(limit), count_only=True)
        assert_array_equal(counts, (reduced <= limit).sum(axis=1))


@settings(max_examples=60)
@given(
    strings=st.lists(st.text(max_size=10), min_size=1, max_size=30),
    queries=st.lists(st.text(max_size=10), min_size=1, max_size=5),
)
def test_any_characters(strings, queries):
    check_answers(StringIndex(strings), strings, queries, ks=(1, len(strings)), shares=(0.3,))


@pytest.mark.parametrize("distance", [Levenshtein(), OSA(), Indel()], ids=repr)
def test_long_strings(distance):
    """Queries of up to 62 letters are compared by bits, longer ones one by one; strings may be of any length."""
    rng = np.random.default_rng(1)
    strings = words(rng, 60, letters="abcdefgh", longest=300)
    strings += [strings[i][: 55 + i] for i in range(20)]
    queries = [string[:-1] + "x" for string in strings[60:]] + ["a" * 61, "a" * 62, "a" * 63, "b" * 400]
    check_answers(StringIndex(strings, distance), strings, queries, ks=(1, 3, 80))


def test_lengths_beyond_the_largest_bound():
    strings = ["a" * n for n in (0, 1, 253, 254, 255, 256, 600)]
    check_answers(StringIndex(strings), strings, ["", "a", "b" * 30, "a" * 300], ks=(1, 4, 7))


def test_more_letters_than_bits():
    rng = np.random.default_rng(2)
    letters = "".join(map(chr, range(0x4E00, 0x4E00 + 3000)))
    strings = words(rng, 300, letters=letters, longest=6)
    queries = [string[:2] + string[3:] for string in strings[:30]]
    check_answers(StringIndex(strings), strings, queries, ks=(1, 4))


def test_lists_of_tokens():
    rng = np.random.default_rng(3)
    vocabulary = ["to", "be", "or", "not", "that", "is", "the", "question"]
    sentences = [rng.choice(vocabulary, size=rng.integers(1, 7)).tolist() for _ in range(150)]
    queries = [*sentences[:10], ["to", "sleep"], []]
    check_answers(StringIndex(sentences), sentences, queries, ks=(1, 5))


@pytest.mark.parametrize("distance", [Levenshtein(), DamerauLevenshtein()], ids=repr)
def test_strings_come_and_go(distance):
    rng = np.random.default_rng(4)
    for seed in range(5):
        strings = words(np.random.default_rng(seed), 60)
        come_and_go(lambda rows: StringIndex(rows, distance), strings, strings[:4] + ["d" * 70], rng)


def test_tokens_come_and_go():
    rng = np.random.default_rng(5)
    sentences = [[f"t{i}" for i in rng.integers(0, 30, size=4)] for _ in range(40)]
    come_and_go(StringIndex, sentences, [*sentences[:3], ["new", "t1"]], rng)


# What must not matter


def test_threads_do_not_matter():
    rng = np.random.default_rng(6)
    strings, queries = words(rng, 500), words(rng, 200)
    index = StringIndex(strings)
    expected = index.query(queries, 4, n_jobs=1)
    cost = index.stats.distances
    for found, wanted in zip(index.query(queries, 4, n_jobs=2), expected, strict=True):
        assert_array_equal(found, wanted)
    assert index.stats.distances == 2 * cost


@pytest.mark.parametrize("distance", [Levenshtein(), Prefix()], ids=repr)
def test_it_pickles(distance):
    strings = words(np.random.default_rng(7), 100)
    index = StringIndex(strings, distance)
    again = pickle.loads(pickle.dumps(index))
    assert_array_equal(again.query(strings, 3)[1], index.query(strings, 3)[1])


# The alphabet


def test_the_bits_are_those_that_tell_strings_apart():
    """Every string has an a, half of them a b: only the b, and whether there are two letters, says anything."""
    alphabet = Alphabet(["a", "ab"] * 10)
    counted = alphabet.spell(["a", "ab", "b", "xyz"])
    assert_array_equal(counted.counted & 1, [0, 1, 1, 0])
    assert_array_equal(counted.strange, [0, 0, 0, 3])


# Edges


def test_only_empty_strings():
    index = StringIndex(["", "", ""])
    assert_array_equal(index.query(["", "abc"], 2)[1], [[0, 1], [0, 1]])
    assert_array_equal(index.query(["", "abc"], 3)[0], [[0, 0, 0], [3, 3, 3]])


def test_no_queries():
    index = StringIndex(["a", "b"])
    distances, numbers = index.query([], 2)
    assert distances.shape == numbers.shape == (0, 2)
    assert index.query_radius([], 1.0).shape == (0, 2)
    assert index.query_radius([], 1.0, count_only=True).shape == (0,)


def test_a_radius_that_is_infinite_or_no_whole_number():
    strings = words(np.random.default_rng(8), 50)
    index = StringIndex(strings)
    assert_array_equal(index.query_radius(["abc"], np.inf, count_only=True), [50])
    counts = [index.query_radius(["abc"], radius, count_only=True)[0] for radius in (2.0, 2.5, 2.999)]
    assert counts[0] == counts[1] == counts[2]


# Refusals


@pytest.mark.parametrize(
    "distance", [Jaro(), Levenshtein(normalised=True), Levenshtein(weights=(1, 1, 0))], ids=repr
)
def test_distances_that_letters_do_not_bound_are_refused(distance):
    assert letter_bound(distance) is None
    with pytest.raises(ValueError, match=r"Letters do not bound .*: use BruteForce"):
        StringIndex(["a"], distance)


def test_numbers_are_refused():
    with pytest.raises(ValueError, match=r"StringIndex compares strings, which Euclidean\(\) does not"):
        StringIndex([[1.0]], Euclidean())
