"""What a condenser or editor keeps, and what that does to the nearest-neighbour rule."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bisector.distances.names import resolve
from bisector.engine.validation import check_count
from bisector.plot.canvas import axes, colour, frame, grid, ink, marker, scatter
from bisector.plot.given_rows import codes_of, two_features
from bisector.plot.models import check_model, feature_names
from bisector.plot.regions import coloured, lead_lines, paint
from bisector.search.choose import build_index

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Integers = NDArray[np.int64]

# So few rows are drawn large.
FEW_ROWS = 60


class CondensationDisplay:
    """All rows faintly, the kept ones strongly, and the boundary of the nearest-neighbour rule of either.

    Parameters
    ----------
    across, up : array
        Places along both sides of a grid.
    before, after : array of int of shape (len(up), len(across))
        The class that the rule of nearest neighbours gives there, of all rows and of the kept ones.
    points, codes : array of shape (n_rows, 2), and of int (n_rows,)
        All rows, and the numbers of their classes.
    kept, kept_codes : array of shape (n_kept, 2), and of int (n_kept,)
        What is left: rows, or prototypes in their place.
    class_names : sequence of str, optional
    axis_names : pair of str, default=("x0", "x1")
    title : str, optional

    Attributes
    ----------
    ax_, figure_ : Axes, Figure
    image_ : AxesImage
        The regions of the kept rows.
    before_, after_ : list of ContourSet
        The boundaries.
    points_, kept_ : list of artists, one a class

    Examples
    --------
    >>> from bisector import CondensationDisplay, CondensedNearestNeighbor, datasets
    >>> X, y = datasets.four_gaussians()
    >>> display = CondensationDisplay.from_estimator(CondensedNearestNeighbor().fit(X, y), X, y)
    >>> display.title
    'CondensedNearestNeighbor: 4 of 1,000 rows kept'
    """

    def __init__(
        self,
        across: ArrayLike,
        up: ArrayLike,
        before: ArrayLike,
        after: ArrayLike,
        *,
        points: ArrayLike,
        codes: ArrayLike,
        kept: ArrayLike,
        kept_codes: ArrayLike,
        class_names: Any = None,
        axis_names: tuple[str, str] = ("x0", "x1"),
        title: str | None = None,
    ) -> None:
        self.across = np.asarray(across, dtype=np.float64)
        self.up = np.asarray(up, dtype=np.float64)
        self.before = np.asarray(before, dtype=np.int64)
        self.after = np.asarray(after, dtype=np.int64)
        self.points = np.asarray(points, dtype=np.float64)
        self.codes = np.asarray(codes, dtype=np.int64)
        self.kept = np.asarray(kept, dtype=np.float64)
        self.kept_codes = np.asarray(kept_codes, dtype=np.int64)
        count = int(self.codes.max()) + 1
        self.class_names = (
            [f"class {code}" for code in range(count)] if class_names is None else [*class_names]
        )
        self.axis_names = axis_names
        self.title = title

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, resolution: int = 250, ax: "Axes | None" = None
    ) -> Self:
        """Draw what a fitted condenser or editor keeps of the rows it was fitted to.

        Parameters
        ----------
        estimator : condenser or editor
            With ``sample_indices_``, or ``prototypes_`` and ``prototype_labels_``.
        X : rows
            Those it was fitted to, of two features.
        y : array of shape (n_rows,)
            The boundaries are those of the rule that a condenser answers alike with, such as that of its
            `n_neighbors`; after an editor, which promises nothing of the kind, those of one neighbour.
        resolution : int, default=250
            Places along each side of the grid.
        ax : Axes, optional

        Returns
        -------
        CondensationDisplay
        """
        check_model(estimator, "prototypes_", "sample_indices_")
        points, labels = two_features(estimator, X), np.asarray(y)
        if hasattr(estimator, "prototypes_"):
            kept, kept_labels = np.asarray(estimator.prototypes_), np.asarray(estimator.prototype_labels_)
        else:
            places = np.asarray(estimator.sample_indices_)
            if labels.shape != (len(points),) or int(places.max(initial=0)) >= len(points):
                raise ValueError(
                    f"X has {len(points)} rows and y the shape {labels.shape}, but row {int(places.max())} was "
                    f"kept: give the rows that {type(estimator).__name__} was fitted to."
                )
            kept, kept_labels = points[places], labels[places]
        return cls.from_rows(
            points,
            labels,
            kept,
            kept_labels,
            metric=getattr(estimator, "metric", "euclidean"),
            n_neighbors=_own_neighbors(estimator),
            resolution=resolution,
            axis_names=tuple(feature_names(estimator, X, 2)),
            title=f"{type(estimator).__name__}: {len(kept):,} of {len(points):,} rows kept",
            ax=ax,
        )

    @classmethod
    def from_rows(
        cls,
        X: Any,
        y: Any,
        kept: Any,
        kept_labels: Any,
        *,
        metric: Any = "euclidean",
        n_neighbors: int = 1,
        resolution: int = 250,
        axis_names: Any = ("x0", "x1"),
        title: str | None = None,
        ax: "Axes | None" = None,
    ) -> Self:
        """Draw rows, and those that were kept of them.

        Parameters
        ----------
        X, y : array of shape (n_rows, 2), and labels
        kept, kept_labels : array of shape (n_kept, 2), and labels
        metric : str, Distance or callable, default="euclidean"
        n_neighbors : int, default=1
            Of the rule whose boundaries are drawn.
        resolution : int, default=250
        axis_names : pair of str, default=("x0", "x1")
        title : str, optional
        ax : Axes, optional

        Returns
        -------
        CondensationDisplay
        """
        check_count("resolution", resolution, at_least=2)
        points, rest = np.asarray(X, dtype=np.float64), np.asarray(kept, dtype=np.float64)
        k = check_count("n_neighbors", n_neighbors)
        if k > len(rest):
            raise ValueError(
                f"n_neighbors is {k}, but only {len(rest)} rows are kept: they cannot all be asked."
            )
        classes = np.unique(np.asarray(y))
        codes = codes_of(y, classes, len(points))
        rest_codes = codes_of(kept_labels, classes, len(rest), "kept_labels")
        distance = resolve(metric).learned(points)
        across, up, places = grid(*frame(points), resolution)

        def ruled(rows: NDArray[np.float64], numbers: Integers) -> Integers:
            voters = numbers[build_index(rows, distance).query(places, k, return_distance=False)]
            votes = [(voters == code).sum(axis=1) for code in range(len(classes))]
            return np.argmax(votes, axis=0).reshape(resolution, resolution)

        return cls(
            across,
            up,
            ruled(points, codes),
            ruled(rest, rest_codes),
            points=points,
            codes=codes,
            kept=rest,
            kept_codes=rest_codes,
            class_names=[str(label) for label in classes.tolist()],
            axis_names=tuple(axis_names),
            title=f"{len(rest):,} of {len(points):,} rows kept" if title is None else title,
        ).plot(ax=ax)

    def plot(self, ax: "Axes | None" = None, *, legend: bool = True) -> Self:
        """Draw rows, kept rows and both boundaries.

        Parameters
        ----------
        ax : Axes, optional
        legend : bool, default=True

        Returns
        -------
        self
        """
        self.ax_ = axes(ax)
        self.figure_ = self.ax_.figure
        self.image_ = paint(self.ax_, self.across, self.up, coloured(self.after, 0.15))
        self.before_ = self._boundary(self.before, alpha=0.5, linewidths=2.4)
        self.after_ = self._boundary(self.after, linestyles="dashed", linewidths=1.3)
        dots = {"s": 24, "alpha": 0.5} if len(self.points) <= FEW_ROWS else {"s": 7, "alpha": 0.35}
        present = np.unique(self.codes)
        self.points_ = [
            scatter(self.ax_, self.points[self.codes == code], code, **dots, zorder=2) for code in present
        ]
        self.kept_ = [self._draw_kept(code) for code in present]
        line: dict[str, Any] = {"color": ink()}
        self.ax_.plot([], [], lw=2.4, alpha=0.5, label="boundary of all rows", **line)
        self.ax_.plot([], [], lw=1.3, linestyle="--", label="boundary of kept rows", **line)
        self.ax_.set(xlabel=self.axis_names[0], ylabel=self.axis_names[1], title=self.title)
        self.ax_.title.set_fontsize("medium")
        if legend:
            self.ax_.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
        return self

    def _boundary(self, regions: Integers, **style: Any) -> list[Any]:
        lines = [
            lead_lines(self.ax_, self.across, self.up, regions == code, hidden=regions < code, **style)
            for code in np.unique(regions)[:-1]
        ]
        return [line for line in lines if line is not None]

    def _draw_kept(self, code: int) -> Any:
        rows = self.kept[self.kept_codes == code]
        if len(self.kept) > 200:  # outlines would run into each other
            return scatter(self.ax_, rows, code, s=14, alpha=1.0, zorder=3, label=self.class_names[code])
        style: dict[str, Any] = {
            "color": colour(code),
            "marker": marker(code),
            "edgecolors": [ink()],
            "linewidths": 0.8,
        }
        size = 42 if len(self.kept) <= FEW_ROWS else 20
        return self.ax_.scatter(
            rows[:, 0], rows[:, 1], s=size, zorder=4, label=self.class_names[code], **style
        )


def _own_neighbors(estimator: Any) -> int:
    """Return the k of the rule that a condenser keeps consistent; an editor's k only judges which rows to drop."""
    promises = getattr(estimator, "consistent_", None) is not None
    return int(getattr(estimator, "n_neighbors", 1)) if promises else 1
