"""The perceptron: its walk against ten plain lines, its proofs, what it does when nothing separates the classes."""

import pickle

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings, strategies as st
from sklearn.linear_model import Perceptron as Theirs
from tests.properties.strategies import TROUBLES, awkward_tables

from bisector import Perceptron


def plain_perceptron(X, y, orders, start=None, eta=1.0):
    """The book's algorithm, line by line: weights, rows in the order of their mistakes, whether it converged."""
    rows = np.column_stack([X, np.ones(len(X))])
    w, mistakes = np.zeros(rows.shape[1]) if start is None else start.copy(), []
    for order in orders:
        before = len(mistakes)
        for i in order:
            score = 0.0
            for j in range(len(w)):
                score += w[j] * rows[i, j]
            if y[i] * score <= 0:
                w += eta * y[i] * rows[i]
                mistakes.append(i)
        if len(mistakes) == before:
            return w, mistakes, True
    return w, mistakes, False


def separable(n, d, seed=0, margin=0.1):
    rng = np.random.default_rng(seed)
    X, w = rng.normal(size=(n, d)), rng.normal(size=d)
    w /= np.linalg.norm(w)
    y = np.where(X @ w > 0, 1, -1)
    return X + margin * np.outer(y, w), y


def overlapping(n, d, seed=0, share=0.1):
    X, y = separable(n, d, seed)
    return X, np.where(np.random.default_rng(seed + 1).random(n) < share, -y, y)


# By hand


def test_steps_by_hand():
    # w = 0: (1,1)+ is a mistake, so w = (1,1), b = 1; then (2,0)+ and (-1,-1)- are right; (0,-0.5)- is a mistake.
    X, y = [[1.0, 1.0], [2.0, 0.0], [-1.0, -1.0], [0.0, -0.5]], [1, 1, -1, -1]
    model = Perceptron(shuffle=False, history=True).fit(X, y)
    np.testing.assert_array_equal(model.coef_, [[1.0, 1.5]])
    np.testing.assert_array_equal(model.intercept_, [0.0])
    np.testing.assert_array_equal(model.mistakes_, [1, 0, 0, 1])
    assert (model.n_updates_, model.n_iter_, model.converged_) == (2, 2, True)
    np.testing.assert_array_equal(model.history_.rows, [0, 3])
    np.testing.assert_array_equal(model.history_.weights, [[0, 0], [1, 1], [1, 1.5]])
    np.testing.assert_array_equal(model.history_.intercepts, [0, 1, 0])
    # The nearest row is (0,-0.5): |-0.75| / |(1, 1.5)|.
    assert model.margin_ == pytest.approx(0.75 / np.sqrt(3.25))
    assert model.stopping_reason_ == "no mistake"


def test_a_score_of_zero_is_a_mistake_in_training_and_the_first_class_in_prediction():
    model = Perceptron(shuffle=False, fit_intercept=False).fit([[1.0, 0.0], [-1.0, 0.0]], ["b", "a"])
    np.testing.assert_array_equal(model.mistakes_, [1, 0])
    assert model.predict([[0.0, 5.0]]) == ["a"]


# Oracle: the same mistakes in the same order as the plain rule


@pytest.mark.parametrize(("n", "d"), [(20, 2), (60, 3), (300, 8)])
@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array, np.float32])
@pytest.mark.parametrize("separates", [True, False])
def test_mistakes_of_the_plain_rule(n, d, form, separates):
    X, y = separable(n, d) if separates else overlapping(n, d)
    held = form(X)
    values = held.toarray() if hasattr(held, "toarray") else held
    w, mistakes, converged = plain_perceptron(np.asarray(values, np.float64), y, [np.arange(n)] * 30)
    model = Perceptron(shuffle=False, max_iter=30, tol=None, history=True).fit(held, y)
    np.testing.assert_array_equal(model.history_.rows, mistakes)
    np.testing.assert_array_equal(model.mistakes_, np.bincount(mistakes, minlength=n))
    assert model.converged_ == converged
    last = np.append(model.history_.weights[-1], model.history_.intercepts[-1])
    np.testing.assert_array_equal(last, w)
    if converged:
        np.testing.assert_array_equal(model.coef_[0], w[:-1].astype(model.coef_.dtype))


