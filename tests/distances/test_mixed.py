"""Gower's distance: by hand, against a loop over columns, and over the forms that tables come in."""

import datetime
import math
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from bisector.distances.mixed import Column, Gower
from bisector.distances.reductions import all_distances, counts_within, nearest, nearest_one, sums

SIZES = ["small", "medium", "large"]


def people():
    """Every kind of column, and in all but one of them something that is missing."""
    return pd.DataFrame(
        {
            "age": [20.0, 30.0, np.nan, 60.0, 35.0],
            "town": ["Bath", "Bristol", "Bath", None, "Wells"],
            "size": pd.Categorical(["small", "large", "medium", None, "small"], SIZES, ordered=True),
            "member": pd.array([True, False, None, True, True], dtype="boolean"),
            "since": pd.to_datetime(["2020-01-01", "2020-01-11", None, "2020-02-10", "2020-01-21"]),
            "children": [0, 2, 1, 0, 4],
        }
    )


def complete():
    return people().dropna().reset_index(drop=True)


def distance_by_loop(columns, x, y, weights=None, asymmetric=()):
    """The oracle: one pair of rows, column by column, on plain Python values."""
    total = counted = 0.0
    alike = False
    for j, (column, a, b) in enumerate(zip(columns, x, y, strict=True)):
        if pd.isna(a) or pd.isna(b):
            continue
        if column.name in asymmetric and not a and not b:
            alike = True
            continue
        if column.kind == "ordinal":
            a, b = column.categories.index(a), column.categories.index(b)
        if column.kind in ("categorical", "boolean") or not column.range:
            difference = float(a != b)
        else:
            gap = (a - b) / pd.Timedelta(microseconds=1) if column.kind == "datetime" else a - b
            difference = min(abs(gap) / column.range, 1.0)
        weight = 1.0 if weights is None else weights[j]
        total += weight * difference
        counted += weight
    return total / counted if counted else 0.0 if alike else math.inf


def all_by_loop(distance, X, Y, **options):
    rows, others = ([list(row) for row in table.itertuples(index=False)] for table in (X, Y))
    return np.array([[distance_by_loop(distance.columns, x, y, **options) for y in others] for x in rows])


# By hand


def test_numbers_differ_by_their_share_of_the_range():
    table = pd.DataFrame({"x": [0.0, 2.0, 8.0]})
    np.testing.assert_array_equal(Gower().pairwise(table)[0], [0, 0.25, 1])


def test_categories_differ_or_not():
    table = pd.DataFrame({"x": ["a", "b", "a"]})
    np.testing.assert_array_equal(Gower().pairwise(table), [[0, 1, 0], [1, 0, 1], [0, 1, 0]])


def test_ordered_categories_differ_by_their_ranks():
    table = pd.DataFrame({"x": pd.Categorical(["small", "large", "medium"], SIZES, ordered=True)})
    np.testing.assert_array_equal(Gower().pairwise(table)[0], [0, 1, 0.5])


def test_the_scale_of_ordered_categories_does_not_depend_on_which_were_seen():
    table = pd.DataFrame({"x": pd.Categorical(["small", "medium"], SIZES, ordered=True)})
    assert Gower().pairwise(table)[0, 1] == 0.5


def test_what_is_missing_does_not_count():
    table = pd.DataFrame({"x": [0.0, 4.0, np.nan], "y": ["a", "a", "b"], "z": [None, "c", "c"]})
    np.testing.assert_array_equal(
        Gower(weights={"x": 3}).pairwise(table), [[0, 3 / 4, 1], [3 / 4, 0, 1 / 2], [1, 1 / 2, 0]]
    )


def test_rows_with_nothing_in_common_are_infinitely_far_apart():
    table = pd.DataFrame({"x": [0.0, np.nan, 1.0], "y": [None, "a", "b"]})
    assert Gower().pairwise(table)[0, 1] == math.inf


