"""Lloyd's algorithm by changes: the labels and centres of passes in full, and sums without rounding."""

from fractions import Fraction

import dask.array as da
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as arrays

from bisector.engine.checkpoint import Checkpoint
from bisector.engine.sources import source
from bisector.solvers import lloyd_changes
from bisector.solvers.lloyd import lloyd


@pytest.fixture(autouse=True)
def by_changes(monkeypatch):
    """However short the rows, and few the numbers and moves; and rows are kept early."""
    for name, value in {"_LONG": 1, "_MANY_NUMBERS": 0, "_MANY_MOVES": 0, "_KEPT_FROM": 2}.items():
        monkeypatch.setattr(lloyd_changes, name, value)


def in_full(rows, start, **options):
    """The same by passes over all rows."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lloyd_changes, "_FEW_CLUSTERS", 0)
        return lloyd(rows, start, **options)


def blobs(n, d, k, seed, dtype=np.float64, spread=1.0):
    rng = np.random.default_rng(seed)
    X = spread * rng.standard_normal((k, d))[rng.integers(k, size=n)] + rng.standard_normal((n, d))
    return X.astype(dtype), X[rng.choice(n, k, replace=False)].astype(dtype)


def assert_alike(found, other):
    np.testing.assert_array_equal(found.labels, other.labels)
    np.testing.assert_array_equal(found.sizes, other.sizes)
    np.testing.assert_allclose(
        found.centres, other.centres, rtol=1e-12, atol=1e-14 * np.abs(other.centres).max()
    )
    np.testing.assert_allclose(found.history, other.history, rtol=1e-11)
    np.testing.assert_allclose(found.within, other.within, rtol=1e-10)
    np.testing.assert_allclose(found.means, other.means, rtol=1e-12, atol=1e-14 * np.abs(other.means).max())
    assert found.inertia == pytest.approx(other.inertia, rel=1e-12)
    assert (found.n_iter, found.converged) == (other.n_iter, other.converged)


def assert_same_bits(found, other):
    for name in ("centres", "labels", "history", "means", "sizes", "within"):
        np.testing.assert_array_equal(getattr(found, name), getattr(other, name), err_msg=name)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("max_iter", [1, 2, 7, 100])
@pytest.mark.parametrize(("d", "k"), [(2, 3), (9, 6), (70, 16), (300, 5)])
def test_clusters_are_those_of_passes_in_full(d, k, max_iter, weighted):
    X, start = blobs(900, d, k, seed=d)
    rows = source(X, sample_weight=np.random.default_rng(1).integers(0, 3, 900) / 7 if weighted else None)
    assert_alike(lloyd(rows, start, max_iter=max_iter), in_full(rows, start, max_iter=max_iter))


@pytest.mark.parametrize("arranged", [np.asfortranarray, lambda X: X[::-1], lambda X: X.astype(">f8")])
def test_rows_in_any_layout(arranged):
    X, start = blobs(500, 20, 4, seed=3)
    X = np.ascontiguousarray(X[::-1]) if arranged(X[:2]).flags.c_contiguous is False else X
    assert_alike(
        lloyd(source(arranged(X)), start), in_full(source(np.ascontiguousarray(arranged(X), float)), start)
    )


# Few different whole numbers: ties abound, clusters run empty, and passes in full make sums without rounding too.
LATTICE = st.integers(-3, 3).map(float)
WILD = st.floats(-1e6, 1e6, allow_subnormal=False)


@st.composite
def problems(draw, elements):
    n, d = draw(st.integers(1, 30)), draw(st.sampled_from([1, 2, 3, 9, 12]))
    X = draw(arrays.arrays(np.float64, (n, d), elements=elements))
    k = draw(st.integers(1, min(n, 6)))
    return X, X[draw(st.permutations(range(n)))[:k]]


@settings(max_examples=150, deadline=None)
@given(problems(LATTICE))
def test_ties_and_empty_clusters(problem):
    X, start = problem
    found, other = lloyd(source(X), start, max_iter=20), in_full(source(X), start, max_iter=20)
    for name in ("labels", "centres", "sizes", "means", "n_iter", "converged"):
        np.testing.assert_array_equal(getattr(found, name), getattr(other, name), err_msg=name)
    assert found.inertia == pytest.approx(other.inertia, rel=1e-12)


@settings(max_examples=150, deadline=None)
@given(problems(WILD))
def test_labels_are_those_of_the_final_centres(problem):
    X, start = problem
    found = lloyd(source(X), start, max_iter=20)
    squares = np.zeros((len(X), len(start)))
    for j in range(X.shape[1]):
        squares += (X[:, j, None] - found.centres[None, :, j]) ** 2
    np.testing.assert_array_equal(found.labels, squares.argmin(axis=1))
    total = squares.min(axis=1).sum()
    assert abs(found.inertia - total) <= 1e-12 * max(1.0, total)
    rounding = 1e-12 * (1.0 + np.square(X).sum())
    assert (np.diff(found.history) <= rounding).all()


def test_sums_are_exact_however_often_rows_come_and_go():
    X, start = blobs(400, 12, 8, seed=4, spread=0.3)
    X[:, 0] = np.round(X[:, 0])
    X[7] *= 1e9  # beside which others would lose nine digits in the sum of its first cluster
    found = lloyd(source(X), start)
    assert found.converged
    assert found.n_iter > 5
    for c, centre in enumerate(found.centres):
        members = X[found.labels == c]
        for j in range(X.shape[1]):
            mean = float(sum(map(Fraction, members[:, j].tolist())) / len(members))
            # Rows are seen from the origin, and the mean is the origin plus what is seen: each rounds once.
            assert abs(centre[j] - mean) <= 1e-15 * np.abs(members[:, j]).max()


@pytest.mark.parametrize("weighted", [False, True])
def test_same_bits_for_any_number_of_threads_and_whatever_is_kept(weighted, monkeypatch):
    X, start = blobs(5000, 24, 12, seed=1)
    rows = source(X, sample_weight=np.linspace(0, 1, 5000) if weighted else None, block_rows=700)
    first = lloyd(rows, start, n_jobs=1)
    assert first.n_iter > 10
    for n_jobs in (2, 3):
        assert_same_bits(lloyd(rows, start, n_jobs=n_jobs), first)
    monkeypatch.setattr(lloyd_changes, "_SHARE_FOR_ROWS", 0.0)
    assert_same_bits(lloyd(rows, start, n_jobs=2), first)


def test_same_bits_elsewhere():
    X, start = blobs(2000, 24, 6, seed=5)
    here = lloyd(source(X, block_rows=500), start)
    there = lloyd(source(da.from_array(X, chunks=(1000, 24)), block_rows=500), start)
    for name in ("centres", "history", "means", "sizes", "within", "n_iter"):
        np.testing.assert_array_equal(getattr(there, name), getattr(here, name), err_msg=name)


class Notes(Checkpoint):
    """All that was noted, in order; recalled is one of it."""

    def __init__(self, recalled=None):
        self.noted, self.recalled = [], recalled

    def note(self, name, **values):
        self.noted.append({key: np.array(value) for key, value in values.items()})

    def recall(self, name):
        return self.recalled


@pytest.mark.parametrize("spread", [1.0, 300.0])
def test_a_fit_that_goes_on_has_the_same_bits(spread):
    X, start = blobs(600, 30, 5, seed=6, spread=spread)
    rows, notes = source(X), Notes()
    whole = lloyd(rows, start, max_iter=30, kept=notes)
    assert len(notes.noted) == whole.n_iter > 3
    for noted in notes.noted:
        assert_same_bits(lloyd(rows, start, max_iter=30, kept=Notes(noted)), whole)


def test_weights_are_repeated_rows_and_zero_is_absent():
    X, start = blobs(300, 12, 5, seed=4)
    weights = np.random.default_rng(5).integers(0, 4, size=300).astype(float)
    weighted = lloyd(source(X, sample_weight=weights), start)
    repeated = lloyd(source(np.repeat(X, weights.astype(int), axis=0)), start)
    np.testing.assert_allclose(weighted.centres, repeated.centres, rtol=1e-12)
    np.testing.assert_array_equal(np.repeat(weighted.labels, weights.astype(int)), repeated.labels)
    assert weighted.inertia == pytest.approx(repeated.inertia, rel=1e-12)


def test_tight_clusters_are_measured_in_full():
    X, start = blobs(600, 12, 5, seed=7, spread=1e5)
    found, other = lloyd(source(X), start), in_full(source(X), start)
    assert_alike(found, other)
    # By the formula, nine digits would be lost.
    np.testing.assert_allclose(found.history, other.history, rtol=1e-12)


@pytest.mark.parametrize("far", [1e9, 1e15, 1e30])
def test_rows_and_centres_far_out(far):
    X, start = blobs(500, 12, 4, seed=8)
    X[11], start[2] = far, 1e-5 * far
    assert_alike(lloyd(source(X), start), in_full(source(X), start))


def test_what_single_precision_cannot_tell_apart():
    rng = np.random.default_rng(9)
    X = 1e6 * rng.integers(0, 2, size=(400, 1)) + rng.integers(0, 3, size=(400, 16)) * 1e-3
    start = X[:12] + 1e-4 * rng.integers(0, 2, size=(12, 16))
    rows = source(X)
    found = lloyd(rows, start, max_iter=6)
    squares = np.zeros((400, 12))
    for j in range(16):
        squares += (X[:, j, None] - found.centres[None, :, j]) ** 2
    np.testing.assert_array_equal(found.labels, squares.argmin(axis=1))
    assert found.inertia == pytest.approx(squares.min(axis=1).sum(), rel=1e-12)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_not_finite_is_named(value):
    X = np.ones((5, 12))
    X[3, 2] = value
    with pytest.raises(ValueError, match="row 3, column 2"):
        lloyd(source(X), X[:1])
