"""Gaussian mixtures: an ellipse a component, or a bell over one feature (Learning From Data, 6.4.1)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bisector.engine.show import number
from bisector.plot.canvas import axes, colour, curve, dash, frame, ink, scatter
from bisector.plot.given_rows import model_rows
from bisector.plot.models import check_model, feature_names, numbered
from bisector.solvers.mixture_shapes import SHAPES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.patches import Ellipse

Floats = NDArray[np.float64]


class MixtureDisplay:
    """The components of a Gaussian mixture: ellipses at one and two standard deviations, with their weights.

    Of one feature, the weighted bells and their sum are drawn instead.

    Parameters
    ----------
    weights : array of shape (k,)
    means : array of shape (k, d)
        Of one or two features.
    covariances : array of shape (k, d, d)
    rows : array of shape (n_rows, d), optional
    labels : array of int of shape (n_rows,), optional
        The most probable component of each row, for its colour.
    names : sequence of str, optional
        Of the features.

    Attributes
    ----------
    weights, means, covariances, rows, labels, names
        As given.
    ax_, figure_ : Axes, Figure
    ellipses_ : list of list of Ellipse
        For each component one a deviation.
    lines_ : list of Line2D
        Of one feature: the bells, and last their sum.

    Examples
    --------
    >>> from bisector import MixtureDisplay
    >>> shown = MixtureDisplay([0.3, 0.7], [[0.0, 0.0], [5.0, 0.0]], [[[4.0, 0.0], [0.0, 1.0]]] * 2).plot()
    >>> [(float(e.width), float(e.height)) for e in shown.ellipses_[0]]
    [(4.0, 2.0), (8.0, 4.0)]
    """

    def __init__(
        self,
        weights: ArrayLike,
        means: ArrayLike,
        covariances: ArrayLike,
        *,
        rows: ArrayLike | None = None,
        labels: ArrayLike | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        self.weights = np.asarray(weights, dtype=np.float64)
        self.means = np.asarray(means, dtype=np.float64)
        self.covariances = np.asarray(covariances, dtype=np.float64)
        self.rows = None if rows is None else np.asarray(rows, dtype=np.float64)
        self.labels = None if labels is None else np.asarray(labels)
        d = self.means.shape[1] if self.means.ndim == 2 else 0
        if d not in (1, 2):
            raise ValueError(
                f"means has the shape {self.means.shape}: components are drawn in one or two features."
            )
        if self.covariances.shape != (len(self.means), d, d) or self.weights.shape != (len(self.means),):
            raise ValueError(
                f"{len(self.means)} components of {d} features need as many weights and covariances of shape "
                f"{(len(self.means), d, d)}, not {self.weights.shape} and {self.covariances.shape}."
            )
        self.names = numbered(d) if names is None else list(names)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        *,
        features: tuple[int, int] | None = None,
        ax: "Axes | None" = None,
        **options: Any,
    ) -> Self:
        """Draw a fitted GaussianMixture, ours or scikit-learn's.

        Parameters
        ----------
        estimator : GaussianMixture
        X : array or frame of shape (n_rows, n_features), optional
            Rows to draw.
        features : pair of int, optional
            Which two of more features to draw: the mixture of the two alone, whatever the others are.
        ax : Axes, optional
        **options
            Of `plot`.
        """
        check_model(estimator, "covariances_")
        means = np.asarray(estimator.means_)
        k, d = means.shape
        if d > 2 and features is None:
            raise ValueError(
                f"The mixture has {d} features, of which two can be drawn: choose features=(i, j)."
            )
        chosen = list(range(d)) if features is None else list(features)
        if not all(0 <= j < d for j in chosen):
            raise ValueError(f"features must be numbers from 0 to {d - 1}, not {features!r}.")
        matrices = SHAPES[estimator.covariance_type].matrices(np.asarray(estimator.covariances_), k, d)
        names = feature_names(estimator, X, d)
        rows = None if X is None else model_rows(estimator, X)[:, chosen]
        return cls(
            np.asarray(estimator.weights_),
            means[:, chosen],
            np.asarray(matrices)[:, chosen][:, :, chosen],
            rows=rows,
            labels=None if X is None else estimator.predict(X),
            names=[names[j] for j in chosen],
        ).plot(ax, **options)

    def plot(self, ax: "Axes | None" = None, *, deviations: Sequence[float] = (1, 2)) -> Self:
        """Draw the components.

        Parameters
        ----------
        ax : Axes, optional
        deviations : sequence of float, default=(1, 2)
            How many standard deviations from the mean ellipses are drawn.

        Returns
        -------
        self
        """
        self.ax_ = axes(ax)
        self.figure_: Figure | Any = self.ax_.figure
        k = len(self.weights)
        title = "One component" if k == 1 else f"{k} components, with their weights"
        if len(self.names) == 1:
            self._draw_bells()
        else:
            self._draw_rows()
            self.ellipses_: list[list[Ellipse]] = [self._draw_component(j, deviations) for j in range(k)]
            self.ax_.autoscale_view()
            self.ax_.set_ylabel(self.names[1])
        self.ax_.set(xlabel=self.names[0], title=title)
        return self

    def _draw_rows(self) -> None:
        if self.rows is None:
            return
        labels = np.zeros(len(self.rows), dtype=int) if self.labels is None else self.labels
        for component in np.unique(labels).tolist():
            scatter(self.ax_, self.rows[labels == component], int(component), s=10, alpha=0.5)

    def _draw_component(self, j: int, deviations: Sequence[float]) -> list["Ellipse"]:
        from matplotlib.patches import Ellipse

        values, vectors = np.linalg.eigh(self.covariances[j])
        values, vectors = values[::-1], vectors[:, ::-1]
        angle = float(np.degrees(np.arctan2(vectors[1, 0], vectors[0, 0]))) % 180
        found = []
        for times in deviations:
            width, height = 2 * times * np.sqrt(np.maximum(values, 0))
            ellipse = Ellipse(
                tuple(self.means[j]), width, height, angle=angle, facecolor="none",
                edgecolor=colour(j), linestyle=dash(j), linewidth=1.8,
            )  # fmt: skip
            self.ax_.add_patch(ellipse)
            found.append(ellipse)
        self.ax_.plot(*self.means[j], "+", color=ink(), markersize=8)
        self.ax_.annotate(
            number(float(self.weights[j]), 2), tuple(self.means[j]), (6, 5), textcoords="offset points",
            color=ink(), fontweight="bold", zorder=5,
        )  # fmt: skip
        return found

    def _draw_bells(self) -> None:
        deviation = np.sqrt(self.covariances[:, 0, 0])
        ends = np.concatenate([self.means[:, 0] - 3.5 * deviation, self.means[:, 0] + 3.5 * deviation])
        low, high = frame(
            ends[:, None] if self.rows is None else np.concatenate([ends[:, None], self.rows]), 0.02
        )
        across = np.linspace(low[0], high[0], 800)
        steps = (across - self.means[:, :1]) / deviation[:, None]
        bells = self.weights[:, None] * np.exp(-0.5 * steps**2) / (np.sqrt(2 * np.pi) * deviation[:, None])
        total = {"color": ink(), "linewidth": 5, "alpha": 0.3, "zorder": 1.5, "label": "_sum"}
        whole = self.ax_.plot(across, bells.sum(axis=0), **total)
        self.lines_: list[Line2D] = [
            curve(self.ax_, across, bell, f"weight {number(float(weight), 2)}")
            for bell, weight in zip(bells, self.weights, strict=True)
        ]
        whole[0].set_label("sum")  # only now, so that the first bell has the first colour
        self.lines_ += whole
        if self.rows is not None:
            shown = self.rows[:, 0][:: max(1, len(self.rows) // 500)]
            self.ax_.plot(
                shown, np.full(len(shown), 0.015), "|", color=ink(), alpha=0.5,
                transform=self.ax_.get_xaxis_transform(),
            )  # fmt: skip
        self.ax_.set_ylim(0, None)
        self.ax_.set_ylabel("density")
        self.ax_.legend(fontsize="small")
