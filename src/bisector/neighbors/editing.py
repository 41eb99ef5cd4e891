"""Editing: rows that disagree with their neighbours are taken for noise and left out (LFD 6.2.3; Wilson, 1972)."""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bisector.distances.distance import Distance
from bisector.neighbors.k_neighbors import KNeighborsClassifier
from bisector.neighbors.kept_rows import Integers
from bisector.neighbors.reducing import Reduced, ReducesRows, check_neighbors


class EditedNearestNeighbor(ReducesRows):
    """Leave out the rows that their k nearest neighbours would give another class.

    Condensing keeps the rows at the boundary to save work; editing removes rows from it to predict better. The
    nearest-neighbour rule of the edited rows does about what the k-nearest rule of all rows does. A row does
    not vote on itself, and all rows that disagree leave at once, so the order of rows has no influence but
    through ties.

    Parameters
    ----------
    n_neighbors : int, default=3
        How many neighbours vote.
    metric : str, Distance or callable, default="euclidean"
    repeat : bool or "all", default=False
        True edits again what is left, until all rows agree with their neighbours, or no more than k rows are
        left. "all" edits once, and leaves out the rows that disagree with their nearest neighbour, or with
        their 2, 3, …, k nearest (Tomek, 1976).
    n_jobs : int, default=None
        Number of threads; None means all cores allowed here. It never changes the result.

    Attributes
    ----------
    sample_indices_ : ndarray of int
        The numbers of the rows that are kept, ascending.
    consistent_ : None
        Editing is meant to change answers.
    n_rounds_ : int
        How often rows were edited.
    reduction_ : float
        The share of the rows that was left out.
    report_ : Reduction
        Prints how many rows of each class are kept.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    A tie in the votes goes to the smallest label, as in `KNeighborsClassifier`. Sample weights are not supported.

    Examples
    --------
    >>> from bisector import EditedNearestNeighbor
    >>> X = [[0], [1], [2], [3], [10], [11], [12], [13]]
    >>> EditedNearestNeighbor().fit(X, [0, 0, 1, 0, 1, 1, 1, 1]).sample_indices_
    array([0, 1, 3, 4, 5, 6, 7])
    """

    def __init__(
        self,
        n_neighbors: int = 3,
        *,
        metric: Any = "euclidean",
        repeat: bool | Literal["all"] = False,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.repeat = repeat
        self.n_jobs = n_jobs

    def _reduce(self, items: Any, distance: Distance, codes: Integers, classes: NDArray[Any]) -> Reduced:
        k = check_neighbors(self.n_neighbors, len(codes) - 1, len(codes))
        if not isinstance(self.repeat, bool | np.bool_) and self.repeat != "all":
            raise ValueError(f'repeat must be True, False or "all", not {self.repeat!r}.')
        sizes = range(1, k + 1) if self.repeat == "all" else range(k, k + 1)
        model = KNeighborsClassifier(k, metric=distance, n_jobs=self.n_jobs).fit(items, codes)
        kept, n_rounds = np.arange(len(codes)), 0
        while len(kept) > k:
            neighbours = model.kneighbors(return_distance=False)
            outvoted = _outvoted(codes[kept], codes[kept[neighbours]], len(classes), sizes)
            n_rounds += 1
            if outvoted.all():
                raise ValueError(
                    f"Every row disagrees with its {k} nearest neighbours: editing would leave no row. "
                    "Take another n_neighbors or metric, or do not edit."
                )
            if outvoted.any():
                model.remove(np.flatnonzero(outvoted))
                kept = kept[~outvoted]
            if not outvoted.any() or self.repeat is not True:
                break
        lost = classes[np.bincount(codes[kept], minlength=len(classes)) == 0]
        remarks = [f"No row of class {name} is left." for name in lost.tolist()]
        return Reduced(kept, None, remarks, {"n_rounds_": n_rounds})


def _outvoted(own: Integers, neighbours: Integers, n_classes: int, sizes: range) -> NDArray[np.bool_]:
    """Tell which rows get another class from their nearest neighbours, for any of some numbers of these."""
    votes = np.zeros((len(own), n_classes), dtype=np.int64)
    outvoted = np.zeros(len(own), dtype=bool)
    for j, voters in enumerate(neighbours.T):
        votes[np.arange(len(own)), voters] += 1
        if j + 1 in sizes:
            outvoted |= votes.argmax(axis=1) != own
    return outvoted
