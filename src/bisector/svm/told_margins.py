"""What a support vector classifier can say of its margins and of the training rows: computed when asked for."""

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from bisector.engine.explanation import Explanation
from bisector.engine.show import Sheet
from bisector.svm.kernel_machine import KernelMachine
from bisector.svm.one_vs_one import pair_weights
from bisector.svm.soft_margin import ROLES, SoftMargin, spread

Floats = NDArray[np.float64]


class TellsMargins(KernelMachine):
    """A machine with one margin between every two classes."""

    classes_: NDArray[Any]
    n_support_: NDArray[np.int32]
    kernel_: Any
    break_ties: bool
    _margins: list[SoftMargin]

    @abstractmethod
    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row."""

    @abstractmethod
    def _pair_scores(self, X: Any) -> NDArray[Any]:
        """Return f(x) of every pair of classes."""

    @abstractmethod
    def _class_scores(self, scores: NDArray[Any]) -> NDArray[Any]:
        """Return what the scores of all pairs make of each class."""

    @property
    def alpha_(self) -> Floats:
        return self._by_row([margin.alpha for margin in self._fitted_margins], 0.0)

    @property
    def slack_(self) -> Floats:
        return self._by_row([margin.slack for margin in self._fitted_margins], np.nan)

    @property
    def role_(self) -> NDArray[np.str_]:
        names = np.array([*ROLES, ""])
        return names[self._by_row([margin.roles for margin in self._fitted_margins], -1)]

    @property
    def margin_(self) -> Any:
        return self._by_pair([margin.margin for margin in self._fitted_margins])

    @property
    def objective_(self) -> Any:
        return self._by_pair([margin.plane.objective for margin in self._fitted_margins])

    @property
    def dual_gap_(self) -> Any:
        return self._by_pair([margin.plane.gap for margin in self._fitted_margins])

    @property
    def kkt_violation_(self) -> Any:
        return self._by_pair([margin.plane.violation for margin in self._fitted_margins])

    @property
    def threshold_(self) -> Any:
        check_is_fitted(self)
        return self._by_pair((-self.intercept_).tolist())

    @property
    def coef_(self) -> NDArray[Any]:
        self._require_linear()
        planes = np.asarray(
            self.support_vectors_.T @ pair_weights(self.dual_coef_, self.n_support_), dtype=np.float64
        ).T
        return np.ascontiguousarray(planes, dtype=self.support_vectors_.dtype)

    @property
    def weights_(self) -> NDArray[Any]:
        return self.coef_[0] if len(self.classes_) == 2 else self.coef_

    def signed_distance(self, X: Any) -> NDArray[Any]:
        """Return how far each row lies from the boundary in feature space: f(x)/‖w‖.

        Parameters
        ----------
        X : as for `decision_function`

        Returns
        -------
        array of shape (n_samples,), or (n_samples, n_pairs) if there are more than two classes
        """
        distances = self._pair_scores(X) * np.array([margin.margin for margin in self._fitted_margins])
        return distances[:, 0] if len(self.classes_) == 2 else distances

    def support_report(self, largest: int = 10) -> Sheet:
        """Describe the margins: how wide they are, how the training rows lie to them, and which rows hold them.

        Parameters
        ----------
        largest : int, default=10
            How many support vectors to list for each margin, those with the largest α.

        Returns
        -------
        Sheet
            Prints as text; shows as HTML in a notebook.
        """
        from bisector.svm.support_report import report_margins

        return report_margins(self, self._fitted_margins, largest)

    def explain_rows(self, X: Any) -> list[Explanation]:
        """Say why each row is of its class: what each support vector adds to the score, and its role at the margin.

        Parameters
        ----------
        X : as for `decision_function`

        Returns
        -------
        list of Explanation
            The account by support vectors adds up to the score; of more than two classes, to that of the
            comparison which the predicted class won by least. With a linear kernel a first account is by features,
            and ``move`` leads to the boundary; with another, ``move`` is one that is known to change the class.
        """
        from bisector.svm.margin_reasons import explain_margins

        check_is_fitted(self)
        return explain_margins(self, X)

    @property
    def _fitted_margins(self) -> list[SoftMargin]:
        check_is_fitted(self)
        return self._margins

    def _by_row(self, parts: list[NDArray[Any]], absent: Any) -> Any:
        return spread(self._margins, parts, self.shape_fit_[0], absent)

    def _by_pair(self, values: list[float]) -> Any:
        return values[0] if len(values) == 1 else np.array(values)
