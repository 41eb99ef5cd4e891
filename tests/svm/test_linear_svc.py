"""The linear machine: its proof recomputed, its peers, and what may be given to it."""

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse
from hypothesis import HealthCheck, assume, given, settings, strategies as st
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, LinearSVC as TheirLinearSVC
from tests.properties.strategies import awkward_tables, weights

from bisector import LinearSVC
from bisector.engine.sources import source

KINDS = [
    {"loss": "hinge"},
    {"loss": "squared_hinge"},
    {"loss": "squared_hinge", "penalty": "l1"},
]
# No deadline: the first fit that needs a compiled loop waits for it.
quickly = settings(
    max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)


def two_classes(n=200, d=5, seed=0, noise=0.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.where(X @ rng.normal(size=d) + 0.3 + noise * rng.normal(size=n) > 0, 1, -1)
    return X, y


def mostly_zero(n=300, d=600, seed=0):
    """Sparse rows with more features than are solved for at once, so that rows are visited one by one."""
    rng = np.random.default_rng(seed)
    X = scipy.sparse.random_array((n, d), density=0.03, rng=rng, format="csr")
    y = np.where(X @ rng.normal(size=d) + 0.1 * rng.normal(size=n) > 0, 1, -1)
    return X, y


def costs(model, X, y, weight=None):
    """P and D of a fitted model of two classes, in the words of the textbook."""
    side, alpha = np.where(y == model.classes_[1], 1.0, -1.0), model.alpha_
    C = model.C * (np.ones(len(y)) if weight is None else weight)
    w, squared = model.coef_[0].astype(float), model.loss == "squared_hinge"
    slack = np.maximum(1 - side * (X @ w + model.intercept_[0]), 0)
    penalty = np.abs(w).sum() if model.penalty == "l1" else 0.5 * w @ w
    primal = penalty + C @ (slack**2 if squared else slack)
    normal = X.T @ (alpha * side)
    dual = alpha.sum()
    if squared:
        dual -= 0.25 * (alpha[C > 0] ** 2 / C[C > 0]).sum()
    if model.penalty == "l1":
        assert np.abs(normal).max() <= 1 + 1e-14 * alpha.sum()  # the rounding of its sum
    else:
        dual -= 0.5 * normal @ normal
    assert (alpha >= 0).all()
    assert squared or (alpha <= C * (1 + 1e-12)).all()
    if model.fit_intercept:
        assert abs(alpha @ side) <= 1e-9 * alpha.sum()
    return primal, dual


# Certificate


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("data", [two_classes, mostly_zero])
def test_the_gap_is_what_it_says(data, kind, intercept):
    X, y = data()
    model = LinearSVC(C=0.7, fit_intercept=intercept, **kind).fit(X, y)
    primal, dual = costs(model, X, y)
    assert model.converged_
    assert model.dual_gap_ <= 1e-4
    assert primal == pytest.approx(model.objective_[0], rel=1e-9)
    assert primal - dual <= (model.dual_gap_ + 1e-12) * primal


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("C", [1e-6, 1.0, 1e6])
def test_every_C(kind, C):
    X, y = two_classes()
    model = LinearSVC(C=C, **kind).fit(X, y)
    primal, dual = costs(model, X, y)
    assert primal - dual <= 1.01e-4 * primal


def test_squared_hinge_ends_at_rounding():
    X, y = two_classes()
    assert LinearSVC().fit(X, y).dual_gap_ < 1e-14


def test_multipliers_rest_on_their_bounds():
    X, y = two_classes()
    model = LinearSVC(loss="hinge").fit(X, y)
    margin = y * model.decision_function(X)
    assert (model.alpha_[margin > 1 + 1e-6] == 0).all()
    assert (model.alpha_[margin < 1 - 1e-6] == 1).all()
    # No more rows are in between than a plane has numbers.
    assert ((model.alpha_ > 0) & (model.alpha_ < 1)).sum() <= X.shape[1] + 1


# Oracle: the peers


@pytest.mark.parametrize("C", [0.05, 2.0])
def test_hinge_is_the_kernel_machine_with_a_linear_kernel(C):
    X, y = two_classes()
    ours, theirs = LinearSVC(loss="hinge", C=C).fit(X, y), SVC(kernel="linear", C=C, tol=1e-10).fit(X, y)
    # Whatever its tolerance, the peer computes with kernel values in single precision.
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-5)


