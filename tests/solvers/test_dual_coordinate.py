"""Coordinate descent on rows and on columns, small enough to run as plain Python too."""

import numpy as np
import pytest
import scipy.sparse

from bisector.engine.progress import Bar
from bisector.engine.sources import source
from bisector.solvers.design import make_design
from bisector.solvers.dual_coordinate import dual_coordinate
from bisector.solvers.hinge_certificate import MarginProblem, certify, hinge_middle, squared_middle
from bisector.solvers.hinge_interior import hinge_interior
from bisector.solvers.sparse_plane import certify_sparse, sparse_plane
from bisector.solvers.squared_hinge_newton import squared_hinge_newton


def problem(X, squared, intercept=True, seed=0):
    rng = np.random.default_rng(seed)
    side = np.where(
        np.asarray(X @ rng.normal(size=X.shape[1])) + rng.normal(size=X.shape[0]) > 0.2, 1.0, -1.0
    )
    cost = rng.uniform(0.5, 2.0, size=len(side))
    return MarginProblem(make_design(source(X), intercept=intercept), side, cost, squared)


def some_rows(form):
    X = np.random.default_rng(1).normal(size=(25, 3))
    return form(np.where(np.abs(X) > 0.3, X, 0))


FORMS = [np.asarray, scipy.sparse.csr_array, lambda X: X.astype(np.float32)]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("squared", [True, False])
def test_it_finds_what_newtons_methods_find(form, squared, intercept):
    X = some_rows(form)
    posed = problem(X, squared, intercept)
    found, _ = dual_coordinate(posed, X, tol=1e-6, max_iter=400, rng=np.random.default_rng(0), bar=Bar())
    if squared:
        best, _ = squared_hinge_newton(posed, max_iter=50, bar=Bar())
    else:
        best, _ = hinge_interior(posed, tol=1e-12, max_iter=50, bar=Bar())
    assert found.gap <= 1e-6
    assert best.objective <= found.objective * (1 + 1e-12)
    assert found.objective <= best.objective * (1 + 1e-6)
    again = certify(posed, found.plane, found.alpha)
    assert (again.objective, again.bound) == pytest.approx((found.objective, found.bound))


@pytest.mark.parametrize("form", FORMS)
def test_few_weights(form):
    X = some_rows(form)
    posed = problem(X, squared=True)
    found, _ = sparse_plane(posed, X, tol=1e-6, max_iter=400, rng=np.random.default_rng(0), bar=Bar())
    assert found.gap <= 1e-6
    for j in range(3):  # no weight can be moved to gain more than the gap
        for step in (-1e-3, 1e-3):
            weights = found.plane.weights.copy()
            weights[j] += step
            moved = certify_sparse(posed, found.plane._replace(weights=weights), np.ones(3))
            assert moved.objective >= found.objective * (1 - 1e-6)


def test_no_bound_is_beaten():
    """Any multipliers bound any plane from below."""
    X = some_rows(np.asarray)
    rng = np.random.default_rng(2)
    for squared in (True, False):
        posed = problem(X, squared)
        best = hinge_interior(posed, tol=1e-12, max_iter=50, bar=Bar())[0] if not squared else None
        for _ in range(20):
            alpha = rng.uniform(0, 1, size=25) * posed.cost
            plane = certify(posed, posed_plane(rng), alpha)
            assert plane.bound <= plane.objective
            assert best is None or plane.bound <= best.objective


def posed_plane(rng):
    from bisector.solvers.design import Plane

    return Plane(rng.normal(size=3), float(rng.normal()))


@pytest.mark.parametrize("seed", range(20))
def test_the_best_intercept_is_no_worse_than_any_other(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 12))
    kinks, cost = rng.integers(-3, 4, size=n).astype(float), rng.integers(1, 4, size=n).astype(float)
    side = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    side[0], side[1] = 1.0, -1.0
    grid = np.linspace(-5, 5, 2001)
    short = np.maximum(side * (kinks - grid[:, None]), 0)
    for find, losses in [(hinge_middle, short @ cost), (squared_middle, short**2 @ cost)]:
        b = find(kinks, side, cost)
        own = np.maximum(side * (kinks - b), 0)
        here = cost @ (own if find is hinge_middle else own**2)
        assert here <= losses.min() + 1e-9
        best = grid[losses <= losses.min() + 1e-9]
        if find is hinge_middle:
            assert b == pytest.approx((best[0] + best[-1]) / 2, abs=0.006)  # the grid's step
