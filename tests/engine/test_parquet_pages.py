"""Columns read from Parquet files without a decoder: what Arrow reads, where it can be, and Arrow elsewhere."""

import os
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings, strategies as st
from pyarrow.fs import LocalFileSystem, SubTreeFileSystem

import bisector
from bisector.engine.loops import given as given_to_loop
from bisector.engine.mapped import mapped
from bisector.engine.parquet_pages import FEWEST_ROWS, cut_at_pages, plain_columns
from bisector.engine.parquet_pages_loops import read_page
from bisector.engine.sources import source
from bisector.engine.upright_loops import stand_upright

N, FLOAT = 30_001, pa.float64()


def numbers(kind=FLOAT):
    values = np.random.default_rng(0).normal(0.0, 1e3, N)
    if pa.types.is_floating(kind):
        values[::7] = np.nan
        values[1] = np.inf
    return pa.array(values.astype(kind.to_pandas_dtype()), kind)


def write(path, table, **options):
    options = {"compression": None, "use_dictionary": False, "row_group_size": 10_000, **options}
    pq.write_table(table, path, **options)
    (fragment,) = ds.dataset(path, format="parquet").get_fragments()
    return fragment


def read_plainly(fragment, name):
    """Return a column that was read without a decoder."""
    parts = []
    with open(fragment.path, "rb", buffering=0) as file:
        for group in range(fragment.metadata.num_row_groups):
            (column,) = plain_columns(fragment, group, [name])
            for first, last in pairwise(cut_at_pages([column], 0, column.starts[-1])):
                place, size = column.place(first), column.stored_as.itemsize
                assert column.place(last - 1) == place + (last - first - 1) * size
                raw = mapped(file.fileno(), place, place + (last - first) * size)
                parts.append(np.frombuffer(raw, column.stored_as))
    return np.concatenate(parts)


@pytest.mark.parametrize("kind", [pa.float64(), pa.float32(), pa.int64(), pa.int32()], ids=str)
@pytest.mark.parametrize("nullable", [True, False])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("page", [2**14, 2**20])
def test_numbers_are_those_that_arrow_reads(kind, nullable, version, page, tmp_path):
    schema = pa.schema([pa.field("before", pa.string()), pa.field("x", kind, nullable=nullable)])
    table = pa.table([pa.array(["a", None, "b"] * 10_000 + ["c"]), numbers(kind)], schema=schema)
    fragment = write(
        tmp_path / "rows.parquet", table, data_page_version=version, data_page_size=page, write_batch_size=16
    )
    expected = fragment.to_table(columns=["x"]).column(0).to_numpy()
    np.testing.assert_array_equal(read_plainly(fragment, "x"), expected)


def test_pages_that_are_worth_it(tmp_path):
    write_small = {"data_page_size": 2**14, "write_batch_size": 16}
    fragment = write(tmp_path / "rows.parquet", pa.table({"x": numbers()}), **write_small)
    (column,) = plain_columns(fragment, 0, ["x"])
    assert 4 < len(column.places) <= 10_000 / FEWEST_ROWS
    assert column.starts[-1] == 10_000
    write_tiny = {"data_page_size": 2**10, "write_batch_size": 16}
    fragment = write(tmp_path / "more.parquet", pa.table({"x": numbers()}), **write_tiny)
    assert plain_columns(fragment, 0, ["x"]) is None


MISSING = pa.array([1.0, None, 3.0])
DECODED = {
    "missing numbers": (MISSING, {}),
    "unknown whether numbers are missing": (numbers(), {"write_statistics": False}),
    "a dictionary": (numbers(), {"use_dictionary": True}),
    "compression": (numbers(), {"compression": "zstd"}),
    "split bytes": (numbers(), {"column_encoding": {"x": "BYTE_STREAM_SPLIT"}}),
    "differences": (numbers(pa.int64()), {"column_encoding": {"x": "DELTA_BINARY_PACKED"}}),
    "points in time": (numbers(pa.int64()).cast(pa.timestamp("us")), {}),
    "small integers": (pa.array([1, 2], pa.int8()), {}),
    "words": (pa.array(["a", "b"]), {}),
    "truths": (pa.array([True, False]), {}),
    "lists": (pa.array([[1.0], [2.0]]), {}),
    "structures": (pa.array([{"a": 1.0}]), {}),
}