def test_a_column_with_one_value_is_compared_by_equality():
    learned = Gower().learned(pd.DataFrame({"x": [5.0, 5.0], "y": [0.0, 1.0]}))
    assert learned([5, 0], [5, 1]) == 0.5
    assert learned([5, 0], [7, 0]) == learned([8, 0], [7, 0]) == 0.5
    assert learned([7, 0], [7, 0]) == 0


def test_what_lies_outside_the_range_differs_by_one_at_most():
    learned = Gower().learned([[0.0], [10.0]])
    assert learned([-5], [0]) == 0.5
    assert learned([-50], [0]) == learned([-50], [50]) == learned([-1e308], [1e308]) == 1


def test_unknown_categories_differ_from_all_others_but_not_from_themselves():
    learned = Gower().learned(pd.DataFrame({"x": ["a", "b"]}))
    new = pd.DataFrame({"x": ["c", "a", "d", "c"]})
    np.testing.assert_array_equal(learned.pairwise(new), Gower().pairwise(new))
    np.testing.assert_array_equal(learned.pairwise(new, new.iloc[[3, 2]]), [[0, 1], [1, 1], [1, 0], [0, 1]])


def test_asymmetric_columns_do_not_count_where_both_are_false():
    table = pd.DataFrame({"a": [True, False, False], "b": [True, True, False], "c": [False, False, False]})
    found = Gower(asymmetric=["a", "b", "c"]).pairwise(table)
    np.testing.assert_array_equal(found, [[0, 1 / 2, 1], [1 / 2, 0, 1], [1, 1, 0]])  # 1 − Jaccard


def test_codes_can_be_categories():
    table = np.array([[1.0, 0.0], [2.0, 0.0], [9.0, 1.0]])
    np.testing.assert_array_equal(Gower(categorical=[0]).pairwise(table)[0], [0, 0.5, 1])


def test_ranges_can_be_given():
    table = pd.DataFrame({"x": [0.0, 2.0], "day": pd.to_datetime(["2020-01-01", "2020-01-04"])})
    by_name = Gower({"x": 8, "day": datetime.timedelta(days=30)})
    assert by_name.pairwise(table)[0, 1] == (2 / 8 + 3 / 30) / 2
    in_order = Gower([8, math.nan])
    assert in_order.pairwise(table)[0, 1] == (2 / 8 + 1) / 2
    days = Gower({"day": np.timedelta64(30, "D")}).learned(table)
    assert days.columns[1].range == 30 * 86400e6


# Against the loop


@pytest.mark.parametrize("weights", [None, [2.0, 0.5, 1.0, 0.0, 3.0, 0.7]])
@pytest.mark.parametrize("asymmetric", [(), ("member",)])
@pytest.mark.parametrize("table", [people, complete])
def test_equals_the_loop_over_columns(table, asymmetric, weights):
    learned = Gower(weights=weights, asymmetric=asymmetric).learned(people())
    expected = all_by_loop(learned, table(), people(), weights=weights, asymmetric=asymmetric)
    # Each of six terms is rounded a few times.
    np.testing.assert_allclose(learned.pairwise(table(), people()), expected, rtol=1e-14, atol=1e-15)


@st.composite
def tables(draw, missing=True):
    """Tables of a few rows and columns of all kinds, and how much the columns weigh."""
    n = draw(st.integers(1, 7))
    kinds = {
        "numeric": st.sampled_from([-1e6, -1.5, 0.0, 0.25, 1.0, 3.0, 1e6]) | st.floats(-100, 100, width=32),
        "integer": st.integers(-3, 3),
        "text": st.sampled_from(["a", "b", "c"]),
        "flag": st.booleans(),
        "ordered": st.sampled_from(SIZES),
        "date": st.datetimes(datetime.datetime(2000, 1, 1), datetime.datetime(2000, 3, 1)),
    }
    chosen = draw(st.lists(st.sampled_from(sorted(kinds)), min_size=1, max_size=5))
    data = {}
    for j, kind in enumerate(chosen):
        values = st.lists(kinds[kind] | st.none() if missing else kinds[kind], min_size=n, max_size=n)
        column = pd.Series(draw(values), dtype=object)
        if kind == "ordered":
            column = pd.Series(pd.Categorical(column, SIZES, ordered=True))
        data[f"{kind} {j}"] = column
    weights = draw(
        st.none() | st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=len(chosen), max_size=len(chosen))
    )
    return pd.DataFrame(data), weights


