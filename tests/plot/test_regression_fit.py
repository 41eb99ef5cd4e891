"""Regression curves with their intervals, and residuals with outliers marked."""

import numpy as np
import pandas as pd
import pytest

from bisector import KNeighborsRegressor, LinearRegression, RegressionDisplay, datasets


@pytest.fixture(scope="module")
def people():
    X, y = datasets.height_weight_outlier()
    return X, y, LinearRegression().fit(X, y)


def test_the_line_and_its_intervals_are_the_models(people):
    X, y, model = people
    display = RegressionDisplay.from_estimator(model, X, y, level=0.9)
    at, curve = display.line_.get_data()
    assert curve == pytest.approx(model.predict(at[:, None]))
    assert at[0] < X.min() < X.max() < at[-1]
    for kind, band, numbers in zip(
        ("new", "mean"), display.bands_, (display.new_interval, display.mean_interval), strict=True
    ):
        ends = model.predict_interval(at[:, None], level=0.9, kind=kind)
        assert numbers == pytest.approx(ends)
        drawn = band.get_paths()[0].vertices[:, 1]
        assert (drawn.min(), drawn.max()) == pytest.approx((ends.min(), ends.max()))
    assert display.points_.get_offsets().data == pytest.approx(np.column_stack([X, y]))
    assert display.bands_[0].get_label() == "90 % of new y"


def test_the_outlier_is_ringed_and_numbered(people):
    X, y, model = people
    display = RegressionDisplay.from_estimator(model, X, y)
    wrong = int(np.argmax(y - datasets.height_weight().y))
    assert display.outliers.tolist() == [wrong]
    assert display.outliers_.get_offsets().data == pytest.approx(np.array([[X[wrong, 0], y[wrong]]]))
    assert [text.get_text() for text in display.ax_.texts] == [str(wrong)]


def test_marks_can_be_left_out(people):
    X, y, model = people
    display = RegressionDisplay.from_estimator(model, X, y, marks=False)
    assert display.outliers.tolist() == [6]
    assert display.outliers_ is None
    assert not display.ax_.texts


def test_studentized_residuals_are_those_of_refits_without_the_row(people):
    """The definition: the row's error under the fit of the others, over its standard error."""
    X, y, model = people
    display = RegressionDisplay.from_estimator(model, X, y, kind="residuals")
    for row in range(len(y)):
        others = np.delete(np.arange(len(y)), row)
        left = LinearRegression().fit(X[others], y[others])
        low, high = left.predict_interval(X[[row]], level=0.6826894921370859)[0]
        error = y[row] - left.predict(X[[row]])[0]
        # The interval is t quantiles wide; of 7 degrees of freedom the quantile is 1.0767.
        expected = error / ((high - low) / 2 / 1.0767)
        assert display.studentized[row] == pytest.approx(expected, rel=2e-3)


def test_residuals_of_many_features():
    X, y = datasets.diabetes(scaled=True)
    model = LinearRegression().fit(X, y)
    display = RegressionDisplay.from_estimator(model, X, y, kind="residuals", target_name="progression")
    predicted = model.predict(X)
    assert display.points_.get_offsets().data == pytest.approx(np.column_stack([predicted, y - predicted]))
    assert display.line_.get_ydata() == [0.0, 0.0]
    assert display.ax_.get_xlabel() == "predicted progression"
    leverage = model.leverage(X)
    assert display.far_out.tolist() == np.flatnonzero(leverage > 3 * leverage.mean()).tolist()


def test_without_leverage_the_median_judges():
    y = np.array([0.0, 1.0, -1.0, 1.0, -1.0, 30.0])
    display = RegressionDisplay.from_predictions(y, np.zeros(6))
    assert display.studentized == pytest.approx(y / 1.4826)
    assert display.outliers.tolist() == [5]
    assert display.far_out.size == 0


def test_any_regressor_of_one_feature_has_a_curve():
    X, y = datasets.noisy_curve()
    frame = pd.DataFrame(X, columns=["time"])
    model = KNeighborsRegressor(3).fit(frame, y)
    display = RegressionDisplay.from_estimator(model, frame, y, resolution=50)
    assert display.bands_ == []
    assert display.curve == pytest.approx(model.predict(pd.DataFrame(display.at, columns=["time"])))
    assert display.ax_.get_xlabel() == "time"


def test_as_many_coefficients_as_rows_leave_nothing_to_judge():
    X, y = np.array([[0.0], [1.0]]), np.array([0.0, 1.0])
    display = RegressionDisplay.from_estimator(LinearRegression().fit(X, y), X, y, kind="residuals")
    assert display.outliers.size == 0


def test_many_rows_are_counted():
    rng = np.random.default_rng(0)
    y = rng.normal(size=20_000)
    display = RegressionDisplay.from_predictions(y + rng.normal(size=20_000), y)
    assert type(display.points_).__name__ == "QuadMesh"
    # Of very many outliers, the farthest are ringed.
    far = np.sort(np.abs(display.studentized))[-50:]
    assert len(display.outliers) > 50
    assert display.outliers_.get_label() == f"outliers: 50 of {len(display.outliers)}"
    rings = np.sort(np.abs(display.outliers_.get_offsets().data[:, 1]))
    assert rings == pytest.approx(far * np.abs(display.residuals / display.studentized).max())


def test_bad_input(people):
    X, y, model = people
    wide = np.random.default_rng(0).normal(size=(10, 3))
    with pytest.raises(ValueError, match='3 features, but a line is drawn over one: take kind="residuals"'):
        RegressionDisplay.from_estimator(LinearRegression().fit(wide, y), wide, y)
    with pytest.raises(ValueError, match="kind must be"):
        RegressionDisplay.from_estimator(model, X, y, kind="curve")
    with pytest.raises(ValueError, match="give one target a row"):
        RegressionDisplay.from_estimator(model, X, y[:5])
    with pytest.raises(ValueError, match="There is no curve to draw"):
        RegressionDisplay(X[:, 0], y, y).plot()
    with pytest.raises(ValueError, match="must be of one length"):
        RegressionDisplay(X[:, 0], y, y[:3])
    two = LinearRegression().fit(X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match="predicts several targets"):
        RegressionDisplay.from_estimator(two, X, y, kind="residuals")
