"""Ridge regression that chooses its penalty, by leaving out every row once or by folds."""

from collections.abc import Callable
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from bisector.engine.explanation import Explanation
from bisector.engine.lazy_rows import by_rows
from bisector.engine.memory import budget, readable
from bisector.engine.row_sums import rows_with_weight
from bisector.engine.sources import Source
from bisector.engine.validation import (
    check_choice,
    check_count,
    check_flag,
    check_number,
    check_training,
    store,
)
from bisector.linear.planes import HasPlanes
from bisector.linear.ridge import plane_of
from bisector.linear.ridge_scores import Folds, best_alpha, kept_results, scorer_of, scores_left_out
from bisector.linear.smoother_reasons import training_rows, with_row_accounts
from bisector.solvers.ridge import prepare, ridge
from bisector.solvers.ridge_path import Spectrum, spectrum_of
from bisector.solvers.tikhonov import Tikhonov

Floats = NDArray[np.floating[Any]]

# The whole path is kept unless it takes more than this share of the memory budget.
KEPT_SHARE = 0.25


class RidgeCV(MultiOutputMixin, RegressorMixin, HasPlanes):
    """Ridge regression with the penalty that predicts rows best that it has not seen.

    A drop-in for scikit-learn's estimator. One factorisation serves every alpha and every target: the exact errors
    at each row left out, those of generalised cross-validation, the effective degrees of freedom and the whole
    path of coefficients come with it.

    Parameters
    ----------
    alphas : array of shape (n_alphas,) or int, default=(0.1, 1.0, 10.0)
        Penalties to try, positive (with `cv`, or zero). A whole number asks for so many, evenly spaced on a
        logarithmic scale from where the data are hardly shrunk in any direction to where they are in all.
    fit_intercept : bool, default=True
        Whether the plane may miss the origin. The intercept costs nothing.
    scoring : str or callable, default=None
        How to score predictions; a name or a function as scikit-learn takes them. By default the mean squared error
        of rows left out, or with `cv` the mean R² of the folds.
    cv : int, splitter or iterable, default=None
        By default every row is left out once, with its whole weight, without fitting again. A number of folds, a
        splitter of scikit-learn, or pairs of training and test rows leave out several at a time.
    gcv_mode : {"auto", "svd", "eigen"}, default=None
        How to factorise: "eigen" from the products of features (or of rows, if there are fewer), which loses
        digits where eigenvalues differ by more than 1e8; "svd" from the rows themselves; None and "auto" from
        products unless they lose digits.
    store_cv_results : bool, default=False
        Whether to keep ``cv_results_``.
    alpha_per_target : bool, default=False
        Whether each target gets the alpha that is best for it.
    n_jobs : int, default=None
        Number of threads; None means all cores allowed here, one inside a joblib worker. The result is the
        same, bit for bit, for any number.

    Attributes
    ----------
    coef_ : array of shape (n_features,) or (n_targets, n_features)
    intercept_ : float or array of shape (n_targets,)
    alpha_ : float or array of shape (n_targets,)
        The best penalty; of equally good ones the first.
    best_score_ : float or array of shape (n_targets,)
    cv_results_ : array of shape (n_samples, n_alphas) or (n_samples, n_targets, n_alphas)
        If store_cv_results=True: with scoring=None the squared error at each row left out, times its weight;
        otherwise what was predicted there. With `cv`, the scores of the folds, (n_folds, n_alphas), or
        (n_folds, n_alphas, n_targets) if alpha_per_target=True.
    alphas_ : array of shape (n_alphas,)
        The penalties tried.
    scores_ : array of shape (n_alphas,), or (n_alphas, n_targets) if alpha_per_target=True
        Greater is better.
    leave_one_out_errors_, gcv_errors_ : array of shape (n_alphas,) or (n_alphas, n_targets)
        With cv=None: mean squared errors, exact and by generalised cross-validation.
    degrees_of_freedom_ : array of shape (n_alphas,)
        Effective number of parameters at each alpha, the intercept counted.
    coef_path_ : array of shape (n_alphas, n_features) or (n_alphas, n_targets, n_features)
    intercept_path_ : array of shape (n_alphas,) or (n_alphas, n_targets)
    n_features_in_ : int
    feature_names_in_ : array of str, if X has string column names

    References
    ----------
    Allen (1974), The relationship between variable selection and data augmentation; Golub, Heath and Wahba (1979).

    Examples
    --------
    >>> import numpy as np
    >>> from bisector import RidgeCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(40, 10))
    >>> y = X[:, 0] + rng.normal(size=40)
    >>> model = RidgeCV(alphas=50).fit(X, y)
    >>> model.coef_path_.shape
    (50, 10)
    >>> bool(model.leave_one_out_errors_.min() == -model.best_score_)
    True
    """

    def __init__(
        self,
        alphas: ArrayLike | int = (0.1, 1.0, 10.0),
        *,
        fit_intercept: bool = True,
        scoring: str | Callable[..., Any] | None = None,
        cv: Any = None,
        gcv_mode: Literal["auto", "svd", "eigen"] | None = None,
        store_cv_results: bool = False,
        alpha_per_target: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.scoring = scoring
        self.cv = cv
        self.gcv_mode = gcv_mode
        self.store_cv_results = store_cv_results
        self.alpha_per_target = alpha_per_target
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None, **params: Any) -> Self:
        """Choose the penalty and find the coefficients.

        Parameters
        ----------
        X : array, sparse matrix, pandas or polars frame, Arrow table or dataset, path of a Parquet file or \
folder, Dask array or dataframe, or list of delayed blocks, of shape (n_samples, n_features)
        y : array of shape (n_samples,) or (n_samples, n_targets), or the name(s) of columns of X
        sample_weight : array of shape (n_samples,), default=None
        **params
            ``groups``, for a splitter that keeps groups of rows together.

        Returns
        -------
        self
        """
        intercept = check_flag("fit_intercept", self.fit_intercept)
        mode: Any = check_choice("gcv_mode", self.gcv_mode or "auto", ("auto", "svd", "eigen"))
        per_target = check_flag("alpha_per_target", self.alpha_per_target)
        keep = check_flag("store_cv_results", self.store_cv_results)
        alphas = check_alphas(self.alphas, zero=self.cv is not None)
        if unknown := sorted(set(params) - {"groups"}):
            raise TypeError(f"fit takes no argument {unknown[0]!r} besides X, y, sample_weight and groups.")
        rows, stand_in = check_training(self, X, y, sample_weight, multi_output=True)
        if self.cv is None:
            _check_rows_to_leave_out(rows)
        scorer = None if self.scoring is None else scorer_of(self, self.scoring)

        design = prepare(rows, Tikhonov.plain(rows.n_features), intercept=intercept, n_jobs=self.n_jobs)
        smallest = 0.0 if alphas is None or not alphas.all() else float(alphas.min())
        spectrum = spectrum_of(design, smallest, mode=mode, n_jobs=self.n_jobs)
        if alphas is None:
            alphas = spectrum.spaced_alphas(int(self.alphas))  # type: ignore[arg-type]
        chosen = per_target and not rows.single_target
        left_out = None
        if self.cv is None:
            left_out = spectrum.leave_one_out(alphas, keep=keep or scorer is not None, n_jobs=self.n_jobs)
            scores = scores_left_out(left_out, rows, scorer, chosen)
        else:
            folds = Folds(rows, alphas, intercept, mode, scorer, chosen, self.n_jobs)
            of_folds = folds.scores(self.cv, params.get("groups"))
            scores = of_folds.mean(axis=0)
        best = best_alpha(scores, self.cv is None)
        alpha = np.atleast_1d(alphas[best])
        found = ridge(rows, alpha, intercept=intercept, design=design, n_jobs=self.n_jobs)
        learned = {
            "alpha_": alphas[best] if chosen else float(alpha[0]),
            "best_score_": scores[best, np.arange(len(best))] if chosen else float(scores[int(best)]),
            "alphas_": alphas,
            "scores_": scores,
            "degrees_of_freedom_": spectrum.degrees_of_freedom(alphas),
            "_path": _kept_path(spectrum, alphas, rows, found.coef.shape[1]),
        }
        if left_out is not None:
            single = rows.single_target
            for name, values in (("leave_one_out_errors_", left_out.errors), ("gcv_errors_", left_out.gcv)):
                learned[name] = values[0] if single else values.T
        if keep:
            learned["cv_results_"] = (
                of_folds if left_out is None else kept_results(left_out, rows, squared=scorer is None)
            )
        return store(self, stand_in, **plane_of(found, rows), **learned)

    @by_rows
    def predict(self, X: Any) -> Floats:
        """Return a + w·x for each row.

        Parameters
        ----------
        X : as for `fit`, of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_targets)
        """
        return self._plane_values(X)

    def explain_rows(self, X: Any, training: Any = None) -> list[Explanation]:
        """Say why each row is predicted as it is: what each feature adds, and on request what each training row.

        Parameters
        ----------
        X : as for `predict`
        training : (X, y) or (X, y, sample_weight), default=None
            The rows of the fit, which this model does not keep, for an account of what each target adds.

        Returns
        -------
        list of Explanation
            With an account by features for each target, and where rows are given one by training rows.
        """
        explained = super().explain_rows(X)
        rows = training_rows(self, training)
        if rows is None:
            return explained
        alpha, penalty = np.atleast_1d(self.alpha_), Tikhonov.plain(self.n_features_in_)
        return with_row_accounts(explained, self, X, rows, alpha, penalty, intercept=self.fit_intercept)

    @property
    def coef_path_(self) -> Floats:
        return self._kept()[0]

    @property
    def intercept_path_(self) -> Floats:
        return self._kept()[1]

    def _kept(self) -> tuple[Floats, Floats]:
        check_is_fitted(self)
        if isinstance(self._path, int):
            raise AttributeError(
                f"The path was not kept, since it takes {readable(self._path)}: fit Ridge at the alphas wanted."
            )
        kept: tuple[Floats, Floats] = self._path
        return kept


