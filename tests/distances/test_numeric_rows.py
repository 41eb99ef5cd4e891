"""Rows of numbers at the door of distances: what is refused, in which words, and what transformations keep."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from bisector.distances import Cosine, Elliptical, Euclidean, Manhattan
from bisector.distances.numeric_rows import numeric_rows, numeric_vector

FRAME = pd.DataFrame({"height": [1.0, 2.0], "width": [3.0, 4.0]})


# Refusals: what is wrong, where, and what to do


@pytest.mark.parametrize(
    ("X", "said"),
    [
        ([["a", "b"]], "X holds values of type <U1, but this distance compares numbers.*Levenshtein.*Gower"),
        ([[{1}, {2}]], "X holds values of type object"),
        ([[1j]], "X holds values of type complex128"),
        (np.array([["2020-01-01"]], dtype="M8[D]"), "X holds values of type datetime64"),
        (sp.csr_array([[1j]]), "X holds values of type complex128"),
        ([1.0, 2.0], r"X must have rows and columns, but has the shape \(2,\): reshape\(-1, 1\) makes a column"),
        (3.0, r"X must have rows and columns, but has the shape \(\)"),
        (None, "X must have rows and columns"),
        (np.zeros((2, 2, 2)), r"shape \(2, 2, 2\)"),
        (sp.coo_array([1.0, 2.0]), r"X must have rows and columns, but has the shape \(2,\)"),
        ([[1, 2], [3]], "X must have rows and columns, but its rows have different lengths"),
        (np.zeros((3, 0)), "X has no columns: there is nothing to compare"),
        (sp.csr_array((3, 0)), "X has no columns: there is nothing to compare"),
        (pd.DataFrame(index=[0, 1]), "X has no columns: there is nothing to compare"),
        ([[1.0, 2.0], [3.0, np.nan]], "X holds NaN in row 1, column 1: fill it.*skip_missing=True"),
        ([[1.0, None]], "X holds NaN in row 0, column 1"),
        ([[1.0, 2.0], [-np.inf, 4.0]], "X holds inf in row 1, column 0: replace it by a number or leave"),
        ([[np.inf, -np.inf]], "X holds inf in row 0, column 0"),
        (sp.csr_array([[0.0, 1.0, 0.0], [0.0, 0.0, np.nan]]), "X holds NaN in row 1, column 2"),
        (FRAME.assign(width=[3.0, np.nan]), r"X holds NaN in row 1, column 1 \('width'\)"),
        (FRAME.assign(width=["wide", "slim"]), "X: Column 'width' holds 'wide' in row 0.*Gower"),
        (pl.DataFrame({"a": ["x"]}), "X: Column 'a' holds 'x' in row 0.*Gower"),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_is_refused(X, said):
    with pytest.raises(ValueError, match=said):
        Euclidean().pairwise(X)


def test_errors_say_which_rows():
    with pytest.raises(ValueError, match=r"^Y holds NaN in row 0, column 0"):
        Euclidean().pairwise([[1.0]], [[np.nan]])
    with pytest.raises(ValueError, match=r"^x holds NaN"):
        Euclidean()([np.nan], [1.0])
    with pytest.raises(ValueError, match=r"^y holds inf"):
        Euclidean()([1.0], [np.inf])


def test_infinity_is_refused_even_where_values_may_be_missing():
    with pytest.raises(ValueError, match="X holds inf in row 0, column 1"):
        Euclidean(skip_missing=True).pairwise([[np.nan, np.inf]])


def test_sums_that_overflow_are_no_infinite_values():
    X = np.full((3, 2), 1.5e308)
    assert_array_equal(Manhattan().pairwise(X), np.zeros((3, 3)))


def test_frames_whose_columns_differ():
    for other, said in [
        (FRAME.rename(columns={"width": "depth"}), "'width' is only in X; 'depth' is missing in X"),
        (FRAME[["width", "height"]], "they stand in another order"),
        (FRAME[["height"]], "'width' is only in X"),
        (pl.DataFrame({"height": [1.0], "depth": [1.0]}), "'width' is only in X; 'depth'"),
    ]:
        with pytest.raises(
            ValueError, match=f"The columns of X and of the rows .* differ: {said}.*Select the same"
        ):
            Euclidean().pairwise(FRAME, other)
    assert Euclidean().pairwise(FRAME, FRAME.to_numpy()).shape == (2, 2)
    assert Euclidean().pairwise(FRAME, pl.from_pandas(FRAME)).shape == (2, 2)
    unnamed = pd.DataFrame(FRAME.to_numpy())
    assert Euclidean().pairwise(unnamed[[1, 0]], unnamed).shape == (2, 2)


def test_one_row_is_one_row():
    assert len(numeric_vector([1, 2], "x")) == 1
    assert len(numeric_vector([[1, 2]], "x")) == 1
    assert len(numeric_vector(FRAME[:1], "x")) == 1
    assert numeric_vector(FRAME.iloc[0], "x").values.tolist() == [[1.0, 3.0]]
    for several in ([[1, 2], [3, 4]], FRAME, sp.csr_array([[1.0, 2.0], [3.0, 4.0]]), np.zeros((0, 2))):
        with pytest.raises(ValueError, match=r"x must be one row, but has [02]: use pairwise"):
            numeric_vector(several, "x")
    for shape in ((), (1, 1, 1)):
        with pytest.raises(ValueError, match="x must be one row, but has the shape"):
            numeric_vector(np.ones(shape), "x")


# What becomes of rows


def test_arrays_that_are_fit_are_not_copied():
    for dtype in (np.float32, np.float64):
        X = np.ones((3, 2), dtype=dtype)
        assert numeric_rows(X, None, "X").values is X
    assert numeric_rows(np.ones((3, 2), dtype=">f4"), None, "X").dtype == np.float32


@pytest.mark.parametrize("distance", [Manhattan(), Elliptical([[2.0, 1.0], [1.0, 3.0]]), Cosine()], ids=repr)
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_rows_can_be_taken_and_joined(distance, make):
    X = np.random.default_rng(0).normal(size=(6, 2))
    rows = distance.prepare(make(X))
    more = distance.prepare(make(X[:2] + 1), like=rows)
    chosen = rows.take(np.array([4, 1, 1]))
    both = rows.joined([more, chosen])
    assert (len(chosen), len(both)) == (3, 11)
    order = np.vstack([X, X[:2] + 1, X[[4, 1, 1]]])
    from bisector.distances.reductions import all_distances

    assert_allclose(all_distances(distance, both, rows), distance.pairwise(order, X), rtol=1e-12, atol=1e-15)
    # Close pairs are computed from the rows as they came: these must have been taken and joined along.
    assert_array_equal(np.diag(all_distances(distance, chosen)), 0.0)
    assert_array_equal(all_distances(distance, both)[9, [1, 10]], 0.0)


def test_joined_rows_are_float64_when_one_part_is():
    rows = Manhattan().prepare(np.ones((2, 2), dtype=np.float32))
    assert rows.joined([rows]).dtype == np.float32
    assert rows.joined([Manhattan().prepare(np.ones((2, 2)))]).dtype == np.float64


def test_rows_prepared_apart_cannot_be_compared_by_mistake():
    """An elliptical distance moves rows to an origin, which must be the same for both."""
    distance = Elliptical(np.eye(2))
    one, other = distance.prepare([[1.0, 2.0]]), distance.prepare([[3.0, 4.0]])
    with pytest.raises(ValueError, match="prepared like the other"):
        distance.between(one, other)
    distance.between(distance.prepare([[1.0, 2.0]], like=other), other)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_unit_length(make):
    X = np.array([[3.0, 4.0], [0.0, 0.0], [1e200, 0.0], [-5e-324, 0.0]])
    unit = Cosine().prepare(make(X)).dense(range(4))
    assert_allclose(unit, [[0.6, 0.8, 0], [0, 0, 1], [1, 0, 0], [-1, 0, 0]], rtol=1e-15)
    assert_array_equal(unit, Cosine().prepare(X).dense(range(4)))
