"""The number of neighbours, chosen by cross-validation: every k from one search."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, column_or_1d

from bisector.distances.distance import Distance
from bisector.distances.estimator_input import check_items, tell_input_tags
from bisector.distances.names import resolve
from bisector.engine.explanation import Explanation
from bisector.engine.items import picked
from bisector.engine.lazy_rows import by_rows
from bisector.engine.targets import check_labels, check_numbers
from bisector.engine.validation import blank, check_count, store
from bisector.engine.values import HoldsValues
from bisector.measures.error_bounds import ErrorBounds
from bisector.neighbors.k_neighbors import KNeighborsClassifier, KNeighborsRegressor
from bisector.neighbors.kept_rows import Floats, Found, Integers
from bisector.neighbors.votes import Weights, check_vote_weights, class_shares, mean, votes
from bisector.search.choose import build_index
from bisector.solvers.neighbor_votes import errors_of_every_k, losses_of_every_k

# By default every k up to this many is tried.
_MANY = 200


class _ChoosesK(HoldsValues, BaseEstimator):
    """What choosing k for a vote and for an average share."""

    best_estimator_: Any

    def __init__(
        self,
        k_max: int | None = None,
        *,
        cv: Any = "loo",
        weights: Weights | list[Weights] = "uniform",
        algorithm: str = "auto",
        leaf_size: int = 30,
        p: float = 2,
        metric: Any = "minkowski",
        metric_params: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.k_max = k_max
        self.cv = cv
        self.weights = weights
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.metric = metric
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any) -> Self:
        """Score every k, choose the best, and keep all rows for it.

        Parameters
        ----------
        X : rows
            What the metric compares.
        y : array of shape (n_rows,)

        Returns
        -------
        self
        """
        metrics = self.metric if isinstance(self.metric, list) else [self.metric]
        weightings = self.weights if isinstance(self.weights, list) else [self.weights]
        for weights in weightings:
            check_vote_weights(weights)
        distances = [resolve(m, p=self.p, metric_params=self.metric_params) for m in metrics]
        stand_in = blank(self)
        items = check_items(stand_in, X, distances[0], reset=True)
        n_rows = items.shape[0] if hasattr(items, "shape") else len(items)
        targets, n_classes = self._targets(y, n_rows)
        splits = self._splits(n_rows, y)
        k_max = self._largest_k(splits, n_rows)
        losses = np.zeros((len(distances), len(weightings), k_max))
        squares = np.zeros_like(losses)
        for m, distance in enumerate(distances):
            for found, neighbours, truths in self._searched(
                items, targets, distance.learned(items), splits, k_max
            ):
                for w, weights in enumerate(weightings):
                    loss, square = self._losses(found, weights, neighbours, truths, n_classes, k_max)
                    losses[m, w] += loss
                    squares[m, w] += square
        errors = losses / n_rows
        spread = np.sqrt(np.maximum(squares / n_rows - errors**2, 0.0) / n_rows)
        m, w, k = map(int, np.unravel_index(np.argmin(errors), errors.shape))
        best = self._model(k + 1, weightings[w], distances[m]).fit(items, y)
        return store(
            self,
            stand_in,
            best_estimator_=best,
            best_k_=k + 1,
            best_weights_=weightings[w],
            best_metric_=best.metric_,
            best_error_=float(errors[m, w, k]),
            error_curve_=errors[m, w],
            error_curve_std_=spread[m, w],
            errors_=errors,
            k_values_=np.arange(1, k_max + 1),
            **self._learned(best),
        )

    @by_rows
    def predict(self, X: Any) -> NDArray[Any]:
        """Predict with the chosen k."""
        check_is_fitted(self)
        return self.best_estimator_.predict(check_items(self, X, self.best_metric_, reset=False))

    def explain_rows(self, X: Any) -> list[Explanation]:
        """Say why each row is answered as it is, by its neighbours: as the best estimator explains it."""
        check_is_fitted(self)
        items = check_items(self, X, self.best_metric_, reset=False)
        explained: list[Explanation] = self.best_estimator_.explain_rows(items)
        return explained

    def kneighbors(self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True) -> Any:
        """Find the nearest training rows, by default the chosen number of them; as `KNeighborsClassifier` does."""
        check_is_fitted(self)
        return self.best_estimator_.kneighbors(X, n_neighbors, return_distance)

    def _splits(self, n_rows: int, y: Any) -> list[tuple[Integers, Integers]] | None:
        """Return training and test rows of each fold; None to leave out each row by itself."""
        if isinstance(self.cv, str):
            if self.cv != "loo":
                raise ValueError(f'cv must be "loo", a number of folds or a splitter, not {self.cv!r}.')
            return None
        from sklearn.model_selection import check_cv

        folds = check_cv(self.cv, y, classifier=isinstance(self, ClassifierMixin))
        return list(folds.split(np.zeros((n_rows, 1)), y))

    def _largest_k(self, splits: list[tuple[Integers, Integers]] | None, n_rows: int) -> int:
        fewest = n_rows - 1 if splits is None else min(len(train) for train, _ in splits)
        if fewest < 1:
            raise ValueError("Choosing k takes at least 2 rows: with 1 sample there is nothing to leave out.")
        if self.k_max is None:
            return min(_MANY, fewest)
        if check_count("k_max", self.k_max) > fewest:
            raise ValueError(
                f"k_max is {self.k_max}, but only {fewest} rows are left to choose neighbours from."
            )
        return self.k_max

    def _searched(
        self,
        items: Any,
        targets: NDArray[Any],
        distance: Distance,
        splits: list[tuple[Integers, Integers]] | None,
        k: int,
    ) -> Iterator[tuple[Found, NDArray[Any], NDArray[Any]]]:
        """Find the k nearest training rows of test rows; give also the targets of both."""
        if splits is None:
            model = self._model(k, "uniform", distance)
            index = build_index(items, distance, algorithm=self.algorithm, leaf_size=self.leaf_size)
            model._index = index
            near, positions = model._k_nearest(None, k)
            yield _as_found(near, positions), targets, targets
            return
        for train, test in splits:
            index = build_index(
                picked(items, train), distance, algorithm=self.algorithm, leaf_size=self.leaf_size
            )
            near, positions = index.query(picked(items, test), k, n_jobs=self.n_jobs)
            yield _as_found(near, positions), targets[train], targets[test]

    def _model(self, k: int, weights: Any, distance: Distance) -> Any:
        return self._kind(
            k,
            weights=weights,
            algorithm=self.algorithm,
            leaf_size=self.leaf_size,
            metric=distance,
            n_jobs=self.n_jobs,
        )

    def _learned(self, best: Any) -> dict[str, Any]:
        return {}

    _kind: Any

    @abstractmethod
    def _targets(self, y: Any, n_rows: int) -> tuple[NDArray[Any], int]: ...

    @abstractmethod
    def _losses(
        self,
        found: Found,
        weights: Any,
        neighbours: NDArray[Any],
        truths: NDArray[Any],
        n_classes: int,
        k_max: int,
    ) -> tuple[Floats, Floats]: ...

    def __sklearn_tags__(self) -> Tags:
        metric = self.metric[0] if isinstance(self.metric, list) and self.metric else self.metric
        return tell_input_tags(super().__sklearn_tags__(), metric)


class KNeighborsClassifierCV(ClassifierMixin, _ChoosesK):
    """k nearest neighbours, with k chosen by cross-validation.

    All k are scored from one search for the neighbours of each row: leave-one-out over 200 values of k costs little
    more than finding 200 neighbours.

    Parameters
    ----------
    k_max : int, default=None
        The largest k to try; by default 200, or as many as there are rows to choose from.
    cv : "loo", int or splitter, default="loo"
        Leave out each row by itself, or folds.
    weights : {"uniform", "distance"}, bump or callable, or a list of these, default="uniform"
        What to try. Bumps and functions cost a vote for each k.
    algorithm, leaf_size, p
        As for `KNeighborsClassifier`.
    metric : str, Distance or callable, or a list of these, default="minkowski"
        What to try.
    metric_params, n_jobs
        As for `KNeighborsClassifier`.

    Attributes
    ----------
    best_k_, best_weights_, best_metric_
        What errs least; of equals, the first, and the smallest k.
    best_error_ : float
        Its share of errors, which is optimistic for having been chosen.
    error_curve_, error_curve_std_ : array of shape (k_max,)
        Its errors for every k, and their standard errors.
    errors_ : array of shape (n_metrics, n_weights, k_max)
        Those of everything tried.
    k_values_ : array
        1 to k_max.
    best_estimator_ : KNeighborsClassifier
        Fitted on all rows.
    classes_ : array

    Examples
    --------
    >>> from bisector import KNeighborsClassifierCV, datasets
    >>> X, y = datasets.iris()
    >>> model = KNeighborsClassifierCV().fit(X, y)
    >>> model.best_k_, round(model.best_error_, 3)
    (19, 0.02)
    """

    _instead_of_gathering = "choose k on a sample of the rows, and fit KNeighborsClassifier with it"

    _kind = KNeighborsClassifier

    @by_rows
    def predict_proba(self, X: Any) -> Floats:
        """Return the share of the votes for each class, with the chosen k."""
        check_is_fitted(self)
        return self.best_estimator_.predict_proba(check_items(self, X, self.best_metric_, reset=False))

    def error_bounds(self, level: float = 0.95) -> ErrorBounds:
        """Bound the error of the best classifier possible; see `KNeighborsClassifier.error_bounds`."""
        check_is_fitted(self)
        return self.best_estimator_.error_bounds(level)

    def _targets(self, y: Any, n_rows: int) -> tuple[Integers, int]:
        labels = check_labels(self, y, n_rows)
        if not labels.single:
            raise ValueError("KNeighborsClassifierCV takes one label a row: fit one model an output.")
        return labels.codes[:, 0], len(labels.classes[0])

    def _learned(self, best: Any) -> dict[str, Any]:
        return {"classes_": best.classes_}

    def _losses(
        self,
        found: Found,
        weights: Any,
        neighbours: NDArray[Any],
        truths: NDArray[Any],
        n_classes: int,
        k_max: int,
    ) -> tuple[Floats, Floats]:
        if isinstance(weights, str) or weights is None:
            shape = (len(truths), k_max)
            codes = neighbours[found.positions].reshape(shape)
            errors = errors_of_every_k(codes, votes(found, weights).reshape(shape), truths, n_classes)
        else:  # votes that depend on k
            errors = np.empty(k_max, dtype=np.int64)
            for k in range(1, k_max + 1):
                first = _first(found, k)
                shares = class_shares(first, votes(first, weights), neighbours, n_classes)
                errors[k - 1] = (shares.argmax(axis=1) != truths).sum()
        return errors.astype(np.float64), errors.astype(np.float64)


class KNeighborsRegressorCV(RegressorMixin, _ChoosesK):
    """The mean of k nearest neighbours, with k chosen by cross-validation.

    All k are scored from one search for the neighbours of each row.

    Parameters
    ----------
    k_max, cv, weights, algorithm, leaf_size, p, metric, metric_params, n_jobs
        As for `KNeighborsClassifierCV`.

    Attributes
    ----------
    best_k_, best_weights_, best_metric_
        What has the least mean squared error; of equals, the first, and the smallest k.
    best_error_ : float
        Its mean squared error, which is optimistic for having been chosen.
    error_curve_, error_curve_std_ : array of shape (k_max,)
        Its errors for every k, and their standard errors.
    errors_ : array of shape (n_metrics, n_weights, k_max)
    k_values_ : array
    best_estimator_ : KNeighborsRegressor

    Examples
    --------
    >>> from bisector import KNeighborsRegressorCV, datasets
    >>> X, y = datasets.diabetes(scaled=True)
    >>> KNeighborsRegressorCV().fit(X, y).best_k_
    18
    """

    _instead_of_gathering = "choose k on a sample of the rows, and fit KNeighborsRegressor with it"

    _kind = KNeighborsRegressor

    def _targets(self, y: Any, n_rows: int) -> tuple[Floats, int]:
        targets = check_numbers(self, y, n_rows)
        if not targets.single:
            if targets.values.shape[1] > 1:
                raise ValueError("KNeighborsRegressorCV takes one target a row: fit one model a target.")
            column_or_1d(y, warn=True)
        return targets.values[:, 0], 0

    def _losses(
        self,
        found: Found,
        weights: Any,
        neighbours: NDArray[Any],
        truths: NDArray[Any],
        n_classes: int,
        k_max: int,
    ) -> tuple[Floats, Floats]:
        if isinstance(weights, str) or weights is None:
            shape = (len(truths), k_max)
            return losses_of_every_k(
                neighbours[found.positions].reshape(shape), votes(found, weights).reshape(shape), truths
            )
        losses, squares = np.empty(k_max), np.empty(k_max)
        for k in range(1, k_max + 1):  # votes that depend on k
            first = _first(found, k)
            error = mean(first, votes(first, weights), neighbours[:, None])[:, 0] - truths
            losses[k - 1], squares[k - 1] = (error**2).sum(), (error**4).sum()
        return losses, squares


def _as_found(distances: Floats, positions: Integers) -> Found:
    starts = np.arange(0, positions.size + 1, positions.shape[1])
    return Found(starts, positions.ravel(), distances.ravel(), None)


def _first(found: Found, k: int) -> Found:
    """Return the k nearest of the neighbours found, of which all queries have equally many."""
    n_queries = len(found.starts) - 1
    distances = found.distances.reshape(n_queries, -1)[:, :k]
    return _as_found(distances, found.positions.reshape(n_queries, -1)[:, :k])
