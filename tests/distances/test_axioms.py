"""Axioms: verdicts with witnesses."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

from bisector.distances import (
    Chebyshev,
    Cosine,
    Elliptical,
    Euclidean,
    Hamming,
    Haversine,
    Mahalanobis,
    Manhattan,
    Minkowski,
    Precomputed,
)
from bisector.distances.axioms import MOST_ROWS, check_axioms
from bisector.distances.boards import Bing, Bishop, King, Knight, KRook, Pawn, Queen, Rook
from bisector.distances.compiled import Compiled
from bisector.distances.sets import Jaccard
from bisector.distances.strings import OSA, Indel, JaroWinkler, Levenshtein

VECTORS = [
    Euclidean(),
    Euclidean(squared=True),
    Euclidean(weights=[1, 0]),
    Manhattan(),
    Chebyshev(),
    Minkowski(1.5),
    Minkowski(0.8),
    Hamming(),
    Cosine(),
    Cosine(angle=True),
    Haversine(),
    Mahalanobis(),
    Elliptical([[2, 1], [1, 1]]),
    Elliptical([[1, 0], [0, 0]]),
]
PIECES = [King(), Rook(), Bishop(), Knight(), Queen(), KRook(), Bing()]
OTHERS = [Levenshtein(), OSA(), Indel(), JaroWinkler(), Jaccard()]


def worst_detour(distances):
    """By the definition."""
    n = len(distances)
    return max(
        distances[x, z] - distances[x, y] - distances[y, z]
        for x in range(n)
        for y in range(n)
        for z in range(n)
    )


# By hand


def test_a_detour_that_is_shorter():
    check = check_axioms(Euclidean(squared=True), [[0], [1], [3]])
    assert not check
    assert not check.triangle.holds
    assert check.triangle.rows == (0, 1, 2)
    assert check.triangle.values == (9.0, 1.0, 4.0)
    assert check.triangle.excess == 4.0
    assert "d(x, z) = 9 > 1 + 4 = d(x, y) + d(y, z) for x = (0) (row 0)" in check.triangle.witness
    assert check.identity.holds
    assert check.positivity.holds
    assert check.symmetry.holds


def test_a_way_without_return():
    check = check_axioms(Pawn(), [[0, 0], [1, 0], [2, 0]])
    assert check.symmetry.rows == (0, 1)
    assert check.symmetry.values == (1.0, math.inf)
    assert check.triangle.holds  # infinite ways are no detours
    assert check.law == "none"


def test_rows_that_differ_at_distance_zero():
    check = check_axioms(Cosine(angle=True), [[1, 0], [0, 1], [0, 2]])
    assert check.positivity.rows == (1, 2)
    assert check.positivity.excess == 0
    assert check.law == "pseudo-metric"
    assert not check


def test_repeated_rows_may_be_at_distance_zero():
    assert check_axioms(Euclidean(), [[1, 2], [1, 2], [0, 0]]).law == "metric"


def test_a_function_that_is_not_zero_from_a_row_to_itself():
    check = check_axioms(lambda x, y: abs(x[0] - y[0]) + 1.0, [[0.0], [1.0], [5.0]])
    assert not check.identity.holds
    assert check.identity.rows == (0,)
    assert check.identity.values == (1.0,)
    assert check.law == "none"


def test_distances_below_zero():
    """Precomputed distances refuse them; an object of one's own may have them."""

    class Signed(Euclidean):
        def between(self, outer, inner, *, flipped=False):
            pairs = super().between(outer, inner)
            write = pairs.write
            pairs.write = lambda a, b, out, row=0, column=0: (
                write(a, b, out, row, column),
                np.negative(out, out=out),
            )
            return pairs

    check = check_axioms(Signed(), [[0.0], [1.0]])
    assert check.positivity.excess == 1.0
    assert check.law == "none"


# Claims


@pytest.mark.parametrize("distance", [*VECTORS, *PIECES, Pawn(), *OTHERS], ids=repr)
def test_what_distances_say_of_themselves_is_not_contradicted(distance):
    check = check_axioms(distance)
    assert check.agrees
    assert check.symmetry.holds or not distance.symmetric


@pytest.mark.parametrize("distance", [d for d in VECTORS + OTHERS if d.law == "none"], ids=repr)
def test_what_is_no_metric_is_shown_to_be_none(distance):
    check = check_axioms(distance)
    assert check.law == "none"
    assert check.triangle.excess > check.slack


def test_a_false_claim_is_found():
    check = check_axioms(Compiled(lambda x, y: (x[0] - y[0]) ** 2, law="metric"), [[0.0], [1.0], [2.0]])
    assert not check.agrees
    assert "This contradicts the distance, which says it is a metric" in repr(check)


