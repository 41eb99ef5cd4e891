"""Rows that cover all rows: the farthest-first traversal."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.distances.distance import Distance, Rows
from bisector.distances.reductions import cut
from bisector.engine.show import number
from bisector.engine.threads import parallel
from bisector.exemplars.central_row import central_row
from bisector.exemplars.rows import Floats, prepared


@dataclass(frozen=True, eq=False, repr=False)
class FarthestFirst:
    """Rows chosen by `farthest_first`, and how well they cover all rows.

    Attributes
    ----------
    indices : ndarray of int
        The chosen rows, in the order in which they were chosen.
    radii : ndarray, as long
        After each choice, the largest distance of a row to the nearest chosen one.
    distances : ndarray of shape (n_rows,)
        Of every row to the nearest chosen one.
    labels : ndarray of int of shape (n_rows,)
        Which of the chosen rows that is: a position in `indices`, the first of equals.
    lower_bound : float
        No choice of as many points has a smaller covering radius than this. It is half of `radius` for a metric,
        and zero for a distance without the triangle inequality, which proves nothing.
    asked_for : int
        How many rows were to be chosen.
    """

    indices: NDArray[np.int64]
    radii: Floats
    distances: Floats
    labels: NDArray[np.int64]
    lower_bound: float
    asked_for: int

    @property
    def radius(self) -> float:
        """The covering radius: every row is at most so far from a chosen one."""
        return float(self.radii[-1])

    def __repr__(self) -> str:
        chosen = f"{len(self.indices)} of {len(self.distances)} rows"
        if len(self.indices) < self.asked_for:
            return (
                f"{chosen} cover all at distance zero: no others differ from them, so fewer were chosen than "
                f"the {self.asked_for} asked for."
            )
        proof = f"no choice of as many does so within less than {number(self.lower_bound)}"
        if self.lower_bound == 0 < self.radius:
            proof = "what others do is not bounded, for want of the triangle inequality"
        return f"{chosen} cover all within {number(self.radius)}; {proof}."


def farthest_first(
    X: Any, m: int, metric: Any = "euclidean", *, start: int | str | None = None, n_jobs: int | None = None
) -> FarthestFirst:
    """Choose rows one after another, each the farthest from those chosen before (Gonzalez, 1985).

    For a metric, the largest distance of a row to the nearest chosen one is at most twice what the best choice of
    as many points could reach. It takes m·n distances.

    Parameters
    ----------
    X : rows
        What the distance compares: a matrix, a frame, strings, sets.
    m : int
        How many rows to choose. When every row is at distance zero from a chosen one, no more are chosen.
    metric : str, Distance or callable, default="euclidean"
        A name, a distance, or a function of two rows; distances are taken from rows to chosen ones.
    start : int or "medoid", optional
        The row to begin with; by default row 0.
    n_jobs : int, optional
        On how many threads; by default all cores allowed here.

    Returns
    -------
    FarthestFirst
        `indices`, `radii`, `radius`, `distances`, `labels`, `lower_bound`.

    Examples
    --------
    >>> from bisector.exemplars import farthest_first
    >>> found = farthest_first([[0], [1], [2], [10], [11]], 2)
    >>> found
    2 of 5 rows cover all within 2; no choice of as many does so within less than 1.
    >>> found.indices, found.labels
    (array([0, 4]), array([0, 0, 0, 1, 1]))
    """
    if isinstance(m, bool) or not isinstance(m, int | np.integer) or m < 1:
        raise ValueError(f"m must be a whole number of rows, at least 1, not {m!r}.")
    distance, rows = prepared(X, metric)
    return cover(distance, rows, int(m), _first_row(start, len(rows), distance, rows, n_jobs), n_jobs=n_jobs)


def cover(distance: Distance, rows: Rows, m: int, first: int, *, n_jobs: int | None = None) -> FarthestFirst:
    """Choose among prepared rows as `farthest_first` does, beginning with row number `first`."""
    n, chosen = len(rows), first
    pairs = distance.between(rows, rows, flipped=True)
    parts = cut(n, 8 * pairs.tile_shape[1])
    reduced, nearest = np.empty((1, n)), np.full(n, np.inf)
    labels = np.zeros(n, dtype=np.int64)
    indices: list[int] = []
    radii: list[float] = []

    def compare(part: range) -> None:
        pairs.fill(range(chosen, chosen + 1), part, reduced, 0, part.start)

    while True:
        parallel(compare, parts, n_jobs=n_jobs)
        # On reduced distances, which order rows as distances do and have the same bits everywhere.
        closer = reduced[0] < nearest
        labels[closer] = len(indices)
        np.minimum(nearest, reduced[0], out=nearest)
        indices.append(chosen)
        chosen = int(np.argmax(nearest))
        radii.append(float(nearest[chosen]))
        if len(indices) == m or not radii[-1] > 0:
            break
    finished = pairs.finish(np.array(radii))
    return FarthestFirst(
        np.array(indices),
        finished,
        pairs.finish(nearest),
        labels,
        0.0 if distance.law == "none" else 0.5 * float(finished[-1]),
        m,
    )


def _first_row(start: Any, n: int, distance: Distance, rows: Rows, n_jobs: int | None) -> int:
    if isinstance(start, str) and start == "medoid":
        return central_row(distance, rows, None, n_jobs=n_jobs)
    if start is None:
        return 0
    if isinstance(start, bool) or not isinstance(start, int | np.integer) or not 0 <= start < n:
        raise ValueError(f'start must be a row number from 0 to {n - 1}, "medoid" or None, not {start!r}.')
    return int(start)