def test_mistakes_of_the_plain_rule_on_whole_numbers_with_many_ties():
    rng = np.random.default_rng(3)
    X, y = rng.integers(-2, 3, size=(200, 3)).astype(float), rng.choice([-1, 1], size=200)
    _, mistakes, _ = plain_perceptron(X, y, [np.arange(200)] * 5)
    model = Perceptron(shuffle=False, max_iter=5, tol=None, history=True).fit(X, y)
    np.testing.assert_array_equal(model.history_.rows, mistakes)


def test_large_data_are_measured_outside_of_the_loop_with_the_same_mistakes():
    X, y = separable(30_000, 12, margin=0.02)  # more values than are measured inside
    model = Perceptron(shuffle=False, history=True).fit(X, y)
    rows, w, expected = np.column_stack([X, np.ones(len(X))]), np.zeros(13), []
    for number in range(model.n_iter_):
        i = 0
        while i < len(X):  # the next mistake, by one product for all rows to come
            wrong = np.flatnonzero(y[i:] * (rows[i:] @ w) <= 0)
            if not len(wrong):
                break
            i += wrong[0]
            w += y[i] * rows[i]
            expected.append((number, i))
            i += 1
    np.testing.assert_array_equal(np.column_stack([model.history_.passes, model.history_.rows]), expected)
    assert model.converged_
    assert model.score(X, y) == 1.0


def test_order_given_is_the_order_walked():
    X, y = overlapping(50, 3)
    order = np.random.default_rng(5).permutation(50)
    _, mistakes, _ = plain_perceptron(X, y, [order] * 4)
    model = Perceptron(order=order, max_iter=4, tol=None, history=True).fit(X, y)
    np.testing.assert_array_equal(model.history_.rows, mistakes)


def test_scikit_learn_walks_the_same_way_without_shuffling():
    X, y = overlapping(80, 4)
    theirs = Theirs(shuffle=False, tol=None, max_iter=7).fit(X, y)
    model = Perceptron(shuffle=False, tol=None, max_iter=7, history=True).fit(X, y)
    np.testing.assert_allclose(model.history_.weights[-1], theirs.coef_[0], rtol=1e-12)
    np.testing.assert_allclose(model.history_.intercepts[-1], theirs.intercept_[0], rtol=1e-12)


@pytest.mark.parametrize("penalty", ["l2", "l1", "elasticnet"])
def test_scikit_learn_shrinks_the_same_way(penalty):
    X, y = overlapping(120, 4)
    chosen = {"penalty": penalty, "alpha": 0.01, "shuffle": False, "tol": None, "max_iter": 6}
    ours, theirs = Perceptron(**chosen).fit(X, y), Theirs(**chosen).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-9)
    sparse = Perceptron(**chosen).fit(scipy.sparse.csr_array(X), y)
    np.testing.assert_array_equal(sparse.coef_, ours.coef_)


# Certificates


@pytest.mark.parametrize("init", ["zero", "basic"])
@pytest.mark.parametrize("eta0", [1.0, 0.3])
def test_weights_are_the_sum_over_mistakes_and_their_number_is_bounded(init, eta0):
    X, y = separable(200, 5)
    model = Perceptron(init=init, eta0=eta0, history=True).fit(X, y)
    start = np.append(model.history_.weights[0], model.history_.intercepts[0])
    rows = np.column_stack([X, np.ones(len(X))])
    by_mistakes = start + eta0 * (model.mistakes_ * y) @ rows
    np.testing.assert_allclose(np.append(model.coef_, model.intercept_), by_mistakes, rtol=1e-10, atol=1e-10)
    assert model.mistakes_.sum() == model.n_updates_ <= model.novikoff_bound_
    w = np.append(model.coef_, model.intercept_)
    gamma = (y * (rows @ w)).min() / np.linalg.norm(w)
    far = 2 * gamma * np.linalg.norm(start) / eta0
    bound = ((rows**2).sum(axis=1).max() + far) / gamma**2
    assert model.novikoff_bound_ == pytest.approx(bound)
    assert gamma <= model.margin_bound_  # what the mistakes prove holds for the plane that was found
    assert model.margin_ == pytest.approx(np.abs(model.signed_distance(X)).min())


