"""Models that need all rows in memory say so in a sentence, and name what to do instead; others still answer."""

from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest

import bisector
from bisector import (
    SVC,
    SVR,
    AgglomerativeClustering,
    CondensedNearestNeighbor,
    DecisionTreeClassifier,
    KernelKMeans,
    KernelPerceptron,
    KernelRidge,
    KMedoids,
    LinearSVC,
    Perceptron,
    linear_separability,
    svm_path,
)

RNG = np.random.default_rng(3)
X = RNG.normal(size=(300, 3))
LABELS = (X[:, 0] + 0.3 * RNG.normal(size=300) > 0).astype(int)
LAZY = da.from_array(X, chunks=(100, 3))


@pytest.mark.parametrize(
    ("model", "instead"),
    [
        (SVC(), "use LinearSVC or Ridge, or fit a sample of the rows"),
        (SVR(), "use LinearSVC or Ridge, or fit a sample of the rows"),
        (AgglomerativeClustering(), "use KMeans, and merge its many small clusters"),
        (KernelKMeans(2), "use KMeans"),
        (KMedoids(2), 'use method="clara", or KMeans'),
        (CondensedNearestNeighbor(), "reduce a sample of the rows"),
        (DecisionTreeClassifier(), "grow the tree on a sample of the rows"),
        (KernelRidge(), "use Ridge"),
        (KernelPerceptron(), "use LogisticRegression"),
        (Perceptron(), "call partial_fit with a part of the rows at a time, or use LogisticRegression"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_models_that_need_all_rows_say_so(model: Any, instead: str) -> None:
    name = type(model).__name__
    for collection in (LAZY, LAZY.to_dask_dataframe(["a", "b", "c"]), list(LAZY.to_delayed().ravel())):
        with pytest.raises(
            TypeError, match=f"X is a Dask collection, but {name} needs all rows in memory: {instead}"
        ):
            model.fit(collection, LABELS)
    assert not [learned for learned in vars(model) if learned.endswith("_")]


def test_functions_that_need_all_rows_say_so() -> None:
    with pytest.raises(TypeError, match="linear_separability needs all rows in memory: ask about a sample"):
        linear_separability(LAZY, LABELS)
    instead = r"use LinearSVC\(loss='hinge'\) for one C at a time, or follow the path of a sample of the rows"
    with pytest.raises(TypeError, match=f"svm_path needs all rows in memory: {instead}"):
        svm_path(LAZY, LABELS)


def test_a_model_fitted_in_memory_answers_lazily() -> None:
    model = KernelRidge().fit(X, LABELS)
    with dask.config.set(scheduler="synchronous"):
        answer = model.predict(LAZY)
        assert answer.chunks == ((100, 100, 100),)
        np.testing.assert_allclose(answer.compute(), model.predict(X), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
def test_few_features_give_the_support_vector_plane_of_memory(loss: str) -> None:
    weight = np.where(np.arange(300) % 7 == 0, 0.0, 1.0 + np.arange(300) % 3)
    with dask.config.set(scheduler="synchronous"):
        lazily = LinearSVC(loss=loss).fit(LAZY, da.from_array(LABELS, chunks=70), weight)
    in_memory = LinearSVC(loss=loss).fit(X, LABELS, weight)
    # Both are solved to all digits: a gap of 1e-13 leaves the weights some 1e-7 of freedom, without the square.
    np.testing.assert_allclose(lazily.coef_, in_memory.coef_, rtol=1e-9 if loss == "squared_hinge" else 1e-6)
    np.testing.assert_allclose(lazily.alpha_, in_memory.alpha_, atol=1e-6)


def test_many_features_of_a_support_vector_machine_must_fit_into_memory() -> None:
    wide = da.from_array(RNG.normal(size=(300, 400)), chunks=(100, 400))
    with (
        dask.config.set(scheduler="synchronous"),
        bisector.config(memory="0.5 MB"),
        pytest.raises(MemoryError, match=r"Fitting LinearSVC needs .* or fit a sample of them"),
    ):
        LinearSVC().fit(wide, LABELS)
