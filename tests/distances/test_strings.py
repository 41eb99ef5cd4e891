"""Distances between strings: against the textbook's recursion, and what each says of itself."""

import itertools
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given as drawn, settings, strategies as st
from sklearn.base import clone

from bisector.distances import reductions
from bisector.distances.strings import (
    LCS,
    OSA,
    DamerauLevenshtein,
    Indel,
    Jaro,
    JaroWinkler,
    Levenshtein,
    Postfix,
    Prefix,
    StringHamming,
)

COUNTED = (Levenshtein, OSA, DamerauLevenshtein, Indel, LCS, StringHamming, Prefix, Postfix)
DISTANCES = [
    *(made(normalised=share) for made in COUNTED for share in (False, True)),
    Jaro(),
    JaroWinkler(),
    JaroWinkler(0.25),
    Levenshtein(weights=(1, 1, 2)),
    Levenshtein(weights=(2, 2, 1)),
    Levenshtein(weights=(3, 3, 7), normalised=True),
    Levenshtein(weights=(1, 1, 0)),
    Levenshtein(weights=(1, 1, 0), normalised=True),
    Levenshtein(weights=(1, 2, 1)),
    Levenshtein(weights=(3, 0, 2)),
    Levenshtein(weights=(1, 2, 1), normalised=True),
    Levenshtein(weights=(0, 2, 1), normalised=True),
]
each_distance = pytest.mark.parametrize("d", DISTANCES, ids=repr)

# All strings of up to four letters out of three.
SHORT = ["".join(letters) for length in range(5) for letters in itertools.product("abc", repeat=length)]
words = st.lists(st.text("abcd", max_size=9), min_size=1, max_size=8)


def by_recursion(x, y, insertion, deletion, substitution):
    """The cheapest way from x to y, prefix by prefix."""
    best = {(i, 0): i * deletion for i in range(len(x) + 1)}
    best |= {(0, j): j * insertion for j in range(len(y) + 1)}
    for i, j in itertools.product(range(1, len(x) + 1), range(1, len(y) + 1)):
        best[i, j] = min(
            best[i - 1, j] + deletion,
            best[i, j - 1] + insertion,
            best[i - 1, j - 1] + (substitution if x[i - 1] != y[j - 1] else 0),
        )
    return best[len(x), len(y)]


def longest_common(x, y):
    """The length of the longest common subsequence: what deleting and inserting leaves."""
    return (len(x) + len(y) - by_recursion(x, y, 1, 1, 2)) // 2


def common_start(x, y):
    return next((i for i, (a, b) in enumerate(zip(x, y, strict=False)) if a != b), min(len(x), len(y)))


def largest(x, y):
    return max(len(x), len(y))


BY_DEFINITION = {
    Levenshtein: (lambda x, y: by_recursion(x, y, 1, 1, 1), largest),
    Indel: (lambda x, y: by_recursion(x, y, 1, 1, 2), lambda x, y: len(x) + len(y)),
    LCS: (lambda x, y: largest(x, y) - longest_common(x, y), largest),
    StringHamming: (lambda x, y: sum(a != b for a, b in itertools.zip_longest(x, y)), largest),
    Prefix: (lambda x, y: largest(x, y) - common_start(x, y), largest),
    Postfix: (lambda x, y: largest(x, y) - common_start(x[::-1], y[::-1]), largest),
}


# By hand


def test_by_hand():
    assert Levenshtein()("kitten", "sitting") == 3
    assert Levenshtein(normalised=True)("kitten", "sitting") == 3 / 7
    assert Levenshtein(weights=(1, 2, 5))("ab", "bcd") == 4  # delete a, insert c and d
    assert Levenshtein(weights=(1, 2, 5))("bcd", "ab") == 5
    assert OSA()("ab", "ba") == DamerauLevenshtein()("ab", "ba") == 1
    assert OSA()("ca", "abc") == 3
    assert DamerauLevenshtein()("ca", "abc") == 2
    assert Indel()("ab", "ba") == 2
    assert LCS()("abcde", "axcye") == 2
    assert StringHamming()("abc", "abdef") == 3
    assert Prefix()("abcd", "abx") == 2
    assert Postfix()("dcba", "xba") == 2
    # Published with the measures: MARTHA and MARHTA match in all but one transposition.
    assert Jaro()("MARTHA", "MARHTA") == pytest.approx(1 - 17 / 18, rel=1e-15)
    assert JaroWinkler()("MARTHA", "MARHTA") == pytest.approx((1 - 17 / 18) * 0.7, rel=1e-15)
    assert JaroWinkler(0.0)("MARTHA", "MARHTA") == Jaro()("MARTHA", "MARHTA")


