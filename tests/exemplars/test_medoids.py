"""The medoid: exact, whatever rules rows out."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.spatial.distance import cdist
from tests.exemplars.tables import weighted_tables

from bisector.distances import Chebyshev, Cosine, Elliptical, Euclidean, Hamming, Manhattan, Minkowski
from bisector.distances.boards import Bishop, King, Pawn
from bisector.distances.sets import Jaccard
from bisector.distances.strings import Levenshtein
from bisector.exemplars import (
    medoid,
)
from bisector.exemplars.exact_sums import exact_sums
from bisector.exemplars.total_bounds import BOUNDS

METRICS = [
    Euclidean(),
    Euclidean(squared=True),
    Manhattan(),
    Chebyshev(),
    Minkowski(3),
    Minkowski(0.5),
    Hamming(),
    Cosine(),
    Cosine(angle=True),
    Elliptical([[2, 0.5], [0.5, 1]]),
]


# By hand


def test_medoid_of_a_square_is_its_first_corner():
    """All four have the same total; added up in the order of the rows, rounding would choose."""
    for rows in itertools.permutations([[0, 0], [0, 1], [1, 0], [1, 1]]):
        for metric in ("euclidean", "manhattan", "chebyshev", "sqeuclidean"):
            assert medoid(rows, metric) == 0


def test_medoid_of_chess_squares():
    assert medoid([[0, 0], [4, 4], [7, 7], [3, 4]], King()) == 1


def test_medoid_of_a_distance_that_is_not_symmetric_counts_the_ways_from_it():
    # A pawn only moves up, away from the first rank: nobody gets back.
    assert medoid([[0, 0], [1, 0], [2, 0]], Pawn()) == 0
    with pytest.raises(ValueError, match="No row has a finite total"):
        medoid([[0, 0], [0, 1]], Bishop())


def test_medoid_of_functions_and_words():
    assert medoid(np.array([[0.0], [1.0], [5.0]]), lambda x, y: abs(x[0] - y[0])) == 1
    with pytest.warns(UserWarning, match="runs as Python"):
        found = medoid(["xyz", "abc", "abd"], lambda x, y: sum(a != b for a, b in zip(x, y, strict=True)))
    assert found == 1


def test_medoid_of_strings_and_sets():
    words = ["sitting", "kitten", "sit", "bitten", "mitten", "kit", "smitten"]
    assert medoid(words, Levenshtein()) == 1
    assert medoid(words, "levenshtein", sample_weight=[1, 1, 9, 1, 1, 1, 1]) == 2
    assert medoid([{1, 2}, {2, 3}, {1, 2, 3}, {9}], Jaccard()) == 2


# Oracles


def least_total(metric, X, weights, squared):
    """The definition in exact arithmetic, on the distances as they are computed for one pair."""
    rows = [i for i in range(len(X)) if weights is None or weights[i] > 0]
    power = 2 if squared else 1
    prepared = metric.prepare(X)
    pairs = metric.between(prepared, prepared)
    distances = np.empty((len(X), len(X)))
    pairs.fill(range(len(X)), range(len(X)), distances)
    distances = pairs.finish(distances)
    weight = [1] * len(X) if weights is None else weights.tolist()
    totals = {
        i: float(sum(Fraction(weight[j]) * Fraction(distances[i, j]) ** power for j in rows)) for i in rows
    }
    return min(rows, key=lambda i: (totals[i], i))


@given(weighted_tables(most_columns=2), st.sampled_from(METRICS), st.booleans(), st.booleans())
def test_medoid_is_exact(problem, metric, squared, weighted):
    X, weights = problem
    X = X if X.shape[1] == 2 else np.column_stack([X, X[::-1]])
    weights = weights if weighted else None
    rooted = getattr(metric, "squared", None) is False
    summed = metric.set_params(squared=True) if squared and rooted else metric
    expected = least_total(summed, X, weights, squared and not hasattr(metric, "squared"))
    assert medoid(X, metric, squared=squared, sample_weight=weights) == expected


@pytest.mark.parametrize("metric", METRICS, ids=repr)
@pytest.mark.parametrize("kind", ["scattered", "lattice", "far", "two heaps"])
def test_medoid_of_many_rows(metric, kind):
    """More rows than are looked at in the first round, so that bounds rule rows out."""
    rng = np.random.default_rng(7)
    X = {
        "scattered": rng.normal(size=(700, 2)),
        "lattice": rng.integers(1, 12, size=(700, 2)).astype(float),
        "far": rng.normal(size=(700, 2)) + 1e6,
        "two heaps": np.r_[np.tile([0.0, 1.0], (400, 1)), np.tile([5.0, 1.0], (300, 1))],
    }[kind]
    totals = metric.pairwise(X).sum(axis=1)
    found = medoid(X, metric)
    # Sums of 700 terms are rounded; the exact answer is among those that they cannot tell apart.
    assert totals[found] <= totals.min() * (1 + 1e-11) + 1e-11
    assert medoid(X, metric, n_jobs=1) == found
    if kind == "two heaps":
        assert found == int(np.argmin(totals))


def test_medoid_in_many_dimensions_compares_all_pairs():
    X = np.random.default_rng(2).normal(size=(600, 40))
    for metric, name in [(Chebyshev(), "chebyshev"), (Euclidean(), "euclidean"), (Minkowski(0.5), None)]:
        totals = (cdist(X, X, name) if name else metric.pairwise(X)).sum(axis=1)
        assert medoid(X, metric) == int(np.argmin(totals))


@pytest.mark.parametrize("formula", BOUNDS, ids=lambda formula: formula.__name__)
def test_lower_bounds_are_below_the_totals(formula):
    metric = next(m for m in METRICS if isinstance(m.lower(2), formula))
    for seed in range(20):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 200))
        X = [rng.normal(size=(n, 2)), rng.integers(0, 5, (n, 2)).astype(float), rng.standard_cauchy((n, 2))][
            seed % 3
        ]
        weights = rng.exponential(size=n)
        rows = metric.prepare(X)
        bounds = BOUNDS[formula](metric.lower(2), rows.values, weights)
        totals = metric.pairwise(X) @ weights
        assert (bounds <= totals * (1 + 1e-13)).all()
        if formula.__name__ == "SquaredTerms" and seed % 3 == 0 and n > 50:
            assert np.mean(bounds > totals.min()) > 0.5  # they rule out most rows


def test_medoid_of_precomputed_distances():
    X = np.random.default_rng(0).normal(size=(50, 3))
    assert medoid(cdist(X, X), "precomputed") == medoid(X)


def test_exact_sums_equal_those_of_rational_numbers():
    for seed in range(40):
        rng = np.random.default_rng(seed)
        table = rng.exponential(size=(3, int(rng.integers(1, 40)))) * 10.0 ** rng.integers(-80, 80)
        weights = None if seed % 2 else rng.exponential(size=table.shape[1])
        squared = seed % 3 == 0
        weight = [1] * table.shape[1] if weights is None else weights.tolist()
        expected = [
            sum(Fraction(x) ** (2 if squared else 1) * Fraction(w) for x, w in zip(row, weight, strict=True))
            for row in table.tolist()
        ]
        assert exact_sums(table, weights, squared=squared, about=float(max(expected))) == list(
            map(float, expected)
        )
