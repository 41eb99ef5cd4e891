"""Every public estimator fits a Dask collection as it fits memory, or says in a sentence what to use instead."""

import re
import warnings
from typing import Any

import dask.array as da
import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.utils import get_tags

import bisector
from bisector import Mahalanobis, scatter_matrix

RNG = np.random.default_rng(1)
X = RNG.normal(size=(240, 3)) + 3.0 * RNG.integers(2, size=(240, 1))
Y = X @ [1.0, 2.0, 0.5] + 0.1 * RNG.normal(size=240)
LABELS = np.array(["no", "yes"])[(np.median(Y) < Y).astype(int)]
WEIGHT = RNG.integers(0, 3, size=240).astype(float)

# What names another way: an estimator, a method or parameter, or a sample of the rows.
ALTERNATIVE = re.compile(r": .*(use |fit |take |call |with cv=|sample of the rows)")
# Where to start is drawn: equal answers need a start that is given.
SETTINGS: dict[str, dict[str, Any]] = {
    "KMeans": {"n_clusters": 2, "init": X[:2]},
    "GaussianMixture": {"n_components": 1},
    "RBFNetworkClassifier": {"random_state": 0},
    "RBFNetworkRegressor": {"random_state": 0},
}


def chunked(values: np.ndarray, rows: Any = (100, 0, 140)) -> Any:
    return da.from_array(values, chunks=(rows, *values.shape[1:]))


pytestmark = pytest.mark.usefixtures("here")


def refusal_of(model: Any, *data: Any) -> str | None:
    try:
        model.fit(*data)
    except TypeError as refusal:
        return str(refusal)
    return None


@pytest.mark.parametrize(
    ("name", "estimator"), [pytest.param(*pair, id=pair[0]) for pair in bisector.all_estimators()]
)
def test_a_collection_is_fitted_as_memory_is_or_refused(name: str, estimator: type) -> None:
    settings = SETTINGS.get(name, {})
    model, in_memory = estimator(**settings), estimator(**settings)
    scores = get_tags(model).input_tags.one_d_array
    rows = X[:, 0] if scores else X
    targets = LABELS if scores or is_classifier(model) else Y
    refusal = refusal_of(model, chunked(rows), chunked(targets, 60))
    if refusal is not None:
        assert "Dask collection" in refusal
        assert ALTERNATIVE.search(refusal), refusal
        assert not [learned for learned in vars(model) if learned.endswith("_")]
        return
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        in_memory.fit(rows, targets)
    method = "predict" if hasattr(model, "predict") else "score_samples"
    if name == "NearestNeighbors":
        method = "kneighbors"
    expected, found = getattr(in_memory, method)(rows), getattr(model, method)(chunked(rows))
    if isinstance(found, tuple):
        expected, found = expected[1], found[1]
    assert isinstance(found, da.Array)
    if expected.dtype.kind == "f":
        np.testing.assert_allclose(found.compute(), expected, rtol=1e-7, atol=1e-9)
    else:
        assert np.array_equal(found.compute(), expected)


def test_covariances_are_gathered_in_a_pass() -> None:
    learned = Mahalanobis().learned(chunked(X))
    np.testing.assert_allclose(learned.cov, np.cov(X.T, ddof=0), rtol=1e-12)
    assert learned(X[0], X[1]) == pytest.approx(Mahalanobis().learned(X)(X[0], X[1]), rel=1e-9)
    with pytest.raises(ValueError, match="The covariance is singular: feature 2 does not vary"):
        Mahalanobis().learned(chunked(np.column_stack([X[:, :2], np.ones(240)])))
    np.testing.assert_allclose(
        scatter_matrix(chunked(X), chunked(WEIGHT)), scatter_matrix(X, WEIGHT), rtol=1e-12
    )


def test_models_that_keep_rows_answer_lazily() -> None:
    for model, targets in (
        (bisector.KNeighborsClassifierCV(5), LABELS),
        (bisector.KNeighborsRegressorCV(5), Y),
        (bisector.RBFClassifier(), LABELS),
        (bisector.RBFRegressor(), Y),
        (bisector.SimilarityClassifier(), LABELS),
        (bisector.KExemplars(2), None),
    ):
        model.fit(X, targets)
        found = model.predict(chunked(X))
        assert isinstance(found, da.Array)
        expected = model.predict(X)
        if targets is Y:
            np.testing.assert_allclose(found.compute(), expected, rtol=1e-9)
        else:
            assert np.array_equal(found.compute(), expected)
