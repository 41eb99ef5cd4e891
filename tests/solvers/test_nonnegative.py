"""Least squares without negative coefficients: the certificate, and enumeration."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from bisector.solvers.nonnegative import nonnegative_least_squares


def by_enumeration(A, b):
    """The least residual over all sets of columns whose least-squares solution is not negative."""
    best = np.linalg.norm(b)
    for size in range(1, A.shape[1] + 1):
        for columns in itertools.combinations(range(A.shape[1]), size):
            x = np.linalg.lstsq(A[:, columns], b, rcond=None)[0]
            if (x >= -1e-12).all():
                best = min(best, np.linalg.norm(A[:, columns] @ x - b))
    return best


def check(found, A, b):
    assert (found.solution >= 0).all()
    np.testing.assert_allclose(found.residual, b - A @ found.solution, atol=1e-12)
    pulls = A.T @ found.residual
    size = np.linalg.norm(A, axis=0).max(initial=1.0) * (np.linalg.norm(b) or 1.0)
    assert pulls.max(initial=0.0) <= 1e-12 * size
    assert np.abs(pulls[found.inside]).max(initial=0.0) <= 1e-12 * size
    assert found.converged


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 7), st.booleans())
def test_no_set_of_columns_does_better(seed, n_rows, n_columns, whole):
    rng = np.random.default_rng(seed)
    A, b = rng.normal(size=(n_rows, n_columns)), rng.normal(size=n_rows)
    if whole:  # many equal, opposite and dependent columns
        A, b = np.sign(A) * (np.abs(A) > 0.3), np.round(b)
    found = nonnegative_least_squares(A, b)
    check(found, A, b)
    assert np.linalg.norm(found.residual) == pytest.approx(by_enumeration(A, b), abs=1e-10)


def test_signs_of_twenty_two_points():
    """A small problem of signs on which a well-known implementation stops early."""
    rng = np.random.default_rng(0)
    for _ in range(300):
        A, b = rng.choice([-1.0, 1.0], size=(6, 22)), rng.normal(size=6).round(1)
        check(nonnegative_least_squares(A, b), A, b)


def test_a_start_saves_steps_and_changes_nothing():
    rng = np.random.default_rng(1)
    A, b = rng.normal(size=(40, 100)), rng.normal(size=40)
    half = nonnegative_least_squares(A[:, :50], b)
    cold = nonnegative_least_squares(A, b)
    warm = nonnegative_least_squares(A, b, start=half.inside)
    check(warm, A, b)
    np.testing.assert_allclose(warm.residual, cold.residual, atol=1e-10)
    wrong = nonnegative_least_squares(A, -b, start=half.inside)  # no solution of this problem
    check(wrong, A, -b)


def test_edges():
    check(nonnegative_least_squares(np.zeros((2, 3)), np.ones(2)), np.zeros((2, 3)), np.ones(2))
    check(nonnegative_least_squares(np.ones((2, 1)), np.zeros(2)), np.ones((2, 1)), np.zeros(2))
    check(nonnegative_least_squares(-np.ones((2, 1)), np.ones(2)), -np.ones((2, 1)), np.ones(2))
    stopped = nonnegative_least_squares(np.eye(3), np.ones(3), most_iterations=1)
    assert not stopped.converged
