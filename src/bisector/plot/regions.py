"""Regions of a plane: who owns each place of a grid, drawn as colours with sharp lines between them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bisector.plot.canvas import colour, ink

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def paint(ax: "Axes", across: Floats, up: Floats, colours: Floats) -> "Artist":
    """Fill the cells of a grid: an image of shape (up, across, 4), red, green, blue and opacity."""
    step = [(side[-1] - side[0]) / max(1, len(side) - 1) / 2 for side in (across, up)]
    extent = (across[0] - step[0], across[-1] + step[0], up[0] - step[1], up[-1] + step[1])
    image = ax.imshow(
        colours, extent=extent, origin="lower", aspect="auto", interpolation="nearest", zorder=0
    )
    ax.set(xlim=(across[0], across[-1]), ylim=(up[0], up[-1]))
    return image


def coloured(codes: Integers, opacity: ArrayLike) -> Floats:
    """Return the cells of a grid in the colours of their owners, as opaque as is asked.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.plot.regions import coloured
    >>> coloured(np.array([[0, 1]]), 0.25)[0, :, 3]
    array([0.25, 0.25])
    """
    cells = np.empty((*codes.shape, 4))
    cells[..., :3] = hues(int(codes.max()) + 1)[codes]
    cells[..., 3] = opacity
    return cells


def hues(count: int) -> Floats:
    """Return the colours of classes as red, green and blue."""
    from matplotlib.colors import to_rgb

    return np.array([to_rgb(colour(number)) for number in range(count)])


def lead_lines(
    ax: "Axes",
    across: Floats,
    up: Floats,
    inside: NDArray[np.bool_],
    lead: Floats | None = None,
    hidden: NDArray[np.bool_] | None = None,
    **style: Any,
) -> "Artist | None":
    """Draw the line around what lies inside.

    Parameters
    ----------
    ax : Axes
    across, up : ndarray
        The places of the grid along its sides.
    inside : ndarray of bool of shape (up, across)
    lead : ndarray of the same shape, optional
        By how much each place is inside (positive) or not: the line then runs where it would be zero between the
        places of the grid; without it, halfway.
    hidden : ndarray of bool of the same shape, optional
        Places beside which no line is drawn: what dashes is drawn once, though it lies around two regions.
    **style
        Of `matplotlib.axes.Axes.contour`.
    """
    if inside.all() or not inside.any():
        return None
    # Where the lead is zero over a whole area, ties are broken as the model broke them.
    if lead is None:
        field = np.where(inside, 1.0, -1.0)
    else:
        least = 1e-9 * max(float(np.abs(lead).max()), 1e-300)
        field = np.where(inside, np.maximum(lead, least), np.minimum(lead, -least))
    # Only where the line can run: of many regions each is small.
    rows, columns = (_window(inside.any(axis=axis)) for axis in (1, 0))
    options: dict[str, Any] = {"colors": [ink()], "linewidths": 1.2, **style}
    if hidden is not None:
        field = np.ma.masked_where(hidden, field)
        if not field.min() < 0 < field.max():
            return None
    return ax.contour(across[columns], up[rows], field[rows, columns], [0.0], **options)


def level_lines(
    ax: "Axes", across: Floats, up: Floats, field: Floats, levels: Sequence[float], **style: Any
) -> "Artist | None":
    """Draw where a field over a grid has certain levels, of which those it does not reach are left out."""
    reached = [level for level in levels if field.min() < level < field.max()]
    if not reached:
        return None
    return ax.contour(across, up, field, reached, **{"colors": [ink()], "linewidths": 1.0, **style})


def _window(met_inside: Any) -> slice:
    """Return the lines of a grid that an outline can cross, with one more at either end."""
    met = np.flatnonzero(met_inside)
    return slice(max(int(met[0]) - 1, 0), int(met[-1]) + 2)
