"""Classification by similarity as a linear programme (LFD Problems 6.21 and 6.22).

With D[n, i] the distance or similarity of rows n and i, and y = ±1:

    minimise  Σᵢ |wᵢ| + Σₙ cₙ·ζₙ    such that    yₙ(w₀ + Σᵢ D[n, i]·wᵢ) ≥ 1 − ζₙ,   ζₙ ≥ 0.

|w| is split into w⁺ + w⁻ with w = w⁺ − w⁻, both not negative. An infinite cₙ asks for ζₙ = 0, which no weights may
satisfy. Otherwise there is always a minimum: w = 0 is allowed, and the objective is never negative.

Certificate: for multipliers λ with 0 ≤ λₙ ≤ cₙ, Σλₙyₙ = 0 and |Σₙ λₙyₙD[n, i]| ≤ 1 for all i, the objective is at
least Σλₙ. `gap` is by how much it is more, as a share of one plus the objective, after the multipliers have been
shrunk until they satisfy all bounds.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bisector.engine.memory import require

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class SimilarityWeights:
    """The minimum and its proof.

    Attributes
    ----------
    weights : ndarray of shape (n_rows,)
        w: of a corner of what is allowed, so that most are zero.
    intercept : float
        w₀, which is not penalised.
    slack : ndarray of shape (n_rows,)
        ζ.
    objective, gap : float
    iterations : int
    """

    weights: Floats
    intercept: float
    slack: Floats
    objective: float
    gap: float
    iterations: int


def similarity_programme(D: Floats, signs: Floats, costs: Floats) -> SimilarityWeights:
    """Solve the linear programme by the simplex method of HiGHS.

    Parameters
    ----------
    D : ndarray of shape (n_rows, n_rows)
    signs : ndarray of shape (n_rows,)
        y: 1 or −1.
    costs : ndarray of shape (n_rows,)
        cₙ > 0; all finite, or all infinite.

    Examples
    --------
    Two rows at a distance of 4: each is told from the other by its distance to one of them.

    >>> import numpy as np
    >>> from bisector.solvers.similarity_programme import similarity_programme
    >>> found = similarity_programme(np.array([[0.0, 4.0], [4.0, 0.0]]), np.array([1.0, -1.0]), np.full(2, np.inf))
    >>> np.abs(found.weights).sum(), abs(found.gap) < 1e-9
    (np.float64(0.5), True)
    """
    from scipy.optimize import linprog
    from scipy.sparse import csc_array, diags_array, hstack

    n = len(D)
    hard = bool(np.isinf(costs).any())
    require(
        8 * 8 * n * n,
        doing=f"a linear programme for {n:,} rows",
        holding="the similarities of all with all",
        instead="use fewer rows, or SVC",
    )
    signed = csc_array(D * signs[:, None])
    columns = [-signed, signed, csc_array(-signs[:, None])]
    cost = [np.ones(2 * n), np.zeros(1)]
    bounds = [(0, None)] * (2 * n) + [(None, None)]
    if not hard:
        columns.append(diags_array(-np.ones(n)))
        cost.append(costs)
        bounds += [(0, None)] * n
    found = linprog(
        np.concatenate(cost),
        A_ub=hstack(columns, format="csc"),
        b_ub=-np.ones(n),
        bounds=bounds,
        method="highs-ds",
    )
    if found.status == 2:
        raise ValueError(
            "No weights separate the classes by these similarities, so that C=inf has no solution (the linear "
            "programme is infeasible): give a finite C."
        )
    if found.status == 3:
        raise ValueError("The linear programme is unbounded, as C must be above zero for a minimum to exist.")
    if found.x is None:
        raise ValueError(f"The linear programme was not solved: {found.message}")
    weights = found.x[:n] - found.x[n : 2 * n]
    slack = np.zeros(n) if hard else found.x[2 * n + 1 :]
    bound = _lower_bound(D, signs, costs, -found.ineqlin.marginals)
    gap = (float(found.fun) - bound) / (1 + abs(float(found.fun)))
    return SimilarityWeights(weights, float(found.x[2 * n]), slack, float(found.fun), gap, int(found.nit))


def _lower_bound(D: Floats, signs: Floats, costs: Floats, multipliers: Floats) -> float:
    """Return Σλ after mending what rounding left of the multipliers' bounds."""
    shares = np.clip(multipliers, 0.0, costs)
    of_sign = [float(shares[signs == sign].sum()) for sign in (1.0, -1.0)]
    if not min(of_sign) > 0:
        return 0.0
    for sign, own in zip((1.0, -1.0), of_sign, strict=True):
        shares[signs == sign] *= min(of_sign) / own
    pull = float(np.abs(D.T @ (shares * signs)).max())
    return float(shares.sum()) / max(pull, 1.0)
