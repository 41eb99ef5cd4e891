"""Total least squares: errors in X as well as in Y.

Finds the smallest corrections E, F, in units of the columns' noise, with which the rows lie on a plane:

    min ‖[E F]‖²   so that   Y + F = a + (X + E)B.

Columns without noise, the ones of the intercept among them, are eliminated first; R is what is left of the others
in the triangular factor of all. The right singular vectors of R that belong to its T smallest singular values, T
the number of targets, span the normals of the plane; with V₁ their part in X and V₂ in Y, B = −V₁V₂⁻¹ (Golub and
Van Loan 1980; Van Huffel and Vandewalle 1991). Exact columns get the coefficients of least squares on what is left.

Certificate: the squared distances of the rows from the plane sum to the squares of these singular values, and no
plane has less (Eckart and Young). The solution is unique if the singular value before them is larger; of many, the
shortest B is returned. There is none if V₂ is singular: the best plane is then parallel to an axis of Y, and no
a + BX describes it. The solution returned is the best among those whose normals are at right angles to the
directions in X that are to blame (the nongeneric solution).
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr, svd

from bisector.engine.memory import require
from bisector.engine.moments import Coordinates, first_coordinates
from bisector.engine.sources import Source
from bisector.engine.threads import threads_for
from bisector.engine.validation import find_not_finite

from .column_geometry import EPS, column_norms
from .joint_factor import joint_factor
from .least_squares import is_constant

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class TotalLeastSquares:
    """The solution with its proof.

    Attributes
    ----------
    coef : (n_features, n_targets)
    intercept : (n_targets,)
    normal : (n_features + n_targets,) unit normal of the plane in the space of X and Y, if there is one target
    singular_values : of the rows from their mean, in units of the noise, without exact and constant columns;
        largest first
    objective : sum of the squared distances of the rows from the plane, in units of the noise
    gap : by how much the singular value that decides uniqueness exceeds the next, relative to it; 0 if not unique
    unique, exists : bool
    """

    coef: Floats
    intercept: Floats
    normal: Floats | None
    singular_values: Floats
    objective: float
    gap: float
    unique: bool
    exists: bool

    @property
    def converged(self) -> bool:
        """A direct method: whether the solution is what was asked for."""
        return self.exists


def total_least_squares(
    rows: Source, noise: Floats, *, intercept: bool = True, n_jobs: int | None = None
) -> TotalLeastSquares:
    """Solve the problem of a source with targets.

    Parameters
    ----------
    noise : (n_features + n_targets,) standard deviations of the errors of the columns of X, then Y, up to a common
        factor; 0 for a column of X without errors

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.engine.sources import source
    >>> from bisector.solvers.total_least_squares import total_least_squares
    >>> rows = source(np.array([[0.0], [1.0], [2.0]]), np.array([0.0, 2.0, 1.0]))
    >>> total_least_squares(rows, np.ones(2)).coef.round(6)
    array([[1.]])
    """
    d, m = rows.n_features, len(noise)
    require(
        8 * (m + 1) ** 2 * (6 + 2 * threads_for(n_jobs)),
        doing=f"total least squares on {d:,} features",
        holding="the triangular factor of the rows",
        instead="choose among the features first",
    )
    of_x, of_y = first_coordinates(rows)
    if not intercept:
        of_x, of_y = (Coordinates(np.zeros_like(one.shift), one.scale) for one in (of_x, of_y))
    found = joint_factor(rows, of_x, of_y, intercept=intercept, n_jobs=n_jobs)
    if not np.isfinite(found.rows).all():
        find_not_finite(rows)
        raise ValueError("X or y has values too large to be multiplied: divide columns by a power of ten.")
    scale, mean = np.append(of_x.scale, of_y.scale), np.append(of_x.shift, of_y.shift)
    triangle = found.rows[intercept:, intercept:] / scale
    if intercept:
        mean = mean + found.rows[0, 1:] / found.rows[0, 0] / scale
        triangle[:, is_constant(column_norms(triangle), mean, found.weight)] = 0.0
    plane = _plane(triangle, noise, d)
    with np.errstate(over="ignore", invalid="ignore"):
        offset = mean[d:] - mean[:d] @ plane.coef if intercept else np.zeros(m - d)
    return replace(plane, intercept=offset)


def _plane(triangle: Floats, noise: Floats, d: int) -> TotalLeastSquares:
    """Find the plane through the origin of columns [X Y], d of them in X, that are known by their triangle."""
    n_targets = len(noise) - d
    exact, noisy = np.flatnonzero(noise == 0), np.flatnonzero(noise)
    rest = _without(triangle[:, exact], triangle[:, noisy]) / noise[noisy]
    moving = column_norms(rest) > 0
    moving[len(noisy) - n_targets :] = True
    noisy, rest = noisy[moving], rest[:, moving]
    _, values, rows = svd(rest, full_matrices=False, check_finite=False)
    k = len(values) - n_targets
    start, unique = _first_of_equals(values, k)
    normals, exists = rows[start:].T, True
    while start and not _describes(normals[k:], values, start):
        exists = False
        start, _ = _first_of_equals(values, start - 1)
        normals = rows[start:].T
    coef = np.zeros((d, n_targets))
    with np.errstate(over="ignore", invalid="ignore"):
        slopes = -normals[:k] @ np.linalg.pinv(normals[k:])
        coef[noisy[:k]] = slopes * noise[d:] / noise[noisy[:k], None]
        coef[exact] = _least_squares(triangle[:, exact], triangle[:, d:] - triangle[:, :d] @ coef)
    normal = None
    if n_targets == 1:
        normal = np.append(-coef[:, 0], 1.0)
        if not exists:  # the plane is there, though no coefficients describe it
            normal = np.zeros(d + 1)
            normal[noisy] = rows[-1] / noise[noisy]
            normal[exact] = -_least_squares(triangle[:, exact], triangle @ normal[:, None])[:, 0]
        normal = normal / column_norms(normal[:, None]) + 0.0  # no negative zeros
    return TotalLeastSquares(
        coef,
        np.zeros(n_targets),
        normal,
        values,
        float(np.square(values[k:]).sum()),
        float((values[k - 1] - values[k]) / values[k - 1]) if unique and k else float(unique),
        unique,
        exists,
    )


def _describes(in_y: Floats, values: Floats, start: int) -> bool:
    """Tell whether normals with these parts in Y have coefficients, up to the rounding of singular vectors."""
    apart = values[start - 1] - values[start]
    rounding = 32 * EPS * len(values) * values[0] / apart
    return bool(svd(in_y, compute_uv=False)[-1] > rounding)


def _first_of_equals(values: Floats, place: int) -> tuple[int, bool]:
    """Return where the run of singular values begins that rounding cannot tell from the one at `place`."""
    close = 16 * EPS * len(values) * values.max(initial=0.0)
    start = place
    while start > 0 and values[start - 1] - values[place] <= close:
        start -= 1
    return start, start == place


def _without(exact: Floats, others: Floats) -> Floats:
    """Return what is left of columns when exact ones, which may depend on each other, are eliminated."""
    if not exact.shape[1]:
        return others
    basis, triangle, _ = qr(_equilibrated(exact)[0], pivoting=True)
    rank = int(np.count_nonzero(np.abs(np.diagonal(triangle)) > 16 * EPS * len(exact)))
    left: Floats = (basis.T @ others)[rank:]
    # What rounding leaves of a column that depends on exact ones is no noise.
    left[:, column_norms(left) <= 16 * EPS * len(exact) * column_norms(others)] = 0.0
    return left


def _least_squares(columns: Floats, targets: Floats) -> Floats:
    """Return the coefficients of columns, in units of their lengths the shortest."""
    if not columns.shape[1]:
        return np.zeros((0, targets.shape[1]))
    scaled, lengths = _equilibrated(columns)
    found = np.linalg.lstsq(scaled, targets, rcond=16 * EPS * len(columns))[0]
    return np.asarray(found / lengths[:, None])


def _equilibrated(columns: Floats) -> tuple[Floats, Floats]:
    lengths = column_norms(columns)
    lengths[lengths == 0] = 1.0
    return columns / lengths, lengths
