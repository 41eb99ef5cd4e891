"""Jaccard's distance: the same numbers from tables, sparse matrices and Python sets."""

import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from hypothesis import given as drawn, settings, strategies as st
from scipy.spatial.distance import cdist
from sklearn.base import clone

from bisector.distances import reductions
from bisector.distances.sets import Jaccard
from bisector.engine.bits import popcount
from bisector.engine.loops import given, loop


def tables(max_rows=12, max_columns=140):
    """Tables of zeros and ones of any density, around the borders of words."""
    shapes = st.tuples(st.integers(1, max_rows), st.sampled_from([1, 2, 5, 63, 64, 65, 128, max_columns]))
    return st.builds(
        lambda shape, density, seed: np.random.default_rng(seed).random(shape) < density,
        shapes,
        st.sampled_from([0.0, 0.02, 0.3, 0.9, 1.0]),
        st.integers(0, 2**32 - 1),
    )


def python_sets(table):
    return [{f"column {j}" for j in np.flatnonzero(row)} for row in table]


FORMS = {
    "Boolean array": lambda table: table,
    "integers": lambda table: table.astype(np.int8),
    "floats in Fortran order": lambda table: np.asfortranarray(table, dtype=np.float64),
    "nested lists": lambda table: table.tolist(),
    "pandas": lambda table: pd.DataFrame(table).rename(columns=str),
    "pandas, nullable": lambda table: pd.DataFrame(table).rename(columns=str).astype("boolean"),
    "polars": lambda table: pl.DataFrame(table, schema=list(map(str, range(table.shape[1])))),
    "Arrow": lambda table: pa.table({str(j): column for j, column in enumerate(table.T)}),
    "CSR": lambda table: scipy.sparse.csr_array(table),
    "CSC of counts": lambda table: scipy.sparse.csc_matrix(table * np.arange(1, len(table) + 1)[:, None]),
    "sets": python_sets,
    "frozensets": lambda table: tuple(map(frozenset, python_sets(table))),
    "lists with repetitions": lambda table: [2 * sorted(row) for row in python_sets(table)],
    "Series of sets": lambda table: pd.Series(python_sets(table)),
    "Series of lists": lambda table: pl.Series(list(map(sorted, python_sets(table))), dtype=pl.List(pl.String)),
    "Arrow lists": lambda table: pa.array(list(map(sorted, python_sets(table))), pa.list_(pa.string())),
}  # fmt: skip


def by_definition(x, y, weights=None):
    """1 − |A ∩ B| / |A ∪ B|, exactly."""
    weights = [1] * len(x) if weights is None else weights
    union = sum(Fraction(w) for a, b, w in zip(x, y, weights, strict=True) if a or b)
    common = sum(Fraction(w) for a, b, w in zip(x, y, weights, strict=True) if a and b)
    return 1 - common / union if union else Fraction(0)


# By hand


def test_by_hand():
    assert Jaccard()({1, 2, 3}, {2, 3, 4}) == 0.5
    assert Jaccard()([1, 1, 1, 0], [0, 1, 1, 1]) == 0.5
    assert Jaccard()(np.array([True, False]), np.array([False, True])) == 1.0
    assert Jaccard()(scipy.sparse.csr_array([[2, 0, 5]]), scipy.sparse.csr_array([[7, 0, 0]])) == 0.5
    assert Jaccard()(["a", "b"], ("b", "b", "c")) == pytest.approx(2 / 3, rel=1e-15)
    assert Jaccard()(pd.Series([1, 0, 1]), pd.Series([1, 1, 1])) == pytest.approx(1 / 3, rel=1e-15)
    assert Jaccard()(pd.DataFrame({"a": [1], "b": [0]}), pd.DataFrame({"a": [1], "b": [1]})) == 0.5
    assert Jaccard([1, 3])([1, 0], [1, 1]) == 0.75


def test_the_empty_set():
    empty = np.array([[0, 0], [0, 0], [1, 0]])
    expected = [[0, 0, 1], [0, 0, 1], [1, 1, 0]]
    for form in ("Boolean array", "CSR", "sets"):
        np.testing.assert_array_equal(Jaccard().pairwise(FORMS[form](empty > 0)), expected)
    np.testing.assert_array_equal(Jaccard([2, 1]).pairwise(empty), expected)
    assert Jaccard()(set(), set()) == 0
    assert Jaccard()(set(), {1}) == Jaccard()({1}, set()) == 1


