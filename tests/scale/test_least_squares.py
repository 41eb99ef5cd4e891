"""Least squares on Dask collections: the same bits as in memory, on any scheduler, for any kind of collection."""

from typing import Any

import dask
import dask.array as da
import dask.bag
import dask.dataframe as dd
import distributed
import numpy as np
import pandas as pd
import pytest

from bisector import LinearRegression
from bisector.engine.columns import Column
from bisector.engine.sources import source

# With 64 columns a block has 4096 rows, so that these 32768 rows are eight blocks wherever they are cut at such.
BLOCK = 4096
RNG = np.random.default_rng(5)
X = RNG.normal(size=(8 * BLOCK, 64))
Y = X @ RNG.normal(size=64) + RNG.normal(size=len(X)) + 3.0
WEIGHT = RNG.integers(0, 4, size=len(X)).astype(float)


def chunked(values: np.ndarray, rows: Any) -> Any:
    return da.from_array(values, chunks=(rows, *values.shape[1:]))


def same_bits(one: LinearRegression, other: LinearRegression) -> bool:
    return np.array_equal(one.coef_, other.coef_) and one.intercept_ == other.intercept_


def test_blocks_are_those_of_memory_when_chunks_end_where_blocks_do() -> None:
    uneven = (BLOCK, 3 * BLOCK, 2 * BLOCK, 2 * BLOCK)
    assert np.array_equal(source(chunked(X, uneven)).boundaries, source(X).boundaries)


def test_the_same_bits_on_every_scheduler(scheduler: str) -> None:
    in_memory = LinearRegression().fit(X, Y)
    uneven = (BLOCK, 3 * BLOCK, 2 * BLOCK, 2 * BLOCK)
    assert same_bits(in_memory, LinearRegression().fit(chunked(X, 2 * BLOCK), chunked(Y, 2 * BLOCK)))
    assert same_bits(in_memory, LinearRegression().fit(chunked(X, uneven), Y))
    weighted = LinearRegression().fit(X, Y, WEIGHT)
    lazily = LinearRegression().fit(chunked(X, BLOCK), chunked(Y, 5000), chunked(WEIGHT, 7000))
    assert same_bits(weighted, lazily)
    assert np.array_equal(weighted.standard_errors_, lazily.standard_errors_)


def test_refinement_of_nearly_dependent_columns_agrees(two_workers: Any) -> None:
    twins = X[:, :8].copy()
    twins[:, 7] = twins[:, 0] + 1e-6 * twins[:, 7]
    # Eight columns have blocks of 32768 rows, hence one here; chunks cut the other source into four.
    in_memory = LinearRegression().fit(twins, Y)
    with distributed.Client(two_workers):
        lazily = LinearRegression().fit(chunked(twins, 2 * BLOCK), Y)
    assert in_memory.solver_ == lazily.solver_ == "qr"
    # Both are refined to the rounding of the solution itself, about 1e-16 × the condition number of 1e6.
    np.testing.assert_allclose(lazily.coef_, in_memory.coef_, rtol=1e-9)


def test_other_chunks_agree_to_rounding() -> None:
    in_memory = LinearRegression().fit(X, Y)
    for chunks in (1000, (1, 0, 10000, 0, 20000, 2767)):
        with dask.config.set(scheduler="synchronous"):
            lazily = LinearRegression().fit(chunked(X, chunks), Y)
        # Statistics are the same to 1e-12, and the columns are nearly independent.
        np.testing.assert_allclose(lazily.coef_, in_memory.coef_, rtol=0, atol=1e-12)


def test_neither_targets_nor_weights_are_gathered(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Any, dtype: Any = None, copy: Any = None) -> Any:
        raise AssertionError("a column was gathered")

    monkeypatch.setattr(Column, "__array__", refuse)
    with dask.config.set(scheduler="synchronous"):
        model = LinearRegression().fit(chunked(X, BLOCK), chunked(Y, BLOCK), chunked(WEIGHT, BLOCK))
    assert same_bits(model, LinearRegression().fit(X, Y, WEIGHT))


@pytest.mark.usefixtures("here")
def test_the_summary_is_that_of_memory() -> None:
    in_memory, lazily = (
        LinearRegression().fit(X[:, :3], Y),
        LinearRegression().fit(chunked(X[:, :3], 20000), Y),
    )
    assert str(lazily.summary()) == str(in_memory.summary())
    np.testing.assert_allclose(lazily.leverage_, in_memory.leverage_, rtol=1e-12)


@pytest.mark.usefixtures("here")
def test_float32_stays_float32() -> None:
    narrow = X.astype(np.float32)
    in_memory, lazily = (
        LinearRegression().fit(narrow, Y),
        LinearRegression().fit(chunked(narrow, 2 * BLOCK), Y),
    )
    assert lazily.coef_.dtype == np.float32
    assert lazily.predict(chunked(narrow, BLOCK)).dtype == in_memory.predict(narrow).dtype
    np.testing.assert_allclose(lazily.coef_, in_memory.coef_, rtol=1e-6)


@pytest.mark.usefixtures("here")
def test_unknown_chunk_sizes_are_counted() -> None:
    kept = X[:, 0] > 0
    lazy = chunked(X, 5000)
    model = LinearRegression().fit(lazy[lazy[:, 0] > 0], Y[kept])
    np.testing.assert_allclose(model.coef_, LinearRegression().fit(X[kept], Y[kept]).coef_, rtol=1e-10)
    predicted = model.predict(lazy[lazy[:, 0] > 0])
    assert np.isnan(predicted.chunks[0]).all()
    np.testing.assert_allclose(predicted.compute(), model.predict(X[kept]), rtol=1e-12)


