"""Calibration by scores in Dask collections, and what it makes of such scores."""

from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import bisector
from bisector import CalibratedClassifier, HullCalibrator, LogisticCalibrator, LogisticRegression

RNG = np.random.default_rng(12)
X = RNG.normal(size=(700, 3))
LABELS = np.array(["no", "yes"])[(X[:, 0] + RNG.normal(size=700) > 0).astype(int)]
KINDS = np.array(["a", "b", "c"])[np.digitize(X[:, 1] + 0.3 * RNG.normal(size=700), [-0.5, 0.5])]
SCORES = 2 * X[:, 0] + 1
WEIGHT = RNG.integers(0, 3, size=700).astype(float)
CHUNKS = (300, 0, 400)


def chunked(values: np.ndarray, rows: Any = CHUNKS) -> Any:
    return da.from_array(values, chunks=(rows, *values.shape[1:]))


pytestmark = pytest.mark.usefixtures("here")


@pytest.mark.parametrize(
    "calibrator", [LogisticCalibrator(), LogisticCalibrator("likelihood"), HullCalibrator()], ids=str
)
def test_calibrators_take_scores_that_are_elsewhere(calibrator: Any) -> None:
    lazily = type(calibrator)(**calibrator.get_params()).fit(
        chunked(SCORES), chunked(LABELS, 350), chunked(WEIGHT)
    )
    in_memory = type(calibrator)(**calibrator.get_params()).fit(SCORES, LABELS, WEIGHT)
    for method in ("predict", "predict_proba", "transform"):
        answer = getattr(lazily, method)(chunked(SCORES))
        assert isinstance(answer, da.Array)
        assert answer.chunks[0] == CHUNKS
        np.testing.assert_array_equal(answer.compute(), getattr(in_memory, method)(SCORES))
    series = dd.from_pandas(pd.Series(SCORES, name="score"), npartitions=2)
    np.testing.assert_array_equal(lazily.predict(series).compute(), in_memory.predict(SCORES))
    assert lazily.score(chunked(SCORES), chunked(LABELS)) == in_memory.score(SCORES, LABELS)


def test_scores_must_fit_into_the_budget() -> None:
    many = da.zeros(10_000_000, chunks=1_000_000)
    with (
        bisector.config(memory="10 MB"),
        pytest.raises(MemoryError, match="Gathering a column of 10,000,000"),
    ):
        LogisticCalibrator().fit(many, many)


@pytest.mark.parametrize("y", [LABELS, KINDS], ids=["two classes", "three classes"])
def test_a_fitted_classifier_is_calibrated_on_a_collection(y: Any) -> None:
    before = LogisticRegression().fit(X[:300], y[:300])
    lazily = CalibratedClassifier(before, cv="prefit").fit(chunked(X), chunked(y), chunked(WEIGHT, 100))
    in_memory = CalibratedClassifier(before, cv="prefit").fit(X, y, WEIGHT)
    found = lazily.predict_proba(chunked(X))
    assert isinstance(found, da.Array)
    np.testing.assert_allclose(found.compute(), in_memory.predict_proba(X), rtol=1e-9)
    assert np.array_equal(lazily.predict(chunked(X)).compute(), in_memory.predict(X))


def test_folds_are_not_made_of_a_collection() -> None:
    with pytest.raises(TypeError, match='calibrate it on others with cv="prefit"'):
        CalibratedClassifier(LogisticRegression()).fit(chunked(X), LABELS)
