"""Facts of section 7.2 of the book, and of LFD 6.2.5."""

import numpy as np
import pytest

from bisector import KernelPerceptron, Perceptron, PerceptronRegressor
from bisector.kernels import Linear, Polynomial


@pytest.fixture
def two_classes():
    rng = np.random.default_rng(0)
    X = rng.integers(-8, 9, size=(150, 2)).astype(float)
    y = np.where(X @ [2.0, -3.0] > 0.5, 1, -1)
    return X, y


def test_from_zero_the_learning_rate_changes_only_the_scale(two_classes):
    one, quarter = (Perceptron(eta0=eta0).fit(*two_classes) for eta0 in (1.0, 0.25))
    np.testing.assert_array_equal(quarter.mistakes_, one.mistakes_)
    np.testing.assert_array_equal(quarter.coef_, 0.25 * one.coef_)


def test_from_the_basic_linear_classifier_it_changes_the_path(two_classes):
    """Figure 7.5: started at the basic linear classifier, small and large steps take different ways."""
    paths = [Perceptron(eta0=eta0, init="basic", history=True).fit(*two_classes) for eta0 in (0.02, 1.0)]
    assert all(path.converged_ for path in paths)
    assert not np.array_equal(paths[0].history_.rows, paths[1].history_.rows)
    np.testing.assert_array_equal(paths[0].history_.weights[0], paths[1].history_.weights[0])


def test_weights_are_a_combination_of_the_rows(two_classes):
    """Equation 7.9: w = Σ α y x, exactly on whole numbers."""
    X, y = two_classes
    model = Perceptron().fit(X, y)
    np.testing.assert_array_equal(model.coef_[0], (model.mistakes_ * y) @ X)
    assert model.intercept_[0] == (model.mistakes_ * y).sum()


def test_mistakes_are_within_novikoffs_bound(two_classes):
    model = Perceptron().fit(*two_classes)
    assert model.converged_
    assert model.n_updates_ <= model.novikoff_bound_ < np.inf


def test_it_never_converges_on_data_that_no_plane_separates():
    X, y = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]), [0, 0, 1, 1]
    model = Perceptron(tol=None, max_iter=500).fit(X, y)
    assert not model.converged_
    assert model.n_iter_ == 500
    assert model.score(X, y) == 0.75  # the best that a plane can do


def test_primal_and_dual_make_the_same_mistakes(two_classes):
    """Algorithms 7.1 and 7.2."""
    X, y = two_classes
    primal = Perceptron(shuffle=False).fit(X, y)
    dual = KernelPerceptron(Linear(), shuffle=False).fit(X, y)
    mistakes = np.zeros(len(y), dtype=int)
    mistakes[dual.support_] = dual.mistakes_
    np.testing.assert_array_equal(mistakes, primal.mistakes_)


def test_the_quadratic_kernel_is_a_dot_product_of_quadratic_features():
    """(x·z)² in (x1², x2², √2 x1 x2): Figure 7.14's circle is a plane there."""
    rng = np.random.default_rng(1)
    X = rng.uniform(-2, 2, size=(200, 2))
    y = np.where((X**2).sum(axis=1) > 1.5, 1, -1)
    features = np.column_stack([X[:, 0] ** 2, X[:, 1] ** 2, np.sqrt(2) * X[:, 0] * X[:, 1]])
    np.testing.assert_allclose(Polynomial(2).gram(X), features @ features.T, atol=1e-12)
    assert not Perceptron(max_iter=50).fit(X, y).converged_
    assert Perceptron().fit(features, y).converged_
    assert KernelPerceptron(Polynomial(2)).fit(X, y).converged_


def test_the_printed_regression_rule_can_only_push_along_the_row():
    """The rule is printed with a squared residual: whatever the target, w moves along +x."""
    rule = {
        "scale": None,
        "learning_rate": 0.01,
        "schedule": "constant",
        "max_epochs": 1,
        "fit_intercept": False,
    }
    for target in (5.0, -5.0):
        model = PerceptronRegressor("squared-residual", **rule).fit([[2.0]], [target])
        assert model.coef_[0] == pytest.approx(0.01 * 25.0 * 2.0)
        works = PerceptronRegressor("residual", **rule).fit([[2.0]], [target])
        assert works.coef_[0] == pytest.approx(0.01 * target * 2.0)


def test_a_rate_of_one_overflows_on_ordinary_data_unless_steps_are_scaled():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(100, 5))
    y = X @ np.ones(5)
    with pytest.raises(ValueError, match="grow without bound"):
        PerceptronRegressor(learning_rate=1.0, scale=None, schedule="constant").fit(X, y)
    np.testing.assert_allclose(PerceptronRegressor(learning_rate=1.0).fit(X, y).coef_, 1.0, rtol=1e-6)


def test_a_sequence_of_two_class_problems_narrows_down_the_class():
    """LFD 6.2.5: first 1 or not 1; if not, 2 or not 2; and so on."""
    X, y = np.arange(12.0)[:, None], np.repeat(["1", "2", "3", "4"], 3)
    model = Perceptron(multi_class="nested", max_iter=5000, tol=None).fit(X, y)
    assert model.score(X, y) == 1.0
    assert len(model.coef_) == 3
