"""Least squares without negative coefficients: min ‖Ax − b‖ over x ≥ 0, by an active set.

Lawson and Hanson (1974): the column that points most along the residual r = b − Ax is let in; the least-squares
solution on the columns inside is approached until a coefficient reaches zero, whose column leaves; and so on. The
residual shrinks with every column that comes in, so that no set of columns comes back, and the method ends. A QR
decomposition of the columns inside is kept, and changed by a column at a time.

The certificate: a·r ≤ 0 for every column a, and a·r = 0 for those with a positive coefficient. The largest a·r over
the lengths of a and b is the gap.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack, qr_delete

Floats = NDArray[np.float64]

# A column is let in while the residual along it is longer than this share of the target; less is rounding. What
# rounding leaves of many columns may be more, and is good enough up to the second share.
SMALLEST_GAP, LARGEST_GAP = 1e-14, 1e-11
# A column of which less than this share is new depends on those inside.
SMALLEST_PART = 1e-11


@dataclass(frozen=True)
class Nonnegative:
    """The solution with its proof.

    Attributes
    ----------
    solution : (n_columns,)
    residual : (n_rows,)
        b − Ax.
    inside : list of int
        The columns with a positive coefficient.
    gap : float
    iterations : int
    converged : bool
    """

    solution: Floats
    residual: Floats
    inside: list[int]
    gap: float
    iterations: int
    converged: bool


def nonnegative_least_squares(
    A: Floats, b: Floats, *, start: Sequence[int] = (), most_iterations: int | None = None
) -> Nonnegative:
    """Solve min ‖Ax − b‖ over x ≥ 0.

    Parameters
    ----------
    A : (n_rows, n_columns)
    b : (n_rows,)
    start : columns to begin with, as a solution of a similar problem has them inside
    most_iterations : by default, ten for each column

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.solvers.nonnegative import nonnegative_least_squares
    >>> A, b = np.array([[1.0, 1.0], [0.0, 1.0]]), np.array([0.0, 1.0])
    >>> found = nonnegative_least_squares(A, b)  # freely, it would be (−1, 1)
    >>> found.solution, found.residual
    (array([0. , 0.5]), array([-0.5,  0.5]))
    """
    lengths = np.linalg.norm(A, axis=0)
    lengths[lengths == 0] = np.inf
    inside = _Inside(A, b)
    inside.begin(start)
    enough = SMALLEST_GAP * (float(np.linalg.norm(b)) or 1.0)
    refused: list[int] = []
    most = 10 * A.shape[1] if most_iterations is None else most_iterations
    gap, iteration = np.inf, 0
    for iteration in range(most + 1):
        residual = inside.residual()
        pulls = (residual @ A) / lengths
        pulls[inside.columns] = -np.inf
        pulls[refused] = -np.inf
        column = int(pulls.argmax()) if len(pulls) else 0
        gap = max(0.0, float(pulls[column])) if len(pulls) else 0.0
        if gap <= enough or iteration == most:
            break
        if inside.let_in(column):
            refused = []
        else:
            refused.append(column)
    solution = np.zeros(A.shape[1])
    solution[inside.columns] = inside.coefficients
    gap /= float(np.linalg.norm(b)) or 1.0
    return Nonnegative(solution, residual, inside.columns, gap, iteration, gap <= LARGEST_GAP)


class _Inside:
    """The columns that are inside, their QR decomposition, and the solution on them."""

    def __init__(self, A: Floats, b: Floats) -> None:
        most = min(A.shape)
        self.A, self.b = A, b
        self.columns: list[int] = []
        self.coefficients = np.zeros(0)
        self._q = np.empty((A.shape[0], most), order="F")
        self._r = np.zeros((most, most), order="F")

    def begin(self, columns: Sequence[int]) -> None:
        """Let columns in whose least-squares solution is positive; otherwise none."""
        for column in columns:
            if len(self.columns) < self._r.shape[0]:
                self._append(column)
        self.coefficients = self._solve()
        if not (self.coefficients > 0).all():
            self.columns, self.coefficients = [], np.zeros(0)

    def residual(self) -> Floats:
        q = self._q[:, : len(self.columns)]
        residual: Floats = self.b - q @ (self.b @ q)
        return residual

    def let_in(self, column: int) -> bool:
        """Let a column in, and out what has to go; tell whether it came in."""
        if len(self.columns) == self._r.shape[0] or not self._append(column):
            return False
        wanted = self._solve()
        if wanted[-1] <= 0:  # by rounding: it is the same as the others together
            self.columns.pop()
            return False
        current = np.append(self.coefficients, 0.0)
        while not (wanted > 0).all():
            falling = np.flatnonzero(wanted <= 0)
            shares = current[falling] / (current[falling] - wanted[falling])
            current = current + shares.min() * (wanted - current)
            gone = set(falling[shares <= shares.min()].tolist()) | set(np.flatnonzero(current <= 0).tolist())
            for place in sorted(gone, reverse=True):
                self._delete(place)
            current = np.delete(current, sorted(gone))
            wanted = self._solve()
        self.coefficients = wanted
        return True

    def _append(self, column: int) -> bool:
        k, a = len(self.columns), self.A[:, column]
        q = self._q[:, :k]
        along = a @ q
        new = a - q @ along
        more = new @ q  # a second time, for what rounding left along the others
        new -= q @ more
        length = float(np.linalg.norm(new))
        if length <= SMALLEST_PART * float(np.linalg.norm(a)):
            return False
        self._q[:, k] = new / length
        self._r[:k, k] = along + more
        self._r[k, k] = length
        self.columns.append(column)
        return True

    def _delete(self, place: int) -> None:
        k = len(self.columns)
        q, r = qr_delete(self._q[:, :k], self._r[:k, :k], place, which="col", check_finite=False)
        self._q[:, : k - 1] = q[:, : k - 1]
        self._r[: k - 1, : k - 1] = r[: k - 1]
        del self.columns[place]

    def _solve(self) -> Floats:
        k = len(self.columns)
        if not k:
            return np.zeros(0)
        solved: Floats = lapack.dtrtrs(self._r[:k, :k], self.b @ self._q[:, :k])[0]
        return solved
