"""Rows of files that are decoded once and read again and again."""

import warnings
from collections import namedtuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bisector
from bisector import GaussianMixture, KMeans, LinearRegression, LinearSVC, LogisticRegression
from bisector.engine import kept_rows
from bisector.engine.dataset_parts import Part
from bisector.engine.kept_rows import KeptRows
from bisector.engine.map_reduce import map_blocks
from bisector.engine.sources import source

N, D = 30_000, 4
ROWS = np.random.default_rng(0).normal(size=(N, D)) + 5.0 * np.random.default_rng(1).integers(3, size=(N, 1))
TARGETS = np.random.default_rng(2).normal(size=N)
TINY = "64 kB"


@pytest.fixture
def path(tmp_path):
    made = tmp_path / "rows.parquet"
    pq.write_table(pa.table([*ROWS.T, TARGETS], names=[*"abcd", "y"]), made, row_group_size=7_000)
    return made


@pytest.fixture
def decoded(monkeypatch):
    """Which parts were decoded, by their numbers of rows."""
    seen = []
    real = Part.pieces

    def told(part, *given):
        seen.append(part.n_rows)
        return real(part, *given)

    monkeypatch.setattr(Part, "pieces", told)
    return seen


def rows_of(block):
    return np.array(block.X)


def read(rows, n_jobs=2):
    return map_blocks(rows_of, rows, n_jobs=n_jobs)


def test_what_is_read_twice_is_not_decoded_again(path, decoded):
    rows = source(path, "y")
    for passes in range(1, 6):
        np.testing.assert_array_equal(read(rows), ROWS)
        assert len(decoded) == 5 * min(passes, 2)
    np.testing.assert_array_equal(rows.take([7, 29_999, 7]), ROWS[[7, 29_999, 7]])
    assert len(decoded) == 10


def test_what_memory_cannot_hold_goes_to_the_scratch_folder(path, decoded, tmp_path):
    folder = tmp_path / "scratch"
    folder.mkdir()
    with bisector.config(memory=TINY, scratch=folder):
        rows = source(path, "y")
        for _ in range(4):
            np.testing.assert_array_equal(read(rows), ROWS)
        assert len(decoded) == 10
        block = next(rows.blocks(range(1)))
        np.testing.assert_array_equal(block.y, TARGETS[: len(block.X)])
        assert list(folder.iterdir()) == []  # a file without a name


def test_what_will_be_read_often_is_decoded_once(path, decoded):
    rows = source(path, "y")
    rows.read_often = True
    for _ in range(4):
        np.testing.assert_array_equal(read(rows), ROWS)
    assert len(decoded) == 5


def test_fits_say_that_they_read_often(tmp_path, decoded):
    """Each part is decoded once, after a look at the beginning of the first."""
    features = tmp_path / "features.parquet"
    pq.write_table(pa.table(list(ROWS.T), names=[*"abcd"]), features, row_group_size=7_000)
    for model in (KMeans(3, init=ROWS[:3]), GaussianMixture(2, means_init=ROWS[:2])):
        model.fit(features)
        assert len(decoded) <= 1 + 5
        decoded.clear()
    for classifier in (LogisticRegression(), LinearSVC()):
        classifier.fit(features, TARGETS > 0)
        assert len(decoded) <= 1 + 5
        decoded.clear()


def test_without_a_folder_files_are_decoded_in_every_pass(path, decoded):
    with bisector.config(memory=TINY):
        rows = source(path, "y")
        for _ in range(4):
            np.testing.assert_array_equal(read(rows), ROWS)
    assert len(decoded) == 20


def test_one_pass_keeps_nothing(path, monkeypatch):
    monkeypatch.setattr(KeptRows, "begin", lambda *_: pytest.fail("kept rows that are read once"))
    LinearRegression().fit(path, "y")


def test_a_reading_that_was_given_up_keeps_no_part(path, decoded):
    rows = source(path, "y", block_rows=1_000)
    read(rows)
    for block in rows.blocks():
        if block.first_row >= 8_000:
            break
    assert rows._kept_parts == {0}
    np.testing.assert_array_equal(read(rows), ROWS)
    np.testing.assert_array_equal(read(rows), ROWS)


