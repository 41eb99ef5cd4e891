"""Trees: decision, ranking, probability, regression and clustering trees; pruning and reading them."""

from bisector.trees.clustering_tree import ClusteringTree
from bisector.trees.decision_tree_classifier import DecisionTreeClassifier
from bisector.trees.decision_tree_regressor import DecisionTreeRegressor
from bisector.trees.oversampling import oversample

__all__ = ["ClusteringTree", "DecisionTreeClassifier", "DecisionTreeRegressor", "oversample"]