@pytest.mark.parametrize("made", COUNTED)
def test_the_empty_string(made):
    longest = 3.0
    assert made()("", "abc") == made()("abc", "") == longest
    assert made()("", "") == made(normalised=True)("", "") == 0
    assert made(normalised=True)("", "abc") == 1
    assert made().pairwise(["", "abc", ""]).tolist() == [
        [0, longest, 0],
        [longest, 0, longest],
        [0, longest, 0],
    ]


def test_the_empty_string_matches_nothing_but_itself():
    for d in (Jaro(), JaroWinkler()):
        assert d("", "") == 0
        assert d("", "abc") == d("abc", "") == 1


# Against the definitions


@pytest.mark.parametrize("made", BY_DEFINITION)
@settings(max_examples=25)
@drawn(words, words)
def test_by_definition(made, X, Y):
    count, most = BY_DEFINITION[made]
    counts = [[count(x, y) for y in Y] for x in X]
    shares = [[count(x, y) / max(most(x, y), 1) for y in Y] for x in X]
    np.testing.assert_array_equal(made().pairwise(X, Y), counts)
    np.testing.assert_array_equal(made(normalised=True).pairwise(X, Y), shares)


@settings(max_examples=60)
@drawn(words, words, st.tuples(st.integers(0, 4), st.integers(1, 4), st.integers(0, 9)))
def test_weights_are_costs_on_the_way_from_x_to_y(X, Y, weights):
    expected = [[by_recursion(x, y, *weights) for y in Y] for x in X]
    np.testing.assert_array_equal(Levenshtein(weights=weights).pairwise(X, Y), expected)


@each_distance
def test_one_pair_is_computed_as_many_are(d):
    rng = np.random.default_rng(0)
    X = ["".join(rng.choice(list("abcde"), rng.integers(0, 150))) for _ in range(40)]
    X += ["Straße", "naïve", "日本語", "\U0001f600a"]
    distances = d.pairwise(X)
    assert distances.dtype == np.float64
    np.testing.assert_array_equal(distances, [[d(x, y) for y in X] for x in X])


# Laws


def verdict(distances):
    """Which axioms hold among distances of different rows, up to the rounding of three shares."""
    apart = ~np.eye(len(distances), dtype=bool)
    assert (distances >= 0).all()
    assert (np.diag(distances) == 0).all()
    through = np.array([(distances + from_here).min(axis=1) for from_here in distances])
    if (distances != distances.T).any() or (through < distances - 4 * np.finfo(np.float64).eps).any():
        return "none"
    return "metric" if (distances[apart] > 0).all() else "pseudo-metric"


@each_distance
def test_its_law_is_what_all_short_strings_show(d):
    distances = d.pairwise(SHORT, list(SHORT))
    assert d.law == verdict(distances)
    assert d.symmetric == (distances == distances.T).all()


def test_the_witnesses_named_in_the_documentation():
    share = Levenshtein(normalised=True)
    assert share("ab", "ba") == 1
    assert share("ab", "aba") == share("aba", "ba") == 1 / 3
    assert OSA()("ba", "acb") == 3
    assert OSA()("ba", "ab") == OSA()("ab", "acb") == 1
    share = DamerauLevenshtein(normalised=True)
    assert share("ab", "bc") == 1
    assert share("ab", "abc") == share("abc", "bc") == 1 / 3
    share = Indel(normalised=True)
    assert share("a", "b") == 1
    assert share("a", "ab") == share("ab", "b") == 1 / 3
    assert Jaro()("aba", "bab") == 1
    assert Jaro()("aba", "abab") == pytest.approx(1 / 12, rel=1e-14)
    assert Jaro()("abab", "bab") == pytest.approx(7 / 36, rel=1e-14)


