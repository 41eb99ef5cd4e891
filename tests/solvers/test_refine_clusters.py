"""Refinement: what it finds, and that it never does harm."""

import numpy as np
import pytest

from bisector.engine.sources import source
from bisector.solvers.lloyd import lloyd
from bisector.solvers.refine_clusters import improved_centres, refine_clusters


def inertia(X, weights, centres):
    squares = ((X[:, None, :] - centres) ** 2).sum(axis=2)
    return float(weights @ squares.min(axis=1))


def clusters(k, seed, n=60):
    rng = np.random.default_rng(seed)
    side = int(np.ceil(np.sqrt(k)))
    places = np.array([divmod(c, side) for c in range(k)], dtype=float)
    return np.repeat(places, n, axis=0) + 0.12 * rng.standard_normal((k * n, 2)), places


def test_a_centre_goes_where_it_is_needed():
    X, places = clusters(9, 0)
    start = places.copy()
    start[4] = places[0] + 0.05  # two share the first cluster, and none has the middle one
    stuck = lloyd(source(X), start)
    best = lloyd(source(X), places)
    assert stuck.inertia > 1.5 * best.inertia
    refined = refine_clusters(source(X), stuck, np.random.RandomState(0))
    assert refined.inertia == pytest.approx(best.inertia, rel=1e-9)
    assert refined.converged
    assert (np.diff(refined.history) <= 0).all()


@pytest.mark.parametrize("seed", range(8))
def test_refinement_never_raises_the_inertia(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((200, 3))
    weights = rng.integers(0, 3, size=200).astype(float)
    rows = source(X, sample_weight=weights)
    found = lloyd(rows, X[rng.choice(np.flatnonzero(weights), 6, replace=False)])
    refined = refine_clusters(rows, found, np.random.RandomState(seed))
    assert refined.inertia <= found.inertia
    assert refined.inertia == pytest.approx(inertia(X, weights, refined.centres), rel=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_no_single_row_could_be_moved_with_profit(seed):
    """The certificate of Hartigan and Wong, recomputed."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 2))
    found = refine_clusters(source(X), lloyd(source(X), X[:5]), np.random.RandomState(0))
    for i, own in enumerate(found.labels):
        size = found.sizes[own]
        if size > 1:
            saved = size / (size - 1) * ((X[i] - found.centres[own]) ** 2).sum()
            others = [c for c in range(5) if c != own]
            costs = [
                found.sizes[c] / (found.sizes[c] + 1) * ((X[i] - found.centres[c]) ** 2).sum() for c in others
            ]
            assert min(costs) >= saved * (1 - 1e-8)


def test_max_iter_holds_for_all_passes_together():
    X, _ = clusters(16, 1)
    found = lloyd(source(X), X[:16], max_iter=3)
    assert refine_clusters(source(X), found, np.random.RandomState(0), max_iter=3) is found


def test_many_rows_are_refined_on_a_sample():
    X, places = clusters(25, 2, n=1200)
    start = places.copy()
    start[12] = places[0] + 0.05
    refined = refine_clusters(source(X), lloyd(source(X), start), np.random.RandomState(0))
    assert refined.inertia == pytest.approx(lloyd(source(X), places).inertia, rel=1e-4)


@pytest.mark.parametrize("X", [np.ones((4, 2)), np.array([[1.0, 2.0]]), np.zeros((3, 1))])
def test_equal_rows_and_one_row_stay(X):
    centres, n_moves = improved_centres(X, np.ones(len(X)), X[:1])
    assert n_moves == 0
    np.testing.assert_array_equal(centres, X[:1])