@pytest.mark.parametrize("memory", ["1 GB", TINY])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_fit_has_the_same_bits(tmp_path, memory, dtype):
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table(list(ROWS.astype(dtype).T), names=[*"abcd"]), path, row_group_size=7_000)
    start = ROWS[:3]
    with bisector.config(memory=TINY):
        plain = KMeans(3, init=start).fit(path)
    with bisector.config(memory=memory, scratch=tmp_path):
        kept = KMeans(3, init=start).fit(path)
    np.testing.assert_array_equal(plain.cluster_centers_, kept.cluster_centers_)
    np.testing.assert_array_equal(plain.labels_, kept.labels_)


Usage = namedtuple("Usage", ["total", "used", "free"])


def test_a_full_disk_is_a_warning_and_no_more(path, tmp_path, monkeypatch):
    monkeypatch.setattr(kept_rows.shutil, "disk_usage", lambda _: Usage(10**9, 10**9, 1000))
    with bisector.config(memory=TINY, scratch=tmp_path):
        rows = source(path, "y")
        read(rows)
        with pytest.warns(UserWarning, match=r"cannot hold 1.14 MiB of decoded rows \(0.977 KiB are free\)"):
            read(rows, n_jobs=1)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            np.testing.assert_array_equal(read(rows), ROWS)


def test_a_disk_that_fills_up_on_the_way(path, tmp_path, monkeypatch, decoded):
    """What was kept before stays; the rest is decoded."""
    real = kept_rows._ScratchFile.write

    def write(file, offset, table):
        if offset >= 14_000 * 5 * 8:
            raise OSError("No space left on device")
        real(file, offset, table)

    monkeypatch.setattr(kept_rows._ScratchFile, "write", write)
    with bisector.config(memory=TINY, scratch=tmp_path):
        rows = source(path, "y")
        read(rows)
        with pytest.warns(UserWarning, match="No space left"):
            read(rows, n_jobs=1)
        decoded.clear()
        np.testing.assert_array_equal(read(rows), ROWS)
    assert len(decoded) == 3


@pytest.fixture
def plain(tmp_path):
    made = tmp_path / "plain.parquet"
    table = pa.table([*ROWS.T, TARGETS], names=[*"abcd", "y"])
    pq.write_table(table, made, compression=None, use_dictionary=False, row_group_size=7_000)
    return made


def test_what_needs_no_decoder_is_kept_one_reading_later(plain, decoded):
    rows = source(plain, "y")
    for passes in range(1, 6):
        np.testing.assert_array_equal(read(rows), ROWS)
        assert len(decoded) == 5 * min(passes, 3)


def test_what_needs_no_decoder_is_not_written_to_the_scratch_folder(plain, decoded, tmp_path):
    with bisector.config(memory=TINY, scratch=tmp_path):
        rows = source(plain, "y")
        for passes in range(1, 6):
            np.testing.assert_array_equal(read(rows), ROWS)
            assert len(decoded) == 5 * passes
    assert rows._kept._scratch is None


def test_memory_keeps_what_it_can(path, decoded):
    """A quarter of the budget holds two parts of 280,000 bytes and the short last one."""
    with bisector.config(memory=4 * 650_000):
        rows = source(path, "y")
        for _ in range(2):
            read(rows, n_jobs=1)
        decoded.clear()
        for _ in range(3):
            np.testing.assert_array_equal(read(rows), ROWS)
    assert decoded == 3 * [7_000, 7_000]
    assert rows._kept_parts == {0, 1, 4}


def test_what_was_given_up_takes_no_memory(path, decoded):
    with bisector.config(memory=4 * 300_000):
        rows = source(path, "y", block_rows=1_000)
        read(rows)
        for _ in range(3):
            next(rows.blocks())  # begins to keep a part, and is dropped
        read(rows, n_jobs=1)
    assert rows._kept_parts == {0}
    np.testing.assert_array_equal(read(rows), ROWS)


def test_memory_first_then_the_scratch_folder(path, decoded, tmp_path):
    with bisector.config(memory=4 * 300_000, scratch=tmp_path):
        rows = source(path, "y")
        for _ in range(2):
            read(rows)
        decoded.clear()
        for block in rows.blocks():
            np.testing.assert_array_equal(block.X, ROWS[block.first_row : block.first_row + len(block.X)])
            np.testing.assert_array_equal(block.y, TARGETS[block.first_row : block.first_row + len(block.X)])
    assert decoded == []
    assert len(rows._kept._blocks) > 0
    assert rows._kept._scratch is not None
