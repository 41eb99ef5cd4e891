"""ROC curves, their convex hulls, and the points to operate at (Flach 2.2, 7.4)."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from bisector.engine.show import number
from bisector.measures.roc import OperatingPoint, RocCurve, roc_curve
from bisector.plot.canvas import axes, curve, curves_on, ink, marker
from bisector.plot.models import class_scores, named

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

Floats = NDArray[np.float64]


class ROCDisplay:
    """ROC curves on one square, with their convex hulls and the best points for given costs.

    Parameters
    ----------
    curves : RocCurve or mapping of str to RocCurve
        From `bisector.roc_curve`, or the ``curve`` of a tree's ``roc_segments_``.

    Attributes
    ----------
    curves : dict of str to RocCurve
    hulls_ : list of tuple of ndarray
        The corners of the hulls that were drawn, across and up.
    points_ : list of OperatingPoint
        For each pair of costs the best point of each curve.
    ax_, figure_ : Axes, Figure
    lines_, hull_lines_ : list of Line2D

    Examples
    --------
    >>> from bisector import ROCDisplay
    >>> shown = ROCDisplay.from_predictions([0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], costs=[(1, 1)])
    >>> shown.points_[0].threshold
    0.5
    >>> shown.lines_[0].get_label()
    'curve (area 0.889)'
    """

    axis_labels: ClassVar[tuple[str, str]] = ("false positive rate", "true positive rate")
    title: ClassVar[str] = "ROC curve"

    def __init__(self, curves: RocCurve | Mapping[str, RocCurve]) -> None:
        self.curves = named(curves, "curve")
        for name, found in self.curves.items():
            if not isinstance(found, RocCurve):
                raise TypeError(
                    f"{name!r} is no RocCurve: make one of labels and scores by bisector.roc_curve."
                )

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        pos_label: Any = None,
        sample_weight: Any = None,
        ax: "Axes | None" = None,
        **options: Any,
    ) -> Self:
        """Draw the curves of scores.

        Parameters
        ----------
        y_true : array of shape (n,)
            Labels of two classes.
        y_score : array of shape (n,), or mapping of str to such arrays
            Scores, the higher the more positive; several for a comparison.
        pos_label : label, optional
            The positive class; by default the second of the two.
        sample_weight : array of shape (n,), optional
        ax : Axes, optional
        **options
            Of `plot`.
        """
        found = {
            name: roc_curve(y_true, scores, pos_label=pos_label, sample_weight=sample_weight)
            for name, scores in named(y_score, "curve").items()
        }
        return cls(found).plot(ax, **options)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        pos_label: Any = None,
        sample_weight: Any = None,
        ax: "Axes | None" = None,
        **options: Any,
    ) -> Self:
        """Draw the curves of fitted classifiers on rows.

        Parameters
        ----------
        estimator : classifier, or mapping of str to classifiers
            With a `decision_function` or `predict_proba`.
        X, y : rows and their labels
        pos_label : label, optional
            The positive class; by default the second of two.
        sample_weight : array of shape (n,), optional
        ax : Axes, optional
        **options
            Of `plot`.
        """
        found = {}
        for name, model in named(estimator).items():
            scores, label = class_scores(model, X, pos_label)
            found[name or type(model).__name__] = roc_curve(
                y, scores, pos_label=label, sample_weight=sample_weight
            )
        return cls(found).plot(ax, **options)

    def plot(
        self,
        ax: "Axes | None" = None,
        *,
        hull: bool = True,
        costs: Sequence[tuple[float, float]] = (),
        class_ratio: float | Literal["data"] = "data",
    ) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : Axes, optional
            Curves that were drawn there stay, and those of this display take the next colours.
        hull : bool, default=True
            Whether to draw the convex hulls too, where they lie above the curves.
        costs : sequence of (float, float), default=()
            Pairs of what a false positive and a false negative cost: the best point of each curve is marked, with
            the line through it on which all points cost the same; for equal costs it is one of equal accuracy.
        class_ratio : float or "data", default="data"
            Positives over negatives where the classifier will be used.

        Returns
        -------
        self
        """
        self.ax_ = axes(ax, figsize=(5.2, 5.0))
        self.figure_: Figure | Any = self.ax_.figure
        self.lines_: list[Line2D] = []
        self.hull_lines_: list[Line2D] = []
        self.hulls_: list[tuple[Floats, Floats]] = []
        self.points_: list[OperatingPoint] = []
        if not curves_on(self.ax_):
            self._draw_ground()
        for name, found in self.curves.items():
            self._draw_curve(f"{name} (area {number(found.auc, 3)})", found, hull)
        for place, pair in enumerate(costs):
            for line, found in zip(self.lines_, self.curves.values(), strict=True):
                self._draw_point(found, line, place, pair, class_ratio)
        self._tell_lines()
        return self

    def _tell_lines(self) -> None:
        """Write the legend: curves and points, and what the thin lines are."""
        from matplotlib.lines import Line2D

        handles = self.ax_.get_legend_handles_labels()[0]
        # These stand in the legend only: on the axes they would count as curves.
        if self.hull_lines_:
            hue = self.hull_lines_[0].get_color()
            handles.append(Line2D([], [], color=hue, linewidth=0.9, alpha=0.7, label="its convex hull"))
        if self.points_:
            handles.append(
                Line2D([], [], color=ink(), linewidth=0.8, alpha=0.6, label="points of equal cost")
            )
        self.ax_.legend(handles=handles, loc="lower right", fontsize="small")

    def _units(self, found: RocCurve) -> tuple[float, float]:
        """Return how long the two axes are: rates go up to one."""
        return 1.0, 1.0

    def _draw_ground(self) -> None:
        widths = np.array([self._units(found) for found in self.curves.values()])
        across, up = widths.max(axis=0)
        self.ax_.plot([0, across], [0, up], color=ink(), alpha=0.4, linewidth=0.8, label="_chance")
        self.ax_.set(xlim=(-0.02 * across, 1.02 * across), ylim=(-0.02 * up, 1.02 * up), title=self.title)
        self.ax_.set(xlabel=self.axis_labels[0], ylabel=self.axis_labels[1])
        self.ax_.set_box_aspect(1)

    def _draw_curve(self, label: str, found: RocCurve, hull: bool) -> None:
        across, up = self._units(found)
        # A curve of few corners shows them: they are the thresholds one can choose.
        dots = "." if len(found.fpr) <= 30 else ""
        line = curve(self.ax_, across * found.fpr, up * found.tpr, label, marker=dots)
        self.lines_.append(line)
        if hull:
            corners = hull_corners(found)
            self.hulls_.append((across * corners[0], up * corners[1]))
            self.hull_lines_ += self.ax_.plot(
                *self.hulls_[-1], color=line.get_color(), linewidth=0.9, alpha=0.7, label="_hull"
            )

    def _draw_point(
        self,
        found: RocCurve,
        line: "Line2D",
        place: int,
        pair: tuple[float, float],
        class_ratio: float | Literal["data"],
    ) -> None:
        wrong_alarm, miss = pair
        point = found.operating_point(
            false_positive_cost=wrong_alarm, false_negative_cost=miss, class_ratio=class_ratio
        )
        self.points_.append(point)
        across, up = self._units(found)
        x, y = across * point.fpr, up * point.tpr
        hue, first = line.get_color(), line is self.lines_[0]
        if np.isfinite(point.slope):
            self.ax_.axline((x, y), slope=point.slope * up / across, color=ink(), alpha=0.6, linewidth=0.8)
        else:
            self.ax_.axvline(x, color=ink(), alpha=0.6, linewidth=0.8)
        words = f"costs {number(wrong_alarm)} : {number(miss)}" if first else None
        self.ax_.scatter(
            x, y, s=60, marker=marker(place + 1), facecolor=hue, edgecolor=ink(), zorder=4, label=words
        )


def hull_corners(found: RocCurve) -> tuple[Floats, Floats]:
    """Return the corners of the upper convex hull of a curve: pooling steps that do not fall in slope.

    Examples
    --------
    >>> from bisector.measures.roc import roc_curve
    >>> from bisector.plot.roc_display import hull_corners
    >>> hull_corners(roc_curve([0, 1, 0, 1, 1], [1.0, 2.0, 3.0, 4.0, 5.0]))
    (array([0. , 0. , 0.5, 1. ]), array([0.        , 0.66666667, 1.        , 1.        ]))
    """
    from bisector.solvers.isotonic import pooled

    up, across = _whole(np.diff(found.tpr) * found.positives), _whole(np.diff(found.fpr) * found.negatives)
    starts = len(up) - pooled(up[::-1], (up + across)[::-1]).starts[::-1]
    return found.fpr[starts].astype(np.float64), found.tpr[starts].astype(np.float64)


def _whole(counts: NDArray[Any]) -> Floats:
    """Round what is whole but for rounding: whole numbers are compared exactly."""
    rounded: Floats = np.rint(counts).astype(np.float64)
    return np.where(np.abs(counts - rounded) < 1e-6, rounded, counts)
