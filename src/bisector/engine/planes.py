"""What models made of planes share: w·x + b at rows of any kind, and the geometry of a decision boundary.

Everywhere a plane is stored as scikit-learn does (``coef_``, ``intercept_``), and a row with a
score of exactly zero, which lies on the boundary, belongs to the first of the two classes, ``classes_[0]``.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags

from .blocks import Block
from .explanation import Explanation, feature_names
from .lazy_rows import by_rows
from .map_reduce import map_blocks
from .sources import Source
from .validation import check_rows, find_not_finite

Floats = NDArray[np.floating[Any]]


class HasPlanes(BaseEstimator):
    """A model whose answer at x depends on w·x + b, for one w or several."""

    coef_: Floats
    intercept_: Any
    n_jobs: int | None

    def _plane_values(self, X: Any) -> Floats:
        """Return w·x + b for each row."""
        return self._at_rows(block_plane, check_rows(self, X), self.coef_.T, self.intercept_)

    def _at_rows(self, function: Callable[..., Floats], rows: Source, *fixed: Any) -> Floats:
        """Evaluate a function of blocks at all rows, whose values must be finite."""
        values = map_blocks(function, rows, *fixed, n_jobs=self.n_jobs)
        with np.errstate(over="ignore", invalid="ignore"):
            suspicious = not np.isfinite(values.sum())
        if suspicious:
            find_not_finite(rows)
        return values

    def explain_rows(self, X: Any) -> list[Explanation]:
        """Say why each row is predicted as it is: what each feature adds, its weight times its value.

        Parameters
        ----------
        X : as for `predict`

        Returns
        -------
        list of Explanation
            With an account for each target, which adds up to the prediction.
        """
        from .plane_reasons import explain_values

        found: list[Explanation] = []
        for rows in self._dense_rows(X):
            coef = np.atleast_2d(self.coef_).astype(np.float64)
            offset = np.broadcast_to(self.intercept_, len(coef)).astype(np.float64)
            names = feature_names(self, coef.shape[1])
            found += explain_values(rows, coef, offset, names, single=self.coef_.ndim == 1)
        return found

    def _dense_rows(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Read rows a block at a time as float64 arrays, whose values must be finite."""
        rows = check_rows(self, X).in_dense_blocks()
        for block in rows.blocks():
            dense = block.dense.astype(np.float64, copy=False)
            if not np.isfinite(dense).all():
                find_not_finite(rows)
            yield dense

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class DecidesByPlanes(ClassifierMixin, HasPlanes):
    """A classifier that decides by the sign of w·x + b, or, of several classes, by the largest of them.

    Two classes have one plane, ``coef_`` of shape (1, n_features); more have one each, unless a subclass says
    otherwise.
    """

    classes_: NDArray[Any]

    @by_rows
    def decision_function(self, X: Any) -> Floats:
        """Return the score w·x + b of each row.

        Parameters
        ----------
        X : as for `fit`, of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,), or (n_samples, n_classes) if there are more than two
            Of two classes, positive for ``classes_[1]``.
        """
        scores = self._plane_values(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    @by_rows
    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row.

        Parameters
        ----------
        X : as for `fit`, of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
            A row on the boundary (score 0) belongs to ``classes_[0]``; of classes with the largest score, the
            first.
        """
        codes = self._codes(self.decision_function(X))
        labels: NDArray[Any] = self.classes_[codes]
        return labels

    def _codes(self, scores: Floats) -> NDArray[np.int64]:
        """Return the places of the classes that the scores decide for."""
        return (scores > 0).astype(np.int64) if scores.ndim == 1 else scores.argmax(axis=1)

    @by_rows
    def signed_distance(self, X: Any) -> Floats:
        """Return how far each row lies from the boundary: (w·x + b)/‖w‖, on the positive side or the negative.

        Parameters
        ----------
        X : as for `fit`, of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,), or (n_samples, n_planes) if there are more than two classes
            From each plane; infinite where the weights are all zero, since then there is none.
        """
        scores = self._plane_values(X)
        with np.errstate(divide="ignore", invalid="ignore"):
            distances = np.where(scores == 0, scores, scores / self._lengths())
        distances = distances.astype(scores.dtype, copy=False)
        return distances[:, 0] if distances.shape[1] == 1 else distances

    def explain_rows(self, X: Any) -> list[Explanation]:
        """Say why each row is of its class: what each feature adds to the score, and how far the boundary is.

        Parameters
        ----------
        X : as for `predict`

        Returns
        -------
        list of Explanation
            The first account adds up to the score: of two classes the one of `decision_function`, of more that of
            the predicted class. ``move`` is the shortest step in a straight line to the boundary.
        """
        from .plane_reasons import explain_classes

        found: list[Explanation] = []
        for rows in self._dense_rows(X):
            coef, offset = self._dense_weights().astype(np.float64), self.intercept_.astype(np.float64)
            scores = rows @ coef.T + offset
            codes = self._codes(scores[:, 0] if scores.shape[1] == 1 else scores)
            found += explain_classes(
                rows, coef, offset, codes, self.classes_, feature_names(self, coef.shape[1])
            )
        return found

    def _dense_weights(self) -> Floats:
        return self.coef_

    def _lengths(self) -> NDArray[np.float64]:
        """Return ‖w‖ of every plane."""
        return np.linalg.norm(self._dense_weights().astype(np.float64), axis=1)

    @property
    def weights_(self) -> Floats:
        """The normal vector of the boundary, (n_features,) for two classes: rows are positive if w·x > t."""
        weights = self._dense_weights()
        return weights[0] if len(weights) == 1 else weights

    @property
    def threshold_(self) -> Any:
        """What w·x must exceed for the positive class, t = −b."""
        offset = np.negative(self.intercept_)
        return float(offset[0]) if len(offset) == 1 else offset


def block_plane(block: Block, coef: Floats, intercept: Any) -> Floats:
    """Evaluate the plane at the rows of one block."""
    with np.errstate(over="ignore", invalid="ignore"):  # NaN and infinities are looked for in what comes out
        return np.asarray(block.X @ coef) + intercept


def narrowed(
    dtype: np.dtype[Any],
    *parts: NDArray[Any],
    remedy: str = "give y and the features in units closer to each other, or X as float64",
) -> tuple[Floats, ...]:
    """Return weights in the precision of the data, where they must be finite.

    Parameters
    ----------
    dtype : dtype
    *parts : ndarray
        Coefficients and intercepts.
    remedy : str
        What the user should do if they overflow.
    """
    with np.errstate(over="ignore"):
        narrow = tuple(part.astype(dtype) for part in parts)
    if not all(np.isfinite(part).all() for part in narrow):
        raise ValueError(f"The coefficients are too large for {dtype} numbers: {remedy}.")
    return narrow
