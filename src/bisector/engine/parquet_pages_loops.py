"""Compiled reading of the pages that a column has: their headers, and numbers that name entries of a dictionary.

Parquet's headers are structures in Thrift's compact protocol: a field is a byte with the step from the number of
the field before and the kind, then the value; a zero byte ends a structure.
"""

from typing import Any

import numpy as np

from .loops import given, loop
from .turned_squares import number_at

# Kinds of fields, by their numbers in the protocol. Integers come in three lengths, all written alike.
_TRUE, _FALSE, _SHORTEST, _LONGEST, _BYTES, _STRUCTURE = 1, 2, 4, 6, 8, 12
# Fields that headers have, by the numbers that Parquet gives them, and how deep structures lie in each other.
_MOST_FIELDS, _DEEPEST = 16, 8
# What a page's header and the length of its levels take at most, as long as the file's numbers are such.
_HEADER_BYTES = 512
# Kinds of pages; encodings in which numbers are plain, or numbers of entries in a dictionary (by either name), and
# that of levels.
_DATA_PAGE, _DICTIONARY_PAGE, _DATA_PAGE_2 = 0, 2, 3
PLAIN, _OLD_DICTIONARY, _DICTIONARY, _RUNS = 0, 2, 8, 3
# What is told of a page: how many numbers it has, where its bytes begin, how many they are and how many unpacked,
# the encoding (of either dictionary, one), whether the levels are among the bytes, whether these are packed.
N_NUMBERS, PLACE, N_BYTES, N_UNPACKED, ENCODING, LEVELS, PACKED = range(7)
N_TOLD = 7
# More numbers than this are in no page.
_LONGEST_RUN = 2**32


@loop
def find_pages(raw: Any, begin: int, optional: bool, packed: bool, pages: Any, starts: Any) -> int:
    """Go from header to header in the bytes of a column, which begin somewhere in a file.

    Tells of each page in a line of `pages`, the first line being that of the dictionary, without numbers if there
    is none, and in `starts` of the first row of each of the others and of what would come next. Returns how many
    lines are filled: none if a page is not as it should be, or if they are more than there is room for.
    """
    at, count = 0, 1
    pages[0] = 0
    starts[0] = 0
    while at < len(raw):
        head = raw[at : min(at + _HEADER_BYTES, len(raw))]
        line = 0 if is_dictionary(head) else count
        if line == len(pages) or (line == 0 and count > 1):
            return 0
        size = read_page(head, begin + at, optional, packed, pages[line])
        if size <= 0 or size > len(raw) - at:
            return 0
        at += size
        if line:
            starts[line] = starts[line - 1] + pages[line, N_NUMBERS]
        count = max(count, line + 1)
    return count


@loop
def page_kinds(pages: Any, itemsize: int) -> tuple[int, int, int]:
    """Count pages with entries of a dictionary, plain pages, and those of them that are not of the right size."""
    n_entries, n_plain, n_wrong = 0, 0, 0
    for page in pages:
        n_entries += page[ENCODING] != 0
        if page[ENCODING] == 0 and page[PACKED] == 0:
            n_plain += 1
            n_wrong += page[N_UNPACKED] != page[N_NUMBERS] * itemsize
    return n_entries, n_plain, n_wrong


@loop
def is_dictionary(head: Any) -> bool:
    """Tell whether a page is a dictionary by its header, whose first field is the kind."""
    return len(head) > 1 and head[0] == 0x15 and signed(np.int64(head[1])) == _DICTIONARY_PAGE


@loop
def read_page(head: Any, at: int, optional: bool, packed: bool, told: Any) -> int:
    """Tell of a page that begins at a place of a file, by its first bytes; return its size, with the header.

    Where it is not as it should be (numbers, of which none is missing), the size is 0.
    """
    fields = np.full((2, _MOST_FIELDS), -1)
    header = read_header(head, fields)
    page, kind = fields[1], fields[0, 1]
    encoding, levels, inside = page[2], np.int64(0), False
    if kind == _DATA_PAGE:
        if optional and page[3] != _RUNS:  # levels in an encoding of old, without their length
            return 0
        inside = optional and packed
        if optional and not packed:
            levels = 4 + little_endian(head, header)
    elif kind == _DATA_PAGE_2:
        if page[2] != 0:  # numbers that are missing
            return 0
        encoding, levels = page[4], page[5] + page[6]
        packed = packed and page[7] != 0
    elif kind != _DICTIONARY_PAGE:
        return 0
    by_number = kind != _DICTIONARY_PAGE and encoding in (_DICTIONARY, _OLD_DICTIONARY)
    known = by_number or encoding == PLAIN or (kind == _DICTIONARY_PAGE and encoding == _OLD_DICTIONARY)
    told[N_NUMBERS], told[PLACE] = page[1], at + header + levels
    told[N_BYTES], told[N_UNPACKED] = fields[0, 3] - levels, fields[0, 2] - levels
    told[ENCODING], told[LEVELS], told[PACKED] = by_number, inside, packed
    if header < 0 or not known or page[1] <= 0 or levels < 0 or told[N_BYTES] < 0 or told[N_UNPACKED] < 0:
        return 0
    if not packed and told[N_BYTES] != told[N_UNPACKED]:
        return 0
    return header + fields[0, 3]


