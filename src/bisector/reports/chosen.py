"""The model that is advised, fitted: with its parameter chosen, and with probabilities that were checked."""

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import make_pipeline

from bisector.probability import CalibratedClassifier
from bisector.reports.candidates import MOST_KEPT_ROWS
from bisector.reports.comparison import Comparison, overall_score
from bisector.reports.encoding import TableEncoder
from bisector.reports.scores import BALANCED
from bisector.reports.target import Target, sampled

if TYPE_CHECKING:
    import polars

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Chosen:
    """The advised model.

    Attributes
    ----------
    model : Pipeline or None
        Fitted; takes tables. None if the user stopped before it was.
    unfitted : Pipeline
        The same before it was fitted.
    n_rows : int
        On how many rows it was fitted.
    most_rows : int or None
        On how many it may be fitted at most, if it keeps its rows and there are more.
    probabilities : ndarray of shape (n_rows, n_classes) or None
        Of each row compared on, by models that were not trained on it; calibrated if `calibrated`.
    calibrated : bool
    squared_errors : dict
        The squared error of the probabilities (Brier score): "as they are" and "calibrated".
    keeps_rare : bool
        Whether calibrated probabilities are better, but not used since they would hardly ever name a rare class.
    """

    model: Any
    unfitted: Any
    n_rows: int
    most_rows: int | None
    probabilities: Floats | None
    calibrated: bool
    squared_errors: dict[str, float]
    keeps_rare: bool = False


def not_fitted(comparison: Comparison, types: Any = None) -> Chosen:
    """Return what is known of the advised model when the user stopped before it was fitted."""
    outcome = comparison.outcomes[comparison.advised]
    unfitted = make_pipeline(TableEncoder(types), *_steps(outcome.candidate.chooser(comparison.inner)))
    return Chosen(None, unfitted, 0, None, outcome.probabilities, False, {})


def fit_chosen(
    frame: "polars.DataFrame",
    target: Target,
    comparison: Comparison,
    sample: NDArray[np.int64],
    types: Any = None,
) -> Chosen:
    """Fit the advised model to the rows of a table.

    Parameters
    ----------
    frame : polars.DataFrame
        The features of all rows of `target`.
    target : Target
        All rows that can be learned from.
    comparison : Comparison
        Made on the rows `sample` of them.
    sample : ndarray of int
    types : mapping, optional
        Of `TableEncoder`.
    """
    outcome = comparison.outcomes[comparison.advised]
    candidate = outcome.candidate
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        encoder = TableEncoder(types)
        looked = encoder.fit_transform(frame[sample])
        estimator = candidate.chosen(candidate.chooser(comparison.inner).fit(looked, target.y[sample]))
        probabilities, calibrated, errors, keeps_rare = outcome.probabilities, False, {}, False
        if target.kind == "classes" and candidate.name != "baseline":
            learned = CalibratedClassifier(estimator, ensemble=False)
            ours = _probabilities(learned, frame[sample], target.y[sample], comparison.folds, types)
            errors["calibrated"] = squared_error(target.y[sample], ours)
            if probabilities is not None:
                errors = {"as they are": squared_error(target.y[sample], probabilities), **errors}
            calibrated = min(errors, key=lambda name: errors[name]) == "calibrated"
            keeps_rare = calibrated and _loses_rare(comparison, ours)
            calibrated = calibrated and not keeps_rare
            if calibrated:
                probabilities, estimator = ours, learned
        most = MOST_KEPT_ROWS if candidate.keeps_rows and len(target.y) > MOST_KEPT_ROWS else None
        rows = sampled(target, most)
        unfitted = make_pipeline(TableEncoder(types), *_steps(estimator))
        model = make_pipeline(TableEncoder(types), *_steps(estimator)).fit(frame[rows], target.y[rows])
    return Chosen(model, unfitted, len(rows), most, probabilities, calibrated, errors, keeps_rare)


def _loses_rare(comparison: Comparison, calibrated: Floats) -> bool:
    """Whether rare classes, which count as much as the others here, would be found less often.

    A calibrated probability of a rare class seldom exceeds a half, however much the row looks like it.
    """
    if comparison.measure != BALANCED:
        return False
    answers = np.unique(comparison.target.y)[calibrated.argmax(axis=1)]
    return overall_score(comparison.target, answers) < comparison.score(comparison.advised)


def squared_error(y: NDArray[Any], probabilities: Floats) -> float:
    """Return half the mean squared distance of probabilities from what came true (the Brier score; Flach 2.3).

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.reports.chosen import squared_error
    >>> squared_error(np.array(["a", "b"]), np.array([[1.0, 0.0], [0.5, 0.5]]))
    0.125
    """
    came_true = y[:, None] == np.unique(y)[None, :]
    return float(((probabilities - came_true) ** 2).sum(axis=1).mean() / 2)


def _probabilities(
    estimator: Any, frame: "polars.DataFrame", y: NDArray[Any], folds: Any, types: Any
) -> Floats:
    """Return probabilities of each row by a model that was not trained on it."""
    classes = np.unique(y)
    found = np.zeros((len(y), len(classes)))
    for train, test in folds.split(np.zeros(len(y)), y):
        model = make_pipeline(TableEncoder(types), estimator).fit(frame[train], y[train])
        found[np.ix_(test, np.searchsorted(classes, model.classes_))] = model.predict_proba(frame[test])
    return found


def _steps(estimator: Any) -> list[Any]:
    """A pipeline's own steps, so that the whole reads as one."""
    return [step for _, step in estimator.steps] if hasattr(estimator, "steps") else [estimator]
