"""LogisticRegression by hand, by its certificates, against scikit-learn, at the edges."""

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse
from scipy.special import log_softmax, softmax
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.linear_model import LogisticRegression as Peer

from bisector import LogisticRegression


@pytest.fixture
def iris():
    return load_iris(return_X_y=True)


@pytest.fixture
def cancer():
    """Thirty columns whose sizes differ by five powers of ten, untouched by any scaler."""
    return load_breast_cancer(return_X_y=True)


@pytest.fixture
def noisy(rng):
    """Two classes that overlap, features far from zero and in different units."""
    X = rng.normal(size=(300, 5)) * [1, 100, 0.01, 3, 1] + [0, 1e4, 5, -3, 0]
    y = (X[:, 0] + X[:, 1] / 100 - 100 + rng.logistic(size=300) > 0).astype(int)
    return X, y


def probabilities(model, X):
    """From the coefficients alone, in float64."""
    scores = X @ model.coef_.T.astype(float) + model.intercept_
    return softmax(np.column_stack([np.zeros(len(X)), scores]) if scores.shape[1] == 1 else scores, axis=1)


def subgradient(model, X, y, weight=None, C=1.0, l1_ratio=0.0, intercept=True):
    """The least subgradient of the objective over the sum of the weights: coefficients, then intercepts."""
    weight = np.ones(len(y)) if weight is None else weight
    codes = np.searchsorted(model.classes_, y)
    residual = (probabilities(model, X) - np.eye(len(model.classes_))[codes]) * weight[:, None]
    residual = residual[:, 1:] if len(model.coef_) == 1 else residual
    smooth = (residual.T @ X + (1 - l1_ratio) / C * model.coef_) / weight.sum()
    corner = l1_ratio / C / weight.sum()
    away = smooth + corner * np.sign(model.coef_)
    at = np.sign(smooth) * np.maximum(np.abs(smooth) - corner, 0)
    rest = np.where(model.coef_ == 0, at, away)
    return np.abs(rest).max(), np.abs(residual.sum(axis=0) / weight.sum()).max() * intercept


def objective(model, X, y, C=1.0, l1_ratio=0.0):
    codes = np.searchsorted(model.classes_, y)
    loss = -np.log(probabilities(model, X)[np.arange(len(y)), codes]).mean()
    w = model.coef_
    return loss + (l1_ratio * np.abs(w).sum() + (1 - l1_ratio) / 2 * np.square(w).sum()) / (C * len(y))


# By hand


def test_symmetric_points_have_their_boundary_in_the_middle():
    model = LogisticRegression().fit([[-2.0], [-1.0], [1.0], [2.0]], [0, 0, 1, 1])
    assert model.intercept_[0] == pytest.approx(0, abs=1e-12)
    assert model.coef_[0, 0] > 0
    np.testing.assert_array_equal(model.predict([[-0.1], [0.1]]), [0, 1])
    np.testing.assert_allclose(model.predict_proba([[0.0]]), [[0.5, 0.5]])


def test_without_features_that_tell_probabilities_are_the_shares():
    model = LogisticRegression(C=np.inf).fit(np.zeros((5, 1)), ["a", "a", "b", "c", "c"])
    np.testing.assert_allclose(model.predict_proba([[0.0]]), [[0.4, 0.2, 0.4]], rtol=1e-9)
    assert not model.coef_.any()


def test_a_heavy_penalty_leaves_the_shares(noisy):
    X, y = noisy
    model = LogisticRegression(C=1e-12).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], y.mean(), rtol=1e-3)


def test_log_probabilities_where_probabilities_vanish():
    X = np.array([[-1.0], [1.0]])
    model = LogisticRegression(C=100.0).fit(X, [0, 1])
    far = model.predict_log_proba([[1e4]])
    assert far[0, 0] == pytest.approx(-model.decision_function([[1e4]])[0])
    assert far[0, 1] == 0
    assert model.predict_proba([[1e4]])[0, 0] >= 0


# Certificates, computed again from the coefficients alone


@pytest.mark.parametrize("solver", ["lbfgs", "newton-cholesky", "newton-cg"])
@pytest.mark.parametrize("C", [1e-2, 1.0, 1e4])
def test_gradient_is_zero_on_columns_of_any_size(cancer, solver, C):
    X, y = cancer
    model = LogisticRegression(C=C, solver=solver).fit(X, y)
    assert max(subgradient(model, X, y, C=C)) < 1e-6
    assert model.converged_
    assert model.gradient_norm_ == pytest.approx(max(subgradient(model, X, y, C=C)), abs=1e-10)


