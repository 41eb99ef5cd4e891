"""Classifiers with one plane for each of several two-class problems, however these are decided by."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.engine.sparse_planes import DecidesBySparsePlanes
from bisector.linear.planes import PlaneClassifier
from bisector.solvers.two_class_problems import TwoClassProblems

Floats = NDArray[np.floating[Any]]


class ProblemPlanes(DecidesBySparsePlanes, PlaneClassifier):
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
        scores = self._plane_values(X)
        return self.two_class_problems_.decide(scores)

    def _codes(self, scores: Floats) -> NDArray[np.int64]:
        return self.two_class_problems_.codes(scores)
