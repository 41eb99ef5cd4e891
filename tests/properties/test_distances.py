"""What every distance between rows of numbers says of itself holds, and what it does not claim has a witness."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist
from tests.distances.vector_distances import EVERY
from tests.properties.strategies import awkward_tables

from bisector.distances import (
    Chebyshev,
    Cosine,
    Euclidean,
    Hamming,
    Haversine,
    Mahalanobis,
    Manhattan,
    Minkowski,
)

# No deadline: the first example waits for the compiler.
quickly = settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
each = pytest.mark.parametrize("distance", EVERY, ids=repr)


@st.composite
def tables(draw, n=5):
    """Rows of three numbers, often equal or nearly so, on scales from 1e-6 to 1e6 and up to 1e6 away from zero."""
    elements = st.integers(-3, 3).map(float) | st.floats(-3, 3, width=32)
    table = draw(arrays(float, (n, 3), elements=elements))
    if draw(st.booleans()):
        table[-1] = table[0] + 1e-9 * table[1]
    scale, offset = draw(st.sampled_from([1.0, 1e-6, 1e6])), draw(st.sampled_from([0.0, 1.0, -1e6]))
    return table * scale + offset


def fit_for(distance, table):
    """The table as rows that the distance can compare, and the distance, which may need to learn."""
    if isinstance(distance, Haversine):
        most = 90.0 if distance.degrees else math.pi / 2
        return np.column_stack([most * np.sin(table[:, 0]), table[:, 1] % 1e3]), distance
    if isinstance(distance, Mahalanobis) and distance.cov is None:
        wide = np.vstack(
            [table, table.mean(axis=0) + np.ptp(table) * np.eye(3) + np.eye(3), np.zeros((1, 3))]
        )
        return table, distance.learned(wide)
    return table, distance


def slack(distance, *sizes):
    """The rounding that a comparison of distances may carry, relative to their sizes.

    Angles near a straight line have half of the digits of their cosine.
    """
    relative = 1e-7 if isinstance(distance, Haversine) or getattr(distance, "angle", False) else 1e-11
    return relative * sum(sizes)


# Axioms


@each
@quickly
@given(table=tables())
def test_axioms_that_are_claimed_hold(distance, table):
    X, distance = fit_for(distance, table)
    d = distance.pairwise(X)
    assert np.all(d >= 0)
    assert np.all(np.diag(d) == 0)
    assert_allclose(d, d.T, rtol=0)
    assert_allclose(distance.pairwise(X, X[::-1]), distance.pairwise(X[::-1], X).T, rtol=1e-11, atol=1e-300)
    if distance.law == "metric":
        equal = (X[:, None, :] == X[None, :, :]).all(axis=2)
        assert np.all((d == 0) == equal)
    if distance.law != "none":
        for x, y, z in itertools.product(range(len(X)), repeat=3):
            assert d[x, z] <= d[x, y] + d[y, z] + slack(distance, d[x, z], d[x, y], d[y, z])


def lattice(distance):
    """Rows among which every axiom that may fail does: on a line, in one direction, alike up to a coordinate."""
    if isinstance(distance, Haversine):
        most = 90.0 if distance.degrees else math.pi / 2
        return np.array([[most, 0.0], [most, 1.0], [0.0, 0.0], [0.0, 1.0]])
    return np.array(list(itertools.product([0.0, 1.0, 2.0], repeat=3)))


@each
def test_axioms_that_are_not_claimed_have_witnesses(distance):
    X = lattice(distance)
    distance = distance.learned(X)
    d = distance.pairwise(X)
    detours = (d[:, :, None] + d[None, :, :]).min(axis=1)
    different = ~(X[:, None, :] == X[None, :, :]).all(axis=2)
    breaks_triangle = bool(np.any(d > detours * (1 + 1e-9) + 1e-12))
    # At a pole, longitudes are lost to rounding only.
    confuses_rows = bool(np.any(d[different] < 1e-15 * d.max()))
    assert breaks_triangle == (distance.law == "none")
    if distance.law != "none":
        assert confuses_rows == (distance.law == "pseudo-metric")


# Invariances


def turn(seed):
    """A rotation of space."""
    q, r = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
    q = q * np.sign(np.diag(r))
    q[:, 0] *= np.linalg.det(q)
    return q


def moved(X, shift):
    return X + shift


def rotated(X, matrix):
    return X @ matrix[: X.shape[1], : X.shape[1]]


def rescaled(X, factors):
    return X * factors[: X.shape[1]]


PLAIN = np.random.default_rng(7).uniform(-1, 1, size=(12, 3))
CODES = np.random.default_rng(7).integers(0, 3, size=(12, 3)).astype(float)


def unchanged(distance, X, Y):
    before, after = distance.pairwise(X), distance.pairwise(Y)
    return np.allclose(after, before, rtol=1e-8, atol=1e-12)


def sample(distance):
    """Rows to be moved, rotated and rescaled: codes for Hamming, which compares no sizes."""
    if isinstance(distance, Haversine):
        return PLAIN[:, :2] * (30.0 if distance.degrees else 0.5)
    return CODES if isinstance(distance, Hamming) else PLAIN


@each
@quickly
@given(
    shift=arrays(float, 3, elements=st.integers(-1000, 1000).map(float)),
    seed=st.integers(0, 10**6),
    factors=arrays(float, 3, elements=st.sampled_from([-2.0, 1e-3, 0.3, 1.0, 7.0, 1e3])),
)
def test_invariances_that_are_claimed_hold(distance, shift, seed, factors):
    X = sample(distance)
    if distance.translation_invariant:
        assert unchanged(distance, X, moved(X, shift))
    if distance.rotation_invariant:
        assert unchanged(distance, X, rotated(X, turn(seed)))
    if distance.scale_invariant:
        assert unchanged(distance, X, rescaled(X, factors))


@each
def test_invariances_that_are_not_claimed_have_witnesses(distance):
    X = sample(distance)
    units = 1.0 if not getattr(distance, "degrees", False) else 60.0
    quarter = np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    some_turn = [turn(0), quarter] if X.shape[1] == 3 else [quarter]
    changes = {
        "translation": [moved(X, units * step) for step in np.eye(3)[:, : X.shape[1]] * 0.4],
        "rotation": [rotated(X, matrix) for matrix in some_turn],
        "scale": [rescaled(X, factors) for factors in 1 + np.eye(3)],
    }
    for word, changed in changes.items():
        claimed = getattr(distance, f"{word}_invariant")
        assert all(unchanged(distance, X, Y) for Y in changed) == claimed, word


# Against SciPy, whatever the data


@quickly
@given(table=awkward_tables(min_rows=2, max_rows=12))
@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value")
def test_equal_to_scipy_on_awkward_tables(table):
    """Columns that are constant, repeated, far from zero, tiny or huge."""
    for distance, scipys in [
        (Manhattan(), {"metric": "cityblock"}),
        (Chebyshev(), {"metric": "chebyshev"}),
        (Euclidean(), {"metric": "euclidean"}),
        (Minkowski(3), {"metric": "minkowski", "p": 3}),
    ]:
        found, expected = distance.pairwise(table), cdist(table, table, **scipys)
        # Cubes of numbers below 1e-100 lose digits one by one before they vanish, here and there.
        assert_allclose(found, expected, rtol=1e-12, atol=1e-100)


@quickly
@given(table=awkward_tables(min_rows=2, max_rows=10), size=st.sampled_from([1e-12, 1.0, 1e12]))
def test_cosine_stays_between_zero_and_two_and_ignores_size(table, size):
    found = Cosine().pairwise(table)
    assert np.all((found >= 0) & (found <= 2 * (1 + 1e-12)))
    assert_allclose(Cosine().pairwise(table * size), found, rtol=1e-9, atol=1e-15)
