"""The least-squares classifier: regression on labels, and what is known of the features (Flach 7.1)."""

from collections.abc import Mapping
from typing import Any, Literal, Self

from numpy.typing import ArrayLike

from bisector.engine.validation import check_choice, check_classes, check_finite, check_flag, store
from bisector.linear.planes import PlaneClassifier, narrowed
from bisector.solvers.label_regression import label_regression
from bisector.solvers.thresholds import least_error_thresholds, midpoints

COVARIANCES = ("full", "diagonal", "identity")
THRESHOLDS = ("intercept", "midpoint", "training-error")


class LeastSquaresClassifier(PlaneClassifier):
    """Linear regression on labels −1 and +1, whose sign decides.

    The normal vector is w = M⁻¹(n₁μ₁ − n₀μ₀) (Flach, Equation 7.7): the difference of the class means, corrected
    for how the features are spread and correlated. Of more than two classes each gets a plane against the rest,
    and the largest score decides.

    Parameters
    ----------
    covariance : {"full", "diagonal", "identity"}, default="full"
        What M takes into account: how features vary together, how each varies by itself, or neither. Full is the
        least-squares solution; diagonal and identity need no products of features with each other, and so suit
        very many of them. With identity, and centred, w points from one mean to the other.
    ridge : float, default=0.0
        Added to the diagonal of M, times the identity: turns w towards that of M = I, and makes it steadier. For
        covariance="identity" it changes nothing.
    threshold : {"intercept", "midpoint", "training-error"}, default="intercept"
        Where along w the boundary lies: where the least-squares estimate of the label is zero, which moves it away
        from the larger class; halfway between the means; or where the training rows on the wrong side weigh least.
    centred : bool, default=True
        Whether means and M are taken about the mean of all rows. If not, w depends on where the origin is; with
        covariance="full", it is the normal vector of the least-squares plane through the origin.
    class_weight : dict, "balanced" or None, default=None
        How many rows each row of a class counts as; balanced classes weigh the same.
    n_jobs : int, default=None
        Number of threads; None means all cores allowed here, one inside a joblib worker. The result is the
        same, bit for bit, for any number.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
        w, of the length at which scores estimate the label.
    intercept_ : array of shape (1,) or (n_classes,)
    weights_, threshold_ : the same as w·x > t
    gap_ : float
        Estimate of the relative error of w as the solution of its equation.
    n_features_in_ : int
    feature_names_in_ : array of str, if X has string column names

    See Also
    --------
    BasicLinearClassifier : The bisector of the means: the same boundary as identity with midpoint.
    LinearRegression : The same plane as full with intercept, for labels −1 and +1.

    Notes
    -----
    Least squares may miss a plane that separates the classes although there is one: rows far on their right side
    pull, too. `separability` tells whether there is one.

    References
    ----------
    Flach, *Machine Learning* (2012), section 7.1.

    Examples
    --------
    >>> from bisector import LeastSquaresClassifier, datasets
    >>> X, y = datasets.overlapping_classes()
    >>> model = LeastSquaresClassifier().fit(X, y)
    >>> int((model.predict(X) != y).sum())
    3
    >>> float((model.threshold_ / model.weights_).round(3)[0])  # where the regression line crosses zero
    0.649
    """

    def __init__(
        self,
        *,
        covariance: Literal["full", "diagonal", "identity"] = "full",
        ridge: float = 0.0,
        threshold: Literal["intercept", "midpoint", "training-error"] = "intercept",
        centred: bool = True,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.covariance = covariance
        self.ridge = ridge
        self.threshold = threshold
        self.centred = centred
        self.class_weight = class_weight
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Find the planes.

        Parameters
        ----------
        X : array, sparse matrix, pandas or polars frame, Arrow table or dataset, path of a Parquet file or \
folder, Dask array or dataframe, or list of delayed blocks, of shape (n_samples, n_features)
        y : array of shape (n_samples,), or the name of a column of X
        sample_weight : array of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        covariance = check_choice("covariance", self.covariance, COVARIANCES)
        ridge = check_finite("ridge", self.ridge, at_least=0)
        threshold = check_choice("threshold", self.threshold, THRESHOLDS)
        centred = check_flag("centred", self.centred)
        rows, _, classes, stand_in = check_classes(self, X, y, sample_weight, self.class_weight)
        found = label_regression(
            rows, len(classes), covariance=covariance, ridge=ridge, centred=centred, n_jobs=self.n_jobs
        )
        remedy = "give the features in larger units, or X as float64"
        (coef,) = narrowed(rows.dtype, found.coef.T, remedy=remedy)
        intercept = found.intercept
        if threshold == "midpoint":
            intercept = -midpoints(rows, found.coef, len(classes), n_jobs=self.n_jobs)
        elif threshold == "training-error":
            intercept = -least_error_thresholds(rows, coef.T, len(classes), n_jobs=self.n_jobs)
        (offset,) = narrowed(rows.dtype, intercept, remedy=remedy)
        return store(self, stand_in, classes_=classes, coef_=coef, intercept_=offset, gap_=found.gap)
