"""Forms in which mixed tables come, and tables and parameters that make no sense."""

import datetime
import math
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

from bisector.distances.mixed import Column, Gower

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


# Forms of tables


def in_polars(table):
    as_enum = {"size": pl.Enum(SIZES)} if "size" in table else {}
    plain = {name: [None if pd.isna(v) else v for v in table[name]] for name in table}
    return pl.DataFrame(plain).with_columns(pl.col(name).cast(kind) for name, kind in as_enum.items())


def in_arrow(table):
    return pa.Table.from_pandas(table, preserve_index=False)


FORMS = {
    "pandas": lambda table: table,
    "pandas objects": lambda table: table.astype({name: object for name in table if name != "size"}),
    "pandas nullable": lambda table: table.convert_dtypes(),
    "pandas Arrow": lambda table: table.astype(
        {"age": "double[pyarrow]", "town": "string[pyarrow]", "children": "int8[pyarrow]"}
    ),
    "pandas categories": lambda table: table.astype({"town": "category"}),
    "pandas time zone": lambda table: table.assign(
        since=table["since"].dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo")
    ),
    "polars": in_polars,
    "polars categories": lambda table: in_polars(table).with_columns(pl.col("town").cast(pl.Categorical)),
    "polars dates": lambda table: in_polars(table).with_columns(pl.col("since").cast(pl.Date)),
    "Arrow table": in_arrow,
    "Arrow chunks": lambda table: pa.concat_tables([in_arrow(table.iloc[:2]), in_arrow(table.iloc[2:])]),
    "Arrow batch": lambda table: in_arrow(table).combine_chunks().to_batches()[0],
}


@pytest.mark.parametrize("form", FORMS)
def test_all_forms_of_a_table_say_the_same(form):
    expected = Gower().pairwise(people())
    table = FORMS[form](people())
    learned = Gower().learned(table)
    assert [column.kind for column in learned.columns] == [
        "numeric", "categorical", "ordinal", "boolean", "datetime", "numeric",
    ]  # fmt: skip
    np.testing.assert_array_equal(learned.pairwise(table), expected)
    np.testing.assert_array_equal(learned.pairwise(table, people()), expected)


def test_other_types_of_columns():
    table = pd.DataFrame(
        {"price": [Decimal("1.5"), Decimal("2.5"), Decimal("5.5")], "code": [(1, 2), (1, 3), (1, 2)]}
    )
    np.testing.assert_array_equal(Gower().pairwise(table)[0], [0, (0.25 + 1) / 2, 0.5])
    waits = pd.DataFrame({"wait": pd.to_timedelta([1, 2, 5], unit="h")})
    for form in (
        waits,
        pl.DataFrame({"wait": [datetime.timedelta(hours=h) for h in (1, 2, 5)]}),
        in_arrow(waits),
    ):
        learned = Gower().learned(form)
        assert learned.columns == (Column("wait", "duration", 3600e6, 4 * 3600e6),)
        np.testing.assert_array_equal(learned.pairwise(form)[0], [0, 0.25, 1])


def test_arrays():
    X = np.array([[0.0, 1.0], [5.0, np.nan], [10.0, 3.0]])
    np.testing.assert_array_equal(Gower().pairwise(X), [[0, 0.5, 1], [0.5, 0, 0.5], [1, 0.5, 0]])
    np.testing.assert_array_equal(Gower().pairwise(X.tolist()), Gower().pairwise(X))
    np.testing.assert_array_equal(Gower().pairwise(X.astype(object)), Gower().pairwise(X))
    np.testing.assert_array_equal(Gower().pairwise(pd.DataFrame(X)), Gower().pairwise(X))
    assert Gower().pairwise(np.array([[True, False], [True, True]]))[0, 1] == 0.5
    assert Gower().pairwise(np.array([["a", "b"], ["a", "c"]]))[0, 1] == 0.5
    assert Gower().pairwise([["a", 1], ["a", 2], ["b", 5]])[0, 1] == 1 / 8
    days = np.array([["2020-01-01"], ["2020-01-02"], ["NaT"], ["2020-01-05"]], dtype="datetime64[D]")
    assert Gower().pairwise(days)[0].tolist() == [0, 0.25, math.inf, 1]


def test_float32_gives_float32():
    X = np.random.default_rng(0).normal(size=(20, 3)).astype(np.float32)
    found = Gower().pairwise(X)
    assert found.dtype == np.float32
    # Half a unit in the last place of a float32 below 1.
    np.testing.assert_allclose(found, Gower().pairwise(X.astype(np.float64)), rtol=0, atol=2**-25)


def test_one_row_comes_in_many_forms():
    table = people()
    learned = Gower().learned(table)
    expected = learned.pairwise(table)[0, 1]
    rows = [
        table.iloc[0],
        dict(table.iloc[0]),
        list(table.iloc[0]),
        table.iloc[[0]],
        in_polars(table).row(0, named=True),
    ]
    for row in rows:
        assert learned(row, table.iloc[1]) == expected
    assert learned(table.iloc[2], [None] * 6) == math.inf


def test_names_do_not_matter_where_one_side_has_none():
    frame = pd.DataFrame({"a": [0.0, 1.0], "b": [0.0, 4.0]})
    assert Gower().learned(frame).pairwise(frame.to_numpy())[0, 1] == 1
    assert Gower().learned(frame.to_numpy()).pairwise(frame)[0, 1] == 1


