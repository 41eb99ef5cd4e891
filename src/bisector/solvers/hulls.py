"""Two questions about the convex hulls of two sets of points, each answered by one least-squares problem.

With signs y = ±1 of the sets and homogeneous points z = y(x, 1), the hulls meet if and only if the origin is in the
hull of the z, and their relative interiors meet if and only if it is in the relative interior of that hull. Both
are found by least squares with coefficients λ ≥ 0, where a residual is a proof, and none is one of the opposite:

    meeting    min ‖(Σλz, Σλ − 1)‖   zero: the λ are convex weights of a common point;
                                     else z·v > 0 for all points, v = Σλz: the plane v lies between the sets.
    touching   min ‖Σλz + Σz‖        zero: Σ(1 + λ)z = 0, all weights positive, so that the interiors meet;
                                     else z·v ≥ 0 for all points, and not all of them lie on the plane v.

For the same question, linear programmes take thirty times as long from some hundred columns on, and their
tolerances leave half of the digits undecided.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from bisector.engine.memory import require

from .nonnegative import Nonnegative, nonnegative_least_squares

Floats = NDArray[np.float64]

# What spreads less than this share of the widest spread does so by rounding.
SMALLEST_SPREAD = 1e-13


class Nearest(NamedTuple):
    """How near the origin can be reached.

    Attributes
    ----------
    normal : (d,)
    intercept : float
        The plane v, of length one.
    distance : float
        Zero, but for rounding, if the origin is reached; in units of the spread of the z, if they spread in all
        directions.
    weights : (n_points,)
        λ.
    support : list of int
        The points with positive weights; a good start when points are added.
    """

    normal: Floats
    intercept: float
    distance: float
    weights: Floats
    support: list[int]


def between_hulls(points: Any, signs: Floats, *, start: Sequence[int] = ()) -> Nearest:
    """Find the plane between two hulls, or the convex weights of a point of both.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.solvers.hulls import between_hulls
    >>> found = between_hulls(np.array([[0.0], [1.0], [0.5]]), np.array([-1.0, -1.0, 1.0]))
    >>> (found.weights / found.weights.sum()).round(12)  # halves, of a half each
    array([0.25, 0.25, 0.5 ])
    """
    z, frame = _even(_homogeneous(points, signs))
    target = np.append(np.zeros(len(z)), 1.0)
    found = _nearest(np.vstack([z, np.ones(z.shape[1])]), target, start)
    return _answer(found, found.residual[:-1], frame)


def touching_plane(points: Any, signs: Floats, total: Floats, *, start: Sequence[int] = ()) -> Nearest:
    """Find a plane with the points on their sides or on itself; `total` is Σz, and may be that of more points."""
    z, frame = _even(_homogeneous(points, signs))
    if frame is not None:
        total = solve_triangular(frame, total, trans="T")
    found = _nearest(z, -total, start)
    return _answer(found, found.residual, frame)


def _homogeneous(points: Any, signs: Floats) -> Floats:
    """Return the z as columns."""
    n, d = points.shape
    require(
        2 * 8 * n * (d + 2),
        doing=f"Comparing the hulls of {n:,} rows of {d:,} features",
        instead="choose among the features first",
    )
    dense = points.toarray() if hasattr(points, "toarray") else points
    return np.vstack([dense.T * signs, signs])


def _even(z: Floats) -> tuple[Floats, Floats | None]:
    """Take the z to coordinates in which they spread evenly, if they spread in all directions.

    Questions about hulls do not see a linear map, but rounding does: features that nearly depend on each other
    would leave it to decide. Returns the z there, and the triangle R with z = Rᵀz', or None.
    """
    if z.shape[1] < z.shape[0]:
        return z, None
    basis, triangle = np.linalg.qr(z.T)
    triangle /= np.sqrt(z.shape[1])
    spread = np.abs(np.diagonal(triangle))
    if spread.min() <= SMALLEST_SPREAD * spread.max():
        return z, None
    return np.ascontiguousarray(basis.T) * np.sqrt(z.shape[1]), triangle


def _nearest(columns: Floats, target: Floats, start: Sequence[int]) -> Nonnegative:
    """Solve min ‖Aλ − b‖ for λ ≥ 0."""
    n_rows, n_columns = columns.shape
    if n_rows > n_columns + 1:  # only the space that the columns and the target span matters
        basis, triangle = np.linalg.qr(np.column_stack([columns, target]))
        found = nonnegative_least_squares(triangle[:, :-1], triangle[:, -1], start=start)
        found = replace(found, residual=basis @ found.residual)
    else:
        found = nonnegative_least_squares(columns, target, start=start)
    if not found.converged:
        raise ArithmeticError(
            f"The hulls of {n_columns} rows could not be compared to the last digit: scale the columns."
        )
    return found


def _answer(found: Nonnegative, residual: Floats, frame: Floats | None) -> Nearest:
    """Return what was found, its plane in the coordinates of the points."""
    # Not made of the weights, which may be large: what is left would drown in their rounding.
    plane = -residual if frame is None else solve_triangular(frame, -residual)
    plane = plane / (np.linalg.norm(plane) or 1.0)
    distance = float(np.linalg.norm(found.residual))
    return Nearest(plane[:-1], float(plane[-1]), distance, found.solution, found.inside)
