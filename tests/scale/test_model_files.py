"""Models of Dask collections and files are saved and come back, or say why they cannot."""

from typing import Any

import dask.array as da
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.base import is_classifier
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags

import bisector
from bisector.reports import ModelFileFault

RNG = np.random.default_rng(1)
X = RNG.normal(size=(240, 3)) + 3.0 * RNG.integers(2, size=(240, 1))
Y = X @ [1.0, 2.0, 0.5] + 0.1 * RNG.normal(size=240)
LABELS = np.array(["no", "yes"])[(np.median(Y) < Y).astype(int)]
SETTINGS: dict[str, dict[str, Any]] = {
    "KMeans": {"n_clusters": 2, "random_state": 0},
    "KMedoids": {"n_clusters": 2, "method": "clara", "random_state": 0},
    "GaussianMixture": {"random_state": 0},
    "RBFNetworkClassifier": {"random_state": 0},
    "RBFNetworkRegressor": {"random_state": 0},
}
# These answer from their training rows, which stay in the partitions of a collection.
KEEP_ROWS = {
    "KNeighborsClassifier", "KNeighborsRegressor", "KernelDensity", "NearestNeighborDensity", "NearestNeighbors",
}  # fmt: skip

pytestmark = pytest.mark.usefixtures("here")


def chunked(values: np.ndarray, rows: Any = (100, 0, 140)) -> Any:
    return da.from_array(values, chunks=(rows, *values.shape[1:]))


def answers(model: Any, rows: Any) -> np.ndarray:
    method = "predict" if hasattr(model, "predict") else "score_samples"
    method = "kneighbors" if isinstance(model, bisector.NearestNeighbors) else method
    return np.asarray(getattr(model, method)(rows))


def fitted(name: str, estimator: type, place: str, folder: Any) -> tuple[Any, Any] | None:
    """Return the model, fitted where the rows are, and rows to ask about; None if it takes no such rows."""
    model = estimator(**SETTINGS.get(name, {}))
    scores = get_tags(model).input_tags.one_d_array
    rows, targets = (X[:, 0], LABELS) if scores else (X, LABELS if is_classifier(model) else Y)
    data: tuple[Any, ...] = chunked(rows), chunked(targets, 60)
    if place == "file":
        columns = [rows] if scores else list(X.T)
        pq.write_table(pa.table(columns, names=list("abc")[: len(columns)]), folder / "rows.parquet")
        data = folder / "rows.parquet", targets
    try:
        model.fit(*data)
    except (TypeError, ValueError):
        return None
    if place == "file" and not scores:
        import pandas as pd

        rows = pd.DataFrame(X, columns=list("abc"))
    return model, rows


@pytest.mark.parametrize("place", ["collection", "file"])
@pytest.mark.parametrize(
    ("name", "estimator"), [pytest.param(*pair, id=pair[0]) for pair in bisector.all_estimators()]
)
def test_what_was_fitted_there_comes_back(name: str, estimator: type, place: str, tmp_path: Any) -> None:
    found = fitted(name, estimator, place, tmp_path)
    if found is None:
        return
    model, rows = found
    held = set(vars(model))
    if place == "collection" and name in KEEP_ROWS:
        with pytest.raises(
            ModelFileFault,
            match=rf"{name} answers from its training rows.* fit it to rows in memory \(X.compute",
        ):
            bisector.save(model, tmp_path / "model")
        assert not (tmp_path / "model").exists()
        return
    again = bisector.load(bisector.save(model, tmp_path / "model"))
    assert set(vars(model)) == held  # the model itself keeps what its file leaves out
    np.testing.assert_array_equal(answers(again, rows), answers(model, rows))


def test_labels_that_nobody_asked_for_are_left_out(tmp_path: Any) -> None:
    model = bisector.KMeans(2, random_state=0, checkpoint=tmp_path / "kept").fit(chunked(X))
    again = bisector.load(bisector.save(model, tmp_path / "model"))
    assert isinstance(model.labels_, da.Array)
    assert not hasattr(again, "labels_")
    assert again.checkpoint == str(tmp_path / "kept")
    np.testing.assert_array_equal(again.predict(X), model.labels_.compute())
    pipeline = make_pipeline(model)
    within = bisector.load(bisector.save(pipeline, tmp_path / "pipeline"))
    np.testing.assert_array_equal(within.predict(X), model.predict(X))
    assert pipeline[0] is model


def test_rows_elsewhere_are_found_within_other_models(tmp_path: Any) -> None:
    model = make_pipeline(bisector.KernelDensity().fit(chunked(X)))
    with pytest.raises(ModelFileFault, match="KernelDensity answers from its training rows"):
        bisector.save(model, tmp_path / "model")
    lazy = bisector.KMeans(2, init=chunked(X[:2], (1, 1)))
    with pytest.raises(ModelFileFault, match=r"parameter init of KMeans is a Dask .* give init.compute\(\)"):
        bisector.save(lazy, tmp_path / "model")
