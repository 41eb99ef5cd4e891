"""A regression as it is seen: points and curve for one feature, residuals for any number."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bisector.engine.validation import check_choice, check_count, check_number
from bisector.plot.canvas import axes, colour, ink, scatter
from bisector.plot.given_rows import asked, in_the_form_of, model_rows
from bisector.plot.models import check_model, feature_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]

# Rows whose studentized residual is beyond this are called outliers.
OUTLYING = 3.0
# Rows with so many times the mean leverage are called far out.
FAR_OUT = 3.0
# Of more rows that deserve a mark, those that deserve it most are marked.
MOST_RINGED = 50
# So many marked rows are named by their numbers.
MOST_NAMED = 10


class RegressionDisplay:
    """Points and the curve through them, or what the curve leaves: residuals, with outliers marked.

    Outliers are rows whose studentized residual is beyond ±3. For a model that knows its leverage, such as
    `LinearRegression`, that is the residual over its standard error, as judged by the other rows; otherwise the
    residual over 1.48 times the median absolute one, which a few outliers cannot raise.

    Parameters
    ----------
    x, y : array of shape (n_rows,)
        What is drawn across, and the targets: the feature, or any other number a row for residuals.
    predicted : array of shape (n_rows,)
    at, curve : array, optional
        Places and the predictions there, for ``kind="line"``.
    mean_interval, new_interval : array of shape (len(at), 2), optional
        Lower and upper ends of intervals for the curve itself, and for single new targets.
    studentized : array of shape (n_rows,), optional
        By default from the median absolute residual.
    leverage : array of shape (n_rows,), optional
    level : float, default=0.95
        Of the intervals.
    feature_name, target_name, title : str, optional

    Attributes
    ----------
    ax_, figure_ : Axes, Figure
    points_ : artist
    line_ : Line2D
        The curve, or the line of no residual.
    bands_ : list of PolyCollection
        Intervals: for new targets first.
    outliers_, far_out_ : PathCollection or None

    Examples
    --------
    >>> from bisector import LinearRegression, RegressionDisplay, datasets
    >>> X, y = datasets.height_weight_outlier()
    >>> display = RegressionDisplay.from_estimator(LinearRegression().fit(X, y), X, y)
    >>> display.outliers
    array([6])
    """

    def __init__(
        self,
        x: ArrayLike,
        y: ArrayLike,
        predicted: ArrayLike,
        *,
        at: ArrayLike | None = None,
        curve: ArrayLike | None = None,
        mean_interval: ArrayLike | None = None,
        new_interval: ArrayLike | None = None,
        studentized: ArrayLike | None = None,
        leverage: ArrayLike | None = None,
        level: float = 0.95,
        feature_name: str = "x",
        target_name: str = "y",
        title: str | None = None,
    ) -> None:
        self.x = np.asarray(x, dtype=np.float64)
        self.y = np.asarray(y, dtype=np.float64)
        self.predicted = np.asarray(predicted, dtype=np.float64)
        if not self.x.shape == self.y.shape == self.predicted.shape or self.x.ndim != 1:
            raise ValueError(
                f"x, y and predicted must be of one length, but have the shapes {self.x.shape}, {self.y.shape} and "
                f"{self.predicted.shape}."
            )
        self.at = None if at is None else np.asarray(at, dtype=np.float64)
        self.curve = None if curve is None else np.asarray(curve, dtype=np.float64)
        self.mean_interval = None if mean_interval is None else np.asarray(mean_interval, dtype=np.float64)
        self.new_interval = None if new_interval is None else np.asarray(new_interval, dtype=np.float64)
        robust = _over_the_median(self.residuals) if studentized is None else studentized
        self.studentized = np.asarray(robust, dtype=np.float64)
        self.leverage = None if leverage is None else np.asarray(leverage, dtype=np.float64)
        self.level = level
        self.feature_name, self.target_name, self.title = feature_name, target_name, title

    @property
    def residuals(self) -> Floats:
        """What the predictions leave: y less the prediction."""
        return self.y - self.predicted

    @property
    def outliers(self) -> NDArray[np.int64]:
        """The numbers of the rows whose studentized residual is beyond ±3."""
        return np.flatnonzero(np.abs(self.studentized) > OUTLYING)

    @property
    def far_out(self) -> NDArray[np.int64]:
        """The numbers of the rows with three times the mean leverage."""
        if self.leverage is None:
            return np.empty(0, dtype=np.int64)
        return np.flatnonzero(self.leverage > FAR_OUT * self.leverage.mean())

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        kind: str = "line",
        level: float = 0.95,
        resolution: int = 200,
        target_name: str = "y",
        marks: bool = True,
        ax: "Axes | None" = None,
    ) -> Self:
        """Ask a fitted regression for its predictions, and draw them with the rows.

        Parameters
        ----------
        estimator : regressor
            Fitted to X and y. One with `predict_interval` shows intervals, one with `leverage` tells how far
            out rows lie.
        X : rows
            Of one feature for ``kind="line"``, of any number for ``kind="residuals"``.
        y : array of shape (n_rows,)
        kind : {"line", "residuals"}, default="line"
        level : float, default=0.95
            Of the intervals.
        resolution : int, default=200
            Places at which the curve is asked for.
        target_name : str, default="y"
        marks : bool, default=True
            Whether to ring outliers and rows far out.
        ax : Axes, optional

        Returns
        -------
        RegressionDisplay
        """
        check_model(estimator, "predict")
        check_choice("kind", kind, ("line", "residuals"))
        check_number("level", level, above=0, below=1)
        check_count("resolution", resolution, at_least=2)
        rows, targets = model_rows(estimator, X), np.asarray(y, dtype=np.float64)
        if targets.shape != (len(rows),):
            raise ValueError(
                f"y has the shape {targets.shape}, but X has {len(rows)} rows: give one target a row."
            )
        predicted = np.asarray(estimator.predict(X), dtype=np.float64)
        if predicted.ndim != 1:
            raise ValueError(
                f"{type(estimator).__name__} predicts several targets: fit and draw one at a time."
            )
        name = type(estimator).__name__
        leverage = _known_leverage(estimator, X)
        numbers: dict[str, Any] = {
            "leverage": leverage,
            "studentized": _studentized(targets - predicted, leverage),
            "level": level,
            "target_name": target_name,
        }
        if kind == "residuals":
            numbers["title"] = f"{name}: what is left of {target_name}"
            return cls(
                predicted, targets, predicted, feature_name=f"predicted {target_name}", **numbers
            ).plot(ax, kind=kind, marks=marks)
        if rows.shape[1] != 1:
            raise ValueError(
                f"X has {rows.shape[1]} features, but a line is drawn over one: "
                'take kind="residuals", or one column.'
            )
        room = 0.05 * np.ptp(rows) or 1.0
        at = np.linspace(rows.min() - room, rows.max() + room, resolution)
        numbers |= _intervals(estimator, X, at, level)
        return cls(
            rows[:, 0],
            targets,
            predicted,
            at=at,
            curve=asked(estimator.predict, X, at[:, None]),
            feature_name=feature_names(estimator, X, 1)[0],
            title=f"{name}: {target_name} by {feature_names(estimator, X, 1)[0]}",
            **numbers,
        ).plot(ax, kind=kind, marks=marks)

    @classmethod
    def from_predictions(
        cls, y: ArrayLike, predicted: ArrayLike, *, target_name: str = "y", ax: "Axes | None" = None
    ) -> Self:
        """Draw the residuals of predictions, wherever they come from.

        Parameters
        ----------
        y, predicted : array of shape (n_rows,)
        target_name : str, default="y"
        ax : Axes, optional

        Returns
        -------
        RegressionDisplay
        """
        words: dict[str, Any] = {
            "feature_name": f"predicted {target_name}",
            "title": f"What is left of {target_name}",
        }
        return cls(predicted, y, predicted, target_name=target_name, **words).plot(ax, kind="residuals")

    def plot(self, ax: "Axes | None" = None, *, kind: str = "line", marks: bool = True) -> Self:
        """Draw the curve with the points, or the residuals.

        Parameters
        ----------
        ax : Axes, optional
        kind : {"line", "residuals"}, default="line"
        marks : bool, default=True
            Whether to ring outliers and rows far out.

        Returns
        -------
        self
        """
        check_choice("kind", kind, ("line", "residuals"))
        if kind == "line" and (self.at is None or self.curve is None):
            raise ValueError('There is no curve to draw: give at and curve, or take kind="residuals".')
        self.ax_ = axes(ax)
        self.figure_ = self.ax_.figure
        self.bands_: list[Any] = []
        if kind == "line":
            self._draw_curve()
            heights, ylabel = self.y, self.target_name
        else:
            self.line_ = self.ax_.axhline(0.0, color=ink(), lw=1.0, linestyle="--")
            heights, ylabel = self.residuals, f"{self.target_name} − predicted"
        self.points_ = scatter(self.ax_, np.column_stack([self.x, heights]), zorder=3)
        # A row can be both: circles lie within squares.
        circles: dict[str, Any] = {"marker": "o", "s": 90, "edgecolors": colour(1), "label": "outliers"}
        squares: dict[str, Any] = {"marker": "s", "s": 150, "edgecolors": colour(2), "label": "high leverage"}
        self.outliers_ = self._mark(self.outliers, self.studentized, heights, **circles) if marks else None
        self.far_out_ = self._mark(self.far_out, self.leverage, heights, **squares) if marks else None
        self.ax_.set(xlabel=self.feature_name, ylabel=ylabel, title=self.title)
        if self.ax_.get_legend_handles_labels()[0]:
            self.ax_.legend(frameon=False, loc="best" if len(self.x) <= 1000 else "upper left")
        return self

    def _draw_curve(self) -> None:
        """Draw the curve over the wide interval, for new targets, and the narrow one, for the curve itself."""
        assert self.at is not None
        assert self.curve is not None
        share = f"{100 * self.level:g} %"
        for interval, opacity, words in [
            (self.new_interval, 0.12, f"{share} of new {self.target_name}"),
            (self.mean_interval, 0.28, f"{share} interval of the curve"),
        ]:
            if interval is not None:
                style: dict[str, Any] = {"color": colour(0), "alpha": opacity, "lw": 0, "label": words}
                self.bands_.append(self.ax_.fill_between(self.at, interval[:, 0], interval[:, 1], **style))
        (self.line_,) = self.ax_.plot(self.at, self.curve, color=ink(), lw=1.8)

    def _mark(self, rows: NDArray[np.int64], degree: Floats | None, heights: Floats, **look: Any) -> Any:
        """Ring some rows, of very many those with the highest degree, and write the numbers of a few."""
        if degree is None or not len(rows):
            return None
        words = look.pop("label")
        if len(rows) > MOST_RINGED:
            words = f"{words}: {MOST_RINGED} of {len(rows):,}"
            rows = rows[np.argsort(-np.abs(degree[rows]), kind="stable")[:MOST_RINGED]]
        style: dict[str, Any] = {"facecolors": "none", "linewidths": 1.6, "zorder": 4, **look}
        rings = self.ax_.scatter(self.x[rows], heights[rows], label=words, **style)
        for row in rows if len(rows) <= MOST_NAMED else ():
            place = (self.x[row], heights[row])
            self.ax_.annotate(str(row), place, (7, 5), textcoords="offset points", fontsize="small")
        return rings


def _known_leverage(estimator: Any, X: Any) -> Floats | None:
    if not hasattr(estimator, "leverage"):
        return None
    return np.asarray(estimator.leverage(X), dtype=np.float64)


def _intervals(estimator: Any, X: Any, at: Floats, level: float) -> dict[str, Floats]:
    """Return the intervals of a model that has any."""
    if not hasattr(estimator, "predict_interval"):
        return {}
    places = in_the_form_of(X, at[:, None])
    return {
        f"{kind}_interval": estimator.predict_interval(places, level=level, kind=kind)
        for kind in ("mean", "new")
    }


def _studentized(residuals: Floats, leverage: Floats | None) -> Floats:
    """Return residuals over their standard errors, as estimated from the other rows.

    The sum of the leverages is the number of coefficients, p, so that n − p degrees of freedom are left; one less
    when the row itself is left out.
    """
    if leverage is None:
        return _over_the_median(residuals)
    left = len(residuals) - float(leverage.sum())
    variance = float(residuals @ residuals) / left if left > 1.5 else 0.0
    if variance == 0.0:
        return np.zeros_like(residuals)  # as many coefficients as rows: nothing is left to judge by
    inside = residuals / np.sqrt(variance * np.maximum(1.0 - leverage, 1e-12))
    return np.asarray(inside * np.sqrt((left - 1.0) / np.maximum(left - inside**2, 1e-12)))


def _over_the_median(residuals: Floats) -> Floats:
    """Return residuals over 1.48 times the median absolute one: that is the deviation, if they are normal."""
    scale = 1.4826 * float(np.median(np.abs(residuals)))
    if scale == 0.0:  # most rows are met exactly
        return np.where(residuals == 0, 0.0, np.copysign(np.inf, residuals))
    return np.asarray(residuals / scale)
