"""The quadratic problem behind support vector machines: its conditions, its peers, how it starts and ends."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

import bisector
from bisector.kernels import Gaussian, Laplacian, Linear, Polynomial
from bisector.solvers.free_variables import step_free_variables
from bisector.solvers.kernel_lines import AllLines, MadeLines, kernel_lines
from bisector.solvers.smo import Problem, smo
from bisector.solvers.support_vectors import NoHardMargin, classify, regress


def two_classes(n, d=2, seed=0, noise=0.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.where(X[:, 0] + noise * rng.normal(size=n) > 0, 1.0, -1.0)


def of_labels(y, C):
    ends = y * C
    return Problem(-y, np.minimum(ends, 0.0), np.maximum(ends, 0.0), np.arange(len(y)))


def violation(problem, K, beta):
    """By how much the best offset misses the conditions."""
    gradient = (K @ np.bincount(problem.rows, beta, minlength=len(K)))[problem.rows] + problem.linear
    rises, falls = -gradient[beta < problem.upper], -gradient[beta > problem.lower]
    return max(0.0, rises.max(initial=-np.inf) - falls.min(initial=np.inf))


# By hand


def test_two_points():
    X, y = np.array([[0.0], [2.0]]), np.array([-1.0, 1.0])
    found = smo(of_labels(y, 1.0), AllLines(X @ X.T), tolerance=1e-12)
    np.testing.assert_allclose(found.beta, [-0.5, 0.5])
    assert (found.offset, found.objective) == pytest.approx((-1.0, -0.5))
    assert found.converged
    assert found.gap == pytest.approx(0, abs=1e-12)


def test_bounds_hold_the_same_points():
    X, y = np.array([[0.0], [2.0]]), np.array([-1.0, 1.0])
    found = smo(of_labels(y, 0.125), AllLines(X @ X.T))
    np.testing.assert_array_equal(found.beta, [-0.125, 0.125])


# Certificate


@st.composite
def quadratic_problems(draw):
    """Gram matrices of full and low rank, with equal and with zero rows; bounds that differ, some of them zero."""
    n = draw(st.integers(2, 20))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    features = rng.normal(size=(n, draw(st.sampled_from([1, 3, 30]))))
    if draw(st.booleans()):
        features = features[rng.integers(n, size=n)]
    if draw(st.booleans()):
        features[0] = 0.0
    features *= draw(st.sampled_from([1e-3, 1.0, 30.0]))
    y = np.where(rng.random(n) < 0.5, -1.0, 1.0)
    costs = rng.choice([0.0, 0.1, 1.0, 10.0], size=n)
    return features @ features.T, y, costs


@given(quadratic_problems())
def test_conditions_hold_and_the_gap_proves_it(drawn):
    K, y, costs = drawn
    problem = of_labels(y, costs)
    found = smo(problem, AllLines(K), tolerance=1e-6)
    assert found.converged
    assert (problem.lower <= found.beta).all()
    assert (found.beta <= problem.upper).all()
    assert found.beta.sum() == pytest.approx(0, abs=1e-10)
    np.testing.assert_allclose(found.values, K @ found.beta, atol=1e-9 * (1 + np.abs(K).max()))
    assert violation(problem, K, found.beta) <= 2e-6
    assert 0 <= found.gap <= 1e-6 * (1 + costs.sum())
    # No feasible point is lower by more than the gap: not the origin, and not a point on the way to another.
    assert found.objective <= found.gap + 1e-12


@given(quadratic_problems(), st.floats(0.01, 2.0))
def test_a_tube_around_targets(drawn, epsilon):
    K, y, costs = drawn
    costs = costs + 0.1
    targets = y * np.arange(len(y))
    found = regress(AllLines(K), targets, costs, epsilon, tolerance=1e-6)
    assert found.converged
    residual = targets - found.values
    # A row within the tube weighs nothing, one outside its full cost, in the direction of its residual.
    inside, outside = np.abs(residual) < epsilon - 1e-5, np.abs(residual) > epsilon + 1e-5
    np.testing.assert_allclose(found.beta[inside], 0, atol=1e-9)
    np.testing.assert_allclose(found.beta[outside], (np.sign(residual) * costs)[outside], rtol=1e-9)
    assert found.gap <= 1e-5 * (1 + costs.sum())


# Oracle


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_objective_of_scikit_learn(C):
    from sklearn.svm import SVC

    X, y = two_classes(120)
    K = Gaussian().gram(X)
    peer = SVC(C=C, kernel="precomputed", tol=1e-10).fit(K, y)
    beta = np.zeros(len(y))
    beta[peer.support_] = peer.dual_coef_[0]
    ours = smo(of_labels(y, C), AllLines(K), tolerance=1e-10)
    assert ours.objective == pytest.approx(0.5 * beta @ K @ beta - y @ beta, rel=1e-9)


# Free variables move at once


@given(quadratic_problems(), st.integers(0, 2**32 - 1))
def test_free_variables_keep_their_balance_and_bounds_and_lower_the_objective(drawn, seed):
    K, y, _ = drawn
    rng = np.random.default_rng(seed)
    beta, gradient = rng.uniform(-0.5, 0.5, size=len(y)), rng.normal(size=len(y))
    bound = np.ones(len(y))
    step = step_free_variables(K, gradient, beta, -bound, bound)
    assert step.psd
    assert step.change.sum() == pytest.approx(0, abs=1e-9)
    assert (np.abs(beta + step.change) <= 1 + 1e-12).all()
    assert 0.5 * step.change @ K @ step.change + gradient @ step.change <= 1e-9


def test_an_indefinite_matrix_moves_nothing():
    K = np.array([[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    step = step_free_variables(K, np.array([1.0, -1.0, 0.0]), np.zeros(3), -np.ones(3), np.ones(3))
    assert not step.psd
    assert not step.change.any()


# Starts and ends


@given(quadratic_problems(), st.integers(0, 2**32 - 1))
def test_any_start_becomes_feasible(drawn, seed):
    _, y, costs = drawn
    problem = of_labels(y, costs)
    start = problem.fit_start(np.random.default_rng(seed).normal(size=len(y)))
    assert start.sum() == pytest.approx(0, abs=1e-12)
    assert ((problem.lower <= start) & (start <= problem.upper)).all()


def test_a_warm_start_is_shorter_and_ends_at_the_same_place():
    X, y = two_classes(300)
    lines = AllLines(Gaussian().gram(X))
    first = classify(lines, y, np.full(300, 1.0))
    cold = classify(lines, y, np.full(300, 1.2))
    warm = classify(lines, y, np.full(300, 1.2), start=first.beta)
    assert warm.iterations < cold.iterations
    np.testing.assert_allclose(warm.values, cold.values, atol=1e-8)


def test_a_limit_on_steps_is_kept():
    X, y = two_classes(300)
    found = smo(of_labels(y, 1.0), AllLines(Gaussian().gram(X)), max_iter=7)
    assert found.iterations == 7
    assert not found.converged
    assert found.gap > 0


def test_matrices_that_are_not_psd_end_at_a_point_that_keeps_the_conditions():
    rng = np.random.default_rng(5)
    K = rng.normal(size=(40, 40))
    K, y = K + K.T, np.where(rng.random(40) < 0.5, -1.0, 1.0)
    problem = of_labels(y, 1.0)
    found = smo(problem, AllLines(K))
    assert found.converged
    assert violation(problem, K, found.beta) <= 1e-3


def test_one_feature_and_a_steep_polynomial_end_with_a_certificate():
    rng = np.random.default_rng(0)
    x = 10 * rng.normal(size=(200, 1))
    y = np.sign(x[:, 0] ** 2 - 100 + 30 * rng.normal(size=200))
    K = Polynomial(degree=4, bias=1.0).gram(x)  # values from 1 to 10¹¹
    found = classify(AllLines(K), y, np.full(200, 100.0))
    assert found.converged
    assert found.gap <= 1e-6 * found.objective


def test_values_beyond_rounding_end_too_and_say_so():
    rng = np.random.default_rng(0)
    x = 1e4 * rng.normal(size=(60, 1))
    y = np.sign(x[:, 0] ** 2 - 1e8 + 3e7 * rng.normal(size=60))
    found = classify(AllLines(Polynomial(degree=4, bias=1.0).gram(x)), y, np.full(60, 100.0), max_iter=20_000)
    assert found.converged == (found.violation <= 1e-3)


# Hard margins


def test_equal_rows_of_different_classes_have_no_hard_margin():
    with pytest.raises(NoHardMargin, match="there is none"):
        classify(AllLines(np.ones((2, 2))), np.array([-1.0, 1.0]), np.full(2, np.inf))


def test_rows_between_others_have_no_hard_margin():
    x = np.linspace(-1, 1, 9)[:, None]
    y = np.where(np.abs(x[:, 0]) < 0.4, 1.0, -1.0)
    with pytest.raises(NoHardMargin) as failed:
        classify(AllLines(Linear().gram(x)), y, np.full(9, np.inf))
    assert failed.value.largest_margin < 1e-4
    found = classify(AllLines(Polynomial(degree=2, bias=1.0).gram(x)), y, np.full(9, np.inf))
    assert found.converged
    assert (y * found.values >= 1 - 1e-9).all()
    assert found.gap <= 1e-9 * found.objective


# Many rows: lines are made as they are needed


def test_precision_follows_from_the_error_that_is_allowed():
    rows = Gaussian().prepare(np.random.default_rng(0).normal(size=(2500, 3)))
    for error, dtype in ((1e-3, np.float32), (1e-9, np.float64)):
        lines = kernel_lines(Gaussian(), rows, at_least=64, allowed_error=error)
        assert lines.held(np.arange(3))[0].dtype == dtype


@pytest.mark.parametrize("kernel", [Gaussian(), Laplacian()], ids=repr)
def test_many_rows_in_little_memory_give_the_same_plane(kernel):
    X, y = two_classes(2300, noise=0.2)
    rows, costs = kernel.prepare(X), np.ones(2300)
    roomy = kernel_lines(kernel, rows, at_least=512, allowed_error=1e-9)
    with bisector.config(memory=2 * 600 * 2300 * 8):
        tight = kernel_lines(kernel, rows, at_least=512, allowed_error=1e-9)
    assert tight.most_at_once < 700 < roomy.most_at_once
    found, again = (classify(lines, y, costs, tolerance=1e-6) for lines in (roomy, tight))
    assert found.converged
    assert again.converged
    np.testing.assert_allclose(again.values, found.values, atol=1e-5)  # two solutions within the tolerance


def test_no_more_variables_are_moved_at_once_than_lines_can_be_held(monkeypatch):
    """Else lines would be written beside the memory that is there for them."""
    monkeypatch.setattr("bisector.solvers.smo.AT_ONCE", 20)
    X, y = two_classes(300, noise=0.2)
    rows, asked = Laplacian().prepare(X), []
    lines = MadeLines(Laplacian(), rows, single=False, capacity=30)
    monkeypatch.setattr("bisector.solvers.smo._ALL_AT_ONCE", 20)
    held = lines.held
    monkeypatch.setattr(lines, "held", lambda rows: asked.append(len(rows)) or held(rows))
    found = classify(lines, y, np.full(300, 1e3))
    assert found.converged
    assert np.count_nonzero((np.abs(found.beta) > 0) & (np.abs(found.beta) < 1e3)) > 30
    assert max(asked) <= 30


def test_too_little_memory_is_refused_before_it_is_taken():
    rows = Gaussian().prepare(np.zeros((3000, 1)))
    with (
        bisector.config(memory="1 MB"),
        pytest.raises(MemoryError, match=r"3,000 rows needs .* lines of the Gram"),
    ):
        kernel_lines(Gaussian(), rows, at_least=512, allowed_error=1.0)


def test_any_number_of_threads_gives_the_same_bits():
    X, y = two_classes(2300)
    rows = Gaussian().prepare(X)
    results = [
        classify(
            kernel_lines(Gaussian(), rows, at_least=512, allowed_error=1e-3, n_jobs=n_jobs), y, np.ones(2300)
        )
        for n_jobs in (1, 2, 3)
    ]
    for other in results[1:]:
        np.testing.assert_array_equal(other.beta, results[0].beta)
        np.testing.assert_array_equal(other.values, results[0].values)


def test_single_precision_keeps_the_tolerance():
    X, y = two_classes(2300)
    rows, K = Gaussian().prepare(X), Gaussian().gram(X)
    lines = kernel_lines(Gaussian(), rows, at_least=512, allowed_error=1e-3)
    assert lines.held(np.arange(1))[0].dtype == np.float32
    found = classify(lines, y, np.ones(2300))
    assert violation(of_labels(y, 1.0), K, found.beta) <= 1.1e-3


def test_a_start_out_of_balance_leaves_variables_on_their_bounds():
    problem = Problem(
        np.zeros(4), np.array([0.0, 0.0, 0.0, -2.0]), np.array([2.0, 2.0, 2.0, 0.0]), np.arange(4)
    )
    start = problem.fit_start(np.array([2.0, 1.0, 0.5, -2.5]))
    np.testing.assert_allclose(start, [2.0, 0.0, 0.0, -2.0])
    np.testing.assert_allclose(problem.fit_start(np.array([2.0, 2.0, 1.0, -2.0])), [1.0, 1.0, 0.0, -2.0])
