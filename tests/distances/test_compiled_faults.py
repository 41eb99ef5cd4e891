"""A user's own function that fails, and rows that are none."""

import json
import math

import numba
import numpy as np
import pytest

from bisector.distances.compiled import Compiled
from bisector.distances.reductions import nearest_one

needs_compiler = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="compilation is switched off")


def manhattan(x, y):
    total = 0.0
    for j in range(len(x)):
        total += abs(x[j] - y[j])
    return total


# Functions that fail


def only_far(value):
    """A function that gives a strange value for rows 3 and 5 of the table below, and so for no other pair."""
    return lambda x, y: value if x[0] == 3.0 and y[0] == 5.0 else abs(x[0] - y[0])


LINE = np.arange(7.0)[:, None]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (math.nan, "returned NaN for row 3 of X and row 5 of X"),
        (-0.5, "must not return a negative number or NaN, but returned -0.5 for row 3 of X and row 5 of X"),
        (-math.inf, "returned -inf for row 3"),
    ],
)
def test_values_that_are_no_distance(value, message):
    with pytest.raises(ValueError, match=message):
        Compiled(only_far(value)).pairwise(LINE)


@needs_compiler
@pytest.mark.filterwarnings("ignore:.* runs as Python")
@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "None"),
        ("far", "a value of type str"),
        (np.ones(2), "a value of type ndarray"),
        (1j, "a value"),
    ],
)
def test_values_that_are_no_number(value, said):
    def as_python(x, y):
        return value if x[0] == 3.0 and y[0] == 5.0 else json.loads("1.0")

    with pytest.raises(
        TypeError, match=f"must return a number, but returned {said}.* for row 3 of X and row 5 of X"
    ):
        Compiled(as_python).pairwise(LINE)


@pytest.mark.filterwarnings("ignore:.* runs as Python")
@pytest.mark.parametrize("value", [3, True, np.float32(2.5), np.int8(4), np.bool_(True), np.array(2.0)])
def test_numbers_of_all_kinds(value):
    def as_python(x, y):
        return value if json else 0

    assert Compiled(as_python).pairwise([["a"], ["b"]])[0, 1] == float(value)


@needs_compiler
@pytest.mark.parametrize(
    "function", [lambda x, y: None, lambda x, y: x - y, lambda x, y: "far", lambda x, y: 1j]
)
def test_a_function_that_never_returns_a_number_fails_at_once_and_without_warning(function):
    with pytest.raises(
        TypeError, match=r"must return a number, but returned .* for row 0 of X and row 0 of X"
    ):
        Compiled(function).pairwise(LINE)


def raising(x, y):
    if x[0] == 3.0 and y[0] == 5.0:
        raise RuntimeError("no way there")
    return 1.0


@pytest.mark.parametrize("function", [raising, numba.njit(raising)])
def test_errors_name_the_pair(function):
    with pytest.raises(
        ValueError, match="raising raised RuntimeError: no way there, at row 3 of X and row 5 of X"
    ) as caught:
        Compiled(function).pairwise(LINE)
    assert isinstance(caught.value.__cause__, RuntimeError)
    with pytest.raises(ValueError, match="at row 0 of x and row 0 of y"):
        Compiled(function)([3.0], [5.0])
    with pytest.raises(ValueError, match="at row 1 of X and row 2 of Y"):
        Compiled(function).pairwise([[0.0], [3.0]], [[0.0], [1.0], [5.0]])


def test_errors_name_the_pair_in_the_order_of_the_arguments():
    distance = Compiled(only_far(math.nan))
    references = distance.prepare([[0.0], [5.0]], name="references")
    queries = distance.prepare([[1.0], [2.0], [3.0]], name="queries")
    with pytest.raises(ValueError, match="for row 2 of queries and row 1 of references"):
        nearest_one(distance, queries, references)


@pytest.mark.filterwarnings("ignore:.* runs as Python")
def test_a_function_of_other_arguments():
    with pytest.raises(ValueError, match=r"raised TypeError: .* at row 0 of X and row 0 of X"):
        Compiled(lambda x: 1.0).pairwise(LINE)


# Bad input


class Unhashable:
    __hash__ = None

    def __call__(self, x, y):
        return 1.0


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        ((3,), {}, TypeError, "function must be a function of two rows, not 3"),
        ((Unhashable(),), {}, TypeError, "function is of type Unhashable, which has no hash"),
        ((manhattan,), {"law": "strict"}, ValueError, "law must be one of 'metric', 'pseudo-metric', 'none'"),
        ((manhattan,), {"symmetric": 1}, ValueError, "symmetric must be True or False"),
    ],
)  # fmt: skip
def test_parameters_that_make_no_sense(arguments, options, error, message):
    with pytest.raises(error, match=message):
        Compiled(*arguments, **options)


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        ([1.0, 2.0], ValueError, "X must have rows and columns"),
        ([[1.0, np.inf]], ValueError, "X holds inf in row 0, column 1"),
        ("text", TypeError, "X must be a sequence of rows, not of type str"),
        ({1, 2}, TypeError, "X must be a sequence of rows, not of type set"),
        (iter([1]), TypeError, "X must be a sequence of rows"),
        (None, TypeError, "X must be a sequence of rows"),
    ],
)
def test_rows_that_are_none(X, error, message):
    with pytest.raises(error, match=message):
        Compiled(manhattan).pairwise(X)


def test_rows_that_do_not_fit_each_other():
    with pytest.raises(ValueError, match="X has 1 columns, but the rows it is compared with have 2"):
        Compiled(manhattan).pairwise([[1.0]], [[1.0, 2.0]])
    with pytest.raises(
        ValueError, match="X holds objects, but the rows it is compared with are rows of numbers"
    ):
        Compiled(manhattan).pairwise(["a"], [[1.0]])
    with pytest.raises(
        ValueError, match="X holds rows of numbers, but the rows it is compared with are objects"
    ):
        Compiled(manhattan).pairwise([[1.0]], ["a"])
    with pytest.raises(ValueError, match="x has 1 columns"):
        Compiled(manhattan)([1.0], [1.0, 2.0])
