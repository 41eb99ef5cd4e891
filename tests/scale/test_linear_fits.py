"""Linear models on Dask collections give the answers they give in memory, and answer lazily."""

from typing import Any

import dask
import dask.array as da
import dask.dataframe as dd
import distributed
import numpy as np
import pandas as pd
import pytest

from bisector import (
    BasicLinearClassifier,
    ElasticNet,
    ElasticNetCV,
    Lasso,
    LassoCV,
    LeastSquaresClassifier,
    LogisticRegression,
    Ridge,
    RidgeCV,
    TotalLeastSquares,
)
from bisector.engine import checkpoint
from bisector.engine.columns import Column

RNG = np.random.default_rng(11)
X = RNG.normal(size=(3000, 5)) * [1.0, 2.0, 0.5, 1.0, 3.0] + [0.0, 1.0, 0.0, -2.0, 0.0]
Y = X @ [1.0, -0.5, 2.0, 0.0, 0.3] + RNG.normal(size=len(X))
LABELS = np.array(["low", "middle", "top"])[np.digitize(Y, [-1.0, 2.0])]
WEIGHT = RNG.integers(0, 3, size=len(X)).astype(float)
CHUNKS = (700, 0, 1300, 1000)

REGRESSORS = [
    TotalLeastSquares(),
    Ridge(alpha=3.0),
    Ridge(alpha=3.0, positive=True),
    Ridge(alpha=3.0, solver="sparse_cg", tol=1e-12),
    RidgeCV(),
    Lasso(alpha=0.1, tol=1e-12),
    ElasticNet(alpha=0.1, tol=1e-12),
    LassoCV(cv=3, alphas=5, tol=1e-12),
    ElasticNetCV(cv=3, alphas=5, tol=1e-12),
]
CLASSIFIERS = [
    BasicLinearClassifier(),
    LeastSquaresClassifier(),
    LeastSquaresClassifier(covariance="diagonal", threshold="midpoint", class_weight="balanced"),
    LeastSquaresClassifier(threshold="training-error"),
    LogisticRegression(),
    LogisticRegression(C=np.inf),
    LogisticRegression(scheme="one-vs-rest"),
    LogisticRegression(solver="newton-cg", tol=1e-10),
    LogisticRegression(l1_ratio=0.5, tol=1e-10),
    LogisticRegression(class_weight="balanced"),
]


def chunked(values: np.ndarray, rows: Any = CHUNKS) -> Any:
    return da.from_array(values, chunks=(rows, *values.shape[1:]))


def refit(model: Any, *data: Any) -> Any:
    return type(model)(**model.get_params()).fit(*data)


