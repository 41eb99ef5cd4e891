"""Places drawn in proportion to r(x)^−d, where r(x) is how far the k-th nearest row is: the density of neighbours.

Moving by ρ changes r by at most ρ. So in a cell of a box r is at least what it is in the middle, less the half
diagonal: each cell has a height that the density does not exceed. A place is drawn below these heights and kept if
it lies below the density too, which makes the draws exact, however rough the cells are; small cells only keep more.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MOST_CELLS = 2**16
# Cells are halved until half of the places drawn are kept, or so.
ENOUGH_KEPT = 0.5
AT_A_TIME = 2**14
# After so many places, of which too few were kept, there is no point in going on.
PATIENCE = 2**22


class Cells(NamedTuple):
    """Boxes without gaps or overlaps, and the least that r may be in each."""

    middle: Floats
    half: Floats
    least: Floats

    def shares(self) -> Floats:
        """Return the share of each cell in what lies below the heights of all."""
        return _scaled(_log_masses(self.half, self.least))


def draw_places(
    reach: Callable[[Floats], Floats], box: Floats, floor: float, n: int, rng: np.random.RandomState
) -> Floats:
    """Draw n places of a box in proportion to ``reach(x)**-d``.

    Parameters
    ----------
    reach : callable
        The distances r(x) of the k-th nearest rows of places.
    box : array of shape (d, 2)
    floor : float
        A positive number that no r(x) is below.
    n : int
    rng : RandomState

    Raises
    ------
    ValueError
        If nearly all places drawn have to be thrown away, as is so in many dimensions.
    """
    cells = cover(reach, box, floor)
    ends, d = np.cumsum(cells.shares()), len(box)
    kept = np.empty((0, d))
    tried = 0
    while len(kept) < n:
        if tried >= PATIENCE and len(kept) < n * tried / (64 * PATIENCE):
            raise ValueError(
                f"Of {tried:,} places drawn in {d} dimensions only {len(kept):,} could be kept: bounds on "
                "distances say little there. Draw from a KernelDensity or a GaussianMixture instead."
            )
        cell = np.searchsorted(ends, rng.uniform(size=AT_A_TIME) * ends[-1], side="right")
        cell = np.minimum(cell, len(ends) - 1)
        places = cells.middle[cell] + rng.uniform(-1.0, 1.0, size=(AT_A_TIME, d)) * cells.half[cell]
        with np.errstate(divide="ignore"):
            below = np.log(rng.uniform(size=AT_A_TIME)) <= d * np.log(cells.least[cell] / reach(places))
        kept = np.concatenate([kept, places[below]])
        tried += AT_A_TIME
    return kept[:n]


def cover(reach: Callable[[Floats], Floats], box: Floats, floor: float) -> Cells:
    """Cut a box into cells, the smaller the more their heights exceed the density."""
    middle, half = box.mean(axis=1)[None], (box[:, 1] - box[:, 0])[None] / 2
    found = reach(middle)
    while True:
        least = np.maximum(found - np.linalg.norm(half, axis=1), floor)
        above, inside = _log_masses(half, least), _log_masses(half, np.maximum(found, floor))
        peak = above.max()
        wasted = np.exp(above - peak) - np.exp(inside - peak)
        if len(middle) >= MOST_CELLS or wasted.sum() <= (1 - ENOUGH_KEPT) * np.exp(above - peak).sum():
            return Cells(middle, half, least)
        # Those that waste most are halved, across their longest side: as many as make up half of the waste.
        worst = np.argsort(-wasted)
        worst = worst[: 1 + np.searchsorted(np.cumsum(wasted[worst]), wasted.sum() / 2)]
        side = half[worst].argmax(axis=1)
        half[worst, side] /= 2
        other = middle[worst]
        step = half[worst, side]
        middle[worst, side] -= step
        other[np.arange(len(worst)), side] += step
        found[worst] = reach(middle[worst])
        middle, half = np.concatenate([middle, other]), np.concatenate([half, half[worst]])
        found = np.concatenate([found, reach(other)])


def _log_masses(half: Floats, r: Floats) -> Floats:
    masses: Floats = np.log(2 * half).sum(axis=1) - half.shape[1] * np.log(r)
    return masses


def _scaled(logs: Floats) -> Floats:
    shares = np.exp(logs - logs.max())
    return np.asarray(shares / shares.sum())
