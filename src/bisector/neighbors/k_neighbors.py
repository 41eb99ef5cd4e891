"""The k nearest neighbours vote, or are averaged (Flach 8.3; LFD 6.2)."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, MultiOutputMixin, RegressorMixin
from sklearn.utils import Tags

from bisector.engine.explanation import Explanation
from bisector.engine.sources import is_collection
from bisector.engine.targets import Labels, Numbers, check_labels, check_numbers
from bisector.engine.validation import check_choice, store
from bisector.measures.error_bounds import ErrorBounds, error_bounds
from bisector.neighbors.k_nearest import KNearest
from bisector.neighbors.kept_rows import Floats, Found, Integers
from bisector.neighbors.partitioned_rows import by_neighbours, keep_labelled, keep_measured
from bisector.neighbors.votes import (
    Aggregate,
    Weights,
    aggregated,
    check_aggregate,
    check_vote_weights,
    class_shares,
    nearest_among_winners,
    votes,
)


class KNeighborsClassifier(ClassifierMixin, KNearest):
    """The k nearest training rows vote on the class of a query.

    A drop-in for scikit-learn's estimator that is exact under any distance: on vectors, strings, sets, mixed
    tables, or by a function of two rows. Among equally near rows the one that came first counts as nearer, so
    that the answer never depends on the way of searching.

    Parameters
    ----------
    n_neighbors : int or "sqrt", default=5
        How many neighbours vote; "sqrt" takes ⌊√N⌋ of N training rows.
    weights : {"uniform", "distance"}, bump or callable, default="uniform"
        How much a vote counts: alike; by the reciprocal of the distance; by a bump of `bisector.kernels` that is as
        wide as the farthest neighbour is away; or as a function of the distances says.
    algorithm : {"auto", "brute", "kd_tree", "ball_tree", "metric_tree", "string_search"}, default="auto"
        How to search. The answer is the same.
    leaf_size : int, default=30
        How many rows the leaves of a tree may hold.
    p : float, default=2
        Of the Minkowski distance, if that is the metric.
    metric : str, Distance or callable, default="minkowski"
    metric_params : dict, default=None
        Parameters of a metric given by name.
    n_jobs : int, default=None
        Number of threads; None means all cores allowed here.
    ties : {"smallest", "nearest", "random"}, default="smallest"
        Which class wins when several have most votes: the smallest label, as in scikit-learn; the one whose
        neighbour is nearest; or a random one of them.
    random_state : int, default=0
        Seed of random choices among tied classes.

    Attributes
    ----------
    classes_ : array, or list of arrays for several outputs
    index_ : Index
        The training rows; ``index_.reason`` says why it was chosen, ``index_.stats`` what queries cost.
    metric_ : Distance
        The distance, with what it learned from the rows.
    n_features_in_, feature_names_in_, n_samples_fit_, effective_metric_, outputs_2d_
        As in scikit-learn.

    Notes
    -----
    With `sample_weight`, k counts weight: neighbours are taken until they weigh k, the last in part. So integer
    weights do what repeating rows would do.

    Examples
    --------
    >>> from bisector import KNeighborsClassifier
    >>> words = ["cat", "cats", "hat", "house", "houses", "mouse"]
    >>> kind = ["short", "short", "short", "long", "long", "long"]
    >>> model = KNeighborsClassifier(n_neighbors=3, metric="levenshtein").fit(words, kind)
    >>> model.predict(["bat", "blouse"])
    array(['short', 'long'], dtype='<U5')
    """

    _labels: Labels

    def __init__(
        self,
        n_neighbors: Any = 5,
        *,
        weights: Weights = "uniform",
        algorithm: str = "auto",
        leaf_size: int = 30,
        p: float = 2,
        metric: Any = "minkowski",
        metric_params: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
        ties: Literal["smallest", "nearest", "random"] = "smallest",
        random_state: int = 0,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.metric = metric
        self.metric_params = metric_params
        self.n_jobs = n_jobs
        self.ties = ties
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Keep the training rows and their labels.

        Parameters
        ----------
        X : rows
            What the metric compares: a matrix, strings, sets, a frame. Of a Dask collection the rows stay where
            they are, and each partition is searched there.
        y : array of shape (n_rows,) or (n_rows, n_outputs)
        sample_weight : array of shape (n_rows,), default=None

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)

    def _fit(self, X: Any, y: Any, sample_weight: ArrayLike | None, classes: Any = None) -> Self:
        check_choice("ties", self.ties, ("smallest", "nearest", "random"))
        if is_collection(X):
            check_vote_weights(self.weights)
            stand_in, learned, labels = keep_labelled(self, X, y, sample_weight)
            return store(self, stand_in, **learned, **_of_labels(labels))
        stand_in, learned = self._keep_weighted(X, sample_weight)
        labels = check_labels(self, y, len(learned["_index"]), classes)
        return store(self, stand_in, **learned, **_of_labels(labels))

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Add training rows.

        Parameters
        ----------
        X, y
            As for `fit`; one output.
        classes : array, optional
            All labels there will be; needed in the first call only if later ones bring new labels.
        sample_weight : array of shape (n_rows,), default=None
        """
        if not hasattr(self, "_index"):
            return self._fit(X, y, sample_weight, classes)
        if not self._labels.single:
            raise ValueError("partial_fit takes one output: fit several together.")
        old = self._labels.decoded(self._labels.codes)
        new = np.asarray(y)
        labels = check_labels(self, np.concatenate([old, new]), len(old) + len(new), classes)
        known = self._labels.classes[0]
        together = check_labels(
            self, labels.decoded(labels.codes), len(old) + len(new), np.union1d(known, new)
        )
        _, weights = self._added(X, sample_weight)
        self._sample_weight = weights
        for name, value in _of_labels(together).items():
            setattr(self, name, value)
        return self

    @by_neighbours
    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class with most votes, for every row of X; X=None leaves each training row out of its vote."""
        chosen = []
        for number, (found, vote) in enumerate(self._votes(X)):
            columns = [self._winners(found, vote, j, number) for j in range(self._labels.codes.shape[1])]
            chosen.append(np.stack(columns, axis=1))
        return self._labels.decoded(np.concatenate(chosen))

    @by_neighbours
    def predict_proba(self, X: Any) -> Any:
        """Return the share of the votes for each class; a list of arrays for several outputs."""
        parts = [
            [
                class_shares(found, vote, self._labels.codes[:, j], len(classes))
                for j, classes in enumerate(self._labels.classes)
            ]
            for found, vote in self._votes(X)
        ]
        shares = [np.concatenate(column) for column in zip(*parts, strict=True)]
        return shares[0] if self._labels.single else shares

    def explain_rows(self, X: Any) -> list[Explanation]:
        """Say why each row is of its class: its neighbours, how near they are, and how each votes.

        Parameters
        ----------
        X : rows, as for `predict`

        Returns
        -------
        list of Explanation
            The account adds up to the probability of the predicted class. ``move`` is the shortest step to
            another class if one neighbour decides under Euclidean distance; else one known to change the class.
        """
        from bisector.neighbors.neighbor_reasons import explain_voters

        return explain_voters(self, X)

    def error_bounds(self, level: float = 0.95) -> ErrorBounds:
        """Bound the error of the best classifier there could be, from the nearest neighbour of each training row.

        Each row is left out of its own vote; the number of neighbours of this model does not matter.

        Parameters
        ----------
        level : float, default=0.95
            The confidence with which the bounds allow for the error having been measured on a sample.

        Returns
        -------
        ErrorBounds
            See `bisector.measures.error_bounds`.

        Examples
        --------
        >>> from bisector import KNeighborsClassifier, datasets
        >>> print(KNeighborsClassifier().fit(*datasets.iris()).error_bounds())
        One nearest neighbour errs on 4.0%; in the limit of many rows, no classifier errs on less than 0.9%, and the
        best on at most 8.5%, with 95% confidence.
        """
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        if not self._labels.single:
            raise ValueError("error_bounds takes one label a row: fit one model an output.")
        codes = self._labels.codes[:, 0]
        nearest = self._k_nearest(None, 1)[1][:, 0]
        error = np.average(codes[nearest] != codes, weights=self._sample_weight)
        return error_bounds(float(error), max(2, len(self._labels.classes[0])), n=len(codes), level=level)

    def _votes(self, X: Any) -> Iterator[tuple[Found, Floats]]:
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        for found in self._found_in_blocks(X):
            yield found, votes(found, self.weights)

    def _winners(self, found: Found, vote: Floats, output: int, block: int) -> Integers:
        codes, classes = self._labels.codes[:, output], self._labels.classes[output]
        shares = class_shares(found, vote, codes, len(classes))
        if self.ties == "nearest":
            return nearest_among_winners(found, codes, shares)
        if self.ties == "random":
            rng = np.random.default_rng([self.random_state, output, block])
            wins = shares == shares.max(axis=1, keepdims=True)
            return np.argmax(wins * (1.0 + rng.random(shares.shape)), axis=1)
        return np.argmax(shares, axis=1)

    def _keep_targets(self, kept: NDArray[np.bool_]) -> None:
        self._carry(self._labels.codes[kept])

    def _carry(self, targets: NDArray[Any]) -> None:
        self._labels = self._labels._replace(codes=targets)

    def _blank_targets(self, n: int) -> NDArray[Any]:
        return np.zeros((n, len(self._labels.classes)), dtype=np.int64)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


def _of_labels(labels: Labels) -> dict[str, Any]:
    return {
        "_labels": labels,
        "classes_": labels.classes[0] if labels.single else labels.classes,
        "outputs_2d_": not labels.single,
    }


class KNeighborsRegressor(MultiOutputMixin, RegressorMixin, KNearest):
    """The targets of the k nearest training rows are averaged.

    Parameters
    ----------
    n_neighbors : int or "sqrt", default=5
        How many neighbours are averaged; "sqrt" takes ⌊√N⌋ of N training rows.
    weights : {"uniform", "distance"}, bump or callable, default="uniform"
        How much a neighbour counts; as for `KNeighborsClassifier`.
    algorithm, leaf_size, p, metric, metric_params, n_jobs
        As for `KNeighborsClassifier`.
    aggregate : {"mean", "median"} or callable, default="mean"
        How the neighbours' targets become one: a function gets the targets of one query's neighbours and their
        weights.

    Attributes
    ----------
    index_ : Index
    metric_ : Distance
    n_features_in_, feature_names_in_, n_samples_fit_, effective_metric_
        As in scikit-learn.

    Examples
    --------
    >>> from bisector import KNeighborsRegressor
    >>> KNeighborsRegressor(n_neighbors=2).fit([[0], [1], [2], [9]], [0, 1, 2, 9]).predict([[1.4], [8]])
    array([1.5, 5.5])
    """

    _targets: Numbers

    def __init__(
        self,
        n_neighbors: Any = 5,
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
        self.n_neighbors = n_neighbors
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
            A Dask collection too.
        y : array of shape (n_rows,) or (n_rows, n_targets)
        sample_weight : array of shape (n_rows,), default=None

        Returns
        -------
        self
        """
        check_aggregate(self.aggregate)
        if is_collection(X):
            check_vote_weights(self.weights)
            stand_in, learned = keep_measured(self, X, y, sample_weight)
            return store(self, stand_in, **learned)
        stand_in, learned = self._keep_weighted(X, sample_weight)
        targets = check_numbers(self, y, len(learned["_index"]))
        return store(self, stand_in, **learned, _targets=targets)

    def partial_fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Add training rows."""
        if not hasattr(self, "_index"):
            return self.fit(X, y, sample_weight)
        new, known = check_numbers(self, y, len(np.asarray(y))).values, self._targets.values
        if new.shape[1] != known.shape[1]:
            raise ValueError(f"y has {new.shape[1]} targets, but there were {known.shape[1]} before.")
        _, self._sample_weight = self._added(X, sample_weight)
        self._targets = self._targets._replace(values=np.concatenate([known, new]))
        return self

    @by_neighbours
    def predict(self, X: Any) -> Floats:
        """Return the neighbours' average for every row of X; X=None leaves each training row out of its own."""
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        parts = [
            aggregated(found, votes(found, self.weights), self._targets.values, self.aggregate)
            for found in self._found_in_blocks(X)
        ]
        return self._targets.shaped(np.concatenate(parts))

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

        answers = self.predict(X)
        made: list[Explanation] = []
        for found in self._found_in_blocks(X):
            some, vote = answers[len(made) : len(made) + len(found.starts) - 1], votes(found, self.weights)
            made += explain_averages(found, vote, self._targets, some, self.aggregate)
        return made

    def _keep_targets(self, kept: NDArray[np.bool_]) -> None:
        self._carry(self._targets.values[kept])

    def _carry(self, targets: NDArray[Any]) -> None:
        self._targets = self._targets._replace(values=targets)

    def _blank_targets(self, n: int) -> NDArray[Any]:
        return np.zeros((n, self._targets.values.shape[1]))
