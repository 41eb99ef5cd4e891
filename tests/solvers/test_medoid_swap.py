"""Medoids by swaps: equal to brute force on small data, and no swap left that lowers the loss."""

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from bisector.distances import Euclidean, Levenshtein, Manhattan, Precomputed
from bisector.engine.loops import given as as_given
from bisector.solvers.distance_lines import HeldLines, MadeLines, distance_lines
from bisector.solvers.distance_lines_loops import strip_is_mirrored
from bisector.solvers.medoid_alternate import alternate_medoids
from bisector.solvers.medoid_build import build, far_rows, random_rows, scattered_rows
from bisector.solvers.medoid_sample import sample_medoids
from bisector.solvers.medoid_swap import swap_medoids
from bisector.solvers.medoid_swap_loops import note_below


def loss_of(D, medoids, weights):
    return float(weights @ D[:, list(medoids)].min(axis=1))


def best_swap(D, medoids, weights):
    """The lowest loss after one swap, and the swap: every pair tried."""
    tried = [
        (loss_of(D, [*medoids[:i], row, *medoids[i + 1 :]], weights), row, i)
        for row in range(len(D))
        if row not in medoids
        for i in range(len(medoids))
    ]
    return min(tried)


def descend(D, medoids, weights):
    """PAM as it is written down: make the best swap while there is one."""
    medoids, n_swaps = list(medoids), 0
    while True:
        loss, row, place = best_swap(D, medoids, weights)
        if not loss < loss_of(D, medoids, weights):  # all sums are exact here
            return medoids, n_swaps
        medoids[place], n_swaps = row, n_swaps + 1


def build_by_trying(D, k, weights):
    chosen = []
    for _ in range(k):
        losses = [
            loss_of(D, [*chosen, row], weights) if row not in chosen else math.inf for row in range(len(D))
        ]
        chosen.append(int(np.argmin(losses)))
    return chosen


def whole_numbers(seed, n=30):
    """Points of a lattice, so that all sums are exact and ties are many; and weights."""
    rng = np.random.default_rng(seed)
    return rng.integers(0, 12, (n, 2)).astype(float), rng.integers(1, 4, n).astype(float)


@pytest.fixture(params=[HeldLines, MadeLines])
def lines_of(request):
    """Distances held in memory, and made when they are needed."""

    def make(distance, X, n_jobs=1):
        rows = distance.prepare(X)
        if request.param is MadeLines:
            lines = MadeLines(distance, rows, n_jobs=n_jobs)
            lines.at_once = 7  # so that a pass takes several windows
            return lines
        return distance_lines(distance, rows, n_jobs=n_jobs)

    return make


@pytest.mark.parametrize("seed", range(6))
def test_build_chooses_what_trying_all_rows_chooses(lines_of, seed):
    X, weights = whole_numbers(seed)
    lines = lines_of(Manhattan(), X)
    expected = build_by_trying(Manhattan().pairwise(X), 6, weights)
    np.testing.assert_array_equal(build(lines, 6, weights), expected)
    np.testing.assert_array_equal(build(lines, 3, weights), expected[:3])


