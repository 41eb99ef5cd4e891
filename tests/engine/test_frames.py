"""Frames and files: columns by name, missing values, text, and data on disk that come in parts."""

import datetime
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import pytest

from bisector.engine.sources import Source, source

nan = np.nan
COLUMNS: dict[str, list[Any]] = {
    "a": [1.0, 2.0, 3.0, 4.0, 5.0],
    "y": [10, 20, 30, 40, 50],
    "b": [100.0, 200.0, 300.0, 400.0, 500.0],
    "z": [-1.0, -2.0, -3.0, -4.0, -5.0],
}


def parquet(table: Any, folder: Path) -> Path:
    """Write row groups of two rows."""
    pa.parquet.write_table(pa.table(table), folder / "table.parquet", row_group_size=2)
    return folder / "table.parquet"


HOLDERS = {
    "pandas": lambda columns, _: pd.DataFrame(columns),
    "polars": lambda columns, _: pl.DataFrame(columns, strict=False),
    "Arrow table": lambda columns, _: pa.table(columns),
    "Arrow batch": lambda columns, _: pa.table(columns).to_batches()[0],
    "Parquet": parquet,
}


@pytest.fixture(params=HOLDERS)
def hold(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """Give a function that turns columns into X of one kind after another."""
    return lambda columns: HOLDERS[request.param](columns, tmp_path)


def whole(rows: Source) -> np.ndarray[Any, Any]:
    return np.vstack([block.X for block in rows.blocks()])


def targets(rows: Source) -> np.ndarray[Any, Any]:
    return np.concatenate([block.y for block in rows.blocks()])


# Columns by name


def test_y_may_be_the_name_of_a_column(hold: Any) -> None:
    rows = source(hold(COLUMNS), "y", block_rows=3)
    assert rows.single_target
    assert rows.feature_names == ["a", "b", "z"]
    np.testing.assert_array_equal(whole(rows), np.column_stack([COLUMNS["a"], COLUMNS["b"], COLUMNS["z"]]))
    np.testing.assert_array_equal(targets(rows), COLUMNS["y"])


@pytest.mark.parametrize("kind", [list, tuple])
def test_y_may_be_the_names_of_several_columns_in_any_order(hold: Any, kind: Any) -> None:
    rows = source(hold(COLUMNS), kind(["z", "y"]), block_rows=3)
    assert not rows.single_target
    assert rows.feature_names == ["a", "b"]
    np.testing.assert_array_equal(whole(rows), np.column_stack([COLUMNS["a"], COLUMNS["b"]]))
    np.testing.assert_array_equal(targets(rows), np.column_stack([COLUMNS["z"], COLUMNS["y"]]))


def test_a_list_of_one_name_gives_a_matrix_of_one_column(hold: Any) -> None:
    rows = source(hold(COLUMNS), ["y"])
    assert not rows.single_target
    assert targets(rows).shape == (5, 1)


def test_y_may_be_an_array_beside_a_file(hold: Any) -> None:
    y = np.arange(5.0)
    rows = source(hold(COLUMNS), y, block_rows=1)
    assert rows.n_features == 4
    np.testing.assert_array_equal(targets(rows), y)


def test_a_name_that_is_no_column(hold: Any) -> None:
    X = hold(COLUMNS)
    with pytest.raises(
        ValueError, match=r"y names the column 'w', which X does not have; it has \['a', 'y',"
    ):
        source(X, "w")
    with pytest.raises(ValueError, match="y names the column 'w'"):
        source(X, ["y", "w"])


def test_names_that_are_not_unique() -> None:
    numbers = np.arange(6.0).reshape(2, 3)
    frame = pd.DataFrame(numbers, columns=["a", "a", "y"])
    np.testing.assert_array_equal(whole(source(frame, "y")), numbers[:, :2])
    with pytest.raises(ValueError, match="y names the column 'a', of which X has 2"):
        source(frame, "a")
    table = pa.table(list(numbers.T), names=["a", "a", "y"])
    np.testing.assert_array_equal(whole(source(table, "y")), numbers[:, :2])
    with pytest.raises(ValueError, match="several columns called 'a'"):
        source(pa.dataset.dataset(table), "y")


def test_a_target_beside_columns_named_by_numbers() -> None:
    frame = pd.DataFrame(np.arange(6.0).reshape(2, 3), columns=[0, 1, "y"])
    rows = source(frame, "y")
    assert rows.feature_names is None
    np.testing.assert_array_equal(whole(rows), [[0, 1], [3, 4]])
    np.testing.assert_array_equal(targets(rows), [2, 5])


def test_names_with_dots_are_no_paths(tmp_path: Path) -> None:
    table = pa.table({"a": [1.0, 2.0], "a.b": [3.0, 4.0], "c": [5.0, 6.0]})
    pa.parquet.write_table(table, tmp_path / "dots.parquet")
    for X in (tmp_path / "dots.parquet", pa.dataset.dataset(table)):
        rows = source(X, "a")
        np.testing.assert_array_equal(whole(rows), [[3, 5], [4, 6]])
        np.testing.assert_array_equal(targets(rows), [1, 2])


def test_float32_columns_stay_so_beside_a_float64_target(hold: Any) -> None:
    third = np.array([1 / 3, 2 / 3])
    columns = {"a": third.astype(np.float32), "y": third, "b": third.astype(np.float32)}
    rows = source(hold(columns), "y")
    assert whole(rows).dtype == np.float32
    np.testing.assert_array_equal(whole(rows), np.column_stack([columns["a"], columns["b"]]))
    np.testing.assert_array_equal(targets(rows), third)


def test_one_column_of_another_type_makes_all_of_them_float64(hold: Any) -> None:
    rows = source(hold({"a": np.float32([1, 2]), "b": np.array([2**24 + 1, 0])}))
    np.testing.assert_array_equal(whole(rows), [[1, 2**24 + 1], [2, 0]])


# Missing values and values that are no numbers


@pytest.mark.parametrize(
    ("column", "numbers"),
    [
        ([1.5, None, 3.5], [1.5, nan, 3.5]),
        ([1, None, 3], [1, nan, 3]),
        ([True, None, False], [1, nan, 0]),
        ([None, None, None], [nan, nan, nan]),
        ([Decimal("1.5"), None, Decimal(2)], [1.5, nan, 2]),
    ],
    ids=["floats", "integers", "booleans", "nothing", "decimals"],
)
def test_missing_values_become_nan(hold: Any, column: list[Any], numbers: list[float]) -> None:
    rows = source(hold({"a": column, "b": [7, 8, 9]}), block_rows=2)
    np.testing.assert_array_equal(whole(rows), np.column_stack([numbers, [7, 8, 9]]))


@pytest.mark.parametrize("dtype", ["Int8", "UInt16", "Float64", "boolean", "int64[pyarrow]", object])
def test_missing_values_of_pandas_types_become_nan(dtype: Any) -> None:
    frame = pd.DataFrame({"a": pd.array([1, pd.NA, 0], dtype=dtype)})
    np.testing.assert_array_equal(whole(source(frame)), [[1], [nan], [0]])


@pytest.mark.parametrize(
    ("column", "row", "value"),
    [
        (["1", "2", "red", "4"], 2, "'red'"),
        ([datetime.date(2020, 1, 1)] * 4, 0, "2020"),
        ([datetime.timedelta(1)] * 4, 0, ""),
        ([[1.0], [2.0], [3.0], [4.0]], 0, ""),
    ],
    ids=["text", "dates", "durations", "lists"],
)
def test_what_is_no_number_is_named_with_its_column_and_row(
    hold: Any, column: list[Any], row: int, value: str
) -> None:
    expected = (
        f"Column 'colour' holds .*{value}.* in row {row}, which is not a number: encode the column first"
    )
    X = hold({"a": [1.0, 2.0, 3.0, 4.0], "colour": column})
    for y in (None, "colour"):
        with pytest.raises(ValueError, match=expected):
            list(source(X, y, block_rows=1).blocks())


def test_complex_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="Column 'a' holds 1j in row 0, which is not a number"):
        source(pd.DataFrame({"a": [1j]}))


