"""The nearest exemplar: bisectors, medoids, several exemplars a class."""

import numpy as np
import pytest
from sklearn.neighbors import NearestCentroid

from bisector import Euclidean, NearestExemplarClassifier, datasets

EXEMPLARS = ["mean", "coordinate-median", "geometric-median", "medoid"]


@pytest.fixture(scope="module")
def classes():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.standard_normal((40, 2)) + centre for centre in ([0, 0], [5, 1], [1, 6])])
    return X, np.repeat(["a", "b", "c"], 40), rng.uniform(-3, 8, size=(500, 2))


# By hand


def test_the_boundary_of_two_means_is_their_perpendicular_bisector():
    rng = np.random.default_rng(3)
    X, y = (
        np.vstack([rng.standard_normal((30, 2)), rng.standard_normal((50, 2)) + [3, 1]]),
        np.repeat([0, 1], [30, 50]),
    )
    model = NearestExemplarClassifier().fit(X, y)
    first, second = X[y == 0].mean(axis=0), X[y == 1].mean(axis=0)
    new = rng.uniform(-5, 8, size=(1000, 2))
    side = (new - (first + second) / 2) @ (second - first) > 0
    np.testing.assert_array_equal(model.predict(new), side.astype(int))


def test_under_manhattan_distance_the_boundary_turns():
    """In the rectangle of two exemplars at 45°, outside straight on (Flach, Figure 8.6)."""
    model = NearestExemplarClassifier(metric="manhattan").fit([[0.0, 0.0], [2.0, 6.0]], [0, 1])
    rising = np.array(
        [[x, 4.0 - x] for x in np.linspace(0.1, 1.9, 7)]
    )  # inside, along the boundary x + y = 4
    assert (model.predict(rising - [0, 0.01]) == 0).all()
    assert (model.predict(rising + [0, 0.01]) == 1).all()
    for x, level in ((-3.0, 4.0), (9.0, 2.0)):  # outside, the boundary is horizontal
        assert model.predict([[x, level - 0.01]]) == 0
        assert model.predict([[x, level + 0.01]]) == 1


def test_the_seven_points():
    """Problem 6.2: the means are (0, 0) and (−2/3, 0), and three of the seven points lie nearer to the other's."""
    X, y = datasets.seven_points()
    model = NearestExemplarClassifier().fit(X, y)
    np.testing.assert_allclose(model.exemplars_, [[0, 0], [-2 / 3, 0]], atol=1e-15)
    np.testing.assert_array_equal(model.exemplar_labels_, [-1, 1])
    assert (model.predict(X) != y).sum() == 3


# Oracle


def test_means_are_scikit_learns_centroids(classes):
    X, y, new = classes
    ours, theirs = NearestExemplarClassifier().fit(X, y), NearestCentroid().fit(X, y)
    np.testing.assert_allclose(ours.exemplars_, theirs.centroids_)
    np.testing.assert_array_equal(ours.predict(new), theirs.predict(new))


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
@pytest.mark.parametrize("exemplar", EXEMPLARS)
@pytest.mark.parametrize(("per_class", "n_neighbors"), [(1, 1), (3, 1), (3, 3)])
def test_the_nearest_exemplars_vote(classes, exemplar, metric, per_class, n_neighbors):
    X, y, new = classes
    model = NearestExemplarClassifier(exemplar, per_class=per_class, n_neighbors=n_neighbors, metric=metric)
    model.fit(X, y)
    assert len(model.exemplars_) == 3 * per_class
    distances = model.distances(new)
    nearest = np.argsort(distances, axis=1, kind="stable")[:, :n_neighbors]
    labels = model.exemplar_labels_[nearest]
    shares = np.stack([(labels == c).mean(axis=1) for c in model.classes_], axis=1)
    np.testing.assert_allclose(model.predict_proba(new), shares)
    decided = shares.max(axis=1) > 1 / n_neighbors if n_neighbors > 1 else np.ones(len(new), dtype=bool)
    np.testing.assert_array_equal(model.predict(new)[decided], model.classes_[shares.argmax(axis=1)][decided])
    np.testing.assert_array_equal(model.predict(new)[~decided], labels[~decided, 0])  # the nearest of tied


def test_several_exemplars_stay_where_they_are(classes):
    """Each exemplar is the mean of the rows of its class that are nearest to it."""
    X, y, _ = classes
    model = NearestExemplarClassifier(per_class=4).fit(X, y)
    for label in model.classes_:
        own, rows = model.exemplars_[model.exemplar_labels_ == label], X[y == label]
        nearest = Euclidean().pairwise(rows, own).argmin(axis=1)
        for k in range(4):
            np.testing.assert_allclose(own[k], rows[nearest == k].mean(axis=0))


def test_medoids_are_rows(classes):
    X, y, _ = classes
    model = NearestExemplarClassifier("medoid", per_class=2).fit(X, y)
    np.testing.assert_array_equal(model.exemplars_, X[model.exemplar_indices_])
    np.testing.assert_array_equal(model.exemplar_labels_, y[model.exemplar_indices_])


def test_medoids_of_words():
    words = ["cat", "cats", "rat", "house", "houses", "mouse"]
    model = NearestExemplarClassifier("medoid", metric="levenshtein").fit(words, [0, 0, 0, 1, 1, 1])
    assert model.exemplars_ == ["cat", "house"]
    np.testing.assert_array_equal(model.predict(["bat", "blouse"]), [0, 1])


@pytest.mark.parametrize("exemplar", EXEMPLARS)
def test_integer_weights_are_repeated_rows(classes, exemplar):
    X, y, _ = classes
    counts = np.random.default_rng(1).integers(0, 3, size=len(X))
    repeated = np.repeat(np.arange(len(X)), counts)
    weighted = NearestExemplarClassifier(exemplar).fit(X, y, sample_weight=counts)
    plain = NearestExemplarClassifier(exemplar).fit(X[repeated], y[repeated])
    np.testing.assert_allclose(weighted.exemplars_, plain.exemplars_)


# Edges


def test_fewer_rows_than_exemplars():
    model = NearestExemplarClassifier(per_class=5).fit([[0.0], [1.0], [1.0], [9.0]], [0, 0, 0, 1])
    np.testing.assert_allclose(sorted(model.exemplars_[:, 0]), [0, 1, 9])


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"exemplar": "mode"}, "exemplar must be one of 'mean'"),
        ({"per_class": 0}, "per_class must be a whole number at least 1"),
        ({"n_neighbors": 3}, "n_neighbors is 3 and there are 2 rows"),
        ({"metric": "levenshtein"}, 'take exemplar="medoid"'),
    ],
)
def test_bad_parameters(params, message):
    with pytest.raises((ValueError, TypeError), match=message):
        NearestExemplarClassifier(**params).fit([[0.0], [1.0]], [0, 1]).predict([[0.0]])
