"""Lloyd's algorithm: by hand, against plain Lloyd bit for bit, and what its result proves."""

import numpy as np
import pytest
import scipy.sparse

from bisector.engine.sources import source
from bisector.solvers.lloyd import lloyd, nearest_centres
from bisector.solvers.spread import measure

FIVE = np.array([[8.0], [44.0], [50.0], [58.0], [84.0]])


def plain_labels(X, centres):
    """Every row compared with every centre, coordinate after coordinate; the first of equals."""
    squares = np.zeros((len(X), len(centres)))
    for j in range(X.shape[1]):
        difference = X[:, j, None].astype(np.float64) - centres[None, :, j].astype(np.float64)
        squares += difference * difference
    return squares.argmin(axis=1), squares.min(axis=1)


def plain_lloyd(X, centres, origin, max_iter, weights=None):
    """The textbook's loop; sums are made from the origin, row by row, as in the solver."""
    weights = np.ones(len(X)) if weights is None else weights
    labels = None
    for _ in range(max_iter):
        before, labels = labels, plain_labels(X, centres)[0]
        sums, sizes = np.zeros(centres.shape), np.zeros(len(centres))
        np.add.at(sums, labels, weights[:, None] * (X - origin))
        np.add.at(sizes, labels, weights)
        centres = (origin + sums / sizes[:, None]).astype(centres.dtype)
        if before is not None and np.array_equal(before, labels):
            break
    return plain_labels(X, centres)[0], centres


def blobs(n, d, k, seed, dtype=np.float64, spread=3.0):
    rng = np.random.default_rng(seed)
    X = spread * rng.standard_normal((k, d))[rng.integers(k, size=n)] + rng.standard_normal((n, d))
    return X.astype(dtype), X[rng.choice(n, k, replace=False)].astype(dtype)


@pytest.mark.parametrize(("start", "split", "scatter"), [
    ([8, 59], 1, 932.0), ([26, 64], 2, 1280.0), ([34, 71], 3, 1370.0), ([40, 84], 4, 1464.0),
])  # fmt: skip
def test_every_contiguous_split_of_five_numbers_is_stationary(start, split, scatter):
    found = lloyd(source(FIVE), np.array(start, dtype=float)[:, None])
    assert found.labels.tolist() == [0] * split + [1] * (5 - split)
    assert found.inertia == pytest.approx(scatter, rel=1e-12)
    assert found.converged


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("d", "k"), [(1, 3), (2, 8), (3, 101), (5, 7), (8, 40), (9, 6), (20, 30), (300, 5)])
def test_labels_and_centres_are_those_of_plain_lloyd(d, k, dtype):
    X, start = blobs(900, d, k, seed=d, dtype=dtype, spread=1.0)
    rows = source(X)
    found = lloyd(rows, start, max_iter=12)
    labels, centres = plain_lloyd(X, start, measure(rows).origin, max_iter=12)
    np.testing.assert_array_equal(found.labels, labels)
    np.testing.assert_array_equal(found.centres, centres)


def test_ties_go_to_the_first_centre():
    X = np.array([[float(a), float(b)] for a in range(5) for b in range(5)])
    for d in (2, 12):  # by products in registers, and by BLAS
        wide = np.zeros((25, d))
        wide[:, :2] = X
        centres = np.zeros((4, d))
        centres[:, :2] = [[0, 0], [4, 0], [0, 4], [4, 4]]
        np.testing.assert_array_equal(
            nearest_centres(source(wide), centres)[0], plain_labels(wide, centres)[0]
        )


def test_what_single_precision_cannot_tell_apart_is_decided_by_the_formula():
    rng = np.random.default_rng(0)
    for d in (3, 16):
        X = 1e6 + rng.integers(0, 3, size=(400, d)) * 1e-3
        centres = X[:40] + 1e-4 * rng.integers(0, 2, size=(40, d))
        centres[0] -= 1e6  # one far away, so that the others are close to each other in its scale
        np.testing.assert_array_equal(nearest_centres(source(X), centres)[0], plain_labels(X, centres)[0])
        found = lloyd(source(X), centres, max_iter=5)
        np.testing.assert_array_equal(found.labels, plain_labels(X, found.centres)[0])


