"""Radial basis functions: every row, or a few centres, raise a bump, and the bumps add up to an answer."""

from bisector.rbf.rbf_classifier import RBFClassifier as RBFClassifier
from bisector.rbf.rbf_network_classifier import RBFNetworkClassifier as RBFNetworkClassifier
from bisector.rbf.rbf_network_regressor import RBFNetworkRegressor as RBFNetworkRegressor
from bisector.rbf.rbf_regressor import RBFRegressor as RBFRegressor
from bisector.rbf.similarity_classifier import SimilarityClassifier as SimilarityClassifier