@pytest.mark.parametrize("seed", range(6))
def test_pam_goes_the_way_of_brute_force(lines_of, seed):
    X, weights = whole_numbers(seed)
    start = random_rows(4, weights, np.random.default_rng(seed))
    found = swap_medoids(lines_of(Manhattan(), X), start, weights, max_iter=50, eager=False)
    D = Manhattan().pairwise(X)
    expected, n_swaps = descend(D, start, weights)
    assert found.loss == loss_of(D, expected, weights) == loss_of(D, found.medoids, weights)
    assert found.n_swaps == n_swaps
    assert found.n_iter == n_swaps + 1


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(*[st.integers(0, 6)] * 2), min_size=3, max_size=14),
    st.integers(2, 3),
    st.booleans(),
    st.integers(0, 99),
)
def test_no_swap_is_left_that_lowers_the_loss(points, k, eager, seed):
    X = np.array(points, dtype=float)
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 4, len(X)).astype(float)
    lines = distance_lines(Euclidean(), Euclidean().prepare(X), n_jobs=1)
    found = swap_medoids(lines, rng.choice(len(X), k, replace=False), weights, max_iter=100, eager=eager)
    D = Euclidean().pairwise(X)
    # Sums of a dozen distances, rounded in another order.
    assert math.isclose(found.loss, loss_of(D, found.medoids, weights), rel_tol=1e-13)
    assert found.converged
    if len(X) > k:
        left = best_swap(D, list(found.medoids), weights)[0] - found.loss
        assert left >= -found.rounding
        assert math.isclose(left, found.change, abs_tol=found.rounding) or found.change <= 0 <= left
    assert found.change >= -found.rounding


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_held_and_made_distances_and_threads_agree(dtype):
    rng = np.random.default_rng(3)
    X, weights = rng.normal(size=(300, 3)).astype(dtype), np.ones(300)
    rows = Euclidean().prepare(X)
    start = random_rows(9, weights, rng)
    made = MadeLines(Euclidean(), rows, n_jobs=1)
    made.at_once = 33
    all_found = [
        swap_medoids(lines, start, weights, max_iter=100)
        for lines in (
            distance_lines(Euclidean(), rows, n_jobs=1),
            distance_lines(Euclidean(), rows, n_jobs=3),
            made,
        )
    ]
    for found in all_found[1:]:
        np.testing.assert_array_equal(found.medoids, all_found[0].medoids)
    assert all_found[0].loss == all_found[1].loss
    # Held distances are rounded to the precision of the rows.
    assert math.isclose(all_found[2].loss, all_found[0].loss, rel_tol=1e-6 if dtype == np.float32 else 1e-13)


def test_weights_count_as_repeated_rows():
    X, _ = whole_numbers(5)
    weights = np.random.default_rng(5).integers(1, 4, len(X))
    again = np.repeat(X, weights, axis=0)
    few = distance_lines(Manhattan(), Manhattan().prepare(X), n_jobs=1)
    many = distance_lines(Manhattan(), Manhattan().prepare(again), n_jobs=1)
    a = swap_medoids(few, build(few, 5, weights.astype(float)), weights.astype(float), max_iter=100)
    b = swap_medoids(many, build(many, 5, np.ones(len(again))), np.ones(len(again)), max_iter=100)
    np.testing.assert_array_equal(X[a.medoids], again[b.medoids])
    assert a.loss == b.loss


def test_one_medoid_is_the_central_row(lines_of):
    found = swap_medoids(
        lines_of(Manhattan(), [[0.0], [1.0], [2.0], [3.0], [20.0]]), np.array([4]), np.ones(5), max_iter=9
    )
    assert (found.medoids.tolist(), found.loss, found.change) == ([2], 22.0, 1.0)


def test_distances_that_are_not_symmetric_are_taken_to_the_medoid():
    # To row 0 all are near; from row 0 all are far.
    D = np.array([[0.0, 9.0, 9.0], [1.0, 0.0, 9.0], [1.0, 9.0, 0.0]])
    rows = Precomputed().prepare(D)
    found = swap_medoids(distance_lines(Precomputed(), rows), np.array([1]), np.ones(3), max_iter=9)
    assert (found.medoids.tolist(), found.loss) == ([0], 2.0)
    two = swap_medoids(distance_lines(Precomputed(), rows), np.array([1, 2]), np.ones(3), max_iter=9)
    assert two.loss == loss_of(D, two.medoids, np.ones(3)) == 1.0
    turns = alternate_medoids(Precomputed(), rows, np.array([1]), np.ones(3), max_iter=9)
    assert (turns.medoids.tolist(), turns.loss) == ([0], 2.0)


def test_what_stops_early_says_so():
    X, weights = whole_numbers(0)
    lines = distance_lines(Manhattan(), Manhattan().prepare(X), n_jobs=1)
    found = swap_medoids(lines, np.array([0, 1, 2, 3]), weights, max_iter=1)
    assert not found.converged
    assert math.isnan(found.change)


def test_infinite_distances_are_refused():
    D = np.where(np.eye(4, dtype=bool), 0.0, np.inf)
    with pytest.raises(ValueError, match="infinitely far"):
        swap_medoids(HeldLines(D), np.array([0, 1]), np.ones(4), max_iter=9)


# Where to begin


