"""ROC curves, their hulls, and operating points."""

import warnings

import numpy as np
import pytest
import sklearn.metrics
from hypothesis import given, strategies as st
from scipy.spatial import ConvexHull

from bisector.measures.roc import auc, roc_convex_hull, roc_curve
from bisector.solvers.isotonic import isotonic


@st.composite
def scored(draw, weighted=False):
    """Labels and scores with ties within and between the classes, or without any."""
    n = draw(st.integers(2, 50))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    y = rng.permutation(np.arange(n) % draw(st.integers(2, 5)) == 0).astype(int)
    y[rng.choice(n, 2, replace=False)] = [0, 1]
    scores = rng.normal(size=n) + draw(st.sampled_from([-1.0, 0.0, 1.0, 9.0])) * y
    digits = draw(st.sampled_from([0, 1, 16]))
    weight = rng.integers(0, 4, size=n).astype(float) if weighted else None
    if weighted:
        weight[[np.argmax(y), np.argmin(y)]] = 1.0
    return y, np.round(scores, digits), weight


def assert_same_curve(ours, theirs):
    for mine, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-14)


# By hand


def test_four_rows():
    fpr, tpr, thresholds = roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    np.testing.assert_array_equal(fpr, [0, 0, 0.5, 0.5, 1])
    np.testing.assert_array_equal(tpr, [0, 0.5, 0.5, 1, 1])
    np.testing.assert_array_equal(thresholds, [np.inf, 0.8, 0.4, 0.35, 0.1])


def test_a_tie_between_classes_is_one_sloping_step():
    curve = roc_curve([0, 1, 1], [0.5, 0.5, 0.9])
    np.testing.assert_array_equal(curve.tpr, [0, 0.5, 1])
    np.testing.assert_array_equal(curve.fpr, [0, 0, 1])
    assert curve.auc == 0.75
    assert (curve.positives, curve.negatives, curve.class_ratio) == (2, 1, 2)


def test_the_hull_skips_the_dent():
    hull = roc_convex_hull([0, 1, 0, 1], [1.0, 2.0, 3.0, 4.0])
    np.testing.assert_array_equal(hull.fpr, [0, 0, 0.5, 1])
    np.testing.assert_array_equal(hull.tpr, [0, 0.5, 1, 1])
    np.testing.assert_array_equal(hull.thresholds, [np.inf, 4, 2, 1])
    np.testing.assert_array_equal(hull.segment_probability, [1, 0.5, 0])
    np.testing.assert_array_equal(hull.segment_slope, [np.inf, 1, 0])
    np.testing.assert_array_equal(hull.segment_highest, [4, 3, 1])
    np.testing.assert_array_equal(hull.segment_lowest, [4, 2, 1])
    assert hull.auc == 0.875


def test_a_random_ranking_has_one_segment():
    hull = roc_convex_hull([1, 0, 1, 0], [1.0, 2.0, 3.0, 4.0])
    np.testing.assert_array_equal(hull.fpr, [0, 1])
    assert hull.auc == 0.5


# Oracles


@given(scored(), st.booleans())
def test_curves_equal_those_of_scikit_learn(problem, drop):
    y, scores, _ = problem
    ours = roc_curve(y, scores, drop_intermediate=drop)
    theirs = sklearn.metrics.roc_curve(y, scores, drop_intermediate=drop)
    assert_same_curve(ours, theirs)
    assert ours.auc == pytest.approx(sklearn.metrics.roc_auc_score(y, scores), abs=1e-14)


@given(scored(weighted=True))
def test_weighted_curves_equal_those_of_scikit_learn(problem):
    y, scores, weight = problem
    ours = roc_curve(y, scores, sample_weight=weight, drop_intermediate=False)
    assert_same_curve(
        ours, sklearn.metrics.roc_curve(y, scores, sample_weight=weight, drop_intermediate=False)
    )
    assert ours.auc == pytest.approx(sklearn.metrics.roc_auc_score(y, scores, sample_weight=weight))


@given(scored())
def test_the_area_is_the_share_of_pairs_in_order(problem):
    y, scores, _ = problem
    difference = scores[y == 1][:, None] - scores[y == 0]
    share = ((difference > 0) + 0.5 * (difference == 0)).mean()
    assert roc_curve(y, scores).auc == pytest.approx(share, abs=1e-14)


@given(scored())
def test_dropping_points_keeps_the_area(problem):
    y, scores, _ = problem
    few, all_of_them = (roc_curve(y, scores, drop_intermediate=drop) for drop in (True, False))
    assert few.auc == all_of_them.auc
    assert auc(few.fpr, few.tpr) == pytest.approx(few.auc, abs=1e-14)


