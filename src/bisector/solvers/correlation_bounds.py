"""Which columns may correlate with a residual, told without looking at most of them.

Let b₁, b₂, … be orthonormal vectors whose products with all columns are known. A residual r = Σaₖbₖ + e, with e at
right angles to them, has

    |xⱼ·r − Σₖ aₖ(xⱼ·bₖ)| ≤ ‖x̂ⱼ‖·‖e‖,      ‖x̂ⱼ‖² = ‖xⱼ‖² − Σₖ (xⱼ·bₖ)²,

since only the part x̂ⱼ of xⱼ at right angles to the bₖ can meet e. Residuals along a path of penalties change little
and mostly in directions seen before, so that a few bₖ rule out most columns for good; the others are multiplied
with r, and where too many are left, all columns are multiplied with e, which becomes the next b.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .centred_columns import CentredColumns
from .lasso_problem import Penalty

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# If more than this share of the columns may matter, a pass over all of them costs less than picking them out.
LARGEST_SHARE = 0.1
# So many directions are kept; multiplying with them all costs a fraction of a pass over the columns.
MOST_DIRECTIONS = 40


class Sighted(NamedTuple):
    """Correlations with a residual.

    Attributes
    ----------
    values : (n_features,) exact for the columns in `seen`, estimates for the others
    seen : columns outside the working set that can correlate with the residual as much as their l1, or more
    """

    values: Floats
    seen: Integers


class CorrelationBounds:
    """Products of all columns with a few directions, and what follows from them."""

    def __init__(self, columns: CentredColumns) -> None:
        self.columns = columns
        self._reset()

    def _reset(self) -> None:
        self.directions = np.empty((MOST_DIRECTIONS, self.columns.n_rows))
        self.products = np.empty((MOST_DIRECTIONS, self.columns.n_features))
        self.left = self.columns.squares.copy()
        self.count = 0

    def look(self, residual: Floats, penalty: Penalty, outside: NDArray[np.bool_]) -> Sighted:
        """Return the correlations of columns with a residual, exact wherever a column outside may matter."""
        known = self.directions[: self.count]
        along = known @ residual
        across = residual - along @ known
        # Once more, since what rounding left of the directions would be multiplied by all columns.
        again = known @ across
        along, across = along + again, across - again @ known
        values = along @ self.products[: self.count]
        reach = np.linalg.norm(across)
        length = np.linalg.norm(residual)
        margin = np.sqrt(np.maximum(self.left, 1e-14 * self.columns.squares)) * reach
        margin += self.columns.slack * length
        seen = np.flatnonzero((penalty.sizes(values) + margin > penalty.l1) & outside)
        if len(seen) <= LARGEST_SHARE * self.columns.n_features and self.count:
            if len(seen):
                values[seen] = self.columns.correlations(residual, seen)
            return Sighted(values, seen)
        if self.count == MOST_DIRECTIONS:
            self._reset()
            values[:], across, reach = 0.0, residual, length
        if reach > 0:
            self.remember(across / reach)
            values += reach * self.products[self.count - 1]
        return Sighted(values, np.flatnonzero((penalty.sizes(values) >= penalty.l1) & outside))

    def remember(self, direction: Floats) -> None:
        """Multiply all columns with a direction of length one, at right angles to those known."""
        products = self.columns.correlations(direction)
        self.directions[self.count], self.products[self.count] = direction, products
        self.left -= products**2
        self.count += 1
