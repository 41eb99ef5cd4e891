"""Trees as estimators: beside scikit-learn's, on awkward input, and what their parameters do."""

import warnings

import numpy as np
import pytest
import scipy.sparse
from sklearn.tree import DecisionTreeClassifier as TheirClassifier, DecisionTreeRegressor as TheirRegressor

import bisector
from bisector import DecisionTreeClassifier, DecisionTreeRegressor, oversample


def classes(n=300, d=5, seed=0, n_classes=2):
    rng = np.random.default_rng(seed)
    # Single precision, so that both libraries see the same numbers.
    X = rng.normal(size=(n, d)).astype(np.float32).astype(np.float64)
    score = X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * rng.normal(size=n)
    return X, np.digitize(score, np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1]))


def numbers(n=300, seed=0):
    X, _ = classes(n, seed=seed)
    return X, X[:, 0] + X[:, 1] ** 2 + np.random.default_rng(seed + 1).normal(size=n)


# Beside scikit-learn


@pytest.mark.parametrize("criterion", ["gini", "entropy", "log_loss"])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("limits", [{}, {"max_depth": 3}, {"min_samples_leaf": 7}, {"max_leaf_nodes": 9}])
def test_training_accuracy_and_root_of_scikit_learn(criterion, n_classes, limits):
    X, y = classes(n_classes=n_classes)
    ours = DecisionTreeClassifier(criterion=criterion, **limits).fit(X, y)
    theirs = TheirClassifier(criterion=criterion, random_state=0, **limits).fit(X, y)
    assert ours.tree_.feature[0] == theirs.tree_.feature[0]
    assert ours.tree_.threshold[0] == theirs.tree_.threshold[0]
    if not limits or n_classes == 2:  # ties among equal splits may send rows elsewhere deeper down
        assert ours.score(X, y) == pytest.approx(theirs.score(X, y), abs=0.011)
    if not limits:
        assert ours.score(X, y) == 1.0


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
def test_splits_values_and_impurities_of_scikit_learn(criterion):
    X, y = numbers()
    y = np.abs(y) if criterion == "poisson" else y
    ours = DecisionTreeRegressor(criterion=criterion, max_depth=3, min_samples_leaf=5).fit(X, y).tree_
    theirs = (
        TheirRegressor(criterion=criterion, max_depth=3, min_samples_leaf=5, random_state=0).fit(X, y).tree_
    )
    np.testing.assert_array_equal(ours.feature, theirs.feature)
    np.testing.assert_allclose(ours.threshold, theirs.threshold)
    np.testing.assert_allclose(ours.value, theirs.value)
    np.testing.assert_allclose(ours.impurity, theirs.impurity)
    np.testing.assert_array_equal(ours.children_left, theirs.children_left)
    np.testing.assert_array_equal(ours.children_right, theirs.children_right)
    np.testing.assert_array_equal(ours.n_node_samples, theirs.n_node_samples)
    np.testing.assert_allclose(
        ours.compute_feature_importances(), theirs.compute_feature_importances(), atol=1e-12
    )


def test_walks_and_paths_of_scikit_learn():
    X, y = numbers()
    ours, theirs = (
        kind(max_depth=4, min_samples_leaf=5).fit(X, y) for kind in (DecisionTreeRegressor, TheirRegressor)
    )
    np.testing.assert_array_equal(ours.apply(X), theirs.apply(X))
    assert (ours.decision_path(X) != theirs.decision_path(X)).nnz == 0
    assert (ours.get_depth(), ours.get_n_leaves()) == (theirs.get_depth(), theirs.get_n_leaves())


def test_largest_gains_first_as_scikit_learn_numbers_them():
    X, y = numbers()
    ours, theirs = (
        kind(max_leaf_nodes=12).fit(X, y).tree_ for kind in (DecisionTreeRegressor, TheirRegressor)
    )
    np.testing.assert_array_equal(ours.feature, theirs.feature)
    np.testing.assert_allclose(ours.threshold, theirs.threshold)
    np.testing.assert_array_equal(ours.children_left, theirs.children_left)