@given(scored())
def test_the_hull_is_the_convex_hull_of_the_points(problem):
    y, scores, _ = problem
    curve, hull = roc_curve(y, scores, drop_intermediate=False), roc_convex_hull(y, scores)
    points = np.column_stack(
        [[*curve.fpr, 1.0], [*curve.tpr, 0.0]]
    )  # with a corner below, so that it has an area
    corners = points[ConvexHull(points).vertices]
    area = ConvexHull(points).volume
    assert hull.auc == pytest.approx(area, abs=1e-12)
    wanted = {tuple(np.round(p, 9)) for p in corners} - {(1.0, 0.0)}
    assert wanted == {tuple(np.round(p, 9)) for p in zip(hull.fpr, hull.tpr, strict=True)}


@given(scored(weighted=True), st.booleans())
def test_the_hull_is_isotonic_regression(problem, weighted):
    """One plateau for each segment, with ties and weights."""
    y, scores, weight = problem
    weight = weight if weighted else np.ones(len(y))
    y, scores, weight = y[weight > 0], scores[weight > 0], weight[weight > 0]
    hull = roc_convex_hull(y, scores, sample_weight=weight)
    values, places = np.unique(scores, return_inverse=True)
    totals = np.bincount(places, weight)
    fit = isotonic(np.bincount(places, weight * y) / totals, totals)
    of_each = hull.segment_probability[np.searchsorted(-hull.segment_lowest, -values)]
    np.testing.assert_allclose(of_each, fit.fitted, atol=1e-12)


@given(scored())
def test_the_hull_lies_above_the_curve_and_bends_down(problem):
    y, scores, _ = problem
    curve, hull = roc_curve(y, scores, drop_intermediate=False), roc_convex_hull(y, scores)
    assert (np.diff(hull.segment_slope) < 0).all()
    assert hull.auc >= curve.auc - 1e-14
    inside = (curve.fpr > 0) & (curve.fpr < 1)
    above = np.interp(curve.fpr[inside], hull.fpr, hull.tpr)
    assert (above >= curve.tpr[inside] - 1e-12).all()
    assert hull.gap < 1e-20


# Weights and labels


@given(scored(weighted=True))
def test_whole_weights_are_repeated_rows(problem):
    y, scores, weight = problem
    repeats = weight.astype(int)
    for measure in (roc_curve, roc_convex_hull):
        weighted = measure(y, scores, sample_weight=weight)
        repeated = measure(np.repeat(y, repeats), np.repeat(scores, repeats))
        assert_same_curve(weighted, repeated)
        assert weighted.auc == pytest.approx(repeated.auc, abs=1e-14)
        assert (weighted.positives, weighted.negatives) == (repeated.positives, repeated.negatives)


SCORES = [0.1, 0.4, 0.35, 0.8, 0.4]


@pytest.mark.parametrize(
    "y",
    [
        [False, False, True, True, True], [-1, -1, 1, 1, 1], [3.0, 3.0, 7.0, 7.0, 7.0],
        ["no", "no", "yes", "yes", "yes"], np.array(["a", "a", "b", "b", "b"], dtype=object),
        np.array([[0], [0], [1], [1], [1]]),
    ],
)  # fmt: skip
def test_any_two_labels_will_do(y):
    assert_same_curve(roc_curve(y, SCORES), roc_curve([0, 0, 1, 1, 1], SCORES))


def test_a_positive_label_turns_the_curve_around():
    y = ["no", "no", "yes", "yes", "yes"]
    forth, back = roc_curve(y, SCORES), roc_curve(y, SCORES, pos_label="no")
    assert back.auc == pytest.approx(1 - forth.auc)


def test_a_positive_label_stands_against_all_others():
    assert_same_curve(
        roc_curve(["a", "b", "c", "c", "b"], SCORES, pos_label="c"), roc_curve([0, 0, 1, 1, 0], SCORES)
    )


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_columns_of_frames(library):
    frames = pytest.importorskip(library)
    y, scores = frames.Series([0, 0, 1, 1, 1]), frames.Series(SCORES)
    assert_same_curve(roc_curve(y, scores), roc_curve([0, 0, 1, 1, 1], SCORES))


def test_float32_thresholds_stay_float32():
    narrow = roc_curve([0, 0, 1, 1, 1], np.array(SCORES, np.float32))
    assert narrow.thresholds.dtype == np.float32
    assert narrow.fpr.dtype == np.float64
    assert_same_curve(narrow, roc_curve([0, 0, 1, 1, 1], np.array(SCORES, np.float32).astype(float)))


def test_threads_change_nothing():
    rng = np.random.default_rng(0)
    y, scores = rng.integers(0, 2, size=5000), rng.normal(size=5000)
    assert_same_curve(roc_curve(y, scores, n_jobs=1), roc_curve(y, scores, n_jobs=2))


# Where to operate


@st.composite
def conditions(draw):
    costs = st.sampled_from([0.0, 0.5, 1.0, 3.0])
    wrong, miss = draw(costs), draw(costs)
    return wrong, miss + (wrong == miss == 0), draw(st.sampled_from([0.1, 1.0, 4.0]))


