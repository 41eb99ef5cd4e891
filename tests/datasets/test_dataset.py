"""The value that every maker returns."""

import builtins
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from bisector import LinearRegression, datasets
from bisector.datasets import Dataset


@pytest.fixture
def pair():
    return Dataset(
        X=np.array([[1.0, 2.0], [3.0, 4.0]]), y=np.array([-1, 1]),
        feature_names=("a", "b"), target_names=("label",), class_names=(),
        name="pair", title="Two rows", shows="There are two.", source="this test",
    )  # fmt: skip


def test_it_unpacks_into_its_arrays(pair):
    X, y = pair
    assert X is pair.X
    assert y is pair.y


def test_it_is_frozen(pair):
    with pytest.raises(FrozenInstanceError):
        pair.name = "other"


def test_it_prints_as_a_description(pair):
    assert repr(pair).splitlines() == [
        "Two rows", "========", "", "There are two.", "",
        "name      pair", "rows      2", "features  a, b", "target    label", "classes   -1, +1",
        "source    this test",
    ]  # fmt: skip


def test_class_names_go_before_labels_and_long_lists_are_cut():
    assert "classes   setosa, versicolor, virginica\n" in repr(datasets.iris())
    assert "mean fractal dimension, 20 more\n" in repr(datasets.breast_cancer())
    assert "classes   0, 1, 2, 3, 4, 5, 6, 7, 8, 9\n" in repr(datasets.digit_features())
    assert "targets   Weight, Waist, Pulse\n" in repr(datasets.linnerud())
    assert "rows      1,797\n" in repr(datasets.digit_features())


def test_numbers_are_not_classes():
    assert "classes" not in repr(datasets.height_weight())
    assert "target" not in repr(datasets.grid())


def test_html_escapes_names(pair):
    html = replace(pair, feature_names=("<script>", "b"))._repr_html_()
    assert "&lt;script&gt;" in html
    assert "<script>" not in html


def test_equal_means_equal_in_everything(pair):
    assert pair == replace(pair, X=pair.X.copy())
    assert pair != replace(pair, X=pair.X.astype("float32"))
    assert pair != replace(pair, X=pair.X[:1])
    assert pair != replace(pair, y=None)
    assert pair != replace(pair, shows="There are more.")
    assert pair != "pair"
    assert replace(pair, y=None) == replace(pair, y=None)


def test_it_is_no_key_since_its_arrays_can_change(pair):
    with pytest.raises(TypeError, match="unhashable"):
        hash(pair)


# As a frame


@pytest.mark.parametrize("name", datasets.names())
def test_the_frame_holds_all_columns(name):
    pandas = pytest.importorskip("pandas")
    data = datasets.load(name)
    frame = data.frame
    assert isinstance(frame, pandas.DataFrame)
    assert tuple(frame.columns) == data.feature_names + data.target_names
    np.testing.assert_array_equal(frame[list(data.feature_names)].to_numpy(), data.X)
    if data.y is not None:
        targets = frame[list(data.target_names)].to_numpy().reshape(data.y.shape)
        np.testing.assert_array_equal(targets, data.y)
        assert all(frame[target].dtype == data.y.dtype for target in data.target_names)


def test_the_frame_is_a_copy(pair):
    pytest.importorskip("pandas")
    frame = pair.frame
    frame.loc[0, "a"] = 100.0
    frame.loc[0, "label"] = 100
    assert pair.X[0, 0] == 1
    assert pair.y[0] == -1


def test_an_estimator_takes_the_frame():
    pytest.importorskip("pandas")
    data = datasets.linnerud()
    fitted = LinearRegression().fit(data.frame, list(data.target_names))
    np.testing.assert_allclose(fitted.coef_, LinearRegression().fit(*data).coef_, rtol=1e-12)
    assert tuple(fitted.feature_names_in_) == data.feature_names


def test_without_pandas_the_arrays_remain(pair, monkeypatch):
    found = builtins.__import__

    def without_pandas(name, *args, **kwargs):
        if name.partition(".")[0] == "pandas":
            raise ModuleNotFoundError("No module named 'pandas'")
        return found(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_pandas)
    with pytest.raises(ImportError, match="pandas is not installed: install it") as error:
        _ = pair.frame
    assert "use the arrays X and y" in str(error.value)
    assert pair.X.shape == (2, 2)
