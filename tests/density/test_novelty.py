"""Novelty by density level, and clusters that arrive (LFD Problem 6.25)."""

import numpy as np
import pytest
from scipy.stats import binom

from bisector import ClusterArrivalDetector, GaussianMixture, HistogramDensity, NoveltyDetector


@pytest.mark.parametrize("density", ["kernel", "mixture", HistogramDensity()])
@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_false_alarms_on_rows_not_seen(density, alpha):
    """One fresh row for each of many detectors, so that alarms are independent: their number is binomial.

    A right detector leaves the interval once in 1,000 seeds; ours is fixed.
    """
    rng = np.random.default_rng(0)
    alarms, trials = 0, 40 if density == "mixture" else 100
    for seed in range(trials):
        rows = rng.standard_t(4, size=(80, 2))
        model = NoveltyDetector(alpha, density=density, random_state=seed).fit(rows[:79])
        alarms += int((model.predict(rows[79:]) == -1).sum())
    assert alarms <= binom.ppf(0.999, trials, alpha)
    if density == "kernel":  # a histogram gives ties, and is more careful
        exact = np.floor(alpha * 41) / 41
        assert alarms >= binom.ppf(0.001, trials, exact)


def test_what_is_far_is_new():
    rng = np.random.default_rng(1)
    model = NoveltyDetector(alpha=0.02).fit(rng.normal(size=(500, 3)))
    far = rng.normal(size=(50, 3)) + 8
    assert (model.predict(far) == -1).all()
    assert (model.p_values(far) <= 0.02).all()
    np.testing.assert_allclose(model.decision_function(far), model.score_samples(far) - model.offset_)
    np.testing.assert_array_equal(model.predict(far) == -1, model.p_values(far) <= 0.02)


def test_more_rows_can_be_taken_in():
    rng = np.random.default_rng(2)
    model = NoveltyDetector().fit(rng.normal(size=(200, 1)))
    assert model.predict([[10.0]]) == [-1]
    for _ in range(5):
        model.partial_fit(rng.normal(size=(200, 1)) + 10)
    assert model.predict([[10.0]]) == [1]
    assert len(model.calibration_scores_) == 600
    assert NoveltyDetector().partial_fit(rng.normal(size=(50, 1))).n_features_in_ == 1


def test_too_few_rows_for_alpha_never_alarm():
    model = NoveltyDetector(alpha=0.01).fit(np.arange(20.0)[:, None])
    assert model.smallest_alpha_ > 0.01
    assert (model.predict([[1e6]]) == 1).all()
    with pytest.raises(ValueError, match="alpha"):
        NoveltyDetector(alpha=0.0).fit([[0.0], [1.0]])
    with pytest.raises(ValueError, match="density must be"):
        NoveltyDetector(density="any").fit([[0.0], [1.0]])
    assert NoveltyDetector(density=GaussianMixture(2, random_state=0)).fit(
        np.random.default_rng(3).normal(size=(99, 1))
    )


CORNERS = np.array([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])


def test_a_fifth_cluster_arrives():
    """Problem 6.25: four Gaussians of standard deviation 0.15, then a fifth at the origin."""
    rng = np.random.default_rng(4)
    known = CORNERS[rng.integers(4, size=300)] + 0.15 * rng.normal(size=(300, 2))
    watch = ClusterArrivalDetector(check_every=20, n_references=5, n_starts=3).fit(known)
    assert watch.n_clusters_ == 4
    watch.partial_fit(CORNERS[rng.integers(4, size=40)] + 0.15 * rng.normal(size=(40, 2)))
    assert not watch.arrived_  # more of the same is nothing new
    watch.partial_fit(0.15 * rng.normal(size=(100, 2)))
    assert watch.arrived_
    assert watch.arrived_at_ <= 140
    assert (watch.new_rows_ >= 340).all()
    assert len(watch.new_rows_) >= 0.9 * (watch.arrived_at_ - 40)
    assert watch.n_clusters_history_[0] == (0, 4)


@pytest.mark.parametrize("seed", range(4))
def test_a_known_cluster_that_is_split_is_none_that_arrives(seed):
    """Many more rows of one corner: the gap asks for two clusters there, and neither of them is new."""
    rng = np.random.default_rng(seed)
    known = CORNERS[rng.integers(4, size=120)] + 0.15 * rng.normal(size=(120, 2))
    watch = ClusterArrivalDetector(check_every=20).fit(known)
    watch.partial_fit(CORNERS[0] + 0.15 * rng.normal(size=(160, 2)))
    assert max(k for _, k in watch.n_clusters_history_) > 4
    assert not watch.arrived_
    assert watch.arrived_at_ is None
    assert not len(watch.new_rows_)
    watch.partial_fit([0.0, 0.0] + 0.15 * rng.normal(size=(60, 2)))
    assert watch.arrived_
    assert (watch.new_rows_ >= 280).all()  # the rows of the middle, and no others
    assert len(watch.new_rows_) >= 0.9 * (watch.arrived_at_ - 160)


def test_one_by_one_equals_all_at_once():
    rng = np.random.default_rng(5)
    known, more = rng.normal(size=(40, 2)), rng.normal(size=(25, 2))
    at_once, one_by_one = (ClusterArrivalDetector(4, n_references=3).fit(known) for _ in range(2))
    at_once.partial_fit(more)
    for row in more:
        one_by_one.partial_fit(row[None])
    assert at_once.n_clusters_history_ == one_by_one.n_clusters_history_
    assert ClusterArrivalDetector(3, n_references=2).fit(np.ones((9, 2))).n_clusters_ == 1
