"""Voronoi cells: the places that are nearest to each exemplar, under any distance."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bisector.distances.distance import Distance
from bisector.distances.names import resolve
from bisector.engine.validation import check_count
from bisector.plot.canvas import axes, colour, frame, grid, ink, marker
from bisector.plot.given_rows import numbers
from bisector.plot.models import check_model
from bisector.plot.regions import hues, lead_lines, paint
from bisector.search.choose import build_index

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]


class VoronoiDisplay:
    """The cells of exemplars: which is nearest to each place, and which comes second (Flach 8.2).

    Between two exemplars runs the set of places that are equally far from both: under Euclidean distance their
    perpendicular bisector. A place that is equally near to two belongs to the one with the smaller number.

    Parameters
    ----------
    across, up : array
        Places along both sides of a grid.
    nearest : array of int of shape (len(up), len(across), depth)
        The numbers of the nearest exemplars of each place, nearest first: one more than `order`, if there are as
        many.
    distances : array of the same shape
        How far away they are.
    exemplars : array of shape (n_exemplars, 2)
    order : {1, 2}, default=1
        Cells of the nearest exemplar, or of the two nearest in their order.
    codes : array of int of shape (n_exemplars,), optional
        By which cells are coloured, such as numbers of classes; by default each has its own.
    names : sequence of str, optional
        What the exemplars are called.
    title : str, optional

    Attributes
    ----------
    ax_, figure_ : Axes, Figure
    image_ : AxesImage
    boundaries_ : list of ContourSet
        Around the cells of the nearest exemplar.
    second_boundaries_ : list of ContourSet
        Around the places for which an exemplar is one of the two nearest; if ``order=2``.
    exemplars_ : list of PathCollection

    Examples
    --------
    >>> from bisector import VoronoiDisplay
    >>> display = VoronoiDisplay.from_exemplars([[0, 0], [4, 0], [0, 3]], "manhattan")
    >>> display.nearest.shape
    (400, 400, 2)
    >>> display.ax_.get_title()
    'Nearest of 3 exemplars: Manhattan()'
    """

    def __init__(
        self,
        across: ArrayLike,
        up: ArrayLike,
        nearest: ArrayLike,
        distances: ArrayLike,
        *,
        exemplars: ArrayLike,
        order: int = 1,
        codes: ArrayLike | None = None,
        names: Any = None,
        title: str | None = None,
    ) -> None:
        self.across = np.asarray(across, dtype=np.float64)
        self.up = np.asarray(up, dtype=np.float64)
        self.nearest = np.asarray(nearest, dtype=np.int64)
        self.distances = np.asarray(distances, dtype=np.float64)
        self.exemplars = np.asarray(exemplars, dtype=np.float64)
        self.order = order
        self.codes = np.arange(len(self.exemplars)) if codes is None else np.asarray(codes, dtype=np.int64)
        self.names = None if names is None else [str(name) for name in names]
        self.title = title

    @classmethod
    def from_exemplars(
        cls,
        exemplars: Any,
        metric: Any = "euclidean",
        *,
        p: float = 2,
        order: int = 1,
        labels: Any = None,
        names: Any = None,
        limits: Any = None,
        resolution: int = 400,
        ax: "Axes | None" = None,
    ) -> Self:
        """Find the nearest exemplars of every place of the plane, and draw their cells.

        Parameters
        ----------
        exemplars : array of shape (n_exemplars, 2)
        metric : str, Distance or callable, default="euclidean"
            Any distance between points of the plane.
        p : float, default=2
            Of ``metric="minkowski"``.
        order : {1, 2}, default=1
        labels : array of shape (n_exemplars,), optional
            Classes of the exemplars, by which their cells are coloured.
        names : sequence of str, optional
            What the exemplars are called; the names are written beside them.
        limits : ((left, right), (bottom, top)), optional
            How far the plane reaches; by default somewhat further than the exemplars.
        resolution : int, default=400
            Places along each side of the grid.
        ax : Axes, optional

        Returns
        -------
        VoronoiDisplay
        """
        points = numbers(exemplars, "exemplars")
        if points.shape[1] != 2:
            raise ValueError(
                f"exemplars have {points.shape[1]} coordinates, but cells are drawn in a plane: give two columns."
            )
        if order not in (1, 2):
            raise ValueError(f"order must be 1 (the nearest) or 2 (the two nearest), not {order!r}.")
        check_count("resolution", resolution, at_least=2)
        distance = resolve(metric, p=p).learned(points)
        low, high = frame(points, margin=0.3) if limits is None else np.asarray(limits, dtype=np.float64).T
        across, up, places = grid(low, high, resolution)
        depth = min(order + 1, len(points))
        far, near = _nearest_exemplars(points, distance, places, depth)
        codes = None
        if labels is not None:
            if len(labels) != len(points):
                raise ValueError(
                    f"There are {len(labels)} labels for {len(points)} exemplars: give one for each."
                )
            codes = np.unique(np.asarray(labels), return_inverse=True)[1]
        what = "Nearest" if order == 1 else "First and second"
        return cls(
            across,
            up,
            near.reshape(resolution, resolution, depth),
            far.reshape(resolution, resolution, depth),
            exemplars=points,
            order=order,
            codes=codes,
            names=names,
            title=f"{what} of {len(points)} exemplars: {distance!r}",
        ).plot(ax=ax)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any = None, y: Any = None, *, ax: "Axes | None" = None, **options: Any
    ) -> Self:
        """Draw the cells of a fitted model's exemplars, under its distance.

        Parameters
        ----------
        estimator : clusterer or classifier
            With ``cluster_centers_``, ``exemplars_`` or ``means_``, of two features.
        X : rows, optional
            The plane then reaches as far as they do.
        y : ignored
        ax : Axes, optional
        **options
            Of `from_exemplars`.

        Returns
        -------
        VoronoiDisplay
        """
        name = check_model(estimator, "exemplars_", "cluster_centers_", "means_")
        settings: dict[str, Any] = {"metric": getattr(estimator, "metric_", "euclidean")}
        if hasattr(estimator, "exemplar_labels_"):
            settings["labels"] = estimator.exemplar_labels_
        if X is not None:
            settings["limits"] = np.stack(frame(numbers(X))).T
        return cls.from_exemplars(getattr(estimator, name), ax=ax, **{**settings, **options})

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw the cells, the lines between them, and the exemplars.

        Parameters
        ----------
        ax : Axes, optional

        Returns
        -------
        self
        """
        self.ax_ = axes(ax, layout="compressed")
        self.figure_ = self.ax_.figure
        self.image_ = paint(self.ax_, self.across, self.up, self._cells())
        self.second_boundaries_ = self._lines(2, linewidths=0.7, alpha=0.6) if self.order == 2 else []
        self.boundaries_ = self._lines(1, linewidths=1.6)
        self.exemplars_ = self._draw_exemplars()
        self.ax_.set(title=self.title, xlabel="x0", ylabel="x1", aspect="equal")
        return self

    def _cells(self) -> Floats:
        """The colour of the nearest, and of the second a third part: shading tells who contributes to a cell."""
        colours = hues(int(self.codes.max()) + 1)[self.codes]
        cells = np.empty((*self.nearest.shape[:2], 4))
        cells[..., :3] = colours[self.nearest[..., 0]]
        if self.order == 2 and self.nearest.shape[2] > 1:
            cells[..., :3] = (2 * cells[..., :3] + colours[self.nearest[..., 1]]) / 3
        cells[..., 3] = 0.35
        return cells

    def _lines(self, order: int, **style: Any) -> list[Any]:
        """Draw the line around the places for which each exemplar is among so many nearest."""
        if self.nearest.shape[2] <= order:
            return []
        reached, next_one = self.distances[..., order - 1], self.distances[..., order]
        drawn = []
        for number in np.unique(self.nearest[..., :order]):
            own = self.nearest[..., :order] == number
            inside = own.any(axis=2)
            distance = np.where(own, self.distances[..., :order], 0.0).sum(axis=2)
            # Outside, the exemplar is at best the next one.
            lead = np.where(inside, next_one - distance, reached - next_one)
            line = lead_lines(self.ax_, self.across, self.up, inside, lead, **style)
            drawn += [] if line is None else [line]
        return drawn

    def _draw_exemplars(self) -> list[Any]:
        drawn = []
        for code in np.unique(self.codes):
            points = self.exemplars[self.codes == code]
            style: dict[str, Any] = {
                "color": colour(code),
                "marker": marker(code),
                "edgecolors": [ink()],
                "zorder": 4,
            }
            drawn.append(
                self.ax_.scatter(
                    points[:, 0], points[:, 1], s=46 if len(self.exemplars) <= 50 else 14, **style
                )
            )
        for point, name in zip(self.exemplars, self.names or [], strict=False):
            self.ax_.annotate(name, point, (6, 5), textcoords="offset points", zorder=5)
        return drawn


def _nearest_exemplars(
    points: Floats, distance: Distance, places: Floats, depth: int
) -> tuple[Floats, NDArray[np.int64]]:
    """Return distances and numbers of the nearest exemplars, nearest first.

    Where exemplars are equally near over a whole area, as under Manhattan distance, rounding would decide from
    place to place: distances that differ by no more are equal, and the smaller number comes first.
    """
    far, near = build_index(points, distance).query(places, min(depth + 2, len(points)))
    rounding = 1e-12 * max(float(far[np.isfinite(far)].max(initial=0.0)), 1e-300)
    steps = np.round(far / rounding)
    order = np.lexsort((near, steps), axis=1)[:, :depth]
    return np.take_along_axis(far, order, axis=1), np.take_along_axis(near, order, axis=1)