@pytest.mark.parametrize("solver", ["newton-cholesky", "newton-cg"])
@pytest.mark.parametrize("intercept", [True, False])
def test_gradient_of_several_classes_is_zero(iris, solver, intercept):
    X, y = iris
    model = LogisticRegression(solver=solver, fit_intercept=intercept).fit(X, y)
    assert max(subgradient(model, X, y, intercept=intercept)) < 1e-8
    np.testing.assert_allclose(model.coef_.sum(axis=0), 0, atol=1e-10)
    assert model.intercept_.sum() == pytest.approx(0, abs=1e-10)


@pytest.mark.parametrize("l1_ratio", [0.3, 1.0])
@pytest.mark.parametrize("C", [0.05, 10.0])
def test_corners_hold_their_conditions(iris, cancer, C, l1_ratio):
    for X, y in (iris, cancer):
        model = LogisticRegression(C=C, l1_ratio=l1_ratio).fit(X, y)
        assert max(subgradient(model, X, y, C=C, l1_ratio=l1_ratio)) < 1e-6
        assert model.converged_
        assert (model.coef_ == 0).any() or C > 1


@pytest.mark.parametrize("l1_ratio", [0.0, 0.5, 1.0])
def test_no_other_planes_are_better_by_more_than_the_gap(noisy, rng, l1_ratio):
    X, y = noisy
    rough = LogisticRegression(l1_ratio=l1_ratio, max_iter=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rough.fit(X, y)
    best = LogisticRegression(l1_ratio=l1_ratio).fit(X, y)
    gained = objective(rough, X, y, l1_ratio=l1_ratio) - objective(best, X, y, l1_ratio=l1_ratio)
    assert -1e-12 < gained <= rough.dual_gap_
    assert best.dual_gap_ < 1e-6
    assert rough.dual_gap_ > best.dual_gap_


# Oracle


@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
@pytest.mark.parametrize("intercept", [True, False])
def test_scikit_learn_at_a_tight_tolerance(iris, C, intercept):
    X, y = iris
    ours = LogisticRegression(C=C, fit_intercept=intercept).fit(X, y)
    theirs = Peer(C=C, fit_intercept=intercept, solver="newton-cholesky", tol=1e-12, max_iter=1000).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-7)


def test_scikit_learn_with_corners(rng):
    X = rng.normal(size=(120, 8))
    y = (X[:, 0] - X[:, 1] + rng.logistic(size=120) > 0).astype(int)
    for l1_ratio in (0.5, 1.0):
        ours = LogisticRegression(C=0.3, l1_ratio=l1_ratio).fit(X, y)
        theirs = Peer(C=0.3, l1_ratio=l1_ratio, solver="saga", tol=1e-10, max_iter=100_000).fit(X, y)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-6)
        np.testing.assert_array_equal(ours.coef_ == 0, np.abs(theirs.coef_) < 1e-9)


def test_many_columns_by_every_way(rng):
    """More columns than rows, as text has: products, conjugate gradients, columns one by one, dense and sparse."""
    X = scipy.sparse.random_array((150, 1200), density=0.05, rng=rng, format="csr")
    y = np.array(["a", "b", "c"])[np.argmax((X @ rng.normal(size=(1200, 3))), axis=1)]
    answers = [
        LogisticRegression(C=5.0, solver=solver, tol=1e-9).fit(Z, y).coef_
        for solver in ("newton-cg", "lbfgs")
        for Z in (X, X.toarray())
    ]
    direct = Peer(C=5.0, tol=1e-10, max_iter=10_000).fit(X, y).coef_
    for found in answers:
        np.testing.assert_allclose(found, direct, atol=1e-5)
    few, same = (LogisticRegression(C=5.0, l1_ratio=0.9).fit(Z, y) for Z in (X, X.toarray()))
    np.testing.assert_allclose(few.coef_, same.coef_, atol=1e-4)  # a gap of 1e-7 leaves coefficients so much
    assert max(subgradient(few, X.toarray(), y, C=5.0, l1_ratio=0.9)) < 1e-6
    assert few.dual_gap_ < 1e-6