@loop
def look_up(packed: Any, count: int, dictionary: Any, numbers: Any) -> int:
    """Fill `numbers` with entries of a dictionary, whose numbers are packed in so many bits each.

    After a byte with the bits come runs: of one number that repeats, or of groups of eight that are packed side
    by side. Returns how many were found: less than `count` where the bytes are not as they should be.
    """
    if len(packed) == 0 or packed[0] > 32 or len(dictionary) == 0:
        return 0
    bits, at, done = int(packed[0]), 1, 0
    while done < count and at < len(packed):
        header, at = read_integer(packed, at)
        if header > _LONGEST_RUN:
            return done
        if header & 1:
            length, n_here = (header >> 1) * bits, min(8 * (header >> 1), count - done)
            if at + length > len(packed):
                return done
            most = look_up_group(packed, at, bits, dictionary, numbers[done : done + n_here])
        else:
            length, n_here = (bits + 7) // 8, min(header >> 1, count - done)
            if at + length > len(packed):
                return done
            most = few_bytes(packed, at, length)
            numbers[done : done + n_here] = dictionary[min(most, len(dictionary) - 1)]
        if most >= len(dictionary):
            return done
        at, done = at + length, done + n_here
    return done


@loop
def look_up_group(packed: Any, at: int, bits: int, dictionary: Any, numbers: Any) -> Any:
    """Fill `numbers` with entries whose numbers stand side by side from a byte on; return the largest of these.

    Numbers that are too large for the dictionary name its last entry, so that the loop has no branches.
    """
    here, words, mask = packed.ctypes.data + at, np.zeros(1, np.int64), (1 << bits) - 1
    last, most = np.int64(len(dictionary) - 1), np.int64(0)
    # An entry is read with the bytes after it, eight in all: the last ones have fewer.
    n_whole = min(len(numbers), max(0, (len(packed) - at - 8) * 8 // max(1, bits)))
    for i in range(n_whole):
        entry = (number_at(here + ((i * bits) >> 3), words) >> ((i * bits) & 7)) & mask
        most = max(most, entry)
        numbers[i] = dictionary[min(entry, last)]
    for i in range(n_whole, len(numbers)):
        place = at + ((i * bits) >> 3)
        entry = (few_bytes(packed, place, min(len(packed) - place, 8)) >> ((i * bits) & 7)) & mask
        most = max(most, entry)
        numbers[i] = dictionary[min(entry, last)]
    return most


@loop
def few_bytes(packed: Any, at: Any, count: Any) -> Any:
    """Read so many bytes, the lowest first."""
    number = np.int64(0)
    for place in range(count):
        number |= np.int64(packed[at + place]) << (8 * place)
    return number


@loop
def read_header(head: Any, fields: Any) -> int:
    """Read the integers and truths of a header and of structures in it, by field; return where it ends, or −1."""
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
        elif kind in (_TRUE, _FALSE):
            if depth < 2 and 0 <= field < _MOST_FIELDS:
                fields[depth, field] = kind == _TRUE
        else:
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
def signed(number: Any) -> Any:
    """Undo the zigzag 0, −1, 1, −2, … in which small numbers of either sign are short."""
    return (number >> 1) ^ -(number & 1)


@loop
def little_endian(head: Any, at: int) -> Any:
    """Read four bytes, the lowest first; less than nothing where there are none."""
    return few_bytes(head, at, 4) if 0 <= at <= len(head) - 4 else np.int64(-4)


def warm() -> None:
    """Compile the loops of this module."""
    pages, packed = np.zeros((1, N_TOLD), np.int64), given(np.zeros(1, np.uint8), np.uint8)
    find_pages(packed, 0, True, True, pages, np.zeros(1, np.int64))
    page_kinds(pages, 8)
    for dtype in (np.float32, np.float64):
        look_up(packed, 0, given(np.zeros(1, dtype)), np.zeros(1, dtype))