# Data on disk


def test_a_batch_of_the_file_need_not_be_a_block(tmp_path: Path) -> None:
    """Row groups, pages and blocks of incommensurable lengths meet."""
    X = np.arange(1000.0).reshape(500, 2)
    table = pa.table(list(X.T), names=["a", "b"])
    pa.parquet.write_table(table, tmp_path / "t.parquet", row_group_size=130, data_page_size=64)
    for block_rows in (1, 7, 64, 129, 130, 131, 1000):
        rows = source(tmp_path / "t.parquet", block_rows=block_rows)
        np.testing.assert_array_equal(whole(rows), X)


def test_columns_are_found_by_name_in_every_file(tmp_path: Path) -> None:
    pa.parquet.write_table(pa.table({"a": [1.0], "b": [2.0], "y": [3]}), tmp_path / "1.parquet")
    pa.parquet.write_table(pa.table({"y": [6.0], "b": [5], "a": [4.0]}), tmp_path / "2.parquet")
    pa.parquet.write_table(pa.table({"y": [8.0], "a": [7.0]}), tmp_path / "3.parquet")
    rows = source(tmp_path, "y")
    np.testing.assert_array_equal(whole(rows), [[1, 2], [4, 5], [7, nan]])
    np.testing.assert_array_equal(targets(rows), [3, 6, 8])


