"""Coordinate descent on a working set of columns, joined with exact steps on the face it has found.

A sweep moves one coefficient after the other to its own minimum. That finds out quickly which coefficients are not
zero, but on correlated columns creeps towards their values. So after some sweeps the coefficients that are not
zero take one step together, to the minimum of the objective with their signs as they are: on such a face it is
quadratic, and the step solves

    (XₐᵀXₐ + L2ₐ)·δ = gₐ − L2ₐvₐ − L1ₐ·sign(vₐ).

Where the step would change signs it is shortened, or the coefficients that would change theirs are set to zero,
whichever lowers the objective more. It never rises; once the face is the right one, the step ends the search. It
is the limit that extrapolating the sweeps (Massias, Gramfort and Salmon 2018; Bertrand and Massias 2021) tends to.

Two forms of a working set: `ProductSet` holds the products of its columns with each other, which makes a sweep
independent of the number of rows, and factorises them; `column_sets.ColumnSet` holds the columns, for sparse ones
and for more columns than rows, and takes the step by conjugate gradients.
"""

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bisector.engine.loops import given
from bisector.engine.memory import require
from bisector.engine.threads import parallel

from .centred_columns import CentredColumns
from .coordinate_descent_loops import copy_face, sweep_products, take_steps
from .face_steps import Factor, keep_signs
from .lasso_problem import Penalty

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# No sum of squares is more exact than this share of the squares of what is summed.
_ROUNDING = 1e-15
# So many multiplications are worth a series of steps.
_STEPS_WORTH = 2 * 10**8
# Columns whose products are made together by one thread, and room for so many from the beginning.
_TILE, _FIRST_ROOM = 128, 256


class Descended(NamedTuple):
    """How a descent ended: the number of sweeps, the gap, and whether it is small enough."""

    sweeps: int
    gap: float
    converged: bool


class WorkingSet(ABC):
    """Some columns with their coefficients.

    Attributes
    ----------
    features : which columns, in the order they came
    v : their coefficients
    g : their correlations with the residual
    steps_are_exact : whether a step on the face solves its equations, or makes some way towards it
    """

    steps_are_exact: bool
    features: Integers
    v: Floats
    g: Floats

    def minimise(self, penalty: Penalty, target: float, most: int) -> Descended:
        """Lower the objective until the gap is at most `target`, in at most so many sweeps."""
        sweeps, may_end = 0, not self.steps_are_exact
        if self._knows_face(penalty):
            self._step_on_face(penalty)
        while True:
            made, gap = self._sweep(penalty, target, min(self._burst(), most - sweeps))
            sweeps += made
            # Where steps are exact, a solution ends with one even if sweeps alone have come near enough: it is then
            # as good as it can be, and does not depend on the way it was found.
            converged = gap <= max(target, self.rounding)
            if (converged and may_end) or sweeps >= most:
                return Descended(sweeps, gap, converged)
            self._step_on_face(penalty)
            may_end = True

    @property
    @abstractmethod
    def residual_square(self) -> float:
        """‖y − Xv‖²."""

    @property
    @abstractmethod
    def lengths(self) -> Floats:
        """The lengths of the columns."""

    @property
    def rounding(self) -> float:
        """What rounding can make of a gap: nearly equal columns with large coefficients cancel each other."""
        return _ROUNDING * float(np.abs(self.v) @ self.lengths) ** 2

    @abstractmethod
    def start(self, v: Floats) -> None:
        """Take coefficients to begin with."""

    def _knows_face(self, penalty: Penalty) -> bool:
        """Tell whether a step on the face costs next to nothing, because it is that of the last step."""
        return False

    @abstractmethod
    def _burst(self) -> int:
        """Return how many sweeps cost about as much as a step on the face."""

    @abstractmethod
    def _sweep(self, penalty: Penalty, target: float, most: int) -> tuple[int, float]: ...

    @abstractmethod
    def _step_on_face(self, penalty: Penalty) -> None: ...