@pytest.mark.parametrize("penalty", ["l1", "l2"])
def test_squared_hinge_is_the_peer_whose_penalty_on_the_intercept_vanishes(penalty):
    X, y = two_classes()
    # The peer's intercept is penalised by the square over intercept_scaling squared, or its size over the same.
    theirs = TheirLinearSVC(penalty=penalty, dual=False, intercept_scaling=1e3, tol=1e-6, max_iter=10**6)
    ours = LinearSVC(penalty=penalty, tol=1e-10).fit(X, y)
    theirs.fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=2e-4)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=2e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_without_intercept_it_is_the_peer(kind):
    X, y = two_classes()
    dual = kind["loss"] == "hinge"
    theirs = TheirLinearSVC(fit_intercept=False, dual=dual, tol=1e-10, max_iter=10**6, **kind).fit(X, y)
    ours = LinearSVC(fit_intercept=False, tol=1e-12, **kind).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    assert (ours.intercept_ == 0).all()


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_visiting_rows_and_newton_agree(loss):
    """The same rows beside columns of zeros: few features, or too many to be solved for at once."""
    X, y = two_classes()
    wide = scipy.sparse.hstack([scipy.sparse.csr_array(X), scipy.sparse.csr_array((len(y), 6000))]).tocsr()
    narrow, visited = (
        LinearSVC(loss=loss).fit(X, y),
        LinearSVC(loss=loss, tol=1e-9, max_iter=10**5).fit(wide, y),
    )
    assert visited.solver_ == "dual coordinate descent"
    # A relative gap g leaves w within √(2gP) of the best.
    room = 2 * np.sqrt(2e-9 * narrow.objective_[0])
    np.testing.assert_allclose(visited.coef_[:, :5], narrow.coef_, atol=room)
    assert (visited.coef_[:, 5:] == 0).all()


# Invariances


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_the_origin_does_not_matter(loss):
    X, y = two_classes()
    here, there = LinearSVC(loss=loss).fit(X, y), LinearSVC(loss=loss).fit(X + [1e6, -30, 0, 5, 1e3], y)
    np.testing.assert_allclose(there.coef_, here.coef_, atol=1e-7)
    np.testing.assert_array_equal(there.predict(X + [1e6, -30, 0, 5, 1e3]), here.predict(X))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("data", [two_classes, mostly_zero])
def test_whole_weights_are_repeats_and_zero_is_absence(data, kind):
    X, y = data()
    weight = np.random.default_rng(3).integers(0, 4, size=len(y))
    rows = np.repeat(np.arange(len(y)), weight)
    weighted = LinearSVC(tol=1e-10, max_iter=10**5, **kind).fit(X, y, sample_weight=weight)
    repeated = LinearSVC(tol=1e-10, max_iter=10**5, **kind).fit(X[rows], y[rows])
    assert weighted.objective_[0] == pytest.approx(repeated.objective_[0], rel=1e-8)
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=2e-4)
    assert (weighted.alpha_[weight == 0] == 0).all()
    primal, dual = costs(weighted, X, y, weight)
    assert primal - dual <= 1e-9 * primal


def test_class_weight_multiplies_the_cost_of_rows():
    X, y = two_classes()
    by_class = LinearSVC(class_weight={1: 3.0}).fit(X, y)
    by_row = LinearSVC().fit(X, y, sample_weight=np.where(y == 1, 3.0, 1.0))
    np.testing.assert_array_equal(by_class.coef_, by_row.coef_)
    assert LinearSVC(class_weight="balanced").fit(X, y).converged_


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_the_number_of_threads_changes_no_bit(loss):
    X, y = two_classes(n=6000, d=40)
    assert source(X).n_blocks > 1
    one, two = (LinearSVC(loss=loss, n_jobs=n).fit(X, y) for n in (1, 2))
    np.testing.assert_array_equal(one.coef_, two.coef_)
    np.testing.assert_array_equal(one.alpha_, two.alpha_)
    three = y * (1 + (X[:, 0] > 1))
    several = [LinearSVC(loss=loss, n_jobs=n).fit(X[:500], three[:500]) for n in (1, 3)]
    np.testing.assert_array_equal(several[0].coef_, several[1].coef_)


@pytest.mark.parametrize("kind", KINDS)
def test_sparse_rows_and_single_precision(kind):
    X, y = two_classes()
    X = np.where(np.abs(X) > 0.7, np.round(8 * X) / 8, 0)  # exact in float32
    dense = LinearSVC(**kind).fit(X, y)
    for form in (scipy.sparse.csr_array, scipy.sparse.csc_matrix):
        np.testing.assert_allclose(LinearSVC(**kind).fit(form(X), y).coef_, dense.coef_, atol=1e-6)
    single = LinearSVC(**kind).fit(X.astype(np.float32), y)
    assert single.coef_.dtype == single.intercept_.dtype == single.decision_function(X[:2].astype("f4")).dtype
    np.testing.assert_allclose(single.coef_, dense.coef_, rtol=1e-6, atol=1e-8)


def test_several_classes_have_a_plane_each_against_the_rest():
    X, y = load_iris(return_X_y=True)
    model = LinearSVC(loss="hinge").fit(X, y)
    assert model.coef_.shape == model.alpha_.T.shape[:1] + (4,) == (3, 4)
    for k in range(3):
        alone = LinearSVC(loss="hinge").fit(X, y == k)
        np.testing.assert_array_equal(model.coef_[k], alone.coef_[0])
        np.testing.assert_array_equal(model.alpha_[:, k], alone.alpha_)
    assert model.margin_.shape == (3,)
    assert model.score(X, y) > 0.9


# Awkward data


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_badly_scaled_columns_converge_without_a_word(loss):
    X, y = two_classes(d=8)
    scaled = X * 10.0 ** np.linspace(-8, 8, 8)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LinearSVC(loss=loss).fit(scaled, y)
    assert model.converged_
    assert model.n_iter_ < 40