def test_digits_converge_without_scaling():
    X, y = load_digits(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LogisticRegression(solver="newton-cg").fit(X, y)
    assert max(subgradient(model, X, y)) <= 1e-4
    assert model.score(X, y) > 0.99


def test_one_plane_for_each_class_against_the_rest(iris):
    X, y = iris
    model = LogisticRegression(scheme="one-vs-rest").fit(X, y)
    assert model.n_iter_.shape == (3,)
    for k in range(3):
        alone = LogisticRegression().fit(X, y == k)
        np.testing.assert_allclose(model.coef_[k], alone.coef_[0], rtol=1e-9)
    shares = 1 / (1 + np.exp(-model.decision_function(X)))
    np.testing.assert_allclose(model.predict_proba(X), shares / shares.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X))


def test_probabilities_are_the_softmax_of_the_scores(iris):
    X, y = iris
    model = LogisticRegression().fit(X, y)
    scores = model.decision_function(X)
    np.testing.assert_allclose(model.predict_proba(X), softmax(scores, axis=1))
    np.testing.assert_allclose(model.predict_log_proba(X), log_softmax(scores, axis=1), atol=1e-12)
    np.testing.assert_array_equal(model.predict(X), model.predict_proba(X).argmax(axis=1))


# Weights


def test_balanced_classes_weigh_the_same(cancer):
    X, y = cancer
    counts = np.bincount(y)
    weight = (len(y) / (2 * counts))[y]
    by_class = LogisticRegression(class_weight="balanced").fit(X, y)
    by_row = LogisticRegression().fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(by_class.coef_, by_row.coef_, rtol=1e-9)


@pytest.mark.parametrize("size", [1e-60, 1e60])
def test_with_c_and_weights_of_opposite_size_nothing_changes(noisy, size):
    X, y = noisy
    plain = LogisticRegression().fit(X, y)
    weighted = LogisticRegression(C=1 / size).fit(X, y, sample_weight=np.full(len(y), size))
    np.testing.assert_allclose(weighted.coef_, plain.coef_, rtol=1e-7)


def test_a_class_without_weight_is_absent(iris):
    X, y = iris
    model = LogisticRegression().fit(X, y, sample_weight=(y > 0).astype(float))
    np.testing.assert_array_equal(model.classes_, [1, 2])
    np.testing.assert_allclose(model.coef_, LogisticRegression().fit(X[50:], y[50:]).coef_, rtol=1e-8)


# Where data come from


def test_forms_of_the_same_data(noisy, tmp_path):
    X, y = noisy
    plain = LogisticRegression().fit(X, y)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    for other in (mapped, X.tolist()):
        np.testing.assert_array_equal(LogisticRegression().fit(other, y).coef_, plain.coef_)
    in_columns = LogisticRegression().fit(np.asfortranarray(X), y)
    np.testing.assert_allclose(in_columns.coef_, plain.coef_, rtol=1e-11)
    for other in (scipy.sparse.csr_array(X), scipy.sparse.csc_matrix(X)):
        np.testing.assert_allclose(LogisticRegression().fit(other, y).coef_, plain.coef_, rtol=1e-7)
        np.testing.assert_allclose(plain.predict_proba(other), plain.predict_proba(X), rtol=1e-9)


def test_single_precision_is_double_precision_rounded(noisy):
    X, y = noisy
    X = X.astype(np.float32)
    narrow, wide = LogisticRegression().fit(X, y), LogisticRegression().fit(X.astype(float), y)
    assert narrow.coef_.dtype == narrow.predict_proba(X).dtype == np.float32
    np.testing.assert_allclose(narrow.coef_, wide.coef_, rtol=2e-7)


@pytest.mark.parametrize("parameters", [{}, {"l1_ratio": 0.5}, {"solver": "newton-cg"}])
def test_threads_change_no_bit(rng, parameters):
    X = rng.normal(size=(20_000, 12))
    y = (X[:, 0] + rng.logistic(size=20_000) > 0).astype(int)
    for Z in (X, scipy.sparse.csr_array(X * (X > 1))):
        one, three = (LogisticRegression(n_jobs=n, **parameters).fit(Z, y) for n in (1, 3))
        np.testing.assert_array_equal(one.coef_, three.coef_)
        np.testing.assert_array_equal(one.predict_proba(Z), three.predict_proba(Z))


def test_many_rows_begin_on_few(rng):
    """Enough rows that Newton's method begins on every sixteenth, sorted by class so that early rows mislead."""
    X = rng.normal(size=(40_000, 3))
    y = np.sort((rng.random(40_000) < 0.3).astype(int))
    X[y == 1] += 0.5
    model = LogisticRegression().fit(X, y)
    assert max(subgradient(model, X, y)) < 1e-10


# Life of an estimator