def test_basic_start_is_the_bisector_of_the_means():
    X, y = overlapping(100, 3)
    first = Perceptron(init="basic", history=True, max_iter=1).fit(X, y).history_
    positive, negative = X[y == 1].mean(axis=0), X[y == -1].mean(axis=0)
    np.testing.assert_allclose(first.weights[0], positive - negative)
    middle = (positive + negative) / 2
    assert first.weights[0] @ middle + first.intercepts[0] == pytest.approx(0, abs=1e-12)


def test_goes_on_to_separate_where_scikit_learn_stops_with_errors_left():
    X, y = separable(3000, 10, seed=4, margin=0.01)
    assert Theirs().fit(X, y).score(X, y) < 1.0
    model = Perceptron().fit(X, y)
    assert model.converged_
    assert model.score(X, y) == 1.0


def test_without_separation_it_ends_with_the_best_weights_seen_and_a_proof():
    X, y = overlapping(500, 4)
    model = Perceptron().fit(X, y)
    assert not model.converged_
    assert model.stopping_reason_ == "no improvement"
    longest = np.sqrt((X**2).sum(axis=1).max() + 1)
    assert model.margin_bound_ <= 1e-3 * longest
    assert model.novikoff_bound_ == np.inf
    assert model.margin_ < 0
    assert model.score(X, y) >= Theirs().fit(X, y).score(X, y)
    last = Perceptron(max_iter=model.n_iter_, tol=None, history=True).fit(X, y).history_
    errors = [(y * (X @ w + b) <= 0).sum() for w, b in zip(last.weights, last.intercepts, strict=True)]
    assert (model.predict(X) != y).sum() <= np.median(errors)


@pytest.mark.parametrize("scheme", ["one-vs-rest", "one-vs-one", "nested"])
def test_dual_coefficients_make_the_weights(scheme):
    X, y = separable(60, 3)
    y = np.where((y == 1) & (X[:, 0] > 0), 2, y)
    model = Perceptron(multi_class=scheme, eta0=0.5, tol=None, max_iter=5000).fit(X, y)
    assert model.dual_coef_.shape == (len(model.coef_), len(X))
    solved = np.array(model.stopping_reason_) == "no mistake"
    assert solved.any()
    np.testing.assert_allclose((model.dual_coef_ @ X)[solved], model.coef_[solved], atol=1e-9)
    np.testing.assert_allclose(model.dual_coef_.sum(axis=1)[solved], model.intercept_[solved])


def test_average_of_the_weights_over_all_visits():
    X, y = overlapping(40, 2)
    model = Perceptron(shuffle=False, averaged=True, max_iter=3, tol=None).fit(X, y)
    w, total, seen = np.zeros(3), np.zeros(3), 0
    for _ in range(3):
        for x, side in zip(np.column_stack([X, np.ones(40)]), y, strict=True):
            if side * (w @ x) <= 0:
                w = w + side * x
            total, seen = total + w, seen + 1
    np.testing.assert_allclose(np.append(model.coef_, model.intercept_), total / seen, rtol=1e-12)


# Weights, threads, early stopping, warm start


def test_whole_weights_are_repeated_rows_in_place_and_zero_is_absent():
    rng = np.random.default_rng(7)
    X, y = rng.integers(-4, 5, size=(60, 3)).astype(float), rng.choice([-1, 1], size=60)
    weight = rng.integers(0, 4, size=60)
    again = np.repeat(np.arange(60), weight)
    chosen = {"shuffle": False, "max_iter": 20, "tol": None}
    weighted = Perceptron(**chosen).fit(X, y, sample_weight=weight)
    repeated = Perceptron(**chosen).fit(X[again], y[again])
    np.testing.assert_array_equal(weighted.mistakes_, np.bincount(again, repeated.mistakes_, minlength=60))
    present = weight > 0
    shuffled = Perceptron(max_iter=20, tol=None).fit(X, y, sample_weight=weight.clip(max=1))
    without = Perceptron(max_iter=20, tol=None).fit(X[present], y[present])
    np.testing.assert_array_equal(shuffled.coef_, without.coef_)


