"""Random numbers that belong to rows: the same for a row whichever block holds it and whoever reads it.

A number is made from a seed and the row's place alone (the generator SplitMix64, which may start anywhere), so that
a sample can be drawn block by block, on any number of threads or machines, and still be one sample.
"""

import numpy as np
from numpy.typing import NDArray

# Up to so many rows, drawing some of them may shuffle all their numbers.
_FEW_ROWS = 2**22

_STEP, _FIRST, _SECOND = (
    np.uint64(number) for number in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
)


def uniforms(seed: int, first_row: int, n_rows: int, n_columns: int = 1) -> NDArray[np.float64]:
    """Return numbers between 0 and 1, both excluded, of shape (n_rows, n_columns), for rows from `first_row` on.

    Examples
    --------
    >>> from bisector.solvers.keyed_draws import uniforms
    >>> whole, part = uniforms(7, 0, 5), uniforms(7, 2, 3)
    >>> bool((whole[2:] == part).all())
    True
    """
    places = np.arange(first_row * n_columns, (first_row + n_rows) * n_columns, dtype=np.uint64)
    with np.errstate(over="ignore"):
        mixed = _mixed(np.array([seed + 1], dtype=np.uint64)) + (places + np.uint64(1)) * _STEP
        bits = _mixed(mixed) >> np.uint64(11)
    return ((bits.astype(np.float64) + 0.5) * 2.0**-53).reshape(n_rows, n_columns)


def _mixed(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    words = (words ^ (words >> np.uint64(30))) * _FIRST
    words = (words ^ (words >> np.uint64(27))) * _SECOND
    return words ^ (words >> np.uint64(31))


def different_rows(n_rows: int, size: int, random: np.random.RandomState) -> NDArray[np.int64]:
    """Draw the numbers of different rows, in any order, without listing all of them where they are many.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.solvers.keyed_draws import different_rows
    >>> len(set(different_rows(10**12, 1000, np.random.RandomState(0)).tolist()))
    1000
    """
    if n_rows <= _FEW_ROWS:
        return np.asarray(random.choice(n_rows, size, replace=False), dtype=np.int64)
    seed = int(random.randint(2**31 - 1))
    return np.asarray(np.random.default_rng(seed).choice(n_rows, size, replace=False), dtype=np.int64)
