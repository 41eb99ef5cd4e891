"""Which lines of a Gram matrix were made together.

A matrix product rounds a line otherwise where others are made along with it. So a fit that goes on from a
checkpoint, and has to make the lines again that were held, makes them in the same company: then they have the same
bits.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


class LineBatches:
    """The batches of which any line is still held, in the order in which they were made.

    Parameters
    ----------
    capacity : int
        How many slots there are for lines.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.solvers.line_batches import LineBatches
    >>> batches = LineBatches(3)
    >>> batches.add(np.array([7, 8]), np.array([0, 1]))
    >>> batches.add(np.array([5]), np.array([2]))
    >>> batches.add(np.array([6, 9]), np.array([0, 1]))  # in the place of the first two
    >>> [numbers.tolist() for numbers, _ in LineBatches.noted(batches.as_notes())]
    [[5], [6, 9]]
    """

    def __init__(self, capacity: int) -> None:
        self._made: dict[int, tuple[Integers, Integers]] = {}
        self._left: dict[int, int] = {}
        self._batch_in = np.full(capacity, -1)
        self._count = 0

    def add(self, numbers: Integers, slots: Integers) -> None:
        """Remember that the lines of some rows were made together, and in which slots they stand."""
        batches, lost = np.unique(self._batch_in[slots], return_counts=True)
        for batch, fewer in zip(batches.tolist(), lost.tolist(), strict=True):
            if batch >= 0:
                self._left[batch] -= fewer
                if not self._left[batch]:
                    del self._made[batch], self._left[batch]
        self._made[self._count], self._left[self._count] = (numbers, slots), len(slots)
        self._batch_in[slots] = self._count
        self._count += 1

    def as_notes(self) -> dict[str, Any]:
        """Return what a checkpoint keeps: eight bytes for each line of each batch."""
        numbers, slots = zip(*self._made.values(), strict=True) if self._made else ((), ())
        none = [np.empty(0, np.int32)]
        return {
            "made": np.concatenate([*numbers, *none]).astype(np.int32),
            "made_in": np.concatenate([*slots, *none]).astype(np.int32),
            "made_until": np.cumsum([len(batch) for batch in numbers], dtype=np.int64),
        }

    @staticmethod
    def noted(known: Mapping[str, Any]) -> Iterator[tuple[Integers, Integers]]:
        """Yield the batches of a checkpoint: made again in this order, each slot ends with the line it held."""
        until = known["made_until"]
        made = (np.split(known[name].astype(np.int64), until)[:-1] for name in ("made", "made_in"))
        yield from zip(*made, strict=True)