@given(scored(), conditions())
def test_no_threshold_costs_less(problem, condition):
    y, scores, _ = problem
    wrong, miss, ratio = condition
    curve = roc_curve(y, scores, drop_intermediate=False)
    point = curve.operating_point(false_positive_cost=wrong, false_negative_cost=miss, class_ratio=ratio)
    share = ratio / (1 + ratio)
    costs = [
        wrong * (1 - share) * (scores[y == 0] >= t).mean() + miss * share * (scores[y == 1] < t).mean()
        for t in curve.thresholds
    ]
    assert point.cost == pytest.approx(min(costs), abs=1e-14)
    # Of equally good thresholds the highest: the fewest rows count as positive.
    assert point.threshold == curve.thresholds[np.argmax(np.array(costs) <= min(costs) + 1e-14)]


@given(scored(), conditions())
def test_the_best_point_is_a_corner_of_the_hull(problem, condition):
    y, scores, _ = problem
    chosen = {
        "false_positive_cost": condition[0], "false_negative_cost": condition[1], "class_ratio": condition[2]
    }  # fmt: skip
    on_curve = roc_curve(y, scores).operating_point(**chosen)
    on_hull = roc_convex_hull(y, scores).operating_point(**chosen)
    assert on_hull.cost == pytest.approx(on_curve.cost, abs=1e-14)


def test_with_equal_costs_the_best_point_has_the_best_accuracy():
    rng = np.random.default_rng(0)
    y = (np.arange(200) % 4 == 0).astype(int)
    scores = rng.normal(size=200) + y
    point = roc_curve(y, scores).operating_point()
    accuracies = [((scores >= t) == y).mean() for t in [*scores, np.inf]]
    assert point.accuracy == pytest.approx(max(accuracies))
    assert point.cost == pytest.approx(1 - point.accuracy)
    assert point.slope == pytest.approx(3.0)  # negatives over positives


def test_costs_move_the_threshold():
    curve = roc_curve([0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    assert curve.operating_point(false_positive_cost=0).tpr == 1
    nothing = curve.operating_point(false_negative_cost=0)
    assert (nothing.threshold, nothing.fpr, nothing.tpr, nothing.slope) == (np.inf, 0, 0, np.inf)


# The area below any curve


@pytest.mark.parametrize(
    ("x", "y", "area"), [([0, 1], [0, 1], 0.5), ([1, 0.5, 0], [1, 1, 0], 0.75), ([0, 0, 2], [0, 1, 1], 2.0)]
)
def test_area(x, y, area):
    assert auc(x, y) == area == sklearn.metrics.auc(x, y)


# Bad input


@pytest.mark.parametrize(
    ("y", "scores", "others", "message"),
    [
        ([1, 1], [0.1, 0.2], {}, r"y_true must have rows of two classes, but has one class: \[1\]"),
        ([0, 1, 2], [0.1, 0.2, 0.3], {}, "but has 3 classes"),
        ([0, 1], [0.1, np.nan], {}, "y_score contains NaN"),
        ([0, 1], [0.1, np.inf], {}, "y_score contains infinity"),
        ([0.0, np.nan], [0.1, 0.2], {}, "y_true contains NaN"),
        ([0, 1, 1], [0.1, 0.2], {}, "inconsistent numbers of samples"),
        ([[0, 1]], [0.1, 0.2], {}, "one label for each row"),
        ([0, 1], [[0.1, 0.2], [0.3, 0.4]], {}, "one number for each row"),
        ([0, 1], [0.1, 0.2], {"pos_label": 2}, "needs rows with the label 2"),
        ([0, 1], [0.1, 0.2], {"sample_weight": [1.0, -1.0]}, "negative in row 1"),
        ([0, 1], [0.1, 0.2], {"sample_weight": [1.0, 0.0]}, "one class"),
        ([0, 1], [0.1, 0.2], {"drop_intermediate": 1}, "must be True or False"),
    ],
)
def test_bad_input_is_named(y, scores, others, message):
    with pytest.raises(ValueError, match=message):
        roc_curve(y, scores, **others)


@pytest.mark.parametrize(
    "condition",
    [
        {"false_positive_cost": -1}, {"false_positive_cost": 0, "false_negative_cost": 0}, {"class_ratio": 0},
        {"class_ratio": "equal"}, {"false_negative_cost": np.inf},
    ],
)  # fmt: skip
def test_conditions_that_make_no_sense(condition):
    with pytest.raises(ValueError, match=r"must be|both zero"):
        roc_curve([0, 1], [0.1, 0.2]).operating_point(**condition)


@pytest.mark.parametrize(("x", "y"), [([0], [0]), ([0, 1], [0, 1, 2]), ([0, 2, 1], [0, 1, 2])])
def test_curves_without_an_area(x, y):
    with pytest.raises(ValueError, match=r"x and y must be|neither ascending"):
        auc(x, y)


def test_ordinary_data_warn_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hull = roc_convex_hull([0, 1, 0, 1], [1.0, 2.0, 3.0, 4.0])
        assert "likelihood ratio" in str(hull.segments())
