"""Leaves as segments of the ROC curve, operating points, and pruning."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.metrics import roc_auc_score

from bisector import DecisionTreeClassifier, DecisionTreeRegressor


def data(n, seed, n_classes=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)).round(1)
    return X, (rng.integers(0, 4, size=n) + (X[:, 0] > 0)) % n_classes


# Ranking


@given(n=st.integers(4, 120), seed=st.integers(0, 10**6), depth=st.integers(1, 6))
@settings(max_examples=40, deadline=None)
def test_the_training_curve_is_convex_and_that_of_the_probabilities(n, seed, depth):
    X, y = data(n, seed)
    y[:2] = 0, 1
    model = DecisionTreeClassifier(max_depth=depth).fit(X, y)
    ranking = model.roc_segments_
    assert (np.diff(ranking.probability) <= 0).all()
    slopes = ranking.slope
    assert (slopes[1:] <= slopes[:-1] * (1 + 1e-12)).all()
    curve = ranking.curve
    with np.errstate(divide="ignore"):
        steps = np.diff(curve.tpr) / np.diff(curve.fpr)
    assert (steps[1:] < steps[:-1]).all()
    assert curve.auc == pytest.approx(roc_auc_score(y, model.predict_proba(X)[:, 1]))
    # No other order of the leaves lies above it: any pair swapped covers less.
    negatives, positives = ranking.coverage
    assert (negatives[-1], positives[-1]) == pytest.approx(((y == 0).sum(), (y == 1).sum()))


def test_a_split_never_lowers_the_curve():
    X, y = data(200, 1)
    areas = [
        DecisionTreeClassifier(max_depth=depth).fit(X, y).roc_segments_.curve.auc for depth in range(1, 9)
    ]
    assert (np.diff(areas) >= -1e-12).all()


def test_labels_of_leaves_by_cost():
    X, y = data(300, 2)
    model = DecisionTreeClassifier(max_depth=4).fit(X, y)
    for false_positive, false_negative in [(1, 1), (1, 5), (5, 1), (0, 1), (1, 0)]:
        point, labels = model.operating_point(
            false_positive_cost=false_positive, false_negative_cost=false_negative
        )
        predicted = model.predict_at(X, labels)

        def cost(answers, a=false_positive, b=false_negative):
            return (a * ((answers == 1) & (y == 0)).sum() + b * ((answers == 0) & (y == 1)).sum()) / len(y)

        assert cost(predicted) == pytest.approx(point.cost)
        leaves = model.apply(X)
        # Leaf by leaf, no other label costs less.
        for leaf in np.unique(leaves):
            inside = leaves == leaf
            flipped = np.where(inside, 1 - predicted, predicted)
            assert cost(flipped) >= cost(predicted) - 1e-12
    equal = model.operating_point()[1]
    assert np.mean(model.predict_at(X, equal) == y) == model.score(X, y)


def test_the_class_ratio_moves_the_operating_point():
    X, y = data(300, 2)
    model = DecisionTreeClassifier(max_depth=4).fit(X, y)
    shares = [model.operating_point(class_ratio=ratio)[0].fpr for ratio in (0.01, 1.0, 100.0)]
    assert shares == sorted(shares)
    assert shares[0] < shares[2]


def test_bad_operating_points_and_rankings():
    X, y = data(60, 0)
    model = DecisionTreeClassifier(max_depth=2).fit(X, y)
    with pytest.raises(ValueError, match="at least 0"):
        model.operating_point(false_positive_cost=-1)
    with pytest.raises(ValueError, match="both zero"):
        model.operating_point(false_positive_cost=0, false_negative_cost=0)
    with pytest.raises(ValueError, match="no entry for leaf"):
        model.predict_at(X, {})
    many = DecisionTreeClassifier(max_depth=2).fit(*data(60, 0, 3))
    with pytest.raises(ValueError, match="say which is positive"):
        many.ranking()
    assert not hasattr(many, "roc_segments_")
    assert many.ranking(2).curve.auc > 0.5
    with pytest.raises(ValueError, match="had the classes"):
        many.ranking(9)
    with pytest.raises(AttributeError, match="say which is positive"):
        _ = DecisionTreeClassifier().fit(X, np.ones(60)).roc_segments_


# Pruning


def all_prunings(tree, node=0):
    """Every set of nodes to cut, as the leaves that remain."""
    children = tree.children_of(np.array([node])).tolist()
    yield [node]
    if children:
        for left in all_prunings(tree, children[0]):
            for right in all_prunings(tree, children[1]):
                yield left + right


@given(seed=st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_no_pruned_tree_errs_less_on_the_pruning_set(seed):
    X, y = data(30, seed, 3)
    others, labels = data(25, seed + 1, 3)
    model = DecisionTreeClassifier(max_depth=3).fit(X, y)
    pruned = model.prune(others, labels)
    passed = model.decision_path(others).toarray().astype(bool)
    answers = model.classes_[model.tree_.value[:, 0].argmax(axis=1)]
    best = min(
        sum((labels[passed[:, leaf]] != answers[leaf]).sum() for leaf in leaves)
        for leaves in all_prunings(model.tree_)
    )
    assert (pruned.predict(others) != labels).sum() == best
    assert pruned.score(X, y) <= model.score(X, y)
    assert pruned.score(others, labels) >= model.score(others, labels)
    assert pruned.get_n_leaves() <= model.get_n_leaves()


@pytest.mark.parametrize("parameters", [{}, {"criterion": "absolute"}, {"leaf": "linear", "max_depth": 3}])
def test_pruned_regression_trees(parameters):
    rng = np.random.default_rng(0)
    X, others = rng.normal(size=(2, 200, 3))
    y, wanted = (rows[:, 0] + rng.normal(size=200) for rows in (X, others))
    model = DecisionTreeRegressor(**parameters).fit(X, y)
    pruned = model.prune(others, wanted)
    assert pruned.get_n_leaves() < model.get_n_leaves()

    def error(tree):
        off = np.abs(tree.predict(others) - wanted)
        return off.sum() if parameters.get("criterion") == "absolute" else (off**2).sum()

    assert error(pruned) <= error(model) + 1e-9
    weighed = model.prune(others, wanted, sample_weight=np.ones(200))
    assert weighed.get_n_leaves() == pruned.get_n_leaves()


def test_an_empty_pruning_set_is_refused():
    X, y = data(40, 0)
    with pytest.raises(ValueError, match="minimum of 1"):
        DecisionTreeClassifier().fit(X, y).prune(np.empty((0, 3)), [])


def test_labels_that_the_tree_does_not_know_are_wrong_everywhere():
    X, y = data(40, 0)
    pruned = DecisionTreeClassifier().fit(X, y).prune(X, np.full(40, 7))
    assert pruned.get_n_leaves() == 1


def test_leaves_of_one_label_are_merged():
    X, y = data(200, 3)
    y = np.where(np.random.default_rng(0).random(200) < 0.5, 1, y)
    model = DecisionTreeClassifier(max_depth=5).fit(X, y)
    merged = model.merge_equal_leaves()
    assert merged.get_n_leaves() < model.get_n_leaves()
    np.testing.assert_array_equal(merged.predict(X), model.predict(X))
    tree = merged.tree_
    answers = tree.value[:, 0].argmax(axis=1)
    for node in np.flatnonzero(~tree.is_leaf):
        children = tree.children_of(np.array([node]))
        assert not (tree.is_leaf[children].all() and len(set(answers[children])) == 1)


def test_cost_complexity_by_trying_all():
    X, y = data(40, 5)
    whole = DecisionTreeClassifier(max_depth=3).fit(X, y).tree_
    risk = whole.n_node_samples * whole.impurity / 40
    for alpha in (0.001, 0.01, 0.03, 0.1):
        pruned = DecisionTreeClassifier(max_depth=3, ccp_alpha=alpha).fit(X, y).tree_
        best = min(sum(risk[leaf] + alpha for leaf in leaves) for leaves in all_prunings(whole))
        leaves = pruned.is_leaf
        found = (pruned.n_node_samples * pruned.impurity)[leaves].sum() / 40 + alpha * leaves.sum()
        assert found == pytest.approx(best, abs=1e-12)
