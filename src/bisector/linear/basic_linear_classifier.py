"""The basic linear classifier: the perpendicular bisector of two class means decides (Flach 7.1, 8.2)."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from bisector.engine.decisions import explain_sums
from bisector.engine.explanation import Explanation
from bisector.engine.frames import is_frame, split_column
from bisector.engine.targets import check_labels
from bisector.engine.validation import blank, check_classes, check_rows, check_training, check_weights, store
from bisector.engine.values import HoldsValues
from bisector.kernels import Precomputed, resolve
from bisector.kernels.value_blocks import value_blocks
from bisector.linear.planes import PlaneClassifier
from bisector.solvers.bisecting_planes import (
    bisecting_planes,
    bisecting_planes_in_feature_space,
    class_shares,
)
from bisector.solvers.class_sums import ClassSums, class_sums, more_class_sums
from bisector.solvers.feature_rows import FeatureRows, check_items, count, picked
from bisector.solvers.two_class_problems import two_class_problems

Floats = NDArray[np.floating[Any]]


def _has_no_kernel(estimator: "BasicLinearClassifier") -> bool:
    if estimator.kernel is not None:
        raise AttributeError("partial_fit needs means that can be written down: with a kernel, call fit.")
    return True


class BasicLinearClassifier(HoldsValues, PlaneClassifier):
    """Each class is summed up by its mean, and a row belongs to the class whose mean is nearest.

    Of two classes, the boundary is the perpendicular bisector of their means: w = μ₁ − μ₀, and rows are positive
    if w·x > t = (‖μ₁‖² − ‖μ₀‖²)/2. Nothing is solved: one pass over the data gives the means. How far a class is
    spread, and in which directions, does not count; nor does its size.

    Parameters
    ----------
    kernel : str, Kernel or callable, default=None
        Take the means in the feature space of a kernel, where the boundary is a bisecting plane while it is
        curved in the space of the rows. Rows are then whatever the kernel compares: numbers, strings, sets;
        with "precomputed", kernel values with the training rows. The training rows are kept, and every
        prediction compares with all of them.
    n_jobs : int, default=None
        Number of threads; None means all cores allowed here, one inside a joblib worker. The result is the
        same, bit for bit, for any number.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    class_count_ : array of shape (n_classes,)
        What the rows of each class weigh together.
    means_ : array of shape (n_classes, n_features)
        The exemplars. Without kernel only.
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
        Of two classes, μ₁ − μ₀. Of more, μₖ − c for the centre c of all means: the score of a class is half of
        ‖x − c‖² − ‖x − μₖ‖². Without kernel only.
    intercept_ : array of shape (1,) or (n_classes,)
    weights_, threshold_ : the same as w·x > t
    kernel_ : Kernel
        With what it learned from the rows. With a kernel only, as what follows.
    exemplars_ : the training rows, those without weight left out
    dual_coef_ : array of shape (1, n_rows) or (n_classes, n_rows)
        What each training row adds to w in feature space: of two classes, 1/n₁ for a positive row, −1/n₀ for a
        negative one (Flach, Equation 7.10).
    n_features_in_ : int
    feature_names_in_ : array of str, if X has string column names

    See Also
    --------
    NearestExemplarClassifier : The same rule with medians or medoids, and under any distance.
    LeastSquaresClassifier : Takes spread, correlation and class sizes into account.

    References
    ----------
    Flach, *Machine Learning* (2012), sections 7.1 and 8.2.

    Examples
    --------
    >>> from bisector import BasicLinearClassifier
    >>> X, y = [[0, 0], [0, 2], [4, 0], [4, 2]], ["left", "left", "right", "right"]
    >>> model = BasicLinearClassifier().fit(X, y)
    >>> model.means_
    array([[0., 1.],
           [4., 1.]])
    >>> model.weights_, model.threshold_
    (array([4., 0.]), 8.0)
    >>> model.predict([[1.9, 5.0], [2.1, -5.0]])
    array(['left', 'right'], dtype='<U5')

    A ring around a disc has the same mean as the disc, unless products of features are features too:

    >>> from bisector import Polynomial, datasets
    >>> X, y = datasets.disc_and_ring()
    >>> float(BasicLinearClassifier(kernel=Polynomial(2)).fit(X, y).score(X, y))
    0.97
    """

    def __init__(self, *, kernel: Any = None, n_jobs: int | None = None) -> None:
        self.kernel = kernel
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Find the class means, and the plane between them.

        Parameters
        ----------
        X : array, sparse matrix, pandas or polars frame, Arrow table or dataset, path of a Parquet file or \
folder, Dask array or dataframe, or list of delayed blocks, of shape (n_samples, n_features); with a kernel, the \
rows it compares
        y : array of shape (n_samples,), or the name of a column of X
        sample_weight : array of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        if self.kernel is not None:
            return self._fit_in_feature_space(X, y, sample_weight)
        rows, _, classes, stand_in = check_classes(self, X, y, sample_weight)
        sums = class_sums(rows, len(classes), n_jobs=self.n_jobs)
        return self._store_planes(stand_in, sums, classes, rows.dtype)

    @available_if(_has_no_kernel)
    def partial_fit(
        self, X: Any, y: Any, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Take in more rows; after all of them the means are those of a fit to all.

        Parameters
        ----------
        X : as for `fit`
        y : array of shape (n_samples,)
        classes : array of shape (n_classes,), default=None
            All labels there will be; needed in the first call only. A class of which no row has come yet is never
            predicted.
        sample_weight : array of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        before = getattr(self, "_sums", None)
        if before is None:
            if classes is None:
                raise ValueError(
                    "The first call of partial_fit needs classes: list all labels there will be, for example "
                    "numpy.unique(all_y)."
                )
            if len(np.unique(np.asarray(classes))) < 2:
                raise ValueError(f"BasicLinearClassifier needs at least two classes, not {classes!r}.")
            labels = check_labels(self, y, len(y) if hasattr(y, "__len__") else 0, classes)
            rows, stand_in = check_training(self, X, labels.codes[:, 0], sample_weight)
            found = class_sums(rows, len(labels.classes[0]), n_jobs=self.n_jobs)
            return self._store_planes(stand_in, found, labels.classes[0], rows.dtype)
        known = self.classes_
        if classes is not None and not np.array_equal(np.unique(np.asarray(classes)), known):
            raise ValueError(f"classes are {known.tolist()} since the first call, and cannot be changed.")
        rows, stand_in = check_rows(self, X), blank(self)
        rows.y = check_labels(self, y, rows.n_rows, known).codes[:, 0]
        rows.sample_weight = check_weights(sample_weight, rows.n_rows)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                setattr(stand_in, name, getattr(self, name))
        found = before.merge(more_class_sums(rows, before.of_x, len(known), n_jobs=self.n_jobs))
        return self._store_planes(stand_in, found, known, np.result_type(rows.dtype, self.coef_.dtype))

    def _store_planes(
        self, stand_in: Any, sums: ClassSums, classes: NDArray[Any], dtype: np.dtype[Any]
    ) -> Self:
        coef, intercept = _planes(sums)
        with np.errstate(over="ignore", under="ignore"):
            means, coef, intercept = (values.astype(dtype) for values in (sums.means, coef, intercept))
        _require_lengths(coef, intercept)
        return store(
            self,
            stand_in,
            classes_=classes,
            class_count_=sums.weights,
            means_=means,
            coef_=coef,
            intercept_=intercept,
            _sums=sums,
            _rows=None,
        )

    # In the feature space of a kernel, means cannot be written down, but their products with rows can be had.

    def _fit_in_feature_space(self, X: Any, y: Any, sample_weight: Any) -> Self:
        kernel, stand_in = resolve(self.kernel), blank(self)
        if isinstance(y, str) and is_frame(X):
            X, y = split_column(X, y)
        items = check_items(stand_in, X, kernel, reset=True)
        labels = check_labels(self, y, count(items))
        if not labels.single:
            raise ValueError(
                f"BasicLinearClassifier learns one label a row, but y has the shape {np.shape(y)}."
            )
        weight = check_weights(sample_weight, count(items))
        shares, totals = class_shares(labels.codes[:, 0], weight, len(labels.classes[0]))
        if weight is not None and not isinstance(kernel, Precomputed):
            counted = np.flatnonzero(weight)
            items, shares = picked(items, counted), shares[counted]
        held = totals > 0
        if held.sum() < 2:
            raise ValueError(
                "BasicLinearClassifier needs rows of at least two classes, but y has one class"
                f"{'' if weight is None else ' with a weight'}: {labels.classes[0][held].tolist()}."
            )
        rows = FeatureRows.of(kernel, items)
        planes = bisecting_planes_in_feature_space(
            lambda weights: rows.sums(items, weights, n_jobs=self.n_jobs), shares[:, held]
        )
        return store(
            self,
            stand_in,
            classes_=labels.classes[0][held],
            class_count_=totals[held],
            kernel_=rows.kernel,
            exemplars_=items,
            dual_coef_=planes.weights,
            intercept_=planes.intercepts,
            _sums=None,
            _rows=rows,
            _feature_lengths=planes.lengths,
        )

    def _plane_values(self, X: Any) -> Floats:
        check_is_fitted(self)
        if self._rows is None:
            return super()._plane_values(X)
        items = check_items(self, X, self.kernel_, reset=False)
        values: Floats = self._rows.sums(items, self.dual_coef_.T, n_jobs=self.n_jobs) + self.intercept_
        return values

    def explain_rows(self, X: Any) -> list[Explanation]:
        """Say why each row is of its class: what each feature adds to the score, and how far the boundary is.

        With a kernel it is each training row that adds, by its share in the mean of its class.

        Parameters
        ----------
        X : as for `predict`

        Returns
        -------
        list of Explanation
            The first account adds up to the score: of two classes the one of `decision_function`, of more that of
            the predicted class. Without kernel, ``move`` is the shortest step to the boundary.
        """
        check_is_fitted(self)
        if self._rows is None:
            return super().explain_rows(X)
        items = check_items(self, X, self.kernel_, reset=False)
        codes, found = self._codes(self.decision_function(X)), []
        problems = two_class_problems("one-vs-rest", len(self.classes_)).problems
        for part, values in value_blocks(self.kernel_, items, self._rows.prepared, n_jobs=self.n_jobs):
            found += explain_sums(
                values, self.dual_coef_.T, self.intercept_, problems, codes[part.start : part.stop],
                self.classes_, rows=np.arange(values.shape[1]), beside=lambda problem: {},
            )  # fmt: skip
        return found

    def _lengths(self) -> NDArray[np.float64]:
        if self._rows is None:
            return super()._lengths()
        # Where means coincide up to rounding, so do all scores with zero: no row is away from the boundary.
        return np.where(self._feature_lengths > 0, self._feature_lengths, np.inf)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        given = isinstance(self.kernel, Precomputed) or (
            isinstance(self.kernel, str) and self.kernel in Precomputed.names
        )
        tags.input_tags.pairwise, tags.input_tags.sparse = given, not given
        return tags


def _planes(sums: ClassSums) -> tuple[Floats, Floats]:
    """Return coefficients and intercepts of the planes; a class without rows is infinitely far."""
    seen, (n_classes, d) = sums.weights > 0, sums.sums.shape
    if n_classes == 2 and not seen.all():
        return np.zeros((1, d)), np.array([np.inf if seen[1] else -np.inf])
    planes = bisecting_planes(sums.offsets[seen], sums.of_x.shift, one_plane=n_classes == 2)
    if seen.all():
        return planes.weights, planes.intercepts
    coef, intercept = np.zeros((n_classes, d)), np.full(n_classes, -np.inf)
    coef[seen], intercept[seen] = planes.weights, planes.intercepts
    return coef, intercept


def _require_lengths(coef: Floats, intercept: Floats) -> None:
    """Refuse means so near or far from each other that squared distances are no numbers of their type."""
    with np.errstate(over="ignore", under="ignore"):
        squares = np.einsum("ij,ij->i", coef, coef)
    kind = np.finfo(coef.dtype)
    far = not (np.isfinite(squares).all() and np.isfinite(intercept[coef.any(axis=1)]).all())
    if far or (coef.any(axis=1) & (squares < kind.tiny)).any():
        wider = " or X as float64" if coef.dtype == np.float32 else ""
        raise ValueError(
            f"The class means are so {'far from' if far else 'near to'} each other that the square of their "
            f"distance is no {coef.dtype} number: give the features in other units{wider}."
        )
