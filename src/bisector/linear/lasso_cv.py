"""Lasso and elastic net with the penalty chosen by cross-validation."""

from collections.abc import Sequence
from copy import copy
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing

from bisector.engine.blocks import Block
from bisector.engine.checkpoint import Checkpoint, checkpoint_of
from bisector.engine.lazy_rows import by_rows
from bisector.engine.map_reduce import map_reduce
from bisector.engine.progress import track
from bisector.engine.sources import Source, SparseSource
from bisector.engine.threads import parallel
from bisector.engine.validation import check_choice, check_training, store
from bisector.linear.coefficient_paths import check_alphas, enet_path, lasso_path, open_gaps, warn_of_gaps
from bisector.linear.elastic_net import check_common, check_l1_ratio, learned, solve_each_target
from bisector.linear.planes import HasPlanes
from bisector.solvers.least_squares import Squares
from bisector.solvers.penalised_path import penalised_data, penalised_path

Floats = NDArray[np.floating[Any]]
# With so few products in a fold, its steps are so short that threads would mostly wait for the interpreter.
_FEW_PRODUCTS = 10**7
# The weights of all rows in the training set and in the test set.
Fold = tuple[NDArray[np.float64], NDArray[np.float64]]


class _ChoosesPenalty(RegressorMixin, HasPlanes):
    """What the lasso and the elastic net with a chosen penalty share."""

    alphas: Any
    eps: float
    fit_intercept: bool
    positive: bool
    tol: float
    max_iter: int
    cv: Any
    verbose: bool | int
    rule: str
    checkpoint: Any

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None, **params: Any) -> Self:
        """Choose the penalty, and fit all rows with it.

        Parameters
        ----------
        X : array, sparse matrix, pandas or polars frame, Arrow table or dataset, path of a Parquet file or \
folder, Dask array or dataframe, or list of delayed blocks, of shape (n_samples, n_features)
        y : array of shape (n_samples,), or the name of a column of X
        sample_weight : array of shape (n_samples,), default=None
            Weights both the fits and the errors; folds count alike.
        **params
            What the splitter wants, such as groups.

        Returns
        -------
        self
        """
        check_common(self)
        check_choice("rule", self.rule, ("min", "one-standard-error"))
        ratios = [check_l1_ratio(ratio) for ratio in np.atleast_1d(self._l1_ratios()).tolist()]
        rows, stand_in = check_training(self, X, y, sample_weight)
        folds = self._folds(rows, params)
        with checkpoint_of(self.checkpoint, self, rows, folds=folds) as kept:
            alphas = self._grids(rows, ratios, kept)
            errors = self._errors(rows, folds, ratios, alphas, kept)
            chosen = choose(errors, alphas)
            alpha = chosen.alpha_min if self.rule == "min" else chosen.alpha_one_standard_error
            ratio = ratios[chosen.ratio]
            found = solve_each_target(self, rows, alpha, ratio, kept)
        return store(
            self,
            stand_in,
            **learned(found, rows),
            **self._learned_ratio(ratio),
            alpha_=alpha,
            alpha_min_=chosen.alpha_min,
            alpha_one_standard_error_=chosen.alpha_one_standard_error,
            alphas_=alphas[0]
            if len(ratios) == 1 or not isinstance(self.alphas, int | np.integer)
            else alphas,
            mse_path_=np.squeeze(np.moveaxis(errors, 1, 2)),
        )

    @by_rows
    def predict(self, X: Any) -> Floats:
        """Return w·x + b for each row, with the chosen penalty.

        Parameters
        ----------
        X : as for `fit`, of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        return self._plane_values(X)

    def _l1_ratios(self) -> Any:
        return 1.0

    def _learned_ratio(self, ratio: float) -> dict[str, Any]:
        return {}

    def _folds(self, rows: Source, params: dict[str, Any]) -> list[Fold]:
        """Return the weights of all rows in the training and the test set of each fold."""
        from sklearn import get_config
        from sklearn.model_selection import check_cv

        if get_config()["enable_metadata_routing"]:
            params = process_routing(self, "fit", **params).splitter.split
        weight = 1.0 if rows.sample_weight is None else np.asarray(rows.sample_weight)
        found = []
        for number, parts in enumerate(check_cv(self.cv).split(np.zeros((rows.n_rows, 1)), rows.y, **params)):
            counts = [np.bincount(np.arange(rows.n_rows)[part], minlength=rows.n_rows) for part in parts]
            train, test = (np.asarray(count * weight, dtype=np.float64) for count in counts)
            if not (train.any() and test.any()):
                which = "test" if train.any() else "training"
                raise ValueError(f"Fold {number} has no {which} rows with a weight: use fewer folds.")
            found.append((train, test))
        return found

    def _grids(self, rows: Source, ratios: list[float], kept: Checkpoint) -> Floats:
        """Return the penalties to try, (n_ratios, n_alphas)."""
        known = kept.recall("grids")
        if known is not None:
            return known["alphas"]
        data = penalised_data(rows, intercept=self.fit_intercept, n_jobs=self.n_jobs, kept=kept)
        grids = [check_alphas(self.alphas, self.eps, data, ratio, self.positive) for ratio in ratios]
        kept.note("grids", alphas=grids)
        return np.array(grids)

    def _errors(
        self, rows: Source, folds: list[Fold], ratios: list[float], alphas: Floats, kept: Checkpoint
    ) -> Floats:
        """Return the mean squared errors on test rows, (n_ratios, n_folds, n_alphas)."""
        stopped: list[float] = []
        with track("choosing a penalty", total=len(folds), verbose=self.verbose) as bar:

            def score(number: int) -> Floats:
                known = kept.recall(f"fold {number}")
                if known is None:
                    known = score_anew(folds[number])
                    kept.note(f"fold {number}", **known)
                stopped.extend(np.asarray(known["gaps"]).tolist())
                bar.advance()
                return np.asarray(known["errors"])

            def score_anew(fold: Fold) -> dict[str, Any]:
                train, test = copy(rows), copy(rows)
                train.sample_weight, test.sample_weight = fold
                data = penalised_data(train, intercept=self.fit_intercept, n_jobs=self.n_jobs)
                errors, gaps = [], []
                for ratio, falling in zip(ratios, alphas, strict=True):
                    found = list(
                        penalised_path(
                            data, falling, l1_ratio=ratio, positive=self.positive, tol=self.tol,
                            max_iter=self.max_iter,
                        )
                    )  # fmt: skip
                    gaps += open_gaps(found)
                    coefs: Any = np.array([solved.coef for solved in found]).T
                    offsets = np.array([solved.intercept for solved in found])
                    if isinstance(rows, SparseSource):
                        from scipy.sparse import csr_array

                        coefs = csr_array(coefs)
                    total = map_reduce(block_test_squares, test, coefs, offsets, n_jobs=self.n_jobs)
                    errors.append(total.squares / fold[1].sum())
                return {"errors": np.array(errors), "gaps": np.array(gaps)}

            few = rows.n_rows * rows.n_features**2 <= _FEW_PRODUCTS
            errors = np.stack(
                parallel(score, range(len(folds)), n_jobs=1 if few or rows.executor else self.n_jobs),
                axis=1,
            )
        warn_of_gaps(f"{type(self).__name__} on a fold", stopped, self.max_iter, self.tol)
        return errors

    def get_metadata_routing(self) -> MetadataRouter:
        """Say where metadata go: weights to `fit`, what the splitter wants to its `split`."""
        from sklearn.model_selection import check_cv

        return (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(splitter=check_cv(self.cv), method_mapping=MethodMapping().add(caller="fit", callee="split"))
        )


def block_test_squares(block: Block, coefs: Any, offsets: Floats) -> Squares:
    """Make the weighted sums of squared errors of every penalty on the rows of one block that have a weight."""
    weights = block.weights
    tested = np.flatnonzero(weights)
    predicted = block.X[tested] @ coefs
    predicted = predicted.toarray() if hasattr(predicted, "toarray") else predicted
    residual = predicted + offsets - block.targets[tested]
    return Squares(weights[tested] @ np.square(residual))


class Chosen(NamedTuple):
    """A penalty of each kind: that with the least error, and the largest whose error is about as small."""

    ratio: int
    alpha_min: float
    alpha_one_standard_error: float


def choose(errors: Floats, alphas: Floats) -> Chosen:
    """Choose among penalties by the errors of folds.

    Parameters
    ----------
    errors : (n_ratios, n_folds, n_alphas)
    alphas : (n_ratios, n_alphas), falling
    """
    mean = errors.mean(axis=1)
    ratio, best = (int(place) for place in np.unravel_index(np.argmin(mean), mean.shape))
    n_folds = errors.shape[1]
    spread = errors[ratio, :, best].std(ddof=1) / np.sqrt(n_folds) if n_folds > 1 else 0.0
    near = int(np.argmax(mean[ratio] <= mean[ratio, best] + spread))
    return Chosen(ratio, float(alphas[ratio, best]), float(alphas[ratio, near]))


class LassoCV(_ChoosesPenalty):
    """The lasso, with its penalty chosen by cross-validation.

    For each fold the path of all penalties is fitted to the other rows and tried on it, without copying X.

    Parameters
    ----------
    eps : float, default=1e-3
        The smallest penalty of the grid as a share of the largest.
    alphas : int or array, default=100
        How many penalties to try, from the smallest that sets all coefficients to zero down to `eps` times it; or
        which.
    fit_intercept, precompute, max_iter, tol, copy_X, positive, random_state, selection
        As for `ElasticNet`.
    cv : int, splitter or iterable, default=None
        Folds; five by default.
    verbose : bool or int, default=False
        Whether to show a progress bar.
    n_jobs : int, default=None
        Number of threads; None means all cores allowed here, one inside a joblib worker. The result is the
        same, bit for bit, for any number.
    rule : {"min", "one-standard-error"}, default="min"
        Whether to choose the penalty with the least mean error, or the largest penalty whose mean error is at most
        one standard error above it: a simpler model that is about as good.
    checkpoint : str or path, default=None
        A file in which a long fit keeps what it has reached, every few seconds. If the fit is interrupted, even
        killed, the same call goes on from there, to the same result bit for bit; other data or parameters are
        refused. The file is removed when the fit ends. It holds the products of every two features (of
        narrow or tall data), and the errors of every fold that is done. Folds that are drawn by chance need a seed
        to be the same again.

    Attributes
    ----------
    alpha_ : float
        The penalty chosen.
    alpha_min_, alpha_one_standard_error_ : float
        What each rule chooses.
    alphas_ : array of shape (n_alphas,)
        The grid, falling.
    mse_path_ : array of shape (n_alphas, n_folds)
        Mean squared errors on the folds.
    coef_, intercept_, dual_gap_, n_iter_, n_features_in_, feature_names_in_
        As of `ElasticNet`, fitted to all rows.

    Examples
    --------
    >>> from bisector import datasets
    >>> from bisector import LassoCV
    >>> X, y = datasets.diabetes(scaled=True)
    >>> model = LassoCV().fit(X, y)
    >>> int((model.coef_ != 0).sum())
    9
    >>> simple = LassoCV(rule="one-standard-error").fit(X, y)
    >>> int((simple.coef_ != 0).sum())
    6
    """

    def __init__(
        self,
        *,
        eps: float = 1e-3,
        alphas: int | ArrayLike = 100,
        fit_intercept: bool = True,
        precompute: bool | str | ArrayLike = "auto",
        max_iter: int = 1000,
        tol: float = 1e-4,
        copy_X: bool = True,
        cv: Any = None,
        verbose: bool | int = False,
        n_jobs: int | None = None,
        positive: bool = False,
        random_state: Any = None,
        selection: Literal["cyclic", "random"] = "cyclic",
        rule: Literal["min", "one-standard-error"] = "min",
        checkpoint: Any = None,
    ) -> None:
        self.eps = eps
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.tol = tol
        self.copy_X = copy_X
        self.cv = cv
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.positive = positive
        self.random_state = random_state
        self.selection = selection
        self.rule = rule
        self.checkpoint = checkpoint

    path = staticmethod(lasso_path)


class ElasticNetCV(_ChoosesPenalty):
    """The elastic net, with its penalty, and the mix of its two kinds, chosen by cross-validation.

    Parameters
    ----------
    l1_ratio : float or list of float, default=0.5
        Shares of the lasso's penalty to try.
    eps, alphas, fit_intercept, precompute, max_iter, tol, cv, copy_X, verbose, n_jobs, positive, random_state, \
