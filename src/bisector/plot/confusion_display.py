"""Confusion matrices: counts, and rates within each true class (Flach 2.1)."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from bisector.engine.show import number
from bisector.measures.confusion import ConfusionMatrix, confusion_matrix
from bisector.plot.canvas import axes, ink, shades
from bisector.plot.models import check_model

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage
    from matplotlib.text import Text

# Up to so many classes cells hold a rate beside the count, and up to so many a count.
_WITH_RATES, _WITH_COUNTS = 12, 25
# From so many classes on, the title has room on one line.
_ON_ONE_LINE = 6


class ConfusionDisplay:
    """What was predicted, for each true class: counts, and below them the shares of the class.

    A cell is the darker the larger its share of the true class, so that rare classes are seen as well as
    frequent ones: blue for what is right, orange for errors.

    Parameters
    ----------
    matrix : ConfusionMatrix
        From `bisector.confusion_matrix`.

    Attributes
    ----------
    matrix : ConfusionMatrix
    ax_, figure_ : Axes, Figure
    images_ : list of AxesImage
        The shades of what is right and of errors.
    text_ : ndarray of Text of shape (n_classes, n_classes)
        The words in the cells; None where there are too many.

    Examples
    --------
    >>> from bisector import ConfusionDisplay
    >>> shown = ConfusionDisplay.from_predictions(["no", "no", "no", "yes"], ["no", "no", "yes", "yes"])
    >>> print(shown.text_[0, 1].get_text())
    1
    33%
    """

    def __init__(self, matrix: ConfusionMatrix) -> None:
        if not isinstance(matrix, ConfusionMatrix):
            raise TypeError(
                f"matrix must be a ConfusionMatrix, not {type(matrix).__name__}: make one of labels by "
                "bisector.confusion_matrix."
            )
        self.matrix = matrix

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_pred: Any,
        *,
        labels: Any = None,
        sample_weight: Any = None,
        ax: "Axes | None" = None,
    ) -> Self:
        """Count and draw; parameters as of `bisector.confusion_matrix`."""
        return cls(confusion_matrix(y_true, y_pred, labels=labels, sample_weight=sample_weight)).plot(ax)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        labels: Any = None,
        sample_weight: Any = None,
        ax: "Axes | None" = None,
    ) -> Self:
        """Let a fitted classifier predict rows, count and draw; parameters as of `from_predictions`."""
        check_model(estimator, "predict")
        return cls.from_predictions(
            y, estimator.predict(X), labels=labels, sample_weight=sample_weight, ax=ax
        )

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw the matrix.

        Parameters
        ----------
        ax : Axes, optional

        Returns
        -------
        self
        """
        matrix, k = self.matrix, len(self.matrix.labels)
        side = min(max(3.6, 0.7 * k + 1.6), 12.0)
        self.ax_ = axes(ax, figsize=(side, side))
        self.figure_: Figure | Any = self.ax_.figure
        rates, right = matrix.class_conditional, np.eye(k, dtype=bool)
        self.images_: list[AxesImage] = [
            self.ax_.imshow(np.ma.masked_where(hidden, rates), cmap=shades(hue), vmin=0, vmax=1)
            for hue, hidden in enumerate([~right, right])
        ]
        self.text_ = np.full((k, k), None, dtype=object)
        if k <= _WITH_COUNTS:
            for i, j in np.ndindex(k, k):
                self.text_[i, j] = self._word(i, j, float(rates[i, j]))
        totals = matrix.counts.sum(axis=1)
        names = [str(label) for label in matrix.labels]
        counted = [f"{name} ({_amount(total)})" for name, total in zip(names, totals, strict=True)]
        upright = max(map(len, names)) * k <= 60
        self.ax_.set_xticks(range(k), names, rotation=0 if upright else 90)
        self.ax_.set_yticks(range(k), counted)
        self.ax_.set(xlabel="predicted class", ylabel="true class (rows)")
        words = f"accuracy {number(matrix.accuracy, 3)}", f"average recall {number(matrix.average_recall, 3)}"
        # A matrix of few classes is narrower than both words in one line.
        self.ax_.set_title((",\n" if k < _ON_ONE_LINE else ", ").join(words).capitalize())
        return self

    def _word(self, i: int, j: int, rate: float) -> "Text":
        count = self.matrix.counts[i, j]
        k = len(self.matrix.labels)
        words = _amount(count) + (f"\n{100 * rate:.0f}%" if k <= _WITH_RATES else "")
        return self.ax_.text(
            j, i, words, ha="center", va="center", color=ink(), fontsize=10 if k <= _WITH_RATES else 7,
            fontweight="bold" if i == j else "normal",
        )  # fmt: skip


def _amount(count: Any) -> str:
    """Write a count, or a sum of weights."""
    return f"{int(count):,}" if float(count).is_integer() else number(float(count))
