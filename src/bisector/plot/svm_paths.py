"""The support vector machine as its C moves."""

from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bisector.engine.validation import check_choice, check_count
from bisector.plot.canvas import axes, colour, dash, frame, grid, ink, scatter
from bisector.plot.given_rows import asked, codes_of, numbers
from bisector.plot.regions import level_lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]

KINDS = ("alpha", "margin", "boundary")
# Paths with more knots are drawn from a part of them.
MOST_KNOTS = 200
# So many rows have a line of their own in the legend.
MOST_NAMES = 7


class SVMPathDisplay:
    """Multipliers, margin and boundary of a support vector machine for every C, as `svm_path` finds them.

    Parameters
    ----------
    Cs : array of shape (n_values,)
        Ascending.
    alpha : array of shape (n_values, n_rows)
        The multiplier of each row at each C.
    margin : array of shape (n_values,)
    knots : array
        Where the path bends.
    points, codes : array of shape (n_rows, 2), and of int (n_rows,), optional
        The rows and the numbers of their classes.
    across, up, scores : array, optional
        A grid and the scores there, of shape (n_shown, len(up), len(across)), at each of
        `shown_Cs`.
    shown_Cs : array of shape (n_shown,), optional
    class_names : pair of str, optional

    Attributes
    ----------
    ax_, figure_ : Axes, Figure
    lines_ : list
        Of multipliers one a row, of margins one; of boundaries a ContourSet for each C, ascending, or None where
        the boundary lies outside.
    knots_ : LineCollection or None

    Examples
    --------
    >>> from bisector import SVMPathDisplay, datasets, svm_path
    >>> X, y = datasets.margin_points()
    >>> display = SVMPathDisplay.from_path(svm_path(X, y), X, y)
    >>> display.knots
    array([0.5   , 0.3125, 0.1875, 0.1   ])
    >>> [line.get_label() for line in display.lines_]
    ['row 0', 'row 1', 'row 2', 'row 3']
    """

    def __init__(
        self,
        Cs: ArrayLike,
        alpha: ArrayLike,
        margin: ArrayLike,
        *,
        knots: ArrayLike,
        points: ArrayLike | None = None,
        codes: ArrayLike | None = None,
        across: ArrayLike | None = None,
        up: ArrayLike | None = None,
        scores: ArrayLike | None = None,
        shown_Cs: ArrayLike = (),
        class_names: Any = ("negative", "positive"),
    ) -> None:
        self.Cs = np.asarray(Cs, dtype=np.float64)
        self.alpha = np.asarray(alpha, dtype=np.float64)
        self.margin = np.asarray(margin, dtype=np.float64)
        if self.alpha.shape[:1] != self.Cs.shape or self.margin.shape != self.Cs.shape:
            raise ValueError(
                f"There are {len(self.Cs)} values of C, but alpha has the shape {self.alpha.shape} and margin "
                f"{self.margin.shape}: give a row of multipliers and a margin for each."
            )
        self.knots = np.asarray(knots, dtype=np.float64)
        self.points = None if points is None else np.asarray(points, dtype=np.float64)
        n_rows = self.alpha.shape[1]
        self.codes = np.zeros(n_rows, np.int64) if codes is None else np.asarray(codes, dtype=np.int64)
        self.across = None if across is None else np.asarray(across, dtype=np.float64)
        self.up = None if up is None else np.asarray(up, dtype=np.float64)
        self.scores = None if scores is None else np.asarray(scores, dtype=np.float64)
        self.shown_Cs = np.asarray(shown_Cs, dtype=np.float64)
        self.class_names = [str(name) for name in class_names]

    @classmethod
    def from_path(
        cls,
        path: Any,
        X: Any = None,
        y: Any = None,
        *,
        kind: str = "alpha",
        Cs: ArrayLike | None = None,
        shown_Cs: ArrayLike | None = None,
        resolution: int = 150,
        ax: "Axes | None" = None,
    ) -> Self:
        """Draw one side of a path.

        Parameters
        ----------
        path : SVMPath
            What `svm_path` returned.
        X, y : rows and labels, optional
            Those of the path: labels for colours, and rows with two features for boundaries.
        kind : {"alpha", "margin", "boundary"}, default="alpha"
            Multipliers, margins, or where the boundary lies. The other kinds can be drawn later by `plot`.
        Cs : array, optional
            Values of C; by default from well below the last knot to somewhat above the first.
        shown_Cs : array, optional
            At which to draw boundaries; by default up to seven knots.
        resolution : int, default=150
            Places along each side of the grid.
        ax : Axes, optional

        Returns
        -------
        SVMPathDisplay
        """
        check_choice("kind", kind, KINDS)
        check_count("resolution", resolution, at_least=2)
        if not hasattr(path, "knots") or not hasattr(path, "at"):
            raise TypeError(f"path must be what svm_path returned, not a {type(path).__name__}.")
        chosen = _values_of_C(path) if Cs is None else np.sort(np.asarray(Cs, dtype=np.float64))
        machines = [path.at(C) for C in chosen]
        known: dict[str, Any] = {"class_names": path.classes.tolist()}
        if y is not None:
            known["codes"] = codes_of(y, path.classes, len(machines[0].alpha))
        if X is not None:
            points = numbers(X)
            known["points"] = points
            if points.shape[1] == 2:
                across, up, places = grid(*frame(points, margin=0.25), resolution)
                shown = (
                    _spread_out(path.knots) if shown_Cs is None else np.asarray(shown_Cs, dtype=np.float64)
                )
                scores = [asked(partial(path.decision_function, C=C), None, places) for C in shown]
                known |= {"across": across, "up": up, "shown_Cs": shown}
                known["scores"] = np.reshape(scores, (len(shown), resolution, resolution))
        alpha = np.array([machine.alpha for machine in machines])
        margin = np.array([machine.margin for machine in machines])
        return cls(chosen, alpha, margin, knots=path.knots, **known).plot(ax, kind=kind)

    def plot(self, ax: "Axes | None" = None, *, kind: str = "alpha") -> Self:
        """Draw multipliers, margins or boundaries.

        Parameters
        ----------
        ax : Axes, optional
        kind : {"alpha", "margin", "boundary"}, default="alpha"

        Returns
        -------
        self
        """
        check_choice("kind", kind, KINDS)
        if kind == "boundary" and (self.scores is None or self.points is None):
            raise ValueError("Boundaries are drawn over two features: give X, rows with two columns.")
        self.ax_ = axes(ax)
        self.figure_ = self.ax_.figure
        self.knots_ = None
        if kind == "boundary":
            self.lines_ = self._draw_boundaries()
            return self
        if len(self.knots) <= MOST_KNOTS:
            span: dict[str, Any] = {
                "transform": self.ax_.get_xaxis_transform(),
                "colors": [ink()],
                "lw": 0.6,
                "alpha": 0.3,
            }
            self.knots_ = self.ax_.vlines(self.knots, 0, 1, zorder=0, label="knots", **span)
        if kind == "alpha":
            self.lines_ = self._draw_multipliers()
            self.ax_.set(ylabel="multiplier α", title="What each row pays for the boundary")
        else:
            self.lines_ = self.ax_.plot(self.Cs, self.margin, color=colour(0), lw=1.8)
            self.ax_.set(ylabel="margin 1/‖w‖", title="How wide the margin is")
        self.ax_.set(xlabel="C, the price of slack")
        if _over_decades(self.Cs):
            self.ax_.set_xscale("log")
        if kind == "alpha":
            self.ax_.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
        return self

    def _draw_multipliers(self) -> list[Any]:
        if self.alpha.shape[1] <= MOST_NAMES:
            return [
                self.ax_.plot(
                    self.Cs, line, color=colour(code), linestyle=dash(row), lw=1.8, label=f"row {row}"
                )[0]
                for row, (line, code) in enumerate(zip(self.alpha.T, self.codes, strict=True))
            ]
        lines = []
        for row, (line, code) in enumerate(zip(self.alpha.T, self.codes, strict=True)):
            first = row == int(np.argmax(self.codes == code))
            style: dict[str, Any] = {"color": colour(code), "linestyle": dash(code), "lw": 0.8, "alpha": 0.6}
            words = self.class_names[code] if first else None
            lines += self.ax_.plot(self.Cs, line, label=words, **style)
        return lines

    def _draw_boundaries(self) -> list[Any]:
        """Draw a boundary for each C, the darker the larger C."""
        assert self.scores is not None
        assert self.points is not None
        assert self.across is not None
        assert self.up is not None
        ascending = np.argsort(self.shown_Cs)
        lines = []
        for place, number in enumerate(ascending):
            share = (place + 1) / len(ascending)
            alpha, width, stroke = 0.25 + 0.75 * share, 0.8 + 1.2 * share, dash(len(ascending) - 1 - place)
            style: dict[str, Any] = {"alpha": alpha, "linewidths": width, "linestyles": [stroke]}
            lines.append(level_lines(self.ax_, self.across, self.up, self.scores[number], [0.0], **style))
            words = f"C = {self.shown_Cs[number]:.3g}"
            self.ax_.plot([], [], color=ink(), alpha=alpha, lw=width, linestyle=stroke, label=words)
        for code in np.unique(self.codes):
            rows = self.points[self.codes == code]
            scatter(self.ax_, rows, code, s=36, zorder=3, label=self.class_names[code])
        self.ax_.set(xlabel="x0", ylabel="x1", title="Where the boundary lies for several C")
        self.ax_.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
        return lines


def _values_of_C(path: Any) -> Floats:
    """Return values of C from well below all knots to somewhat above, the knots among them."""
    knots = np.asarray(path.knots, dtype=np.float64)
    low, high = (knots.min() / 4, 1.25 * knots.max()) if len(knots) else (0.1, 10.0)
    high = min(high, path.largest_C)
    ends = np.array([low, high])
    between = np.geomspace(low, high, 200) if _over_decades(ends) else np.linspace(low, high, 200)
    some = knots[knots <= high][:: max(1, len(knots) // MOST_KNOTS)]
    # Rounding may carry the last value past the end.
    return np.unique(np.clip(np.concatenate([between, some]), low, high))


def _over_decades(Cs: Floats) -> bool:
    return bool(Cs.max() > 100 * Cs.min())


def _spread_out(knots: Floats, most: int = 7) -> Floats:
    """Return a few knots, the first and the last among them; without knots, C = 1."""
    if not len(knots):
        return np.array([1.0])
    return knots[np.unique(np.linspace(0, len(knots) - 1, most).round().astype(int))]
