"""Data that the tests of linear models share."""

import numpy as np
import pytest


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.fixture
def table(rng):
    """Correlated features far from zero, in different units, and a target with noise."""
    Z = rng.normal(size=(50, 4))
    mix = np.eye(4) + np.diag([0.5, 0.5, 0.9], k=1)
    X = Z @ mix * [1, 10, 0.1, 3] + [5, -30, 0, 100]
    return X, X @ [2.0, 0.1, -5.0, 0.0] + 3 + rng.normal(size=50)


@pytest.fixture(params=[None, "weights"])
def weight(request, rng):
    return None if request.param is None else rng.uniform(0.5, 3, size=50)
