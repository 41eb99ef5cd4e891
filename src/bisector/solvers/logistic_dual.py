"""How far planes are at most from the best: the duality gap of the penalised likelihood of classes,

    P(w, b) = (1/W) Σᵢ wᵢ ℓᵢ + α‖w‖₁ + ½β‖w‖²,

with ℓᵢ = −log pᵢ(own class). Any probabilities qᵢ whose means are the shares of the classes (if there is an
intercept) give a lower bound of P, the entropy of the qᵢ minus the conjugate of the penalty at G = Σ wᵢ xᵢ(qᵢ −
yᵢ)/W:

    D(q) = (1/W) Σᵢ wᵢ H(qᵢ) − Ω*(−G).

The model's own probabilities p satisfy Σ wᵢH(pᵢ)/W = ℓ − ⟨G, w⟩ − ⟨s, b⟩, s their deviations from the shares, so
that the bound needs nothing beyond a gradient. They are made to fit by mixing in, as little as possible, the same
probabilities for every row, or, for α alone, the labels; since entropy is concave, the mixture's is at least the
mixture of entropies.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class ClassMeans(NamedTuple):
    """What mixing needs: shares of the classes (K,), and means over all rows of x (d,) and of x[y = k] (d, K)."""

    shares: Floats
    x: Floats
    x_by_class: Floats


def dual_gap(
    loss: float,
    gradient: Floats,
    deviations: Floats,
    coef: Floats,
    offsets: Floats,
    l1: float,
    l2: float,
    means: ClassMeans | None,
) -> float:
    """Return a bound on P minus its minimum; infinite if there is none.

    Parameters
    ----------
    loss : mean loss ℓ
    gradient, coef : (d, 1) or (d, K), of the loss and the planes, in the units of x
    deviations, offsets : (1,) or (K,) the gradient of the loss by b, which is s, and b
    l1, l2 : α and β
    means : None where there is no intercept, or s is zero up to rounding
    """
    if l1 == 0 and l2 == 0:
        return float("inf")
    entropy = loss - float(np.vdot(gradient, coef)) - float(deviations @ offsets)
    mixed, excess = gradient, 0.0
    if means is not None:
        share, constant, pull = _mixture(deviations, means)
        constant_entropy = -float(constant[constant > 0] @ np.log(constant[constant > 0]))
        mixed = (1.0 - share) * gradient + share * pull
        excess = share * (loss - constant_entropy - float(np.vdot(pull, coef)))
        excess += (1.0 - share) * float(deviations @ offsets)
        entropy = (1.0 - share) * entropy + share * constant_entropy
    towards = -mixed
    # Ω(w) + Ω*(−G) + ⟨G, w⟩, coefficient by coefficient, so that small gaps are no differences of large numbers.
    if l2 > 0:
        best = np.sign(towards) * np.maximum(np.abs(towards) - l1, 0.0) / l2
        within = np.where(best != 0, np.sign(best) * l1, towards)
        with np.errstate(over="ignore"):  # a bound that is no number is none
            fenchel = 0.5 * l2 * (coef - best) ** 2 + l1 * np.abs(coef) - within * coef
        return max(0.0, float(fenchel.sum()) + excess)
    steepest = float(np.abs(towards).max(initial=0.0))
    scale = 1.0 if steepest <= l1 else l1 / steepest
    fenchel = l1 * np.abs(coef) - towards * coef
    return max(0.0, float(fenchel.sum()) + excess + (1.0 - scale) * entropy)


def _mixture(deviations: Floats, means: ClassMeans) -> tuple[float, Floats, Floats]:
    """Return how much of which constant probabilities must be mixed in, and what they add to G."""
    single = len(deviations) == 1
    s = np.array([-deviations[0], deviations[0]]) if single else deviations
    over = s > 0
    most = float((means.shares[over] / s[over]).min(initial=np.inf))
    share = 1.0 / (1.0 + most)
    constant = means.shares if share == 0 else np.maximum(means.shares - most * s, 0.0)
    pull = means.x[:, None] * constant - means.x_by_class
    return share, constant, pull[:, 1:] if single else pull
