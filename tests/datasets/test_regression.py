"""Chapter 7, lines and planes: the simulators follow the model they state."""

import numpy as np
import pytest

from bisector import LinearRegression, datasets


def test_heights_and_weights_follow_the_line():
    n = 40_000
    height, weight = datasets.height_weight(n)
    line = LinearRegression().fit(height, weight)
    slope_error = np.sqrt(5 / n) / 10  # noise over the spread of heights
    assert line.coef_[0] == pytest.approx(0.83, abs=4 * slope_error)
    assert line.predict([[181.0]])[0] == pytest.approx(74.5, abs=4 * np.sqrt(5 / n))
    residuals = weight - line.predict(height)
    assert residuals.var() == pytest.approx(5, rel=4 * np.sqrt(2 / n))  # four standard errors of a variance
    assert height.mean() == pytest.approx(181, abs=4 * 10 / np.sqrt(n))
    assert height.std() == pytest.approx(10, rel=4 / np.sqrt(2 * n))


def test_without_noise_the_line_is_exact():
    height, weight = datasets.height_weight(noise=0)
    np.testing.assert_allclose(weight, 74.5 + 0.83 * (height[:, 0] - 181), rtol=1e-14)


def test_there_are_ten_people_as_in_the_figure():
    data = datasets.height_weight()
    assert data.X.shape == (10, 1)
    assert (data.feature_names, data.target_names) == (("height",), ("weight",))


@pytest.mark.parametrize("seed", range(5))
def test_the_outlier_is_one_weight_and_nothing_else(seed):
    right, wrong = datasets.height_weight(seed=seed), datasets.height_weight_outlier(seed=seed)
    np.testing.assert_array_equal(wrong.X, right.X)
    changed = np.flatnonzero(wrong.y != right.y)
    assert changed.tolist() == [right.X[:, 0].argmax()]
    assert wrong.y[changed] == right.y[changed] + 10


def test_the_outlier_can_be_anybody_and_of_any_size():
    right, wrong = datasets.height_weight(5), datasets.height_weight_outlier(5, row=2, shift=-4.0)
    assert np.flatnonzero(wrong.y != right.y).tolist() == [2]
    assert wrong.y[2] == right.y[2] - 4


def test_the_outlier_tilts_the_line_towards_it():
    right, wrong = datasets.height_weight(), datasets.height_weight_outlier()
    before, after = LinearRegression().fit(*right), LinearRegression().fit(*wrong)
    tallest = right.X.argmax()
    lever = (right.X[tallest, 0] - right.X.mean()) / ((right.X - right.X.mean()) ** 2).sum()
    assert after.coef_[0] - before.coef_[0] == pytest.approx(10 * lever, rel=1e-9)
    assert after.coef_[0] > before.coef_[0] + 0.1


@pytest.mark.parametrize("correlation", [-0.9, 0.0, 0.8])
@pytest.mark.parametrize("n", [4, 41])
def test_the_suppressor_is_exact_in_the_sample(correlation, n):
    X, y = datasets.suppressor(n, correlation=correlation, seed=2)
    # Over n, and to rounding: 1e-13 is hundreds of units in the last place of numbers of size 1.
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-13)
    np.testing.assert_allclose(X.T @ X / n, [[1, correlation], [correlation, 1]], atol=1e-13)
    assert X[:, 0] @ y / n == pytest.approx(0, abs=1e-13)
    np.testing.assert_allclose(LinearRegression().fit(X, y).coef_, [-correlation, 1], atol=1e-12)
    alone = LinearRegression(decomposed=True).fit(X, y).coef_
    np.testing.assert_allclose(alone, [0, 1 - correlation**2], atol=1e-12)


def test_the_suppressor_is_exact_where_drawn_columns_almost_depend_on_each_other():
    """Seeds for which removing correlations only once would leave some, since little is left of a column."""
    for seed in (36, 152, 201):
        X, y = datasets.suppressor(4, correlation=0.0, seed=seed)
        columns = np.column_stack([X, y - X[:, 1]])
        # A few roundings of numbers of size 1.
        np.testing.assert_allclose(columns.T @ columns / 4, np.diag([1, 1, 0.25]), atol=5e-15)


def test_the_noise_of_the_suppressor_has_the_size_it_says():
    X, y = datasets.suppressor(noise=0.5)
    assert np.std(y - X @ [-0.8, 1]) == pytest.approx(0.5, rel=1e-12)
    X, y = datasets.suppressor(noise=0)
    np.testing.assert_allclose(y, X @ [-0.8, 1], atol=1e-14)


@pytest.mark.parametrize("correlation", [-0.97, 0.0, 0.6])
def test_the_features_are_correlated_as_asked(correlation):
    n = 20_000
    X, y = datasets.correlated_features(n, correlation=correlation)
    # Four standard errors of a correlation.
    assert np.corrcoef(X.T)[0, 1] == pytest.approx(correlation, abs=4 * (1 - correlation**2) / np.sqrt(n))
    np.testing.assert_allclose(X.std(axis=0), 1, rtol=4 / np.sqrt(2 * n))
    assert np.std(y - X.sum(axis=1)) == pytest.approx(0.25, rel=4 / np.sqrt(2 * n))
    model = LinearRegression().fit(X, y)
    assert (np.abs(model.coef_ - 1) < 4 * model.standard_errors_[1:]).all()


def test_correlation_costs_certainty():
    """Figure 7.3: alone the features seem to do nothing, and together they are uncertain."""
    left, right = datasets.correlated_features(correlation=0), datasets.correlated_features()
    alone = [LinearRegression(decomposed=True).fit(*data).coef_ for data in (left, right)]
    assert (alone[0] > 0.7).all()
    assert (np.abs(alone[1]) < 0.2).all()
    errors = [LinearRegression().fit(*data).standard_errors_[1:] for data in (left, right)]
    assert (errors[1] > 3 * errors[0]).all()  # 1/√(1 − 0.97²) is 4.1
