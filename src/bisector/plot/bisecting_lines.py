"""The perpendicular bisectors between centres in the plane, as far as they part the cells of nearest centres."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def bisecting_lines(centres: Floats, low: Floats, high: Floats) -> Floats:
    """Return the lines on which two centres are equally near, and no other is nearer.

    The points m + t·u lie on the bisector of two centres, m being halfway between them and u at right angles to
    their difference. Another centre c, and each side of the frame, leaves the t on one side of a number.

    Parameters
    ----------
    centres : ndarray of shape (k, 2)
    low, high : ndarray of shape (2,)
        The corners of the frame at which lines end.

    Returns
    -------
    ndarray of shape (n_lines, 2, 2)
        For each line its two ends.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.plot.bisecting_lines import bisecting_lines
    >>> bisecting_lines(np.array([[0.0, 0.0], [2.0, 0.0]]), np.array([-1.0, -1.0]), np.array([3.0, 1.0]))
    array([[[ 1., -1.],
            [ 1.,  1.]]])
    """
    places = np.unique(np.asarray(centres, dtype=np.float64), axis=0)
    first, second = np.triu_indices(len(places), 1)
    a, b = places[first], places[second]
    middle, along = (a + b) / 2, np.column_stack([a[:, 1] - b[:, 1], b[:, 0] - a[:, 0]])
    # t · slopes ≤ rooms, for each other centre and each side of the frame.
    steps = places[None] - a[:, None]
    slopes = 2 * np.einsum("pcj,pj->pc", steps, along)
    rooms = (
        (places**2).sum(axis=1)[None]
        - (a**2).sum(axis=1)[:, None]
        - 2 * np.einsum("pcj,pj->pc", steps, middle)
    )
    pairs = np.arange(len(a))
    slopes[pairs, first] = slopes[pairs, second] = rooms[pairs, first] = rooms[pairs, second] = 0.0
    slopes = np.column_stack([slopes, along, -along])
    rooms = np.column_stack([rooms, high - middle, middle - low])
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = rooms / slopes
    upper = np.where(slopes > 0, ends, np.inf).min(axis=1, initial=np.inf)
    lower = np.where(slopes < 0, ends, -np.inf).max(axis=1, initial=-np.inf)
    seen = (lower < upper) & ~((slopes == 0) & (rooms < 0)).any(axis=1)
    t = np.column_stack([lower, upper])[seen]
    found: Floats = middle[seen, None] + t[:, :, None] * along[seen, None]
    return found
