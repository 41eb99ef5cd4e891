"""The lasso and the elastic net: the problem, its optimality conditions, and the proof that comes with a solution.

In coordinates where each column xⱼ of X and the target y are centred (if there is an intercept) and their rows
multiplied by the square roots of their weights, the problem is

    P(v) = ½‖y − Xv‖² + Σⱼ l1ⱼ|vⱼ| + ½ Σⱼ l2ⱼvⱼ²,      vⱼ ≥ 0 where coefficients must be positive.

With the residual r = y − Xv and gⱼ = xⱼ·r, v is optimal if gⱼ − l2ⱼvⱼ = l1ⱼ·sign(vⱼ) where vⱼ ≠ 0 and |gⱼ| ≤ l1ⱼ
elsewhere (gⱼ ≤ l1ⱼ for positive coefficients). How far P(v) is from the minimum is bounded by the duality gap,
without knowing the minimum; of two such bounds the smaller is used:

- *Lasso.* The ridge term makes rows of its own: X̃ = [X; √l2], r̃ = [r; −√l2·v], hⱼ = x̃ⱼ·r̃ = gⱼ − l2ⱼvⱼ. Shrunk by
  s = min(1, minⱼ l1ⱼ/|hⱼ|), r̃ is feasible in the dual, max y·θ − ½‖θ‖² with |x̃ⱼ·θ| ≤ l1ⱼ, and

      gap = ½(1 − s)²‖r̃‖² + Σⱼ (l1ⱼ|vⱼ| − s·vⱼhⱼ).

- *Ridge.* Where all l2ⱼ > 0, the residual itself is feasible, at a price for |gⱼ| > l1ⱼ, and

      gap = Σⱼ (l1ⱼ|vⱼ| + ½l2ⱼvⱼ² − vⱼgⱼ + (|gⱼ| − l1ⱼ)₊² / 2l2ⱼ).

Every term of both sums is at least zero, so that rounding cannot make a gap look smaller than it is by more than
itself. A fit is done when its gap is at most tol·‖y‖².
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# No sum of products is more exact than this share of ‖y‖²: a smaller tolerance means this one.
FINEST = 1e-14


class Penalty(NamedTuple):
    """What coefficients cost: the factors l1 and l2 of each feature, and whether negative ones are forbidden."""

    l1: Floats
    l2: Floats
    positive: bool

    def of(self, features: Any) -> "Penalty":
        """Return the penalty of some features."""
        return Penalty(self.l1[features], self.l2[features], self.positive)

    def sizes(self, correlations: Floats) -> Floats:
        """Return what must not exceed l1 for a coefficient to be zero."""
        return correlations if self.positive else np.abs(correlations)

    def cost(self, v: Floats) -> float:
        return float(self.l1 @ np.abs(v) + 0.5 * (self.l2 * v) @ v)


class Penalised(NamedTuple):
    """A solution for one penalty and one target, with its proof.

    Attributes
    ----------
    coef : (n_features,), in the units of the data
    intercept : float
    objective : float
        P(v) over the sum of the weights: scikit-learn's objective.
    gap : float
        Bound on how far the objective is above its minimum.
    iterations : int
        Sweeps over the working set.
    converged : bool
        Whether the gap is at most tol·‖y‖² over the sum of the weights, or what rounding can make of it.
    """

    coef: Floats
    intercept: float
    objective: float
    gap: float
    iterations: int
    converged: bool

    @classmethod
    def from_notes(cls, known: Mapping[str, Any]) -> "Penalised":
        """Return a solution as a checkpoint has kept it, field by field."""
        coef, intercept, objective, gap, iterations, converged = (known[name] for name in cls._fields)
        return cls(coef, float(intercept), float(objective), float(gap), int(iterations), bool(converged))
