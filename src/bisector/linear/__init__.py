"""Linear models: lines and planes fitted to data."""

from .linear_regression import LinearRegression

__all__ = ["LinearRegression"]
