"""Strings as numbers: letters, and signatures that tell which letters a string has.

Letters are numbered from the most frequent on. Each of the frequent ones is a class, the others share a few
classes. Of all statements "the string has at least so many letters of this class", those are chosen as bits of
the signature that are true of about half of the strings: they tell strings apart best.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]

# Signatures have so many bits that they are positive integers.
BITS = 63
# Strings that are bounded and looked through together are of one length; what lacks to a group is filled up.
GROUP = 64
_OWN_CLASSES, _SHARED_CLASSES = 40, 24
# Strings from which it is learned what tells strings apart.
_SAMPLE = 20_000


class Spelling(NamedTuple):
    """Strings as loops see them.

    Attributes
    ----------
    letters : ndarray of int32
        Of one string after the other; those that the alphabet lacks are negative.
    starts : ndarray of shape (strings + 1,)
        Where the strings begin.
    strange : ndarray of shape (strings,)
        How many letters of a string are negative.
    counted, paired : ndarray of shape (strings,)
        Signatures: of the letters, and of the pairs of neighbours.
    """

    letters: NDArray[np.int32]
    starts: Integers
    strange: Integers
    counted: Integers
    paired: Integers


class Alphabet:
    """The letters of some strings, and the bits that tell these apart.

    Parameters
    ----------
    strings : list of str
    """

    def __init__(self, strings: list[str]) -> None:
        characters, _ = _characters(strings)
        frequency = np.bincount(characters, minlength=1)
        known = np.argsort(-frequency, kind="stable")[: np.count_nonzero(frequency)]
        number = np.arange(len(known))
        self._letters = np.full(len(frequency) + 1, -1, dtype=np.int32)  # the last stands for all beyond
        self._letters[known] = number
        self._classes = np.where(number < _OWN_CLASSES, number, _OWN_CLASSES + number % _SHARED_CLASSES)
        self._bits = self._telling_bits(strings[:: max(1, len(strings) // _SAMPLE)])

    def __len__(self) -> int:
        return len(self._classes)

    def spell(self, strings: list[str]) -> Spelling:
        """Return strings as loops see them."""
        from bisector.engine.loops import given
        from bisector.search.string_search_loops import sign

        letters, starts = self._spelt(strings)
        strange, counted, paired = (np.empty(len(strings), dtype=np.int64) for _ in range(3))
        letters, starts = given(letters, np.int32), given(starts)
        bit_class, bit_count = self._bits
        sign(
            letters,
            starts,
            given(self._classes),
            given(bit_class),
            given(bit_count),
            strange,
            counted,
            paired,
        )
        return Spelling(letters, starts, given(strange), given(counted), given(paired))

    def _spelt(self, strings: list[str]) -> tuple[NDArray[np.int32], Integers]:
        characters, starts = _characters(strings)
        return self._letters[np.minimum(characters, len(self._letters) - 1)], starts

    def _telling_bits(self, strings: list[str]) -> tuple[Integers, Integers]:
        """Choose the classes and the counts that the bits of the signature stand for."""
        letters, starts = self._spelt(strings)
        n_classes = _OWN_CLASSES + _SHARED_CLASSES
        place = np.repeat(np.arange(len(strings)), np.diff(starts)) * n_classes + self._classes[letters]
        counts = np.bincount(place, minlength=len(strings) * n_classes).reshape(len(strings), n_classes)
        classes, wanted, doubts = [], [], []
        for number, count in enumerate(np.sort(counts, axis=0).T):
            enough = np.arange(1, count[-1] + 1)
            share = np.searchsorted(count, enough) / len(strings)
            classes.append(np.full(len(enough), number))
            wanted.append(enough)
            doubts.append(share * (1 - share))
        best = np.argsort(-np.concatenate(doubts), kind="stable")[:BITS]
        return np.concatenate(classes)[best], np.concatenate(wanted)[best]


def _characters(strings: list[str]) -> tuple[Integers, Integers]:
    """Return the code points of strings, one string after the other, and where each begins."""
    # Tokens are numbered by code points, also by those that stand for no character.
    encoded = "".join(strings).encode("utf-32-le", "surrogatepass")
    lengths = np.fromiter(map(len, strings), dtype=np.int64, count=len(strings))
    return np.frombuffer(encoded, dtype="<u4").astype(np.int64), np.concatenate([[0], np.cumsum(lengths)])
