"""Indexes: who is near, answered exactly, for rows that come and go.

An index is made of *structures*: rows arranged once for searching (a list, a tree) and never changed. A new row
does not disturb them. Added rows form a structure of their own, and structures of similar size are joined, so
that each row is arranged anew only about log₂ n times; removed rows are skipped, and a structure is arranged
anew when half of its rows are gone. A query asks every structure and merges their answers.

**One answer.** The reduced distance, computed by the formula itself, decides; among equally near rows the one with
the smaller number comes first. So every kind of index, any number of threads and any history of additions and
removals give the same rows.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bisector.distances.distance import Distance, Rows
from bisector.distances.names import resolve
from bisector.engine.validation import check_count, check_flag

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Nearest(NamedTuple):
    """What a structure finds: for each query, reduced distances in ascending order and the numbers of their rows.

    Where a structure has fewer rows than were asked for, the distance is infinite and the number −1.
    """

    reduced: Floats
    numbers: Integers
    computed: int  # how many distances it took


class Within(NamedTuple):
    """What a structure finds within a radius: those of query q stand from ``starts[q]`` to ``starts[q + 1]``."""

    starts: Integers
    reduced: Floats
    numbers: Integers
    computed: int


class Structure(ABC):
    """Rows arranged for searching.

    Parameters
    ----------
    distance : Distance
    rows : Rows
        Prepared by the distance.
    """

    def __init__(self, distance: Distance, rows: Rows) -> None:
        self.distance = distance
        self.rows = rows

    @abstractmethod
    def nearest(self, queries: Rows, k: int, alive: NDArray[np.bool_] | None, n_jobs: int | None) -> Nearest:
        """Find the k nearest rows of every query among those alive; ties go to the smaller number."""

    @abstractmethod
    def within(
        self, queries: Rows, bounds: Floats, alive: NDArray[np.bool_] | None, n_jobs: int | None
    ) -> Within:
        """Find the rows whose reduced distance is at most the query's bound, in the order of their numbers."""

    @abstractmethod
    def count(
        self, queries: Rows, bounds: Floats, alive: NDArray[np.bool_] | None, n_jobs: int | None
    ) -> tuple[Integers, int]:
        """Count these rows without listing them; return also how many distances it took."""


@dataclass
class Stats:
    """What queries have cost so far.

    Attributes
    ----------
    queries : int
        Rows that were searched for.
    distances : int
        Distances computed for them, those to centres of balls included.
    brute_force : int
        Distances that comparing with every row would have taken.
    """

    queries: int = 0
    distances: int = 0
    brute_force: int = 0

    @property
    def share(self) -> float:
        """Distances computed, as a share of those that comparing with every row takes."""
        return self.distances / self.brute_force if self.brute_force else 0.0


@dataclass
class _Part:
    structure: Structure
    ids: Integers  # ascending
    alive: NDArray[np.bool_]
    n_alive: int  # kept, as counting takes longer than a query

    @property
    def mask(self) -> NDArray[np.bool_] | None:
        return None if self.n_alive == len(self.alive) else self.alive

    def lose(self, places: Integers) -> None:
        self.alive[places] = False
        self.n_alive -= len(places)


