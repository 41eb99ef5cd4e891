"""How many clusters: silhouette, gap and scatter side by side, each with what it recommends."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from bisector.measures.number_of_clusters import NumberOfClusters, choose_k
from bisector.plot.canvas import colour, whole_ticks
from bisector.plot.gap_display import GapDisplay

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D


class ClusterCountDisplay:
    """What three rules say of the number of clusters, side by side.

    Parameters
    ----------
    found : NumberOfClusters
        From `bisector.choose_k`.

    Attributes
    ----------
    found : NumberOfClusters
    axes_ : ndarray of Axes of shape (3,)
        The average silhouette, the gap, and the scatter within clusters.
    figure_ : Figure
    lines_ : list of Line2D
        One an axes.
    choices_ : list of PathCollection
        The rings around what each rule recommends; empty where it recommends nothing.

    Examples
    --------
    >>> from bisector import ClusterCountDisplay, KMeans, datasets
    >>> X, _ = datasets.four_gaussians(200)
    >>> shown = ClusterCountDisplay.from_estimator(KMeans(random_state=0), X, range(1, 7), n_refs=5)
    >>> [ax.get_title() for ax in shown.axes_]
    ['Average silhouette: 4', 'Gap statistic: 4', 'Elbow of the scatter: 4']
    """

    def __init__(self, found: NumberOfClusters) -> None:
        if not isinstance(found, NumberOfClusters):
            raise TypeError(
                f"found must be what bisector.choose_k returns, not {type(found).__name__}; or use from_estimator."
            )
        self.found = found

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        k_range: Iterable[int] = range(1, 11),
        *,
        axes: "Sequence[Axes] | None" = None,
        **options: Any,
    ) -> Self:
        """Ask three rules with clones of a clusterer, and draw; parameters as of `bisector.choose_k`."""
        return cls(choose_k(X, estimator, k_range, **options)).plot(axes)

    def plot(self, axes: "Sequence[Axes] | None" = None) -> Self:
        """Draw the three criteria.

        Parameters
        ----------
        axes : sequence of three Axes, optional
            By default those of a new figure.

        Returns
        -------
        self
        """
        import matplotlib.pyplot as plt

        given = plt.subplots(1, 3, figsize=(11, 3.4), layout="constrained")[1] if axes is None else axes
        self.axes_ = np.asarray(given, dtype=object).ravel()
        if len(self.axes_) != 3:
            raise ValueError(f"Three pictures need three axes, but {len(self.axes_)} were given.")
        found = self.found
        self.figure_: Figure | Any = self.axes_[0].figure
        left, middle, right = self.axes_
        gap = GapDisplay(found.gap).plot(middle)
        gap.choice_.set_offsets(_place(found.k, found.gap.gap, found.k_by_gap))  # its rule may differ
        middle.set_title(f"Gap statistic: {found.k_by_gap}")
        middle.get_legend().remove()
        self.lines_: list[Line2D] = [
            _draw(left, found.k, found.silhouette), gap.lines_[0], _draw(right, found.k, found.scatter)
        ]  # fmt: skip
        self.choices_ = [
            _ring(left, found.k, found.silhouette, found.k_by_silhouette),
            gap.choice_,
            _ring(right, found.k, found.scatter, found.k_by_elbow),
        ]
        left.set(title=f"Average silhouette: {_said(found.k_by_silhouette)}", ylabel="average silhouette")
        right.set(title=f"Elbow of the scatter: {_said(found.k_by_elbow)}", ylabel="scatter within clusters")
        left.set_ylim(min(0.0, float(np.nanmin([*found.silhouette, 0.0]))), 1)
        right.set_ylim(0, None)
        for ax in self.axes_:
            ax.set_xlim(found.k[0] - 0.5, found.k[-1] + 0.5)
        return self


def _draw(ax: "Axes", k: Any, heights: Any) -> "Line2D":
    ax.set_xlabel("number of clusters k")
    line: Line2D = ax.plot(k, heights, "o-", color=colour(0), markersize=4)[0]
    whole_ticks(ax)
    return line


def _place(k: Any, heights: Any, chosen: int | None) -> Any:
    at = np.flatnonzero((k == chosen) & np.isfinite(heights))
    return np.column_stack([k[at], heights[at]])


def _ring(ax: "Axes", k: Any, heights: Any, chosen: int | None) -> Any:
    x, y = _place(k, heights, chosen).T
    return ax.scatter(x, y, s=140, facecolors="none", edgecolors=colour(1), linewidths=2, zorder=4)


def _said(chosen: int | None) -> str:
    return "says nothing" if chosen is None else str(chosen)