@each_distance
@settings(max_examples=20)
@drawn(words)
def test_its_law_holds_for_longer_strings(d, X):
    distances = d.pairwise(X, list(X))
    np.testing.assert_array_equal(np.diag(distances), 0)
    if d.symmetric:
        np.testing.assert_array_equal(distances, distances.T)
    if d.law == "metric":
        np.testing.assert_array_equal(distances == 0, [[x == y for y in X] for x in X])
    if d.law != "none":
        detours = distances[:, :, None] + distances[None]
        assert (distances[:, None, :] <= detours + 4 * np.finfo(np.float64).eps).all()


# What models ask


@each_distance
def test_reductions_agree_with_all_distances(d):
    rng = np.random.default_rng(1)
    X, Y = (["".join(rng.choice(list("ab"), rng.integers(0, 6))) for _ in range(n)] for n in (600, 30))
    references = d.prepare(X)
    queries = d.prepare(Y, like=references)
    distances = d.pairwise(Y, X)
    order = np.argsort(distances, axis=1, kind="stable")[:, :9]
    found, numbers = reductions.nearest(d, queries, references, 9)
    np.testing.assert_array_equal(numbers, order)
    np.testing.assert_array_equal(found, np.take_along_axis(distances, order, axis=1))
    np.testing.assert_array_equal(reductions.nearest_one(d, queries, references)[1], order[:, 0])
    np.testing.assert_allclose(reductions.sums(d, queries, references), distances.sum(axis=1), rtol=1e-12)
    counts = reductions.counts_within(d, queries, references, distances[:, 7])
    np.testing.assert_array_equal(counts, (distances <= distances[:, [7]]).sum(axis=1))


@pytest.mark.parametrize("d", [Levenshtein(), Levenshtein(weights=(1, 3, 2)), Jaro()], ids=repr)
@pytest.mark.parametrize("length", [5, 600])
def test_tiles_do_not_matter(d, length):
    rng = np.random.default_rng(2)
    rows = d.prepare(["".join(rng.choice(list("abc"), rng.integers(0, length))) for _ in range(20)])
    for flipped in (False, True):
        pairs = d.between(rows, rows, flipped=flipped)
        whole, pieces = np.empty((20, 20)), np.empty((20, 20))
        pairs.fill(range(20), range(20), whole)
        for outer in reductions.cut(20, 3):
            for inner in reductions.cut(20, 7):
                pairs.write(outer, inner, pieces, outer.start, inner.start)
        np.testing.assert_array_equal(pieces, whole)
        expected = reductions.all_distances(d, rows, n_jobs=1)
        np.testing.assert_array_equal(whole, expected.T if flipped else expected)


def test_what_is_not_symmetric_is_computed_both_ways():
    d = Levenshtein(weights=(1, 5, 9))
    assert not d.symmetric
    np.testing.assert_array_equal(d.pairwise(["", "a", "bb"]), [[0, 1, 2], [5, 0, 7], [10, 11, 0]])
    found, numbers = reductions.nearest(d, d.prepare(["a"]), d.prepare(["", "abcd"]))
    assert found.tolist() == [[3]]
    assert numbers.tolist() == [[1]]


def test_rows_can_be_taken_and_joined():
    d = Levenshtein()
    rows = d.prepare(["a", "abc"])
    more = rows.joined([d.prepare(["b"], like=rows), d.prepare(["", "c"], like=rows)])
    assert len(more) == 5
    taken = more.take(np.array([4, 0, 1]))
    np.testing.assert_array_equal(reductions.all_distances(d, taken), [[0, 1, 2], [1, 0, 2], [2, 2, 0]])


def test_no_rows():
    assert Levenshtein().pairwise([]).shape == (0, 0)
    assert Levenshtein().pairwise(["a"], []).shape == (1, 0)


# Forms of input


