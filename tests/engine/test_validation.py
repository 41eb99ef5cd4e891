"""The door: what is refused and in which words, and estimators that are never half-fitted."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, RegressorMixin

from bisector import LinearRegression
from bisector.engine.validation import (
    check_choice,
    check_flag,
    check_number,
    check_rows,
    check_training,
    check_weights,
    store,
)

X = np.random.default_rng(0).normal(size=(12, 3))
Y = X @ [1.0, -2.0, 3.0] + 4.0


class Mean(RegressorMixin, BaseEstimator):
    """The simplest model that goes through the door."""

    def __init__(self, shift: float = 0.0) -> None:
        self.shift = shift

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "Mean":
        rows, stand_in = check_training(self, X, y, sample_weight)
        blocks = [block.y for block in rows.blocks()]
        return store(self, stand_in, mean_=np.concatenate(blocks).mean() + self.shift)

    def predict(self, X: Any) -> Any:
        return np.full(check_rows(self, X).n_rows, self.mean_)


# What a fit leaves behind


def test_what_was_learned_before_is_replaced_all_at_once() -> None:
    model = Mean(shift=1.0)
    model._private = "kept"
    model.fit(pd.DataFrame(X, columns=["a", "b", "c"]), Y)
    model.stale_ = "from an older fit"
    first = vars(model)
    model.fit(X[:, :2], Y)
    assert set(vars(model)) == {"shift", "_private", "n_features_in_", "mean_"}
    assert (model.shift, model._private, model.n_features_in_) == (1.0, "kept", 2)
    assert first["n_features_in_"] == 3  # the old state was put away whole, not taken apart


def test_a_parameter_stays_the_object_it_is() -> None:
    shift = np.float64(2.0)
    model = Mean(shift=shift).fit(X, Y)
    assert model.shift is shift


def with_values(table: Any, changes: dict[Any, float]) -> Any:
    changed = table.copy()
    for place, value in changes.items():
        changed[place] = value
    return changed


BAD_INPUT: dict[str, tuple[Any, Any, Any]] = {
    "NaN in X": (with_values(X, {(5, 1): np.nan}), Y, None),
    "NaN in y": (X, with_values(Y, {5: np.nan}), None),
    "lengths": (X, Y[:-1], None),
    "text": (pd.DataFrame({"a": ["red"] * 12}), Y, None),
    "weights": (X, Y, -np.ones(12)),
    "no rows": (X[:0], Y[:0], None),
    "no columns": (X[:, :0], Y, None),
    "no column of that name": (pd.DataFrame(X, columns=["a", "b", "c"]), "d", None),
}


@pytest.mark.parametrize("bad", BAD_INPUT)
@pytest.mark.parametrize("fitted", [False, True])
def test_a_fit_that_fails_leaves_the_estimator_as_it_was(bad: str, fitted: bool) -> None:
    model = LinearRegression()
    if fitted:
        model.fit(pd.DataFrame(X, columns=["a", "b", "c"]), Y)
    before = dict(vars(model))
    with pytest.raises(ValueError, match=r"."):
        model.fit(*BAD_INPUT[bad])
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is value for name, value in before.items())


# X and y


def parquet(table: pd.DataFrame, folder: Path) -> Path:
    pa.parquet.write_table(pa.Table.from_pandas(table, preserve_index=False), folder / "t.parquet")
    return folder / "t.parquet"


HOLD = {
    "pandas": lambda table, _: table,
    "polars": lambda table, _: pl.from_pandas(table),
    "Arrow": lambda table, _: pa.Table.from_pandas(table, preserve_index=False),
    "Arrow batch": lambda table, _: pa.RecordBatch.from_pandas(table, preserve_index=False),
    "Parquet": parquet,
}


@pytest.mark.parametrize("held", HOLD)
def test_names_of_columns_are_learned_and_compared(held: str, tmp_path: Path) -> None:
    table = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=Y)[["a", "y", "b", "c"]]
    by_name = Mean().fit(HOLD[held](table, tmp_path), "y")
    beside = Mean().fit(HOLD[held](table[["a", "b", "c"]], tmp_path), Y)
    for model in (by_name, beside):
        assert model.mean_ == pytest.approx(Y.mean(), rel=1e-14)
        assert model.n_features_in_ == 3
        assert model.feature_names_in_.tolist() == ["a", "b", "c"]
        assert len(model.predict(HOLD[held](table[["a", "b", "c"]], tmp_path))) == 12
        with pytest.raises(ValueError, match=r"feature names should match|features, but"):
            model.predict(HOLD[held](table[["a", "b"]].assign(d=0.0), tmp_path))


def test_a_target_beside_columns_that_are_numbered() -> None:
    frame = pd.DataFrame(X)
    frame["y"] = Y
    model = Mean().fit(frame, "y")
    assert model.n_features_in_ == 3
    assert not hasattr(model, "feature_names_in_")


def test_a_frame_without_rows_or_features(tmp_path: Path) -> None:
    table = pd.DataFrame({"a": [1.0], "y": [2.0]})
    for hold in HOLD.values():
        with pytest.raises(
            ValueError, match=r"0 sample\(s\) and 1 feature\(s\) .* a minimum of 1 is required"
        ):
            Mean().fit(hold(table[:0], tmp_path), "y")
        with pytest.raises(ValueError, match=r"1 sample\(s\) and 0 feature\(s\)"):
            Mean().fit(hold(table[["y"]], tmp_path), "y")


class DaskLike:
    shape = X.shape

    def __dask_graph__(self) -> dict[str, Any]:
        return {}

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise AssertionError("the collection was converted")


def test_a_dask_collection_is_asked_before_scikit_learn_sees_it() -> None:
    with pytest.raises(
        TypeError, match="Rows cannot be read from a Dask DaskLike: pass an array, a dataframe"
    ):
        Mean().fit(DaskLike(), Y)
    with pytest.raises(TypeError, match="Rows cannot be read from a Dask DaskLike"):
        Mean().fit(X, Y).predict(DaskLike())


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "Mean requires y to be passed, but the target y is None: call fit"),
        (Y[:-1], "X has 12 rows but y has 11"),
        (5.0, "y must be an array with one entry for each of the 12 rows"),
        (sp.csr_array(Y[:, None]), "y must be an array with one entry for each of the 12 rows"),
        (np.column_stack([Y, Y]), "should be a 1d array"),
        (with_values(Y, {7: np.nan}), "y contains NaN in row 7"),
        (with_values(Y, {7: -np.inf, 9: np.inf}), "y contains inf in row 7"),
        (["red"] * 11 + [3], "Mean needs numbers as targets, but y has the type"),
        (np.array(["red"] * 12), "Mean needs numbers as targets, but y has the type <U3"),
        (pd.Series([None, *range(11)], dtype="Int64"), "y contains NaN in row 0"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_targets_that_are_refused(y: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Mean().fit(X, y)


def test_the_name_of_a_target_needs_columns_with_names() -> None:
    with pytest.raises(TypeError, match="y='price' names columns, but X is a ndarray"):
        Mean().fit(X, "price")


def test_several_names_are_refused_where_one_target_is_learned(tmp_path: Path) -> None:
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    for hold in HOLD.values():
        with pytest.raises(ValueError, match=r"one column, not \['b', 'c'\]|should be a 1d array"):
            Mean().fit(hold(table, tmp_path), ["b", "c"])


@pytest.mark.parametrize(
    "y", [Y.astype(np.float32), (Y * 10).astype(int), pd.Series(Y), pl.Series(Y), Y.tolist()]
)
def test_targets_become_doubles_in_a_row(y: Any) -> None:
    rows, _ = check_training(Mean(), X, y)
    assert rows.y is not None
    assert rows.y.dtype == np.float64
    assert rows.y.flags.c_contiguous
    np.testing.assert_array_equal(rows.y, np.asarray(y, dtype=np.float64))


def test_huge_targets_are_not_mistaken_for_infinite_ones() -> None:
    y = np.full(12, 1.7e308)
    assert check_training(Mean(), X, y)[0].y is not None


# Weights


def test_weights_that_are_good() -> None:
    assert check_weights(None, 3) is None
    np.testing.assert_array_equal(check_weights([1, 0, 2], 3), [1.0, 0.0, 2.0])
    np.testing.assert_array_equal(check_weights(2.5, 3), [2.5, 2.5, 2.5])
    np.testing.assert_array_equal(check_weights(pd.Series([True, False, True]), 3), [1.0, 0.0, 1.0])


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1, -2, -3], r"sample_weight is negative in row 1 \(-2.0\): weights must be zero or positive"),
        ([1, 1, np.nan], r"sample_weight is NaN or infinite in row 2 \(nan\)"),
        ([np.inf, 1, 1], r"sample_weight is NaN or infinite in row 0 \(inf\)"),
        ([-np.inf, 1, 1], r"sample_weight is negative in row 0"),
        ([0, 0, 0], "sample_weight is zero for every row, which leaves nothing to learn from"),
        (0.0, "sample_weight is zero for every row"),
        (-1.0, "sample_weight is negative in row 0"),
        ([1, 2], r"sample_weight.shape == \(2,\), expected \(3,\): give one weight for each row"),
        ([[1], [1], [1]], r"sample_weight.shape == \(3, 1\), expected \(3,\)"),
        (["a", "b", "c"], "sample_weight must hold one number for each row"),
        ([None, {}, 1], "sample_weight must hold one number for each row"),
    ],
    ids=str,
)
def test_weights_that_are_refused(weight: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_weights(weight, 3)


# Parameters


def test_flags() -> None:
    assert check_flag("fast", True) is True
    assert check_flag("fast", np.False_) is False
    for value in (1, "yes", None):
        with pytest.raises(ValueError, match=f"fast must be True or False, not {value!r}"):
            check_flag("fast", value)


def test_numbers_within_bounds() -> None:
    assert check_number("tol", 0, at_least=0) == 0.0
    assert check_number("tol", np.float32(0.5), above=0, below=1) == 0.5
    assert check_number("tol", np.int64(7)) == 7.0
    assert check_number("C", np.inf, above=0) == np.inf


@pytest.mark.parametrize(
    ("value", "bounds", "error", "message"),
    [
        (0, {"above": 0}, ValueError, "tol must be a number above 0, not 0."),
        (1, {"above": 0, "below": 1}, ValueError, "tol must be a number above 0 and below 1, not 1."),
        (-0.5, {"at_least": 0}, ValueError, "tol must be a number at least 0, not -0.5."),
        (float("nan"), {"at_least": 0}, ValueError, "tol must be a number at least 0, not nan."),
        (float("nan"), {}, ValueError, "tol must be a number, not nan."),
        ("1", {}, TypeError, "tol must be a number, not '1'."),
        (True, {"above": 0}, TypeError, "tol must be a number above 0, not True."),
        (None, {"below": 0.25}, TypeError, "tol must be a number below 0.25, not None."),
        (1j, {}, TypeError, "tol must be a number, not 1j."),
    ],
    ids=str,
)
def test_numbers_that_are_refused(value: Any, bounds: Any, error: Any, message: str) -> None:
    with pytest.raises(error) as caught:
        check_number("tol", value, **bounds)
    assert str(caught.value) == message


def test_choices() -> None:
    assert check_choice("kind", "mean", ("mean", "new")) == "mean"
    for value in ("median", None, 3, np.array(["mean", "new"])):
        with pytest.raises(ValueError, match=r"^kind must be one of 'mean', 'new', not"):
            check_choice("kind", value, ("mean", "new"))


def test_weights_whose_sums_would_overflow_are_refused():
    with pytest.raises(ValueError, match="in row 1: a weight counts as so many equal rows"):
        check_weights([1.0, 1e200, 2.0], 3)
