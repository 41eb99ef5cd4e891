"""Distance profiles: how pairwise distances vary, and how near the nearest row is (Flach 8.3)."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from bisector.engine.show import number
from bisector.measures.profile import DistanceProfile, distance_profile
from bisector.plot.canvas import axes, colour, dash

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patches import StepPatch


class DistanceProfileDisplay:
    """The distances between all pairs, beside those to the nearest and to the farthest row.

    Where the three lie apart, neighbours mean something; where they are one narrow peak, every row is about as far
    away as any other.

    Parameters
    ----------
    profile : DistanceProfile
        From `bisector.distance_profile`.

    Attributes
    ----------
    profile : DistanceProfile
    ax_, figure_ : Axes, Figure
    pairs_, nearest_, farthest_ : StepPatch
        Histograms: shares of the pairs, and of the rows, in cells of equal width.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector import DistanceProfileDisplay
    >>> rows = np.random.default_rng(0).normal(size=(200, 500))
    >>> shown = DistanceProfileDisplay.from_rows(rows)
    >>> print(shown.ax_.get_title())
    Neighbours mean next to nothing
    contrast 0.16, about 80 dimensions
    """

    def __init__(self, profile: DistanceProfile) -> None:
        if not isinstance(profile, DistanceProfile):
            raise TypeError(
                f"profile must be a DistanceProfile, not {type(profile).__name__}: make one by "
                "bisector.distance_profile, or use from_rows."
            )
        self.profile = profile

    @classmethod
    def from_rows(
        cls,
        X: Any,
        metric: Any = "euclidean",
        *,
        sample: int = 2000,
        seed: int = 0,
        n_jobs: int | None = None,
        ax: "Axes | None" = None,
    ) -> Self:
        """Compare the rows of a sample and draw; parameters as of `bisector.distance_profile`."""
        return cls(distance_profile(X, metric, sample=sample, seed=seed, n_jobs=n_jobs)).plot(ax)

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw the profile.

        Parameters
        ----------
        ax : Axes, optional

        Returns
        -------
        self
        """
        profile = self.profile
        self.ax_ = axes(ax)
        self.figure_: Figure | Any = self.ax_.figure
        counts, edges = profile.counts, profile.edges
        self.pairs_: StepPatch = self.ax_.stairs(
            counts / max(counts.sum(), 1), edges, fill=True, color=colour(0), alpha=0.35, label="all pairs"
        )
        self.nearest_ = self._outline(profile.nearest, 1, "to the nearest row")
        self.farthest_ = self._outline(profile.farthest, 2, "to the farthest row")
        self.ax_.set(xlabel=f"distance, {profile.metric!r}", ylabel="share", title=_title(profile))
        self.ax_.set_xlim(0, None)
        self.ax_.set_ylim(0, 1.3 * self.ax_.get_ylim()[1])  # room for the legend
        self.ax_.legend(fontsize="small")
        return self

    def _outline(self, distances: Any, place: int, label: str) -> "StepPatch":
        counts, edges = np.histogram(distances, self.profile.edges)
        return self.ax_.stairs(
            counts / max(len(distances), 1),
            edges,
            color=colour(place),
            linestyle=dash(place),
            linewidth=1.4,
            label=f"{label} (median {number(float(np.median(distances)), 3)})" if len(distances) else label,
        )


def _title(profile: DistanceProfile) -> str:
    said = profile.verdict.partition(":")[0]
    if not np.isfinite(profile.contrast):
        return said
    spread = f", about {number(profile.dimension, 2)} dimensions" if np.isfinite(profile.dimension) else ""
    return f"{said.partition(',')[0]}\ncontrast {number(profile.contrast, 2)}{spread}"
