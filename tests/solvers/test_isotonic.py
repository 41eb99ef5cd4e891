"""Isotonic regression by pooling adjacent violators, and the rankings it is given."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.optimize import isotonic_regression

from bisector.engine.scored_rows import check_scored_rows
from bisector.solvers.isotonic import isotonic, pooled
from bisector.solvers.ranking import curve_points, rank_scores


@st.composite
def sequences(draw, max_size=40):
    """Numbers in some order, with many ties or none, near zero or far from it; and weights."""
    n = draw(st.integers(1, max_size))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    y = rng.normal(size=n) + draw(st.sampled_from([0.0, 0.1, -0.1])) * np.arange(n)
    if draw(st.booleans()):
        y = np.round(y)
    return y, rng.integers(1, 5, size=n).astype(float)


def by_definition(y, weight):
    """The value at i is the largest over j ≤ i of the smallest mean of j…k over k ≥ i."""
    n = len(y)
    mean = {
        (j, k): np.average(y[j : k + 1], weights=weight[j : k + 1]) for j in range(n) for k in range(j, n)
    }
    return np.array([max(min(mean[j, k] for k in range(i, n)) for j in range(i + 1)) for i in range(n)])


# By hand


def test_two_violators_meet_in_their_mean():
    fit = isotonic([1.0, 3.0, 2.0, 4.0])
    np.testing.assert_array_equal(fit.fitted, [1.0, 2.5, 2.5, 4.0])
    np.testing.assert_array_equal(fit.starts, [0, 1, 3, 4])
    assert (fit.objective, fit.gap, fit.iterations, fit.converged) == (0.5, 0.0, 1, True)


def test_a_weight_pulls_the_mean():
    np.testing.assert_array_equal(isotonic([3.0, 1.0], [1.0, 3.0]).fitted, [1.5, 1.5])


def test_descending_values_become_one_block():
    fit = isotonic([5.0, 4.0, 3.0, 2.0, 1.0])
    np.testing.assert_array_equal(fit.values, [3.0])
    np.testing.assert_array_equal(fit.weights, [5.0])


# Certificate


@given(sequences())
def test_the_solution_satisfies_the_optimality_conditions(problem):
    y, weight = problem
    fit = isotonic(y, weight)
    assert (np.diff(fit.values) > 0).all()
    residuals = weight * (y - fit.fitted)
    for first, last in zip(fit.starts[:-1], fit.starts[1:], strict=True):
        multipliers = np.cumsum(residuals[first:last])
        # Sums of up to forty numbers of size ten, weighed up to four times.
        assert multipliers.min() > -1e-12
        assert abs(multipliers[-1]) < 1e-12
    assert 0 <= fit.gap < 1e-25
    assert fit.objective == pytest.approx((weight * (y - fit.fitted) ** 2).sum(), abs=1e-12)


def test_the_gap_tells_a_wrong_answer():
    """Blocks that were not pooled, or pooled too far, leave a gap at least as large as what is lost."""
    from bisector.engine.loops import given as held
    from bisector.solvers.isotonic_loops import certify

    y, weight = np.array([0.0, 1.0, 2.0]), np.ones(3)
    objective, gap = certify(held(y), held(weight), held(np.array([0, 3])), held(np.array([1.0])))
    assert objective == 2.0
    assert gap >= 2.0  # the best objective is zero


# Oracles


@given(sequences(max_size=12))
def test_equals_the_definition(problem):
    np.testing.assert_allclose(isotonic(*problem).fitted, by_definition(*problem), atol=1e-13)


@given(sequences())
def test_equals_scipy(problem):
    y, weight = problem
    np.testing.assert_allclose(
        isotonic(y, weight).fitted, isotonic_regression(y, weights=weight).x, atol=1e-13
    )


@given(sequences())
def test_whole_weights_are_repeated_values(problem):
    y, weight = problem
    repeats = weight.astype(int)
    repeated = isotonic(np.repeat(y, repeats)).fitted
    np.testing.assert_allclose(np.repeat(isotonic(y, weight).fitted, repeats), repeated, atol=1e-13)


# Edges


def test_one_value():
    fit = isotonic([7.0])
    np.testing.assert_array_equal(fit.fitted, [7.0])
    assert fit.objective == fit.gap == fit.iterations == 0


def test_equal_values_are_one_block():
    np.testing.assert_array_equal(isotonic(np.full(5, 0.1)).starts, [0, 5])


def test_values_far_from_zero_keep_their_digits():
    rng = np.random.default_rng(0)
    y = rng.normal(size=200)
    # The numbers themselves are rounded to 1.5e-8 out there.
    np.testing.assert_allclose(isotonic(y + 1e8).fitted - 1e8, isotonic(y).fitted, atol=1e-7)


def test_very_different_weights():
    fit = isotonic([1.0, 0.0, 2.0], [1e-200, 1e100, 1e-200])
    np.testing.assert_allclose(fit.fitted, [0.0, 0.0, 2.0], atol=1e-300)


def test_whole_counts_are_compared_exactly():
    """1/3 and 1234567/3703701 are one probability, and one block."""
    assert len(pooled(np.array([1.0, 1234567.0]), np.array([3.0, 3703701.0])).values) == 1


# Rankings


@st.composite
def scored(draw):
    n = draw(st.integers(2, 60))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    y = np.arange(n) % 2
    scores = rng.normal(size=n) + y
    if draw(st.booleans()):
        scores = np.round(scores)
    weight = rng.integers(0, 4, size=n).astype(float) if draw(st.booleans()) else None
    if weight is not None:
        weight[:2] = 1.0
    return scores, y, weight


@given(scored())
def test_a_ranking_counts_each_class_at_each_score(problem):
    scores, y, weight = problem
    ranking = rank_scores(check_scored_rows(scores, y, weight))
    weights = np.ones(len(y)) if weight is None else weight
    values = np.unique(scores[weights > 0])
    np.testing.assert_array_equal(ranking.scores, values)
    for label, found in [(1, ranking.positives), (0, ranking.negatives)]:
        expected = [(weights * (scores == value) * (y == label)).sum() for value in values]
        np.testing.assert_array_equal(found, expected)


@given(scored(), st.booleans())
def test_points_count_what_lies_at_or_above(problem, corners):
    scores, y, weight = problem
    points = curve_points(rank_scores(check_scored_rows(scores, y, weight)), corners=corners)
    weights = np.ones(len(y)) if weight is None else weight
    for label, found in [(1, points.true_positives), (0, points.false_positives)]:
        expected = [(weights * (scores >= value) * (y == label)).sum() for value in points.thresholds]
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("weighted", [False, True])
def test_threads_change_nothing(weighted):
    rng = np.random.default_rng(0)
    scores, y = np.round(rng.normal(size=1000), 1), rng.integers(0, 2, size=1000)
    rows = check_scored_rows(scores, y, rng.random(1000) if weighted else None)
    for one, two in zip(rank_scores(rows, n_jobs=1), rank_scores(rows, n_jobs=2), strict=True):
        np.testing.assert_array_equal(one, two)