def test_cost_complexity_path_of_scikit_learn():
    X, y = numbers(120)
    ours = DecisionTreeRegressor().cost_complexity_pruning_path(X, y)
    theirs = TheirRegressor(random_state=0).cost_complexity_pruning_path(X, y)
    np.testing.assert_allclose(ours.ccp_alphas, theirs.ccp_alphas, atol=1e-12)
    np.testing.assert_allclose(ours.impurities, theirs.impurities, atol=1e-10)
    for alpha in ours.ccp_alphas[[3, 30, -2]] * 1.0001:
        pruned, peer = (
            kind(ccp_alpha=alpha).fit(X, y).tree_ for kind in (DecisionTreeRegressor, TheirRegressor)
        )
        assert pruned.n_leaves == peer.n_leaves


def test_missing_values_as_scikit_learn_sends_them():
    X, y = classes(200)
    X[np.random.default_rng(1).random(X.shape) < 0.2] = np.nan
    ours, theirs = DecisionTreeClassifier(max_depth=1).fit(X, y), TheirClassifier(max_depth=1).fit(X, y)
    assert ours.tree_.threshold[0] == theirs.tree_.threshold[0]
    assert ours.tree_.missing_go_to_left[0] == theirs.tree_.missing_go_to_left[0]
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    # Where none was missing in training, one that is goes to the larger child.
    X, y = classes(200)
    ours, theirs = DecisionTreeClassifier(max_depth=2).fit(X, y), TheirClassifier(max_depth=2).fit(X, y)
    nothing = np.full((1, 5), np.nan)
    assert ours.apply(nothing) == theirs.apply(nothing)


@pytest.mark.parametrize("direction", [1, -1])
def test_monotone_constraints(direction):
    X, y = numbers(500)
    labels = (y > np.median(y)).astype(int)
    cst = [direction, 0, 0, 0, 0]
    steps = np.zeros((50, 5))
    steps[:, 0] = np.linspace(-3, 3, 50)
    for other in np.random.default_rng(0).normal(size=(20, 5)):
        rows = steps + np.r_[0, other[1:]]
        model = DecisionTreeRegressor(monotonic_cst=cst, max_depth=6).fit(X, y)
        assert (direction * np.diff(model.predict(rows)) >= 0).all()
        model = DecisionTreeClassifier(monotonic_cst=cst, max_depth=6).fit(X, labels)
        assert (direction * np.diff(model.predict_proba(rows)[:, 1]) >= -1e-12).all()
    ours, theirs = (
        kind(monotonic_cst=cst, max_depth=4, min_samples_leaf=5).fit(X, y)
        for kind in (DecisionTreeRegressor, TheirRegressor)
    )
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X))


def test_several_outputs():
    X, y = classes(n_classes=3)
    both = np.column_stack([y, y > 1])
    model = DecisionTreeClassifier(max_depth=4).fit(X, both)
    theirs = TheirClassifier(max_depth=4, random_state=0).fit(X, both)
    assert [p.shape for p in model.predict_proba(X)] == [(300, 3), (300, 2)]
    np.testing.assert_array_equal(model.predict(X), theirs.predict(X))
    X, y = numbers()
    both = np.column_stack([y, -(y**2)])
    np.testing.assert_allclose(
        DecisionTreeRegressor(max_depth=4).fit(X, both).predict(X),
        TheirRegressor(max_depth=4).fit(X, both).predict(X),
    )


# Weights, types, containers


