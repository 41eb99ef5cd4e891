"""Bytes of files that are looked at where the system has them."""

import os

import numpy as np
import pytest

from bisector.engine import mapped as module
from bisector.engine.mapped import are_in_memory, mapped, read_in_order

BYTES = np.random.default_rng(0).integers(256, size=3_000_001).astype(np.uint8)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "bytes"
    BYTES.tofile(path)
    number = os.open(path, os.O_RDWR)
    yield number
    os.close(number)


@pytest.mark.parametrize(
    ("first", "last"), [(0, 1), (0, 3_000_001), (4095, 4097), (4096, 8192), (70_001, 2_500_000), (5, 5)]
)
def test_any_bytes(file, first, last):
    read_in_order(file, [(first, last)])
    for scattered in (False, True):
        found = mapped(file, first, last, scattered=scattered)
        np.testing.assert_array_equal(found, BYTES[first:last])
        assert not found.flags.writeable or not len(found)


def test_bytes_outlive_the_open_file(tmp_path):
    path = tmp_path / "bytes"
    BYTES.tofile(path)
    with open(path, "rb") as file:
        found = mapped(file.fileno(), 10, 20)
    path.unlink()
    np.testing.assert_array_equal(found, BYTES[10:20])


def test_there_is_nothing_behind_the_end(file):
    with pytest.raises(OSError, match="no byte 3000002: is it shorter than when it was opened"):
        mapped(file, 3_000_000, 3_000_002)


@pytest.fixture
def nothing_in_memory(monkeypatch):
    monkeypatch.setattr(module, "are_in_memory", lambda *_: False)


def test_what_is_not_in_memory_is_read_once_and_in_order(file, monkeypatch, nothing_in_memory):
    places = []
    real = os.preadv

    def told(number, buffers, place):
        places.append((place, len(buffers[0])))
        return real(number, buffers, place)

    monkeypatch.setattr(module.os, "preadv", told)
    read_in_order(file, [(2_000_000, 2_500_000), (1000, 1_999_990)])
    assert places[0] == (1000, 2**16)
    assert [place + length for place, length in places[:-1]] == [place for place, _ in places[1:]]
    assert sum(places[-1]) == 2_500_000


@pytest.mark.parametrize("knows_how", [True, False])
def test_long_stretches_are_asked_for_in_large_pages(knows_how, file, monkeypatch, nothing_in_memory):
    """Where the system does not know how to, they are read as short ones are."""
    monkeypatch.setattr(module, "_WORTH_LARGE_PAGES", 2**20)
    if not knows_how:
        monkeypatch.setattr(module, "_POPULATE_READ", 10_000)
    read_in_order(file, [(0, 2_500_000)])
    np.testing.assert_array_equal(mapped(file, 0, 2_500_000), BYTES[:2_500_000])


def test_what_was_just_written_and_read_is_in_memory(file):
    os.fsync(file)
    assert are_in_memory(file, [(0, 3_000_001)])
    assert are_in_memory(file, [(5, 6), (2_000_000, 2_100_000)])


@pytest.mark.skipif(not hasattr(os, "RWF_NOWAIT"), reason="this system does not tell what is in memory")
@pytest.mark.parametrize("at_once", [True, False])
def test_of_files_of_others_a_byte_is_asked_for(at_once, file, monkeypatch):
    """Whoever does not own a file is told that all of it is in memory."""
    places = []

    def told(number, buffers, place, flags):
        places.append(place)
        if not at_once:
            raise BlockingIOError
        return 1

    monkeypatch.setattr(module.os, "geteuid", lambda: os.getuid() + 1)
    monkeypatch.setattr(module.os, "preadv", told)
    assert are_in_memory(file, [(0, 100), (1_000_000, 2_000_000)]) is at_once
    assert all(place == 0 or 1_900_000 < place < 2_000_000 for place in places)


def test_where_the_system_does_not_tell_nothing_is_read_twice(file, monkeypatch):
    def refused(*_):
        raise OSError("Operation not supported")

    monkeypatch.setattr(module, "_mincore", lambda: None)
    monkeypatch.setattr(module.os, "preadv", refused)
    read_in_order(file, [(0, 100)])
    np.testing.assert_array_equal(mapped(file, 0, 100), BYTES[:100])
