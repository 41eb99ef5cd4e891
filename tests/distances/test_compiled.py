"""A user's own function: compiled or not, on vectors or on objects, and when it fails."""

import functools
import json
import math
import os
import pickle
import subprocess
import sys
import warnings

import numba
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given, settings, strategies as st
from scipy.spatial.distance import canberra as scipy_canberra, cdist

from bisector.distances.compiled import Compiled
from bisector.distances.compiled_loops import fill_rows_tile
from bisector.distances.minkowski import Manhattan
from bisector.distances.names import resolve
from bisector.distances.reductions import all_distances, counts_within, nearest, nearest_one, sums
from bisector.engine.user_functions import compiled

needs_compiler = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="compilation is switched off")


def manhattan(x, y):
    total = 0.0
    for j in range(len(x)):
        total += abs(x[j] - y[j])
    return total


def excess(x, y):
    """Not symmetric: what y has more than x."""
    total = 0.0
    for j in range(len(x)):
        if y[j] > x[j]:
            total += y[j] - x[j]
    return total


@numba.njit
def squared(x, y):
    total = 0.0
    for j in range(x.shape[0]):
        total += (x[j] - y[j]) ** 2
    return total


def as_text(x, y):
    """What Numba cannot compile."""
    return abs(len(json.dumps(list(x))) - len(json.dumps(list(y))))


def first_letters(x, y):
    return float(x[0] != y[0])


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    return rng.normal(size=(70, 5)), rng.normal(size=(600, 5))


# Values


@pytest.mark.parametrize(
    ("function", "peer"), [(manhattan, "cityblock"), (squared, "sqeuclidean"), (scipy_canberra, "canberra")]
)
@pytest.mark.filterwarnings("ignore:canberra runs as Python")
def test_equals_scipy(rows, function, peer):
    X, Y = rows
    # Five terms, added in any order.
    np.testing.assert_allclose(Compiled(function).pairwise(X, Y), cdist(X, Y, peer), rtol=1e-14)


def test_order_of_the_arguments(rows):
    X, Y = rows
    expected = np.maximum(Y[None] - X[:, None], 0).sum(axis=2)
    np.testing.assert_allclose(Compiled(excess).pairwise(X, Y), expected, rtol=1e-14)
    np.testing.assert_allclose(Compiled(excess).pairwise(X, Y)[3, 4], Compiled(excess)(X[3], Y[4]), rtol=0)


@pytest.mark.parametrize(
    "function", [manhattan, excess, squared, lambda x, y: np.abs(x - y).max(), lambda x, y: x[0] != y[0]]
)
def test_one_machine_code_for_all(rows, function):
    """Bit for bit: in tiles of any shape and place, with the arguments either way round, alone."""
    X, Y = (np.concatenate([table, table[:, ::-1], table**2, 3 * table], axis=1) for table in rows)
    distance = Compiled(function)
    one, other = distance.prepare(X), distance.prepare(Y)
    matrix = distance.pairwise(X, Y)
    pairs = distance.between(one, other)
    for outer, inner in [
        (range(5), range(9)),
        (range(1), range(1)),
        (range(11, 70), range(3, 600)),
        (range(4, 7), range(599, 600)),
    ]:
        out = np.full((80, 700), -1.0)
        pairs.fill(outer, inner, out, 2, 3)
        np.testing.assert_array_equal(
            out[2 : 2 + len(outer), 3 : 3 + len(inner)],
            matrix[outer.start : outer.stop, inner.start : inner.stop],
        )
        assert (out == -1).sum() == out.size - len(outer) * len(inner)
    flipped = np.empty((600, 70))
    distance.between(other, one, flipped=True).fill(range(600), range(70), flipped)
    np.testing.assert_array_equal(flipped.T, matrix)
    assert all(distance(X[i], Y[i]) == matrix[i, i] for i in range(70))
    into32 = distance.pairwise(X, Y, out=np.empty(matrix.shape, np.float32))
    np.testing.assert_array_equal(into32, matrix.astype(np.float32))