selection, rule, checkpoint
        As for `LassoCV`. The rule of one standard error keeps the mix that has the least mean error.

    Attributes
    ----------
    l1_ratio_ : float
        The mix chosen.
    alpha_, alpha_min_, alpha_one_standard_error_ : float
        As of `LassoCV`.
    alphas_ : array of shape (n_alphas,) or (n_l1_ratios, n_alphas)
        The grids, falling.
    mse_path_ : array of shape (n_alphas, n_folds) or (n_l1_ratios, n_alphas, n_folds)
    coef_, intercept_, dual_gap_, n_iter_, n_features_in_, feature_names_in_
        As of `ElasticNet`, fitted to all rows.

    Examples
    --------
    >>> from bisector import datasets
    >>> from bisector import ElasticNetCV
    >>> X, y = datasets.diabetes(scaled=True)
    >>> ElasticNetCV(l1_ratio=[0.1, 0.9]).fit(X, y).l1_ratio_
    0.9
    """

    def __init__(
        self,
        *,
        l1_ratio: float | Sequence[float] = 0.5,
        eps: float = 1e-3,
        alphas: int | ArrayLike = 100,
        fit_intercept: bool = True,
        precompute: bool | str | ArrayLike = "auto",
        max_iter: int = 1000,
        tol: float = 1e-4,
        cv: Any = None,
        copy_X: bool = True,
        verbose: bool | int = 0,
        n_jobs: int | None = None,
        positive: bool = False,
        random_state: Any = None,
        selection: Literal["cyclic", "random"] = "cyclic",
        rule: Literal["min", "one-standard-error"] = "min",
        checkpoint: Any = None,
    ) -> None:
        self.l1_ratio = l1_ratio
        self.eps = eps
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.tol = tol
        self.cv = cv
        self.copy_X = copy_X
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.positive = positive
        self.random_state = random_state
        self.selection = selection
        self.rule = rule
        self.checkpoint = checkpoint

    path = staticmethod(enet_path)

    def _l1_ratios(self) -> Any:
        return self.l1_ratio

    def _learned_ratio(self, ratio: float) -> dict[str, Any]:
        return {"l1_ratio_": ratio}