@pytest.mark.parametrize(
    "form",
    [
        list, tuple, iter, np.array, pd.Series, pl.Series, pa.array, pd.Index,
        lambda X: np.array(X, dtype=object),
        lambda X: np.array([np.str_(x) for x in X], dtype=object),
        lambda X: pd.Series(X, dtype="category"),
        lambda X: pd.Series(X, dtype="string"),
        lambda X: pl.Series(X, dtype=pl.Categorical),
        lambda X: pa.chunked_array([X[:1], X[1:]]),
        lambda X: np.array(X, dtype=np.dtypes.StringDType()) if hasattr(np.dtypes, "StringDType") else X,
    ],
)  # fmt: skip
def test_forms(form):
    X = ["abc", "", "ab", "abc"]
    expected = [[0, 3, 1, 0], [3, 0, 2, 3], [1, 2, 0, 1], [0, 3, 1, 0]]
    np.testing.assert_array_equal(Levenshtein().pairwise(form(X)), expected)
    np.testing.assert_array_equal(Levenshtein().pairwise(X, form(X)), expected)


TOKENS = [["to", "be", "or", "not", "to", "be"], ["not", "to", "be"], [], ["be", "to"]]


@pytest.mark.parametrize(
    "form",
    [
        list,
        lambda X: [tuple(x) for x in X],
        lambda X: [np.array(x) for x in X],
        pd.Series,
        lambda X: pl.Series(X, dtype=pl.List(pl.String)),
        pa.array,
    ],
)
def test_sequences_of_tokens(form):
    expected = [[0, 3, 6, 4], [3, 0, 3, 2], [6, 3, 0, 2], [4, 2, 2, 0]]
    np.testing.assert_array_equal(Levenshtein().pairwise(form(TOKENS)), expected)
    np.testing.assert_array_equal(Levenshtein().pairwise(form(TOKENS)[:2], form(TOKENS)), expected[:2])


def test_tokens_are_told_apart_even_when_their_hashes_are_equal():
    assert hash(-1) == hash(-2)
    assert Levenshtein()([-1, "a"], [-2, "a"]) == 1
    assert Levenshtein()([1, 2, 3], (1.0, 2.0, 3.0)) == 0, "equal things are one token"


def test_many_tokens():
    """More than fit below the characters that Unicode sets aside for pairs of others."""
    one = list(range(60_000))
    assert Levenshtein().pairwise([one, [*one[:55_296], -5, *one[55_297:]]])[0, 1] == 1
    assert Prefix()(one, one[:59_000]) == 1000


def test_tokens_that_no_reference_has():
    d = Levenshtein()
    references = d.prepare([["a", "b"]])
    one = d.prepare([["a", "x"], ["y"]], like=references)
    two = d.prepare([["y"], ["x"]], like=references)
    np.testing.assert_array_equal(reductions.all_distances(d, one, references), [[1], [2]])
    np.testing.assert_array_equal(reductions.all_distances(d, one, two), [[2, 1], [0, 1]])
    rows = references.joined([one, two])
    np.testing.assert_array_equal(
        reductions.all_distances(d, rows.take(np.array([2])), rows), [[2, 2, 0, 0, 1]]
    )
    copies = pickle.loads(pickle.dumps(one)), pickle.loads(pickle.dumps(two))
    np.testing.assert_array_equal(reductions.all_distances(d, *copies), [[2, 1], [0, 1]])


# Values


@each_distance
def test_it_is_a_value(d):
    again = type(d)(**d.get_params())
    assert again == d
    assert hash(again) == hash(d)
    assert pickle.loads(pickle.dumps(d)) == d
    assert clone(d) is d
    assert eval(repr(d)) == d
    assert d.set_params(**d.get_params()) == d


def test_parameters():
    assert (
        repr(Levenshtein(normalised=True, weights=[1, 1, np.int64(2)]))
        == "Levenshtein(normalised=True, weights=(1, 1, 2))"
    )
    assert Levenshtein().set_params(weights=(1, 1, 2)) == Levenshtein(weights=(1, 1, 2)) != Levenshtein()
    assert Levenshtein() != Indel()
    assert JaroWinkler() == JaroWinkler(0.1)
    names = [name for made in (*COUNTED, Jaro, JaroWinkler) for name in made.names]
    assert len(names) == len(set(names)) == 10


