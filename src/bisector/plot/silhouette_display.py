"""Silhouettes: bars for all rows, cluster by cluster (Flach 8.4, Figure 8.14)."""

from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from bisector.engine.show import number
from bisector.measures.silhouettes import Silhouette, silhouette
from bisector.plot.canvas import axes, colour, ink
from bisector.plot.models import check_model

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.patches import StepPatch

Floats = NDArray[np.float64]
# A cluster of more rows is drawn with so many bars, each for equally many of them.
_MOST_BARS = 1000


class SilhouetteDisplay:
    """One bar a row, cluster by cluster, the longest first: how much nearer a row is to its own cluster.

    Short lines mark the averages of the clusters, and a dashed line that of all rows. Bars to the left of zero are
    hatched: such rows are nearer to another cluster.

    Parameters
    ----------
    silhouette : Silhouette
        From `bisector.silhouette`.

    Attributes
    ----------
    silhouette : Silhouette
    ax_, figure_ : Axes, Figure
    bars_, hatches_ : list of StepPatch
        Of each cluster all bars, and those to the left of zero.
    averages_ : list of Line2D
    line_ : Line2D
        At the average of all rows.

    Examples
    --------
    >>> from bisector import SilhouetteDisplay
    >>> shown = SilhouetteDisplay.from_predictions([[0], [1], [2], [10], [11]], ["a", "a", "a", "b", "b"])
    >>> shown.bars_[1].get_data().values
    array([0.9       , 0.88888889])
    >>> [label.get_text() for label in shown.ax_.get_yticklabels()]
    ['a: 3 rows, 0.858', 'b: 2 rows, 0.894']
    """

    def __init__(self, silhouette: Silhouette) -> None:
        if not isinstance(silhouette, Silhouette):
            raise TypeError(
                f"silhouette must be a Silhouette, not {type(silhouette).__name__}: make one by "
                "bisector.silhouette, or use from_predictions."
            )
        self.silhouette = silhouette

    @classmethod
    def from_predictions(
        cls,
        X: Any,
        labels: Any,
        *,
        metric: Any = "euclidean",
        form: Literal["mean", "simplified", "medoid"] = "mean",
        sample_weight: Any = None,
        n_jobs: int | None = None,
        ax: "Axes | None" = None,
    ) -> Self:
        """Draw the silhouettes of rows in clusters, from any clusterer; parameters as of `bisector.silhouette`."""
        found = silhouette(X, labels, metric=metric, form=form, sample_weight=sample_weight, n_jobs=n_jobs)
        return cls(found).plot(ax)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, *, metric: Any = None, ax: "Axes | None" = None, **options: Any
    ) -> Self:
        """Draw the silhouettes of the clusters that a fitted clusterer found.

        Parameters
        ----------
        estimator : clusterer
            With `labels_` of the rows of X, or `predict`.
        X : rows
        metric : str, Distance or callable, optional
            By default that of the clusterer, or Euclidean distance if it does not say.
        ax : Axes, optional
        **options
            Of `from_predictions`.
        """
        check_model(estimator, "labels_", "predict")
        labels = getattr(estimator, "labels_", ())
        if len(labels) != (X.shape[0] if hasattr(X, "shape") else len(X)):
            check_model(estimator, "predict")
            labels = estimator.predict(X)
        own = getattr(estimator, "metric_", "euclidean")
        return cls.from_predictions(X, labels, metric=own if metric is None else metric, ax=ax, **options)

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw the bars.

        Parameters
        ----------
        ax : Axes, optional

        Returns
        -------
        self
        """
        found = self.silhouette
        self.ax_ = axes(ax)
        self.figure_: Figure | Any = self.ax_.figure
        self.bars_: list[StepPatch] = []
        self.hatches_: list[StepPatch] = []
        self.averages_: list[Line2D] = []
        gap = max(1.0, 0.02 * len(found.values))
        start, middles, names = 0.0, [], []
        for place, (label, average) in enumerate(zip(found.clusters, found.averages, strict=True)):
            values = found.of_cluster(label)
            end = start + len(values)
            self._draw_cluster(place, values, start, end, float(average))
            middles.append((start + end) / 2)
            names.append(
                f"{label}: {len(values):,} row{'s' * (len(values) != 1)}, {number(float(average), 3)}"
            )
            start = end + gap
        self.line_ = self.ax_.axvline(found.score, color=ink(), linestyle="--", linewidth=1)
        self.ax_.axvline(0, color=ink(), linewidth=0.8)
        self.ax_.set_yticks(middles, names, fontsize="small" if len(names) <= 12 else "xx-small")
        self.ax_.set_ylim(start, -gap)
        self.ax_.set_xlim(min(-0.05, 1.05 * float(found.values.min())), 1)
        self.ax_.set(xlabel="silhouette", ylabel="cluster: rows, average", title=_title(found))
        return self

    def _draw_cluster(
        self, place: int, values: NDArray[Any], start: float, end: float, average: float
    ) -> None:
        drawn = _few(values)
        edges = np.linspace(start, end, len(drawn) + 1)
        style: dict[str, Any] = {"orientation": "horizontal", "fill": True, "linewidth": 0}
        self.bars_.append(self.ax_.stairs(drawn, edges, facecolor=colour(place), **style))
        if drawn[-1] < 0:
            below = np.minimum(drawn, 0)
            self.hatches_.append(
                self.ax_.stairs(below, edges, facecolor="none", edgecolor=ink(), hatch="////", **style)
            )
        self.averages_ += self.ax_.plot([average, average], [start, end], color=ink(), linewidth=2)


def _title(found: Silhouette) -> str:
    astray = int((found.values < 0).sum())
    words = f"\n{astray:,} of {len(found.values):,} nearer to another cluster" if astray else ""
    return f"Average silhouette {number(found.score, 3)}{words}"


def _few(values: NDArray[Any]) -> Floats:
    """Of very many values in descending order, take the means of equally many neighbours."""
    if len(values) <= _MOST_BARS:
        return np.asarray(values, dtype=np.float64)
    starts = np.linspace(0, len(values), _MOST_BARS, endpoint=False).astype(np.int64)
    sizes = np.diff(np.append(starts, len(values)))
    return np.asarray(np.add.reduceat(values.astype(np.float64), starts) / sizes)
