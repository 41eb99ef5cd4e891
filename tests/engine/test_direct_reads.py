"""Bytes of files read into memory of our own, past the system's cache."""

import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings, strategies as st

from bisector import KMeans, LinearRegression
from bisector.engine import dataset_source, direct_reads, parquet_groups
from bisector.engine.direct_reads import Rooms, opened_directly, read_directly, runs_of
from bisector.engine.sources import source

BYTES = np.random.default_rng(0).integers(256, size=3_000_001).astype(np.uint8)
N, D = 40_000, 5
ROWS = np.random.default_rng(1).normal(size=(N, D))
TARGETS = ROWS @ np.arange(D) + 1.0


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    path = tmp_path_factory.mktemp("bytes") / "bytes"
    BYTES.tofile(path)
    return path


def needs_direct_reads(path):
    with opened_directly(str(path)) as file:
        if file is None:
            pytest.skip("this file system is read through the cache only")


@given(
    pairs=st.lists(
        st.tuples(st.integers(0, 3_000_000), st.integers(1, 500_000)), min_size=1, max_size=6, unique=True
    )
)
@settings(max_examples=60, deadline=None)
def test_any_stretches(place, pairs):
    needs_direct_reads(place)
    stretches = [(first, min(first + length, 3_000_001)) for first, length in pairs]
    with opened_directly(str(place)) as file, read_directly(file, stretches, Rooms()) as raws:
        for (first, last), raw in zip(stretches, raws, strict=True):
            np.testing.assert_array_equal(raw, BYTES[first:last])


@given(pairs=st.lists(st.tuples(st.integers(0, 10**9), st.integers(1, 10**6)), min_size=1, max_size=8))
def test_runs_are_cut_as_disks_want_and_do_not_meet_in_the_room(pairs):
    stretches = [(first, first + length) for first, length in pairs]
    runs, places = runs_of(stretches)
    assert all(run.begin % 4096 == run.end % 4096 == run.place % 4096 == 0 for run in runs)
    ends = np.cumsum([run.end - run.begin for run in runs])
    assert [run.place for run in runs] == [0, *ends[:-1]]
    for (first, last), begin in zip(stretches, places, strict=True):
        (run,) = [run for run in runs if run.begin <= first and last <= run.end]
        assert begin == run.place + first - run.begin


def test_a_file_that_ends_too_soon_is_an_error(place):
    needs_direct_reads(place)
    with (
        opened_directly(str(place)) as file,
        pytest.raises(OSError, match="no byte 3100000: is it shorter than when it was opened"),
        read_directly(file, [(2_990_000, 3_100_000)], Rooms()),
    ):
        pass


def test_a_room_grows_and_is_used_again():
    rooms = Rooms()
    with rooms.lent(10) as small:
        assert len(small.bytes) >= 10
    with rooms.lent(10**7) as large:
        assert len(large.bytes) >= 10**7
    with rooms.lent(10) as again:
        assert again is large


def test_systems_without_large_pages(monkeypatch):
    monkeypatch.setattr(direct_reads.mmap, "MADV_HUGEPAGE", 10_000)  # nothing that any system knows
    with Rooms().lent(10) as room:
        assert len(room.bytes) >= 10


def test_file_systems_without_direct_reads(place, monkeypatch):
    def refused(*_):
        raise OSError(22, "Invalid argument")

    monkeypatch.setattr(direct_reads.os, "open", refused)
    with opened_directly(str(place)) as file:
        assert file is None
    monkeypatch.undo()
    monkeypatch.setattr(direct_reads.os, "preadv", refused)
    with opened_directly(str(place)) as file:
        assert file is None


@pytest.fixture
def beyond_cache(monkeypatch):
    """A cache that is empty and thought to hold 15,000 rows; what is read past it is told."""
    read = []
    real = parquet_groups.read_directly

    def told(file, stretches, rooms):
        read.append(stretches)
        return real(file, stretches, rooms)

    cached = 15_000 * 8 * (D + 1) / dataset_source.SHARE_FOR_CACHE
    monkeypatch.setattr(dataset_source, "available", lambda: cached)
    monkeypatch.setattr(parquet_groups, "are_in_memory", lambda *_: False)
    monkeypatch.setattr(parquet_groups, "read_directly", told)
    return read


