"""The path on arrays: at every C the conditions of Karush, Kuhn and Tucker, whatever ties and repeats."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import minimize

from bisector.solvers import path_lookout_loops, path_proof_loops, path_strides, path_walker
from bisector.solvers.hinge_path import hinge_path

quickly = settings(max_examples=60, deadline=None, derandomize=True)


def kernel_values(X, kind):
    if kind == "linear":
        return X @ X.T
    if kind == "quadratic":
        return (X @ X.T + 1) ** 2
    return np.exp(-0.5 * np.square(X[:, None] - X[None]).sum(axis=2))


def rows_that(rng, kind, n, d):
    if kind == "lie on a lattice":
        return rng.integers(-2, 3, size=(n, d)).astype(float)
    X = rng.normal(size=(n, d))
    return X[rng.integers(0, max(1, n // 2), size=n)] if kind == "repeat" else X


@st.composite
def problems(draw, kernels=("linear", "quadratic", "gaussian")):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(2, 25)), draw(st.integers(2, 4))
    X = rows_that(rng, draw(st.sampled_from(["are in general position", "lie on a lattice", "repeat"])), n, d)
    side = np.where(rng.random(n) < draw(st.sampled_from([0.5, 0.2])), 1.0, -1.0)
    side[0], side[-1] = 1.0, -1.0
    bound = np.ones(n) if draw(st.booleans()) else rng.integers(1, 4, size=n).astype(float)
    return kernel_values(X, draw(st.sampled_from(kernels))), side, bound


def places_to_look(path):
    middles = np.sqrt(path.knots[:-1] * path.knots[1:]) if len(path.knots) > 1 else []
    ends = [1e-3, 1e3] if not len(path.knots) else [path.knots[0] / 2, path.knots[-1] * 2]
    looked = np.concatenate([path.knots, middles, ends])
    return looked[looked <= path.reach][:60]


@quickly
@given(problems())
def test_the_conditions_hold_everywhere(problem):
    gram, side, bound = problem
    path = hinge_path(gram, side, bound)
    assert (np.diff(path.knots) > 0).all()
    for C in places_to_look(path):
        alpha, _, score = path.at(C)
        most = C * bound
        assert (alpha >= 0).all()
        assert (alpha <= most * (1 + 1e-12)).all()
        assert abs(alpha @ side) <= 1e-9 * most.sum()
        beyond = side * score - 1
        at_zero, at_most = alpha <= 1e-9 * most, alpha >= most * (1 - 1e-9)
        # Products of multipliers up to C with kernel values, in float64 with condition numbers up to 1e8.
        room = 1e-7
        assert (beyond[at_zero & ~at_most] >= -room).all()
        assert (beyond[at_most] <= room).all()
        assert (np.abs(beyond[~at_zero & ~at_most]) <= room).all()


@quickly
@given(problems(kernels=("linear", "quadratic")))
def test_solutions_are_linear_between_knots(problem):
    path = hinge_path(*problem)
    for low, high in list(zip(path.knots, path.knots[1:], strict=False))[:10]:
        ends = path.at(low).alpha + path.at(high).alpha
        scale = np.abs(ends).max()
        np.testing.assert_allclose(path.at((low + high) / 2).alpha, ends / 2, atol=1e-7 * scale)


def test_against_a_quadratic_programme():
    """The dual objective of a general solver, which knows nothing of paths."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 2))
    side = np.where(X[:, 0] + rng.normal(size=12) > 0, 1.0, -1.0)
    Q = (X @ X.T) * np.outer(side, side)
    path = hinge_path(X @ X.T, side, np.ones(12))
    for C in (0.05, 0.3, 2.0):
        solved = minimize(
            lambda a: 0.5 * a @ Q @ a - a.sum(), np.zeros(12), jac=lambda a: Q @ a - 1, bounds=[(0, C)] * 12,
            constraints={"type": "eq", "fun": lambda a: a @ side, "jac": lambda a: side},
            method="SLSQP", options={"ftol": 1e-14, "maxiter": 1000},
        )  # fmt: skip
        alpha = path.at(C).alpha
        assert 0.5 * alpha @ Q @ alpha - alpha.sum() == pytest.approx(solved.fun, rel=1e-9)


def test_certificate_and_drift_on_a_long_path():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(150, 5))
    side = np.where(X[:, 0] + 0.5 * rng.normal(size=150) > 0, 1.0, -1.0)
    path = hinge_path(kernel_values(X, "gaussian"), side, np.ones(150))
    assert len(path.knots) > 150
    assert path.reach == np.inf
    assert path.worst < 1e-9
    assert path.drift < 1e-9
    assert max(path.violation_at(C) for C in path.knots[::20]) < 1e-9


