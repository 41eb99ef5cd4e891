"""Columns read from Parquet files without a decoder: what Arrow reads, where it can be, and Arrow elsewhere."""

import os

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings, strategies as st
from pyarrow.fs import LocalFileSystem, SubTreeFileSystem

from bisector.engine.parquet_pages import plain_columns
from bisector.engine.parquet_pages_loops import read_page
from bisector.engine.sources import source
from bisector.engine.upright_loops import stand_upright

N, FLOAT = 3001, pa.float64()


def numbers(kind=FLOAT):
    values = np.random.default_rng(0).normal(0.0, 1e3, N)
    if pa.types.is_floating(kind):
        values[::7] = np.nan
        values[1] = np.inf
    return pa.array(values.astype(kind.to_pandas_dtype()), kind)


def write(path, table, **options):
    options = {"compression": None, "use_dictionary": False, "row_group_size": 1000, **options}
    pq.write_table(table, path, **options)
    (fragment,) = ds.dataset(path, format="parquet").get_fragments()
    return fragment


def read_plainly(fragment, name, dtype=np.float64):
    """Return a column that was read without a decoder, in uneven pieces."""
    parts = []
    with open(fragment.path, "rb", buffering=0) as file:
        for group in range(fragment.metadata.num_row_groups):
            (column,) = plain_columns(fragment, group, [name])
            rows = fragment.metadata.row_group(group).num_rows
            into = np.full(rows, -1.0, dtype)
            for first in range(0, rows, 77):
                column.read(file.fileno(), first, into[first : first + 77])
            parts.append(into)
    return np.concatenate(parts)


@pytest.mark.parametrize("kind", [pa.float64(), pa.float32(), pa.int64(), pa.int32()], ids=str)
@pytest.mark.parametrize("nullable", [True, False])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("page", [256, 2**20])
def test_numbers_are_those_that_arrow_reads(kind, nullable, version, page, tmp_path):
    schema = pa.schema([pa.field("before", pa.string()), pa.field("x", kind, nullable=nullable)])
    table = pa.table([pa.array(["a", None, "b"] * 1000 + ["c"]), numbers(kind)], schema=schema)
    fragment = write(
        tmp_path / "rows.parquet", table, data_page_version=version, data_page_size=page, write_batch_size=16
    )
    expected = fragment.to_table(columns=["x"]).column(0).to_numpy()
    for dtype in (np.float64, np.float32):
        np.testing.assert_array_equal(read_plainly(fragment, "x", dtype), expected.astype(dtype))


def test_a_small_page_size_makes_many_pages(tmp_path):
    fragment = write(
        tmp_path / "rows.parquet", pa.table({"x": numbers()}), data_page_size=256, write_batch_size=16
    )
    (column,) = plain_columns(fragment, 0, ["x"])
    assert len(column.places) > 20
    assert column.starts[-1] == 1000


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
    "options", [{}, {"data_page_size": 512, "write_batch_size": 16}], ids=["large", "small"]
)
@pytest.mark.parametrize("dtype", [pa.float64(), pa.float32()], ids=str)
def test_blocks_are_the_same_as_from_a_compressed_file(options, dtype, tmp_path):
    table = pa.table({"x": numbers(dtype), "count": numbers(pa.int32()), "z": numbers(dtype), "y": numbers()})
    write(tmp_path / "plain.parquet", table, **options)
    write(tmp_path / "packed.parquet", table, compression="snappy", use_dictionary=True)
    sources = [source(tmp_path / name, "y") for name in ("plain.parquet", "packed.parquet")]
    for plain, packed in zip(*(made.blocks() for made in sources), strict=True):
        assert plain.X.dtype == packed.X.dtype
        np.testing.assert_array_equal(plain.X, packed.X)
        np.testing.assert_array_equal(plain.y, packed.y)
    rows = [5, 2999, 1000, 5]
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


@pytest.mark.parametrize("n_columns", [1, 7, 16, 35])
@pytest.mark.parametrize("count", [0, 1, 8, 23, 600])
def test_columns_become_rows(n_columns, count):
    columns = np.random.default_rng(1).normal(size=(n_columns, 611))
    table = np.zeros((605, n_columns))
    stand_upright(columns, 3, count, table, 2)
    expected = np.zeros_like(table)
    expected[2 : 2 + count] = columns[:, 3 : 3 + count].T
    np.testing.assert_array_equal(table, expected)
