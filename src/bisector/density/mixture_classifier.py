"""Classification from a mixture: bumps found without labels, each with a probability for every class (LFD 6.23)."""

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from bisector.density.boxes import check_dense
from bisector.density.gaussian_mixture import GaussianMixture
from bisector.density.mixture_reasons import explain_classes_of_components
from bisector.density.quiet_mixture import quietly_fitted
from bisector.engine.explanation import Explanation
from bisector.engine.lazy_rows import by_rows
from bisector.engine.targets import check_labels
from bisector.engine.validation import blank, check_count, check_finite, check_weights, store

Floats = NDArray[np.float64]


class MixtureClassifier(ClassifierMixin, BaseEstimator):
    """The classifier of least error when rows come from Gaussian bumps, each with its own share of every class.

    The probability of a class at x is Σⱼ γⱼ(x) πⱼ(class), where γⱼ(x) is the share of bump j in x: proportional to
    pⱼ det(Σⱼ)^(−1/2) exp(−½ (x − μⱼ)ᵀ Σⱼ⁻¹ (x − μⱼ)). With two classes this is the sign of a radial-basis-function
    network whose weights are pⱼ det(Σⱼ)^(−1/2) (2πⱼ − 1).

    Parameters
    ----------
    n_components : int, optional
        Bumps; by default two for each class.
    covariance_type : {"full", "tied"}, default="full"
    reg_covar : float, default=1e-3
        The least variance, as a share of the variances of the features.
    tol : float, default=1e-3
    max_iter : int, default=100
    n_init : int, default=1
    random_state : int, RandomState or None, default=0
    n_jobs : int, optional

    Attributes
    ----------
    mixture_ : GaussianMixture
    class_shares_ : ndarray of shape (n_components, n_classes)
        πⱼ: how the rows of each bump are divided among the classes.
    classes_ : ndarray
    n_iter_ : int
    converged_ : bool

    Examples
    --------
    >>> import numpy as np
    >>> from bisector import MixtureClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(size=(50, 2)) + [6, 0], rng.normal(size=(50, 2))])
    >>> model = MixtureClassifier(2).fit(X, ["right"] * 50 + ["left"] * 50)
    >>> model.predict([[0.0, 0.0], [6.0, 0.0]])
    array(['left', 'right'], dtype='<U5')
    """

    _instead_of_gathering = "fit a sample of the rows"

    def __init__(
        self,
        n_components: int | None = None,
        *,
        covariance_type: Literal["full", "tied"] = "full",
        reg_covar: float = 1e-3,
        tol: float = 1e-3,
        max_iter: int = 100,
        n_init: int = 1,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.reg_covar = reg_covar
        self.tol = tol
        self.max_iter = max_iter
        self.n_init = n_init
        self.random_state = random_state
        self.n_jobs = n_jobs

    mixture_: GaussianMixture
    class_shares_: Floats
    classes_: NDArray[Any]

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find bumps in the rows, and count the classes in each.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
        y : array-like of shape (n_rows,)
        sample_weight : array-like of shape (n_rows,), optional

        Returns
        -------
        self
        """
        stand_in = blank(self)
        check_finite("reg_covar", self.reg_covar, above=0)
        rows = check_dense(stand_in, X, reset=True, at_least=2).astype(np.float64, copy=False)
        labels = check_labels(self, y, len(rows))
        if not labels.single:
            raise ValueError(f"MixtureClassifier learns one label a row, but y has the shape {np.shape(y)}.")
        codes, classes = labels.codes[:, 0], labels.classes[0]
        weights = check_weights(sample_weight, len(rows))
        counted = np.ones(len(rows)) if weights is None else weights
        kept = counted > 0
        classes, codes = classes[np.unique(codes[kept])], np.unique(codes[kept], return_inverse=True)[1]
        rows, counted = rows[kept], counted[kept]
        if len(classes) < 2:
            raise ValueError(
                f"MixtureClassifier needs rows of at least two classes, but y has one class: {classes.tolist()}."
            )
        if self.n_components is None:
            k = min(2 * len(classes), len(rows))
        else:
            k = check_count("n_components", self.n_components)
        model = quietly_fitted(self, rows, None if weights is None else counted, k)
        shares = model.predict_proba(rows) * counted[:, None]
        found = np.stack([shares[codes == c].sum(axis=0) for c in range(len(classes))], axis=1)
        total = found.sum(axis=1, keepdims=True)
        everywhere = found.sum(axis=0) / found.sum()  # of a bump without rows, which no row will ask for
        found = np.where(total > 0, found / np.where(total > 0, total, 1.0), everywhere)
        return store(
            self,
            stand_in,
            mixture_=model,
            class_shares_=found,
            classes_=classes,
            n_iter_=model.n_iter_,
            converged_=model.converged_,
        )

    @by_rows
    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of every class for every row."""
        check_is_fitted(self)
        rows = check_dense(self, X, reset=False).astype(np.float64, copy=False)
        return np.asarray(self.mixture_.predict_proba(rows) @ self.class_shares_)

    @by_rows
    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of every row."""
        chosen = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[chosen])

    def explain_rows(self, X: Any) -> list[Explanation]:
        """Say why each row is of its class: how probable each bump is, times the share of the class in it.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)

        Returns
        -------
        list of Explanation
            The account adds up to the probability of the predicted class.
        """
        check_is_fitted(self)
        rows = check_dense(self, X, reset=False).astype(np.float64, copy=False)
        return explain_classes_of_components(
            self.mixture_.predict_proba(rows), self.class_shares_, self.classes_
        )