class Index(ABC):
    """Rows that can be searched for the nearest of a query, exactly.

    Rows are numbered from 0 in the order in which they came; a number is never used again.

    Attributes
    ----------
    distance : Distance
        As learned from the rows.
    stats : Stats
        What the queries so far have cost.
    reason : str
        Why this kind of index was chosen.
    """

    distance: Distance
    stats: Stats
    reason: str = "as asked for"

    def __init__(self, X: Any, metric: Any = "euclidean") -> None:
        self.distance = resolve(metric).learned(X)
        if unfit := self._refusal():
            raise ValueError(unfit)
        rows = self.distance.prepare(X)
        if not len(rows):
            raise ValueError("X has no rows: an index needs at least one.")
        self.stats = Stats()
        self._like = rows
        self._n_seen = len(rows)
        self._parts = [self._part(rows, np.arange(len(rows)))]

    def _refusal(self) -> str | None:
        """Say why this kind of index cannot search by the distance, if it cannot."""
        return None

    @abstractmethod
    def _arrange(self, rows: Rows) -> Structure:
        """Arrange rows for searching."""

    def _part(self, rows: Rows, ids: Integers) -> _Part:
        return _Part(self._arrange(rows), ids, np.ones(len(ids), dtype=bool), len(ids))

    def __len__(self) -> int:
        return sum(part.n_alive for part in self._parts)

    @property
    def ids(self) -> Integers:
        """The numbers of the rows that are in the index, in ascending order."""
        return np.concatenate([part.ids[part.alive] for part in self._parts])

    def positions(self, ids: Integers) -> Integers:
        """Return where rows stand among those that are in the index now, in the order of their numbers."""
        return ids if len(self) == self._n_seen else np.searchsorted(self.ids, ids)

    @property
    def rows(self) -> Rows:
        """The rows that are in the index, prepared, in the order of their numbers."""
        kept = [
            part.structure.rows if part.mask is None else part.structure.rows.take(np.flatnonzero(part.alive))
            for part in self._parts
        ]
        return kept[0].joined(kept[1:]) if len(kept) > 1 else kept[0]

    def prepare(self, X: Any) -> Rows:
        """Check rows and bring them into the form in which they can be searched for."""
        return self.distance.prepare(X, like=self._like)

    def query(self, X: Any, k: int = 1, *, return_distance: bool = True, n_jobs: int | None = None) -> Any:
        """Find the k nearest rows of every row of X.

        Parameters
        ----------
        X : rows
        k : int, default=1
            At most the number of rows in the index.
        return_distance : bool, default=True
        n_jobs : int, optional

        Returns
        -------
        distances : ndarray of shape (rows of X, k)
            In ascending order; only if asked for.
        numbers : ndarray of shape (rows of X, k)
            Of the rows, as the index counts them; among equally near rows, the smaller comes first.
        """
        return self.query_prepared(self.prepare(X), k, return_distance=return_distance, n_jobs=n_jobs)

    def query_prepared(
        self, queries: Rows, k: int = 1, *, return_distance: bool = True, n_jobs: int | None = None
    ) -> Any:
        """Do as `query` does for rows that `prepare` returned."""
        reduced, numbers = self.reduced_prepared(queries, k, n_jobs=n_jobs)
        return (self.finish(queries, reduced), numbers) if return_distance else numbers

    def reduced_prepared(
        self, queries: Rows, k: int = 1, *, n_jobs: int | None = None
    ) -> tuple[Floats, Integers]:
        """Do as `query_prepared` does, but return distances as they are compared, which `finish` finishes."""
        k = check_count("k", k)
        if k > len(self):
            raise ValueError(f"k is {k}, but the index holds only {len(self)} rows: k must not exceed that.")
        found = []
        for part in self._parts:
            nearest = part.structure.nearest(queries, min(k, len(part.ids)), part.mask, n_jobs)
            self.stats.distances += nearest.computed
            found.append((nearest.reduced, np.where(nearest.numbers < 0, -1, part.ids[nearest.numbers])))
        self._count_queries(len(queries))
        return found[0] if len(found) == 1 else merged_nearest(found, k)

    def query_radius(
        self,
        X: Any,
        radius: ArrayLike,
        *,
        sort: bool = False,
        count_only: bool = False,
        n_jobs: int | None = None,
    ) -> Any:
        """Find all rows within a radius of every row of X, the radius included.

        Parameters
        ----------
        X : rows
        radius : float or array-like of shape (rows of X,)
        sort : bool, default=False
            Nearest first; otherwise in the order of their numbers.
        count_only : bool, default=False
            Return only how many there are, which takes no memory for them.
        n_jobs : int, optional

        Returns
        -------
        scipy.sparse.csr_array of shape (rows of X, rows ever in the index), or ndarray of int
            The distances, one row a query; rows at distance zero are stored too. Or the counts.
        """
        return self.query_radius_prepared(
            self.prepare(X), radius, sort=sort, count_only=count_only, n_jobs=n_jobs
        )

    def query_radius_prepared(
        self,
        queries: Rows,
        radius: ArrayLike,
        *,
        sort: bool = False,
        count_only: bool = False,
        n_jobs: int | None = None,
    ) -> Any:
        """Do as `query_radius` does for rows that `prepare` returned."""
        from scipy.sparse import csr_array

        bounds = self._bounds(queries, radius)
        self._count_queries(len(queries))
        if check_flag("count_only", count_only):
            counts = np.zeros(len(queries), dtype=np.int64)
            for part in self._parts:
                more, computed = part.structure.count(queries, bounds, part.mask, n_jobs)
                self.stats.distances += computed
                counts += more
            return counts
        found = []
        for part in self._parts:
            within = part.structure.within(queries, bounds, part.mask, n_jobs)
            self.stats.distances += within.computed
            found.append(within._replace(numbers=part.ids[within.numbers]))
        starts, reduced, numbers = _joined(found)
        if sort:
            owner = np.repeat(np.arange(len(queries)), np.diff(starts))
            order = np.lexsort((numbers, reduced, owner))
            reduced, numbers = reduced[order], numbers[order]
        return csr_array((self.finish(queries, reduced), numbers, starts), shape=(len(queries), self._n_seen))

    def add(self, X: Any) -> Integers:
        """Add rows; return their numbers."""
        rows = self.prepare(X)
        ids = np.arange(self._n_seen, self._n_seen + len(rows))
        if not len(rows):
            return ids
        self._n_seen += len(rows)
        gathered: list[tuple[Rows, Integers]] = [(rows, ids)]
        size = len(rows)
        # Structures no larger than what is added are arranged anew with it, so sizes at least double.
        while self._parts and self._parts[-1].n_alive <= size:
            part = self._parts.pop()
            kept = np.flatnonzero(part.alive)
            if len(kept):
                gathered.append((part.structure.rows.take(kept), part.ids[kept]))
                size += len(kept)
        gathered.reverse()
        together = gathered[0][0].joined([more for more, _ in gathered[1:]])
        self._parts.append(self._part(together, np.concatenate([numbers for _, numbers in gathered])))
        return ids

    def remove(self, ids: ArrayLike) -> None:
        """Remove rows by their numbers."""
        wanted = np.atleast_1d(np.asarray(ids))
        if wanted.dtype.kind not in "iu":
            raise TypeError(f"ids must be row numbers, not values of type {wanted.dtype}.")
        numbers, counts = np.unique(wanted, return_counts=True)
        if (counts > 1).any():
            raise ValueError(f"Row {numbers[counts > 1][0]} is to be removed twice.")
        places = [(part, *_places(part.ids, numbers)) for part in self._parts]
        here = np.zeros(len(numbers), dtype=bool)
        for part, present, place in places:
            here[present] |= part.alive[place]
        if not here.all():
            missing = int(numbers[~here][0])
            was = "was removed before" if 0 <= missing < self._n_seen else "was never added"
            raise ValueError(f"There is no row {missing} to remove: it {was}.")
        if len(numbers) == len(self):
            raise ValueError("These are all the rows of the index: one at least has to stay.")
        for part, _, place in places:
            part.lose(place)
        self._parts = [self._renewed(part) for part in self._parts if part.n_alive]

    def _renewed(self, part: _Part) -> _Part:
        kept = np.flatnonzero(part.alive)
        if 2 * len(kept) > len(part.alive):
            return part
        return self._part(part.structure.rows.take(kept), part.ids[kept])

    def _bounds(self, queries: Rows, radius: ArrayLike) -> Floats:
        try:
            radii = np.broadcast_to(np.asarray(radius, dtype=np.float64), (len(queries),))
        except (TypeError, ValueError):
            raise ValueError(
                f"radius must be one number, or one for each of the {len(queries)} queries."
            ) from None
        if np.isnan(radii).any() or (radii < 0).any():
            raise ValueError("radius must not be negative or NaN.")
        pairs = self.distance.between(queries, self._like)
        different, which = np.unique(radii, return_inverse=True)
        return np.array([pairs.reduce(float(r)) for r in different])[which.reshape(-1)]

    def finish(self, queries: Rows, reduced: Floats) -> Floats:
        """Turn distances as they are compared into distances."""
        return self.distance.between(queries, self._like).finish(reduced)

    def _count_queries(self, n: int) -> None:
        self.stats.queries += n
        self.stats.brute_force += n * len(self)


