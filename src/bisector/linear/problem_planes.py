"""Classifiers with one plane for each of several two-class problems, however these are decided by."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from bisector.engine.planes import block_plane
from bisector.engine.validation import check_rows
from bisector.linear.planes import PlaneClassifier
from bisector.solvers.two_class_problems import TwoClassProblems

Floats = NDArray[np.floating[Any]]


class ProblemPlanes(PlaneClassifier):
    """A classifier whose planes solve two-class problems, from whose scores a class is decided."""

    two_class_problems_: TwoClassProblems

    def decision_function(self, X: Any) -> Floats:
        """Return how much speaks for each class.

        Parameters
        ----------
        X : as for `fit`, of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,), or (n_samples, n_classes) if there are more than two
            Of two classes the score w·x + b, positive for ``classes_[1]``. Of more, what ``two_class_problems_``
            makes of the scores: the largest value decides.
        """
        check_is_fitted(self)
        return self.two_class_problems_.decide(self._plane_values(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row.

        Parameters
        ----------
        X : as for `fit`, of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
            A row on the boundary (score 0) belongs to ``classes_[0]``; of classes with the largest value, the
            first.
        """
        values = self.decision_function(X)
        labels: NDArray[Any] = self.classes_[self.two_class_problems_.codes(values)]
        return labels

    def signed_distance(self, X: Any) -> Floats:
        """Return how far each row lies from each plane: (w·x + b)/‖w‖, on the positive side or the negative.

        Parameters
        ----------
        X : as for `fit`, of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,), or (n_samples, n_problems) if there are more than two classes
            Infinite where the weights are all zero, since then there is no plane.
        """
        check_is_fitted(self)
        scores = self._plane_values(X)
        with np.errstate(divide="ignore", invalid="ignore"):
            distances = np.where(scores == 0, scores, scores / np.linalg.norm(self._dense_coef, axis=1))
        distances = distances.astype(scores.dtype, copy=False)
        return distances[:, 0] if distances.shape[1] == 1 else distances

    def densify(self) -> Self:
        """Hold ``coef_`` as an array again.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        self.coef_ = self._dense_coef
        return self

    def sparsify(self) -> Self:
        """Hold ``coef_`` as a sparse matrix, which saves memory where most coefficients are zero.

        Returns
        -------
        self
        """
        from scipy.sparse import csr_matrix

        check_is_fitted(self)
        self.coef_ = csr_matrix(self.coef_)
        return self

    @property
    def _dense_coef(self) -> Floats:
        coef: Any = self.coef_
        return coef.toarray() if hasattr(coef, "toarray") else coef

    def _plane_values(self, X: Any) -> Floats:
        return self._at_rows(block_plane, check_rows(self, X), self._dense_coef.T, self.intercept_)