# The same numbers from all forms


@settings(max_examples=60)
@drawn(tables(), st.data())
def test_all_forms_give_the_exact_quotient(table, data):
    other = data.draw(st.permutations(range(len(table)))).copy()
    queries = table[other[: 1 + len(other) // 2]]
    expected = [[float(by_definition(x, y)) for y in table] for x in queries]
    name = data.draw(st.sampled_from(sorted(FORMS)))
    form = FORMS[name]
    np.testing.assert_array_equal(Jaccard().pairwise(form(queries), form(table)), expected, name)


@pytest.mark.parametrize("form", sorted(FORMS))
def test_each_form(form):
    table = np.random.default_rng(3).random((20, 70)) < 0.2
    table[4] = False
    d = Jaccard()
    np.testing.assert_array_equal(d.pairwise(FORMS[form](table)), cdist(table, table, "jaccard"))
    queries = FORMS[form](table[:5])
    np.testing.assert_array_equal(d.pairwise(queries, FORMS[form](table)), cdist(table[:5], table, "jaccard"))


@pytest.mark.parametrize("density", [0.002, 0.05, 0.5])
@pytest.mark.parametrize("n_columns", [300, 5000])
def test_equals_scipy_over_several_tiles(n_columns, density):
    rng = np.random.default_rng(0)
    X, Y = (rng.random((n, n_columns)) < density for n in (530, 70))
    X[3] = Y[5] = False
    expected = cdist(X, Y, "jaccard")
    sparse_X, sparse_Y = scipy.sparse.csr_array(X), scipy.sparse.csr_array(Y)
    for left, right in [(X, Y), (sparse_X, sparse_Y), (X, sparse_Y), (sparse_X, Y)]:
        np.testing.assert_array_equal(Jaccard().pairwise(left, right), expected)
    np.testing.assert_array_equal(Jaccard().pairwise(python_sets(X), python_sets(Y)), expected)


def test_a_matrix_of_a_thousand_million_columns():
    columns = np.array([0, 5, 10**9 - 1, 5, 7, 10**9 - 1, 12])
    X = scipy.sparse.csr_array((np.ones(7), columns, [0, 3, 6, 7, 7]), shape=(4, 10**9))
    expected = [[0, 0.5, 1, 1], [0.5, 0, 1, 1], [1, 1, 0, 1], [1, 1, 1, 0]]
    np.testing.assert_array_equal(Jaccard().pairwise(X), expected)
    np.testing.assert_array_equal(Jaccard().pairwise(X[2:], X[:3]), np.array(expected)[2:, :3])


def test_sparse_entries_that_are_zero_or_given_twice():
    X = scipy.sparse.csr_array((np.array([1.0, 0.0, 2.0]), np.array([0, 1, 2]), [0, 3]), shape=(1, 3))
    Y = scipy.sparse.coo_array((np.array([1.0, -1.0, 3.0]), ([0, 0, 0], [0, 0, 2])), shape=(1, 3))
    assert Jaccard().pairwise(X, Y) == [[0.5]]
    assert X.nnz == 3, "the matrix itself stays as it is"


@settings(max_examples=40)
@drawn(tables(max_rows=6), st.integers(0, 2**32 - 1))
def test_weights_count_as_by_definition(table, seed):
    weights = np.random.default_rng(seed).integers(0, 5, table.shape[1]) / 4 + 0.125
    expected = [[float(by_definition(x, y, weights)) for y in table] for x in table]
    d = Jaccard(weights)
    # Sums of eighths are exact, so only the division rounds.
    np.testing.assert_array_equal(d.pairwise(table), expected)
    np.testing.assert_array_equal(d.pairwise(scipy.sparse.csr_array(table)), expected)
    assert d(table[0], table[-1]) == expected[0][-1]


@pytest.mark.parametrize("n_columns", [50, 3000])
def test_weights_as_scipy_has_them(n_columns):
    rng = np.random.default_rng(1)
    X, Y = rng.random((12, n_columns)) < 0.01, rng.random((25, n_columns)) < 0.01
    d = Jaccard(rng.random(n_columns))
    got = d.pairwise(X, Y)
    # SciPy adds in another order: some rounding errors of sums of up to sixty terms.
    np.testing.assert_allclose(got, cdist(X, Y, "jaccard", w=np.asarray(d.weights)), rtol=1e-13)
    np.testing.assert_array_equal(d.pairwise(scipy.sparse.csr_array(X), scipy.sparse.csr_array(Y)), got)
    equal = np.ones(n_columns)
    np.testing.assert_array_equal(Jaccard(equal).pairwise(X, Y), Jaccard().pairwise(X, Y))


def test_float32_in_float32_out():
    X = np.array([[1, 1, 0], [1, 0, 1]], dtype=np.float32)
    assert Jaccard().pairwise(X).dtype == np.float32
    assert Jaccard().pairwise(X, X.astype(np.float64)).dtype == np.float64
    assert Jaccard().pairwise(X > 0).dtype == np.float64
    np.testing.assert_allclose(Jaccard().pairwise(X), [[0, 2 / 3], [2 / 3, 0]], rtol=np.finfo(np.float32).eps)
    for form in (np.asarray, scipy.sparse.csr_array):
        rows = Jaccard().prepare(form(X))
        rows = rows.joined([Jaccard().prepare(form(X.astype(np.float64)), like=rows)])
        assert reductions.all_distances(Jaccard(), rows).dtype == np.float64


# Laws


@pytest.mark.parametrize("weighted", [False, True])
@settings(max_examples=60)
@drawn(tables(max_rows=8, max_columns=9))
def test_it_is_a_metric(weighted, table):
    d = Jaccard(1.0 + np.arange(table.shape[1])) if weighted else Jaccard()
    assert d.law == "metric"
    distances = d.pairwise(table)
    assert ((distances >= 0) & (distances <= 1)).all()
    np.testing.assert_array_equal(distances, distances.T)
    same = (table[:, None] == table[None]).all(axis=2)
    np.testing.assert_array_equal(distances == 0, same)
    detours = distances[:, :, None] + distances[None]
    # Each of the three quotients is rounded once.
    assert (distances[:, None, :] <= detours + 3 * np.finfo(np.float64).eps).all()


def test_a_column_without_weight_makes_it_a_pseudo_metric():
    d = Jaccard([1, 0])
    assert d.law == "pseudo-metric"
    assert d([1, 0], [1, 1]) == d([0, 1], [0, 0]) == 0
    assert d.symmetric
    assert not any([d.translation_invariant, d.rotation_invariant, d.scale_invariant])


# What models ask


@pytest.mark.parametrize("form", ["Boolean array", "CSR", "sets"])
@pytest.mark.parametrize("n_columns", [6, 4000])
def test_reductions_agree_with_all_distances(form, n_columns):
    rng = np.random.default_rng(2)
    X, Y = (rng.random((n, n_columns)) < 3 / n_columns for n in (700, 40))
    d = Jaccard()
    references = d.prepare(FORMS[form](X))
    queries = d.prepare(FORMS[form](Y), like=references)
    distances = cdist(Y, X, "jaccard")
    order = np.argsort(distances, axis=1, kind="stable")[:, :9]
    found, numbers = reductions.nearest(d, queries, references, 9)
    np.testing.assert_array_equal(numbers, order)
    np.testing.assert_array_equal(found, np.take_along_axis(distances, order, axis=1))
    np.testing.assert_array_equal(reductions.nearest_one(d, queries, references)[1], order[:, 0])
    np.testing.assert_allclose(reductions.sums(d, queries, references), distances.sum(axis=1), rtol=1e-12)
    counts = reductions.counts_within(d, queries, references, distances[:, 7])
    np.testing.assert_array_equal(counts, (distances <= distances[:, [7]]).sum(axis=1))


@pytest.mark.parametrize("weights", [None, np.linspace(0.1, 1, 900)])
@pytest.mark.parametrize("form", ["Boolean array", "CSR"])
def test_tiles_do_not_matter(form, weights):
    table = np.random.default_rng(4).random((25, 900)) < 0.01
    d = Jaccard(weights)
    rows = d.prepare(FORMS[form](table))
    pairs = d.between(rows, rows)
    whole, pieces = np.empty((25, 25)), np.empty((25, 25))
    pairs.fill(range(25), range(25), whole)
    for outer in reductions.cut(25, 7):
        for inner in reductions.cut(25, 11):
            pairs.write(outer, inner, pieces, outer.start, inner.start)
    np.testing.assert_array_equal(pieces, whole)
    np.testing.assert_array_equal(whole, d.pairwise(table, n_jobs=1))


@pytest.mark.parametrize("form", ["Boolean array", "CSR", "sets"])
def test_rows_can_be_taken_and_joined(form):
    table = np.random.default_rng(5).random((30, 90)) < 0.1
    d = Jaccard()
    first = d.prepare(FORMS[form](table[:10]))
    later = [d.prepare(FORMS[form](table[10:17]), like=first), d.prepare(FORMS[form](table[17:]), like=first)]
    rows = first.joined(later)
    distances = cdist(table, table, "jaccard")
    assert len(rows) == 30
    np.testing.assert_array_equal(reductions.all_distances(d, rows), distances)
    chosen = np.array([7, 29, 7, 0])
    np.testing.assert_array_equal(reductions.all_distances(d, rows.take(chosen), rows), distances[chosen])
    queries = d.prepare(FORMS[form](table[:3]), like=rows)
    np.testing.assert_array_equal(reductions.all_distances(d, queries, rows), distances[:3])


def test_a_sparse_matrix_joins_a_table():
    table = np.random.default_rng(6).random((9, 40)) < 0.3
    d = Jaccard()
    for form, other in [("Boolean array", "CSR"), ("CSR", "Boolean array")]:
        first = d.prepare(FORMS[form](table[:4]))
        rows = first.joined([d.prepare(FORMS[other](table[4:]), like=first)])
        np.testing.assert_array_equal(reductions.all_distances(d, rows), cdist(table, table, "jaccard"))


def test_elements_that_no_reference_has():
    d = Jaccard()
    references = d.prepare([{"a", "b"}, {"c"}])
    one = d.prepare([{"a", "x"}, {"x", "y"}], like=references)
    two = d.prepare([{"y", "x"}, {"z"}], like=references)
    np.testing.assert_array_equal(reductions.all_distances(d, one, references), [[2 / 3, 1], [1, 1]])
    np.testing.assert_array_equal(reductions.all_distances(d, one, two), [[2 / 3, 1], [0, 1]])
    np.testing.assert_array_equal(reductions.all_distances(d, d.prepare([{"z"}], like=two), two), [[1, 0]])
    np.testing.assert_array_equal(reductions.all_distances(d, d.prepare([{"c", "x"}]), one), [[2 / 3, 2 / 3]])


def test_prepared_rows_can_be_pickled():
    d = Jaccard()
    sets = [{"a", "b"}, {"c"}, set()]
    references = pickle.loads(pickle.dumps(d.prepare(sets)))
    queries = pickle.loads(pickle.dumps(d.prepare([{"d", "c"}], like=references)))
    np.testing.assert_array_equal(reductions.all_distances(d, queries, references), [[1, 0.5, 1]])


def test_no_rows():
    assert Jaccard().pairwise(np.empty((0, 3), bool)).shape == (0, 0)
    assert Jaccard().pairwise([], [{1}]).shape == (0, 1)
    assert Jaccard().pairwise(
        scipy.sparse.csr_array((0, 10**6)), scipy.sparse.csr_array((2, 10**6))
    ).shape == (0, 2)


# A value


def test_it_is_a_value():
    d = Jaccard([1, 2])
    assert d == Jaccard(np.array([1.0, 2.0])) != Jaccard()
    assert hash(d) == hash(Jaccard([1, 2]))
    assert repr(d) == "Jaccard(weights=[1.0, 2.0])"
    assert repr(Jaccard()) == "Jaccard()"
    assert pickle.loads(pickle.dumps(d)) == d
    assert clone(d) is d
    assert Jaccard().set_params(weights=[1, 2]) == d
    assert Jaccard.names == ("jaccard",)


# Bad input


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[0.0, 0.5]], r"X holds 0\.5 in row 0, column 1, but a set .* pass X > 0 or X != 0"),
        (pd.DataFrame({"a": [1, 1], "b": [0, 3]}), r"3 in row 1, column 1 \('b'\)"),
        (np.array([[1.0, np.nan]]), "X holds NaN in row 0, column 1"),
        (scipy.sparse.csr_array([[0, np.nan]]), "X holds NaN in row 0, column 1"),
        (pd.DataFrame({"a": [True, None]}, dtype="boolean"), "X holds NaN in row 1"),
        (np.ma.masked_array([[True, False]], mask=[[False, True]]), "X holds NaN in row 0, column 1"),
        (np.array([0, 1, 1]), "must have rows and columns"),
        (np.empty((2, 0), bool), "no columns"),
        ([[1, 0], [1]], "different lengths"),
        ([{1}, {float("nan")}], "Row 1 of X holds nan, which stands for a missing value"),
        ([{1}, {2, None}], "Row 1 of X holds None"),
        ([{1}, None], r"Row 1 of X is missing \(None\)"),
        (pd.Series([{1}, pd.NA]), "Row 1 of X is missing"),
        (np.zeros((2, 2, 2), bool), "must have rows and columns"),
    ],
)  # fmt: skip
def test_bad_values(X, message):
    with pytest.raises(ValueError, match=message):
        Jaccard().pairwise(X)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (["abc", "abd"], r"Row 0 of X is the string 'abc', which is no set: set\(\.\.\.\) makes one"),
        (np.array(["abc", "abd"]), "Row 0 of X is the string 'abc'"),
        ([{1}, 5], "Row 1 of X must be a set, or a list of what is in it, not 5"),
        ([{"a": 1}], "Row 0 of X must be a set"),
        ([["a", ["b"]]], "Row 0 of X holds something that cannot be hashed"),
        ("abc", "X is one str: put rows into a list"),
        ({1, 2}, "X is one set: put rows into a list"),
        (5, "X must be a sequence of rows, not 5"),
    ],
)
def test_bad_types(X, message):
    with pytest.raises(TypeError, match=message):
        Jaccard().pairwise(X)


