"""Editing: who is outvoted by its neighbours goes."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.base import clone

from bisector.neighbors.editing import EditedNearestNeighbor
from bisector.neighbors.k_neighbors import KNeighborsClassifier

LINE = np.array([0.0, 1.0, 2.0, 3.0, 10.0, 11.0, 12.0, 13.0])[:, None]


def edited(X, y, **params):
    return EditedNearestNeighbor(**params).fit(X, y).sample_indices_.tolist()


def once(X, y, k):
    """Wilson's rule, written out: the rows whose k nearest others, the row itself left out, give their class."""
    D = cdist(X, X)
    kept = []
    for i in range(len(X)):
        others = sorted((j for j in range(len(X)) if j != i), key=lambda j: (D[i, j], j))[:k]
        counts = {c: int((y[others] == c).sum()) for c in np.unique(y)}
        if max(sorted(counts), key=counts.get) == y[i]:
            kept.append(i)
    return kept


@pytest.fixture(params=range(4))
def noisy(request):
    rng = np.random.default_rng(request.param)
    X = rng.integers(-5, 6, size=(120, 2)).astype(float)
    return X, np.where(X[:, 0] + 3 * rng.normal(size=120) > 0, "right", "left")


def test_by_hand():
    """Row 2 stands among others; they have a majority without it."""
    assert edited(LINE, [0, 0, 1, 0, 1, 1, 1, 1]) == [0, 1, 3, 4, 5, 6, 7]


def test_a_row_does_not_vote_on_itself():
    assert edited(LINE, [0, 0, 1, 0, 1, 1, 1, 1], n_neighbors=1) == [0, 1, 4, 5, 6, 7]


def test_all_that_disagree_leave_at_once():
    """Rows 2 and 3 are outvoted by the others; were row 2 gone first, row 3 would still be judged with it."""
    y = np.array([0, 0, 1, 1, 0, 0, 0, 0])
    assert edited(LINE, y) == once(LINE, y, 3)


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_wilsons_rule(noisy, k):
    X, y = noisy
    assert edited(X, y, n_neighbors=k) == once(X, y, k)
    model = KNeighborsClassifier(k).fit(X, y)
    assert edited(X, y, n_neighbors=k) == np.flatnonzero(model.predict(None) == y).tolist()


@pytest.mark.parametrize("k", [1, 3])
def test_repeated_until_all_agree(noisy, k):
    X, y = noisy
    left, rounds = np.arange(len(X)), 0
    while True:
        kept = once(X[left], y[left], k)
        rounds += 1
        if len(kept) == len(left):
            break
        left = left[kept]
    model = EditedNearestNeighbor(k, repeat=True).fit(X, y)
    assert model.sample_indices_.tolist() == left.tolist()
    assert model.n_rounds_ == rounds


def test_all_sizes_of_neighbourhoods_at_once(noisy):
    X, y = noisy
    agreeing = set.intersection(*(set(once(X, y, k)) for k in (1, 2, 3, 4)))
    assert edited(X, y, n_neighbors=4, repeat="all") == sorted(agreeing)


def test_no_promise_of_consistency(noisy):
    model = EditedNearestNeighbor().fit(*noisy)
    assert model.consistent_ is None
    assert "onsistent" not in repr(model.report_)
    assert model.reduction_ == 1 - len(model.sample_indices_) / 120


def test_any_metric_and_form():
    words = ["cat", "cats", "cart", "hat", "house", "houses", "mouse", "blouse"]
    kinds = ["short", "short", "long", "short", "long", "long", "long", "long"]
    kept, labels = EditedNearestNeighbor(metric="levenshtein").fit_resample(words, kinds)
    assert kept == ["cat", "cats", "hat", "house", "houses", "mouse", "blouse"]
    assert labels == ["short", "short", "short", "long", "long", "long", "long"]


def test_a_class_that_vanishes_is_reported():
    model = EditedNearestNeighbor().fit(LINE, ["a", "a", "b", "a", "a", "a", "a", "a"])
    assert model.report_.after.tolist() == [7, 0]
    assert "No row of class b is left." in repr(model.report_)


def test_repeating_stops_when_too_few_are_left_to_vote():
    """In the first round the lone rows of class 1 and 2 leave; three rows cannot outvote each other by three."""
    X = np.array([[0.0], [1.0], [2.0], [50.0], [51.0]])
    model = EditedNearestNeighbor(3, repeat=True).fit(X, [0, 0, 0, 1, 2])
    assert model.sample_indices_.tolist() == [0, 1, 2]
    assert model.n_rounds_ == 1


def test_editing_everything_away_is_an_error():
    with pytest.raises(ValueError, match="Every row disagrees with its 1 nearest neighbours"):
        EditedNearestNeighbor(1).fit([[0.0], [1.0], [10.0], [11.0]], [0, 1, 0, 1])


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_neighbors": 8}, "n_neighbors is 8, but with n_samples=8 only 7 rows can vote"),
        ({"n_neighbors": 0}, "n_neighbors must be a whole number at least 1"),
        ({"repeat": "always"}, "repeat must be True, False or \"all\", not 'always'"),
        ({"metric": "levenstein"}, "Did you mean 'levenshtein'"),
    ],
)
def test_bad_input(params, message):
    with pytest.raises(ValueError, match=message):
        EditedNearestNeighbor(**params).fit(LINE, [0, 0, 1, 0, 1, 1, 1, 1])


def test_clone():
    assert clone(EditedNearestNeighbor(5, repeat="all")).get_params() == {
        "n_neighbors": 5,
        "metric": "euclidean",
        "repeat": "all",
        "n_jobs": None,
    }