@pytest.mark.usefixtures("here")
def test_targets_of_unknown_chunks_are_cut_as_the_rows_are() -> None:
    kept = X[:, 0] > 0
    lazy, target, key = chunked(X, 5000), chunked(Y, 7000), chunked(X[:, 0], 7000)
    model = LinearRegression().fit(lazy[lazy[:, 0] > 0], target[key > 0])
    np.testing.assert_allclose(model.coef_, LinearRegression().fit(X[kept], Y[kept]).coef_, rtol=1e-10)


def table() -> pd.DataFrame:
    made = pd.DataFrame(X[:1000, :3], columns=["a", "b", "c"])
    made["size"] = np.arange(1000)
    made["t"], made["u"] = Y[:1000], -Y[:1000]
    return made


@pytest.mark.usefixtures("here")
def test_a_dataframe_names_its_targets_and_features() -> None:
    frame = table()
    in_memory, lazy = LinearRegression().fit(frame, ["t", "u"]), dd.from_pandas(frame, npartitions=3)
    model = LinearRegression().fit(lazy, ["t", "u"])
    assert model.feature_names_in_.tolist() == ["a", "b", "c", "size"]
    np.testing.assert_allclose(model.coef_, in_memory.coef_, rtol=1e-9)
    # A table may hold more than the model was fitted on.
    predicted = model.predict(lazy)
    assert isinstance(predicted, da.Array)
    assert predicted.shape[1] == 2
    np.testing.assert_allclose(
        predicted.compute(), in_memory.predict(frame.drop(columns=["t", "u"])), rtol=1e-9
    )
    series = LinearRegression().fit(lazy[["a", "b"]], lazy["t"], lazy["size"])
    given = LinearRegression().fit(frame[["a", "b"]], frame["t"], frame["size"])
    np.testing.assert_allclose(series.coef_, given.coef_, rtol=1e-9)


@pytest.mark.usefixtures("here")
def test_delayed_blocks_of_any_length() -> None:
    parts = np.split(X, [100, 100, 9000])
    blocks = [dask.delayed(part) for part in parts]
    targets = [dask.delayed(part) for part in np.split(Y, [100, 100, 9000])]
    model = LinearRegression().fit(blocks, targets)
    np.testing.assert_allclose(model.coef_, LinearRegression().fit(X, Y).coef_, rtol=1e-10)
    np.testing.assert_allclose(model.predict(blocks).compute(), model.predict(X), rtol=1e-12)


@pytest.mark.usefixtures("here")
def test_predictions_are_lazy_and_keep_their_chunks() -> None:
    model = LinearRegression().fit(X, np.column_stack([Y, Y]))
    lazy = chunked(X, (5000, 0, 27768))
    predicted = model.predict(lazy)
    assert predicted.chunks == ((5000, 0, 27768), (2,))
    assert predicted.dtype == np.float64
    np.testing.assert_allclose(predicted.compute(), model.predict(X), rtol=1e-12)
    ends = model.predict_interval(lazy, level=0.9)
    assert ends.shape == (len(X), 2, 2)
    np.testing.assert_allclose(ends[:7].compute(), model.predict_interval(X[:7], level=0.9), rtol=1e-9)


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("row", "where"), [(3, "row 3 (row 3 of partition 0)"), (9000, "row 808 of partition 2")]
)
def test_what_is_not_finite_is_named_with_its_partition(row: int, where: str) -> None:
    broken = X.copy()
    broken[row, 5] = np.inf
    model = LinearRegression()
    with pytest.raises(ValueError, match="X contains inf") as caught:
        model.fit(chunked(broken, (BLOCK, BLOCK, 2 * BLOCK, 4 * BLOCK)), Y)
    assert where in str(caught.value)
    assert "column 5" in str(caught.value)
    assert not hasattr(model, "coef_")
    missing = Y.copy()
    missing[row] = np.nan
    with pytest.raises(ValueError, match="y contains NaN"):
        model.fit(chunked(X, BLOCK), chunked(missing, BLOCK))


@pytest.mark.usefixtures("here")
def test_bad_weights_are_named() -> None:
    bad = WEIGHT.copy()
    bad[9000] = -1.0
    with pytest.raises(ValueError, match=r"negative in row 9000 \(row 808 of partition 2\)"):
        LinearRegression().fit(chunked(X, BLOCK), Y, chunked(bad, BLOCK))
    with pytest.raises(ValueError, match="zero for every row"):
        LinearRegression().fit(chunked(X, BLOCK), Y, chunked(0 * bad, BLOCK))


@pytest.mark.usefixtures("here")
def test_input_that_does_not_fit_is_refused_in_a_sentence() -> None:
    lazy = chunked(X, BLOCK)
    with pytest.raises(ValueError, match="X has 32768 rows but y has 5"):
        LinearRegression().fit(lazy, Y[:5])
    with pytest.raises(ValueError, match="X has 32768 rows but sample_weight has 5"):
        LinearRegression().fit(lazy, Y, chunked(Y[:5], 5))
    with pytest.raises(TypeError, match="y='t' names columns, but X is a Dask array"):
        LinearRegression().fit(lazy, "t")
    with pytest.raises(ValueError, match="must have two dimensions"):
        LinearRegression().fit(lazy[:, 0], Y)
    with pytest.raises(ValueError, match="minimum of 1 is required"):
        LinearRegression().fit(lazy[:0], Y[:0])
    with pytest.raises(TypeError, match="a Dask Bag"):
        LinearRegression().fit(dask.bag.from_sequence([1]), Y)
    model = LinearRegression().fit(X, Y)
    with pytest.raises(ValueError, match="X has 3 features, but LinearRegression is expecting 64"):
        model.predict(lazy[:, :3])
    with pytest.raises(ValueError, match="not fitted"):
        LinearRegression().predict(lazy)
