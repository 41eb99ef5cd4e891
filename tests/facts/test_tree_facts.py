"""What the notes on Flach's chapter 5 say of trees."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bisector import ClusteringTree, DecisionTreeClassifier, DecisionTreeRegressor
from bisector.measures.impurity import impurity, relative_impurity, split_impurity
from bisector.measures.leaf_ranking import rank_leaves

SHARES = np.linspace(0.01, 0.99, 99)


def test_impurities_of_two_classes():
    for p in SHARES:
        counts = [p, 1 - p]
        assert impurity(counts, "minority") == pytest.approx(min(p, 1 - p))
        assert impurity(counts, "gini") == pytest.approx(2 * p * (1 - p))
        assert impurity(counts, "entropy") == pytest.approx(-p * np.log2(p) - (1 - p) * np.log2(1 - p))
        assert impurity(counts, "sqrt-gini") == pytest.approx(np.sqrt(2 * p * (1 - p)))


def test_impurity_of_a_split_is_the_weighted_mean_and_lies_on_the_chord():
    left, right = np.array([8.0, 2.0]), np.array([3.0, 7.0])
    for criterion in ("gini", "entropy", "minority"):
        mean = (10 * impurity(left, criterion) + 10 * impurity(right, criterion)) / 20
        assert split_impurity([left, right], criterion) == pytest.approx(mean)
        p = np.array([0.2, 0.7])
        heights = [impurity([1 - q, q], criterion) for q in p]
        assert np.interp(0.45, p, heights) == pytest.approx(mean)


splits = st.lists(st.integers(1, 30), min_size=4, max_size=4)


@given(counts=splits, times=st.integers(2, 20))
def test_relative_impurity_of_sqrt_gini_does_not_move_with_the_class_ratio(counts, times):
    children = np.reshape(counts, (2, 2))
    skewed = children * [1, times]
    np.testing.assert_allclose(
        relative_impurity(children, "sqrt-gini"), relative_impurity(skewed, "sqrt-gini"), rtol=1e-12
    )


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_relative_impurities_of_gini_and_entropy_do(criterion):
    children = np.array([[8, 2], [2, 8]])
    moved = relative_impurity(children * [10, 1], criterion) - relative_impurity(children, criterion)
    assert np.abs(moved).max() > 0.05


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_splits_that_change_places_when_one_class_grows(criterion):
    first, second = np.array([[32, 0], [8, 40]]), np.array([[0, 36], [40, 4]])

    def better(criterion, times):
        sums = [relative_impurity(children * [1, times], criterion).sum() for children in (first, second)]
        return int(np.argmin(sums))

    assert better(criterion, 1) != better(criterion, 10)
    assert better("sqrt-gini", 1) == better("sqrt-gini", 10)


def repeated(X, y, times):
    rows = np.concatenate([np.arange(len(y)), np.tile(np.flatnonzero(y == 1), times - 1)])
    return X[rows], y[rows]


def test_trees_grown_by_sqrt_gini_do_not_see_repeated_positives():
    """Oversampling increases training time, and may not change the model."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = (X[:, 0] + X[:, 1] ** 2 + 0.7 * rng.normal(size=300) > 1.5).astype(int)
    trees = {
        (criterion, times): DecisionTreeClassifier(criterion=criterion, max_depth=4).fit(
            *repeated(X, y, times)
        )
        for criterion in ("sqrt-gini", "gini")
        for times in (1, 7)
    }
    same = trees["sqrt-gini", 1].tree_, trees["sqrt-gini", 7].tree_
    np.testing.assert_array_equal(same[0].feature, same[1].feature)
    np.testing.assert_array_equal(same[0].threshold, same[1].threshold)
    assert trees["gini", 1].tree_.threshold.tolist() != trees["gini", 7].tree_.threshold.tolist()


def test_laplace_smoothing_can_reorder():
    """One of one falls below nine of ten."""
    empirical = rank_leaves(np.array([1, 2]), np.array([1.0, 9.0]), np.array([0.0, 1.0]))
    assert empirical.leaves.tolist() == [1, 2]
    assert (1 + 1) / (1 + 2) < (9 + 1) / (10 + 2)
    X = np.repeat([0.0, 1.0, 2.0], [1, 10, 10])[:, None]
    y = np.r_[1, [1] * 9, 0, [0] * 9, 1]
    tree = DecisionTreeClassifier(max_leaf_nodes=3, probabilities="laplace")
    shares = tree.fit(X, y).predict_proba([[0.0], [1.0]])[:, 1]
    np.testing.assert_allclose(shares, [2 / 3, 10 / 12])


def test_the_share_of_a_parent_is_the_mean_of_its_childrens():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(200, 3)), rng.integers(0, 3, size=200)
    tree = DecisionTreeClassifier(max_depth=4).fit(X, y).tree_
    for node in np.flatnonzero(~tree.is_leaf):
        children = tree.children_of(np.array([node]))
        mean = np.average(tree.value[children, 0], axis=0, weights=tree.n_node_samples[children])
        np.testing.assert_allclose(mean, tree.value[node, 0])


def test_a_tree_separates_any_data_that_are_labelled_consistently():
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    assert DecisionTreeClassifier().fit(X, [0, 1, 1, 0]).score(X, [0, 1, 1, 0]) == 1.0


def test_variance_of_labels_is_half_their_gini_index():
    y = np.array([0.0] * 3 + [1.0] * 5)
    X = np.arange(8.0)[:, None]
    numbers, labels = DecisionTreeRegressor().fit(X, y), DecisionTreeClassifier().fit(X, y)
    np.testing.assert_allclose(2 * numbers.tree_.impurity, labels.tree_.impurity)


def test_clustering_trees_reduce_the_mean_dissimilarity_of_pairs():
    X = np.random.default_rng(0).normal(size=(25, 2))
    tree = ClusteringTree("manhattan", max_leaf_nodes=4).fit(X)
    D = np.abs(X[:, None] - X[None]).sum(axis=2)
    assert tree.tree_.impurity[0] == pytest.approx(D.mean())
    within = sum(
        (tree.labels_ == k).sum() * D[np.ix_(tree.labels_ == k, tree.labels_ == k)].mean() for k in range(4)
    )
    leaves = tree.tree_.is_leaf
    totals = tree.tree_.impurity * tree.tree_.n_node_samples
    assert totals[leaves].sum() == pytest.approx(within)
    assert within < 25 * D.mean()
