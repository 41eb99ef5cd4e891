"""Columns read from Parquet files without a decoder: what Arrow reads, where it can be, and Arrow elsewhere."""

import os
from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings, strategies as st
from pyarrow.fs import LocalFileSystem, SubTreeFileSystem

import bisector
from bisector.engine import parquet_groups
from bisector.engine.blocks import ColumnsInPlace
from bisector.engine.loops import given as given_to_loop
from bisector.engine.map_reduce import map_reduce
from bisector.engine.mapped import mapped
from bisector.engine.moments import Coordinates, narrow_block_moments
from bisector.engine.parquet_chunks import Footer
from bisector.engine.parquet_pages import FEWEST_ROWS, Page, stored_columns
from bisector.engine.parquet_pages_loops import N_TOLD, look_up, read_page
from bisector.engine.sources import source
from bisector.engine.upright_loops import copy_rows

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


def columns_of(fragment, group, names):
    """Find columns in a file; None if Arrow has to read them."""
    chunks = Footer(fragment).chunks(group, names)
    raw = np.fromfile(fragment.path, np.uint8)
    return (
        None if chunks is None else stored_columns(chunks, [raw[chunk.begin : chunk.end] for chunk in chunks])
    )


def read_plainly(fragment, name):
    """Return a column of plain numbers as they stand in the file."""
    parts = []
    with open(fragment.path, "rb", buffering=0) as file:
        for group in range(fragment.metadata.num_row_groups):
            (column,) = columns_of(fragment, group, [name])
            assert column.is_plain
            for place, count in zip(column.places(column.starts[:-1]), np.diff(column.starts), strict=True):
                raw = mapped(file.fileno(), int(place), int(place + count * column.stored_as.itemsize))
                parts.append(np.frombuffer(raw, column.stored_as))
    return np.concatenate(parts)


def read_unpacked(fragment, name, dtype=np.float64):
    """Return a column, page by page."""
    parts = []
    with open(fragment.path, "rb", buffering=0) as file:
        for group in range(fragment.metadata.num_row_groups):
            (column,) = columns_of(fragment, group, [name])
            parts += [numbers.copy() for numbers in column.unpacked(file.fileno(), np.dtype(dtype))]
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
    np.testing.assert_array_equal(read_unpacked(fragment, "x"), expected)


def few_values(kind=FLOAT):
    """Numbers that repeat, so that a dictionary is kept and runs of one entry occur."""
    values = np.random.default_rng(1).integers(700, size=N).astype(float)
    values[5_000:9_000] = 3.0
    return pa.array(values.astype(kind.to_pandas_dtype()), kind)


@pytest.mark.parametrize("kind", [pa.float64(), pa.float32(), pa.int64(), pa.int32()], ids=str)
@pytest.mark.parametrize("make", [numbers, few_values])
@pytest.mark.parametrize("nullable", [True, False])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize(
    ("compression", "use_dictionary"),
    [("snappy", True), ("snappy", False), ("zstd", True), ("gzip", False), (None, True)],
)
def test_packed_numbers_are_those_that_arrow_reads(
    kind, make, nullable, version, compression, use_dictionary, tmp_path
):
    table = pa.table([make(kind)], schema=pa.schema([pa.field("x", kind, nullable=nullable)]))
    options = {"compression": compression, "use_dictionary": use_dictionary, "data_page_version": version}
    fragment = write(tmp_path / "rows.parquet", table, **options, dictionary_pagesize_limit=2**14)
    expected = fragment.to_table(columns=["x"]).column(0).to_numpy()
    for dtype in (np.float64, np.float32):
        np.testing.assert_array_equal(read_unpacked(fragment, "x", dtype), expected.astype(dtype))


@pytest.mark.parametrize("n_different", [1, 2, 3, 200, 256, 257, 5_000])
def test_entries_of_dictionaries_have_any_number_of_bits(n_different, tmp_path):
    values = np.random.default_rng(2).integers(n_different, size=N) * 0.1
    table = pa.table({"x": values})
    fragment = write(tmp_path / "rows.parquet", table, use_dictionary=True, compression="snappy")
    (column,) = columns_of(fragment, 0, ["x"])
    assert column.dictionary.n_numbers == min(n_different, len(np.unique(values[:10_000])))
    np.testing.assert_array_equal(read_unpacked(fragment, "x"), values)


def test_a_damaged_page_is_an_error(tmp_path):
    path = tmp_path / "rows.parquet"
    fragment = write(path, pa.table({"x": few_values()}), use_dictionary=True)
    (column,) = columns_of(fragment, 0, ["x"])
    with open(path, "r+b") as file:
        file.seek(column.page(0).place)
        file.write(bytes([40]) * column.page(0).n_bytes)
    with pytest.raises(OSError, match="the file is damaged"):
        read_unpacked(fragment, "x")


