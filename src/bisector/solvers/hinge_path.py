"""The support vector machine for every C at once (Hastie, Rosset, Tibshirani and Zhu 2004).

For a kernel matrix K, labels yᵢ = ±1 and bounds rᵢ, the multipliers α(C) solve

    min ½Σᵢⱼ αᵢαⱼyᵢyⱼKᵢⱼ − Σαᵢ    over 0 ≤ αᵢ ≤ C rᵢ    with Σαᵢyᵢ = 0.

They are best if and only if, with fᵢ = ΣⱼαⱼyⱼKᵢⱼ + b, rows with α = 0 have yf ≥ 1, rows with α = Cr have yf ≤
1, and rows in between, the *members*, have yf = 1. While nobody changes place, the members' equations are
linear in C, and so are α and b: the path bends only at knots, where a row meets the margin or a multiplier its
bound. It is followed from C = 0 upwards, one event after the other, until nothing happens any more.

With classes of equal weight, near C = 0 every multiplier is at its bound. With unequal ones it begins at the
solution of

    min ‖Σαᵢyᵢφ(xᵢ)‖²    over 0 ≤ αᵢ ≤ rᵢ    with Σαᵢyᵢ = 0 and α = r on the lighter class,

which is the end of a path itself: of bounds t·r on the heavier class, from the t where all are needed up to t =
1. If the minimum is zero (the lighter class has its mean among the heavier one), w = 0 is best for every C, and
the path has no knots.

A path is kept as its events. The solution at any C is made of them by solving the members' equations anew, so
that it is off by the rounding of one linear system, however long the path. The certificate is how far any row
is, at any event, from where its place requires: `violation`.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bisector.engine.progress import track
from bisector.engine.threads import one_blas_thread

from .path_walker import SAME_KNOT

if TYPE_CHECKING:
    from .path_walker import Walker

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# So many solutions are looked at when the path has been followed to its end, and when it was lost.
FEW_LOOKS, MANY_LOOKS = 4, 64
# A multiplier that is off a bound by less than this share is on it; by less than the second, it is put there.
ON_BOUND, ROUNDING = 1e-9, 1e-14


class Solution(NamedTuple):
    """The machine at one C: multipliers, intercept, and the scores of the training rows."""

    alpha: Floats
    intercept: float
    score: Floats


@dataclass(frozen=True)
class HingePath:
    """A path, as its events.

    Attributes
    ----------
    gram, side, bound : the problem
    first : (n,) place of every row near C = 0: 0 outside, 1 member, 2 inside
    knots : (n_knots,) ascending values of C where the path bends
    last_event : (n_knots,) how many events have happened up to each knot
    rows, roles : (n_events,) who changed place, and where to
    violation : (n_events,) how far any row was from where it should be
    drift : what rounding had added up to in the longest stretch without computing anew
    reach : up to which C the path is known: infinity, unless the matrix is singular to rounding
    flat : (n,) α/C where w = 0 is best for every C
    """

    gram: Floats
    side: Floats
    bound: Floats
    first: Integers
    knots: Floats
    last_event: Integers
    rows: Integers
    roles: Integers
    violation: Floats
    drift: float
    reach: float
    flat: Floats | None

    @property
    def worst(self) -> float:
        """The largest violation up to the last knot."""
        happened = int(self.last_event[-1]) if len(self.knots) else 0
        return float(self.violation[:happened].max(initial=0.0))

    def roles_after(self, knot: int) -> Integers:
        """Return the place of every row between a knot and the next; −1 means before the first."""
        places = self.first.copy()
        if knot >= 0:
            happened = self.last_event[knot]
            places[self.rows[:happened]] = self.roles[:happened]  # of several, the last one counts
        return places

    def at(self, C: float) -> Solution:
        """Return the solution at C, above zero."""
        if self.flat is not None:
            heavier = 1.0 if float(self.bound @ self.side) > 0 else -1.0
            return Solution(C * self.flat, heavier, np.full(len(self.side), heavier))
        places = self.roles_after(int(np.searchsorted(self.knots, C)) - 1)
        alpha = np.where(places == 2, C * self.bound, 0.0)
        members = np.flatnonzero(places == 1)
        intercept = 0.0
        if len(members):
            y = self.side[members]
            others = (self.gram @ (alpha * self.side))[members]
            found, intercept = _balanced(self.gram, members, y - others, -float(alpha @ self.side))
            most = C * self.bound[members]
            own = np.clip(found * y, 0.0, most)
            own[own <= ROUNDING * most] = 0.0
            alpha[members] = np.where(own >= (1 - ROUNDING) * most, most, own)
        score = self.gram @ (alpha * self.side)
        slack = ON_BOUND * C * self.bound
        if not ((alpha > slack) & (alpha < C * self.bound - slack)).any():
            intercept = self._middle(alpha > slack, score)
        return Solution(alpha, intercept, score + intercept)

    def violation_at(self, C: float) -> float:
        """Return how far any row is from where its multiplier requires, at C: zero proves the solution."""
        alpha, _, score = self.at(C)
        beyond, most = self.side * score - 1, C * self.bound
        slack = ON_BOUND * most
        off = np.where(alpha <= slack, -beyond, np.where(alpha >= most - slack, beyond, np.abs(beyond)))
        return float(max(off.max(), 0.0))

    def _middle(self, inside: NDArray[np.bool_], score: Floats) -> float:
        """Return the middle of the intercepts that keep rows inside within the margin, and the others out of it."""
        ends = self.side - score
        above = inside == (self.side > 0)
        return 0.5 * float(ends[above].min() + ends[~above].max())


def _balanced(gram: Floats, members: Integers, right: Floats, total: float) -> tuple[Floats, float]:
    """Solve Kβ + b = r among members for β with a given sum, and b; refined once.

    Adding a constant to K moves b only, and makes the matrix positive definite; if it is singular to the last
    digit, the shortest solution is found.
    """
    from scipy.linalg import lapack

    from bisector.engine.loops import given

    from .path_proof_loops import gather

    m = len(members)
    values = np.zeros((m, m))
    gather(given(gram), given(members), values)
    constant = float(values.diagonal().mean()) or 1.0
    factor, failed = lapack.dpotrf((values + constant).T, overwrite_a=True)  # symmetric, and in its order
    if failed:
        system = np.ones((m + 1, m + 1))
        system[:m, :m], system[m, m] = values, 0.0
        found = np.linalg.lstsq(system, np.append(right, total), rcond=None)[0]
        return np.asarray(found[:m]), float(found[m])
    ones = lapack.dpotrs(factor, np.ones(m))[0]
    beta, b = np.zeros(m), 0.0
    for _ in range(2):
        step = lapack.dpotrs(factor, right - values @ beta - b)[0]
        missing = total - float(beta.sum())
        shift = (float(step.sum()) - missing) / float(ones.sum())
        beta += step - shift * ones
        b += shift - constant * missing
    return beta, b


def hinge_path(gram: Floats, side: Floats, bound: Floats) -> HingePath:
    """Follow the path.

    Parameters
    ----------
    gram : (n, n) symmetric, positive semi-definite
    side : (n,) 1 or −1, both present
    bound : (n,) above zero

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.solvers.hinge_path import hinge_path
    >>> X = np.array([[1.0, 2.0], [-1.0, 2.0], [-1.0, -2.0], [3.0, 1.0]])
    >>> path = hinge_path(X @ X.T, np.array([-1.0, -1.0, 1.0, 1.0]), np.ones(4))
    >>> path.knots
    array([0.1   , 0.1875, 0.3125, 0.5   ])
    >>> path.at(0.3125).alpha
    array([0.3125, 0.    , 0.0625, 0.25  ])
    """
    n = len(side)
    path = _in_order(gram, side, bound, np.arange(n))
    for order in (np.arange(n)[::-1], np.random.default_rng(0).permutation(n)):
        if np.isinf(path.reach):
            break
        # Rows that tie take their turns by number: in another order they may not get into each other's way.
        again = _in_order(gram, side, bound, order)
        path = again if again.reach > path.reach else path
    return path


def _in_order(gram: Floats, side: Floats, bound: Floats, order: Integers) -> HingePath:
    """Follow the path with the rows in another order."""
    from bisector.engine.loops import given

    from .path_walker import Walker

    in_place = bool((np.diff(order) == 1).all())
    values = gram if in_place else gram[np.ix_(order, order)]
    walker = Walker(given(values), given(side[order]), given(bound[order]))
    weights = [float(bound[side == y].sum()) for y in (-1.0, 1.0)]
    with track("path of support vector machines") as bar:
        first = walker.begin(weights, bar)
        walker.go(1.0, np.inf, bar)
    with one_blas_thread:  # many small products
        path = known_part(gather(walker, first))
    places = np.argsort(order)
    return replace(
        path,
        gram=gram,
        side=side,
        bound=bound,
        first=path.first[places],
        rows=order[path.rows],
        flat=None if path.flat is None else path.flat[places],
    )


def gather(walker: "Walker", first: Integers) -> HingePath:
    """Gather the events of a walk into knots."""
    from .margin_members_loops import DRIFT

    times, rows, roles, off = walker.events
    later = np.diff(times, append=np.inf) > SAME_KNOT * times
    walk = walker.walk
    return HingePath(
        walk.gram,
        walk.side,
        walk.bound,
        first,
        times[later],
        np.flatnonzero(later) + 1,
        rows,
        roles,
        off,
        float(walk.numbers[DRIFT]),
        walker.reach,
        walker.flat,
    )


def known_part(path: HingePath) -> HingePath:
    """Look at solutions all along the path, and keep what comes before one that fails."""
    from .hinge_path_loops import LARGEST_VIOLATION

    knots = path.knots
    looks = FEW_LOOKS if np.isinf(path.reach) else MANY_LOOKS
    some = np.unique(np.linspace(0, len(knots) - 1, min(len(knots), looks)).astype(int))
    start = float(knots[0]) / 2 if len(knots) else 1 / (float(path.gram.diagonal().mean()) or 1.0)
    if path.reach == 0 or path.violation_at(start) > LARGEST_VIOLATION:
        kept = 0
    else:
        failed = [k for k in some if path.violation_at(knots[k]) > LARGEST_VIOLATION]
        if (
            not failed
            and np.isinf(path.reach)
            and (not len(knots) or path.violation_at(2 * knots[-1]) <= LARGEST_VIOLATION)
        ):
            return path
        kept = max(failed[0] - 1, 0) if failed else len(knots)
    reach = float(knots[kept - 1]) if kept else 0.0
    return replace(path, knots=knots[:kept], last_event=path.last_event[:kept], reach=reach)