def test_symmetry_is_looked_at_even_where_it_is_claimed():
    claimed = Compiled(lambda x, y: max(0.0, x[0] - y[0]), law="metric")
    check = check_axioms(claimed, [[0.0], [1.0], [2.0]])
    assert check.symmetry.values == (0.0, 2.0)


# Oracle


def test_the_worst_detour_is_the_worst_of_all_triples():
    X = np.random.default_rng(0).normal(size=(12, 2))
    for distance in (Minkowski(0.5), Cosine(), Euclidean(squared=True)):
        check = check_axioms(distance, X)
        assert check.triangle.excess == pytest.approx(worst_detour(distance.pairwise(X, X)), rel=1e-12)


def test_a_precomputed_matrix():
    D = np.array([[0.0, 5.0, 1.0], [5.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    assert check_axioms(Precomputed(), D).triangle.rows == (0, 2, 1)


# Rows of all kinds


def test_words():
    def differing(x, y):
        return float(sum(a != b for a, b in zip(x, y, strict=False)))

    with pytest.warns(UserWarning, match="runs as Python"):
        check = check_axioms(differing, ["cat", "cut", "cow", "ca"])
    assert check.law == "none"  # "cat" and "ca" agree as far as both go
    assert check.positivity.rows == (0, 3)
    assert "x = 'cat' (row 0), y = 'ca' (row 3)" in check.positivity.witness


def test_sets():
    with pytest.warns(UserWarning, match="runs as Python"):
        check = check_axioms(lambda a, b: float(len(a ^ b)), [{1}, {2, 1}, {3}, set()])
    assert check.law == "metric"


def test_frames_and_sparse_rows():
    X = np.array([[0.0, 1.0], [1.0, 2.0], [3.0, 4.0]])
    frame = pd.DataFrame(X, columns=["a", "b"])
    for rows in (
        frame,
        frame.set_index(pd.Index([7, 8, 9])),
        pl.DataFrame(frame),
        scipy.sparse.csr_array(X),
        X.tolist(),
    ):
        check = check_axioms(Euclidean(squared=True), rows)
        assert check.triangle.rows == (0, 1, 2)
        assert "x = (0, 1) (row 0), y = (1, 2) (row 1)" in check.triangle.witness


def test_names_mean_distances():
    assert check_axioms("manhattan", [[0, 0], [1, 1]])
    assert not check_axioms("cosine")


def test_rounding_breaks_no_axiom():
    """Rows on a line far from zero, in float32: sums of distances along it are rounded."""
    X = (np.linspace(0, 1, 50)[:, None] * [1.0, 3.0] + 1e6).astype(np.float32)
    assert check_axioms(Euclidean(), np.unique(X, axis=0))
    check = check_axioms(Cosine(angle=True), [[1, 1e-9], [-1, 1e-9], [1, 0]])
    assert check.triangle.holds  # angles near π are exact to 1e-8 only


def test_many_rows_are_sampled():
    X = np.random.default_rng(0).normal(size=(MOST_ROWS + 50, 2))
    check = check_axioms(Minkowski(0.5), X)
    assert (check.n_rows, check.n_checked) == (MOST_ROWS + 50, MOST_ROWS)
    assert f"Of {MOST_ROWS + 50} rows, a random sample of {MOST_ROWS} was looked at" in repr(check)
    rows = check.triangle.rows
    values = [
        Minkowski(0.5)(X[a], X[b]) for a, b in [(rows[0], rows[2]), (rows[0], rows[1]), (rows[1], rows[2])]
    ]
    assert check.triangle.values == pytest.approx(values, rel=1e-12)
    assert check_axioms(Minkowski(0.5), X, seed=0).triangle == check.triangle


def test_one_row():
    assert check_axioms(Euclidean(), [[1.0, 2.0]]).law == "metric"


# Shown


def test_the_table():
    text = repr(check_axioms(Manhattan(), [[0, 0], [1, 1]]))
    assert text.startswith("On 2 rows, Manhattan() is a metric")
    assert "Differences up to 2.98e-08 are taken for rounding." in text


def test_html_escapes_what_came_from_the_user():
    with pytest.warns(UserWarning, match="runs as Python"):
        check = check_axioms(lambda x, y: 0.0, ["<b>", "c"])
    assert "&lt;b&gt;" in check._repr_html_()
    assert "<b>" not in check._repr_html_()


# Bad input


def test_rows_are_needed_where_none_are_known():
    with pytest.raises(ValueError, match="give the rows X"):
        check_axioms(Elliptical(np.eye(7)))
    with pytest.raises(ValueError, match="X has no rows"):
        check_axioms(Euclidean(), np.empty((0, 2)))