def test_warm_start_begins_where_the_last_fit_ended(cancer):
    X, y = cancer
    model = LogisticRegression(warm_start=True).fit(X, y)
    first = model.coef_
    assert model.fit(X, y).n_iter_[0] <= 1
    np.testing.assert_allclose(model.coef_, first, rtol=1e-7)
    for other in ({"l1_ratio": 1.0}, {"solver": "newton-cg"}):
        again = LogisticRegression(warm_start=True, **other).fit(X, y)
        assert again.fit(X, y).n_iter_[0] <= 1
    assert model.fit(X[:, :3], y).coef_.shape == (1, 3)  # planes of other columns are no start


def test_old_words_for_penalties(noisy):
    X, y = noisy
    for old, new in [
        ({"penalty": None}, {"C": np.inf}),
        ({"penalty": "l1"}, {"l1_ratio": 1.0}),
        ({"penalty": "l2", "l1_ratio": None}, {}),
        ({"penalty": "elasticnet", "l1_ratio": 0.2}, {"l1_ratio": 0.2}),
    ]:
        np.testing.assert_array_equal(
            LogisticRegression(**old).fit(X, y).coef_, LogisticRegression(**new).fit(X, y).coef_
        )


def test_sparse_coefficients_predict_the_same(iris):
    X, y = iris
    model = LogisticRegression(l1_ratio=1.0, C=0.2).fit(X, y)
    before = model.predict_proba(X)
    assert scipy.sparse.issparse(model.sparsify().coef_)
    np.testing.assert_array_equal(model.predict_proba(X), before)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(X), before)
    assert isinstance(model.densify().coef_, np.ndarray)


def test_a_callback_may_stop_the_fit(cancer):
    pytest.importorskip("sklearn.callback")

    class Stop:
        seen = 0

        def setup(self, estimator, context): ...

        def teardown(self, estimator, context): ...

        def on_fit_task_begin(self, estimator, context): ...

        def on_fit_task_end(self, estimator, context, *, X, fitted_estimator):
            if context.task_name == "iteration":
                Stop.seen += 1
                assert fitted_estimator.predict_proba(X).shape == (569, 2)
            return Stop.seen == 2

    model = LogisticRegression().set_callbacks(Stop()).fit(*cancer)
    assert model.n_iter_[0] == 2
    assert not model.converged_


# Bad input and edges


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"C": 0}, "C must be a number above 0"),
        ({"C": -1.0}, "C must be a number above 0"),
        ({"l1_ratio": 1.5}, "l1_ratio must be a number at least 0 and at most 1"),
        ({"solver": "newton"}, "solver must be one of 'lbfgs'"),
        ({"max_iter": 0}, "max_iter must be a whole number at least 1"),
        ({"scheme": "ovr"}, "scheme must be one of 'multinomial', 'one-vs-rest'"),
        ({"penalty": "l3"}, "penalty must be 'l1', 'l2', 'elasticnet' or None"),
        ({"class_weight": "equal"}, "class_weight must be a dict"),
        ({"tol": -1.0}, "tol must be a number at least 0"),
    ],
)
def test_parameters_that_make_no_sense(parameters, words):
    with pytest.raises(ValueError, match=words):
        LogisticRegression(**parameters).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("parameters", [{}, {"solver": "newton-cg"}, {"l1_ratio": 1.0}])
@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
def test_nan_is_named_by_its_place(parameters, form):
    X = np.ones((6, 3)) * np.arange(6)[:, None]
    X[4, 1] = np.nan
    with pytest.raises(ValueError, match="X contains NaN in row 4, column 1"):
        LogisticRegression(**parameters).fit(form(X), [0, 1, 0, 1, 0, 1])


def test_one_class_is_refused():
    with pytest.raises(ValueError, match="at least two classes"):
        LogisticRegression().fit([[0.0], [1.0]], ["a", "a"])


def test_too_few_steps_are_said(iris):
    with pytest.warns(UserWarning, match="After 2 steps the gradient was still"):
        model = LogisticRegression(max_iter=2).fit(*iris)
    assert not model.converged_


def test_one_row_a_class():
    X, y = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 1.0]]), np.array(["a", "b", "c"])
    assert max(subgradient(LogisticRegression().fit(X, y), X, y)) < 1e-7


def test_coefficients_too_large_for_single_precision():
    X = np.array([[0.0], [1e-40], [2e-40], [3e-40]], np.float32)
    with pytest.raises(ValueError, match="too large for float32"):
        LogisticRegression(C=np.inf).fit(X, [0, 1, 0, 1])