def agrees(lazily: Any, in_memory: Any) -> None:
    # The promise is 1e-9: sums are the same to 1e-12, and these problems are well conditioned.
    np.testing.assert_allclose(lazily.coef_, in_memory.coef_, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(lazily.intercept_, in_memory.intercept_, rtol=1e-9, atol=1e-9)


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("model", REGRESSORS, ids=repr)
def test_regressors_agree_with_memory(model: Any) -> None:
    in_memory, lazily = refit(model, X, Y), refit(model, chunked(X), chunked(Y, 1000))
    agrees(lazily, in_memory)
    predicted = lazily.predict(chunked(X))
    assert predicted.chunks == (CHUNKS,)
    np.testing.assert_allclose(predicted.compute(), in_memory.predict(X), rtol=1e-8, atol=1e-8)
    agrees(refit(model, chunked(X), Y, chunked(WEIGHT, 900)) if weighs(model) else lazily, weighted(model))


def weighs(model: Any) -> bool:
    return not isinstance(model, TotalLeastSquares)


def weighted(model: Any) -> Any:
    return refit(model, X, Y, WEIGHT) if weighs(model) else refit(model, X, Y)


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("model", CLASSIFIERS, ids=repr)
def test_classifiers_agree_with_memory(model: Any) -> None:
    in_memory, lazily = refit(model, X, LABELS), refit(model, chunked(X), chunked(LABELS, 1000))
    assert lazily.classes_.tolist() == ["low", "middle", "top"]
    agrees(lazily, in_memory)
    assert np.array_equal(lazily.predict(chunked(X)).compute(), in_memory.predict(X))
    agrees(refit(model, chunked(X), LABELS, chunked(WEIGHT, 900)), refit(model, X, LABELS, WEIGHT))


@pytest.mark.usefixtures("here")
def test_probabilities_and_scores_are_lazy() -> None:
    model = LogisticRegression().fit(X, LABELS)
    lazy = chunked(X)
    for method in ("predict_proba", "predict_log_proba", "decision_function", "signed_distance"):
        answer = getattr(model, method)(lazy)
        assert isinstance(answer, da.Array)
        assert answer.chunks == (CHUNKS, (3,))
        np.testing.assert_allclose(answer.compute(), getattr(model, method)(X), rtol=1e-9, atol=1e-12)
    predicted = model.predict(lazy)
    assert predicted.dtype == model.classes_.dtype
    assert predicted.chunks == (CHUNKS,)


@pytest.mark.parametrize(
    "model",
    [LeastSquaresClassifier(), BasicLinearClassifier(), LogisticRegression()],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.usefixtures("here")
def test_labels_are_not_gathered(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    in_memory = refit(model, X, LABELS, WEIGHT)

    def refuse(self: Any, dtype: Any = None, copy: Any = None) -> Any:
        raise AssertionError("a column was gathered")

    monkeypatch.setattr(Column, "__array__", refuse)
    agrees(refit(model, chunked(X), chunked(LABELS), chunked(WEIGHT)), in_memory)


def test_one_and_several_workers_give_the_same_bits(two_workers: Any) -> None:
    models = [LogisticRegression(), LeastSquaresClassifier()]
    with distributed.Client(two_workers):
        among = [refit(model, chunked(X), chunked(LABELS)) for model in models]
        predicted = [model.predict(chunked(X)).compute() for model in among]
    with dask.config.set(scheduler="synchronous"):
        alone = [refit(model, chunked(X), chunked(LABELS)) for model in models]
    for one, other, answers in zip(among, alone, predicted, strict=True):
        assert np.array_equal(one.coef_, other.coef_)
        assert np.array_equal(one.intercept_, other.intercept_)
        assert np.array_equal(answers, other.predict(X))


@pytest.mark.usefixtures("here")
def test_a_dataframe_names_the_column_of_labels() -> None:
    table = pd.DataFrame(X, columns=list("abcde"))
    table["kind"] = LABELS
    lazy = dd.from_pandas(table, npartitions=4)
    model, in_memory = LogisticRegression().fit(lazy, "kind"), LogisticRegression().fit(table, "kind")
    agrees(model, in_memory)
    assert model.feature_names_in_.tolist() == list("abcde")
    assert np.array_equal(model.predict(lazy).compute(), in_memory.predict(table[list("abcde")]))


@pytest.mark.usefixtures("here")
def test_classes_without_weight_are_left_out() -> None:
    weight = np.where(LABELS == "middle", 0.0, 1.0)
    model = LeastSquaresClassifier().fit(chunked(X), chunked(LABELS), chunked(weight))
    assert model.classes_.tolist() == ["low", "top"]
    agrees(model, LeastSquaresClassifier().fit(X, LABELS, weight))


@pytest.mark.usefixtures("here")
def test_what_cannot_be_labels_is_refused() -> None:
    with pytest.raises(ValueError, match="Unknown label type"):
        LogisticRegression().fit(chunked(X), chunked(Y))
    with pytest.raises(ValueError, match="at least two classes, but y has one class"):
        LogisticRegression().fit(chunked(X), chunked(np.zeros(len(X), int)))
    with pytest.raises(ValueError, match="one label a row, but y has the shape"):
        LogisticRegression().fit(chunked(X), chunked(np.zeros((len(X), 2), int)))
    with pytest.raises(ValueError, match="neither for scoring nor for"):
        RidgeCV(store_cv_results=True).fit(chunked(X), Y)


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("model", [ElasticNet(alpha=0.1), LassoCV(cv=3, alphas=5)], ids=repr)
def test_an_interrupted_fit_goes_on(model: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    data = chunked(X), chunked(Y)
    whole = refit(model, *data)
    kept = type(model)(**{**model.get_params(), "checkpoint": tmp_path / "kept"})
    note = checkpoint._File.note

    def interrupting(self: Any, name: str, **values: Any) -> None:
        note(self, name, **values)
        if name in ("moments", "fold 1"):
            raise KeyboardInterrupt

    monkeypatch.setattr(checkpoint._File, "note", interrupting)
    with pytest.raises(KeyboardInterrupt):
        kept.fit(*data)
    monkeypatch.setattr(checkpoint._File, "note", note)
    kept.fit(*data)
    assert np.array_equal(kept.coef_, whole.coef_)
    assert kept.intercept_ == whole.intercept_
    assert not (tmp_path / "kept").exists()
