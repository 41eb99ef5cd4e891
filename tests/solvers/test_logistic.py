"""The parts of logistic regression: products with compressed rows, curvature, coordinate descent, duality."""

import numpy as np
import pytest
import scipy.sparse
from scipy.optimize import minimize

from bisector.engine.loops import given
from bisector.engine.moments import Coordinates
from bisector.engine.sources import source
from bisector.solvers.compressed_rows import CompressedRows
from bisector.solvers.curvature_factor import CurvatureFactor
from bisector.solvers.likelihood import Planes, basis_of, block_curvature_product, block_likelihood, row_terms
from bisector.solvers.logistic import logistic
from bisector.solvers.logistic_dual import ClassMeans, dual_gap
from bisector.solvers.proximal_newton_loops import descend, descend_by_columns
from bisector.solvers.recession import has_recession


@pytest.fixture
def rng():
    return np.random.default_rng(3)


# Compressed rows


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("width", [1, 3])
def test_products_with_compressed_rows(rng, dtype, width):
    X = scipy.sparse.random_array((40, 15), density=0.2, rng=rng, format="csr", dtype=dtype)
    rows = CompressedRows(source(X))
    rows.block_rows = 16
    right, left = rng.normal(size=(15, width)), rng.normal(size=(40, width))
    blocks = list(rows.blocks())
    assert len(blocks) == 3
    np.testing.assert_allclose(np.concatenate([b.X @ right for b in blocks]), X @ right, rtol=1e-6)
    sums = sum(b.X.T @ left[b.first_row : b.first_row + b.X.shape[0]] for b in blocks)
    np.testing.assert_allclose(sums, X.T @ left, rtol=1e-6, atol=1e-12)
    np.testing.assert_array_equal(np.concatenate([b.X.toarray() for b in blocks]), X.toarray())
    squares = sum(b.X.squared().T @ np.ones((b.X.shape[0], 1)) for b in blocks)
    np.testing.assert_allclose(squares[:, 0], X.power(2).sum(axis=0), rtol=1e-6)


def test_an_empty_matrix_has_products():
    rows = CompressedRows(source(scipy.sparse.csr_array((4, 3))))
    (block,) = rows.blocks()
    np.testing.assert_array_equal(block.X @ np.ones((3, 1)), np.zeros((4, 1)))


# The likelihood


@pytest.mark.parametrize("n_classes", [2, 4])
def test_gradient_and_curvature_are_derivatives(rng, n_classes):
    X, y = rng.normal(size=(30, 3)), rng.integers(0, n_classes, size=30)
    (block,) = source(X, y, rng.uniform(0, 2, size=30)).blocks()
    basis = basis_of(n_classes)
    q = basis.shape[1]
    of_x = Coordinates(np.array([1.0, 0.0, -2.0]), np.array([1.0, 2.0, 0.5]))
    kept = np.empty((30, len(basis)))

    def at(vector, curved=False):
        table = vector.reshape(q, 4).T
        return block_likelihood(block, of_x, Planes(table[1:], table[0]), basis, curved, False, kept)

    def flat(planes):
        return np.vstack([planes.offsets, planes.slopes]).T.ravel()

    here = rng.normal(size=4 * q)
    found = at(here, curved=True)
    for direction in np.eye(4 * q):
        h = 1e-5 * direction
        slope = (at(here + h).loss - at(here - h).loss) / 2e-5
        assert flat(found.gradient) @ direction == pytest.approx(slope, rel=1e-6, abs=1e-7)
        bent = (flat(at(here + h).gradient) - flat(at(here - h).gradient)) / 2e-5
        np.testing.assert_allclose(found.curvature @ direction, bent, rtol=1e-5, atol=1e-6)
        at(here)
        table = direction.reshape(q, 4).T
        along, planes = Planes(table[1:], table[0]), here.reshape(q, 4).T
        planes = Planes(planes[1:], planes[0])
        product = block_curvature_product(block, of_x, along, basis, planes, kept)
        anew = block_curvature_product(block, of_x, along, basis, planes, None)
        assert np.array_equal(flat(anew.planes), flat(product.planes))
        np.testing.assert_allclose(flat(product.planes), bent, rtol=1e-5, atol=1e-6)


