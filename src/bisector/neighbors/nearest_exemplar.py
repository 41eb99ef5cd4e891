"""The nearest exemplar decides (Flach 8.2)."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from bisector import exemplars
from bisector.distances.distance import Distance, Exemplar
from bisector.distances.estimator_input import check_collection, check_items, tell_input_tags
from bisector.distances.names import resolve
from bisector.distances.reductions import nearest_one
from bisector.engine.explanation import Explanation
from bisector.engine.items import picked
from bisector.engine.lazy_rows import by_rows
from bisector.engine.sources import is_collection
from bisector.engine.targets import check_labels
from bisector.engine.validation import blank, check_choice, check_count, check_weights, store, weighted
from bisector.engine.values import HoldsValues
from bisector.exemplars.centroids import CENTROIDS
from bisector.neighbors.k_neighbors import KNeighborsClassifier
from bisector.neighbors.kept_rows import Floats, Integers
from bisector.solvers.class_sums import class_sums

_MOST_ROUNDS = 100


class NearestExemplarClassifier(ClassifierMixin, HoldsValues, BaseEstimator):
    """Each class is summed up by one or a few exemplars, and a query takes the class of the nearest.

    With means and Euclidean distance this is the basic linear classifier (for several classes, Rocchio's): the
    boundary between two classes is the perpendicular bisector of their means. Under Manhattan distance it runs
    along the axes and at 45°. Medoids work for any distance.

    Parameters
    ----------
    exemplar : {"mean", "coordinate-median", "geometric-median", "medoid"}, default="mean"
        What stands for the rows of a class. All but the medoid take rows of numbers.
    per_class : int, default=1
        How many exemplars a class has. Several start as rows far from each other; then each row goes to the nearest
        of its class, and each exemplar moves to the middle of its rows, until nothing changes.
    n_neighbors : int, default=1
        How many of the nearest exemplars vote.
    metric : str, Distance or callable, default="euclidean"
    n_jobs : int, default=None

    Attributes
    ----------
    classes_ : array
    exemplars_ : array of shape (n_exemplars, n_features), or list
        For medoids, the rows as they came.
    exemplar_labels_ : array of shape (n_exemplars,)
    exemplar_indices_ : array of shape (n_exemplars,)
        Which training rows the exemplars are; only for medoids.
    metric_ : Distance
        With what it learned from the rows.

    Examples
    --------
    >>> from bisector import NearestExemplarClassifier
    >>> X, y = [[0, 0], [0, 2], [4, 0], [4, 2]], ["left", "left", "right", "right"]
    >>> model = NearestExemplarClassifier().fit(X, y)
    >>> model.exemplars_
    array([[0., 1.],
           [4., 1.]])
    >>> model.predict([[1.9, 5.0], [2.1, -5.0]])
    array(['left', 'right'], dtype='<U5')
    """

    def __init__(
        self,
        exemplar: Exemplar = "mean",
        *,
        per_class: int = 1,
        n_neighbors: int = 1,
        metric: Any = "euclidean",
        n_jobs: int | None = None,
    ) -> None:
        self.exemplar = exemplar
        self.per_class = per_class
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Find the exemplars of each class.

        Parameters
        ----------
        X : rows
            Of a Dask collection, the means are found by one pass.
        y : array of shape (n_rows,)
        sample_weight : array of shape (n_rows,), default=None

        Returns
        -------
        self
        """
        check_choice("exemplar", self.exemplar, (*CENTROIDS, "medoid"))
        per_class = check_count("per_class", self.per_class)
        stand_in = blank(self)
        distance = resolve(self.metric)
        if self.exemplar in CENTROIDS and not distance.numeric:
            raise ValueError(
                f"exemplar={self.exemplar!r} is a point of a space, which {distance!r} does not have: "
                'take exemplar="medoid".'
            )
        if is_collection(X):
            return self._fit_by_sums(X, y, sample_weight, distance)
        items = check_items(stand_in, X, distance, reset=True)
        distance = distance.learned(items)
        n_rows = items.shape[0] if hasattr(items, "shape") else len(items)
        labels = check_labels(self, y, n_rows)
        if not labels.single:
            raise ValueError("NearestExemplarClassifier takes one label a row: fit one model an output.")
        weights = check_weights(sample_weight, n_rows)
        codes = labels.codes[:, 0]
        found, owners = [], []
        for code in range(len(labels.classes[0])):
            members = np.flatnonzero((codes == code) & (True if weights is None else weights > 0))
            if not len(members):
                continue  # all rows of the class weigh nothing
            own = None if weights is None else weights[members]
            some = self._exemplars(picked(items, members), own, distance, min(per_class, len(members)))
            found.append(members[some] if self.exemplar == "medoid" else some)
            owners.append(np.full(len(some), code))
        learned: dict[str, Any] = {}
        if self.exemplar == "medoid":
            learned["exemplar_indices_"] = np.concatenate(found)
            points = picked(items, learned["exemplar_indices_"])
        else:
            points = np.concatenate(found).astype(getattr(items, "dtype", np.float64), copy=False)
        return self._store(stand_in, learned, labels.classes[0], points, np.concatenate(owners), distance)

    def _fit_by_sums(self, X: Any, y: Any, sample_weight: Any, distance: Distance) -> Self:
        """Find the class means of a Dask collection in one pass."""
        from bisector.engine.dask_checks import checked_classes

        if self.exemplar != "mean" or self.per_class != 1:
            raise TypeError(
                "X is a Dask collection, of which NearestExemplarClassifier finds the class means only: take "
                'exemplar="mean" and per_class=1, or pass X.compute(), if that fits into memory.'
            )
        rows, _, classes, stand_in = checked_classes(self, X, y, None, None, at_least=1)
        distance = check_collection(distance, rows)
        sums = class_sums(weighted(rows, sample_weight), len(classes), n_jobs=self.n_jobs)
        held = np.flatnonzero(sums.weights)
        points = sums.means[held].astype(rows.dtype, copy=False)
        return self._store(stand_in, {}, classes, points, held, distance)

    def _store(
        self,
        stand_in: Any,
        learned: dict[str, Any],
        classes: NDArray[Any],
        points: Any,
        owners: Integers,
        distance: Distance,
    ) -> Self:
        voters = KNeighborsClassifier(
            self.n_neighbors, metric=distance, ties="nearest", n_jobs=self.n_jobs
        ).fit(points, owners)
        return store(
            self,
            stand_in,
            **learned,
            classes_=classes,
            exemplars_=points,
            exemplar_labels_=classes[owners],
            metric_=distance,
            _voters=voters,
        )

    def _exemplars(self, items: Any, weights: Floats | None, distance: Distance, count: int) -> Any:
        """Return the exemplars of one class: points, or the positions of medoids."""
        n_rows = items.shape[0] if hasattr(items, "shape") else len(items)
        nearest = np.zeros(n_rows, dtype=np.int64)
        if count > 1:
            start = exemplars.farthest_first(items, count, distance, start="medoid", n_jobs=self.n_jobs)
            nearest = start.labels
        for _ in range(_MOST_ROUNDS):
            found = [
                self._middle(items, np.flatnonzero(nearest == k), weights, distance)
                for k in np.unique(nearest)
            ]
            middles = np.array(found) if self.exemplar == "medoid" else np.stack(found)
            if len(found) == 1:
                break
            points = picked(items, middles) if self.exemplar == "medoid" else middles
            references = distance.prepare(points)
            queries = distance.prepare(items, like=references)
            moved = nearest_one(distance, queries, references, n_jobs=self.n_jobs)[1]
            if np.array_equal(moved, nearest):
                break
            nearest = moved
        return middles

    def _middle(self, items: Any, members: Integers, weights: Floats | None, distance: Distance) -> Any:
        own = None if weights is None else weights[members]
        part = picked(items, members)
        if self.exemplar == "medoid":
            return members[exemplars.medoid(part, distance, sample_weight=own, n_jobs=self.n_jobs)]
        return CENTROIDS[self.exemplar](part, own)

    @by_rows
    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of the nearest exemplar, or the one with most votes among the nearest."""
        check_is_fitted(self)
        return self.classes_[self._voters.predict(self._items(X))]

    @by_rows
    def predict_proba(self, X: Any) -> Floats:
        """Return the share of each class among the nearest exemplars."""
        check_is_fitted(self)
        among = self._voters.predict_proba(self._items(X))
        shares = np.zeros((len(among), len(self.classes_)))
        shares[:, self._voters.classes_] = among
        return shares

    def explain_rows(self, X: Any) -> list[Explanation]:
        """Say why each row is of its class: which exemplars are nearest, and how far it is to another class.

        Parameters
        ----------
        X : rows, as for `predict`

        Returns
        -------
        list of Explanation
            The account of votes adds up to the probability of the predicted class; if one exemplar decides, another
            tells what each feature adds to its distance, where that is a sum over features. ``move`` is the
            shortest step to another class if one exemplar decides under Euclidean distance; else one known to
            change it.
        """
        from bisector.neighbors.exemplar_reasons import explain_exemplars

        check_is_fitted(self)
        return explain_exemplars(self, self._items(X))

    @by_rows
    def distances(self, X: Any) -> Floats:
        """Return the distance of every row of X to every exemplar."""
        check_is_fitted(self)
        return self.metric_.pairwise(self._items(X), self.exemplars_, n_jobs=self.n_jobs)

    def _items(self, X: Any) -> Any:
        return check_items(self, X, self.metric_, reset=False)

    def __sklearn_tags__(self) -> Tags:
        return tell_input_tags(super().__sklearn_tags__(), self.metric)