def check_alphas(alphas: Any, *, zero: bool) -> NDArray[np.float64] | None:
    """Return the penalties to try; None if only their number is given."""
    if isinstance(alphas, int | np.integer) and not isinstance(alphas, bool):
        check_count("alphas", alphas)
        return None
    values = np.ravel(np.asarray(alphas, dtype=object))
    if not len(values):
        raise ValueError("alphas is empty: give at least one penalty to try.")
    limit = {"at_least": 0.0} if zero else {"above": 0.0}
    checked = np.array([check_number("alphas", one, **limit) for one in values])
    if not np.isfinite(checked).all():
        raise ValueError("alphas must be finite.")
    return checked


def _check_rows_to_leave_out(rows: Source) -> None:
    present = rows_with_weight(rows)
    if present < 2:
        raise ValueError(
            f"RidgeCV leaves out one row at a time and needs at least two with a weight, but got {present} sample: "
            "give more, or use Ridge."
        )


def _kept_path(spectrum: Spectrum, alphas: NDArray[np.float64], rows: Source, n_targets: int) -> Any:
    """Return coefficients and intercepts for every alpha in the form of y; or their size, if that is too large."""
    size = 8 * len(alphas) * rows.n_features * n_targets
    if size > 64e6 and size > KEPT_SHARE * budget():
        return size
    coef, offset = spectrum.coefficients(alphas)
    with np.errstate(over="ignore"):
        coef, offset = coef.transpose(0, 2, 1).astype(rows.dtype), offset.astype(rows.dtype)
    return (coef[:, 0], offset[:, 0]) if rows.single_target else (coef, offset)
