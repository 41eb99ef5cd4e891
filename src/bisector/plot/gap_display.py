"""The gap statistic over the number of clusters (Learning From Data, Problem 6.24)."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from bisector.engine.validation import check_choice
from bisector.measures.gap import GapStatistic, gap_statistic
from bisector.plot.canvas import axes, colour, dash, whole_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D


class GapDisplay:
    """The gap for each number of clusters, with standard errors and the number that is recommended.

    Parameters
    ----------
    found : GapStatistic
        From `bisector.gap_statistic`.

    Attributes
    ----------
    found : GapStatistic
    ax_, figure_ : Axes, Figure
    lines_ : list of Line2D
        The gap; or the logarithms of the scatter, of the data and of references.
    choice_ : PathCollection
        The ring around the recommended number.

    Examples
    --------
    >>> from bisector import GapDisplay, KMeans, datasets
    >>> X, _ = datasets.four_gaussians(200)
    >>> shown = GapDisplay.from_estimator(KMeans(random_state=0), X, range(1, 7), n_refs=5, rule="max")
    >>> shown.ax_.get_title()
    'Gap statistic: 4 clusters'
    """

    def __init__(self, found: GapStatistic) -> None:
        if not isinstance(found, GapStatistic):
            raise TypeError(
                f"found must be a GapStatistic, not {type(found).__name__}: make one by bisector.gap_statistic, or "
                "use from_estimator."
            )
        self.found = found

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        k_range: Iterable[int] = range(1, 11),
        n_refs: int = 20,
        *,
        kind: Literal["gap", "scatter"] = "gap",
        ax: "Axes | None" = None,
        **options: Any,
    ) -> Self:
        """Cluster rows and references with clones of a clusterer, for several numbers of clusters, and draw.

        Parameters
        ----------
        estimator, X, k_range, n_refs : as of `bisector.gap_statistic`
        kind : {"gap", "scatter"}, default="gap"
        ax : Axes, optional
        **options
            Of `bisector.gap_statistic`.
        """
        return cls(gap_statistic(X, estimator, k_range, n_refs, **options)).plot(ax, kind=kind)

    def plot(self, ax: "Axes | None" = None, *, kind: Literal["gap", "scatter"] = "gap") -> Self:
        """Draw the gap.

        Parameters
        ----------
        ax : Axes, optional
        kind : {"gap", "scatter"}, default="gap"
            The gap itself; or the two logarithms whose difference it is, that of the scatter within clusters of
            the rows, and its mean over references without clusters.

        Returns
        -------
        self
        """
        check_choice("kind", kind, ("gap", "scatter"))
        found = self.found
        self.ax_ = axes(ax)
        self.figure_: Figure | Any = self.ax_.figure
        curves = (
            [("gap", found.gap, True)]
            if kind == "gap"
            else [
                ("rows", found.log_scatter, False),
                ("references without clusters", found.log_reference, True),
            ]
        )
        self.lines_: list[Line2D] = [self._draw(place, *one) for place, one in enumerate(curves)]
        heights = np.asarray(curves[0][1], dtype=np.float64)
        at = int(np.flatnonzero(found.k == found.k_)[0])
        known = np.isfinite(heights[at])
        self.choice_ = self.ax_.scatter(
            found.k[at : at + 1] if known else [],
            heights[at : at + 1] if known else [],
            s=140, facecolors="none", edgecolors=colour(1), linewidths=2, zorder=4, label=f"chosen: {found.k_}",
        )  # fmt: skip
        clusters = "one cluster" if found.k_ == 1 else f"{found.k_} clusters"
        self.ax_.set(xlabel="number of clusters k", title=f"Gap statistic: {clusters}")
        self.ax_.set_ylabel("gap ± standard error" if kind == "gap" else "log of the scatter within clusters")
        whole_ticks(self.ax_)
        self.ax_.legend(fontsize="small")
        return self

    def _draw(self, place: int, label: str, heights: Any, with_errors: bool) -> "Line2D":
        known = np.isfinite(heights)  # where all rows of a cluster are equal, the logarithm is infinite
        place = 2 * place  # the second colour is that of the ring
        bars = self.ax_.errorbar(
            self.found.k[known], heights[known], self.found.standard_error[known] if with_errors else None,
            color=colour(place), linestyle=dash(place), marker="o", markersize=4, capsize=3, label=label,
        )  # fmt: skip
        line: Line2D = bars.lines[0]
        return line