@pytest.mark.parametrize(("values", "options"), DECODED.values(), ids=DECODED.keys())
def test_all_else_is_left_to_arrow(values, options, tmp_path):
    plain = pa.array(np.ones(len(values)))
    fragment = write(tmp_path / "rows.parquet", pa.table({"x": values, "plain": plain}), **options)
    assert plain_columns(fragment, 0, ["x"]) is None
    assert plain_columns(fragment, 0, ["plain", "x"]) is None
    assert plain_columns(fragment, 0, ["no such"]) is None


def test_files_elsewhere_are_left_to_arrow(tmp_path):
    write(tmp_path / "rows.parquet", pa.table({"x": numbers()}))
    elsewhere = SubTreeFileSystem(str(tmp_path), LocalFileSystem())
    (fragment,) = ds.dataset("rows.parquet", filesystem=elsewhere, format="parquet").get_fragments()
    assert plain_columns(fragment, 0, ["x"]) is None


@pytest.mark.parametrize(
    "options",
    [{}, {"data_page_size": 2**14, "write_batch_size": 16}, {"data_page_size": 512, "write_batch_size": 16}],
    ids=["large", "small", "tiny"],
)
@pytest.mark.parametrize("dtype", [pa.float64(), pa.float32()], ids=str)
@pytest.mark.parametrize("others", [{}, {"count": numbers(pa.int32())}], ids=["one type", "two types"])
@pytest.mark.parametrize("memory", ["1 MB", "2 GB"])
def test_blocks_are_the_same_as_from_a_compressed_file(options, dtype, others, memory, tmp_path):
    table = pa.table({"x": numbers(dtype), **others, "z": numbers(dtype), "y": numbers(dtype)})
    write(tmp_path / "plain.parquet", table, **options)
    write(tmp_path / "packed.parquet", table, compression="snappy", use_dictionary=True)
    with bisector.config(memory=memory):
        for y in ("y", None):
            sources = [source(tmp_path / name, y) for name in ("plain.parquet", "packed.parquet")]
            for plain, packed in zip(*(made.blocks() for made in sources), strict=True):
                assert plain.X.dtype == packed.X.dtype
                np.testing.assert_array_equal(plain.X, packed.X)
                np.testing.assert_array_equal(plain.y, packed.y)
            rows = [5, 29_999, 10_000, 5]
            np.testing.assert_array_equal(sources[0].take(rows), sources[1].take(rows))


def test_a_file_cut_short_meanwhile_is_an_error(tmp_path):
    path = tmp_path / "rows.parquet"
    write(path, pa.table({"x": numbers(), "y": numbers()}))
    made = source(path)
    blocks = made.blocks()
    next(blocks)
    os.truncate(path, 5000)
    with pytest.raises(OSError, match="shorter than when it was opened"):
        list(made.blocks(range(1)))


def test_a_header_that_says_something_else_is_left_to_arrow(tmp_path):
    path = tmp_path / "rows.parquet"
    fragment = write(path, pa.table({"x": numbers()}))
    place = fragment.metadata.row_group(0).column(0).data_page_offset
    with open(path, "r+b") as file:
        file.seek(place)
        file.write(b"\xff" * 8)
    assert plain_columns(fragment, 0, ["x"]) is None


@settings(max_examples=300, deadline=None)
@given(head=st.binary(min_size=1, max_size=80), optional=st.booleans())
def test_no_bytes_lead_astray(head, optional):
    count, before, size = read_page(np.frombuffer(bytearray(head), np.uint8), 8, optional)
    assert count == 0 or (before > 0 and size == before + 8 * count)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_columns", [1, 7, 8, 16, 35])
@pytest.mark.parametrize("count", [0, 1, 8, 23, 2600])
@pytest.mark.parametrize("shift", [0, 3])
def test_columns_become_rows(dtype, n_columns, count, shift):
    columns = np.random.default_rng(1).normal(size=(n_columns, 2611)).astype(dtype)
    raw = np.concatenate([np.zeros(shift, np.uint8), columns.reshape(-1).view(np.uint8)])
    places = shift + np.arange(n_columns) * columns.strides[0]
    expected = np.zeros((2605, n_columns), dtype)
    expected[2 : 2 + count] = columns[:, 3 : 3 + count].T
    for copy in (stand_upright, stand_upright.py_func):
        table = np.zeros_like(expected)
        copy(given_to_loop(raw, np.uint8), given_to_loop(places), 3, count, table, 2)
        np.testing.assert_array_equal(table, expected)
