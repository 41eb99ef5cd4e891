"""A fitted classifier and the calibrators of its scores, one for each class."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from bisector.engine.scored_rows import gathered

from .calibrator import Calibrator, Floats
from .labelled_rows import LabelledRows


@dataclass(frozen=True, eq=False)
class CalibratedPair:
    """Probabilities from one fitted classifier.

    Attributes
    ----------
    estimator : classifier
        Fitted.
    calibrators : list of Calibrator
        One for the second of two classes; of more, one for each class against the rest, in the estimator's order.
    places : ndarray of int
        Of the estimator's classes among `classes`.
    classes : ndarray
        All classes, of which the estimator may not have met each.
    """

    estimator: Any
    calibrators: list[Calibrator]
    places: NDArray[np.int64]
    classes: NDArray[Any]

    def predict_proba(self, X: Any) -> Floats:
        """Return the calibrated probabilities of all classes.

        Of two classes they are those of one sigmoid or hull; of more, each class's own, divided by their sum.
        """
        scores = class_scores(self.estimator, X)
        if scores.shape[1] == 1:
            known = self.calibrators[0].predict_proba(scores[:, 0])
        else:
            columns = [calibrator.predict(scores[:, j]) for j, calibrator in enumerate(self.calibrators)]
            known = _shared_out(np.column_stack(columns))
        if len(self.places) == len(self.classes):
            return known
        probabilities = np.zeros((len(known), len(self.classes)), known.dtype)
        probabilities[:, self.places] = known
        return probabilities


def calibrated_pair(
    estimator: Any, scores: Floats, rows: LabelledRows, calibrator: Calibrator
) -> CalibratedPair:
    """Calibrate a fitted estimator by its scores of rows that it should not have seen."""
    classes = rows.classes
    places, made = _known_places(estimator, classes), []
    for column, place in zip(scores.T, places[-scores.shape[1] :], strict=True):
        own = rows.y == classes[place]
        counted = own if rows.weight is None else own[rows.weight > 0]
        if counted.all() or not counted.any():
            missing = "no row of another class than" if counted.any() else "no row of the class"
            raise ValueError(
                f"Among the rows to calibrate on there is {missing} {classes.tolist()[place]!r}: give more rows, "
                "fewer folds, or folds with every class in each."
            )
        made.append(clone(calibrator).fit(column, own, rows.weight))
    return CalibratedPair(estimator, made, places, classes)


def _known_places(estimator: Any, classes: NDArray[Any]) -> NDArray[np.int64]:
    """Return where the classes of a fitted estimator stand among all of them."""
    own = np.asarray(estimator.classes_)
    unknown = np.setdiff1d(own, classes)
    if len(unknown):
        raise ValueError(
            f"The estimator knows the class {unknown.tolist()[0]!r}, of which y has no row to calibrate on; y has "
            f"{classes.tolist()}."
        )
    return np.searchsorted(classes, own)


def class_scores(estimator: Any, X: Any) -> Floats:
    """Return a fitted classifier's scores: one column for the second of two classes, or one for each of more."""
    scores = np.asarray(gathered(_response(estimator)(X)))
    n_classes = len(estimator.classes_)
    if scores.ndim == 1:
        scores = scores[:, None]
    elif scores.shape[1] == n_classes == 2:
        scores = scores[:, 1:]
    if scores.shape[1] != (1 if n_classes == 2 else n_classes):
        raise ValueError(
            f"{type(estimator).__name__} gives {scores.shape[1]} scores a row for {n_classes} classes, but each "
            'class needs its own: for support vector machines, set decision_function_shape="ovr".'
        )
    return scores


def _response(estimator: Any) -> Any:
    for method in ("decision_function", "predict_proba"):
        if hasattr(estimator, method):
            return getattr(estimator, method)
    raise TypeError(
        f"{type(estimator).__name__} has neither decision_function nor predict_proba, so there are no scores to "
        "calibrate."
    )


def _shared_out(columns: Floats) -> Floats:
    """Divide each row by its sum; where all are zero, every class is as likely as another."""
    totals = columns.sum(axis=1, keepdims=True)
    shares = np.divide(columns, totals, out=np.zeros_like(columns), where=totals > 0)
    return np.where(totals > 0, shares, columns.dtype.type(1 / columns.shape[1]))
