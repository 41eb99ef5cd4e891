"""Scores of penalties: of rows left out one at a time, and of folds."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin

from bisector.engine.blocks import as_columns
from bisector.engine.sources import Source, source
from bisector.linear.ridge import Ridge
from bisector.solvers.ridge import prepare
from bisector.solvers.ridge_path import LeftOut, spectrum_of
from bisector.solvers.tikhonov import Tikhonov

Floats = NDArray[np.floating[Any]]


class _Given(RegressorMixin, BaseEstimator):
    """Stands for the model in the eyes of a scorer: what it would predict is handed over as X."""

    def fit(self, X: Any, y: Any) -> Self:
        return self

    def predict(self, X: Any) -> Any:
        return X

    def __sklearn_is_fitted__(self) -> bool:
        return True


def scorer_of(estimator: Any, scoring: Any) -> Callable[..., Any]:
    """Return the function of model, X and y that scikit-learn takes `scoring` for."""
    from sklearn.metrics import check_scoring

    made: Callable[..., Any] = check_scoring(estimator, scoring=scoring)
    return made


def _score(scorer: Callable[..., Any], model: Any, X: Any, y: Any, weight: Any) -> float:
    """Score with the rows' weights, unless it is a function that takes none."""
    if weight is None:
        return float(scorer(model, X, y))
    try:
        return float(scorer(model, X, y, sample_weight=weight))
    except TypeError:
        return float(scorer(model, X, y))


def scores_left_out(
    left_out: LeftOut, rows: Source, scorer: Callable[..., Any] | None, per_target: bool
) -> NDArray[np.float64]:
    """Return the score of every alpha, (n_alphas,) or (n_alphas, n_targets)."""
    if not np.isfinite(left_out.errors).any():
        raise ValueError(
            "Some row alone decides its own prediction, so that leaving it out tells nothing: give larger alphas, "
            "divide the features by their spread, or use cv=5."
        )
    if scorer is None:
        return -left_out.errors.T if per_target else -left_out.errors.mean(axis=0)
    residuals = left_out.residuals
    assert residuals is not None
    Y = _targets(rows)
    predicted = Y[:, :, None] - residuals

    def score(of: NDArray[np.float64], truth: NDArray[np.float64]) -> float:
        return _score(scorer, _Given(), of, truth, rows.sample_weight)

    n_alphas = predicted.shape[2]
    if per_target:
        return np.array(
            [[score(predicted[:, t, a], Y[:, t]) for t in range(Y.shape[1])] for a in range(n_alphas)]
        )
    if rows.single_target:
        return np.array([score(predicted[:, 0, a], Y[:, 0]) for a in range(n_alphas)])
    return np.array([score(predicted[:, :, a], Y) for a in range(n_alphas)])


def best_alpha(scores: NDArray[np.float64], left_out: bool) -> NDArray[np.int64]:
    """Return the number of the best alpha, or of each target's best one; NaN is no score."""
    if np.isnan(scores).all(axis=0).any():
        where = "rows left out" if left_out else "folds"
        raise ValueError(f"The {where} have no score that is a number: change scoring or cv.")
    return np.asarray(np.nanargmax(scores, axis=0))


def kept_results(left_out: LeftOut, rows: Source, *, squared: bool) -> Floats:
    """Return the weighted squared error at each row left out, or what was predicted there, in the form of y."""
    residuals = left_out.residuals
    assert residuals is not None
    if squared:
        values = np.square(residuals)
        if rows.sample_weight is not None:
            values *= rows.sample_weight[:, None, None]
    else:
        values = _targets(rows)[:, :, None] - residuals
    return (values[:, 0] if rows.single_target else values).astype(rows.dtype, copy=False)


def _targets(rows: Source) -> NDArray[np.float64]:
    if rows.y is not None:
        return as_columns(np.asarray(rows.y), rows.n_rows)
    return np.concatenate([block.targets for block in rows.blocks()])


