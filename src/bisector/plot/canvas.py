"""What all pictures share: colours, markers, axes to draw on, and how many rows are drawn as dots.

Colours are six of Okabe and Ito's, and four that stay apart from them and from each other for colour-blind readers
too; each class or cluster also has a marker and a dash of its own, so that a picture can be read in grey. Ten are
as many as there are digits; then they come round again. What is neither class nor cluster (lines of a grid,
outlines, words) takes the colour that Matplotlib writes with, which is light where the page is dark.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.lines import Line2D

COLOURS = (
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"),
    *("#8020E0", "#803820", "#606060", "#80B050"),
)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", "p", ">")
DASHES = (
    *("-", "--", ":", "-.", (0, (5, 1)), (0, (1, 1)), (0, (3, 1, 1, 1))),
    *((0, (8, 3)), (0, (6, 2, 1, 2, 1, 2)), (0, (1, 4))),
)
# From so many rows on, what is drawn is how many lie in each cell.
MOST_DOTS = 5_000


def colour(number: int) -> str:
    """Return the colour of a class, a cluster or a curve."""
    return COLOURS[number % len(COLOURS)]


def marker(number: int) -> str:
    """Return the marker that goes with `colour`; it changes when colours come round again."""
    return MARKERS[(number + number // len(COLOURS)) % len(MARKERS)]


def dash(number: int) -> Any:
    """Return the line style that goes with `colour`."""
    return DASHES[(number + number // len(COLOURS)) % len(DASHES)]


def axes(ax: "Axes | None", **options: Any) -> "Axes":
    """Return the axes to draw on: those given, or new ones; `options` are those of `matplotlib.pyplot.subplots`."""
    import matplotlib.pyplot as plt

    return plt.subplots(**{"layout": "constrained", **options})[1] if ax is None else ax


def ink() -> Any:
    """Return the colour that Matplotlib writes with now: dark on light pages, light on dark ones."""
    import matplotlib as mpl

    return mpl.rcParams["text.color"]


def shades(number: int, lightest: float = 0.0, darkest: float = 0.6) -> "Colormap":
    """Return a map from transparent to a colour, for areas under dots: it suits light and dark pages."""
    from matplotlib.colors import LinearSegmentedColormap, to_rgb

    hue = to_rgb(colour(number))
    return LinearSegmentedColormap.from_list(f"bisector-{number}", [(*hue, lightest), (*hue, darkest)])


def curves_on(ax: "Axes") -> int:
    """Count the curves that stand in the legend so far: the next one takes the next colour and dash."""
    return sum(not str(line.get_label()).startswith("_") for line in ax.get_lines())


def curve(ax: "Axes", x: NDArray[Any], y: NDArray[Any], label: str, **options: Any) -> "Line2D":
    """Draw a curve in the next colour and dash, so that several can be drawn on the same axes."""
    number = curves_on(ax)
    style = {"color": colour(number), "linestyle": dash(number), "label": label}
    line: Line2D = ax.plot(x, y, **{**style, **options})[0]
    return line


def whole_ticks(ax: "Axes") -> None:
    """Let the ticks below a picture be whole numbers, as counts are."""
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(integer=True))


def scatter(ax: "Axes", points: NDArray[Any], number: int = 0, **options: Any) -> "Artist":
    """Draw rows with two coordinates: as dots, or, if they are very many, as counts in cells.

    Parameters
    ----------
    ax : Axes
    points : ndarray of shape (n_rows, 2)
    number : int, default=0
        Of the class or cluster, which gives colour and marker.
    **options
        Of `matplotlib.axes.Axes.scatter`; they do not apply to counts, but for the label.

    Returns
    -------
    Artist
        A ``PathCollection`` of dots, or a ``QuadMesh`` of cells.
    """
    if len(points) <= MOST_DOTS:
        style = {"s": 18, "color": colour(number), "marker": marker(number), "linewidths": 0, "alpha": 0.8}
        return ax.scatter(points[:, 0], points[:, 1], **{**style, **options})
    counts, x, y = np.histogram2d(points[:, 0], points[:, 1], bins=100)
    cells = np.ma.masked_equal(
        np.sqrt(counts.T), 0
    )  # of a few cells with very many rows, the others still show
    mesh = ax.pcolormesh(x, y, cells, cmap=shades(number, lightest=0.15, darkest=0.9), linewidth=0)
    if "label" in options:
        ax.scatter([], [], color=colour(number), marker="s", label=options["label"])
    return mesh


def frame(points: NDArray[Any], margin: float = 0.08) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the lower and upper limits of a picture that holds all points with a margin around them.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.plot.canvas import frame
    >>> frame(np.array([[0.0, 1.0], [10.0, 1.0]]), margin=0.1)
    (array([-1.,  0.]), array([11.,  2.]))
    """
    low, high = np.asarray(points, float).min(axis=0), np.asarray(points, float).max(axis=0)
    room = np.where(high > low, margin * (high - low), 1.0)
    return low - room, high + room


def grid(low: NDArray[Any], high: NDArray[Any], resolution: int = 200) -> tuple[NDArray[Any], ...]:
    """Return the places of a grid over a rectangle: those along each side, and all of them as rows."""
    across = np.linspace(low[0], high[0], resolution)
    up = np.linspace(low[1], high[1], resolution)
    both = np.meshgrid(across, up)
    return across, up, np.column_stack([one.ravel() for one in both])
