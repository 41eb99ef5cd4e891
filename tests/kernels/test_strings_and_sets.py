"""Kernels on strings and sets."""

from collections import Counter

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, strategies as st

from bisector.kernels import Intersection, Spectrum


def common_runs(n, left, right):
    """Σ over all runs of n characters of the product of their counts, as the definition says."""
    counts = [Counter(word[i : i + n] for i in range(len(word) - n + 1)) for word in (left, right)]
    return sum(count * counts[1][run] for run, count in counts[0].items())


@given(st.lists(st.text("abc", max_size=12), min_size=1, max_size=8), st.integers(1, 4))
def test_spectrum_is_its_definition(words, n):
    expected = [[common_runs(n, x, y) for y in words] for x in words]
    np.testing.assert_array_equal(Spectrum(n).gram(words), expected)
    np.testing.assert_array_equal(Spectrum(n).gram(words[::2], words[1:]), np.array(expected)[::2, 1:])


@given(st.lists(st.sets(st.integers(0, 9)), min_size=1, max_size=8))
def test_intersection_is_its_definition(groups):
    expected = [[len(x & y) for y in groups] for x in groups]
    np.testing.assert_array_equal(Intersection().gram(groups), expected)
    np.testing.assert_array_equal(Intersection().diag(groups), [len(x) for x in groups])


def test_many_strings_in_many_tiles():
    rng = np.random.default_rng(3)
    words = ["".join(rng.choice(list("acgt"), size=rng.integers(0, 30))) for _ in range(700)]
    gram = Spectrum(3).gram(words)
    for i, j in rng.integers(0, 700, size=(200, 2)):
        assert gram[i, j] == common_runs(3, words[i], words[j])


def test_short_strings_and_empty_sets_have_nothing_in_common():
    assert Spectrum(3)("ab", "ab") == 0.0
    assert Spectrum(3)("", "") == 0.0
    assert Intersection()(set(), set()) == 0.0
    np.testing.assert_array_equal(Spectrum(9).gram(["abc", ""]), np.zeros((2, 2)))


def test_forms_of_strings():
    words = ["banana", "ananas"]
    expected = Spectrum(2).gram(words)
    for form in (tuple(words), np.array(words), np.array(words, dtype=object)):
        np.testing.assert_array_equal(Spectrum(2).gram(form), expected)


def test_strings_of_frames():
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    words = ["banana", "ananas"]
    for series in (pandas.Series(words), polars.Series(words)):
        np.testing.assert_array_equal(Spectrum(2).gram(series), Spectrum(2).gram(words))


def test_boolean_columns_are_elements():
    flags = np.array([[1, 1, 0, 1], [0, 1, 1, 1], [0, 0, 0, 0]], dtype=bool)
    groups = [set(np.flatnonzero(row).tolist()) for row in flags]
    expected = Intersection().gram(groups)
    np.testing.assert_array_equal(Intersection().gram(flags), expected)
    np.testing.assert_array_equal(Intersection().gram(scipy.sparse.csr_matrix(3 * flags)), expected)
    np.testing.assert_array_equal(Intersection().gram(flags[:1], flags), expected[:1])
    assert Intersection()(flags[0], flags[1]) == 2.0


def test_columns_must_be_the_same():
    with pytest.raises(ValueError, match="X has 2 columns, but the sets it is compared with have 3 elements"):
        Intersection().gram(np.ones((1, 2), bool), np.ones((1, 3), bool))


def test_a_single_string_is_no_list_of_strings():
    with pytest.raises(ValueError, match="X is one str: put it into a list"):
        Spectrum().gram("banana")
    with pytest.raises(ValueError, match="X is one set: put it into a list"):
        Intersection().gram({1, 2})


def test_rows_of_another_kind():
    with pytest.raises(ValueError, match=r"row 1 of X is 3: for rows of numbers take Linear"):
        Spectrum().gram(["abc", 3])
    with pytest.raises(ValueError, match=r"row 0 of Y is \[1, 2\]: make a set of it"):
        Intersection().gram([{1}], [[1, 2]])
    with pytest.raises(ValueError, match="X must be a sequence of rows, not 7"):
        Spectrum().gram(7)


@pytest.mark.parametrize("n", [0, -1])
def test_runs_have_a_length(n):
    with pytest.raises(ValueError, match="n must be a whole number at least 1"):
        Spectrum(n)
    with pytest.raises(TypeError, match="n must be a whole number"):
        Spectrum(2.5)
