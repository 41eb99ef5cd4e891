"""All neighbours within a radius vote, or are averaged (the r-nearest rule of LFD 6.3)."""

import warnings
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, MultiOutputMixin, RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from bisector.engine.explanation import Explanation
from bisector.engine.lazy_rows import by_rows, promised
from bisector.engine.sources import is_collection
from bisector.engine.targets import Labels, check_labels, check_numbers
from bisector.engine.validation import check_choice, check_weights, store
from bisector.neighbors.kept_rows import FindsWithin, Floats, Found
from bisector.neighbors.votes import (
    Aggregate,
    Weights,
    aggregated,
    check_aggregate,
    check_vote_weights,
    class_shares,
    votes,
)


class _RadiusNeighbors(FindsWithin):
    """What voting and averaging within a radius share."""

    _instead_of_gathering = "use KNeighborsClassifier or KNeighborsRegressor, or fit a sample of the rows"
    weights: Any
    _sample_weight: Floats | None

    def _keep_weighted(self, X: Any, sample_weight: ArrayLike | None) -> tuple[Any, dict[str, Any]]:
        check_vote_weights(self.weights)
        stand_in, learned = self._keep(X)
        weights = check_weights(sample_weight, len(learned["_index"]))
        radius = self.radius
        if isinstance(radius, str):
            check_choice("radius", radius, ("rule",))
            radius = radius_by_rule(learned["_index"].rows)
        return stand_in, learned | {"_sample_weight": weights, "radius_": radius}

    def _radius(self) -> float:
        return super()._radius() if not isinstance(self.radius, str) else self.radius_

    def _found(self, X: Any) -> Found:
        check_is_fitted(self)
        found = self._near(None if X is None else self._queries(X))
        if self._sample_weight is None:
            return found
        counts = self._sample_weight[found.positions]
        return found._replace(counts=counts).only(counts > 0)  # a row without weight is as if absent


def radius_by_rule(rows: Any) -> float:
    """Return N^(−1/(2d)) in units of the data: times the root mean square of the features' standard deviations."""
    values = getattr(rows, "values", None)
    if values is None or hasattr(values, "tocsr"):
        raise ValueError("radius='rule' needs dense rows of numbers: give a radius instead.")
    n, d = values.shape
    scale = float(np.sqrt(np.mean(np.var(np.asarray(values, dtype=np.float64), axis=0))))
    return n ** (-1 / (2 * d)) * (scale or 1.0)


