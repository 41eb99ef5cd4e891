"""Linear models: lines and planes fitted to data."""

from .basic_linear_classifier import BasicLinearClassifier
from .coefficient_paths import enet_path, lasso_path
from .elastic_net import ElasticNet
from .exact_path import lasso_knots
from .kernel_perceptron import KernelPerceptron
from .kernel_ridge import KernelRidge
from .lasso import Lasso
from .lasso_cv import ElasticNetCV, LassoCV
from .least_squares_classifier import LeastSquaresClassifier
from .linear_regression import LinearRegression
from .logistic_regression import LogisticRegression
from .perceptron import Perceptron
from .perceptron_regressor import PerceptronRegressor
from .ridge import Ridge
from .ridge_cv import RidgeCV
from .separability import linear_separability
from .total_least_squares import TotalLeastSquares

__all__ = [
    "BasicLinearClassifier",
    "ElasticNet",
    "ElasticNetCV",
    "KernelPerceptron",
    "KernelRidge",
    "Lasso",
    "LassoCV",
    "LeastSquaresClassifier",
    "LinearRegression",
    "LogisticRegression",
    "Perceptron",
    "PerceptronRegressor",
    "Ridge",
    "RidgeCV",
    "TotalLeastSquares",
    "enet_path",
    "lasso_knots",
    "lasso_path",
    "linear_separability",
]
