"""Figures of Flach, section 7.4: probabilities from linear classifiers."""

import numpy as np
import pytest
from scipy.special import expit

from bisector.measures.roc import roc_convex_hull, roc_curve
from bisector.probability import HullCalibrator, LogisticCalibrator


@pytest.fixture
def two_normals():
    """Two normal classes with the same diagonal covariance, as in Figure 7.12."""
    rng = np.random.default_rng(0)
    y = np.arange(400) % 2
    X = rng.normal(size=(400, 2)) * [1.0, 0.5] + np.array([[0.0, 0.0], [1.5, 1.0]])[y]
    return X, y


def distances(X, w, t):
    """Signed distances (w·x − t)/‖w‖ from the boundary."""
    return (X @ w - t) / np.linalg.norm(w)


def basic_linear_classifier(X, y):
    positive, negative = X[y == 1].mean(axis=0), X[y == 0].mean(axis=0)
    w = positive - negative
    return w, w @ (positive + negative) / 2


def test_example_7_7(two_normals):
    """The basic linear classifier: γ = ‖μ⊕ − μ⊖‖/σ², and d0 = 0, so that the boundary stays."""
    X, y = two_normals
    w, t = basic_linear_classifier(X, y)
    d = distances(X, w, t)
    model = LogisticCalibrator().fit(d, y)
    variance = np.mean([((d[y == label] - d[y == label].mean()) ** 2).mean() for label in (0, 1)])
    assert model.gamma_ == pytest.approx(np.linalg.norm(w) / variance)
    assert model.d0_ == pytest.approx(0, abs=1e-12)
    np.testing.assert_array_equal(model.predict(d) > 0.5, d > 0)


def test_equation_7_13(two_normals):
    """Any direction w and threshold t: γ = w·(μ⊕ − μ⊖)/σ² and d0 = w·(μ⊕ + μ⊖)/2 − t, for w of unit length."""
    X, y = two_normals
    w, t = np.array([0.6, 0.8]), 0.7
    model = LogisticCalibrator().fit(X @ w - t, y)
    positive, negative = X[y == 1].mean(axis=0), X[y == 0].mean(axis=0)
    assert model.gamma_ == pytest.approx(w @ (positive - negative) / model.variance_)
    assert model.d0_ == pytest.approx(w @ (positive + negative) / 2 - t)
    # The boundary moves halfway between the means: classes are equally frequent.
    assert model.predict([w @ (positive + negative) / 2 - t])[0] == pytest.approx(0.5)


def test_the_length_of_w_does_not_matter(two_normals):
    """γ takes it in."""
    X, y = two_normals
    w, t = basic_linear_classifier(X, y)
    unit, raw = LogisticCalibrator().fit(distances(X, w, t), y), LogisticCalibrator().fit(X @ w - t, y)
    assert raw.gamma_ * np.linalg.norm(w) == pytest.approx(unit.gamma_)
    np.testing.assert_allclose(raw.predict(X @ w - t), unit.predict(distances(X, w, t)))


def test_standard_logistic_function():
    """Figure 7.11: means at ±½ with unit variance give 1/(1 + exp(−d)); d0 moves it, the distance steepens it."""
    d = np.linspace(-5, 5, 11)
    at_one = np.array([-1.0, 1.0])  # two rows one unit from their mean have unit variance
    for apart, d0 in [(1.0, 0.0), (2.0, 0.0), (0.5, 0.0), (1.0, 1.0)]:
        scores = np.concatenate([d0 - apart / 2 + at_one, d0 + apart / 2 + at_one])
        model = LogisticCalibrator().fit(scores, [0, 0, 1, 1])
        np.testing.assert_allclose(model.predict(d), expit(apart * (d - d0)))


def test_ignoring_the_class_ratio():
    """10 % positives, means ±1, unit variance: clr = 1 gives a mean probability of 0.28, the data's ratio 0.1."""
    rng = np.random.default_rng(0)
    y = (np.arange(100_000) % 10 == 0).astype(int)
    d = rng.normal(size=len(y)) + np.where(y == 1, 1.0, -1.0)
    ignored, kept = (LogisticCalibrator(class_ratio=ratio).fit(d, y).predict(d) for ratio in (1, "data"))
    assert ignored.mean() == pytest.approx(0.28, abs=0.005)
    assert kept.mean() == pytest.approx(0.1, abs=0.002)


def test_a_moved_boundary_changes_predictions():
    """d0 ≠ 0: scores that are all positive still have a boundary between the classes."""
    model = LogisticCalibrator().fit([1.0, 2.0, 5.0, 6.0], [0, 0, 1, 1])
    assert model.d0_ == 3.5
    np.testing.assert_array_equal(model.predict([2.0, 5.0]) > 0.5, [False, True])


def test_areas(two_normals):
    """Logistic calibration keeps the area under the curve; the hull's plateaus tie scores, and may change it."""
    X, y = two_normals
    d = distances(X, *basic_linear_classifier(X, y))
    area = roc_curve(y, d).auc
    assert roc_curve(y, LogisticCalibrator().fit(d, y).predict(d)).auc == area
    assert roc_curve(y, HullCalibrator().fit(d, y).predict(d)).auc > area


def test_figure_7_13(two_normals):
    """Each segment of the convex hull is a plateau of probability; its slope is the likelihood ratio there."""
    X, y = two_normals
    d = distances(X, *basic_linear_classifier(X, y))
    hull = roc_convex_hull(y, d)
    p = HullCalibrator().fit(d, y).predict(d)
    np.testing.assert_array_equal(np.unique(p), hull.segment_probability[::-1])
    slopes = np.diff(hull.tpr)[1:] / np.diff(hull.fpr)[1:]
    np.testing.assert_allclose(slopes, hull.segment_slope[1:])
    odds = hull.segment_probability[1:] / (1 - hull.segment_probability[1:])
    np.testing.assert_allclose(odds, slopes * hull.class_ratio)
