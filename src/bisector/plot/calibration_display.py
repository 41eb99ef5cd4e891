"""Reliability: probabilities against what came true, with the counts behind them (Flach 2.3)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from bisector.engine.show import number
from bisector.measures.calibration import ReliabilityCurve, reliability_curve
from bisector.plot.canvas import axes, curve, curves_on, ink
from bisector.plot.models import check_classes, check_model, named

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

# A bin of one probability is drawn so wide.
_THINNEST = 0.008


class CalibrationDisplay:
    """Reliability curves: in each bin of probabilities, the share of positives, and how many rows it holds.

    Probabilities are calibrated where the curve lies on the diagonal. Bars at the bottom show which share of the
    rows a bin holds: where they are low, the curve is a guess.

    Parameters
    ----------
    curves : ReliabilityCurve or mapping of str to ReliabilityCurve
        From `bisector.reliability_curve`.

    Attributes
    ----------
    curves : dict of str to ReliabilityCurve
    ax_, figure_ : Axes, Figure
    lines_ : list of Line2D
    bars_ : list of BarContainer

    Examples
    --------
    >>> from bisector import CalibrationDisplay
    >>> shown = CalibrationDisplay.from_predictions([0, 0, 1, 1], [0.2, 0.4, 0.3, 0.9], n_bins=2)
    >>> shown.lines_[0].get_ydata()
    array([0.33333333, 1.        ])
    >>> float(shown.bars_[0][0].get_height())
    0.75
    """

    def __init__(self, curves: ReliabilityCurve | Mapping[str, ReliabilityCurve]) -> None:
        self.curves = named(curves, "probabilities")
        for name, found in self.curves.items():
            if not isinstance(found, ReliabilityCurve):
                raise TypeError(
                    f"{name!r} is no ReliabilityCurve: make one of labels and probabilities by "
                    "bisector.reliability_curve."
                )

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_prob: Any,
        *,
        pos_label: Any = None,
        n_bins: int = 10,
        strategy: Literal["uniform", "quantile", "hull"] = "uniform",
        sample_weight: Any = None,
        ax: "Axes | None" = None,
    ) -> Self:
        """Compare probabilities with what came true, and draw.

        Parameters
        ----------
        y_true : array of shape (n,)
            Labels of two classes.
        y_prob : array of shape (n,), or mapping of str to such arrays
            Probabilities of the positive class; several for a comparison.
        pos_label, n_bins, strategy, sample_weight : as of `bisector.reliability_curve`
        ax : Axes, optional
        """
        found = {
            name: reliability_curve(
                y_true,
                given,
                pos_label=pos_label,
                n_bins=n_bins,
                strategy=strategy,
                sample_weight=sample_weight,
            )
            for name, given in named(y_prob, "probabilities").items()
        }
        return cls(found).plot(ax)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        pos_label: Any = None,
        ax: "Axes | None" = None,
        **options: Any,
    ) -> Self:
        """Draw the reliability of fitted classifiers on rows.

        Parameters
        ----------
        estimator : classifier with predict_proba, or mapping of str to such
        X, y : rows and their labels
        pos_label : label, optional
            The positive class; by default the second of two.
        ax : Axes, optional
        **options
            Of `from_predictions`.
        """
        probabilities = {}
        for name, model in named(estimator).items():
            check_model(model, "predict_proba")
            classes = np.asarray(check_classes(model)).tolist()
            if pos_label is None and len(classes) != 2:
                raise ValueError(f"There are {len(classes)} classes, {classes}: choose one by pos_label.")
            column = 1 if pos_label is None else classes.index(pos_label)
            probabilities[name or type(model).__name__] = np.asarray(model.predict_proba(X))[:, column]
        label = classes[1] if pos_label is None else pos_label
        return cls.from_predictions(y, probabilities, pos_label=label, ax=ax, **options)

    def plot(self, ax: "Axes | None" = None, *, counts: bool = True) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : Axes, optional
        counts : bool, default=True
            Whether bars show which share of the rows each bin holds.

        Returns
        -------
        self
        """
        self.ax_ = axes(ax, figsize=(5.2, 5.0))
        self.figure_: Figure | Any = self.ax_.figure
        self.lines_: list[Line2D] = []
        self.bars_: list[BarContainer] = []
        if not curves_on(self.ax_):
            self.ax_.plot([0, 1], [0, 1], color=ink(), alpha=0.4, linewidth=0.8, label="_calibrated")
        for name, found in self.curves.items():
            label = f"{name} (squared error {number(found.squared_error, 3)})"
            dots = {"marker": "o", "markersize": 4}
            line = curve(self.ax_, found.prob_pred, found.prob_true, label, **dots)
            self.lines_.append(line)
            if counts:
                self._draw_counts(found, line.get_color())
        self.ax_.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), title="Reliability")
        words = "share of positives" + ("; bars: share of rows" if counts else "")
        self.ax_.set(xlabel="mean probability", ylabel=words)
        self.ax_.set_box_aspect(1)
        self.ax_.legend(loc="upper left", fontsize="small")
        return self

    def _draw_counts(self, found: ReliabilityCurve, hue: Any) -> None:
        width = np.maximum(found.highest - found.lowest, _THINNEST)
        middle = (found.lowest + found.highest) / 2
        shares = found.weights / found.weights.sum()
        bars = self.ax_.bar(middle, shares, width, color=hue, alpha=0.25, edgecolor=hue, zorder=0.5)
        self.bars_.append(bars)
