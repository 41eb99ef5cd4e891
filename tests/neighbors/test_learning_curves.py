"""Learning curves and refinement."""

import numpy as np
import pytest

from bisector import KNeighborsClassifier, datasets
from bisector.neighbors import learning_curve, refinement


@pytest.fixture(scope="module")
def curve():
    X, y = datasets.gaussian_classes(400, separation=2.0, seed=1)
    return learning_curve(X, y, sizes=[20, 80, 280], repeats=8, seed=2)


def test_one_neighbour_makes_no_error_on_its_own_rows(curve):
    np.testing.assert_array_equal(curve.in_sample[0], 0)
    assert (curve.out_of_sample[0] > 0.1).all()


def test_more_rows_and_more_neighbours_help(curve):
    """Two Gaussian classes two standard deviations apart, whose best error is 0.159: one neighbour errs on more."""
    one, _, root, chosen = curve.out_of_sample[:, -1]
    assert root < one
    assert chosen < one
    assert curve.out_of_sample[2, -1] < curve.out_of_sample[2, 0]
    np.testing.assert_array_equal(curve.chosen_k[2], [4, 8, 16])


def test_one_point_of_the_curve_by_hand():
    X, y = datasets.iris()
    found = learning_curve(X, y, sizes=[60], choices=[3], repeats=2, seed=5)
    rng = np.random.default_rng(5)
    errors = []
    for _ in range(2):
        order = rng.permutation(150)
        train, test = order[:60], order[105:]
        errors.append(np.mean(KNeighborsClassifier(3).fit(X[train], y[train]).predict(X[test]) != y[test]))
    assert found.out_of_sample[0, 0] == pytest.approx(np.mean(errors))
    assert found.out_of_sample_std[0, 0] == pytest.approx(np.std(errors, ddof=1) / np.sqrt(2))


def test_it_prints_as_a_table(curve):
    lines = repr(curve).splitlines()
    assert lines[0].split("  ")[-1].strip() == "k = chosen"
    assert len(lines) == 4


def test_sizes_are_chosen():
    X, y = datasets.iris()
    found = learning_curve(X, y, choices=[1], repeats=1)
    assert found.sizes[0] == 10
    assert found.sizes[-1] == 105


def test_refinement_rises_and_falls():
    """Two classes: k neighbours can give k + 1 vectors; all rows together give one."""
    rng = np.random.default_rng(0)
    X, y = rng.random((20, 2)), np.arange(20) % 2
    counts = refinement(X, y, rng.random((4000, 2)), [1, 3, 5, 20])
    assert counts[0] == 2
    assert counts[0] < counts[1] <= 4
    assert counts[-1] == 1


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"sizes": [200]}, "only 105 rows are not left out"),
        ({"choices": ["best"]}, "choices must hold numbers"),
        ({"repeats": 0}, "repeats must be a whole number"),
        ({"test_size": 1.5}, "test_size must be a number"),
    ],
)
def test_bad_parameters(params, message):
    with pytest.raises(ValueError, match=message):
        learning_curve(*datasets.iris(), **params)