@pytest.mark.parametrize("criterion", ["gini", "entropy", "sqrt-gini", "minority"])
def test_whole_weights_are_repeated_rows(criterion):
    X, y = classes(150, n_classes=3)
    weight = np.random.default_rng(2).integers(0, 4, size=150)
    repeated = np.repeat(np.arange(150), weight)
    a = DecisionTreeClassifier(criterion=criterion).fit(X, y, sample_weight=weight)
    b = DecisionTreeClassifier(criterion=criterion).fit(X[repeated], y[repeated])
    np.testing.assert_array_equal(a.tree_.threshold, b.tree_.threshold)
    np.testing.assert_array_equal(a.tree_.value, b.tree_.value)


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
def test_whole_weights_are_repeated_rows_for_numbers(criterion):
    X, y = numbers(150)
    y = np.abs(y)
    weight = np.random.default_rng(2).integers(0, 4, size=150)
    repeated = np.repeat(np.arange(150), weight)
    a = DecisionTreeRegressor(criterion=criterion, max_depth=5).fit(X, y, sample_weight=weight)
    b = DecisionTreeRegressor(criterion=criterion, max_depth=5).fit(X[repeated], y[repeated])
    np.testing.assert_array_equal(a.tree_.threshold, b.tree_.threshold)
    np.testing.assert_allclose(a.tree_.value, b.tree_.value)


def test_class_weights():
    X, y = classes(200)
    weighed = DecisionTreeClassifier(class_weight={0: 3, 1: 1}).fit(X, y)
    same = DecisionTreeClassifier().fit(X, y, sample_weight=np.where(y == 0, 3, 1))
    np.testing.assert_array_equal(weighed.tree_.threshold, same.tree_.threshold)
    balanced = DecisionTreeClassifier(class_weight="balanced", max_depth=1).fit(X[:150], y[:150])
    np.testing.assert_allclose(balanced.tree_.value[0, 0], [0.5, 0.5])
    with pytest.raises(ValueError, match="one an output"):
        DecisionTreeClassifier(class_weight=[{0: 1}, {0: 1}]).fit(X, y)


def test_sparse_rows_give_the_same_tree():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6)) * (rng.random((200, 6)) < 0.3)
    y = (X.sum(axis=1) > 0).astype(int)
    dense = DecisionTreeClassifier().fit(X, y)
    for form in (scipy.sparse.csr_matrix, scipy.sparse.csc_array, scipy.sparse.coo_array):
        model = DecisionTreeClassifier().fit(form(X), y)
        np.testing.assert_array_equal(model.tree_.threshold, dense.tree_.threshold)
        np.testing.assert_array_equal(model.predict(form(X)), dense.predict(X))
    with bisector.config(memory="1 MB"), pytest.raises(MemoryError, match="sorted order"):
        DecisionTreeClassifier().fit(
            scipy.sparse.random_array((2000, 100), density=0.01), np.arange(2000) % 2
        )


def test_close_numbers_are_told_apart():
    """scikit-learn rounds to single precision, in which these are equal."""
    X = 1e9 + np.array([[0.0], [1.0], [2.0], [3.0]])
    assert DecisionTreeClassifier().fit(X, [0, 1, 0, 1]).score(X, [0, 1, 0, 1]) == 1.0
    tiny = 1e-9 * np.array([1.0, 2.0, 3.0, 4.0])
    np.testing.assert_array_equal(DecisionTreeRegressor().fit(X, tiny).predict(X), tiny)


def test_infinite_values_are_just_large():
    X = np.array([[-np.inf], [0.0], [np.inf], [np.inf]])
    assert DecisionTreeClassifier().fit(X, [0, 1, 0, 0]).score(X, [0, 1, 0, 0]) == 1.0


