"""The k nearest so far, as a heap whose first entry is the worst of them.

Of two rows the one with the larger reduced distance is worse, of equally near ones the one with the larger
number. A place that is still empty holds an infinite distance and the number `EMPTY`, which is worse than every
row, also than one that is infinitely far away.
"""

from typing import Any

import numpy as np

from bisector.engine.loops import loop

EMPTY = 2**62


@loop
def is_nearer(value: float, number: int, other_value: float, other_number: int) -> bool:
    """Whether a row comes before another."""
    return value < other_value or (value == other_value and number < other_number)


@loop
def replace_worst(values: Any, numbers: Any, value: float, number: int) -> None:
    """Put a row in the place of the worst, and let it sink to where it belongs."""
    size = len(values)
    place = 0
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        if child + 1 < size and is_nearer(
            values[child], numbers[child], values[child + 1], numbers[child + 1]
        ):
            child += 1
        if is_nearer(values[child], numbers[child], value, number):
            break
        values[place] = values[child]
        numbers[place] = numbers[child]
        place = child
    values[place] = value
    numbers[place] = number


@loop
def sort_heap(values: Any, numbers: Any) -> None:
    """Bring a heap into ascending order; empty places come last, and get the number −1."""
    for size in range(len(values) - 1, 0, -1):
        value, number = values[size], numbers[size]
        values[size], numbers[size] = values[0], numbers[0]
        replace_worst(values[:size], numbers[:size], value, number)
    for place in range(len(values)):
        if numbers[place] == EMPTY:
            numbers[place] = -1


def warm() -> None:
    """Compile the loops of this module."""
    is_nearer(1.0, 0, 1.0, 1)
    replace_worst(np.ones(1), np.zeros(1, np.int64), 1.0, 0)
    sort_heap(np.ones(1), np.zeros(1, np.int64))
