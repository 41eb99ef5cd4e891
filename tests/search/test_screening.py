"""Screening by products: the bound holds for any data, and what it leaves open is left to the formula."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings, strategies as st
from numpy.testing import assert_array_equal

import bisector
from bisector.distances import Cosine, Euclidean, Levenshtein, Mahalanobis, Manhattan
from bisector.search.screening import ByProducts, Screen, Screens, share_of_errors

DTYPES = (np.float32, np.float64)


def screened(distance, X, Q, dtype):
    """The screen of X, or None, and the pairs of Q and X."""
    rows = distance.prepare(X)
    pairs = distance.between(distance.prepare(Q, like=rows), rows)
    return Screens(distance, rows).of(dtype, n_jobs=1), pairs


def bounds(screen, queries, n):
    """What the screen says of every pair's reduced distance: no less, no more; as exact numbers."""
    seen = screen.see(queries)
    ((_, tile, norms),) = screen.products(seen, range(n), None)
    lows = (tile + norms).reshape(len(queries), -1)[:, :n]
    norms = norms.ravel()[:n]
    scale = Fraction(screen.frame.scale) ** 2
    for q, i in np.ndindex(lows.shape):
        low = Fraction(float(seen.base[q])) + Fraction(float(lows[q, i]))
        width = Fraction(float(seen.slack[q])) + Fraction(screen.slope) * Fraction(float(norms[i]))
        yield q, i, low / scale, (low + width) / scale


def true_distance(x, y, weights):
    return sum(
        Fraction(float(w)) * (Fraction(float(a)) - Fraction(float(b))) ** 2
        for a, b, w in zip(x, y, weights, strict=True)
    )


# Data that make rounding as large as it can be.

KINDS = {
    "plain": lambda rng, n, d: rng.normal(size=(n, d)),
    "far from the origin": lambda rng, n, d: 1e6 + rng.normal(size=(n, d)),
    "tight clusters": lambda rng, n, d: rng.integers(3, size=(n, 1)) + 1e-7 * rng.normal(size=(n, d)),
    "opposite": lambda rng, n, d: rng.choice([-1.0, 1.0], (n, 1)) * (1 + 1e-3 * rng.normal(size=(n, d))),
    "lattice": lambda rng, n, d: rng.integers(3, size=(n, d)).astype(float),
    "all magnitudes": lambda rng, n, d: rng.normal(size=(n, d)) * 10.0 ** rng.integers(-30, 30, size=(n, d)),
    "one row far out": lambda rng, n, d: (
        rng.normal(size=(n, d)) * np.where(np.arange(n) == 3, 1e25, 1.0)[:, None]
    ),
    "tiny": lambda rng, n, d: 1e-80 * rng.normal(size=(n, d)),
    "huge": lambda rng, n, d: 1e80 * rng.normal(size=(n, d)),
    "equal rows": lambda rng, n, d: np.tile(rng.normal(size=d), (n, 1)),
    "just above halves": lambda rng, n, d: 1 + 2.0**-24 * (1 + 1e-6 * rng.integers(9, size=(n, d))),
}


@st.composite
def tables(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    d = draw(st.sampled_from([2, 3, 7, 16, 40]))
    make = KINDS[draw(st.sampled_from(sorted(KINDS)))]
    X = make(rng, draw(st.integers(4, 12)), d)
    Q = np.concatenate([make(rng, 4, d), X[:3] * (1 + 2.0**-40)])
    weights = rng.random(d) * 10.0 ** rng.integers(-3, 3, d) if draw(st.booleans()) else None
    if draw(st.booleans()) and np.abs(X).max() < 1e37 and np.abs(X).min() > 1e-37:
        X = X.astype(np.float32)
    return X, Q, weights


@pytest.mark.parametrize("dtype", DTYPES)
@settings(max_examples=50)
@given(tables())
def test_reduced_distances_lie_within_the_bound(dtype, table):
    """The true one, and the one that the formula computes."""
    X, Q, weights = table
    screen, pairs = screened(Euclidean(weights), X, Q, dtype)
    if screen is None:
        return
    reduced = np.empty(pairs.shape)
    pairs.fill(range(len(Q)), range(len(X)), reduced)
    fit = screen.see(Q).fit
    weights = np.ones(X.shape[1]) if weights is None else weights
    for q, i, low, high in bounds(screen, Q, len(X)):
        if fit[q]:
            assert low <= true_distance(Q[q], X[i], weights) <= high
            assert low <= Fraction(float(reduced[q, i])) <= high


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_bound_holds_where_all_roundings_point_one_way(dtype):
    """Equal coordinates that round up when narrowed, many of them: errors add up instead of cancelling."""
    for d in (100, 3000):
        for value in (1 / 3, 1 + 2.0**-24, 1 - 2.0**-25, 0.1):
            X = np.full((3, d), value) * np.array([[1.0], [-1.0], [0.5]])
            screen, _ = screened(Euclidean(), X, X, dtype)
            exact = np.array([[float(true_distance(x, y, np.ones(d))) for y in X] for x in X])
            for q, i, low, high in bounds(screen, X, 3):
                assert low <= Fraction(exact[q, i]) <= high


def test_a_row_far_out_widens_no_bound_but_its_own():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 20))
    widths = []
    for far in (1.0, 1e8):
        X[-1] *= far
        screen, _ = screened(Euclidean(), X, X, np.float32)
        widths.append([float(high - low) for q, i, low, high in bounds(screen, X[:5], 300) if i < 299])
    # Only the median of the rows, from which they are seen, may move a little.
    np.testing.assert_allclose(*widths, rtol=0.1)