def _places(ids: Integers, wanted: Integers) -> tuple[NDArray[np.bool_], Integers]:
    """Tell which of the wanted numbers are among ascending ids, and where these stand."""
    place = np.minimum(np.searchsorted(ids, wanted), len(ids) - 1)
    present = ids[place] == wanted
    return present, place[present]


def merged_nearest(found: Sequence[tuple[Floats, Integers]], k: int) -> tuple[Floats, Integers]:
    """Merge the nearest rows of several structures: the k nearest of all, ties by number."""
    reduced = np.concatenate([values for values, _ in found], axis=1)
    numbers = np.concatenate([numbers for _, numbers in found], axis=1)
    absent = numbers < 0
    order = np.lexsort((numbers, reduced, absent), axis=1)[:, :k]
    return np.take_along_axis(reduced, order, axis=1), np.take_along_axis(numbers, order, axis=1)


def _joined(found: Sequence[Within]) -> tuple[Integers, Floats, Integers]:
    """Join what several structures found within radii, query by query, in the order of the rows' numbers."""
    if len(found) == 1:
        return found[0].starts, found[0].reduced, found[0].numbers
    counts = np.sum([np.diff(within.starts) for within in found], axis=0)
    owners = np.concatenate([np.repeat(np.arange(len(counts)), np.diff(within.starts)) for within in found])
    reduced = np.concatenate([within.reduced for within in found])
    numbers = np.concatenate([within.numbers for within in found])
    order = np.lexsort((numbers, owners))
    return np.concatenate([[0], np.cumsum(counts)]), reduced[order], numbers[order]
