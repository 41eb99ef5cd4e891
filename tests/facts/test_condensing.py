"""Learning From Data, 6.2.3 and its problems, as they can be checked by hand."""

import numpy as np
import pytest

from bisector import datasets
from bisector.neighbors.condensing import CondensedNearestNeighbor
from bisector.neighbors.influence import InfluenceCondenser
from bisector.neighbors.k_neighbors import KNeighborsClassifier
from bisector.neighbors.merging import PrototypeMerger
from bisector.neighbors.voronoi import VoronoiCondenser


@pytest.fixture(scope="module")
def seven():
    return datasets.seven_points()


def test_problem_6_2a_class_means(seven):
    X, y = seven
    means = np.array([X[y < 0].mean(axis=0), X[y > 0].mean(axis=0)])
    # The sum of −2, 0 and 0 is divided by three, and rounded once.
    np.testing.assert_allclose(means, [[0, 0], [-2 / 3, 0]], rtol=1e-15)
    assert (KNeighborsClassifier(1).fit(means, [-1, 1]).predict(X) != y).sum() == 3


@pytest.mark.parametrize("order", [[0, 1, 2, 3, 4, 5, 6], [0, 1, 2, 3, 5, 4, 6]])
def test_problem_6_2b_merging_down_to_two(seven, order):
    """The last of the positives to be merged is one of two, by tie: it decides the sign."""
    X, y = seven.X[order], seven.y[order]
    merger = PrototypeMerger(2)
    prototypes, labels = merger.fit_resample(X, y)
    assert labels.tolist() == [-1, 1]
    assert prototypes[0].tolist() == [0.0, 0.0]
    assert np.abs(prototypes[1]).tolist() == [0.5, 0.5]
    assert prototypes[1, 0] == -0.5
    assert np.sign(prototypes[1, 1]) == -np.sign(X[4, 1])
    assert (KNeighborsClassifier(1).fit(prototypes, labels).predict(X) != y).sum() == 3


def test_problem_6_2_merging_as_long_as_answers_stay(seven):
    merger = PrototypeMerger().fit(*seven)
    assert merger.consistent_
    assert merger.prototypes_.tolist() == [[0.0, 0.0], [-1.0, 1.0], [0.0, -2.0]]


def test_problem_6_11_on_the_seven_points(seven):
    """Every negative is beside a positive but (1, 0), whose cell meets those of (0, ±2) far to the right."""
    assert VoronoiCondenser().fit(*seven).sample_indices_.tolist() == [0, 1, 2, 3, 4, 5, 6]


def test_problem_6_12_on_the_seven_points(seven):
    """√2 lies between neighbours on the inner ring; 1 to the positive outside of three of them, √5 of (1, 0)."""
    condenser = InfluenceCondenser().fit(*seven)
    assert condenser.sample_indices_.tolist() == [1, 2, 3, 4, 5, 6]
    assert condenser.consistent_


# Over 1,000 datasets the average sizes are 4.13 (textbook's algorithm), 4.29 (by cells) and 4.06 (influence), with
# standard deviations 0.43, 0.61 and 0.28 of a single one: four clusters need four rows, seldom more.
AVERAGES = [
    (CondensedNearestNeighbor(method="one_by_one", random_state=0), 4.13, 0.43),
    (CondensedNearestNeighbor(), 4.29, 0.61),
    (InfluenceCondenser(), 4.06, 0.28),
]


@pytest.mark.parametrize(("condenser", "average", "deviation"), AVERAGES, ids=repr)
def test_problem_6_13_average_sizes(condenser, average, deviation):
    n = 25
    sizes = []
    for seed in range(n):
        condenser.fit(*datasets.four_gaussians(seed=seed))
        assert condenser.consistent_
        sizes.append(len(condenser.sample_indices_))
    assert min(sizes) >= 4
    # Four standard errors of the average of so many.
    assert abs(np.mean(sizes) - average) < 4 * deviation / np.sqrt(n)
