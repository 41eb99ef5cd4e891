"""Farthest-first: rows that cover all rows."""

import itertools

import numpy as np
from hypothesis import given, strategies as st
from scipy.spatial.distance import cdist
from tests.exemplars.tables import weighted_tables

from bisector.distances import Minkowski
from bisector.distances.boards import Bishop
from bisector.distances.strings import Levenshtein
from bisector.exemplars import (
    farthest_first,
)

# By hand


def test_farthest_first_begins_where_it_is_told():
    X = [[0], [1], [2], [10], [11]]
    assert farthest_first(X, 2).indices.tolist() == [0, 4]
    assert farthest_first(X, 2, start=3).indices.tolist() == [3, 0]
    assert farthest_first(X, 1, start="medoid").indices.tolist() == [2]


def test_farthest_first_takes_the_first_of_equally_far_rows():
    assert farthest_first([[0], [5], [-5], [5]], 2).indices.tolist() == [0, 1]


def test_farthest_first_stops_when_nothing_is_left_to_cover():
    found = farthest_first([[0], [1], [0], [1]], 4)
    assert found.indices.tolist() == [0, 1]
    assert found.radius == 0
    assert "fewer were chosen than the 4 asked for" in repr(found)


def test_farthest_first_of_any_distance():
    board = [[0, 0], [0, 2], [7, 7], [0, 1]]
    found = farthest_first(board, 2, Bishop())
    assert found.indices.tolist() == [0, 3]  # no bishop gets from black to white
    assert found.radius == 2
    found = farthest_first(np.arange(5.0)[:, None], 2, Minkowski(0.5))
    assert found.lower_bound == 0
    assert "not bounded, for want of the triangle inequality" in repr(found)


def test_farthest_first_of_strings():
    words = ["sitting", "kitten", "sit", "bitten", "mitten", "kit", "smitten"]
    assert farthest_first(words, 2, Levenshtein()).indices.tolist() == [
        0,
        5,
    ]  # "kit" is five edits from "sitting"


# Certificate and oracle


@given(weighted_tables(), st.integers(1, 6))
def test_farthest_first_covers_and_bounds(problem, m):
    X, _ = problem
    found = farthest_first(X, m)
    to_chosen = cdist(X, X[found.indices])
    np.testing.assert_allclose(found.distances, to_chosen.min(axis=1), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(
        to_chosen[np.arange(len(X)), found.labels], found.distances, rtol=1e-12, atol=1e-15
    )
    assert found.radius == found.distances.max()
    assert (np.diff(found.radii) <= 0).all()
    # The chosen rows and the one farthest from them are so far apart from each other that the bound follows.
    witnesses = np.r_[found.indices, np.argmax(found.distances)]
    apart = cdist(X[witnesses], X[witnesses])[np.triu_indices(len(witnesses), 1)]
    assert apart.min(initial=np.inf) >= 2 * found.lower_bound * (1 - 1e-12)
    assert len(found.indices) == min(m, len(np.unique(X, axis=0))) or found.radius == 0


def test_farthest_first_is_at_most_twice_the_best():
    rng = np.random.default_rng(11)
    for _ in range(20):
        X = rng.integers(0, 9, size=(9, 2)).astype(float)
        found = farthest_first(X, 3)
        distances = cdist(X, X)
        best = min(distances[:, list(some)].min(axis=1).max() for some in itertools.combinations(range(9), 3))
        assert found.lower_bound <= best <= found.radius <= 2 * best