class RadiusNeighborsClassifier(ClassifierMixin, _RadiusNeighbors):
    """All training rows within a radius vote on the class of a query.

    Parameters
    ----------
    radius : float or "rule", default=1.0
        "rule" takes N^(−1/(2d)) for N rows of d features, in units of their spread (the root mean square of the
        standard deviations), a width at which the vote converges as N grows.
    weights : {"uniform", "distance"}, bump or callable, default="uniform"
    algorithm, leaf_size, p, metric
        As for `KNeighborsClassifier`.
    outlier_label : label, list of labels, "most_frequent" or None, default=None
        What a query without neighbours gets; None makes it an error.
    metric_params, n_jobs
        As for `KNeighborsClassifier`.

    Attributes
    ----------
    classes_ : array, or list of arrays for several outputs
    radius_ : float
    index_ : Index
    metric_ : Distance
    outlier_label_ : list of labels

    Examples
    --------
    >>> from bisector import RadiusNeighborsClassifier
    >>> model = RadiusNeighborsClassifier(radius=1.0).fit([[0], [1], [2], [3]], [0, 0, 1, 1])
    >>> model.predict([[1.5], [0.2]])
    array([0, 0])
    """

    def __init__(
        self,
        radius: Any = 1.0,
        *,
        weights: Weights = "uniform",
        algorithm: str = "auto",
        leaf_size: int = 30,
        p: float = 2,
        metric: Any = "minkowski",
        outlier_label: Any = None,
        metric_params: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.radius = radius
        self.weights = weights
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.metric = metric
        self.outlier_label = outlier_label
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Keep the training rows and their labels.

        Parameters
        ----------
        X : rows
        y : array of shape (n_rows,) or (n_rows, n_outputs)
        sample_weight : array of shape (n_rows,), default=None

        Returns
        -------
        self
        """
        stand_in, learned = self._keep_weighted(X, sample_weight)
        labels = check_labels(self, y, len(learned["_index"]))
        return store(
            self,
            stand_in,
            **learned,
            _labels=labels,
            classes_=labels.classes[0] if labels.single else labels.classes,
            outputs_2d_=not labels.single,
            outlier_label_=_outlier_labels(self.outlier_label, labels),
        )

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class with most votes, for every row of X."""
        if is_collection(X):  # the row of ones may have no neighbours, and no answer
            return promised(type(self).predict, self, X, example=_first_labels)
        found = self._found(X)
        lonely = self._without_neighbours(found)
        vote = votes(found, self.weights)
        columns = []
        for j, classes in enumerate(self._labels.classes):
            shares = class_shares(found, vote, self._labels.codes[:, j], len(classes))
            chosen = classes[np.argmax(shares, axis=1)]
            if lonely.any():
                label = self.outlier_label_[j]
                chosen = chosen.astype(np.result_type(chosen.dtype, np.asarray(label).dtype))
                chosen[lonely] = label
            columns.append(chosen)
        return columns[0] if self._labels.single else np.stack(columns, axis=1)

    def predict_proba(self, X: Any) -> Any:
        """Return the share of the votes for each class; zeros where an outlier's label is none of them."""
        if is_collection(X):
            return promised(type(self).predict_proba, self, X, example=_no_shares)
        found = self._found(X)
        lonely = self._without_neighbours(found)
        vote = votes(found, self.weights)
        columns = []
        for j, classes in enumerate(self._labels.classes):
            shares = class_shares(found, vote, self._labels.codes[:, j], len(classes))
            if lonely.any():
                is_label = classes == self.outlier_label_[j]
                if not is_label.any():
                    warnings.warn(
                        f"Outlier label {self.outlier_label_[j]} is not in training classes: all class "
                        "probabilities of outliers will be zero.",
                        UserWarning,
                        stacklevel=2,
                    )
                shares[lonely] = is_label
            columns.append(shares)
        return columns[0] if self._labels.single else columns

    def explain_rows(self, X: Any) -> list[Explanation]:
        """Say why each row is of its class: its neighbours, how near they are, and how each votes.

        Parameters
        ----------
        X : rows, as for `predict`

        Returns
        -------
        list of Explanation
            The account adds up to the probability of the predicted class. A row without neighbours has the label
            for outliers, and no part.
        """
        from bisector.neighbors.neighbor_reasons import explain_votes

        answers, found = self.predict(X), self._found(X)
        return explain_votes(found, votes(found, self.weights), self._labels, answers)

    def _without_neighbours(self, found: Found) -> NDArray[np.bool_]:
        lonely = np.diff(found.starts) == 0
        if lonely.any() and self.outlier_label_ is None:
            raise ValueError(
                f"No neighbors found for test samples {np.flatnonzero(lonely)[:10].tolist()}, so nothing votes on "
                "their class: use a larger radius, give a label for outliers (outlier_label), or leave them out."
            )
        return lonely

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


def _first_labels(model: RadiusNeighborsClassifier, sample: Any) -> NDArray[Any]:
    """Return an answer for one row."""
    model._queries(sample)
    return model._labels.decoded(np.zeros((1, len(model._labels.classes)), dtype=np.int64))


def _no_shares(model: RadiusNeighborsClassifier, sample: Any) -> Any:
    """Return probabilities for one row."""
    model._queries(sample)
    shares = [np.zeros((1, len(classes))) for classes in model._labels.classes]
    return shares[0] if model._labels.single else shares


def _outlier_labels(outlier_label: Any, labels: Labels) -> list[Any] | None:
    """Return the label that outliers get, for each output; None if they are an error."""
    if outlier_label is None:
        return None
    if isinstance(outlier_label, str) and outlier_label == "most_frequent":
        return [
            classes[np.bincount(labels.codes[:, j], minlength=len(classes)).argmax()]
            for j, classes in enumerate(labels.classes)
        ]
    given = list(outlier_label) if isinstance(outlier_label, list | tuple | np.ndarray) else None
    if given is not None and len(given) != len(labels.classes):
        raise ValueError(
            f"There are {len(given)} labels for outliers, but {len(labels.classes)} outputs: give one for each."
        )
    wanted = [outlier_label] * len(labels.classes) if given is None else given
    for label, classes in zip(wanted, labels.classes, strict=True):
        if np.ndim(label) or not np.can_cast(np.asarray(label).dtype, classes.dtype, casting="same_kind"):
            raise TypeError(
                f"outlier_label {label!r} is not of the type of the labels, {classes.dtype}: give one that is."
            )
    return wanted


class RadiusNeighborsRegressor(MultiOutputMixin, RegressorMixin, _RadiusNeighbors):
    """The targets of all training rows within a radius are averaged.

    Parameters
    ----------
    radius : float or "rule", default=1.0
        As for `RadiusNeighborsClassifier`.
    weights, algorithm, leaf_size, p, metric, metric_params, n_jobs
        As for `KNeighborsRegressor`.
    aggregate : {"mean", "median"} or callable, default="mean"

    Attributes
    ----------
    radius_ : float
    index_ : Index
    metric_ : Distance

    Examples
    --------
    >>> from bisector import RadiusNeighborsRegressor
    >>> RadiusNeighborsRegressor(radius=1.0).fit([[0], [1], [2], [3]], [0, 0, 1, 1]).predict([[1.5]])
    array([0.5])
    """

    def __init__(
        self,
        radius: Any = 1.0,
        *,
        weights: Weights = "uniform",
        algorithm: str = "auto",
        leaf_size: int = 30,
        p: float = 2,
        metric: Any = "minkowski",
        metric_params: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
        aggregate: Aggregate = "mean",
    ) -> None:
        self.radius = radius
        self.weights = weights
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.metric = metric
        self.metric_params = metric_params
        self.n_jobs = n_jobs
        self.aggregate = aggregate

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Keep the training rows and their targets.

        Parameters
        ----------
        X : rows
        y : array of shape (n_rows,) or (n_rows, n_targets)
        sample_weight : array of shape (n_rows,), default=None

        Returns
        -------
        self
        """
        check_aggregate(self.aggregate)
        stand_in, learned = self._keep_weighted(X, sample_weight)
        targets = check_numbers(self, y, len(learned["_index"]))
        return store(self, stand_in, **learned, _targets=targets)

    @by_rows
    def predict(self, X: Any) -> Floats:
        """Return the average of the targets within the radius, for every row of X; NaN where there are none."""
        found = self._found(X)
        predicted = aggregated(found, votes(found, self.weights), self._targets.values, self.aggregate)
        if np.isnan(predicted).any():
            warnings.warn(
                "One or more samples have no neighbors within specified radius; predicting NaN.",
                UserWarning,
                stacklevel=2,
            )
        return self._targets.shaped(predicted)

    def explain_rows(self, X: Any) -> list[Explanation]:
        """Say why each row is predicted as it is: its neighbours, how near they are, and what each adds.

        Parameters
        ----------
        X : rows, as for `predict`

        Returns
        -------
        list of Explanation
            The account adds up to the prediction, if that is a mean; else to one, what the neighbours weigh.
        """
        from bisector.neighbors.neighbor_reasons import explain_averages

        answers, found = self.predict(X), self._found(X)
        return explain_averages(found, votes(found, self.weights), self._targets, answers, self.aggregate)
