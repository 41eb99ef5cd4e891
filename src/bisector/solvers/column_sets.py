"""Working sets that hold their columns: sparse ones, and more of them than there are rows.

A sweep runs through the columns; the step on the face (see `coordinate_descent`) is taken by conjugate gradients.
"""

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray

from bisector.engine.loops import given
from bisector.engine.memory import budget

from .centred_columns import CentredColumns, SparseColumns
from .coordinate_descent import GrownProducts, WorkingSet
from .coordinate_descent_loops import gap_of, sweep_columns, sweep_sparse_columns
from .face_steps import conjugate_gradients, keep_signs
from .lasso_problem import Penalty

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Sweeps before a step; more of them while they run through fewer values than a step costs.
_FEWEST_SWEEPS, _MOST_SWEEPS, _CHEAP = 3, 12, 50_000
# The products of so many columns always fit.
_FEW_COLUMNS = 2000
# Sparse columns with a smaller share of stored values stay sparse.
_NEARLY_EMPTY = 0.1


class ColumnSet(WorkingSet):
    """Columns themselves, and the residual they leave; columns can enter."""

    steps_are_exact = False

    def __init__(self, y: Floats) -> None:
        self.y = y
        self.features = np.empty(0, dtype=np.int64)
        self.v, self.g, self.squares = np.empty(0), np.empty(0), np.empty(0)
        self._residual = y.copy()

    @property
    def residual_square(self) -> float:
        return float(self._residual @ self._residual)

    @property
    def lengths(self) -> Floats:
        return np.sqrt(self.squares)

    def residual(self) -> Floats:
        """Return y − Xv."""
        return self._residual

    def add(self, features: Integers) -> None:
        """Let columns enter, with coefficients of zero."""
        self.features = np.concatenate([self.features, features])
        self.v = np.concatenate([self.v, np.zeros(len(features))])
        self._hold(features)
        self.start(self.v)

    def start(self, v: Floats) -> None:
        self.v = v.copy()
        self._residual = self.y - self._combine(v)
        self.g = self._correlate(self._residual)

    def _burst(self) -> int:
        return min(_MOST_SWEEPS, _FEWEST_SWEEPS + _CHEAP // (1 + self._stored()))

    def _sweep(self, penalty: Penalty, target: float, most: int) -> tuple[int, float]:
        self._sweep_columns(penalty, most)
        self.g = self._correlate(self._residual)
        return most, gap_of(
            given(self.g), given(self.v), given(penalty.l1), given(penalty.l2), self.residual_square,
            penalty.positive,
        )  # fmt: skip

    def _step_on_face(self, penalty: Penalty) -> None:
        v, on_face = self.v, self.v != 0
        slope = np.where(on_face, self.g - penalty.l2 * v - penalty.l1 * np.sign(v), 0.0)
        curvature = self.squares + penalty.l2

        def multiply(step: Floats) -> Floats:
            return np.where(on_face, self._correlate(self._combine(step)) + penalty.l2 * step, 0.0)

        steps = conjugate_gradients(multiply, slope, np.where(on_face, curvature, 1.0))
        steps = keep_signs(v, steps, slope, lambda step: float(step @ multiply(step)))
        self.start(v + steps)

    @abstractmethod
    def _hold(self, features: Integers) -> None: ...

    @abstractmethod
    def _stored(self) -> int:
        """Return how many values a sweep runs through."""

    @abstractmethod
    def _combine(self, v: Floats) -> Floats:
        """Return Xv."""

    @abstractmethod
    def _correlate(self, vector: Floats) -> Floats:
        """Return the products of the columns with a vector."""

    @abstractmethod
    def _sweep_columns(self, penalty: Penalty, most: int) -> None: ...


class DenseColumnSet(ColumnSet):
    """Columns written out."""

    def __init__(self, columns: CentredColumns, y: Floats) -> None:
        super().__init__(y)
        self._source = columns
        self._columns = np.empty((0, len(y)))

    def _hold(self, features: Integers) -> None:
        self._columns = np.concatenate([self._columns, self._source.written_out(features)])
        self.squares = np.einsum("ij,ij->i", self._columns, self._columns)

    def _stored(self) -> int:
        return self._columns.size

    def _combine(self, v: Floats) -> Floats:
        return v @ self._columns

    def _correlate(self, vector: Floats) -> Floats:
        return self._columns @ vector

    def _sweep_columns(self, penalty: Penalty, most: int) -> None:
        sweep_columns(
            given(self._columns), given(self.squares), given(penalty.l1), given(penalty.l2), penalty.positive,
            most, self.v, self._residual,
        )  # fmt: skip


class SparseColumnSet(ColumnSet):
    """Columns as they are stored; their means are subtracted from what is made of them."""

    def __init__(self, columns: SparseColumns, y: Floats) -> None:
        super().__init__(y)
        self._source = columns
        self._roots = np.ones(len(y)) if columns.roots is None else columns.roots

    def _hold(self, features: Integers) -> None:
        from scipy.sparse import csc_array

        source, held = self._source, self.features
        self._starts, self._places, self._values = map(given, source.stored(held))
        self.squares = source.squares[held]
        self._means = source.mean[held] * source.unit[held] * (self.squares > 0)
        self._sums = given(np.column_stack([self._means, self._means * source.weight]))
        self._matrix = csc_array(
            (self._values, self._places, self._starts), shape=(len(self.y), len(held)), copy=False
        )
        self._transposed = self._matrix.T

    def _stored(self) -> int:
        return len(self._values)

    def _combine(self, v: Floats) -> Floats:
        return self._matrix @ v - (self._means @ v) * self._roots

    def _correlate(self, vector: Floats) -> Floats:
        return self._transposed @ vector - self._means * (self._roots @ vector)

    def _sweep_columns(self, penalty: Penalty, most: int) -> None:
        offset = sweep_sparse_columns(
            self._starts, self._places, self._values, self._sums, given(self.squares), given(penalty.l1),
            given(penalty.l2), penalty.positive, most, self.v, self._residual, 0.0,
        )  # fmt: skip
        self._residual += offset * self._roots


Growing = GrownProducts | ColumnSet


def working_set(columns: CentredColumns, y: Floats) -> Growing:
    """Return an empty working set for columns of this kind; products of sparse ones pay if they are rather full."""
    if isinstance(columns, SparseColumns) and columns.density < _NEARLY_EMPTY:
        return SparseColumnSet(columns, y)
    return GrownProducts(columns, y)


def with_room(held: Growing, entering: int) -> Growing:
    """Return the working set in a form that is good for so many more columns.

    Products of columns pay as long as there are not many more columns than rows, and room for them.
    """
    count = len(held.v) + entering
    if isinstance(held, ColumnSet) or count <= _FEW_COLUMNS:
        return held
    if count <= 2 * len(held.y) and 8 * (2 * count) ** 2 <= budget():
        return held
    columns = held.source
    changed: ColumnSet
    if isinstance(columns, SparseColumns):
        changed = SparseColumnSet(columns, held.y)
    else:
        changed = DenseColumnSet(columns, held.y)
    changed.add(held.features)
    changed.start(held.v)
    return changed
