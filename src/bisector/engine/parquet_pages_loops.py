"""Compiled reading of the headers that the pages of a column have.

Parquet's headers are structures in Thrift's compact protocol: a field is a byte with the step from the number of
the field before and the kind, then the value; a zero byte ends a structure.
"""

from typing import Any

import numpy as np

from .loops import loop
from .read_at import read_at

# Kinds of fields, by their numbers in the protocol. Integers come in three lengths, all written alike.
_TRUE, _FALSE, _SHORTEST, _LONGEST, _BYTES, _STRUCTURE = 1, 2, 4, 6, 8, 12
# Fields that headers have, by the numbers that Parquet gives them, and how deep structures lie in each other.
_MOST_FIELDS, _DEEPEST = 16, 8
# What a page's header and the length of its levels take at most, as long as the file's numbers are such.
_HEADER_BYTES = 512
# Kinds of pages, and the encoding in which numbers are plain.
_DATA_PAGE, _DATA_PAGE_2, _PLAIN = 0, 3, 0


@loop
def find_pages(file: int, at: int, end: int, itemsize: int, optional: bool, starts: Any, places: Any) -> int:
    """Go from header to header between two places of a file: page p has rows from ``starts[p]`` to the next start.

    Returns how many pages there are: none if one is not as it should be, or if they are more than the arrays hold.
    """
    head, count = np.zeros(_HEADER_BYTES, np.uint8), 0
    while at < end:
        known = read_at(file, at, head)
        n_numbers, before, size = read_page(head[: max(0, known)], itemsize, optional)
        if n_numbers == 0 or count == len(places):
            return 0
        starts[count + 1], places[count] = starts[count] + n_numbers, at + before
        count, at = count + 1, at + size
    return count if at == end else 0


@loop
def read_page(head: Any, itemsize: int, optional: bool) -> tuple[Any, Any, Any]:
    """Tell of a page by its first bytes: how many numbers it has, how many bytes stand before them, and its size.

    Where it is not as it should be (plain numbers, none missing, as long as they are many), there are no numbers.
    """
    fields = np.full((2, _MOST_FIELDS), -1)
    header = read_header(head, fields)
    page, count, size = fields[1], fields[1, 1], fields[0, 3]
    # Before the numbers stand levels, which tell what is missing.
    if fields[0, 1] == _DATA_PAGE:
        plain = page[2] == _PLAIN
        levels = 4 + little_endian(head, header) if optional else np.int64(0)
    else:
        plain, levels = page[4] == _PLAIN and page[2] == 0, page[5] + page[6]
        plain = plain and fields[0, 1] == _DATA_PAGE_2
    if header < 0 or not plain or count <= 0 or levels < 0 or size != levels + count * itemsize:
        return 0, 0, 0
    return count, header + levels, header + size


@loop
def read_header(head: Any, fields: Any) -> int:
    """Read a header's integers, and those of the structures in it, by field; return where it ends, or −1."""
    numbers, depth, at = np.zeros(_DEEPEST, np.int64), 0, 0
    while depth >= 0:
        if at >= len(head):
            return -1
        step, kind = np.int64(head[at]) >> 4, np.int64(head[at]) & 15
        at += 1
        if step == 0 and kind == 0:
            depth -= 1
            continue
        if step == 0:
            number, at = read_integer(head, at)
            numbers[depth] = signed(number)
        else:
            numbers[depth] += step
        field = numbers[depth]
        if kind == _STRUCTURE:
            depth += 1
            if depth == _DEEPEST:
                return -1
            numbers[depth] = 0
        elif _SHORTEST <= kind <= _LONGEST:
            number, at = read_integer(head, at)
            if depth < 2 and 0 <= field < _MOST_FIELDS:
                fields[depth, field] = signed(number)
        elif kind == _BYTES:
            number, at = read_integer(head, at)
            at += min(number, len(head))
        elif kind != _TRUE and kind != _FALSE:
            return -1
    return at


@loop
def read_integer(head: Any, at: int) -> tuple[Any, int]:
    """Read seven bits a byte, the lowest first, up to a byte below 128; return the number and the place after."""
    number = np.int64(0)
    for shift in range(0, 63, 7):
        if at >= len(head):
            break
        byte = np.int64(head[at])
        at += 1
        number |= (byte & 127) << shift
        if byte < 128:
            break
    return number, at


@loop
def signed(number: int) -> int:
    """Undo the zigzag 0, −1, 1, −2, … in which small numbers of either sign are short."""
    return (number >> 1) ^ -(number & 1)


@loop
def little_endian(head: Any, at: int) -> Any:
    """Read four bytes, the lowest first; less than nothing where there are none."""
    if at < 0 or at + 4 > len(head):
        return -4
    number = np.int64(0)
    for place in range(4):
        number |= np.int64(head[at + place]) << (8 * place)
    return number


def warm() -> None:
    """Compile the loops of this module."""
    numbers = np.zeros(1, np.int64)
    find_pages(0, 0, 0, 8, True, numbers, numbers)