@given(tables())
@settings(max_examples=60)
def test_any_table_equals_the_loop(drawn):
    table, weights = drawn
    learned = Gower(weights=weights).learned(table)
    found = learned.pairwise(table)
    np.testing.assert_allclose(
        found, all_by_loop(learned, table, table, weights=weights), rtol=1e-13, atol=1e-15
    )
    np.testing.assert_array_equal(found, found.T)
    finite = found[np.isfinite(found)]
    assert ((finite >= 0) & (finite <= 1)).all()


@given(tables(missing=False), st.booleans())
@settings(max_examples=80)
def test_a_metric_without_missing_values(drawn, one_sided):
    table, weights = drawn
    flags = [name for name in table if one_sided and name.startswith("flag")]
    learned = Gower(weights=weights, asymmetric=flags, skip_missing=False).learned(table.iloc[:3])
    assert learned.law == "metric"
    found = learned.pairwise(table)
    np.testing.assert_array_equal(found, found.T)
    assert (np.diag(found) == 0).all()
    # A detour may be shorter by what rounding does to five terms of at most 1.
    assert (found <= (found[:, :, None] + found[None]).min(axis=1) + 1e-15).all()
    values = [tuple(row) for row in table.itertuples(index=False)]
    for i, x in enumerate(values):
        for j, y in enumerate(values):
            assert (found[i, j] == 0) == (x == y)


def test_what_is_missing_breaks_the_triangle():
    """Why the law is "none" then."""
    found = Gower().pairwise(pd.DataFrame({"x": [0.0, np.nan, 1.0], "y": [0.0, 0.0, 0.0]}))
    assert found[0, 2] > found[0, 1] + found[1, 2]


@pytest.mark.parametrize(
    ("distance", "law"),
    [
        (Gower(), "none"),
        (Gower(skip_missing=False), "metric"),
        (Gower(weights=[1, 2], skip_missing=False), "metric"),
        (Gower(weights=[1, 0], skip_missing=False), "pseudo-metric"),
        (Gower(weights={"x": 0}, skip_missing=False), "pseudo-metric"),
        (Gower(skip_missing=False, asymmetric=["x"]), "metric"),
    ],
)
def test_law(distance, law):
    assert distance.law == law


def test_rescaling_and_moving_numbers_changes_nothing_unless_ranges_are_given():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    other = X * [3.0, 0.01, 700.0] + [1.0, -5.0, 4e6]
    # Numbers near 4e6, of which 700 is the range, are rounded by 1e-12 of it.
    np.testing.assert_allclose(Gower().pairwise(other), Gower().pairwise(X), rtol=0, atol=1e-12)
    assert Gower().scale_invariant
    assert Gower().translation_invariant
    assert not Gower([1.0, 2.0, 3.0]).scale_invariant


# What every distance must do


@pytest.fixture(scope="module")
def large():
    """Enough rows for several tiles, numbers on a coarse grid so that distances tie."""
    rng = np.random.default_rng(3)

    def table(n, missing):
        made = pd.DataFrame(
            {
                "x": rng.integers(0, 6, n).astype(float),
                "y": rng.integers(0, 9, n).astype(float),
                "town": rng.choice(["a", "b", "c"], n),
                "flag": rng.random(n) < 0.3,
            }
        )
        if missing:
            made.loc[rng.random(n) < 0.1, "x"] = np.nan
            made.loc[rng.random(n) < 0.1, "town"] = None
        return made

    return table


