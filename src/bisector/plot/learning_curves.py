"""Errors against the number of training rows."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from bisector.plot.canvas import axes, colour, dash, ink, marker

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class LearningCurveDisplay:
    """How errors on rows left out fall with the number of training rows, while those in sample rise.

    The picture of LFD's Figure 6.3.

    Parameters
    ----------
    sizes : array of shape (n_sizes,)
        Numbers of training rows.
    out_of_sample, in_sample : array of shape (n_curves, n_sizes)
        Errors on rows left out, and on the training rows.
    names : sequence of str
        What each pair of curves is of.
    spread : array of shape (n_curves, n_sizes), optional
        Standard errors of `out_of_sample`.
    title : str, optional

    Attributes
    ----------
    ax_, figure_ : Axes, Figure
    out_of_sample_, in_sample_ : list of Line2D
    bands_ : list of PolyCollection

    Examples
    --------
    >>> from bisector import LearningCurveDisplay, datasets, learning_curve
    >>> curve = learning_curve(*datasets.iris(), sizes=[20, 100], choices=[1, "sqrt"], repeats=3)
    >>> LearningCurveDisplay.from_curve(curve).names
    ['k = 1', 'k = √N']
    """

    def __init__(
        self,
        sizes: ArrayLike,
        out_of_sample: ArrayLike,
        in_sample: ArrayLike,
        *,
        names: Any,
        spread: ArrayLike | None = None,
        title: str | None = None,
    ) -> None:
        self.sizes = np.asarray(sizes)
        self.out_of_sample = np.atleast_2d(np.asarray(out_of_sample, dtype=np.float64))
        self.in_sample = np.atleast_2d(np.asarray(in_sample, dtype=np.float64))
        self.names = [str(name) for name in names]
        shape = (len(self.names), len(self.sizes))
        if not self.out_of_sample.shape == self.in_sample.shape == shape:
            raise ValueError(
                f"There are {shape[0]} names and {shape[1]} sizes, but errors of the shapes "
                f"{self.out_of_sample.shape} and {self.in_sample.shape}: give a row for each name."
            )
        self.spread = None if spread is None else np.atleast_2d(np.asarray(spread, dtype=np.float64))
        self.title = title

    @classmethod
    def from_curve(cls, curve: Any, *, ax: "Axes | None" = None) -> Self:
        """Draw what `learning_curve` measured.

        Parameters
        ----------
        curve : LearningCurve
            What `bisector.learning_curve` returned.
        ax : Axes, optional

        Returns
        -------
        LearningCurveDisplay
        """
        if not hasattr(curve, "out_of_sample"):
            raise TypeError(f"curve must be what learning_curve returned, not a {type(curve).__name__}.")
        return cls(
            curve.sizes,
            curve.out_of_sample,
            curve.in_sample,
            names=curve.table().columns[1:],
            spread=curve.out_of_sample_std,
            title="Errors of nearest neighbours by the number of rows",
        ).plot(ax=ax)

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw a pair of curves for each name: left out with markers, in sample without.

        Parameters
        ----------
        ax : Axes, optional

        Returns
        -------
        self
        """
        self.ax_ = axes(ax)
        self.figure_ = self.ax_.figure
        self.out_of_sample_, self.in_sample_, self.bands_ = [], [], []
        for number, name in enumerate(self.names):
            style: dict[str, Any] = {"color": colour(number), "linestyle": dash(number)}
            left_out = self.out_of_sample[number]
            self.out_of_sample_ += self.ax_.plot(
                self.sizes, left_out, marker=marker(number), ms=5, lw=1.8, label=name, **style
            )
            self.in_sample_ += self.ax_.plot(self.sizes, self.in_sample[number], lw=0.9, alpha=0.8, **style)
            if self.spread is not None:
                edges = left_out - self.spread[number], left_out + self.spread[number]
                band: dict[str, Any] = {"color": colour(number), "alpha": 0.15, "lw": 0}
                self.bands_.append(self.ax_.fill_between(self.sizes, *edges, **band))
        self.ax_.plot([], [], color=ink(), lw=0.9, alpha=0.8, label="in sample (thin)")
        if self.sizes[-1] > 10 * self.sizes[0]:
            self.ax_.set_xscale("log")
        self.ax_.set(xlabel="training rows N", ylabel="share of errors", title=self.title)
        self.ax_.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
        return self