@pytest.mark.parametrize("d", [3, 24])
def test_same_bits_for_any_number_of_threads(d):
    X, start = blobs(5000, d, 12, seed=1)
    runs = [lloyd(source(X, block_rows=700), start, n_jobs=n_jobs) for n_jobs in (1, 2, 3)]
    for other in runs[1:]:
        np.testing.assert_array_equal(other.centres, runs[0].centres)
        np.testing.assert_array_equal(other.labels, runs[0].labels)
        np.testing.assert_array_equal(other.history, runs[0].history)


@pytest.mark.parametrize("kind", [scipy.sparse.csr_array, scipy.sparse.csr_matrix])
def test_sparse_rows_give_the_labels_of_dense_ones(kind):
    rng = np.random.default_rng(2)
    X = rng.integers(0, 4, size=(600, 15)) * (rng.random((600, 15)) < 0.3).astype(float)
    start = X[:7].copy()
    sparse, dense = lloyd(source(kind(X)), start), lloyd(source(X), start)
    np.testing.assert_array_equal(sparse.labels, dense.labels)
    np.testing.assert_allclose(sparse.centres, dense.centres, atol=1e-12)  # sums are made from another origin
    assert sparse.inertia == pytest.approx(dense.inertia, rel=1e-12)


def test_inertia_never_rises_and_the_scatters_add_up():
    X, start = blobs(3000, 4, 20, seed=3, spread=1.0)
    rows = source(X)
    found, whole = lloyd(rows, start), measure(rows)
    assert (np.diff(found.history) <= 0).all()
    assert found.history[-1] == found.inertia
    offsets = found.means - whole.mean
    between = found.sizes @ (offsets * offsets).sum(axis=1)
    assert found.within.sum() + between == pytest.approx(whole.scatter, rel=1e-12)
    assert found.sizes.sum() == 3000


def test_weights_are_repeated_rows_and_zero_is_absent():
    X, start = blobs(300, 3, 5, seed=4)
    weights = np.random.default_rng(5).integers(0, 4, size=300).astype(float)
    weighted = lloyd(source(X, sample_weight=weights), start)
    repeated = lloyd(source(np.repeat(X, weights.astype(int), axis=0)), start)
    np.testing.assert_allclose(weighted.centres, repeated.centres, rtol=1e-12)
    np.testing.assert_array_equal(np.repeat(weighted.labels, weights.astype(int)), repeated.labels)
    assert weighted.inertia == pytest.approx(repeated.inertia, rel=1e-12)


def test_an_empty_cluster_takes_the_farthest_row():
    X = np.array([[0.0], [1.0], [2.0], [10.0]])
    found = lloyd(source(X), np.array([[1.0], [100.0]]))
    assert found.labels.tolist() == [0, 0, 0, 1]
    assert found.centres.ravel().tolist() == [1.0, 10.0]


def test_equal_rows_leave_clusters_empty():
    found = lloyd(source(np.ones((4, 2))), np.array([[1.0, 1.0], [5.0, 5.0]]))
    assert found.labels.tolist() == [0, 0, 0, 0]
    assert found.inertia == 0.0
    assert found.sizes.tolist() == [4.0, 0.0]


def test_far_from_zero_sums_keep_their_digits():
    X, start = blobs(2000, 3, 4, seed=6)
    shift = 2.0**40  # so that the rows stay the same numbers
    X = np.round(X * 2**10) / 2**10
    start = X[:4].copy()
    near, far = lloyd(source(X), start), lloyd(source(X + shift), start + shift)
    np.testing.assert_array_equal(near.labels, far.labels)
    assert far.inertia == pytest.approx(near.inertia, rel=1e-6)  # centres have five digits after the point


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_not_finite_is_named(value):
    X = np.ones((5, 12))
    X[3, 2] = value
    with pytest.raises(ValueError, match="row 3, column 2"):
        lloyd(source(X), X[:1])
    with pytest.raises(ValueError, match="row 3, column 2"):
        nearest_centres(source(X), X[:1])


def test_squares_that_overflow_are_refused():
    with pytest.raises(ValueError, match="overflow"):
        lloyd(source(np.array([[1e200], [-1e200]])), np.array([[0.0]]))