def test_rapidfuzz_is_imported_only_when_it_is_needed():
    code = (
        "import sys; from bisector.distances.strings import Levenshtein; d = Levenshtein(); print(d, d.law); "
        "print(sorted({'rapidfuzz', 'numba', 'pandas', 'sklearn'} & set(sys.modules)))"
    )
    said = subprocess.check_output([sys.executable, "-c", code], text=True).splitlines()
    assert said == ["Levenshtein() metric", "[]"]


# Bad input


@pytest.mark.parametrize(
    ("X", "kind", "message"),
    [
        (["a", None], ValueError, r"Row 1 of X is missing \(None\): fill it"),
        (["a", float("nan")], ValueError, r"Row 1 of X is missing \(nan\)"),
        (pd.Series(["a", None, "b"]), ValueError, "Row 1 of X is missing"),
        (pd.Series(["a", pd.NA], dtype="string"), ValueError, "Row 1 of X is missing"),
        (pl.Series(["a", None]), ValueError, "Row 1 of X is missing"),
        (pa.array(["a", None]), ValueError, "Row 1 of X is missing"),
        ([["a"], None], ValueError, "Row 1 of X is missing"),
        ([["a"], ["b", None]], ValueError, "Row 1 of X holds None, which stands for a missing value"),
        ([1.5, 2.5], TypeError, r"Row 0 of X is 1\.5, but this distance compares strings: for numbers"),
        (np.eye(2), TypeError, "X holds numbers, but this distance compares strings: for numbers take Euclidean"),
        (["a", 3], TypeError, "Row 1 of X is 3, but this distance compares strings"),
        (["a", b"b"], TypeError, "Row 1 of X holds bytes: decode"),
        (["a", {"b"}], TypeError, "Row 1 of X is {'b'}, .* for sets Jaccard"),
        (["a", ["b"]], TypeError, "Row 1 of X is a sequence, but others are strings"),
        ([["a"], "b"], TypeError, "Row 1 of X is 'b', but others are sequences of tokens"),
        ([["a", ["b"]]], TypeError, "Row 0 of X holds something that cannot be hashed"),
        ("ab", TypeError, "X is one str: put rows into a list"),
        (pd.DataFrame({"a": ["b"]}), TypeError, "X is a frame: pass one of its columns"),
        (np.array([["a", "b"]]), ValueError, r"X must have one dimension, but has the shape \(1, 2\)"),
        (7, TypeError, "X must be a sequence of rows, not 7"),
    ],
)  # fmt: skip
def test_bad_rows(X, kind, message):
    with pytest.raises(kind, match=message):
        Levenshtein().pairwise(X)


def test_rows_that_do_not_fit_together():
    d = Levenshtein()
    with pytest.raises(TypeError, match="Row 0 of X is a sequence, but others are strings"):
        d.pairwise([["a"]], ["a"])
    with pytest.raises(TypeError, match="Row 0 of x is 'a', but others are sequences of tokens"):
        d("a", ["a"])
    with pytest.raises(ValueError, match="Strings cannot be compared with sequences of tokens"):
        d.between(d.prepare(["a"]), d.prepare([["a"]]))
    with pytest.raises(ValueError, match="Row 0 of y is missing"):
        d("a", None)


@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (lambda: Levenshtein("yes"), ValueError, "normalised must be True or False"),
        (lambda: Levenshtein(weights=(1, 1)), ValueError, "three whole numbers"),
        (lambda: Levenshtein(weights=2), TypeError, "three whole numbers"),
        (lambda: Levenshtein(weights=(1, 1, 0.5)), ValueError, "multiply them all to make them whole"),
        (lambda: Levenshtein(weights=(True, 1, 1)), ValueError, "three whole numbers"),
        (lambda: Levenshtein(weights=(1, -1, 1)), ValueError, "from 0 to 2147483647"),
        (lambda: Levenshtein(weights=(0, 0, 1)), ValueError, "inserting and deleting free"),
        (lambda: JaroWinkler(0.3), ValueError, r"at most 0\.25"),
        (lambda: JaroWinkler(-0.1), ValueError, "at least 0"),
        (lambda: JaroWinkler("a"), TypeError, "prefix_weight must be a number"),
    ],
)
def test_bad_parameters(make, kind, message):
    with pytest.raises(kind, match=message):
        make()