@pytest.mark.parametrize(
    "distance", [Compiled(manhattan, law="metric"), Compiled(excess), Compiled(squared, symmetric=True)]
)
def test_reductions(rows, distance):
    # Small whole numbers: many distances tie, and sums in any order are exact.
    X, Y = (np.round(2 * table) for table in rows)
    matrix = distance.pairwise(X, Y)
    references = distance.prepare(Y)
    queries = distance.prepare(X, like=references)
    order = np.argsort(matrix, axis=1, kind="stable")[:, :6]
    distances, numbers = nearest(distance, queries, references, k=6)
    np.testing.assert_array_equal(numbers, order)
    np.testing.assert_array_equal(distances, np.take_along_axis(matrix, order, axis=1))
    np.testing.assert_array_equal(nearest_one(distance, queries, references)[1], order[:, 0])
    np.testing.assert_array_equal(
        counts_within(distance, queries, references, 3.0), (matrix <= 3).sum(axis=1)
    )
    np.testing.assert_array_equal(sums(distance, queries, references), matrix.sum(axis=1))
    among = distance.pairwise(Y)
    np.testing.assert_array_equal(among, all_distances(distance, references, references))
    assert np.array_equal(among, among.T) == distance.symmetric


@given(st.integers(1, 12), st.integers(0, 2**32 - 1))
@settings(max_examples=25)
def test_equals_the_built_in_distance(d, seed):
    X = np.random.default_rng(seed).normal(size=(9, d))
    found = Compiled(manhattan, law="metric").pairwise(X)
    # Twelve terms, added in another order.
    np.testing.assert_allclose(found, Manhattan().pairwise(X), rtol=1e-14)
    assert (np.diag(found) == 0).all()
    assert (found <= (found[:, :, None] + found[None]).min(axis=1) * (1 + 1e-14)).all()


@needs_compiler
def test_rows_are_read_only_arrays_of_float64():
    seen = []

    def look(x, y):
        seen.append((x.dtype, x.flags.c_contiguous, x.flags.writeable))
        return json.loads("1.0")

    with pytest.warns(UserWarning, match="runs as Python"):
        Compiled(look).pairwise(np.asfortranarray(np.eye(3, dtype=np.float32)))
    assert set(seen) == {(np.dtype(np.float64), True, False)}


@needs_compiler
def test_compiled_functions_cannot_write_into_the_rows(rows):
    def careless(x, y):
        x[0] = 0.0
        return 1.0

    with pytest.raises(
        ValueError, match="raised ValueError: assignment destination is read-only, at row 0 of X"
    ):
        Compiled(careless).pairwise(rows[0])


@pytest.mark.parametrize(
    "form",
    [
        np.asfortranarray,
        scipy.sparse.csr_array,
        scipy.sparse.coo_matrix,
        pd.DataFrame,
        np.ndarray.tolist,
        lambda X: X.astype(object),
    ],
    ids=["Fortran", "CSR", "COO", "pandas", "lists", "objects"],
)
def test_forms_of_rows(rows, form):
    X = np.round(rows[0], 1)
    np.testing.assert_array_equal(Compiled(manhattan).pairwise(form(X), X), Compiled(manhattan).pairwise(X))


def test_float32_gives_float32(rows):
    X = rows[0].astype(np.float32)
    found = Compiled(manhattan).pairwise(X)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(
        found, Compiled(manhattan).pairwise(X.astype(np.float64)).astype(np.float32)
    )


def test_nan_reaches_the_function():
    def present(x, y):
        total = 0.0
        for j in range(len(x)):
            if not math.isnan(x[j]) and not math.isnan(y[j]):
                total += abs(x[j] - y[j])
        return total

    X = [[1.0, math.nan], [3.0, 2.0]]
    np.testing.assert_array_equal(Compiled(present).pairwise(X), [[0, 2], [2, 0]])


def test_infinite_distances_are_allowed():
    distance = Compiled(lambda x, y: 0.0 if x[0] == y[0] else np.inf)
    np.testing.assert_array_equal(distance.pairwise([[1.0], [2.0]]), [[0, np.inf], [np.inf, 0]])


def test_one_row_and_none():
    assert Compiled(manhattan).pairwise([[1.0, 2.0]]).tolist() == [[0]]
    assert Compiled(manhattan).pairwise(np.empty((0, 2)), [[1.0, 2.0]]).shape == (0, 1)


def test_rows_are_taken_and_joined(rows):
    distance = Compiled(manhattan)
    for X in (rows[0], [str(i) for i in range(70)]):
        prepared = distance.prepare(X)
        again = prepared.take(np.arange(30)).joined([prepared.take(np.arange(30, 70))])
        np.testing.assert_array_equal(np.asarray(again.values), np.asarray(prepared.values))