def test_starts_hold_different_rows_even_where_rows_are_equal():
    X, weights = np.zeros((6, 2)), np.ones(6)
    rows = Euclidean().prepare(X)
    lines = distance_lines(Euclidean(), rows)
    rng = np.random.default_rng(0)
    for start in (
        build(lines, 4, weights),
        scattered_rows(lines, 4, weights, rng),
        random_rows(4, weights, rng),
        far_rows(Euclidean(), rows, 4, None),
    ):
        assert len(set(start.tolist())) == 4


def test_rows_far_from_others_are_drawn_more_often():
    X = np.array([[0.0], [0.1], [0.2], [50.0]])
    lines = MadeLines(Euclidean(), Euclidean().prepare(X), n_jobs=1)
    drawn = [scattered_rows(lines, 2, np.ones(4), np.random.default_rng(seed)) for seed in range(40)]
    # The chance that a draw lacks row 3 is below 0.005, that four of 40 do below 1e-4.
    assert sum(3 in rows for rows in drawn) > 36


# Other methods


def test_alternation_never_raises_the_loss_and_swaps_do_not_end_above_it():
    for seed in range(5):
        X, weights = whole_numbers(seed, n=60)
        rows = Manhattan().prepare(X)
        start = random_rows(5, weights, np.random.default_rng(seed))
        turns = alternate_medoids(Manhattan(), rows, start, weights, max_iter=100)
        D = Manhattan().pairwise(X)
        assert turns.converged
        assert turns.loss == loss_of(D, turns.medoids, weights) <= loss_of(D, start, weights)
        swaps = swap_medoids(distance_lines(Manhattan(), rows), turns.medoids, weights, max_iter=100)
        assert swaps.loss <= turns.loss


def test_samples_of_all_rows_are_the_method_itself():
    words = ["house", "mouse", "horse", "table", "cable", "fable", "able", "louse"]
    rows = Levenshtein().prepare(words)
    weights = np.ones(len(words))
    lines = distance_lines(Levenshtein(), rows)
    whole = swap_medoids(lines, build(lines, 2, weights), weights, max_iter=100)
    rng = np.random.default_rng(0)
    found = sample_medoids(Levenshtein(), rows, 2, weights, rng, sample_size=8, n_samples=3, max_iter=100)
    assert (found.medoids.tolist(), found.loss, found.change) == (
        whole.medoids.tolist(), whole.loss, whole.change,
    )  # fmt: skip


@pytest.mark.parametrize("even", [True, False])
def test_samples_are_judged_by_all_rows(even):
    X, weights = whole_numbers(1, n=200)
    weights = np.ones(200) if even else weights
    rows, D = Manhattan().prepare(X), Manhattan().pairwise(X)
    losses = []
    for n_samples in (1, 8):
        found = sample_medoids(
            Manhattan(), rows, 3, weights, np.random.default_rng(4), sample_size=20, n_samples=n_samples,
            max_iter=100,
        )  # fmt: skip
        assert found.loss == loss_of(D, found.medoids, weights)
        assert math.isnan(found.change)
        losses.append(found.loss)
    assert losses[1] <= losses[0]


# Compiled steps


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 200])
def test_places_below_a_bound_are_all_noted(n, dtype):
    rng = np.random.default_rng(n)
    for share in (0.0, 0.03, 0.5, 1.0):
        bounds = rng.random(n).astype(dtype)
        line = np.where(rng.random(n) < share, bounds / 2, bounds).astype(dtype)
        hits = np.empty(n + 4, np.int64)
        count = note_below(as_given(line), as_given(bounds), hits)
        assert hits[:count].tolist() == np.flatnonzero(line < bounds).tolist()


@pytest.mark.parametrize("n", [1, 15, 16, 17, 70])
def test_one_pair_that_differs_from_its_mirror_image_is_seen(n):
    rng = np.random.default_rng(n)
    matrix = rng.random((n, n))
    matrix += matrix.T
    assert all(strip_is_mirrored(as_given(matrix), first, min(first + 64, n)) for first in range(0, n, 64))
    for row, column in [(0, n - 1), (n // 2, 0), (n - 1, n // 2), (min(66, n - 1), min(65, n - 1))]:
        other = matrix.copy()
        other[row, column] += row != column
        seen = [strip_is_mirrored(as_given(other), first, min(first + 64, n)) for first in range(0, n, 64)]
        assert all(seen) == (row == column)