@quickly
@given(awkward_tables(min_rows=2), st.sampled_from(KINDS), st.sampled_from([1e-3, 1.0, 1e3]), st.data())
def test_every_fit_is_finite_and_proved(table, kind, C, data):
    n = len(table)
    y = np.array(data.draw(st.lists(st.sampled_from([0, 1]), min_size=n, max_size=n)))
    weight = data.draw(st.none() | weights(n))
    assume(len(np.unique(y if weight is None else y[weight > 0])) == 2)
    model = LinearSVC(C=C, max_iter=5000, **kind).fit(table, y, sample_weight=weight)
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.intercept_).all()
    assert model.converged_
    assert set(model.predict(table)) <= {0, 1}


@pytest.mark.parametrize("size", [1e8, 1e9, 1e12, 1e20])
@pytest.mark.parametrize("C", [1e-3, 1.0])
@pytest.mark.parametrize("intercept", [True, False])
def test_a_huge_column_that_separates_has_the_hard_margin(size, C, intercept):
    """Slacks of the squared hinge, 1/(C size²) or so, are far below rounding; the plane has none, in effect."""
    rng = np.random.default_rng(0)
    x = np.append(1 + rng.random(20), -0.5 - rng.random(20)) * size
    model = LinearSVC(C=C, fit_intercept=intercept).fit(x[:, None], x > 0)
    low, high = x[x < 0].max(), x[x > 0].min()
    expected = 2 / (high - low) if intercept else 1 / min(-low, high)
    assert model.converged_
    room = (
        1e-5 if C * size**2 <= 1e13 else 1e-7
    )  # there the fit as asked for still converges, to fewer digits
    assert model.coef_[0, 0] * size == pytest.approx(expected * size, rel=room)
    assert model.intercept_[0] == pytest.approx(-expected * (low + high) / 2 if intercept else 0.0, abs=1e-7)


def test_one_row_a_class_and_constant_columns():
    model = LinearSVC(loss="hinge", C=100).fit([[1.0, 5.0], [3.0, 5.0]], ["a", "b"])
    np.testing.assert_allclose(model.coef_, [[1, 0]], atol=1e-6)
    np.testing.assert_allclose(model.intercept_, [-2], atol=1e-6)


def test_columns_that_say_nothing_leave_the_larger_class():
    for loss in ("hinge", "squared_hinge"):
        model = LinearSVC(loss=loss).fit(np.ones((5, 2)), [0, 0, 0, 1, 1])
        assert (model.coef_ == 0).all()
        assert (model.predict(np.ones((3, 2))) == 0).all()
        assert model.margin_ == np.inf


# What is kept, and what is said


def test_a_pickled_model_predicts_without_its_multipliers():
    X, y = two_classes()
    model = LinearSVC().fit(X, y)
    back = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(back.predict(X), model.predict(X))
    assert not hasattr(back, "alpha_")
    assert back.margin_ == model.margin_


def test_weights_can_be_kept_sparse():
    X, y = two_classes()
    model = LinearSVC(penalty="l1", C=0.01).fit(X, y)
    scores, distances = model.decision_function(X), model.signed_distance(X)
    assert scipy.sparse.issparse(model.sparsify().coef_)
    np.testing.assert_array_equal(model.decision_function(X), scores)
    np.testing.assert_allclose(model.signed_distance(scipy.sparse.csr_array(X)), distances, rtol=1e-12)
    assert isinstance(model.densify().coef_, np.ndarray)


def test_stopping_early_is_said_with_the_gap():
    X, y = mostly_zero()
    with pytest.warns(ConvergenceWarning, match="relative gap of"):
        model = LinearSVC(max_iter=1).fit(X, y)
    assert not model.converged_
    assert model.dual_gap_ > 1e-4


def test_the_order_of_visits_is_drawn_from_random_state():
    X, y = mostly_zero()
    first, again, other = (LinearSVC(random_state=seed).fit(X, y).coef_ for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


# Bad input


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"penalty": "l1", "loss": "hinge"}, 'penalty="l1" goes with'),
        ({"multi_class": "crammer_singer"}, "not offered"),
        ({"C": 0}, "C must be"),
        ({"C": np.inf}, "C must be finite"),
        ({"tol": 0}, "tol must be"),
        ({"dual": "maybe"}, "dual must be"),
        ({"max_iter": 0}, "max_iter must be"),
        ({"class_weight": {7: 1.0}}, "which y does not have"),
        ({"intercept_scaling": 0}, "intercept_scaling must be"),
    ],
)
def test_parameters_that_make_no_sense(parameters, message):
    with pytest.raises(ValueError, match=message):
        LinearSVC(**parameters).fit(*two_classes(n=20))


def test_rows_of_one_class():
    with pytest.raises(ValueError, match="at least two classes"):
        LinearSVC().fit(np.eye(3), [1, 1, 1])


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
def test_a_number_that_is_not_finite_is_located(form):
    X, y = two_classes(n=20)
    X[7, 2] = np.nan
    with pytest.raises(ValueError, match="NaN in row 7, column 2"):
        LinearSVC().fit(form(X), y)