@pytest.mark.parametrize("offset", [0.0, 1e7])
def test_only_sums_are_reordered(rows, offset):
    """Neither differences of large numbers nor quotients of equal ones are rounded otherwise than in Python."""

    def ratios(x, y):
        squares, others, products = 0.0, 0.0, 0.0
        for j in range(len(x)):
            squares += x[j] * x[j]
            others += y[j] * y[j]
            products += x[j] * y[j]
        return abs((squares * others - products * products) / squares / others + 1.0 - squares / squares)

    X = rows[0] + offset
    assert (np.diag(Compiled(ratios).pairwise(X)) == 0).all()
    exact = [[math.fsum(b - a for a, b in zip(x, y, strict=True) if b > a) for y in X] for x in X]
    # Five terms, each rounded before they are added.
    np.testing.assert_allclose(Compiled(excess).pairwise(X), exact, rtol=1e-15 * 5)


# Python


@needs_compiler
def test_what_cannot_be_compiled_runs_as_python_with_one_warning():
    distance = Compiled(as_text)
    X = np.array([[1.0], [22.0], [333.0]])
    with pytest.warns(
        UserWarning, match=r"as_text runs as Python, because Numba cannot .* about .* 9 pairs"
    ) as caught:
        found = distance.pairwise(X)
    assert len(caught) == 1
    np.testing.assert_array_equal(found, [[0, 1, 2], [1, 0, 1], [2, 1, 0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(distance.pairwise(X, X), found)
        assert distance(X[0], X[2]) == 2


def test_a_symmetric_function_is_called_for_half_of_the_pairs():
    calls = []

    def counting(x, y):
        calls.append(1)
        return abs(x["at"] - y["at"])

    X = [{"at": float(i)} for i in range(128)]
    with pytest.warns(UserWarning, match="its rows are no vectors .* 8,192 pairs"):
        found = Compiled(counting, symmetric=True).pairwise(X)
    np.testing.assert_array_equal(found, abs(np.subtract.outer(range(128), range(128))))
    assert len(calls) < 0.7 * 128**2


@pytest.mark.filterwarnings("ignore:first_letters runs as Python")
@pytest.mark.parametrize(
    "X",
    [
        ["ape", "bear", "ant"],
        np.array(["ape", "bear", "ant"]),
        pd.Series(["ape", "bear", "ant"]),
        [("ape", 1), ("bear", 2, 3), ("ape", 4)],
        [("ape", "x"), ("bear", "y"), ("ape", "z")],
        np.array([["ape", 1], ["bear", 2], ["ape", 3]], dtype=object),
        pd.DataFrame({"animal": ["ape", "bear", "ape"], "n": [1, 2, 3]}),
        [[[1], [2, 3]], [[2], [2, 3]], [[1], [4]]],
    ],
    ids=str,
)
def test_rows_can_be_any_objects(X):
    distance = Compiled(first_letters)
    expected = [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    np.testing.assert_array_equal(distance.pairwise(X), expected)
    assert nearest_one(distance, distance.prepare(X), distance.prepare(X))[1].tolist() == [0, 1, 0]


def test_matrices_as_rows():
    images = np.arange(24.0).reshape(3, 2, 4)
    with pytest.warns(UserWarning, match="its rows are no vectors"):
        found = Compiled(lambda x, y: abs(x - y).max()).pairwise(images)
    np.testing.assert_array_equal(found, [[0, 8, 16], [8, 0, 8], [16, 8, 0]])


def test_callables_of_any_kind(rows):
    class Weighted:
        def __call__(self, x, y):
            return 2 * manhattan(x, y)

    X = rows[0][:4]
    for function in (Weighted(), functools.partial(manhattan), Weighted().__call__):
        with pytest.warns(UserWarning, match="runs as Python"):
            Compiled(function).pairwise(X)


def test_one_pair_needs_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Compiled(first_letters)("ape", "bear") == 1
        assert Compiled(as_text)([1.0], [10.0]) == 1


# What it says of itself


def test_its_law_is_what_the_user_says():
    assert (Compiled(manhattan).law, Compiled(manhattan).symmetric) == ("none", False)
    assert (Compiled(manhattan, law="metric").law, Compiled(manhattan, law="metric").symmetric) == (
        "metric",
        True,
    )
    assert Compiled(manhattan, law="pseudo-metric").symmetric
    assert Compiled(manhattan, symmetric=True).law == "none"


def test_it_is_a_value():
    distance = Compiled(manhattan, law="metric")
    assert distance == Compiled(manhattan, law="metric", symmetric=True) != Compiled(manhattan)
    assert distance != Compiled(excess, law="metric")
    assert hash(distance) == hash(Compiled(manhattan, law="metric"))
    assert repr(distance) == "Compiled(function=manhattan, law='metric', symmetric=True)"
    assert repr(Compiled(squared)) == "Compiled(function=squared)"
    assert distance.set_params(function=excess) == Compiled(excess, law="metric")


def test_resolve_makes_one():
    assert resolve(manhattan) == Compiled(manhattan)
    assert resolve(squared) == Compiled(squared)


@pytest.mark.parametrize("function", [np.hypot, squared])
def test_it_pickles_if_its_function_does(function):
    distance = Compiled(function, law="metric")
    assert pickle.loads(pickle.dumps(distance)) == distance


@needs_compiler
def test_a_local_function_compiled_by_the_user_pickles_with_its_code(rows):
    @numba.njit
    def local(x, y):
        return abs(x[0] - y[0])

    again = pickle.loads(pickle.dumps(Compiled(local)))
    np.testing.assert_array_equal(again.pairwise(rows[0]), Compiled(local).pairwise(rows[0]))


def test_a_local_function_does_not_pickle():
    with pytest.raises((pickle.PicklingError, AttributeError), match="local object"):
        pickle.dumps(Compiled(lambda x, y: 0.0))


# The compiler


@needs_compiler
def test_the_same_function_is_compiled_once():
    assert compiled(manhattan).dispatcher is compiled(manhattan).dispatcher
    assert compiled(squared).dispatcher is squared


@needs_compiler
def test_a_function_is_called_and_not_copied_into_the_loop(rows):
    """Copied into several places it could be compiled in several ways."""

    def tiny(x, y):
        return abs(x[0] - y[0])

    Compiled(tiny).pairwise(rows[0])
    types = next(
        kinds for kinds in fill_rows_tile.signatures if kinds[0].dispatcher is compiled(tiny).dispatcher
    )
    optimised = fill_rows_tile.inspect_llvm(types).splitlines()
    calls = [line.partition("(")[0] for line in optimised if " = call i32 @" in line]
    assert sum("value_at" in name for name in calls) == 2  # flipped, and not


@needs_compiler
def test_nothing_of_a_users_function_is_kept_on_disk(tmp_path):
    script = """
import numpy as np
from bisector.distances import Manhattan
from bisector.distances.compiled import Compiled
def mine(x, y):
    return abs(x[0] - y[0])
X = np.eye(3)
Manhattan().pairwise(X)
print(Compiled(mine).pairwise(X)[0, 1])
"""
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        env=os.environ | {"BISECTOR_CACHE_DIR": str(tmp_path)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert ran.stdout == "1.0\n"
    kept = {path.name.partition("-")[0] for path in tmp_path.rglob("*.loop")}
    assert "fill_tile" in kept
    assert "fill_rows_tile" not in kept
    assert not any(b"mine" in path.read_bytes() for path in tmp_path.rglob("*.loop"))


def test_it_runs_without_the_compiler():
    script = """
import numpy as np
from bisector.distances.compiled import Compiled
def mine(x, y):
    return abs(x[0] - y[0]) if x[0] < 2 else "far"
print(Compiled(mine).pairwise([[0.0], [1.0]])[0, 1])
try:
    Compiled(mine).pairwise([[0.0], [2.0]])
except TypeError as error:
    print(error)
"""
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert ran.stdout.splitlines() == [
        "1.0",
        "mine must return a number, but returned a value of type str for row 1 of X and row 0 of X.",
    ]


@needs_compiler
def test_a_signature_that_fits_no_row_is_refused(rows):
    narrow = numba.njit("float64(float32[:], float32[:])")(lambda x, y: 1.0)
    with pytest.raises(TypeError, match="was compiled, but cannot be called with two rows, read-only arrays"):
        Compiled(narrow).pairwise(rows[0])


@needs_compiler
def test_a_fitting_signature(rows):
    row = numba.types.Array(numba.float64, 1, "C", readonly=True)
    exact = numba.njit(numba.float64(row, row))(manhattan)
    np.testing.assert_allclose(Compiled(exact).pairwise(rows[0]), Manhattan().pairwise(rows[0]), rtol=1e-14)
