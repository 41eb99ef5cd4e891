"""What a model answers at the places of a plane: classes, how sure it is of them, and by how much each leads."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bisector.plot.given_rows import asked, codes_of
from bisector.plot.planes_of_sight import Sight

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Asker(NamedTuple):
    """A model and the places of a plane that it is asked about."""

    estimator: Any
    X: Any
    sight: Sight
    places: Floats
    resolution: int

    @property
    def scored(self) -> bool:
        return hasattr(self.estimator, "decision_function")

    def answers(self, method: str) -> NDArray[Any]:
        """Return what a method answers at each place, as an array of shape (up, across, …)."""
        found = asked(getattr(self.estimator, method), self.X, self.sight.looked_at(self.places))
        return self.sight.spread(found, self.resolution)

    def confidence(self, regions: Integers) -> Floats | None:
        """Return the probability of the class that was predicted at each place, if there are probabilities."""
        if not hasattr(self.estimator, "predict_proba"):
            return None
        shares = self.answers("predict_proba")
        return np.asarray(np.take_along_axis(shares, regions[..., None], axis=2)[..., 0], dtype=np.float64)

    def leads(self, n_classes: int) -> Floats | None:
        """Return by how much each class leads the best other one: by score, probability or nearness."""
        scores = self._scores()
        if scores is None:
            return None
        if scores.ndim == 2:
            return np.stack([-scores, scores]) if n_classes == 2 else None
        if scores.shape[2] != n_classes or n_classes < 2:
            return None  # one score for each pair of classes
        ordered = np.sort(scores, axis=2)
        best, next_best = ordered[..., -1:], ordered[..., -2:-1]
        leads = scores - np.where(scores == best, next_best, best)
        return np.moveaxis(leads, 2, 0)

    def _scores(self) -> Floats | None:
        """Return how strongly the model takes each place for each class, by the first way it has to tell."""
        for method in ("decision_function", "predict_proba"):
            if hasattr(self.estimator, method):
                return np.asarray(self.answers(method), dtype=np.float64)
        if hasattr(self.estimator, "cluster_centers_") and hasattr(self.estimator, "transform"):
            return -np.asarray(self.answers("transform"), dtype=np.float64)  # distances from the centres
        return None


def classified(
    estimator: Any, X: Any, y: Any, asker: Asker, n_rows: int
) -> tuple[NDArray[Any], Integers, Integers]:
    """Return the classes, and their numbers at the places and for the rows."""
    at_places = asker.answers("predict")
    if at_places.ndim != 2:
        raise ValueError(f"{type(estimator).__name__} predicts several columns: draw one at a time.")
    labels = np.asarray(estimator.predict(X) if y is None else y)
    classes = getattr(estimator, "classes_", None)
    if classes is None:  # a clusterer: clusters with a probability exist even where none is predicted
        shares = asker.answers("predict_proba").shape[2] if hasattr(estimator, "predict_proba") else 0
        classes = np.unique(np.concatenate([at_places.ravel(), labels.ravel(), np.arange(shares)]))
    regions = codes_of(at_places.ravel(), classes, at_places.size, "predict").reshape(at_places.shape)
    return np.asarray(classes), regions, codes_of(labels, classes, n_rows)