def test_columns_that_hold_nothing():
    table = pd.DataFrame({"x": [np.nan, np.nan], "y": [None, None], "z": [0, 1]})
    assert Gower().pairwise(table)[0, 1] == 1
    learned = Gower().learned(people())
    nothing = people().astype(object)
    nothing["town"] = None
    assert np.isfinite(learned.pairwise(nothing.iloc[:2], people().iloc[:2])).all()


# Bad input


def changed(**columns):
    return people().assign(**columns)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (people().drop(columns="town"), "X has no column 'town'"),
        (changed(more=1), "X has the column 'more', which this distance does not know"),
        (people()[["town", "age", "size", "member", "since", "children"]], "order .* column 'town' is where 'age'"),
        (changed(age=["a", "b", "c", "d", "e"]), "Column 'age' holds 'a' in row 0, but numeric values"),
        (changed(age=people()["since"]), "Column 'age' of X is datetime, but numeric was learned"),
        (changed(town=[1, 2, 3, 4, 5]), "Column 'town' of X is numeric, but categorical was learned"),
        (changed(member=[1, 0, 1, 1, 0]), "Column 'member' of X is numeric, but boolean was learned"),
        (changed(size=pd.Categorical(["small"] * 5, SIZES[::-1], ordered=True)), "Column 'size' of X has the"),
        (changed(size=["small", "huge", None, None, None]), "Column 'size' holds 'huge' in row 1, but one of"),
        (changed(age=[1, 2, np.inf, 3, 4]), "X holds inf in row 2, column 'age'"),
        (changed(town=[["a"], "b", "c", "d", "e"]), "Column 'town' holds a list in row 0"),
        (people().to_numpy()[:, :3], "X has 3 columns, but this distance compares 6"),
        (scipy.sparse.csr_array(np.eye(6)), "X is sparse"),
        (np.zeros(6), "X must have rows and columns"),
        ([[1, 2], [3]], "X must have rows and columns"),
        (people().iloc[:, :0], "X has no columns"),
        (people().iloc[:, [0, 0]], "several columns called 'age'"),
        (np.zeros((2, 6), complex), "complex"),
    ],
)  # fmt: skip
def test_tables_that_do_not_fit(table, message):
    with pytest.raises(ValueError, match=message):
        Gower().learned(people()).pairwise(table)


def test_errors_name_the_table():
    with pytest.raises(ValueError, match="Y has no column 'town'"):
        Gower().pairwise(people(), people().drop(columns="town"))
    learned = Gower().learned(people())
    with pytest.raises(ValueError, match="x has no value for the column 'town'"):
        learned({"age": 3}, people().iloc[0])
    with pytest.raises(ValueError, match="y has a value for 'car', which is none"):
        learned(people().iloc[0], {**people().iloc[0], "car": 1})
    with pytest.raises(ValueError, match="one row each"):
        learned(people(), people())


def test_missing_values_can_be_refused():
    with pytest.raises(ValueError, match="X has no value in row 2, column 'age': fill it"):
        Gower(skip_missing=False).pairwise(people())


def test_it_must_have_learned():
    with pytest.raises(ValueError, match=r"does not know its columns yet: use learned\(X\)"):
        Gower()([1, 2], [3, 4])
    with pytest.raises(ValueError, match=r"does not know its columns yet"):
        Gower().prepare(people())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ranges": {"car": 1}}, "ranges names the column 'car', but the columns are 'age'"),
        ({"ranges": {"town": 1}}, "ranges names the column 'town', which is categorical"),
        ({"ranges": [1, 2]}, "There are 2 ranges, but the rows have 6 columns"),
        ({"weights": {"car": 1}}, "weights names the column 'car'"),
        ({"weights": [1, 2]}, "There are 2 weights, but the rows have 6 columns"),
        ({"weights": dict.fromkeys(people(), 0)}, "weights are all zero"),
        ({"categorical": ["car"]}, "categorical names the column 'car'"),
        ({"asymmetric": ["car"]}, "asymmetric names the column 'car'"),
        ({"asymmetric": ["age"]}, "Column 'age' is numeric: only Boolean columns can be asymmetric"),
    ],
)
def test_parameters_that_do_not_fit_the_columns(options, message):
    with pytest.raises(ValueError, match=message):
        Gower(**options).learned(people())


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"ranges": {"x": 0}}, ValueError, "range of column 'x' must be a number above 0, not 0"),
        ({"ranges": {"x": "wide"}}, TypeError, "range of column 'x' must be a number above 0"),
        ({"ranges": [1, -1]}, ValueError, "range of column 1 must be a number above 0"),
        ({"ranges": {"x": math.inf}}, ValueError, "range of column 'x' must be finite"),
        ({"weights": {"x": -1}}, ValueError, "weight of column 'x' must be a number at least 0"),
        ({"weights": {"x": math.inf}}, ValueError, "weight of column 'x' must be finite"),
        ({"weights": [1, math.nan]}, ValueError, "weights must be finite"),
        ({"categorical": "town"}, ValueError, "categorical must be a sequence"),
        ({"asymmetric": 3}, ValueError, "asymmetric must be a sequence"),
        ({"skip_missing": 1}, ValueError, "skip_missing must be True or False"),
        ({"columns": ["age"]}, ValueError, "columns must be a sequence of Column"),
        ({"columns": []}, ValueError, "columns must be a sequence of Column"),
    ],
)
def test_parameters_that_make_no_sense(options, error, message):
    with pytest.raises(error, match=message):
        Gower(**options)


def test_a_range_beyond_the_largest_number():
    with pytest.raises(ValueError, match="range of column 0 is beyond"):
        Gower().pairwise([[-1.7e308], [1.7e308]])
