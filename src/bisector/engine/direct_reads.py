"""Bytes of files read from the disk into memory of our own, past the system's cache.

What exceeds the cache is gone from it before it is read again. For such data the cache only costs: a place in
memory for every page, memory that was not touched for long, and whatever other files it held. Here the disk writes
into the same room again and again.
"""

import mmap
import os
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .mapped import LARGE_PAGE
from .stretches import Stretch, cut_short, joined

# What places in the file and in memory are to be multiples of, for the disks there are.
_STEP = 4096


class Room:
    """Memory to read into, which begins with a page, in large pages where there are such."""

    def __init__(self, n_bytes: int) -> None:
        held = mmap.mmap(-1, n_bytes + -n_bytes % LARGE_PAGE)
        with suppress(AttributeError, OSError):  # systems that have none, or do not know of them
            held.madvise(mmap.MADV_HUGEPAGE)
        self.bytes = np.frombuffer(held, np.uint8)


class Rooms:
    """Rooms that are free. Whoever reads takes one and puts it back: there are as many as there are readers.

    Examples
    --------
    >>> from bisector.engine.direct_reads import Rooms
    >>> rooms = Rooms()
    >>> with rooms.lent(4096) as one, rooms.lent(4096) as other:
    ...     one is other
    False
    >>> with rooms.lent(4096) as again:
    ...     again is one or again is other
    True
    """

    def __init__(self) -> None:
        self._free: list[Room] = []

    @contextmanager
    def lent(self, n_bytes: int) -> Iterator[Room]:
        """Lend a room of at least so many bytes."""
        try:
            room = self._free.pop()
        except IndexError:
            room = Room(n_bytes)
        if len(room.bytes) < n_bytes:
            room = Room(n_bytes)
        try:
            yield room
        finally:
            self._free.append(room)


class Run(NamedTuple):
    """Bytes that are read at once, from `begin` up to `end`, and where in the room they go."""

    begin: int
    end: int
    place: int


def runs_of(stretches: list[Stretch]) -> tuple[list[Run], list[int]]:
    """Join stretches that are near each other, and tell where in a room each of them will begin.

    Examples
    --------
    >>> from bisector.engine.direct_reads import runs_of
    >>> runs_of([(1_000_000, 1_000_100), (10, 5000), (5020, 6000)])
    ([Run(begin=0, end=8192, place=0), Run(begin=999424, end=1003520, place=8192)], [8768, 10, 5020])
    """
    runs, place = [], 0
    for first, last in joined(stretches):
        runs.append(Run(first - first % _STEP, last + -last % _STEP, place))
        place += runs[-1].end - runs[-1].begin
    begins = [run.begin for run in runs]
    its_run = [runs[bisect_right(begins, first) - 1] for first, _ in stretches]
    return runs, [run.place + first - run.begin for run, (first, _) in zip(its_run, stretches, strict=True)]


@contextmanager
def opened_directly(path: str) -> Iterator[int | None]:
    """Open a file to be read past the cache; None where the system or the file system does not know how to."""
    file = None
    try:
        file = os.open(path, os.O_RDONLY | os.O_DIRECT)
        os.preadv(file, [mmap.mmap(-1, _STEP)], 0)  # some refuse only when asked to read
    except (AttributeError, OSError):
        if file is not None:
            os.close(file)
        yield None
        return
    try:
        yield file
    finally:
        os.close(file)


@contextmanager
def read_directly(file: int, stretches: list[Stretch], rooms: Rooms) -> Iterator[list[NDArray[np.uint8]]]:
    """Read stretches of a file; the bytes of each are there as long as the context lasts."""
    runs, places = runs_of(stretches)
    wanted = max(last for _, last in stretches)
    with rooms.lent(runs[-1].place + runs[-1].end - runs[-1].begin) as room:
        for run in runs:
            at = run.begin
            while at < min(run.end, wanted):
                into = room.bytes[run.place + at - run.begin : run.place + run.end - run.begin]
                count = os.preadv(file, [into.data], at)
                at += count
                if count == 0 or (count % _STEP and at < wanted):  # the file ends here
                    raise cut_short(wanted)
        yield [
            room.bytes[place : place + last - first]
            for place, (first, last) in zip(places, stretches, strict=True)
        ]
