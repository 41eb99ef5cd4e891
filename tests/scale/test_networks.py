"""Networks of bumps on Dask collections: those of memory, as long as all rows are the sample."""

from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from bisector import RBFNetworkClassifier, RBFNetworkRegressor
from bisector.engine import checkpoint
from bisector.rbf import partitioned_network

RNG = np.random.default_rng(9)
X = RNG.uniform(-2, 2, size=(600, 2))
Y = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 0.1 * RNG.normal(size=len(X))
LABELS = np.array(["low", "middle", "top"])[np.digitize(Y, [0.5, 1.8])]
WEIGHT = RNG.integers(0, 3, size=len(X)).astype(float)
CHUNKS = (250, 0, 3, 347)


def chunked(values: np.ndarray, rows: Any = CHUNKS) -> Any:
    return da.from_array(values, chunks=(rows, *values.shape[1:]))


pytestmark = pytest.mark.usefixtures("here")


REGRESSORS = [
    RBFNetworkRegressor(8, random_state=0),
    RBFNetworkRegressor(8, alpha=0.01, penalty="curvature", centers="farthest"),
    RBFNetworkRegressor(5, centers="groups", width="own", alpha=0.1),
    RBFNetworkRegressor([3, 6], random_state=0, alpha="cv"),
    RBFNetworkRegressor(6, centers="mixture", width="own", random_state=0, alpha=0.1),
]
CLASSIFIERS = [
    RBFNetworkClassifier(6, random_state=0),
    RBFNetworkClassifier(6, random_state=0, alpha=0.1, output="logistic"),
]


def refit(model: Any, *data: Any) -> Any:
    return type(model)(**model.get_params()).fit(*data)


def agree(lazily: Any, in_memory: Any) -> None:
    np.testing.assert_allclose(lazily.centers_, in_memory.centers_, rtol=1e-9)
    np.testing.assert_allclose(lazily.width_, in_memory.width_, rtol=1e-9)
    assert lazily.alpha_ == pytest.approx(in_memory.alpha_, rel=1e-9)
    expected = in_memory.predict(X)
    found = lazily.predict(chunked(X))
    assert found.chunks[0] == CHUNKS
    if expected.dtype.kind == "U":
        assert np.array_equal(found.compute(), expected)
        np.testing.assert_allclose(
            lazily.decision_function(chunked(X)).compute(),
            in_memory.decision_function(X),
            rtol=1e-6,
            atol=1e-6,  # scores of Newton's method are as exact as it was told to be
        )
    else:
        np.testing.assert_allclose(found.compute(), expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("model", REGRESSORS, ids=str)
def test_heights_are_fitted_to_all_rows(model: Any) -> None:
    agree(refit(model, chunked(X), chunked(Y, 300)), refit(model, X, Y))


def test_weights_several_targets_and_names() -> None:
    model = RBFNetworkRegressor(8, random_state=0)
    agree(refit(model, chunked(X), Y, chunked(WEIGHT, 100)), refit(model, X, Y, WEIGHT))
    both = np.column_stack([Y, -Y])
    agree(refit(model, chunked(X), chunked(both)), refit(model, X, both))
    table = pd.DataFrame(X, columns=["a", "b"]).assign(y=Y)
    lazily = refit(model, dd.from_pandas(table, npartitions=3), "y")
    np.testing.assert_allclose(
        lazily.predict(table[["a", "b"]]), refit(model, X, Y).predict(X), rtol=1e-7, atol=1e-9
    )


@pytest.mark.parametrize("model", CLASSIFIERS, ids=str)
def test_classes_are_those_of_memory(model: Any) -> None:
    lazily = refit(model, chunked(X), chunked(LABELS, 300), WEIGHT)
    agree(lazily, refit(model, X, LABELS, WEIGHT))
    two = LABELS == "top"
    agree(refit(model, chunked(X), chunked(two)), refit(model, X, two))


def test_many_rows_are_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partitioned_network, "SAMPLE_ROWS", 200)
    places = X[::60]
    given = RBFNetworkRegressor(centers=places, width=1.0, alpha=0.1)
    agree(refit(given, chunked(X), Y), refit(given, X, Y))  # nothing is left to the sample
    drawn = RBFNetworkRegressor(8, centers="farthest", alpha=1e-3, random_state=0).fit(chunked(X), Y)
    assert np.array_equal(drawn.centers_, X[drawn.center_indices_])
    error = np.square(drawn.predict(X) - Y).mean()
    assert error < 1.2 * np.square(refit(drawn, X, Y).predict(X) - Y).mean()


def test_bumps_on_all_rows_are_refused() -> None:
    with pytest.raises(TypeError, match="take centers='kmeans', or fit a sample of the rows"):
        RBFNetworkRegressor(centers="all").fit(chunked(X), Y)


@pytest.mark.parametrize("output", ["linear", "logistic"])
def test_an_interrupted_fit_draws_the_same_sample_again(output, tmp_path, monkeypatch):
    """The generator has moved on meanwhile; what it gave is in the file."""
    monkeypatch.setattr(partitioned_network, "SAMPLE_ROWS", 200)
    rows, labels, path = chunked(X), chunked(LABELS), tmp_path / "kept"
    model = RBFNetworkClassifier([3, 5], alpha=0.1, output=output, random_state=np.random.RandomState(4))
    whole = refit(model.set_params(random_state=np.random.RandomState(4)), rows, labels)
    note = checkpoint._File.note
    for last in (2, 12, 40):
        model.set_params(random_state=np.random.RandomState(4), checkpoint=path)
        with monkeypatch.context() as patched:
            seen: list[str] = []

            def noting(self: Any, name: str, seen: list[str] = seen, last: int = last, **values: Any) -> None:
                note(self, name, **values)
                seen.append(name)
                if len(seen) == last:
                    raise KeyboardInterrupt

            patched.setattr(checkpoint._File, "note", noting)
            with pytest.raises(KeyboardInterrupt):
                model.fit(rows, labels)
        assert path.exists()
        model.fit(rows, labels)
        assert not path.exists()
        np.testing.assert_array_equal(model.coef_, whole.coef_)
        np.testing.assert_array_equal(model.centers_, whole.centers_)
        np.testing.assert_array_equal(model.cv_errors_, whole.cv_errors_)
