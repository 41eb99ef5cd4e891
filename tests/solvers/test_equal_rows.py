import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from bisector.solvers.equal_rows import first_equals, seem_to_repeat


def firsts_of(rows):
    """The number of the first equal row, from a dictionary of rows."""
    seen = {}
    return [seen.setdefault(tuple(row), i) for i, row in enumerate(rows.tolist())]


def test_by_hand():
    rows = np.array([[0.0, 1.0], [1.0, 0.0], [-0.0, 1.0], [1.0, 0.0], [0.0, 2.0]])
    np.testing.assert_array_equal(first_equals(rows), [0, 1, 0, 1, 4])  # 0 and −0 are one number


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 400), st.integers(1, 6), st.integers(1, 30), st.integers(0, 10**6))
def test_as_a_dictionary_says(n, d, most, seed):
    rng = np.random.default_rng(seed)
    scale = rng.choice([1.0, -1e-3, 1e200, 5e-324])
    rows = rng.integers(-most, most, (n, d)) * scale
    np.testing.assert_array_equal(first_equals(rows), firsts_of(rows))


def test_many_rows():
    rows = np.random.default_rng(0).integers(0, 200, (100_000, 2)).astype(float)
    np.testing.assert_array_equal(first_equals(rows), firsts_of(rows))
    distinct = np.random.default_rng(1).random((100_000, 2))
    np.testing.assert_array_equal(first_equals(distinct), np.arange(100_000))


@pytest.mark.parametrize("n", [1, 2, 5000, 50_000])
def test_whether_rows_repeat(n):
    rows = np.random.default_rng(n).random((n, 3))
    assert not seem_to_repeat(rows)
    assert seem_to_repeat(rows.round(1)) == (n > 2)
    rows[: n // 2] = 1.0  # half of them are one row
    assert seem_to_repeat(rows) == (n > 3)


def test_the_loop_as_plain_python_gives_the_same(printed_both_ways):
    code = """
import numpy as np
from bisector.solvers.equal_rows import first_equals
rows = np.random.default_rng(0).integers(-4, 4, (300, 3)) / 7
print(first_equals(rows).tolist())
"""
    said = printed_both_ways(code, "-W", "error::RuntimeWarning")  # nothing overflows
    assert said[0] == said[1]
