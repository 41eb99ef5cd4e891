"""The parts of the lasso's solver: columns without a copy, bounds on correlations, forms of working sets."""

import numpy as np
import pytest
import scipy.sparse

from bisector.engine.sources import source
from bisector.solvers.centred_columns import centred_columns
from bisector.solvers.column_sets import DenseColumnSet, SparseColumnSet
from bisector.solvers.coordinate_descent import GrownProducts
from bisector.solvers.correlation_bounds import CorrelationBounds
from bisector.solvers.lasso_problem import Penalty

LAYOUTS = [np.ascontiguousarray, np.asfortranarray, scipy.sparse.csr_array]


@pytest.fixture
def table():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(30, 80)) + rng.normal(size=80)
    X[:, 3] = 7.1
    X[:, 9] = 0.0
    return X, X[:, :4].sum(axis=1) + rng.normal(size=30), rng.integers(0, 3, size=30).astype(float)


def columns_of(X, weight, intercept=True):
    return centred_columns(source(X, sample_weight=weight), intercept=intercept, n_jobs=1)


def by_hand(X, weight, intercept):
    weight = np.ones(len(X)) if weight is None else weight
    mean = np.average(X, axis=0, weights=weight) if intercept else 0.0
    made = (X - mean) * np.sqrt(weight)[:, None]
    if intercept:
        made[:, [3, 9]] = 0.0
    return made


# Columns


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
def test_columns_as_written_out_by_hand(table, layout, weighted, intercept):
    X, _, weight = table
    weight = weight if weighted else None
    columns = columns_of(layout(X), weight, intercept)
    expected = by_hand(X, weight, intercept)
    some = np.array([5, 3, 0, 70])
    vector = np.random.default_rng(0).normal(size=30)
    np.testing.assert_allclose(columns.written_out(some), expected[:, some].T, atol=1e-13)
    np.testing.assert_allclose(columns.squares, (expected**2).sum(axis=0), rtol=1e-12)
    np.testing.assert_allclose(columns.correlations(vector), expected.T @ vector, atol=1e-12)
    np.testing.assert_allclose(columns.correlations(vector, some), expected[:, some].T @ vector, atol=1e-12)


def test_single_precision_is_summed_in_double(table):
    X, _, weight = table
    narrow = X.astype(np.float32)
    vector = np.random.default_rng(0).normal(size=30)
    for layout in LAYOUTS:
        found = columns_of(layout(narrow), weight).correlations(vector)
        exact = columns_of(narrow.astype(float), weight).correlations(vector)
        np.testing.assert_allclose(found, exact, atol=1e-12)


# Bounds


def test_nothing_that_matters_is_overlooked(table):
    """Residuals that wander: whatever is left out has a correlation below its l1."""
    X, y, weight = table
    columns = columns_of(X, weight)
    bounds = CorrelationBounds(columns)
    rng = np.random.default_rng(1)
    residual, _ = columns.target(y)
    outside = columns.squares > 0
    looked_at = 0
    for _ in range(60):
        residual = 0.95 * residual + 0.02 * np.linalg.norm(residual) * rng.normal(size=30) / np.sqrt(30)
        exact = columns.correlations(residual)
        l1 = np.full(80, 0.7 * np.abs(exact).max())
        found = bounds.look(residual, Penalty(l1, np.zeros(80), False), outside)
        left = np.setdiff1d(np.flatnonzero(outside), found.seen)
        assert (np.abs(exact[left]) <= l1[left]).all()
        np.testing.assert_allclose(found.values[found.seen], exact[found.seen], atol=1e-10)
        looked_at += bounds.count == len(bounds.directions)
    assert bounds.count < len(bounds.directions)


# Working sets


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("ridge", [0.0, 0.5])
def test_all_forms_of_a_working_set_agree(table, positive, ridge):
    X, y, weight = table
    dense, sparse = columns_of(X, weight), columns_of(scipy.sparse.csr_array(X), weight)
    target, _ = dense.target(y)
    features = np.arange(0, 40)
    penalty = Penalty(np.full(40, 2.0), np.full(40, ridge), positive)
    found = []
    for held in (
        GrownProducts(dense, target),
        DenseColumnSet(dense, target),
        SparseColumnSet(sparse, target),
    ):
        held.add(features[:25])
        held.add(features[25:])
        done = held.minimise(penalty, 1e-13 * target @ target, 2000)
        assert done.gap <= 1e-13 * target @ target
        np.testing.assert_allclose(
            held.residual(), target - by_hand(X, weight, True)[:, :40] @ held.v, atol=1e-10
        )
        assert held.residual_square == pytest.approx(np.square(held.residual()).sum(), rel=1e-8)
        found.append(held.v)
    np.testing.assert_allclose(found[1], found[0], atol=1e-5)
    np.testing.assert_allclose(found[2], found[0], atol=1e-5)


def test_columns_can_enter_between_descents(table):
    X, y, _ = table
    columns = columns_of(X, None)
    target, _ = columns.target(y)
    for kind in (GrownProducts, DenseColumnSet):
        held = kind(columns, target)
        for first in range(0, 80, 20):
            held.add(np.arange(first, first + 20))
            held.minimise(Penalty(np.full(first + 20, 3.0), np.zeros(first + 20), False), 1e-12, 1000)
            exact = columns.correlations(held.residual(), held.features)
            np.testing.assert_allclose(held.g, exact, atol=1e-9)


def test_dependent_columns_do_not_stop_the_steps():
    rng = np.random.default_rng(2)
    X = np.repeat(rng.normal(size=(20, 5)), 6, axis=1) * rng.choice([-1.0, 1.0, 2.0], size=30)
    columns = columns_of(X, None)
    target, _ = columns.target(X[:, 0] + rng.normal(size=20))
    held = GrownProducts(columns, target)
    held.add(np.arange(30))
    held.start(rng.normal(size=30))
    assert held.minimise(Penalty(np.full(30, 0.5), np.zeros(30), False), 1e-12, 500).gap <= 1e-12