def test_rows_of_extreme_scores_keep_their_digits():
    two = row_terms(np.array([[800.0], [-800.0], [-40.0]]), np.array([1, 1, 0]))
    np.testing.assert_allclose(two.loss, [0, 800, np.exp(-40)], rtol=1e-12)
    np.testing.assert_allclose(two.residuals[:, 0], [0, -1, np.exp(-40)], rtol=1e-12)
    three = row_terms(np.array([[0.0, -40.0, -900.0], [0.0, 900.0, 1.0]]), np.array([0, 0]))
    np.testing.assert_allclose(three.loss, [np.exp(-40), 900], rtol=1e-12)
    np.testing.assert_allclose(three.residuals[0], [-np.exp(-40), np.exp(-40), 0], rtol=1e-12)


# Curvature


def test_a_factor_solves_in_any_units(rng):
    A, units, g = rng.normal(size=(20, 4)), np.array([1e-8, 1, 1e5, 1]), rng.normal(size=4)
    plain = np.linalg.inv(A.T @ A)
    factor = CurvatureFactor(A.T @ A * units * units[:, None])
    np.testing.assert_allclose(factor.solve(g * units), plain @ g / units, rtol=1e-12)
    inverse, undetermined = factor.inverse()
    np.testing.assert_allclose(inverse, plain / units / units[:, None], rtol=1e-10)
    assert not undetermined.any()
    assert factor.rank == 4


def test_a_factor_leaves_flat_directions_alone(rng):
    A = rng.normal(size=(20, 3))
    A = np.column_stack([A, A[:, 0], np.zeros(20)])
    factor = CurvatureFactor(A.T @ A)
    assert factor.rank == 3
    np.testing.assert_allclose(A @ factor.null_space, 0, atol=1e-7)
    _, undetermined = factor.inverse()
    np.testing.assert_array_equal(undetermined, [True, False, False, True, True])
    g = A.T @ rng.normal(size=20)
    np.testing.assert_allclose(A.T @ A @ factor.solve(g), g, atol=1e-10)


# Coordinate descent


def quadratic(H, g, start, lasso, ridge, u):
    return g @ (u - start) + (u - start) @ H @ (u - start) / 2 + lasso @ np.abs(u) + ridge @ u**2 / 2


def test_coordinate_descent_finds_the_minimum(rng):
    A = rng.normal(size=(12, 4))
    H, g, start = A.T @ A, rng.normal(size=4), rng.normal(size=4)
    lasso, ridge = np.array([0.0, 1.0, 5.0, 0.5]), np.array([0.0, 0.1, 0.0, 2.0])
    solution, slope = start.copy(), g.copy()
    sweeps, _ = descend(given(H), slope, given(lasso), given(ridge), solution, 1e-24, 1000)
    assert sweeps < 1000
    np.testing.assert_allclose(slope, g + H @ (solution - start), atol=1e-10)
    least = quadratic(H, g, start, lasso, ridge, solution)
    for step in 1e-4 * rng.normal(size=(50, 4)):
        assert quadratic(H, g, start, lasso, ridge, solution + step) > least


@pytest.mark.parametrize("n_planes", [1, 3])
def test_columns_and_products_find_the_same_minimum(rng, n_planes):
    X = rng.normal(size=(15, 4)) * (rng.random((15, 4)) < 0.6)
    P = rng.dirichlet(np.ones(max(2, n_planes)), size=15)[:, :n_planes]
    weight = rng.uniform(0.01, 0.1, size=15)
    gradient, offset_gradient = 0.1 * rng.normal(size=(4, n_planes)), 0.1 * rng.normal(size=n_planes)
    offset_gradient -= (
        n_planes > 1
    ) * offset_gradient.mean()  # the same change in every class changes nothing
    lasso, ridge = np.full(4, 0.02), np.full(4, 0.01)
    A = np.column_stack([np.ones(15), X])
    H = np.zeros((n_planes, 5, n_planes, 5))
    for a in range(n_planes):
        for b in range(n_planes):
            H[a, :, b] = A.T @ (A * (weight * P[:, a] * ((a == b) - P[:, b]))[:, None])
    H = H.reshape(5 * n_planes, 5 * n_planes)
    g = np.vstack([offset_gradient, gradient]).T.ravel()
    tiled = [np.tile(np.r_[0.0, values], n_planes) for values in (lasso, ridge)]
    by_products, slope = np.zeros(5 * n_planes), g.copy()
    descend(given(H), slope, given(tiled[0]), given(tiled[1]), by_products, 1e-28, 20_000)
    columns = scipy.sparse.csc_array(X)
    slopes, offsets = np.zeros((4, n_planes)), np.zeros(n_planes)
    descend_by_columns(
        given(columns.indptr.astype(np.uint64), np.uint64), given(columns.indices.astype(np.uint32), np.uint32),
        given(columns.data), given(weight), given(P), given(gradient), given(lasso), given(ridge), slopes,
        given(offset_gradient), offsets, True, np.zeros((15, n_planes)), np.zeros(15), np.zeros((4, n_planes)),
        1e-26, 20_000,
    )  # fmt: skip
    zero = np.zeros(5 * n_planes)
    values = [
        quadratic(H, g, zero, *tiled, found)
        for found in (by_products, np.vstack([offsets, slopes]).T.ravel())
    ]
    assert values[0] == pytest.approx(values[1], abs=1e-12)
    np.testing.assert_allclose(slopes.T, by_products.reshape(n_planes, 5)[:, 1:], atol=1e-6)


