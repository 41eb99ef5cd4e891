"""Where expectation maximisation starts: rows that are shared out among components in some plausible way."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Centres are found on at most so many rows, in at most so many moves.
_SAMPLED, _MOVES = 20_000, 30


def spread_rows(X: NDArray[Any], k: int, weights: Floats, rng: np.random.RandomState) -> NDArray[np.int64]:
    """Choose k rows far apart: each with a probability that grows with its squared distance from those chosen.

    Of a few candidates, the one that brings all rows nearest is taken.
    """
    chosen = [_drawn(weights, 1, rng)[0]]
    nearest = _squares(X, X[chosen[0]])
    for _ in range(1, k):
        mass = weights * nearest
        if not mass.any():  # fewer distinct rows than components: any will do
            mass = weights
        tried = _drawn(mass, 2 + int(np.log(k)), rng)
        options = [np.minimum(nearest, _squares(X, X[candidate])) for candidate in tried]
        best = int(np.argmin([weights @ option for option in options]))
        chosen.append(tried[best])
        nearest = options[best]
    return np.array(chosen, dtype=np.int64)


def cluster_labels(X: NDArray[Any], k: int, weights: Floats, rng: np.random.RandomState) -> NDArray[np.int64]:
    """Assign rows to k centres, each of which is the mean of its rows, or nearly."""
    X = X.astype(np.float64, copy=False)
    sampled, counted = X, weights
    if len(X) > _SAMPLED:
        rows = np.sort(rng.choice(len(X), _SAMPLED, replace=False))
        sampled, counted = X[rows], weights[rows]
        if np.count_nonzero(counted) < k:
            sampled, counted = X, weights
    centres = sampled[spread_rows(sampled, k, counted, rng)]
    for _ in range(_MOVES):
        labels = _nearest(sampled, centres)
        counts = np.bincount(labels, counted, minlength=k)
        sums = np.stack([np.bincount(labels, counted * column, minlength=k) for column in sampled.T], axis=1)
        held = counts > 0
        moved = np.where(held[:, None], sums / np.where(held, counts, 1.0)[:, None], centres)
        if np.array_equal(moved, centres):
            break
        centres = moved
    return _nearest(X, centres)


def _drawn(mass: Floats, count: int, rng: np.random.RandomState) -> NDArray[np.int64]:
    ends = np.cumsum(mass)
    places = np.searchsorted(ends, rng.uniform(size=count) * ends[-1], side="right")
    return np.asarray(np.minimum(places, len(mass) - 1))


def _squares(X: NDArray[Any], centre: Floats) -> Floats:
    away = X - centre
    return np.asarray(np.einsum("ij,ij->i", away, away))


def _nearest(X: Floats, centres: Floats) -> NDArray[np.int64]:
    """Return the number of the nearest centre, in tiles that stay small."""
    middle = centres.mean(axis=0)
    about, own = centres - middle, ((centres - middle) ** 2).sum(axis=1)
    labels = np.empty(len(X), dtype=np.int64)
    for first in range(0, len(X), 4096):
        part = slice(first, first + 4096)
        labels[part] = (own - 2 * (X[part] - middle) @ about.T).argmin(axis=1)
    return labels