def crowded_margin():
    """A problem that has half of its rows on the margin in the end."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 10))
    side = np.where(X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * rng.normal(size=300) > 0, 1.0, -1.0)
    return kernel_values(X / 2, "gaussian"), side, rng.integers(1, 3, size=300).astype(float)


def test_strides_lead_where_single_steps_do(monkeypatch):
    problem = crowded_margin()
    taken = []
    take = path_strides.Strides.take
    monkeypatch.setattr(path_strides.Strides, "take", lambda *given: taken.append(take(*given)) or taken[-1])
    by_strides = hinge_path(*problem)
    assert sum(taken) > 100
    monkeypatch.setattr(path_walker, "FEWEST_MEMBERS", np.inf)
    by_steps = hinge_path(*problem)
    np.testing.assert_array_equal(by_strides.rows, by_steps.rows)
    np.testing.assert_array_equal(by_strides.roles, by_steps.roles)
    np.testing.assert_allclose(by_strides.knots, by_steps.knots, rtol=1e-9)
    assert by_strides.worst < 1e-9
    assert max(by_strides.violation_at(C) for C in by_strides.knots[::20]) < 1e-9


def test_equations_solved_ahead_lead_where_those_solved_one_by_one_do(monkeypatch):
    problem = crowded_margin()
    ahead = hinge_path(*problem)
    monkeypatch.setattr(path_lookout_loops, "AHEAD", 0)
    one_by_one = hinge_path(*problem)
    np.testing.assert_array_equal(ahead.rows, one_by_one.rows)
    np.testing.assert_allclose(ahead.knots, one_by_one.knots, rtol=1e-9)


def test_a_stride_leaves_the_inverse_of_its_members(monkeypatch):
    left = []
    fold = path_strides.fold

    def look_at_the_inverse(walk, stride, sums):
        fold(walk, stride, sums)
        m = int(walk.counts[0])
        members, y = walk.members[:m], walk.side[walk.members[:m]]
        # The diagonal is 1, and so is the constant that makes the matrix definite.
        matrix = (walk.gram[np.ix_(members, members)] + 1) * y * y[:, None]
        inverse = walk.inverse[:m, :m]
        left.append(np.abs(inverse @ matrix - np.eye(m)).max() + np.abs(inverse - inverse.T).max())

    monkeypatch.setattr(path_strides, "fold", look_at_the_inverse)
    hinge_path(*crowded_margin())
    assert len(left) > 2
    assert max(left) < 1e-9


def test_a_stride_without_proof_is_taken_back(monkeypatch):
    problem = crowded_margin()
    proved = hinge_path(*problem)
    monkeypatch.setattr(path_proof_loops, "LARGEST_ERROR", -1.0)
    unproved = hinge_path(*problem)
    np.testing.assert_array_equal(unproved.rows, proved.rows)
    np.testing.assert_allclose(unproved.knots, proved.knots, rtol=1e-9)


def test_a_path_without_direction():
    """The only positive row is the mean of the negative ones: w = 0 costs least, for every C."""
    X = np.array([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    path = hinge_path(X @ X.T, np.array([1.0, -1, -1, -1, -1]), np.ones(5))
    assert len(path.knots) == 0
    for C in (0.1, 10.0):
        alpha, intercept, score = path.at(C)
        assert intercept == -1
        assert (score == -1).all()
        np.testing.assert_allclose(X.T @ (alpha * path.side), 0, atol=1e-12 * C)
        assert alpha[0] == pytest.approx(C)
        assert alpha[1:].sum() == pytest.approx(C)


def test_a_kernel_that_is_singular_to_rounding_ends_the_path_where_it_is_known():
    X = np.linspace(0, 1, 40)[:, None]
    side = np.where(np.arange(40) % 3 == 0, 1.0, -1.0)
    path = hinge_path(kernel_values(X, "gaussian"), side, np.ones(40))
    assert path.reach < np.inf
    assert all(path.violation_at(C) <= 1e-6 for C in path.knots[:: max(1, len(path.knots) // 20)])


def test_a_matrix_with_negative_eigenvalues_ends_the_walk():
    path = hinge_path(-np.eye(5), np.array([1.0, 1.0, 1.0, -1.0, -1.0]), np.ones(5))
    assert path.reach == 0
