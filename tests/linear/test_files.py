"""Fits and predictions from files."""

import numpy as np
import pytest

import bisector
from bisector import LinearRegression

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


@pytest.fixture
def table(tmp_path):
    """Three features and two targets in four row groups; returns the path, X and Y."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 3))
    Y = X @ rng.standard_normal((3, 2)) + rng.standard_normal((400, 2))
    names = ["a", "b", "c", "first", "second"]
    path = tmp_path / "rows.parquet"
    columns = dict(zip(names, np.column_stack([X, Y]).T, strict=True))
    parquet.write_table(pyarrow.table(columns), path, row_group_size=100)
    return path, X, Y


def test_several_named_targets_are_several_targets(table):
    path, X, Y = table
    model = LinearRegression().fit(path, ["first", "second"])
    expected = LinearRegression().fit(X, Y)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-12)
    assert model.predict(path).shape == (400, 2)


def test_prediction_reads_the_features_among_the_columns_of_a_file(table):
    path, X, Y = table
    model = LinearRegression().fit(pyarrow.table({"c": X[:, 2], "a": X[:, 0]}), Y[:, 0])
    np.testing.assert_allclose(model.predict(path), X[:, [2, 0]] @ model.coef_ + model.intercept_, rtol=1e-12)


def test_a_file_without_a_feature_is_refused(table):
    path, X, Y = table
    model = LinearRegression().fit(pyarrow.table({"a": X[:, 0], "z": X[:, 1]}), Y[:, 0])
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(path)


def test_a_small_budget_allows_one_reader_and_changes_nothing(table):
    path, _, _ = table
    model = LinearRegression(n_jobs=8).fit(path, "first")
    with bisector.config(memory="20 kB"):
        careful = LinearRegression(n_jobs=8).fit(path, "first")
        assert careful._rows.most_readers() == 1
    np.testing.assert_array_equal(careful.coef_, model.coef_)


def test_text_is_no_target_even_if_it_reads_as_numbers():
    with pytest.raises(ValueError, match="needs numbers as targets"):
        LinearRegression().fit([[1.0], [2.0], [4.0]], np.array(["1", "2", "3"]))