class Folds(NamedTuple):
    """Several rows left out at a time: one factorisation a fold."""

    rows: Source
    alphas: NDArray[np.float64]
    intercept: bool
    mode: Any
    scorer: Callable[..., Any] | None
    per_target: bool
    n_jobs: int | None

    def scores(self, cv: Any, groups: Any) -> NDArray[np.float64]:
        """Return the scores of every fold, (n_folds, n_alphas), or (n_folds, n_alphas, n_targets) per target."""
        from bisector.engine.progress import track

        folds = list(self._splits(cv, groups))
        if not folds:
            raise ValueError("cv holds no folds: give at least one pair of training and test rows.")
        with track("validating", total=len(folds)) as bar:
            scores = []
            for training, test in folds:
                scores.append(self._fold(training, test))
                bar.advance()
        return np.array(scores)

    def _splits(self, cv: Any, groups: Any) -> Iterable[tuple[Any, Any]]:
        from sklearn.model_selection import check_cv

        Y = _targets(self.rows)
        Y = Y[:, 0] if self.rows.single_target else Y
        splits: Iterator[tuple[Any, Any]] = check_cv(cv).split(np.zeros((self.rows.n_rows, 1)), Y, groups)
        return splits

    def _fold(self, training: Any, test: Any) -> NDArray[np.float64]:
        learned, asked = self._part(training), self._part(test)
        for part, name in ((learned, "training"), (asked, "test")):
            if part.sample_weight is not None and not part.sample_weight.any():
                raise ValueError(
                    f"A fold of cv has no {name} rows with a weight above zero: take fewer folds, shuffle the "
                    "rows, or leave rows without weight out."
                )
        design = prepare(
            learned, Tikhonov.plain(self.rows.n_features), intercept=self.intercept, n_jobs=self.n_jobs
        )
        spectrum = spectrum_of(design, float(self.alphas.min()), mode=self.mode, n_jobs=self.n_jobs)
        coef, offset = spectrum.coefficients(self.alphas)
        if self.scorer is not None:
            return np.array([self._scored(one, a, asked) for one, a in zip(coef, offset, strict=True)])
        X, Y = asked.take(np.arange(asked.n_rows)), _targets(asked)
        predicted = np.asarray(X @ coef.transpose(1, 0, 2).reshape(self.rows.n_features, -1))
        predicted = predicted.reshape(len(Y), len(self.alphas), -1) + offset
        scores = r2(Y[:, None], predicted, asked.sample_weight)
        return scores if self.per_target else scores.mean(axis=1)

    def _part(self, numbers: Any) -> Source:
        rows = self.rows
        part = source(rows.take(numbers), _targets(rows)[numbers])
        if rows.single_target:
            part.y = part.y[:, 0]
        if rows.sample_weight is not None:
            part.sample_weight = rows.sample_weight[numbers]
        return part

    def _scored(self, coef: NDArray[np.float64], offset: NDArray[np.float64], asked: Source) -> Any:
        """Let the scorer see a fitted model, of all targets or of each."""
        assert self.scorer is not None
        X, Y = asked.take(np.arange(asked.n_rows)), _targets(asked)
        if self.per_target or asked.single_target:
            scores = [
                _score(self.scorer, _fitted(w, float(a)), X, y, asked.sample_weight)
                for w, a, y in zip(coef.T, offset, Y.T, strict=True)
            ]
            return scores if self.per_target else scores[0]
        return _score(self.scorer, _fitted(coef.T, offset), X, Y, asked.sample_weight)


def _fitted(coef: NDArray[np.float64], intercept: Any) -> Ridge:
    """Return a model with these coefficients."""
    model = Ridge()
    model.coef_, model.intercept_, model.n_features_in_ = coef, intercept, coef.shape[-1]
    return model


def r2(
    truth: NDArray[np.float64], predicted: NDArray[np.float64], weight: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """Return R² for every alpha and target; arrays are (rows, alphas, targets)."""
    share = np.full(len(truth), 1.0) if weight is None else weight
    total = share.sum()
    left = np.einsum("n,nat->at", share, np.square(truth - predicted))
    mean = np.einsum("n,nat->at", share, truth) / total
    spread = np.einsum("n,nat->at", share, np.square(truth - mean))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(spread > 0, 1 - left / spread, np.where(left > 0, 0.0, 1.0))
