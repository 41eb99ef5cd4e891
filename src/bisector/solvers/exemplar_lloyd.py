"""Lloyd's scheme for any distance: rows go to the nearest exemplar, exemplars to the middle of their rows.

*Problem.* Find k exemplars with a small Σ wᵢ d(xᵢ, nearest exemplar). With squared Euclidean distance and means
this is k-means; the median of each coordinate belongs to Manhattan distance, the geometric median to Euclidean
distance, and a medoid to any.

*Never rising.* To assign a row to a nearer exemplar cannot raise the objective. An exemplar moves only if the total
distance of its rows falls, as computed and added up without rounding: so the objective falls from round to round
whichever exemplar is asked for, and the rounds end.

*Empty clusters* take the rows that are farthest from their exemplars, which lowers the objective further.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.distances.distance import Distance, Exemplar, Rows
from bisector.distances.reductions import nearest_one
from bisector.engine.checkpoint import NOWHERE, Checkpoint
from bisector.engine.items import picked
from bisector.engine.progress import track
from bisector.exemplars.centroids import CENTROIDS
from bisector.solvers.medoid_alternate import central_member

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Exemplars:
    """Exemplars that were found.

    Attributes
    ----------
    points : ndarray of shape (n_clusters, n_features) or None
        None if the exemplars are rows.
    medoids : ndarray of int of shape (n_clusters,) or None
        Which rows they are, if they are.
    references : Rows
        The exemplars, prepared to be compared with.
    history : ndarray
        The objective after each assignment; never rising.
    n_iter : int
    converged : bool
        Whether no exemplar would move.
    """

    points: NDArray[Any] | None
    medoids: Integers | None
    references: Rows
    history: Floats
    n_iter: int
    converged: bool


def exemplar_lloyd(
    distance: Distance,
    items: Any,
    rows: Rows,
    exemplar: Exemplar,
    start: NDArray[Any],
    weights: Floats,
    *,
    max_iter: int,
    n_jobs: int | None = None,
    kept: Checkpoint = NOWHERE,
) -> Exemplars:
    """Assign and move until no exemplar moves.

    Parameters
    ----------
    distance : Distance
    items : array, sparse matrix, list
        The rows as they came.
    rows : Rows
        The same, prepared by the distance.
    exemplar : {"mean", "coordinate-median", "geometric-median", "medoid"}
    start : ndarray of shape (n_clusters, n_features), or of int of shape (n_clusters,)
        Points, or row numbers.
    weights : ndarray of shape (n_rows,)
        All positive.
    max_iter : int
    n_jobs : int, optional
    kept : Checkpoint, optional
        Where rounds are noted, and from which they go on; after the last round, with what was found.

    Returns
    -------
    Exemplars
    """
    state = _Lloyd(distance, items, rows, exemplar, weights, n_jobs)
    known = kept.recall("rounds")
    if known is None:
        state.begin(start)
        history, converged, n_iter = [state.assign()], False, 0
    else:
        state.exemplars, history = known["exemplars"], known["history"].tolist()
        converged, n_iter = bool(known["converged"]), int(known["n_iter"])
        if n_iter < max_iter and not converged:
            state.assign()  # labels and distances are not noted: they follow from the exemplars
    with track("exemplars", total=max_iter) as bar:
        while n_iter < max_iter and not converged:
            n_iter += 1
            moved = [state.move(place) for place in range(len(start))]
            converged = not (any(moved) | state.fill_empty())
            if not converged:
                history.append(state.assign())
            kept.note(
                "rounds", exemplars=state.exemplars, history=history, n_iter=n_iter, converged=converged
            )
            bar.advance(note=f"objective {history[-1]:.6g}")
    by_rows = exemplar == "medoid"
    return Exemplars(
        None if by_rows else state.exemplars,
        state.exemplars if by_rows else None,
        state.references(state.exemplars),
        np.array(history),
        n_iter,
        converged,
    )


class _Lloyd:
    """The exemplars, and the nearest of every row."""

    exemplars: NDArray[Any]
    distances: Floats
    labels: Integers

    def __init__(
        self,
        distance: Distance,
        items: Any,
        rows: Rows,
        exemplar: Exemplar,
        weights: Floats,
        n_jobs: int | None,
    ) -> None:
        self._distance, self._items, self._rows, self._n_jobs = distance, items, rows, n_jobs
        self._weights = weights
        self._middle_of = CENTROIDS.get(exemplar)

    def begin(self, start: NDArray[Any]) -> None:
        by_number = start.ndim == 1
        if self._middle_of is None or not by_number:
            self.exemplars = start.copy()
        else:
            self.exemplars = self._as_points(start)

    def references(self, exemplars: NDArray[Any]) -> Rows:
        """Prepare exemplars to be compared with."""
        if self._middle_of is None:
            return self._rows.take(exemplars)
        return self._distance.prepare(exemplars, like=self._rows)

    def assign(self) -> float:
        """Find the nearest exemplar of every row; return the objective."""
        self.distances, self.labels = nearest_one(
            self._distance, self._rows, self.references(self.exemplars), n_jobs=self._n_jobs
        )
        return math.fsum(self._weights * self.distances)

    def move(self, place: int) -> bool:
        """Move an exemplar to the middle of its rows, if their total distance falls."""
        members = np.flatnonzero(self.labels == place)
        if not len(members):
            return False
        rows, weights = self._rows.take(members), self._weights[members]
        if self._middle_of is None:
            middle: NDArray[Any] = members[[central_member(self._distance, rows, weights, self._n_jobs)]]
        else:
            middle = self._middle_of(picked(self._items, members), weights)[None, :]
            middle = middle.astype(self.exemplars.dtype)
        if np.array_equal(middle[0], self.exemplars[place]):
            return False
        distances, _ = nearest_one(self._distance, rows, self.references(middle), n_jobs=self._n_jobs)
        if not math.fsum(weights * distances) < math.fsum(weights * self.distances[members]):
            return False
        self.exemplars[place] = middle[0]
        return True

    def fill_empty(self) -> bool:
        """Let the exemplars of empty clusters be the rows that are farthest from theirs, if any is apart."""
        empty = np.setdiff1d(np.arange(len(self.exemplars)), self.labels)
        farthest = np.argsort(-self.distances, kind="stable")[: len(empty)]
        farthest = farthest[self.distances[farthest] > 0]
        places = empty[: len(farthest)]
        if len(places):
            self.exemplars[places] = farthest if self._middle_of is None else self._as_points(farthest)
        return bool(len(places))

    def _as_points(self, numbers: Integers) -> NDArray[Any]:
        some = picked(self._items, numbers)
        return some.toarray() if hasattr(some, "tocsr") else np.array(some)