# Duality


@pytest.mark.parametrize(("l1", "l2"), [(0.02, 0.0), (0.01, 0.02), (0.0, 0.05)])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_gap_bounds_what_can_be_gained_from_anywhere(rng, n_classes, l1, l2):
    X, y = rng.normal(size=(60, 4)), rng.integers(0, n_classes, size=60)
    K = 1 if n_classes == 2 else n_classes
    member = np.eye(n_classes)[y]
    means = ClassMeans(member.mean(axis=0), X.mean(axis=0), X.T @ member / 60)
    C = 1 / (60 * (l1 + l2))
    best = logistic(source(X, y), n_classes, C=C, l1_ratio=l1 / (l1 + l2), tol=1e-10)
    for size in (0.0, 1e-3, 1.0):
        coef = best.coef.T + size * rng.normal(size=(4, K))
        offsets = best.intercept + size * rng.normal(size=K)
        terms = row_terms(X @ coef + offsets, y)
        loss, gradient = terms.loss.mean(), X.T @ terms.residuals / 60
        value = loss + l1 * np.abs(coef).sum() + l2 / 2 * np.square(coef).sum()
        gap = dual_gap(loss, gradient, terms.residuals.mean(axis=0), coef, offsets, l1, l2, means)
        assert value - best.objective <= gap + 1e-12
    assert best.gap < 1e-6


def test_without_penalty_there_is_no_bound():
    assert dual_gap(0.5, np.ones((2, 1)), np.zeros(1), np.ones((2, 1)), np.zeros(1), 0.0, 0.0, None) == np.inf


# Recession


@pytest.mark.parametrize("n_classes", [2, 3])
def test_recession_is_found_where_there_is_some(rng, n_classes):
    X = rng.normal(size=(200, 2))
    y = np.arange(200) % n_classes
    overlapping = source(X, y)
    apart = source(X + 10 * np.outer(y == 0, [1, 0]), y)
    K = 1 if n_classes == 2 else n_classes
    guess = Planes(rng.normal(size=(2, K)), np.zeros(K))
    for rows, answer in ((overlapping, False), (apart, True)):
        found = has_recession(rows, Coordinates.plain(2), guess, np.ones(2), intercept=True, n_jobs=1)
        assert found is answer


# The whole, against a general minimiser


@pytest.mark.parametrize("method", ["newton-cholesky", "newton-cg"])
def test_a_general_minimiser_finds_nothing_lower(rng, method):
    X, y = rng.normal(size=(80, 3)), rng.integers(0, 3, size=80)
    fit = logistic(source(X, y), 3, C=2.0, method=method, tol=1e-9)

    def value(vector):
        table = vector.reshape(3, 4)
        terms = row_terms(X @ table[:, 1:].T + table[:, 0], y)
        return terms.loss.mean() + np.square(table[:, 1:]).sum() / (2 * 2.0 * 80)

    found = minimize(value, np.zeros(12), method="BFGS", options={"gtol": 1e-8})
    assert fit.objective <= found.fun + 1e-12
    assert value(np.column_stack([fit.intercept, fit.coef]).ravel()) == pytest.approx(
        fit.objective, rel=1e-12
    )
    assert fit.method == method