@pytest.mark.parametrize("criterion", ["gini", "entropy", "sqrt-gini", "minority"])
def test_edges(criterion):
    model = DecisionTreeClassifier(criterion=criterion)
    one = model.fit([[1.0, 2.0]], ["only"])
    assert one.predict([[5.0, 5.0]]).tolist() == ["only"]
    assert one.get_n_leaves() == 1
    assert one.to_text() == "only (1 row)"
    assert one.rules()[0].premise == "always"
    constant = model.fit(np.zeros((6, 2)), [0, 1, 1, 0, 1, 2])
    assert constant.get_n_leaves() == 1
    assert constant.predict([[9.0, 9.0]]).tolist() == [1]
    equal = model.fit([[0.0], [0.0], [1.0]], [0, 1, 1])
    assert equal.predict_proba([[0.0]]).tolist() == [[0.5, 0.5]]
    missing = model.fit([[np.nan], [np.nan], [1.0]], [0, 0, 1])
    assert missing.predict([[np.nan], [1.0], [7.0]]).tolist() == [0, 1, 1]
    absent = model.fit([[np.nan], [np.nan]], [0, 1])
    assert absent.get_n_leaves() == 1
    assert DecisionTreeRegressor().fit([[1.0]], [3.0]).predict([[0.0]]).tolist() == [3.0]


def test_float32_stays_and_sums_do_not():
    X, y = numbers()
    narrow = DecisionTreeRegressor().fit(X.astype(np.float32), y.astype(np.float32))
    assert narrow.predict(X.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"criterion": "purity"}, "criterion must be one of"),
        ({"splitter": "worst"}, "splitter"),
        ({"max_depth": 0}, "max_depth"),
        ({"min_samples_split": 1}, "min_samples_split"),
        ({"min_samples_leaf": 1.0}, "min_samples_leaf"),
        ({"min_weight_fraction_leaf": 0.7}, "at most 0.5"),
        ({"max_features": 0}, "max_features"),
        ({"max_features": "all"}, "max_features"),
        ({"max_leaf_nodes": 1}, "max_leaf_nodes"),
        ({"ccp_alpha": -1.0}, "ccp_alpha"),
        ({"probabilities": "sure"}, "probabilities"),
        ({"smoothing": -1}, "smoothing"),
        ({"monotonic_cst": [2, 0, 0, 0, 0]}, "monotonic_cst"),
        ({"categorical_features": "all"}, "categorical_features"),
        ({"categorical_features": [9]}, "does not have"),
    ],
)
def test_bad_parameters(parameters, message):
    X, y = classes(40)
    with pytest.raises((ValueError, TypeError), match=message):
        DecisionTreeClassifier(**parameters).fit(X, y)


def test_poisson_needs_counts():
    X, y = numbers(20)
    with pytest.raises(ValueError, match="negative"):
        DecisionTreeRegressor(criterion="poisson").fit(X, y)


# Drawing features and thresholds


def test_features_and_thresholds_at_random():
    X, y = classes()
    grown = [
        DecisionTreeClassifier(splitter=splitter, max_features=drawn, random_state=seed).fit(X, y)
        for splitter, drawn, seed in [("random", None, 0), ("random", None, 0), ("random", None, 1)]
    ]
    assert all(model.score(X, y) == 1.0 for model in grown)
    np.testing.assert_array_equal(grown[0].tree_.threshold, grown[1].tree_.threshold)
    assert grown[0].tree_.threshold[0] != grown[2].tree_.threshold[0]
    for drawn, count in [("sqrt", 2), ("log2", 2), (0.5, 2), (3, 3), (1, 1), (None, 5)]:
        model = DecisionTreeClassifier(max_features=drawn, random_state=0).fit(X, y)
        assert model.max_features_ == count
        assert model.score(X, y) == 1.0
    constant = np.column_stack([np.zeros((300, 20)), X[:, 2]])
    # One feature is drawn; constant ones do not count as a try.
    assert DecisionTreeClassifier(max_features=1, random_state=0).fit(constant, y).get_depth() > 3


