"""K-means step by step: where the centres go, and how the cells around them change (Flach 8.4, Figure 8.11)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bisector.engine.show import number
from bisector.engine.validation import check_count
from bisector.plot.bisecting_lines import bisecting_lines
from bisector.plot.canvas import axes, colour, frame, ink, marker, scatter
from bisector.plot.given_rows import numbers
from bisector.plot.models import feature_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

Floats = NDArray[np.float64]


class KMeansTraceDisplay:
    """The moves of the centres of k-means, and the bisectors between them, iteration by iteration.

    Parameters
    ----------
    X : array of shape (n_rows, 2)
    centers : array of shape (n_moves + 1, n_clusters, 2)
        Where the centres begin, and where they are after each move.
    names : sequence of two str, optional
        Of the features.

    Attributes
    ----------
    X, centers, names
        As given.
    ax_, figure_ : Axes, Figure
        From `plot`; `plot_steps` makes `axes_`.
    paths_ : list of Line2D
        The way of each centre.
    cells_ : list of LineCollection
        The bisectors before the first move, after it, and so on; after `plot_steps`, those of each picture.
    scatters_ : list of float
        After `plot_steps`: the scatter about the centres in each picture.

    Examples
    --------
    >>> from bisector import KMeans, KMeansTraceDisplay
    >>> X = [[0.0, 0.0], [1.0, 0.0], [8.0, 0.0], [9.0, 0.0]]
    >>> shown = KMeansTraceDisplay.from_estimator(KMeans(2, init=[[0.0, 0.0], [1.0, 0.0]]), X)
    >>> shown.centers[:, :, 0]
    array([[0. , 1. ],
           [0. , 6. ],
           [0.5, 8.5]])
    """

    def __init__(self, X: ArrayLike, centers: ArrayLike, *, names: Sequence[str] = ("x0", "x1")) -> None:
        self.X = np.asarray(X, dtype=np.float64)
        self.centers = np.asarray(centers, dtype=np.float64)
        self.names = tuple(names)
        if self.X.ndim != 2 or self.X.shape[1] != 2:
            raise ValueError(
                f"X has the shape {self.X.shape}, but moves are drawn in a plane: give two features."
            )
        if self.centers.ndim != 3 or self.centers.shape[2] != 2:
            raise ValueError(
                f"centers has the shape {self.centers.shape}, not (n_moves + 1, n_clusters, 2): give the centres "
                "before the first move and after each."
            )

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        start: ArrayLike | None = None,
        max_iter: int = 100,
        ax: "Axes | None" = None,
    ) -> Self:
        """Follow a clusterer from starting centres, by clones of it that make one move each, and draw.

        Parameters
        ----------
        estimator : KMeans, or a clusterer with parameters `init` and `max_iter`, and `cluster_centers_`
            It need not be fitted, and is left as it is.
        X : array or frame of shape (n_rows, 2)
        start : array of shape (n_clusters, 2), optional
            By default the estimator's `init`, if that is an array.
        max_iter : int, default=100
            How many moves at most.
        ax : Axes, optional
        """
        import warnings

        from sklearn.base import clone

        parameters = estimator.get_params(deep=False)
        if not {"init", "max_iter"} <= parameters.keys():
            raise TypeError(
                f"{type(estimator).__name__} has no init and max_iter, by which moves are followed."
            )
        first = parameters["init"] if start is None else start
        if isinstance(first, str) or callable(first):
            raise ValueError("Moves are followed from given centres: set start to an array, a row a cluster.")
        rows = numbers(X)
        centers = [np.asarray(first, dtype=np.float64)]
        once = {"max_iter": 1, "n_init": 1, "tol": 0.0}
        once = {name: value for name, value in once.items() if name in parameters}
        for _ in range(check_count("max_iter", max_iter)):
            model = clone(estimator).set_params(init=centers[-1], **once)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that one move is not the end is known
                centers.append(np.asarray(model.fit(rows).cluster_centers_, dtype=np.float64))
            if np.array_equal(centers[-1], centers[-2]):
                centers.pop()
                break
        return cls(rows, np.stack(centers), names=feature_names(estimator, X, 2)).plot(ax)

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw all moves on one axes: later bisectors are darker, and rows take the colours of the last cells.

        Parameters
        ----------
        ax : Axes, optional

        Returns
        -------
        self
        """
        self.ax_ = axes(ax)
        self.figure_: Figure | Any = self.ax_.figure
        n_moves = len(self.centers) - 1
        self._draw_rows(self.ax_, self.centers[-1])
        self.cells_: list[LineCollection] = [
            self._draw_cells(self.ax_, step, (1 + i) / (1 + n_moves)) for i, step in enumerate(self.centers)
        ]
        self.paths_: list[Line2D] = []
        for cluster in range(self.centers.shape[1]):
            way = self.centers[:, cluster]
            self.paths_ += self.ax_.plot(*way.T, "-", color=ink(), linewidth=1.5, marker=".", zorder=3)
            self._draw_centre(self.ax_, way[-1], cluster)
        x, y = self.centers[0].T
        self.ax_.scatter(
            x, y, s=70, facecolors="none", edgecolors=ink(), linewidths=1.5, zorder=4, label="start"
        )
        moves = "1 move" if n_moves == 1 else f"{n_moves} moves"
        self._finish(self.ax_, f"{moves} of {self.centers.shape[1]} centres")
        self.ax_.legend(fontsize="small")
        return self

    def plot_steps(self, axes: "Sequence[Axes] | None" = None, *, steps: Sequence[int] | None = None) -> Self:
        """Draw some moves side by side: rows by the nearest centre, the bisectors, and the scatter.

        Parameters
        ----------
        axes : sequence of Axes, optional
            One a step; by default those of a new figure.
        steps : sequence of int, optional
            After which moves; by default before the first, after one, after two, and at the end.

        Returns
        -------
        self
        """
        import matplotlib.pyplot as plt

        n_moves = len(self.centers) - 1
        wanted = sorted({0, 1, 2, n_moves} & set(range(n_moves + 1))) if steps is None else list(steps)
        for step in wanted:
            check_count("steps", step, at_least=0, at_most=n_moves)
        if axes is None:
            size = (3.2 * len(wanted), 3.4)
            axes = plt.subplots(
                1, len(wanted), figsize=size, layout="constrained", sharex=True, sharey=True, squeeze=False
            )[1]
        self.axes_ = np.asarray(axes, dtype=object).ravel()
        if len(self.axes_) != len(wanted):
            raise ValueError(f"{len(wanted)} steps need as many axes, but {len(self.axes_)} were given.")
        self.figure_ = self.axes_[0].figure
        self.cells_, self.scatters_ = [], []
        for ax, step in zip(self.axes_, wanted, strict=True):
            self.scatters_.append(self._draw_rows(ax, self.centers[step]))
            self.cells_.append(self._draw_cells(ax, self.centers[step], 1.0))
            if step:
                for before, after in zip(self.centers[step - 1], self.centers[step], strict=True):
                    ax.plot(*np.transpose([before, after]), color=ink(), linewidth=1.5, zorder=3)
            for cluster, centre in enumerate(self.centers[step]):
                self._draw_centre(ax, centre, cluster)
            moves = "start" if step == 0 else "1 move" if step == 1 else f"{step} moves"
            self._finish(ax, f"{moves}: scatter {number(self.scatters_[-1])}")
            ax.label_outer()
        return self

    def _draw_rows(self, ax: "Axes", centres: Floats) -> float:
        """Draw rows by their nearest centre; return their scatter about it."""
        from bisector.engine.sources import source
        from bisector.solvers.lloyd import nearest_centres

        labels, distances = nearest_centres(source(self.X), centres)
        for cluster in range(len(centres)):
            if (labels == cluster).any():
                scatter(ax, self.X[labels == cluster], cluster, alpha=0.5)
        return float(distances.sum())

    def _draw_cells(self, ax: "Axes", centres: Floats, strength: float) -> "LineCollection":
        from matplotlib.collections import LineCollection

        low, high = frame(np.concatenate([self.X, self.centers.reshape(-1, 2)]))
        found = bisecting_lines(centres, low, high)
        lines = LineCollection(
            list(found), colors=ink(), linewidths=0.6 + 0.8 * strength, alpha=0.15 + 0.6 * strength**2
        )
        ax.add_collection(lines, autolim=False)
        ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
        return lines

    def _draw_centre(self, ax: "Axes", centre: Floats, cluster: int) -> None:
        ax.scatter(
            centre[0],
            centre[1],
            s=110,
            color=colour(cluster),
            marker=marker(cluster),
            edgecolors=ink(),
            linewidths=1.5,
            zorder=5,
        )

    def _finish(self, ax: "Axes", title: str) -> None:
        ax.set(title=title, xlabel=self.names[0], ylabel=self.names[1])
        ax.set_aspect("equal")