class ProductSet(WorkingSet):
    """Columns known by their products with each other and with the target.

    Parameters
    ----------
    G : (k, k) products of the columns with each other
    q : (k,) products with the target
    square : ‖y‖²
    """

    steps_are_exact = True

    def __init__(self, G: Floats, q: Floats, square: float) -> None:
        self.square = square
        self.features = np.arange(len(q))
        self.G, self.q = G, q
        self.v, self.g = np.zeros(len(q)), q.copy()
        self._factor: Factor | None = None

    def start(self, v: Floats) -> None:
        self.v = v.copy()
        self.g = self.q - self.G[: len(v), : len(v)] @ v

    @property
    def residual_square(self) -> float:
        return max(0.0, self.square - float(self.v @ (self.q + self.g)))

    @property
    def lengths(self) -> Floats:
        return np.sqrt(np.maximum(np.diagonal(self.G)[: len(self.v)], 0.0))

    def _burst(self) -> int:
        return 5 + 100 // (1 + len(self.v))

    def _sweep(self, penalty: Penalty, target: float, most: int) -> tuple[int, float]:
        return sweep_products(
            given(self.G), given(self.q), given(penalty.l1), given(penalty.l2), self.square, penalty.positive,
            target, most, self.v, self.g,
        )  # fmt: skip

    def _knows_face(self, penalty: Penalty) -> bool:
        return self._factor is not None and self._factor.fits(np.flatnonzero(self.v), penalty.l2)

    def _step_on_face(self, penalty: Penalty) -> None:
        face = np.flatnonzero(self.v)
        # When coefficients become zero, what is left of the face takes another step, unless that costs too much.
        for _ in range(max(1, min(50, _STEPS_WORTH // (1 + len(face) ** 3)))):
            if not len(face):
                return
            if self._factor is None or not self._factor.fits(face, penalty.l2):
                M = np.empty((len(face), len(face)))
                copy_face(given(self.G), given(face), given(penalty.l2), M)
                self._factor = Factor.of(M, face, penalty.l2[face])
                if self._factor is None:
                    return
            v = self.v[face]
            slope = self.g[face] - penalty.l2[face] * v - penalty.l1[face] * np.sign(v)
            steps = keep_signs(v, self._factor.solve(slope), slope, self._factor.form)
            take_steps(given(self.G), given(face), given(steps), self.v, self.g)
            left = face[self.v[face] != 0]
            if len(left) == len(face):
                return
            face = left


class GrownProducts(ProductSet):
    """A product set that columns can enter: its arrays have room for more."""

    def __init__(self, columns: CentredColumns, y: Floats) -> None:
        super().__init__(np.empty((0, 0)), np.empty(0), float(y @ y))
        self.y = y
        self.source = columns
        self._columns = np.empty((0, len(y)))

    def add(self, features: Integers) -> None:
        """Let columns enter, with coefficients of zero."""
        old, new = len(self.v), len(self.v) + len(features)
        if new > len(self.G):
            self._widen(max(2 * len(self.G), new, _FIRST_ROOM))
        self._columns[old:new] = self.source.written_out(features)
        entered = self._columns[old:new]
        self._multiply(old, new)
        self.G[old:new, :old] = self.G[:old, old:new].T
        self.features = np.concatenate([self.features, features])
        self.q = np.concatenate([self.q, entered @ self.y])
        support = np.flatnonzero(self.v)
        self.g = np.concatenate([self.g, self.q[old:] - self.v[support] @ self.G[support, old:new]])
        self.v = np.concatenate([self.v, np.zeros(len(features))])

    def _multiply(self, old: int, new: int) -> None:
        """Fill in the products of all columns with those that entered, a tile at a time."""
        entered = self._columns[old:new].T

        def multiply(first: int) -> None:
            tile = slice(first, min(first + _TILE, new))
            np.matmul(self._columns[tile], entered, out=self.G[tile, old:new])

        parallel(multiply, range(0, new, _TILE), n_jobs=self.source.n_jobs)

    def _widen(self, room: int) -> None:
        k = len(self.v)
        require(
            8 * room * (room + len(self.y)),
            doing=f"a fit with {k:,} features in use",
            holding="their columns and the products of every two of them",
            instead="raise alpha, or choose among the features first",
        )
        G, columns = np.empty((room, room)), np.empty((room, len(self.y)))
        G[:k, :k], columns[:k] = self.G[:k, :k], self._columns[:k]
        self.G, self._columns = G, columns

    def rows(self, places: Integers) -> Floats:
        """Return the columns at some places of the set, as rows of an array."""
        return self._columns[places]

    def residual(self) -> Floats:
        """Return y − Xv."""
        return self.y - self.v @ self._columns[: len(self.v)]
