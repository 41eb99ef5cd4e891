"""The lasso and the elastic net on working sets that grow until nothing outside of them matters.

The problem and its certificate are in `lasso_problem`. A fit solves the problem of a few columns, looks which of
the others correlate with the residual by more than their l1, lets them enter, and ends when the duality gap of
the whole problem is small enough. `correlation_bounds` makes the look cheap, `coordinate_descent` the solution.
Along a path of falling penalties each solution is where the next one starts; columns enter beforehand if their
correlations, growing at most as fast as the penalty falls, could reach it (Tibshirani et al. 2012: a rule that
may err, but what it misses is found by the look that follows).
"""

import numpy as np
from numpy.typing import NDArray

from bisector.engine.loops import given

from .centred_columns import CentredColumns
from .column_sets import with_room, working_set
from .coordinate_descent import Descended
from .coordinate_descent_loops import gap_of
from .correlation_bounds import CorrelationBounds
from .lasso_problem import FINEST, Penalty

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# The share of the tolerance that the problem of the working set is solved to; the rest is for columns outside.
_INSIDE = 0.3
_FEWEST_ENTERING = 50


class WorkingSetFit:
    """The problem of one target on given columns, solved for one penalty after the other.

    Parameters
    ----------
    columns : CentredColumns
    y : (n_rows,) the target, in the form of the columns
    """

    def __init__(self, columns: CentredColumns, y: Floats) -> None:
        self.columns, self.y = columns, y
        self.square = float(y @ y)
        self.bounds = CorrelationBounds(columns)
        self.set = working_set(columns, y)
        self.outside = columns.squares > 0
        self.sizes: Floats | None = None
        self.l1: Floats | None = None

    def start(self, v: Floats) -> None:
        """Begin with given coefficients of all columns."""
        self._enter(np.flatnonzero(v))
        self.set.start(v[self.set.features])

    def solve(self, penalty: Penalty, tol: float, max_iter: int) -> Descended:
        """Solve for a penalty; the gap is that of the whole problem."""
        target = max(tol, FINEST) * self.square
        if self.sizes is not None and self.l1 is not None:
            self._enter(np.flatnonzero((self.sizes > 2 * penalty.l1 - self.l1) & self.outside))
        sweeps, gap = 0, np.inf
        while True:
            if len(self.set.features):
                done = self.set.minimise(
                    penalty.of(self.set.features), _INSIDE * target, max(1, max_iter - sweeps)
                )
                sweeps += done.sweeps
            found = self.bounds.look(self.set.residual(), penalty, self.outside)
            sizes = penalty.sizes(found.values)
            gap = self._gap(penalty, found.values, found.seen)
            beyond = found.seen[sizes[found.seen] > penalty.l1[found.seen]]
            converged = gap <= max(target, self.set.rounding)
            if converged or sweeps >= max_iter or not len(beyond):
                break
            most = max(_FEWEST_ENTERING, 2 * int(np.count_nonzero(self.set.v)))
            if len(beyond) > most:
                excess = sizes[beyond] - penalty.l1[beyond]
                beyond = np.sort(beyond[np.argpartition(-excess, most)[:most]])
            self._enter(beyond)
        self.sizes, self.l1 = sizes, penalty.l1
        return Descended(max(sweeps, 1), gap, converged)

    def _enter(self, features: Integers) -> None:
        features = features[self.outside[features]]
        if len(features):
            self.set = with_room(self.set, len(features))
            self.set.add(features)
            self.outside[features] = False

    def _gap(self, penalty: Penalty, correlations: Floats, seen: Integers) -> float:
        every = np.concatenate([self.set.features, seen])
        v = np.concatenate([self.set.v, np.zeros(len(seen))])
        g = np.concatenate([self.set.g, correlations[seen]])
        here = penalty.of(every)
        return float(
            gap_of(
                given(g), given(v), given(here.l1), given(here.l2), self.set.residual_square, here.positive
            )
        )

    @property
    def residual_square(self) -> float:
        return self.set.residual_square

    @property
    def coefficients(self) -> Floats:
        v = np.zeros(self.columns.n_features)
        v[self.set.features] = self.set.v
        return v
