"""Bytes of files that are looked at where the system has them."""

import os

import numpy as np
import pytest

from bisector.engine import mapped as module
from bisector.engine.mapped import mapped, read_in_order

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
    read_in_order(file, first, last)
    found = mapped(file, first, last)
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


@pytest.mark.skipif(not hasattr(os, "RWF_NOWAIT"), reason="this system does not tell what is in memory")
def test_what_is_not_in_memory_is_read_once_and_in_order(file, monkeypatch):
    places = []
    real = os.preadv

    def told(number, buffers, place, *flags):
        if flags:
            raise BlockingIOError
        places.append((place, len(buffers[0])))
        return real(number, buffers, place)

    monkeypatch.setattr(module.os, "preadv", told)
    read_in_order(file, 1000, 2_500_000)
    assert places[0] == (1000, 2**16)
    assert [place + length for place, length in places[:-1]] == [place for place, _ in places[1:]]
    assert sum(places[-1]) == 2_500_000


def test_a_file_system_that_does_not_tell_is_not_read_twice(file, monkeypatch):
    def refused(*_):
        raise OSError("Operation not supported")

    monkeypatch.setattr(module.os, "preadv", refused)
    read_in_order(file, 0, 100)
    np.testing.assert_array_equal(mapped(file, 0, 100), BYTES[:100])