def test_class_weights_multiply():
    X, y = overlapping(80, 3)
    by_class = Perceptron(class_weight={1: 3.0, -1: 0.5}).fit(X, y)
    by_row = Perceptron().fit(X, y, sample_weight=np.where(y == 1, 3.0, 0.5))
    np.testing.assert_array_equal(by_class.coef_, by_row.coef_)


@pytest.mark.parametrize("rows", [500, 30_000])
def test_threads_change_nothing(rows):
    X, y = overlapping(rows, 10)
    y = np.where(X[:, 0] > 1, 7, y)
    one, two = (Perceptron(n_jobs=n_jobs, max_iter=4).fit(X, y) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.coef_, two.coef_)
    np.testing.assert_array_equal(one.mistakes_, two.mistakes_)


def test_early_stopping_takes_the_weights_that_the_rows_set_aside_prefer():
    X, y = overlapping(600, 4)
    model = Perceptron(early_stopping=True, validation_fraction=0.25).fit(X, y)
    assert model.stopping_reason_ in ("no improvement", "no mistake")
    assert (model.mistakes_ == 0).sum() >= 150
    assert model.score(X, y) > 0.8


def test_warm_start_begins_where_the_last_fit_ended():
    X, y = separable(100, 3)
    model = Perceptron(warm_start=True).fit(X, y)
    before = model.coef_.copy()
    model.fit(X, y)
    assert model.n_updates_ == 0
    np.testing.assert_array_equal(model.coef_, before)
    from_there = Perceptron().fit(X, y, coef_init=before, intercept_init=model.intercept_)
    assert from_there.n_updates_ == 0


# Online


@pytest.mark.parametrize("averaged", [False, True])
def test_partial_fit_goes_on_where_it_was(averaged):
    X, y = overlapping(90, 3)
    online = Perceptron(averaged=averaged)
    for part in np.split(np.arange(90), 3):
        online.partial_fit(X[part], y[part], classes=[-1, 1])
    at_once = Perceptron(averaged=averaged, shuffle=False, max_iter=1, tol=None, history=True).fit(X, y)
    expected = at_once.coef_[0] if averaged else at_once.history_.weights[-1]
    np.testing.assert_allclose(online.coef_[0], expected, rtol=1e-12)
    assert online.n_updates_ == at_once.n_updates_
    np.testing.assert_array_equal(online.mistakes_, at_once.mistakes_[60:])


def test_partial_fit_on_one_class_at_a_time_and_bad_calls():
    X, y = separable(40, 2)
    model = Perceptron()
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        model.partial_fit(X, y)
    model.partial_fit(X[y == 1], y[y == 1], classes=[-1, 1])
    model.partial_fit(X[y == -1], y[y == -1])
    with pytest.raises(ValueError, match="not among classes"):
        model.partial_fit(X, np.full(40, 5))
    with pytest.raises(ValueError, match="not the same as on last call"):
        model.partial_fit(X, y, classes=[1, 2])


# Several classes


@pytest.mark.parametrize("scheme", ["one-vs-rest", "one-vs-one", "nested"])
def test_separable_classes_are_told_apart_under_every_scheme(scheme):
    rng = np.random.default_rng(2)
    y = rng.choice(["a", "b", "c", "d"], size=200)
    corners = {"a": (5, 0), "b": (-5, 0), "c": (0, 5), "d": (0, -5)}
    X = np.array([corners[label] for label in y]) + rng.uniform(-1, 1, size=(200, 2))
    model = Perceptron(multi_class=scheme).fit(X, y)
    assert model.converged_
    assert model.score(X, y) == 1.0
    assert model.coef_.shape == (len(model.two_class_problems_), 2)
    assert model.mistakes_.shape == (len(model.two_class_problems_), 200)
    assert model.decision_function(X).shape == (200, 4)


