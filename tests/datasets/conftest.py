"""What the tests of several datasets share."""

import numpy as np
import pytest
from scipy.optimize import linprog


@pytest.fixture
def a_line_parts():
    """Tell whether some w and t have y (w·x − t) ≥ 1 in every row, by linear programming."""

    def parts(X, y):
        rows = -y[:, None] * np.column_stack([X, -np.ones(len(X))])
        found = linprog(np.zeros(rows.shape[1]), A_ub=rows, b_ub=-np.ones(len(X)), bounds=(None, None))
        assert found.status in (0, 2)  # solved, or shown to have no solution
        return found.status == 0

    return parts