def test_the_share_of_errors_is_that_of_the_precision():
    assert share_of_errors(128, np.float32) == pytest.approx(144 * 2.0**-24, rel=0.06)
    assert share_of_errors(128, np.float64) == pytest.approx(720 * 2.0**-53, rel=0.06)


# Which rows can be screened


def screens_of(distance, X):
    return Screens(distance, distance.prepare(X))


X = np.random.default_rng(0).normal(size=(20, 5))


@pytest.mark.parametrize(
    "distance", [Euclidean(), Euclidean([1, 2, 0, 4, 5]), Cosine(), Mahalanobis(np.eye(5))]
)
@pytest.mark.parametrize("dtype", DTYPES)
def test_sums_of_squares_can_be_screened(distance, dtype):
    screen = screens_of(distance, X).of(dtype)
    assert isinstance(screen, Screen)
    assert screen.dtype == dtype


@pytest.mark.parametrize(
    ("distance", "rows"),
    [
        pytest.param(Manhattan(), X, id="another formula"),
        pytest.param(Euclidean(skip_missing=True), X, id="missing values"),
        pytest.param(Euclidean(), sp.csr_array(X), id="sparse"),
        pytest.param(Euclidean(), X[:, :1], id="one coordinate"),
        pytest.param(Euclidean(), 1e100 * X, id="squares that overflow"),
        pytest.param(Euclidean(), 1e-100 * X, id="squares that vanish"),
        pytest.param(Euclidean(), np.array([[-1.7e308, 0], [1.7e308, 0]]), id="differences that overflow"),
        pytest.param(Euclidean([1e200, 1, 1, 1, 1]), X, id="a huge weight"),
        pytest.param(Euclidean([1e-200, 1, 1, 1, 1]), X, id="a tiny weight"),
        pytest.param(Levenshtein(), ["one", "two"], id="no numbers"),
    ],
)
def test_other_rows_cannot(distance, rows):
    for dtype in DTYPES:
        assert screens_of(distance, rows).of(dtype) is None


def test_so_many_coordinates_that_the_bound_says_nothing():
    screens = screens_of(Euclidean(), np.ones((2, 200_000)))
    assert screens.of(np.float32) is None
    assert screens.of(np.float64) is not None


def test_memory_that_is_not_there_is_not_used():
    screens = screens_of(Euclidean(), np.zeros((1000, 100)))
    with bisector.config(memory="300 kB"):
        assert screens.of(np.float32) is None
    with bisector.config(memory="500 kB"):
        assert screens_of(Euclidean(), np.zeros((1000, 100))).of(np.float32) is not None


# What the bound leaves open


def decided_by(distance, X, Q, dtype, k=3):
    screen, pairs = screened(distance, X, Q, dtype)
    _, decided = ByProducts(screen, pairs).nearest(range(len(Q)), k, range(len(X)), None)
    return decided


def test_ordinary_rows_are_decided_in_single_precision():
    rng = np.random.default_rng(0)
    X, Q = rng.normal(size=(2000, 20)), rng.normal(size=(30, 20))
    assert decided_by(Euclidean(), X, Q, np.float32).all()
    assert decided_by(Euclidean(), 1e6 + X, 1e6 + Q, np.float32).all()
    assert decided_by(Euclidean(), 1e-30 * X, 1e-30 * Q, np.float32).all()


def test_tight_clusters_are_decided_in_double_precision():
    """Three of them, all off the middle, each with more rows than a list holds."""
    rng = np.random.default_rng(0)
    X = np.repeat(np.eye(20)[:3], 1500, axis=0) + 1e-5 * rng.normal(size=(4500, 20))
    Q = X[::90] + 1e-5 * rng.normal(size=(50, 20))
    assert not decided_by(Euclidean(), X, Q, np.float32).any()
    assert decided_by(Euclidean(), X, Q, np.float64).all()


def test_too_many_equal_rows_are_left_to_the_formula():
    X = np.tile(np.arange(20.0), (2000, 1))
    for dtype in DTYPES:
        assert not decided_by(Euclidean(), X, X[:5], dtype).any()


def test_a_query_too_far_out_is_left_to_the_formula():
    rng = np.random.default_rng(0)
    X, Q = rng.normal(size=(100, 20)), rng.normal(size=(4, 20))
    Q[1] *= 1e30
    Q[2] *= 1e300
    assert_array_equal(decided_by(Euclidean(), X, Q, np.float32), [True, False, False, True])