def test_nested_sequence_in_a_given_order():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array(["a", "b", "c", "d"])
    model = Perceptron(multi_class="nested", class_order=["a", "b", "c", "d"]).fit(X, y)
    np.testing.assert_array_equal(
        model.predict(X), y
    )  # no plane splits off b from a, c and d: this order does
    with pytest.raises(ValueError, match="class_order must name each of the classes"):
        Perceptron(multi_class="nested", class_order=["a", "b"]).fit(X, y)


def test_each_problem_is_a_perceptron_of_its_own():
    X, y = overlapping(150, 3)
    y = np.where(X[:, 1] > 1, 2, y)
    model = Perceptron(max_iter=5).fit(X, y)
    for code, label in enumerate(model.classes_):
        alone = Perceptron(max_iter=5).fit(X, y == label)
        np.testing.assert_array_equal(model.coef_[code], alone.coef_[0])


# Edges and bad input


def test_mistakes_stay_behind_when_a_model_is_pickled():
    X, y = separable(50, 2)
    back = pickle.loads(pickle.dumps(Perceptron().fit(X, y)))
    with pytest.raises(AttributeError, match="a model that was pickled"):
        _ = back.mistakes_


def test_sparse_coefficients_predict_the_same():
    X, y = separable(50, 4)
    model = Perceptron().fit(X, y)
    expected, distances = model.decision_function(X), model.signed_distance(X)
    model.sparsify()
    assert scipy.sparse.issparse(model.coef_)
    np.testing.assert_array_equal(model.decision_function(X), expected)
    np.testing.assert_allclose(model.signed_distance(scipy.sparse.csr_array(X)), distances, rtol=1e-12)
    assert isinstance(model.densify().coef_, np.ndarray)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"eta0": 0}, "eta0 must be a number above 0"),
        ({"max_iter": 0}, "max_iter must be a whole number at least 1"),
        ({"tol": -1.0}, "tol must be a number at least 0"),
        ({"penalty": "l3"}, "penalty must be one of"),
        ({"init": "random"}, "init must be one of"),
        ({"multi_class": "all"}, "multi_class must be one of"),
        ({"order": [0, 0, 1]}, "order must name each of the 4 rows once"),
        ({"penalty": "l2", "averaged": True}, "have no meaning with a penalty"),
        ({"class_order": ["a", "b"]}, "goes with a nested sequence"),
    ],
)
def test_bad_parameters(changed, message):
    with pytest.raises((ValueError, TypeError), match=message):
        Perceptron(**changed).fit([[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"])


def test_values_that_cannot_be_walked_over_are_named():
    X, y = separable(40, 3)
    for penalty in (None, "l2", "l1"):
        for value, name in ((np.nan, "NaN"), (np.inf, "inf")):
            X[7, 1] = value
            with pytest.raises(ValueError, match=f"X contains {name} in row 7, column 1"):
                Perceptron(penalty=penalty).fit(X, y)
    X[7, 1] = 1e200
    with pytest.raises(ValueError, match="squares overflow"):
        Perceptron().fit(X, y)


def test_weights_that_remove_a_class():
    with pytest.raises(ValueError, match="one class"):
        Perceptron().fit([[0.0], [1.0]], ["a", "b"], sample_weight=[1.0, 0.0])


@settings(deadline=None, max_examples=60)
@given(awkward_tables(min_rows=2, troubles=TROUBLES), st.integers(0, 2**31))
def test_awkward_tables_are_walked_over_as_the_plain_rule_does(table, seed):
    y = np.random.default_rng(seed).choice([-1, 1], size=len(table))
    y[:2] = -1, 1
    _, mistakes, _ = plain_perceptron(table, y, [np.arange(len(table))] * 6)
    model = Perceptron(shuffle=False, max_iter=6, tol=None, history=True).fit(table, y)
    np.testing.assert_array_equal(model.history_.rows, mistakes)
    sparse = Perceptron(shuffle=False, max_iter=6, tol=None).fit(scipy.sparse.csr_array(table), y)
    np.testing.assert_array_equal(sparse.mistakes_, model.mistakes_)
    Perceptron(max_iter=50).fit(table, y).predict(table)
