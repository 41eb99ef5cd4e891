"""Prototypes by merging the closest rows of a class (LFD, Problem 6.2b)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.distances.distance import Distance
from bisector.engine.validation import check_count
from bisector.neighbors.kept_rows import Integers
from bisector.neighbors.reducing import Reduced, ReducesRows, contradictions, euclidean_coordinates
from bisector.solvers.merge_prototypes import merge_closest


class PrototypeMerger(ReducesRows):
    """Replace the two closest rows of a class by the point between them, again and again.

    What is left are prototypes, which need not be training rows.

    Parameters
    ----------
    n_prototypes : int, default=None
        How many to merge down to, at least one a class. By default only pairs are merged after which the nearest
        prototype still gives every training row the class that the nearest row gave it.
    metric : str or Distance, default="euclidean"
        Euclidean distance, with or without weights, elliptical or Mahalanobis distance.
    n_jobs : int, default=None
        Without effect: each merger depends on those before.

    Attributes
    ----------
    prototypes_ : ndarray of shape (n_prototypes, n_features)
    prototype_labels_ : ndarray of shape (n_prototypes,)
    members_ : ndarray of int of shape (n_rows,)
        Which prototype each training row went into.
    consistent_ : bool or None
        Whether prototypes answer to every training row as the rows do. None when merging goes down to a number,
        which promises nothing: then the report counts the rows with other answers.
    reduction_ : float
        One less the number of prototypes for each row.
    report_ : Reduction
        Prints how many prototypes each class has.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    A prototype counts once, however many rows went into it, so prototypes are not means. Of equally close pairs
    the one with the smaller row numbers goes first. It takes about n²d steps and memory for n·d numbers. Sample
    weights are not supported.

    References
    ----------
    Chang (1974), Finding prototypes for nearest neighbor classifiers.

    Examples
    --------
    >>> from bisector import PrototypeMerger, datasets
    >>> merger = PrototypeMerger(n_prototypes=2).fit(*datasets.seven_points())
    >>> merger.prototypes_
    array([[ 0. ,  0. ],
           [-0.5, -0.5]])
    >>> merger.prototype_labels_
    array([-1,  1])
    """

    def __init__(
        self, n_prototypes: int | None = None, *, metric: Any = "euclidean", n_jobs: int | None = None
    ) -> None:
        self.n_prototypes = n_prototypes
        self.metric = metric
        self.n_jobs = n_jobs

    def _reduce(self, items: Any, distance: Distance, codes: Integers, classes: NDArray[Any]) -> Reduced:
        if self.n_prototypes is not None:
            check_count("n_prototypes", self.n_prototypes, at_most=len(codes))
            if self.n_prototypes < len(classes):
                raise ValueError(
                    f"n_prototypes is {self.n_prototypes}, but y has {len(classes)} classes, and rows of different "
                    "classes are never merged: ask for at least one a class."
                )
        points = euclidean_coordinates(distance, items, "Merging")
        merged = merge_closest(points, codes, self.n_prototypes)
        remarks = contradictions(codes, merged.wanted)
        if self.n_prototypes is not None:
            n_changed = int((merged.answers != merged.wanted).sum())
            remarks.append(
                f"Of {len(codes):,} training rows {n_changed:,} get another answer than from all rows."
            )
        values = items.toarray() if hasattr(items, "tocsr") else items
        learned = {
            "sample_indices_": None,
            "prototypes_": merged.prototypes(values).astype(values.dtype),
            "prototype_labels_": classes[codes[merged.slots]],
            "members_": merged.members(),
        }
        consistent = merged.consistent if self.n_prototypes is None else None
        return Reduced(merged.slots, consistent, remarks, learned)

    def fit_resample(self, X: Any, y: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        """Merge rows; return the prototypes as an array, and their labels."""
        self.fit(X, y)
        return np.array(self.prototypes_), np.array(self.prototype_labels_)