def test_only_the_features_that_are_known_are_read_in_their_order(tmp_path: Path) -> None:
    path = parquet(COLUMNS | {"note": ["text"] * 5}, tmp_path)
    rows = source(path, features=["z", "a"])
    assert rows.feature_names == ["z", "a"]
    np.testing.assert_array_equal(whole(rows), np.column_stack([COLUMNS["z"], COLUMNS["a"]]))
    assert source(path, features=["a", "unheard of"]).feature_names == [*COLUMNS, "note"]


@pytest.mark.parametrize("format", ["parquet", "feather"])
def test_what_folders_are_named_by_is_a_column(tmp_path: Path, format: str) -> None:
    table = pa.table({"year": [2023, 2024, 2023], "a": [1.0, 2.0, 3.0]})
    schema = pa.schema([("year", pa.int64())])
    flavor = pa.dataset.partitioning(schema, flavor="hive")
    pa.dataset.write_dataset(table, tmp_path, format=format, partitioning=flavor)
    rows = source(pa.dataset.dataset(tmp_path, format=format, partitioning=flavor), "year")
    assert sorted(zip(whole(rows)[:, 0], targets(rows), strict=True)) == [(1, 2023), (2, 2024), (3, 2023)]


def test_a_filtered_dataset_is_not_read_without_its_filter(tmp_path: Path) -> None:
    dataset = pa.dataset.dataset(parquet(COLUMNS, tmp_path)).filter(pa.dataset.field("a") > 2)
    with pytest.raises(ValueError, match="filter"):
        source(dataset)


def test_a_path_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        source(tmp_path / "nowhere.parquet")


def test_without_pyarrow_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("pyarrow", "pyarrow.dataset"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(
        ImportError, match=r"Reading table\.parquet needs pyarrow: install it with `pip install"
    ):
        source("table.parquet")


def test_a_library_that_is_half_imported_by_another_thread_has_made_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for library in ("pandas", "polars", "pyarrow", "pyarrow.dataset"):
        monkeypatch.setitem(sys.modules, library, type(sys)(library))
    assert source(np.ones((2, 3))).n_features == 3
