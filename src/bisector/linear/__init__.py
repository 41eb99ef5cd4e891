"""Linear models: lines and planes fitted to data."""

from .kernel_ridge import KernelRidge
from .linear_regression import LinearRegression
from .logistic_regression import LogisticRegression
from .ridge import Ridge
from .ridge_cv import RidgeCV
from .total_least_squares import TotalLeastSquares

__all__ = ["KernelRidge", "LinearRegression", "LogisticRegression", "Ridge", "RidgeCV", "TotalLeastSquares"]