def test_features_are_drawn_evenly():
    """The root of 240 stumps on noise: each of 6 features about 40 times; off by 30 is 5 standard deviations."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 6)), rng.integers(0, 2, size=30)
    roots = [
        DecisionTreeClassifier(max_depth=1, max_features=1, random_state=seed).fit(X, y).tree_.feature[0]
        for seed in range(240)
    ]
    assert np.abs(np.bincount(roots, minlength=6) - 40).max() < 30


# Probabilities


def test_probabilities_of_a_leaf():
    X, y = np.zeros((10, 1)), np.array([0] * 7 + [1] * 2 + [2])
    wanted = {
        ("empirical", 1.0): [0.7, 0.2, 0.1],
        ("laplace", 5.0): [8 / 13, 3 / 13, 2 / 13],
        ("add-k", 0.5): [7.5 / 11.5, 2.5 / 11.5, 1.5 / 11.5],
        ("m-estimate", 3.0): [0.7, 0.2, 0.1],
    }
    for (estimate, strength), shares in wanted.items():
        model = DecisionTreeClassifier(probabilities=estimate, smoothing=strength).fit(X, y)
        np.testing.assert_allclose(model.predict_proba([[0.0]])[0], shares)
    X = np.r_[np.zeros(8), 1, 1][:, None]
    y = np.array([0] * 8 + [1] * 2)
    model = DecisionTreeClassifier(probabilities="m-estimate", smoothing=2.0).fit(X, y)
    np.testing.assert_allclose(model.predict_proba([[1.0]])[0], [(0 + 2 * 0.8) / 4, (2 + 2 * 0.2) / 4])
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(model.predict_log_proba([[1.0]]), np.log(model.predict_proba([[1.0]])))


@pytest.mark.parametrize("estimate", ["empirical", "laplace", "add-k", "m-estimate"])
def test_the_most_probable_class_is_predicted(estimate):
    X, y = classes(400, n_classes=3)
    model = DecisionTreeClassifier(probabilities=estimate, smoothing=7.0, max_depth=5).fit(X, y)
    shares = model.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_array_equal(model.predict(X), model.classes_[shares.argmax(axis=1)])


# Model trees


def test_planes_in_the_leaves():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(400, 2))
    y = np.where(X[:, 0] > 0, 5 + 3 * X[:, 1], -5 - 2 * X[:, 1])
    model = DecisionTreeRegressor(leaf="linear", max_depth=1).fit(X, y)
    np.testing.assert_allclose(model.predict(X), y, atol=1e-9)
    assert DecisionTreeRegressor(max_depth=1).fit(X, y).score(X, y) < 0.97
    level = DecisionTreeRegressor(leaf="linear", max_depth=1, leaf_penalty=1e12).fit(X, y)
    plain = DecisionTreeRegressor(max_depth=1).fit(X, y)
    np.testing.assert_allclose(level.predict(X), plain.predict(X), atol=1e-6)
    X[::9, 1] = np.nan
    assert np.isfinite(DecisionTreeRegressor(leaf="linear", max_depth=2).fit(X, y).predict(X)).all()
    # A leaf of no more rows than coefficients keeps its mean.
    np.testing.assert_array_equal(
        DecisionTreeRegressor(leaf="linear").fit(X[:3], y[:3]).predict(X[:3]), y[:3]
    )


def test_oversampling_repeats_the_small_class():
    X = np.arange(10.0)[:, None]
    y = np.array([0] * 7 + [1] * 3)
    more, labels = oversample(X, y)
    assert np.bincount(labels).tolist() == [7, 7]
    np.testing.assert_array_equal(more[:10], X)
    counts = np.bincount(more[:, 0].astype(int))[7:]
    assert sorted(counts.tolist()) == [2, 2, 3]
    np.testing.assert_array_equal(more, oversample(X, y, seed=0)[0])
    with pytest.raises(ValueError, match="one label"):
        oversample(X, np.column_stack([y, y]))


def test_a_frame_with_its_target_by_name():
    pandas = pytest.importorskip("pandas")
    X, y = classes(60)
    frame = pandas.DataFrame(X, columns=list("abcde")).assign(kind=np.where(y, "yes", "no"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = DecisionTreeClassifier().fit(frame, "kind")
        assert model.predict(frame.drop(columns="kind")).tolist() == frame["kind"].tolist()
    assert "kind" not in model.feature_names_in_
