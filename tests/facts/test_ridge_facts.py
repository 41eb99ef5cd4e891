"""Section 7.1 and LFD Problem 6.6: what the sources say of shrinkage, and of errors in both x and y."""

import numpy as np
import pytest

from bisector import KernelRidge, Ridge, RidgeCV, TotalLeastSquares
from bisector.linear.linear_regression import LinearRegression

X = np.array([[5.0, 0.0], [3.0, 5.0], [1.0, 7.0]])
Y = np.array([1.0, 2.0, 4.0])


def test_the_closed_form():
    """Equation 7.5, w = (XᵀX + λI)⁻¹Xᵀy, with XᵀX = [[35, 22], [22, 74]] and λ = 1."""
    expected = np.linalg.solve([[36.0, 22.0], [22.0, 75.0]], [15.0, 38.0])
    model = Ridge(alpha=1.0, fit_intercept=False).fit(X, Y)
    np.testing.assert_allclose(model.coef_, expected, rtol=1e-13)
    # (36·75 − 22²) = 2216: w = (15·75 − 22·38, 36·38 − 22·15)/2216
    np.testing.assert_allclose(model.coef_, np.array([289.0, 1038.0]) / 2216, rtol=1e-13)


def test_centred_the_scatter_matrix_takes_its_place():
    """S = [[8, −14], [−14, 26]] about the means (3, 4)."""
    gradient = (X - [3.0, 4.0]).T @ (Y - Y.mean())
    expected = np.linalg.solve([[10.0, -14.0], [-14.0, 28.0]], gradient)
    np.testing.assert_allclose(Ridge(alpha=2.0).fit(X, Y).coef_, expected, rtol=1e-12)


def test_shrinkage_makes_the_coefficients_short():
    lengths = [np.linalg.norm(Ridge(alpha).fit(X, Y).coef_) for alpha in (0.0, 0.1, 1.0, 10.0, 1e3)]
    assert (np.diff(lengths) < 0).all()
    assert lengths[-1] < 0.02
    np.testing.assert_array_equal(Ridge(0.0).fit(X, Y).coef_, LinearRegression().fit(X, Y).coef_)


def test_adding_to_the_diagonal_makes_the_inversion_stable():
    """Two columns that differ in the ninth digit: least squares follows the noise, ridge does not."""
    x = np.linspace(-1, 1, 20)
    noise = 0.1 * np.sin(17 * x)
    columns = np.column_stack([x, x + 1e-9 * np.sin(30 * x)])
    assert np.abs(LinearRegression().fit(columns, x + noise).coef_).max() > 1e5
    np.testing.assert_allclose(Ridge(1e-3).fit(columns, x + noise).coef_, [0.5, 0.5], atol=0.05)


def test_the_kernel_representation_of_weight_decay():
    """LFD, Problem 6.6: g(x) = Σ K(x, xₙ)yₙ with K(x, x') = xᵀ(ZᵀZ + λΓᵀΓ)⁻¹x'."""
    gamma = np.array([[1.0, 0.5], [0.0, 2.0]])
    model = Ridge(0.7, fit_intercept=False, penalty=gamma).fit(X, Y)
    kernel = np.array([[1.0, 1.0]]) @ np.linalg.solve(X.T @ X + 0.7 * gamma.T @ gamma, X.T)
    np.testing.assert_allclose(model.equivalent_kernel([[1.0, 1.0]]), kernel, rtol=1e-12)
    assert (kernel @ Y)[0] == pytest.approx(model.predict([[1.0, 1.0]])[0], rel=1e-12)


def test_primal_and_dual_forms_are_one_model():
    """Xᵀ(XXᵀ + λI)⁻¹y is the same w."""
    new = np.array([[2.0, 2.0], [-1.0, 3.0]])
    dual = KernelRidge(0.7).fit(X, Y)
    np.testing.assert_allclose(dual.predict(new), Ridge(0.7, fit_intercept=False).fit(X, Y).predict(new))
    np.testing.assert_allclose(dual.dual_coef_, np.linalg.solve(X @ X.T + 0.7 * np.eye(3), Y), rtol=1e-11)


def test_the_penalty_is_chosen_on_rows_held_out():
    """Of forty columns one matters: rows left out ask for shrinkage, the training rows never do."""
    rng = np.random.default_rng(5)
    columns = rng.normal(size=(60, 40))
    y = columns[:, 0] + rng.normal(size=60)
    model = RidgeCV(np.geomspace(1e-3, 1e3, 25)).fit(columns, y)
    assert 1 < model.alpha_ < 1000
    fitted = [np.square(y - Ridge(alpha).fit(columns, y).predict(columns)).mean() for alpha in model.alphas_]
    assert (np.diff(fitted) > 0).all()


def test_least_squares_takes_only_y_to_be_noisy_total_least_squares_both():
    """Exchanging x and y gives another least-squares line, but the same line of total least squares.

    Noise in x flattens the first; the second recovers the slope of 2 when the noise is equal in both.
    """
    rng = np.random.default_rng(1)
    true = np.linspace(-1, 1, 4000)
    x, y = true + 0.3 * rng.normal(size=4000), 2 * true + 0.3 * rng.normal(size=4000)
    flat, steep = LinearRegression().fit(x[:, None], y), LinearRegression().fit(y[:, None], x)
    assert flat.coef_[0] < 1.7 < 2.0 < 1 / steep.coef_[0]
    there, back = TotalLeastSquares().fit(x[:, None], y), TotalLeastSquares().fit(y[:, None], x)
    assert there.coef_[0] == pytest.approx(1 / back.coef_[0], rel=1e-12)
    assert there.coef_[0] == pytest.approx(2.0, abs=0.05)


def test_total_least_squares_need_not_have_one_solution():
    corners = np.array([[1.0], [1.0], [-1.0], [-1.0]])
    with pytest.warns(UserWarning, match="many planes"):
        assert not TotalLeastSquares().fit(corners, [1.0, -1.0, 1.0, -1.0]).unique_