def test_rows_that_do_not_fit_together():
    d = Jaccard()
    with pytest.raises(ValueError, match="X has 2 columns, but the rows it is compared with have 3"):
        d.pairwise(np.eye(2), np.eye(3))
    with pytest.raises(ValueError, match="X has 2 columns, but the rows it is compared with have 3"):
        d.pairwise(scipy.sparse.eye(2), np.eye(3) > 0)
    with pytest.raises(ValueError, match="'b' is only in X; 'c' is missing in X"):
        d.pairwise(pd.DataFrame({"a": [1], "b": [1]}), pd.DataFrame({"a": [1], "c": [1]}))
    with pytest.raises(ValueError, match="X holds Python sets, but the rows it is compared with are a table"):
        d.pairwise([{1}], np.eye(2))
    with pytest.raises(ValueError, match="X is a table, but the rows it is compared with are Python sets"):
        d.pairwise(np.eye(2), [{1}])
    with pytest.raises(ValueError, match="Python sets cannot be compared with rows of a table"):
        d.between(d.prepare([{1}]), d.prepare(np.eye(2)))
    with pytest.raises(ValueError, match="x has 2 columns"):
        d([0, 1], [1, 0, 1])
    with pytest.raises(ValueError, match="y must be one set, but has 2 rows: use pairwise"):
        d([0, 1], np.eye(2))


def test_bad_weights():
    with pytest.raises(ValueError, match="not negative"):
        Jaccard([1, -1])
    with pytest.raises(ValueError, match="There are 3 weights, but X has 2 columns"):
        Jaccard([1, 2, 3]).pairwise(np.eye(2))
    with pytest.raises(ValueError, match="There are 3 weights, but y has 2 columns"):
        Jaccard([1, 2, 3])([1, 0], [1, 0])
    with pytest.raises(ValueError, match="weights are of the columns of a table, but X holds Python sets"):
        Jaccard([1, 2, 3]).pairwise([{1}])


# Bits


@loop
def count_bits(words, counts):
    for i in range(len(words)):
        counts[i] = popcount(words[i])


def test_bits_are_counted_in_loops_as_in_python():
    words = np.random.default_rng(7).integers(-(2**63), 2**63, 100)
    words[:4] = 0, -1, -(2**63), 2**63 - 1
    counts = np.empty(len(words), np.int64)
    count_bits(given(words), counts)
    assert counts[:4].tolist() == [0, 64, 1, 63]
    assert counts.tolist() == [bin(word & 0xFFFFFFFFFFFFFFFF).count("1") for word in words.tolist()]
    assert counts.tolist() == [popcount(word) for word in words]
