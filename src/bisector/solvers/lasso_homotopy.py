"""The lasso for every penalty: its solution is piecewise linear in λ, and the knots are found one after the other.

With columns and target as in `lasso_problem`, l1ⱼ = λfⱼ and a ridge penalty that stays the same, let E be the
features with |hⱼ| = λfⱼ, hⱼ = gⱼ − l2ⱼvⱼ. While λ falls by t, coefficients change by t·δ, where δ minimises

    ½δᵀ(XᵀX + L2)δ − Σⱼ fⱼsⱼδⱼ      over E,      sⱼ = sign(hⱼ),      sⱼδⱼ ≥ 0 where vⱼ = 0,

until a coefficient becomes zero or the correlation of another feature reaches λfⱼ: the next knot (Osborne, Presnell
and Turlach 2000; Efron et al. 2004). The minimum above is taken whatever features arrive or leave together, so that
ties and equal columns need no perturbation: of columns that depend on others in use, none enters, and which
solution of several is followed depends on their order.

The certificate is the duality gap at every knot. It is made anew from the coefficients, so that errors do not add
up along the path.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from bisector.engine.loops import given
from bisector.engine.progress import track

from .centred_columns import CentredColumns
from .coordinate_descent import GrownProducts
from .coordinate_descent_loops import gap_of

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Features whose correlations reach the penalty within this share of it arrive together.
TOGETHER = 1e-9
# A column whose part at right angles to others has less than this share of its squared length depends on them.
DEPENDENT = 1e-10
# This share of the first penalty is no penalty: what happens within it is rounding.
NOTHING = 1e-10


class Knot(NamedTuple):
    """Where the path bends.

    Attributes
    ----------
    penalty : λ
    features, v : coefficients that are not zero
    active : features whose coefficients change below this knot
    gap : the duality gap
    """

    penalty: float
    features: Integers
    v: Floats
    active: Integers
    gap: float


def lasso_homotopy(
    columns: CentredColumns,
    y: Floats,
    factors: Floats,
    l2: Floats,
    *,
    positive: bool = False,
    smallest: float = 0.0,
    most: int | None = None,
) -> list[Knot]:
    """Follow the solution from the penalty that sets all coefficients to zero down to `smallest`.

    Parameters
    ----------
    columns, y : as of `working_sets`
    factors, l2 : (n_features,) the fⱼ, and the ridge penalty
    positive : whether coefficients must not be negative
    smallest : the λ to end at
    most : the number of knots to end after
    """
    path = _Path(columns, y, factors, l2, positive)
    knots: list[Knot] = []
    standing = 0
    with track("following the path", total=most) as bar:
        while True:
            path.turn()
            ended = path.penalty <= smallest or (most is not None and len(knots) + 1 >= most)
            knots.append(path.knot(moving=not ended))
            bar.advance(note=f"{len(path.used)} features")
            if ended:
                return knots
            path.advance(smallest)
            standing = standing + 1 if path.penalty >= (1 - TOGETHER) * knots[-1].penalty else 0
            if standing > 100:
                raise ValueError(
                    f"The path does not get below the penalty {path.penalty:g}: rounding decides there which "
                    "features come first. End the path above it, or add a small ridge penalty."
                )


class _Path:
    """The state at a knot: the penalty, coefficients, correlations, and the direction that leads on."""

    def __init__(
        self, columns: CentredColumns, y: Floats, factors: Floats, l2: Floats, positive: bool
    ) -> None:
        self.columns, self.y, self.factors, self.l2, self.positive = columns, y, factors, l2, positive
        self.usable = (columns.squares > 0) & (factors > 0)
        self.products = GrownProducts(columns, y)
        self.place = np.full(columns.n_features, -1)  # of a feature among the products
        self.v = np.zeros(columns.n_features)
        self.h = columns.correlations(y)
        self.residual = y
        sizes = self.h if positive else np.abs(self.h)
        ratios = np.divide(sizes, factors, out=np.zeros_like(sizes), where=self.usable)
        self.penalty = max(0.0, float(ratios.max(initial=0.0)))
        self.largest = self.penalty
        self.waiting = np.flatnonzero(self.usable & (ratios >= (1 - TOGETHER) * self.penalty))
        if self.penalty == 0:
            self.waiting = self.waiting[:0]
        self.used = np.empty(0, dtype=np.int64)  # features that move on, in this order
        self.steps = np.empty(0)
        self.signs = np.zeros(columns.n_features)
        self._factorised, self._triangle = self.used, np.empty((0, 0))

    def knot(self, *, moving: bool) -> Knot:
        support = np.flatnonzero(self.v)
        # Where there is no penalty, correlations are zero only up to rounding.
        rounding = 4 * np.linalg.norm(self.y) * self.columns.slack
        l1 = np.maximum(self.penalty * self.factors, rounding)
        g = self.h + self.l2 * self.v
        square = float(self.residual @ self.residual)
        gap = gap_of(given(g), given(self.v), given(l1), given(self.l2), square, self.positive)
        active = np.sort(self.used) if moving else support
        return Knot(self.penalty, support, self.v[support], active, float(gap))

    def turn(self) -> None:
        """Find the direction below this knot: features that wait at the penalty enter if that leads down."""
        kept = self.used[self.v[self.used] != 0]
        waiting = np.setdiff1d(self.waiting, kept)
        self.signs[waiting] = np.sign(self.h[waiting])
        self.used = kept
        self.steps = self._best_steps()
        self._find_rates()
        refused: list[int] = []
        while True:
            # How much faster the penalty would fall than the correlation, if the feature stayed out.
            wants = 1 - self.signs[waiting] * self.rates[waiting] / self.factors[waiting]
            wants[np.isin(waiting, self.used) | np.isin(waiting, refused)] = 0.0
            if wants.max(initial=0.0) <= TOGETHER:
                break
            feature = int(waiting[wants.argmax()])
            if not self._enter(feature):
                refused.append(feature)
            self._find_rates()
        self.waiting = waiting

    def _enter(self, feature: int) -> bool:
        """Let a feature join those in use, unless its column depends on theirs or rounding alone calls for it.

        Those that came without coefficient must move along their sign: on the way from the steps so far to the
        best steps, whichever would not is taken out where it stops (as Lawson and Hanson's NNLS does).
        """
        if self._depends(feature):
            return False
        self.used, self.steps = np.append(self.used, feature), np.append(self.steps, 0.0)
        while True:
            best = self._best_steps()
            bound = self.v[self.used] == 0
            ahead, aim = self.steps * self.signs[self.used], best * self.signs[self.used]
            stopped = bound & (aim <= 0)
            if not stopped.any():
                self.steps = best
                return feature in self.used
            shares = np.where(stopped, ahead / np.where(stopped, ahead - aim, 1.0), np.inf)
            share = shares.min()
            stays = shares > share
            self.steps = (self.steps + share * (best - self.steps))[stays]
            self.used = self.used[stays]

    def _depends(self, feature: int) -> bool:
        if self.place[feature] < 0:
            self.place[feature] = len(self.products.v)
            self.products.add(np.array([feature]))
        k, j = self.place[self.used], self.place[feature]
        G = self.products.G
        across = length = G[j, j] + self.l2[feature]
        if len(k):
            across = length - G[j, k] @ lapack.dpotrs(self._factor(), G[k, j])[0]
        return bool(across <= DEPENDENT * length)

    def _factor(self) -> Floats:
        """Return the Cholesky factor of the products of the features in use."""
        if not np.array_equal(self._factorised, self.used):
            place = self.place[self.used]
            M = self.products.G[np.ix_(place, place)]
            M[np.diag_indices_from(M)] += self.l2[self.used]
            self._triangle, failed = lapack.dpotrf(M.T, overwrite_a=1, clean=0)
            if failed:
                raise FloatingPointError(
                    f"Below the penalty {self.penalty:g} columns in use depend on each other up to rounding."
                )
            self._factorised = self.used
        return self._triangle

    def _best_steps(self) -> Floats:
        used = self.used
        if not len(used):
            return np.empty(0)
        return lapack.dpotrs(self._factor(), self.factors[used] * self.signs[used])[0]

    def _on_line(self, penalty: float) -> Floats:
        """Return the coefficients in use for a penalty, not from those at a knot but from the data."""
        used = self.used
        if not len(used):
            return np.empty(0)
        right = self.products.q[self.place[used]] - penalty * self.factors[used] * self.signs[used]
        return lapack.dpotrs(self._factor(), right)[0]

    def _find_rates(self) -> None:
        """Find how fast all correlations fall with the penalty."""
        moved = self.steps @ self.products.rows(self.place[self.used])
        self.rates = self.columns.correlations(moved)
        self.rates[self.used] = self.factors[self.used] * self.signs[self.used]

    def advance(self, smallest: float) -> None:
        """Go down to the next knot."""
        # Rounding of this knot must not move the line that starts here, or it would grow from knot to knot.
        self.v[self.used] = self._on_line(self.penalty)
        fall, events = self._next_event(self.penalty - smallest)
        self.penalty = smallest if not len(events) else self.penalty - fall
        used, place = self.used, self.place[self.used]
        self.v[used] = self._on_line(self.penalty)
        gone = events[np.isin(events, used)]
        self.v[gone] = 0.0
        self.residual = self.y - self.v[used] @ self.products.rows(place)
        self.h = self.columns.correlations(self.residual) - self.l2 * self.v
        held = self.factors[self.waiting] - self.signs[self.waiting] * self.rates[self.waiting]
        along = self.waiting[np.abs(held) <= 1e-6 * self.factors[self.waiting]]
        self.waiting = np.union1d(along, events)

    def _next_event(self, farthest: float) -> tuple[float, Integers]:
        """Return how far the penalty can fall, and which features stop it there; none if it is `farthest`."""
        falls = np.full(len(self.h), np.inf)
        idle = self.usable.copy()
        idle[self.used] = False
        at_upper, at_lower = idle.copy(), idle.copy() & (not self.positive)
        # What waits at a bound moves along it or away from it; only the other bound can be reached.
        at_upper[self.waiting] &= self.signs[self.waiting] < 0
        at_lower[self.waiting] &= self.signs[self.waiting] > 0
        bound = self.penalty * self.factors
        for allowed, sign in ((at_upper, 1.0), (at_lower, -1.0)):
            closing = self.factors - sign * self.rates
            fall = np.divide(
                bound - sign * self.h,
                closing,
                out=np.full(len(self.h), np.inf),
                where=allowed & (closing > 0),
            )
            falls = np.minimum(falls, np.maximum(fall, 0.0))
        shrinking = self.signs[self.used] * self.steps < 0
        leaving = self.used[shrinking]
        falls[leaving] = np.maximum(-self.v[leaving] / self.steps[shrinking], 0.0)
        first = float(falls.min(initial=np.inf))
        if not first < farthest - max(TOGETHER * self.penalty, NOTHING * self.largest):
            return farthest, np.empty(0, dtype=np.int64)
        return first, np.flatnonzero(falls <= first + TOGETHER * self.penalty)