@pytest.mark.parametrize("options", [{}, {"asymmetric": ["flag"]}, {"weights": [0.1, 0.2, 0.3, 0.7]}])
@pytest.mark.parametrize("missing", [False, True])
def test_reductions(large, missing, options):
    X, Y = large(130, missing), large(700, missing)
    distance = Gower(**options).learned(Y)
    references = distance.prepare(Y)
    queries = distance.prepare(X, like=references)
    matrix = all_distances(distance, queries, references)
    order = np.argsort(matrix, axis=1, kind="stable")[:, :7]
    distances, numbers = nearest(distance, queries, references, k=7)
    np.testing.assert_array_equal(numbers, order)
    np.testing.assert_array_equal(distances, np.take_along_axis(matrix, order, axis=1))
    np.testing.assert_array_equal(nearest_one(distance, queries, references)[1], order[:, 0])
    np.testing.assert_array_equal(
        counts_within(distance, queries, references, 0.25), (matrix <= 0.25).sum(axis=1)
    )
    np.testing.assert_allclose(sums(distance, queries, references), matrix.sum(axis=1), rtol=1e-12)
    np.testing.assert_array_equal(distance.pairwise(Y, X), matrix.T)


@pytest.mark.parametrize("missing", [False, True])
def test_no_number_depends_on_tiles_or_on_other_rows(large, missing):
    table = large(40, missing)
    distance = Gower(weights=[0.1, 0.2, 0.3, 0.7]).learned(table)
    rows = distance.prepare(table)
    matrix = all_distances(distance, rows, n_jobs=1)
    pairs = distance.between(rows, rows)
    out = np.full((20, 30), -1.0)
    pairs.fill(range(3, 9), range(17, 40), out, 2, 5)
    np.testing.assert_array_equal(out[2:8, 5:28], matrix[3:9, 17:40])
    assert (out == -1).sum() == out.size - 6 * 23
    whole = np.flatnonzero(~table.isna().any(axis=1))
    np.testing.assert_array_equal(distance.pairwise(table.iloc[whole]), matrix[np.ix_(whole, whole)])
    assert all(distance(table.iloc[0], table.iloc[j]) == matrix[0, j] for j in range(5))


def test_rows_prepared_apart_still_mean_the_same_categories():
    table = pd.DataFrame({"x": ["a", "b", "c", "d"], "y": [1.0, 1.0, 2.0, 3.0]})
    distance = Gower().learned(table.iloc[:1])
    parts = [distance.prepare(table.iloc[[i]]) for i in (3, 1, 2, 0)]
    joined = parts[0].joined(parts[1:])
    apart = np.array([[all_distances(distance, one, other)[0, 0] for other in parts] for one in parts])
    expected = Gower().learned(table.iloc[:1]).pairwise(table.iloc[[3, 1, 2, 0]])
    np.testing.assert_array_equal(apart, expected)
    np.testing.assert_array_equal(all_distances(distance, joined), expected)
    np.testing.assert_array_equal(
        all_distances(distance, joined.take(np.array([2, 0])), parts[1]), expected[[2, 0], 1:2]
    )


def test_it_is_a_value():
    distance = Gower({"age": 50}, {"age": 2.0, "town": 1}, skip_missing=False)
    learned = distance.learned(complete())
    assert learned == distance.learned(complete()) != distance
    assert hash(learned) == hash(distance.learned(complete()))
    assert learned.learned(people()) is learned
    assert pickle.loads(pickle.dumps(learned)) == learned
    assert learned.set_params(weights=None).weights is None
    assert Gower(weights=[1, 2]) == Gower(weights=np.array([1.0, 2.0])) != Gower(weights=[2, 1])
    assert (
        repr(distance) == "Gower(ranges={'age': 50.0}, weights={'age': 2.0, 'town': 1.0}, skip_missing=False)"
    )
    assert eval(repr(learned), {"Gower": Gower, "Column": Column}) == learned
    with pytest.raises(TypeError, match="cannot be changed"):
        learned.weights["age"] = 5


def test_the_parameters_are_not_changed_by_learning():
    distance = Gower()
    distance.learned(people())
    assert distance == Gower()
    assert distance.columns is None


def test_empty_tables():
    learned = Gower().learned(people())
    assert learned.pairwise(people().iloc[:0], people()).shape == (0, 5)
    with pytest.raises(ValueError, match="X has no rows to learn"):
        Gower().learned(people().iloc[:0])
