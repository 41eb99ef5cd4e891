"""Linear models: lines and planes fitted to data."""

from .basic_linear_classifier import BasicLinearClassifier
from .kernel_ridge import KernelRidge
from .least_squares_classifier import LeastSquaresClassifier
from .linear_regression import LinearRegression
from .logistic_regression import LogisticRegression
from .ridge import Ridge
from .ridge_cv import RidgeCV
from .separability import linear_separability
from .total_least_squares import TotalLeastSquares

__all__ = [
    "BasicLinearClassifier",
    "KernelRidge",
    "LeastSquaresClassifier",
    "LinearRegression",
    "LogisticRegression",
    "Ridge",
    "RidgeCV",
    "TotalLeastSquares",
    "linear_separability",
]
