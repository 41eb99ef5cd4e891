"""Rows meet centres in blocks, and groups of centres have bounds: neither changes a bit of the outcome."""

import numpy as np
import pytest

from bisector.engine.sources import source
from bisector.solvers import lloyd_passes
from bisector.solvers.lloyd import lloyd, nearest_centres
from bisector.solvers.spread import measure


@pytest.fixture(autouse=True)
def in_blocks(monkeypatch):
    """Few centres meet in blocks, too: what is tested is not when that is faster."""
    monkeypatch.setattr(lloyd_passes, "_FEWEST_IN_BLOCKS", 1)


FIELDS = "centres", "labels", "history", "means", "sizes", "within"


def plain_labels(X, centres):
    """Every row compared with every centre, coordinate after coordinate; the first of equals."""
    squares = np.zeros((len(X), len(centres)))
    for j in range(X.shape[1]):
        difference = X[:, j, None].astype(np.float64) - centres[None, :, j].astype(np.float64)
        squares += difference * difference
    return squares.argmin(axis=1)


def overlapping(n, d, k, seed=0, dtype=np.float64):
    """Clusters that overlap so much that rows go on changing for many moves."""
    rng = np.random.default_rng(seed)
    X = (0.7 * rng.standard_normal((k, d))[rng.integers(k, size=n)] + rng.standard_normal((n, d))).astype(
        dtype
    )
    return X, X[rng.choice(n, k, replace=False)].copy()


def same(one, other):
    for field in FIELDS:
        np.testing.assert_array_equal(getattr(one, field), getattr(other, field))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("n", "d", "k"), [
    (1, 9, 1), (15, 9, 2), (16, 10, 16), (63, 17, 17), (65, 9, 33), (513, 16, 48), (1030, 31, 100), (70, 1100, 20),
])  # fmt: skip
def test_labels_are_those_of_all_comparisons_whatever_the_sizes(n, d, k, dtype):
    X, start = overlapping(n, d, k, seed=n, dtype=dtype)
    np.testing.assert_array_equal(nearest_centres(source(X), start)[0], plain_labels(X, start))
    found = lloyd(source(X), start, max_iter=15)
    np.testing.assert_array_equal(found.labels, plain_labels(X, found.centres))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_bounds_of_groups_change_nothing(monkeypatch, dtype):
    X, start = overlapping(3000, 12, 75, dtype=dtype)
    outcomes = []
    for most_groups, pay in (
        (64, 256),
        (3, 256),
        (1, 256),
        (64, np.inf),
    ):  # five groups, three, one; no bounds
        monkeypatch.setattr(lloyd_passes, "_MOST_GROUPS", most_groups)
        monkeypatch.setattr(lloyd_passes, "_BOUNDS_PAY", pay)
        outcomes.append(lloyd(source(X, block_rows=700), start, max_iter=60))
    assert outcomes[0].n_iter > 20
    np.testing.assert_array_equal(outcomes[0].labels, plain_labels(X, outcomes[0].centres))
    for other in outcomes[1:]:
        same(other, outcomes[0])


def test_where_memory_is_short_there_are_fewer_bounds(monkeypatch):
    X, start = overlapping(1000, 12, 75)
    outcomes = []
    for small in (4 * 5 * 1000, 4 * 4 * 1000, 100):
        monkeypatch.setattr(lloyd_passes, "_SMALL", small)
        monkeypatch.setattr(lloyd_passes, "budget", lambda: 0)
        clusters = lloyd_passes.Clusters(source(X), measure(source(X)), None)
        clusters.assign(start)
        outcomes.append((len(clusters.lower), lloyd(source(X), start)))
    assert [n_bounds for n_bounds, _ in outcomes] == [5, 1, 0]
    for _, other in outcomes[1:]:
        same(other, outcomes[0][1])


@pytest.mark.parametrize("unit", [1e-120, 1.0, 1e120])
def test_bounds_hold_in_any_unit(unit):
    X, start = overlapping(800, 10, 40, seed=3)
    unit = 2.0 ** round(np.log2(unit))  # so that numbers keep their digits
    near, scaled = lloyd(source(X), start, max_iter=40), lloyd(source(unit * X), unit * start, max_iter=40)
    np.testing.assert_array_equal(scaled.labels, near.labels)
    np.testing.assert_array_equal(scaled.centres, unit * near.centres)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_of_equal_centres_and_equal_distances_the_first_is_taken(dtype):
    rng = np.random.default_rng(4)
    X = rng.integers(0, 3, size=(700, 11)).astype(dtype)
    centres = np.repeat(X[:20], 3, axis=0)[rng.permutation(60)]
    labels = plain_labels(X, centres)
    np.testing.assert_array_equal(nearest_centres(source(X), centres)[0], labels)
    found = lloyd(source(X), centres.copy(), max_iter=6)
    np.testing.assert_array_equal(found.labels, plain_labels(X, found.centres))


def test_rows_far_beyond_all_centres_are_compared_by_the_formula():
    X, start = overlapping(600, 9, 40, seed=5)
    X[::50] *= 2.0**90  # beyond what single precision multiplies
    start = X[1:41].copy()
    start[7] = start[3]
    centres = start[np.abs(start).max(axis=1) < 2.0**50]
    np.testing.assert_array_equal(nearest_centres(source(X), centres)[0], plain_labels(X, centres))
    found = lloyd(source(X), centres, max_iter=8)
    np.testing.assert_array_equal(found.labels, plain_labels(X, found.centres))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_named_among_many_rows(value):
    X, start = overlapping(900, 13, 40)
    X[777, 5] = value
    for ask in (lambda: lloyd(source(X), start), lambda: nearest_centres(source(X), start)):
        with pytest.raises(ValueError, match="row 777, column 5"):
            ask()


def test_weights_are_repeated_rows():
    X, start = overlapping(500, 12, 40, seed=6)
    X = np.round(X * 64) / 64  # sums are exact, and so equal
    weights = np.random.default_rng(7).integers(0, 4, size=500)
    start = X[weights > 0][:40].copy()
    weighted = lloyd(source(X, sample_weight=weights.astype(float)), start, max_iter=5)
    repeated = lloyd(source(np.repeat(X, weights, axis=0)), start, max_iter=5)
    np.testing.assert_array_equal(np.repeat(weighted.labels, weights), repeated.labels)
    np.testing.assert_allclose(weighted.centres, repeated.centres, rtol=1e-12)


def test_same_bits_for_any_number_of_threads_with_many_groups():
    X, start = overlapping(4000, 20, 90, seed=8, dtype=np.float32)
    runs = [lloyd(source(X, block_rows=900), start, max_iter=25, n_jobs=n_jobs) for n_jobs in (1, 2, 3)]
    for other in runs[1:]:
        same(other, runs[0])