@settings(max_examples=300, deadline=None)
@given(packed=st.binary(max_size=60), count=st.integers(0, 40), n_entries=st.integers(1, 9))
def test_no_packed_entries_lead_astray(packed, count, n_entries):
    """Whatever the bytes are, as many numbers as are told are entries, and the others are left alone."""
    numbers = np.full(count, -1.0)
    found = look_up(np.frombuffer(bytearray(packed), np.uint8), count, np.arange(float(n_entries)), numbers)
    assert 0 <= found <= count
    assert np.isin(numbers[:found], np.arange(n_entries)).all()


def test_pages_that_are_worth_it(tmp_path):
    write_small = {"data_page_size": 2**14, "write_batch_size": 16}
    fragment = write(tmp_path / "rows.parquet", pa.table({"x": numbers()}), **write_small)
    (column,) = columns_of(fragment, 0, ["x"])
    assert 4 < len(column.pages) <= 10_000 / FEWEST_ROWS
    assert column.starts[-1] == 10_000
    write_tiny = {"data_page_size": 2**10, "write_batch_size": 16}
    fragment = write(tmp_path / "more.parquet", pa.table({"x": numbers()}), **write_tiny)
    assert columns_of(fragment, 0, ["x"]) is None


MISSING = pa.array([1.0, None, 3.0])
DECODED = {
    "missing numbers": (MISSING, {}),
    "unknown whether numbers are missing": (numbers(), {"write_statistics": False}),
    "a rare compression": (numbers(), {"compression": "brotli"}),
    "split bytes": (numbers(), {"column_encoding": {"x": "BYTE_STREAM_SPLIT"}}),
    "differences": (numbers(pa.int64()), {"column_encoding": {"x": "DELTA_BINARY_PACKED"}}),
    "points in time": (numbers(pa.int64()).cast(pa.timestamp("us")), {}),
    "durations": (numbers(pa.int64()).cast(pa.duration("us")), {}),
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
    assert columns_of(fragment, 0, ["x"]) is None
    assert columns_of(fragment, 0, ["plain", "x"]) is None
    assert columns_of(fragment, 0, ["no such"]) is None


def test_files_elsewhere_are_left_to_arrow(tmp_path):
    write(tmp_path / "rows.parquet", pa.table({"x": numbers()}))
    elsewhere = SubTreeFileSystem(str(tmp_path), LocalFileSystem())
    (fragment,) = ds.dataset("rows.parquet", filesystem=elsewhere, format="parquet").get_fragments()
    assert Footer(fragment).chunks(0, ["x"]) is None


@pytest.mark.parametrize(
    "options",
    [{}, {"data_page_size": 2**14, "write_batch_size": 16}, {"data_page_size": 512, "write_batch_size": 16}],
    ids=["large", "small", "tiny"],
)
@pytest.mark.parametrize("dtype", [pa.float64(), pa.float32()], ids=str)
@pytest.mark.parametrize("others", [{}, {"count": numbers(pa.int32())}], ids=["one type", "two types"])
@pytest.mark.parametrize("memory", ["1 MB", "2 GB"])
def test_blocks_are_the_same_however_files_were_written(options, dtype, others, memory, tmp_path):
    table = pa.table({"x": numbers(dtype), **others, "z": numbers(dtype), "y": numbers(dtype)})
    write(tmp_path / "plain.parquet", table, **options)
    write(tmp_path / "packed.parquet", table, compression="snappy", use_dictionary=True)
    write(tmp_path / "arrow.parquet", table, write_statistics=False)
    with bisector.config(memory=memory):
        for y in ("y", None):
            sources = [source(tmp_path / f"{name}.parquet", y) for name in ("plain", "packed", "arrow")]
            for plain, *others in zip(*(made.blocks() for made in sources), strict=True):
                for other in others:
                    assert plain.X.dtype == other.X.dtype
                    np.testing.assert_array_equal(plain.X, other.X)
                    np.testing.assert_array_equal(plain.y, other.y)
            rows = [5, 29_999, 10_000, 5]
            for other in sources[1:]:
                np.testing.assert_array_equal(sources[0].take(rows), other.take(rows))


@pytest.mark.parametrize("y", ["y", None, "beside"])
@pytest.mark.parametrize("single", [False, True])
def test_columns_that_are_left_in_place_have_the_same_moments(y, single, tmp_path):
    """Most blocks of plain files are, and those of packed ones that do not go beyond a page; of Arrow's, few."""
    x, z, of_file, beside, weights = np.random.default_rng(1).normal(1.0, 1.0, (5, N)) ** 2
    kind = pa.float32() if single else pa.float64()
    table = pa.table({"x": pa.array(x, kind), "z": pa.array(z, kind), "y": of_file})
    options = {"row_group_size": 7_000, "data_page_size": 2**14, "write_batch_size": 16}
    write(tmp_path / "plain.parquet", table, **options)
    write(tmp_path / "packed.parquet", table, compression="snappy", use_dictionary=True, **options)
    write(tmp_path / "arrow.parquet", table, write_statistics=False, **options)
    fixed = Coordinates(np.array([0.5, 0.0]), np.ones(2)), Coordinates.plain(int(y is not None))
    found, in_place = [], Counter()
    with bisector.config(memory="2 GB"):
        for name in ("plain", "packed", "arrow"):
            targets = beside if y == "beside" else y
            made = source(
                tmp_path / f"{name}.parquet", targets, weights, features=["x", "z"], block_rows=1_500
            )
            in_place[name] = sum(isinstance(block.X, ColumnsInPlace) for block in made.in_columns().blocks())
            found += [map_reduce(narrow_block_moments, rows, *fixed) for rows in (made.in_columns(), made)]
    assert in_place["plain"] > 0
    assert in_place["packed"] > 0
    for moments in found[1:]:
        for name in ("n_rows", "weight", "x", "y", "xx", "xy", "yy"):
            np.testing.assert_array_equal(getattr(moments, name), getattr(found[0], name))


@pytest.mark.parametrize("n_windows", [1, 7])
def test_row_groups_are_looked_at_as_a_whole_or_in_windows(n_windows, tmp_path, monkeypatch):
    """Headers are found and numbers are looked at in one map; in row groups that are too large, in windows."""
    table = pa.table({"x": numbers(), "between": pa.array(["word"] * N), "y": numbers()})
    write(tmp_path / "rows.parquet", table, row_group_size=N, data_page_size=2**14, write_batch_size=16)
    if n_windows > 1:
        monkeypatch.setattr(parquet_groups, "SHARE_FOR_GROUP", 0.0)
        monkeypatch.setattr(parquet_groups, "BATCH_BYTES", 2 * 8 * N // (n_windows - 1))
    maps, real = [], parquet_groups.mapped
    monkeypatch.setattr(parquet_groups, "mapped", lambda *args, **how: maps.append(how) or real(*args, **how))
    with bisector.config(memory="2 GB"):
        made = source(tmp_path / "rows.parquet", "y", features=["x"])
        blocks = list(made.blocks())
    assert len([how for how in maps if not how.get("scattered")]) == n_windows
    np.testing.assert_array_equal(np.concatenate([block.X[:, 0] for block in blocks]), numbers())
    np.testing.assert_array_equal(np.concatenate([block.y for block in blocks]), numbers())


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
    assert columns_of(fragment, 0, ["x"]) is None


@settings(max_examples=300, deadline=None)
@given(head=st.binary(min_size=1, max_size=80), optional=st.booleans(), packed=st.booleans())
def test_no_bytes_lead_astray(head, optional, packed):
    told = np.zeros(N_TOLD, np.int64)
    raw = np.frombuffer(bytearray(head), np.uint8)
    size = read_page(raw, 0, optional, packed, told)
    page = Page(*told.tolist())
    assert size == 0 or (page.place > 0 and page.n_numbers > 0 and size == page.place + page.n_bytes)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("n_columns", "n_targets"), [(1, 0), (7, 1), (8, 9), (16, 0), (35, 1)])
@pytest.mark.parametrize("count", [0, 1, 8, 23, 2600])
@pytest.mark.parametrize("shift", [0, 3])
@pytest.mark.parametrize("pieces", [[0, 2611], [0, 5, 1000, 1003, 2611]])
def test_columns_become_rows(dtype, n_columns, n_targets, count, shift, pieces):
    """Features and targets, in pieces that are not where they would be if there were one."""
    columns = np.random.default_rng(1).normal(size=(n_columns + n_targets, 2611)).astype(dtype)
    raw = np.concatenate([np.zeros(shift, np.uint8), columns.reshape(-1).view(np.uint8)])
    cuts = np.array(pieces)
    addresses = raw.ctypes.data + shift + np.arange(len(columns)) * columns.strides[0]
    addresses = addresses + cuts[:-1, None] * columns.itemsize
    expected = np.zeros((2605, len(columns)), dtype)
    expected[2 : 2 + count] = columns[:, 3 : 3 + count].T
    for copy in (copy_rows, copy_rows.py_func):
        X, targets = (np.zeros((2605, width), dtype) for width in (n_columns, n_targets))
        copy(given_to_loop(addresses), given_to_loop(cuts), 3, count, X, targets, 2)
        np.testing.assert_array_equal(np.hstack([X, targets]), expected)