def write(path, **options):
    table = pa.table([*ROWS.T, TARGETS], names=[*"abcde", "y"])
    options = {"compression": None, "use_dictionary": False, "row_group_size": 10_000, **options}
    pq.write_table(table, path, **options)
    return path


def test_the_first_parts_go_through_the_cache_when_they_are_read_again(tmp_path, beyond_cache):
    needs_direct_reads(write(tmp_path / "rows.parquet"))
    rows = source(tmp_path / "rows.parquet", "y")
    found = []
    for _ in range(3):
        np.testing.assert_array_equal(np.concatenate([block.X for block in rows.blocks()]), ROWS)
        found.append(len(beyond_cache))
    # Four parts the first time. Of the cache's 15,000 rows only the first 10,000 are a whole part.
    assert found == [4, 7, 10]


def test_they_do_at_once_if_it_is_known_that_they_will_be(tmp_path, beyond_cache, monkeypatch):
    needs_direct_reads(write(tmp_path / "rows.parquet"))
    rows = source(tmp_path / "rows.parquet", "y")
    rows.read_often = True
    monkeypatch.setattr(rows._kept, "begin", lambda *_, **__: None)  # so that all of them are read again
    for passes in range(1, 4):
        np.testing.assert_array_equal(np.concatenate([block.X for block in rows.blocks()]), ROWS)
        assert len(beyond_cache) == 3 * passes


@pytest.mark.parametrize("whole_groups", [True, False])
def test_fits_have_the_same_bits(tmp_path, beyond_cache, monkeypatch, whole_groups):
    if not whole_groups:
        monkeypatch.setattr(parquet_groups, "BATCH_BYTES", 100_000)
        monkeypatch.setattr(parquet_groups, "SHARE_FOR_GROUP", 0.0)
    path = write(tmp_path / "rows.parquet")
    needs_direct_reads(path)
    around = LinearRegression().fit(path, "y")
    assert beyond_cache
    start = ROWS[:7]
    clusters = KMeans(7, init=start, max_iter=5).fit(ROWS)
    columns = pa.dataset.dataset(path)
    columns = columns.replace_schema(columns.schema.remove(columns.schema.get_field_index("y")))
    also = KMeans(7, init=start, max_iter=5).fit(columns)
    monkeypatch.undo()
    through = LinearRegression().fit(path, "y")
    np.testing.assert_array_equal(around.coef_, through.coef_)
    np.testing.assert_allclose(around.coef_, np.arange(D), rtol=0, atol=1e-12)
    np.testing.assert_array_equal(also.labels_, clusters.labels_)


@pytest.mark.parametrize(
    "options",
    [{"compression": "snappy"}, {"use_dictionary": True}, {"data_page_size": 512, "write_batch_size": 16}],
    ids=["packed", "dictionaries", "tiny pages"],
)
def test_what_must_be_decoded_is_read_as_ever(tmp_path, beyond_cache, options):
    rows = source(write(tmp_path / "rows.parquet", **options), "y")
    for _ in range(2):
        np.testing.assert_array_equal(np.concatenate([block.X for block in rows.blocks()]), ROWS)


def test_without_direct_reads_files_are_mapped(tmp_path, beyond_cache, monkeypatch):
    path = write(tmp_path / "rows.parquet")
    monkeypatch.setattr(direct_reads, "_STEP", 4095)  # no disk reads at such places
    rows = source(path, "y")
    np.testing.assert_array_equal(np.concatenate([block.X for block in rows.blocks()]), ROWS)
    assert not beyond_cache


def test_a_file_cut_short_is_an_error(tmp_path, beyond_cache):
    path = write(tmp_path / "rows.parquet")
    needs_direct_reads(path)
    rows = source(path, "y")
    os.truncate(path, 5000)
    with pytest.raises(OSError, match="shorter than when it was opened"):
        list(rows.blocks())
