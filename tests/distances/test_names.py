"""Names of distances: the one place where they become objects."""

import json
import subprocess
import sys

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.metrics import DistanceMetric
from sklearn.metrics.pairwise import PAIRWISE_DISTANCE_FUNCTIONS, pairwise_distances

import bisector.distances
from bisector.distances import (
    Chebyshev,
    Elliptical,
    Euclidean,
    Hamming,
    Mahalanobis,
    Manhattan,
    Minkowski,
    resolve,
)
from bisector.distances.names import named

# What scikit-learn means by the names that we have too, for rows of two small numbers.
SAME = ["euclidean", "l2", "sqeuclidean", "manhattan", "cityblock", "l1", "chebyshev", "minkowski", "hamming",
        "cosine", "haversine", "nan_euclidean"]  # fmt: skip
# Names of its DistanceMetric alone.
OF_TREES = {"p": {"p": 3}, "infinity": {}}


@pytest.mark.parametrize("name", SAME)
def test_names_mean_what_scikit_learn_means(name):
    X = np.random.default_rng(0).uniform(-1, 1, size=(8, 2))
    np.testing.assert_allclose(
        resolve(name).pairwise(X), pairwise_distances(X, metric=name), rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize("name", OF_TREES)
def test_names_of_its_trees(name):
    X = np.random.default_rng(0).normal(size=(8, 3))
    theirs = DistanceMetric.get_metric(name, **OF_TREES[name]).pairwise(X)
    ours = resolve(name, metric_params=OF_TREES[name]).pairwise(X)
    np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-14)


def test_no_name_of_scikit_learn_means_something_else():
    """Whatever name both have is tested above, or compares other things than rows of numbers."""
    both = set(named()) & set(PAIRWISE_DISTANCE_FUNCTIONS)
    assert both <= {*SAME, "precomputed"}


def test_every_public_distance_is_known_by_a_name_of_its_own():
    classes = {cls for cls, _ in named().values()}
    for cls in (Euclidean, Manhattan, Chebyshev, Minkowski, Hamming, Mahalanobis):
        assert cls in classes
    assert len(named()) == len(set(named()))
    for name, (cls, fixed) in named().items():
        assert name == name.lower()
        assert set(fixed) <= set(cls.parameters())


def test_names_become_objects():
    assert resolve("cityblock") == Manhattan()
    assert resolve("sqeuclidean") == Euclidean(squared=True)
    assert resolve("nan_euclidean") == Euclidean(skip_missing=True)
    assert resolve("hamming") == Hamming(normalised=True)
    assert resolve("hamming", metric_params={"normalised": False}) == Hamming(normalised=False)


def test_objects_stay_what_they_are():
    one = Minkowski(1.5)
    assert resolve(one) is one
    assert resolve(one, p=3) is one  # p has a default in every estimator, and belongs to names
    with pytest.raises(ValueError, match=r"metric_params go with a name, but metric is Minkowski\(p=1.5\)"):
        resolve(one, metric_params={"p": 3})


def test_p_and_params_apply_to_names():
    assert resolve("minkowski") == Minkowski(2)
    assert resolve("minkowski", p=1.5) == Minkowski(1.5)
    assert resolve("minkowski", p=1.5, metric_params={"p": 4}) == Minkowski(4)
    assert resolve("manhattan", p=3) == Manhattan()
    assert resolve("minkowski", p=3, metric_params={"w": [1, 2]}) == Minkowski(3, [1, 2])
    assert resolve("euclidean", metric_params={"w": [1.0, 2.0]}) == Euclidean([1.0, 2.0])
    assert resolve("mahalanobis", metric_params={"V": 2 * np.eye(2)}) == Mahalanobis(2 * np.eye(2))
    assert resolve("mahalanobis", metric_params={"VI": 2 * np.eye(2)}) == Elliptical(2 * np.eye(2))
    assert resolve("euclidean", metric_params=None) == resolve("euclidean", metric_params={}) == Euclidean()


def test_scipys_word_for_weights_is_taken_only_where_it_means_the_same():
    X, w = np.random.default_rng(0).normal(size=(5, 2)), np.array([1.0, 3.0])
    for name in ("euclidean", "cityblock", "hamming"):
        np.testing.assert_allclose(
            resolve(name, metric_params={"w": w}).pairwise(X), cdist(X, X, name, w=w), rtol=1e-12, atol=1e-14
        )
    with pytest.raises(ValueError, match="metric_params holds w, but Chebyshev has the parameters weights"):
        resolve("chebyshev", metric_params={"w": w})


def test_functions_are_compiled():
    def gap(x, y):
        return abs(x[0] - y[0])

    assert resolve(gap).function is gap


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("euclidian", "There is no distance named 'euclidian'. Did you mean 'euclidean'"),
        ("Manhattan", "Did you mean 'manhattan'"),
        ("l3", "The names are .*chebyshev, .*manhattan, "),
        ("", "There is no distance named ''"),
    ],
)
def test_unknown_names(name, said):
    with pytest.raises(ValueError, match=said):
        resolve(name)


def test_other_things_are_refused():
    for wrong in (None, 3, ["euclidean"]):
        with pytest.raises(
            TypeError, match="metric must be a name, a distance or a function of two rows, not"
        ):
            resolve(wrong)
    with pytest.raises(
        TypeError, match=r"metric is the class Euclidean: make one of it, Euclidean\(\.\.\.\)"
    ):
        resolve(Euclidean)
    with pytest.raises(
        ValueError, match="metric_params holds q, size, but Manhattan has the parameters weights, sk"
    ):
        resolve("manhattan", metric_params={"size": 2, "q": 1})
    with pytest.raises(ValueError, match="p must be a number above 0"):
        resolve("minkowski", p=-1)


IMPORTED = """
import json, sys
import bisector.distances as distances
distances.resolve("minkowski", p=3)([1, 2], [3, 4])
heavy = {"numba", "sklearn", "rapidfuzz", "pandas", "polars", "pyarrow"}
print(json.dumps(sorted(heavy & set(sys.modules))))
"""


def test_importing_distances_loads_nothing_heavy():
    """Making a distance, resolving a name and comparing two rows do neither."""
    done = subprocess.run([sys.executable, "-c", IMPORTED], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []


def test_the_room_is_reached_through_the_package():
    assert bisector.distances.resolve is resolve
    for name in bisector.distances.__all__:
        assert hasattr(bisector.distances, name)
