"""Neighbour models on Dask collections: the rows stay where they are, and neighbours bring what they vote with."""

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, fields
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from bisector.distances.estimator_input import check_collection, check_items
from bisector.engine.lazy_rows import by_rows
from bisector.engine.sources import Source, is_collection
from bisector.engine.targets import Labels, Numbers
from bisector.engine.validation import check_training, fresh_rows
from bisector.search.partitioned_index import Near, NearestQuestion, PartitionedIndex

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Method = TypeVar("Method", bound=Callable[..., Any])


# Keeping rows


def keep_partitions(model: Any, X: Any) -> tuple[Any, dict[str, Any]]:
    """Keep rows alone; return a stand-in that knows their features, and what was learned."""
    rows, stand_in = fresh_rows(model, X)
    return stand_in, _learned(model, rows)


def keep_labelled(model: Any, X: Any, y: Any, sample_weight: Any) -> tuple[Any, dict[str, Any], Labels]:
    """Keep rows with a label each."""
    from bisector.engine.dask_checks import checked_classes

    _refuse_weights(model, sample_weight)
    rows, _, classes, stand_in = checked_classes(model, X, y, None, None, at_least=1)
    labels = Labels(np.empty((0, 1), dtype=np.int64), [classes], True)
    return stand_in, _learned(model, rows) | {"_sample_weight": None}, labels


def keep_measured(model: Any, X: Any, y: Any, sample_weight: Any) -> tuple[Any, dict[str, Any]]:
    """Keep rows with one target or several."""
    from bisector.engine.dask_checks import split_named

    _refuse_weights(model, sample_weight)
    if isinstance(y, str):
        X, y = split_named(X, y)
    rows, stand_in = check_training(model, X, y, multi_output=True)
    single = np.dtype(np.float32) == getattr(y, "dtype", None)
    told = Numbers(
        np.empty((0, rows.n_targets)), rows.single_target, np.dtype(np.float32 if single else np.float64)
    )
    return stand_in, _learned(model, rows) | {"_sample_weight": None, "_targets": told}


def _learned(model: Any, rows: Source) -> dict[str, Any]:
    distance = check_collection(model._distance(), rows)
    index = PartitionedIndex(rows, distance, algorithm=model.algorithm, leaf_size=model.leaf_size)
    return model._told(index)


def _refuse_weights(model: Any, sample_weight: Any) -> None:
    if sample_weight is not None:
        raise TypeError(
            f"X is a Dask collection, on which {type(model).__name__} takes no sample_weight: repeat rows that "
            "count more than once, or pass X.compute(), if that fits into memory."
        )


# Answering


def by_neighbours(method: Method) -> Method:
    """Let a method that answers by the nearest rows ask partitions, and answer Dask collections lazily."""
    of_one_index = by_rows(method)

    @wraps(method)
    def answer(self: Any, X: Any) -> Any:
        index = getattr(self, "_index", None)
        if isinstance(index, PartitionedIndex):
            return _asked(Voting(method, self), index, X)
        return of_one_index(self, X)

    return cast(Method, answer)


def nearest_rows(model: Any, X: Any, k: int, return_distance: bool) -> Any:
    """Return distances and numbers of the k nearest rows in the partitions."""
    return _asked(Naming(return_distance, model), model._index, X, k)


def _asked(finish: Any, index: PartitionedIndex, X: Any, k: int | None = None) -> Any:
    model = finish.model
    check_is_fitted(model)
    if X is None:
        index.prepare(X)
    k = model._n_neighbors() if k is None else k
    if k > len(index):
        raise ValueError(
            f"Expected n_neighbors <= n_samples_fit, but n_neighbors is {k} and there are {len(index)} rows to "
            "choose from: ask for fewer neighbours."
        )
    light = copy(model)
    light._index = Unasked(index.distance, len(index))
    finish = type(finish)(finish.how, light)
    if not is_collection(X):
        items = finish.prepare(X)
        return finish(index.near(items, k), items)
    question = _Question(
        **{field.name: getattr(index.question(k), field.name) for field in fields(NearestQuestion)},
        answer=finish,
    )
    return index.later(question, X, model, finish.empty(k))


@dataclass(frozen=True, eq=False)
class Naming:
    """The answer is who the neighbours are; `how` says whether distances are asked for."""

    how: Any
    model: Any

    def prepare(self, X: Any) -> Any:
        """Check queries."""
        return check_items(self.model, X, self.model._index.distance, reset=False)

    def __call__(self, near: Near, items: Any) -> Any:
        return (near.distances, near.numbers) if self.how else near.numbers

    def empty(self, k: int) -> Any:
        """Return an answer without rows."""
        return self(Near(np.empty((0, k)), np.empty((0, k)), np.empty((0, k), np.int64), None), None)


@dataclass(frozen=True, eq=False)
class Voting(Naming):
    """The answer is what a method of the model, `how`, makes of the neighbours and their targets."""

    def __call__(self, near: Near, items: Any) -> Any:
        model = copy(self.model)
        vars(model).pop("feature_names_in_", None)  # the queries were checked
        assert near.targets is not None
        model._index = Known(model._index.distance, len(model._index), near.distances)
        model._carry(near.targets.reshape(-1, near.targets.shape[2]))
        return self.how(model, items)

    def empty(self, k: int) -> Any:
        one = Near(
            np.zeros((1, k)), np.zeros((1, k)), np.zeros((1, k), np.int64), self.model._blank_targets(k)[None]
        )
        return self(one, np.ones((1, self.model.n_features_in_)))[:0]


@dataclass(frozen=True, eq=False)
class _Question(NearestQuestion):
    """Which k rows are nearest, and what the model makes of them."""

    answer: Any

    def prepare(self, queries: Any) -> Any:
        return self.answer.prepare(queries)

    def finish(self, answer: Near, queries: Any) -> Any:
        return self.answer(answer, queries)


class Unasked:
    """What a model knows of rows that are in partitions."""

    def __init__(self, distance: Any, n_rows: int) -> None:
        self.distance, self.n_rows = distance, n_rows

    def __len__(self) -> int:
        return self.n_rows


class Known(Unasked):
    """An index that was asked already: it answers with what was found, and numbers what it found from 0."""

    def __init__(self, distance: Any, n_rows: int, distances: Floats) -> None:
        super().__init__(distance, n_rows)
        self.distances = distances

    def prepare(self, X: Any) -> "Places":
        """Number the queries."""
        return Places(np.arange(len(self.distances)))

    def query_prepared(self, queries: "Places", k: int, n_jobs: int | None = None) -> tuple[Floats, Integers]:
        """Return what was found for some queries."""
        return self.distances[queries.numbers], queries.numbers[:, None] * k + np.arange(k)

    def positions(self, ids: Integers) -> Integers:
        """Return the numbers as they are."""
        return ids


@dataclass(frozen=True, eq=False)
class Places:
    """Queries as their numbers."""

    numbers: Integers

    def __len__(self) -> int:
        return len(self.numbers)

    def take(self, chosen: Integers) -> "Places":
        """Return some of the queries."""
        return Places(self.numbers[chosen])
