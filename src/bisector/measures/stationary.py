"""Where k-means can come to rest on one feature (Flach, Example 8.5)."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bisector.engine.show import Table, number
from bisector.engine.validation import check_count

Floats = NDArray[np.float64]

# Splits are looked at one by one.
_MOST_SPLITS = 200_000


@dataclass(frozen=True, eq=False, repr=False)
class StationaryPoints:
    """The splits that Lloyd's iteration leaves as they are, the best first.

    Attributes
    ----------
    clusters : list of list of ndarray
        For each split its clusters, in ascending order.
    scatters : ndarray of shape (n_splits,)
        The scatter within the clusters of each split, ascending.
    n_splits : int
        How many splits there are in all.
    """

    clusters: list[list[Floats]]
    scatters: Floats
    n_splits: int

    def __len__(self) -> int:
        return len(self.clusters)

    def __iter__(self) -> Iterator[list[Floats]]:
        return iter(self.clusters)

    def table(self) -> Table:
        """Return the splits with their scatters."""
        lines = [
            [" | ".join(" ".join(number(v) for v in part.tolist()) for part in split), scatter]
            for split, scatter in zip(self.clusters, self.scatters.tolist(), strict=True)
        ]
        return Table(["clusters", "scatter"], lines)

    def __repr__(self) -> str:
        return self.table().text()

    def _repr_html_(self) -> str:
        return self.table().html()


def stationary_points(x: ArrayLike, k: int) -> StationaryPoints:
    """List all splits of numbers into k clusters that k-means would not change any more.

    The clusters of k-means on one feature are contiguous; all contiguous splits are tried. A split stays when no
    number is nearer to the mean of another cluster than to that of its own.

    Parameters
    ----------
    x : array-like of shape (n,) or (n, 1)
        A few finite numbers.
    k : int
        How many clusters, none of them empty.

    Returns
    -------
    StationaryPoints
        Prints as a table.

    References
    ----------
    Flach, *Machine Learning* (2012), Example 8.5.

    Examples
    --------
    >>> from bisector import stationary_points
    >>> stationary_points([8, 44, 50, 58, 84], k=2)
    clusters         scatter
    8 | 44 50 58 84      932
    8 44 | 50 58 84     1280
    8 44 50 | 58 84     1370
    8 44 50 58 | 84     1464
    """
    values = _numbers(x)
    k = check_count("k", k, at_most=len(values))
    splits = comb(len(values) - 1, k - 1)
    if splits > _MOST_SPLITS:
        raise ValueError(
            f"{len(values)} numbers can be split into {k} clusters in {splits:,} ways, and all are "
            "tried: give fewer."
        )
    found = []
    for cuts in combinations(range(1, len(values)), k - 1):
        parts = np.split(values, cuts)
        if _stays(parts):
            found.append((sum(float(((part - part.mean()) ** 2).sum()) for part in parts), parts))
    found.sort(key=lambda split: split[0])
    return StationaryPoints([parts for _, parts in found], np.array([s for s, _ in found]), splits)


def _stays(parts: list[Floats]) -> bool:
    """Whether no border between clusters lies on the wrong side of the middle between their means."""
    means = [part.mean() for part in parts]
    return all(
        left[-1] - a <= b - left[-1] and b - right[0] <= right[0] - a
        for left, right, a, b in zip(parts, parts[1:], means, means[1:], strict=False)
    )


def _numbers(x: Any) -> Floats:
    values = np.asarray(x, dtype=np.float64)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1 or not len(values):
        raise ValueError(f"x must hold numbers, one feature only, but has the shape {values.shape}.")
    if not np.isfinite(values).all():
        row = int(np.argmin(np.isfinite(values)))
        raise ValueError(f"x is {values[row]} in row {row}: give finite numbers.")
    return np.sort(values)
