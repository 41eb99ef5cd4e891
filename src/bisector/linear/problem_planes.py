"""Classifiers with one plane for each of several two-class problems, however these are decided by."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.engine.explanation import Explanation, feature_names
from bisector.engine.lazy_rows import by_rows
from bisector.engine.sparse_planes import DecidesBySparsePlanes
from bisector.linear.planes import PlaneClassifier
from bisector.solvers.two_class_problems import TwoClassProblems

Floats = NDArray[np.floating[Any]]


class ProblemPlanes(DecidesBySparsePlanes, PlaneClassifier):
    """A classifier whose planes solve two-class problems, from whose scores a class is decided."""

    two_class_problems_: TwoClassProblems

    @by_rows
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

    def explain_rows(self, X: Any) -> list[Explanation]:
        """Say why each row is of its class: what each feature adds to the score that decides.

        Parameters
        ----------
        X : as for `predict`

        Returns
        -------
        list of Explanation
            Of two classes, or one against the rest, the account adds up to the value of `decision_function`; where
            classes are compared with some others, to the score of the comparison that was won by least.
        """
        problems = self.two_class_problems_ if hasattr(self, "classes_") else None
        if problems is None or len(problems) == 1 or problems.scheme == "one-vs-rest":
            return super().explain_rows(X)
        from bisector.engine.plane_reasons import explain_problems

        coef, offset = self._dense_weights().astype(np.float64), self.intercept_.astype(np.float64)
        names, found = feature_names(self, coef.shape[1]), []
        # Of several comparisons the closest is the one whose plane is nearest; a sequence goes by scores alone.
        with np.errstate(divide="ignore"):
            units = 1 / self._lengths() if problems.scheme == "one-vs-one" else None
        for rows in self._dense_rows(X):
            found += explain_problems(
                rows, coef, offset, problems.problems, lambda scores: problems.codes(problems.decide(scores)),
                self.classes_, names, units,
            )  # fmt: skip
        return found

    def _codes(self, scores: Floats) -> NDArray[np.int64]:
        return self.two_class_problems_.codes(scores)
