"""ROC and coverage curves: points, hulls, lines of equal cost, and the splits of a tree."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from bisector import (
    CoverageDisplay,
    DecisionTreeClassifier,
    KMeans,
    LogisticRegression,
    ROCDisplay,
    roc_convex_hull,
    roc_curve,
)
from bisector.plot.roc_display import hull_corners


def scored(n=200, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return y, y + rng.normal(size=n)


@pytest.mark.parametrize("seed", range(5))
def test_the_hull_of_a_curve_is_that_of_its_scores(seed):
    y, scores = scored(101, seed)
    across, up = hull_corners(roc_curve(y, scores))
    hull = roc_convex_hull(y, scores)
    np.testing.assert_allclose(across, hull.fpr, atol=1e-12)  # rates are divided in another order
    np.testing.assert_allclose(up, hull.tpr, atol=1e-12)


def test_lines_hold_the_curve_and_its_hull():
    y, scores = scored()
    shown = ROCDisplay.from_predictions(y, scores)
    curve = roc_curve(y, scores)
    np.testing.assert_array_equal(shown.lines_[0].get_xydata(), np.c_[curve.fpr, curve.tpr])
    np.testing.assert_allclose(shown.hull_lines_[0].get_xydata(), np.transpose(shown.hulls_[0]))
    assert shown.ax_.get_xlabel() == "false positive rate"
    assert f"area {curve.auc:.3f}"[:9] in shown.lines_[0].get_label()
    assert ROCDisplay(curve).plot(hull=False).hull_lines_ == []


def test_the_best_point_lies_on_its_line_of_equal_cost_and_no_point_above():
    y, scores = scored()
    shown = ROCDisplay.from_predictions(y, scores, costs=[(1, 1), (1, 5)])
    curve, (equal, dear) = shown.curves["curve"], shown.points_
    assert equal == curve.operating_point()
    assert dear == curve.operating_point(false_negative_cost=5)
    for point in shown.points_:
        assert (curve.tpr - point.tpr <= point.slope * (curve.fpr - point.fpr) + 1e-12).all()
    labels = [text.get_text() for text in shown.ax_.get_legend().get_texts()]
    assert labels[1:] == ["costs 1 : 1", "costs 1 : 5", "its convex hull", "points of equal cost"]
    assert dear.tpr > equal.tpr


def test_a_free_miss_makes_the_line_upright():
    y, scores = scored()
    shown = ROCDisplay.from_predictions(y, scores, costs=[(1, 0)])
    assert np.isinf(shown.points_[0].slope)
    assert list(shown.ax_.lines[-1].get_xdata()) == [0.0, 0.0]


def test_several_curves_take_the_next_colours():
    y, scores = scored()
    both = ROCDisplay.from_predictions(y, {"good": scores, "bad": -scores})
    assert [line.get_label()[:4] for line in both.lines_] == ["good", "bad "]
    third = ROCDisplay.from_predictions(y, np.sign(scores), ax=both.ax_)
    used = [line.get_color() for line in (*both.lines_, *third.lines_)]
    dashes = [line.get_linestyle() for line in (*both.lines_, *third.lines_)]
    assert len(set(used)) == len(set(dashes)) == 3
    assert sum(line.get_label() == "_chance" for line in both.ax_.lines) == 1


def test_a_classifier_is_asked_for_its_scores():
    y, scores = scored()
    names = np.array(["no", "yes"])[y]
    model = LogisticRegression().fit(scores[:, None], names)
    shown = ROCDisplay.from_estimator(model, scores[:, None], names)
    expected = roc_curve(names, model.decision_function(scores[:, None]))
    np.testing.assert_array_equal(shown.lines_[0].get_ydata(), expected.tpr)
    other = ROCDisplay.from_estimator(model, scores[:, None], names, pos_label="no")
    assert other.curves["LogisticRegression"].auc == pytest.approx(expected.auc)
    tree = DecisionTreeClassifier(max_depth=2).fit(scores[:, None], names)  # which has probabilities only
    leaves = ROCDisplay.from_estimator({"tree": tree}, scores[:, None], names).curves["tree"]
    assert leaves.auc == pytest.approx(tree.roc_segments_.curve.auc)


def test_bad_input_is_refused():
    y, scores = scored()
    with pytest.raises(TypeError, match="no RocCurve"):
        ROCDisplay((scores, scores))
    with pytest.raises(NotFittedError):
        ROCDisplay.from_estimator(LogisticRegression(), scores[:, None], y)
    with pytest.raises(AttributeError, match="no decision_function and no predict_proba"):
        ROCDisplay.from_estimator(KMeans(2).fit(scores[:, None]), scores[:, None], y)
    three = LogisticRegression().fit(scores[:, None], np.arange(200) % 3)
    with pytest.raises(ValueError, match="say by pos_label"):
        ROCDisplay.from_estimator(three, scores[:, None], np.arange(200) % 3)
    with pytest.raises(ValueError, match="pos_label is 7"):
        ROCDisplay.from_estimator(three, scores[:, None], np.arange(200) % 3, pos_label=7)


def test_coverage_counts():
    y = np.array([0, 0, 0, 1, 1])
    shown = CoverageDisplay.from_predictions(y, [1.0, 2.0, 4.0, 3.0, 5.0])
    np.testing.assert_allclose(shown.lines_[0].get_xydata(), [[0, 0], [0, 1], [1, 1], [1, 2], [3, 2]])
    assert shown.ax_.get_xlabel() == "negatives covered"
    assert shown.ax_.get_xlim()[1] == pytest.approx(1.02 * 3)
    assert shown.ax_.get_ylim()[1] == pytest.approx(1.02 * 2)


def test_the_splits_of_a_tree_bend_the_curve_upwards_only():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 3))
    y = (X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=300) > 0.8).astype(int)
    tree = DecisionTreeClassifier(max_depth=6).fit(X, y)
    shown = CoverageDisplay.from_tree(tree)
    assert [name.split()[0] for name in shown.curves][:2] == ["no", "2"]
    assert len(shown.curves) == 5  # depths 0, 1, 2, 4, 6
    negatives = np.linspace(0, (y == 0).sum(), 400)
    heights = np.array([np.interp(negatives, *line.get_data()) for line in shown.lines_])
    assert (np.diff(heights, axis=0) >= -1e-9).all()
    across, up = tree.roc_segments_.coverage
    np.testing.assert_allclose(np.interp(negatives, across, up), heights[-1], atol=1e-9)
    some = CoverageDisplay.from_tree(tree, depths=[0, 3])
    assert len(some.curves) == 2
    with pytest.raises(AttributeError, match="ranking"):
        CoverageDisplay.from_tree(LogisticRegression().fit(X, y))
