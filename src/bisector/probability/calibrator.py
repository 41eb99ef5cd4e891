"""What calibrators share: one score a row goes in, the probability of the positive class comes out."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import ClassifierTags, Tags
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from bisector.engine.explanation import Explanation
from bisector.engine.lazy_rows import promised
from bisector.engine.scored_rows import check_scores, gathered
from bisector.engine.sources import is_collection
from bisector.engine.threads import parallel
from bisector.engine.validation import check_weights

Floats = NDArray[np.floating[Any]]

# Scores that one thread takes at a time.
_BLOCK_ROWS = 2**16


class Calibrator(TransformerMixin, BaseEstimator, ABC):
    """A function from scores to probabilities."""

    classes_: NDArray[Any]
    n_jobs: int | None

    @abstractmethod
    def _positive(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probabilities of the positive class."""

    def _negative(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probabilities of the negative class."""
        return 1 - self._positive(scores)

    def _at(self, function: Callable[[NDArray[np.float64]], Floats], scores: ArrayLike) -> Floats:
        """Evaluate a function of scores, on several threads, in the type of the scores."""
        check_is_fitted(self)
        if is_collection(scores):
            return promised(_at_partition, self, as_column(scores), (function,))
        values = check_scores(scores)
        result = np.empty_like(values)

        def fill(rows: slice) -> None:
            with np.errstate(over="ignore"):  # log-odds beyond float32 are infinite
                result[rows] = function(values[rows].astype(np.float64, copy=False))

        blocks = [slice(first, first + _BLOCK_ROWS) for first in range(0, len(values), _BLOCK_ROWS)]
        parallel(fill, blocks, n_jobs=self.n_jobs)
        return result

    def predict_proba(self, scores: ArrayLike) -> Floats:
        """Return the probabilities of both classes.

        Parameters
        ----------
        scores : array of shape (n_samples,) or (n_samples, 1)

        Returns
        -------
        array of shape (n_samples, 2)
            In the order of ``classes_``; float32 if the scores are.
        """
        if is_collection(scores):
            return promised(type(self).predict_proba, self, as_column(scores))
        return np.column_stack([self._at(self._negative, scores), self._at(self._positive, scores)])

    def predict(self, scores: ArrayLike) -> Floats:
        """Return the probability of the positive class, ``classes_[1]``, at each score.

        Parameters
        ----------
        scores : array of shape (n_samples,) or (n_samples, 1)

        Returns
        -------
        array of shape (n_samples,)
            float32 if the scores are.
        """
        return self._at(self._positive, scores)

    @abstractmethod
    def explain_rows(self, scores: ArrayLike) -> list[Explanation]:
        """Say how each score becomes a probability.

        Parameters
        ----------
        scores : array of shape (n_samples,) or (n_samples, 1)

        Returns
        -------
        list of Explanation
            The answer is the probability of the positive class.
        """

    def transform(self, scores: ArrayLike) -> Floats:
        """Return what `predict` does.

        Parameters
        ----------
        scores : array of shape (n_samples,) or (n_samples, 1)

        Returns
        -------
        array of shape (n_samples,)
        """
        return self.predict(scores)

    def score(self, scores: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the Brier score with its sign turned, −mean (p − y)²: the higher, the better.

        Parameters
        ----------
        scores : array of shape (n_samples,) or (n_samples, 1)
        y : array of shape (n_samples,)
            Labels.
        sample_weight : array of shape (n_samples,), default=None

        Returns
        -------
        float
        """
        probabilities, labels = self.predict(gathered(scores)), column_or_1d(gathered(y))
        check_consistent_length(probabilities, labels)
        weight = check_weights(gathered(sample_weight), len(labels))
        unknown = np.setdiff1d(labels, self.classes_)
        if len(unknown):
            raise ValueError(
                f"y has the label {unknown.tolist()[0]!r}, which is not among the classes {self.classes_.tolist()}."
            )
        errors = probabilities.astype(np.float64) - (labels == self.classes_[1])
        return -float(np.average(errors**2, weights=weight))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        tags.target_tags.required = True
        tags.classifier_tags = ClassifierTags(multi_class=False)
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def as_column(scores: Any) -> Any:
    """Return the scores of a Dask array or series as a table of one column."""
    if getattr(scores, "ndim", 2) != 1:
        return scores
    return scores[:, None] if hasattr(scores, "chunks") else scores.to_frame()


def _at_partition(
    model: Calibrator, scores: Any, function: Callable[[NDArray[np.float64]], Floats]
) -> Floats:
    return model._at(function, np.asarray(scores))
