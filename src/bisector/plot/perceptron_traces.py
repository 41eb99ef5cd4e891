"""The line of a perceptron after each of its mistakes."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from bisector.plot.canvas import axes, frame, ink, scatter
from bisector.plot.given_rows import codes_of, two_features
from bisector.plot.models import feature_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]

# Of a longer walk, so many lines are drawn, evenly spread over it.
MOST_LINES = 200
# Of rows that caused updates, so many are ringed.
MOST_RINGED = 100


class PerceptronTraceDisplay:
    """Where a perceptron's boundary lay after each update, the later the darker (Flach, Figure 7.5).

    Rows that caused updates are ringed. The line that the model took in the end is thick: where it converged, the
    last one; otherwise the best that it has seen.

    Parameters
    ----------
    weights, intercepts : array of shape (n_updates + 1, 2) and (n_updates + 1,)
        At the start and after each update.
    points, codes : array of shape (n_rows, 2), and of int (n_rows,)
        Rows, and the numbers of their classes.
    updated : array of int of shape (n_updates,)
        Towards which row each update went.
    result : (array of shape (2,), float), optional
        The weights and the intercept that were taken in the end; by default the last.
    class_names : pair of str, optional
    axis_names : pair of str, default=("x0", "x1")
    title : str, optional

    Attributes
    ----------
    ax_, figure_ : Axes, Figure
    trace_ : LineCollection
        A segment for each line that crosses the picture, in the order of updates.
    result_ : LineCollection
    points_ : list of artists, one a class
    updated_ : PathCollection or None

    Examples
    --------
    >>> import numpy as np
    >>> from bisector import Perceptron, PerceptronTraceDisplay
    >>> X, y = np.array([[1.0, 1.0], [2.0, 3.0], [-1.0, -1.0], [-2.0, 2.0]]), [1, 1, -1, -1]
    >>> model = Perceptron(shuffle=False, history=True).fit(X, y)
    >>> PerceptronTraceDisplay.from_estimator(model, X, y).title
    'Perceptron: 2 updates'
    """

    def __init__(
        self,
        weights: ArrayLike,
        intercepts: ArrayLike,
        *,
        points: ArrayLike,
        codes: ArrayLike,
        updated: ArrayLike = (),
        result: Any = None,
        class_names: Any = None,
        axis_names: tuple[str, str] = ("x0", "x1"),
        title: str | None = None,
    ) -> None:
        self.weights = np.asarray(weights, dtype=np.float64)
        self.intercepts = np.asarray(intercepts, dtype=np.float64)
        if self.weights.shape != (len(self.intercepts), 2):
            raise ValueError(
                f"weights has the shape {self.weights.shape}, but there are {len(self.intercepts)} intercepts: "
                "give two weights for each."
            )
        self.points = np.asarray(points, dtype=np.float64)
        self.codes = np.asarray(codes, dtype=np.int64)
        self.updated = np.asarray(updated, dtype=np.int64)
        last = self.weights[-1], float(self.intercepts[-1])
        self.result = last if result is None else (np.asarray(result[0], np.float64), float(result[1]))
        count = int(self.codes.max()) + 1
        self.class_names = (
            [f"class {code}" for code in range(count)] if class_names is None else [*class_names]
        )
        self.axis_names = axis_names
        self.title = title

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, ax: "Axes | None" = None) -> Self:
        """Draw the history of a perceptron.

        Parameters
        ----------
        estimator : Perceptron
            Fitted with ``history=True``.
        X : rows
            Those it was fitted to, of two features.
        y : array of shape (n_rows,)
            Two classes.
        ax : Axes, optional

        Returns
        -------
        PerceptronTraceDisplay
        """
        check_is_fitted(estimator)
        history = getattr(estimator, "history_", None)
        if history is None:
            raise AttributeError(f"{type(estimator).__name__} kept no history: fit Perceptron(history=True).")
        if isinstance(history, list):
            raise ValueError("A trace is drawn for two classes: fit the perceptron to two of them.")
        points = two_features(estimator, X)
        updates = len(history.rows)
        if updates and int(history.rows.max()) >= len(points):
            raise ValueError(
                f"Row {int(history.rows.max())} caused an update, but X has {len(points)} rows: give those that "
                "the perceptron was fitted to."
            )
        words = "1 update" if updates == 1 else f"{updates:,} updates"
        classes, names = np.asarray(estimator.classes_), feature_names(estimator, X, 2)
        return cls(
            history.weights,
            history.intercepts,
            points=points,
            codes=codes_of(y, classes, len(points)),
            updated=history.rows,
            result=(np.ravel(estimator.coef_), np.ravel(estimator.intercept_)[0]),
            class_names=[str(label) for label in classes.tolist()],
            axis_names=(names[0], names[1]),
            title=f"{type(estimator).__name__}: {words}",
        ).plot(ax=ax)

    def plot(self, ax: "Axes | None" = None, *, most: int = MOST_LINES) -> Self:
        """Draw the lines, the later the darker.

        Parameters
        ----------
        ax : Axes, optional
        most : int, default=200
            How many lines to draw at most; the title tells if some are left out.

        Returns
        -------
        self
        """
        from matplotlib.collections import LineCollection
        from matplotlib.colors import to_rgb

        self.ax_ = axes(ax)
        self.figure_ = self.ax_.figure
        low, high = frame(self.points, margin=0.2)
        # All zero weights, as at the start, are no line.
        steps = np.flatnonzero((self.weights != 0).any(axis=1))
        shown = steps[np.unique(np.linspace(0, len(steps) - 1, most).astype(int))] if len(steps) else steps
        segments = [clipped_line(self.weights[k], self.intercepts[k], low, high) for k in shown]
        lines = [segment for segment in segments if segment is not None]
        late = [(k + 1) / len(shown) for k, segment in enumerate(segments) if segment is not None]
        tint, width = to_rgb(ink()), 1.3 if len(lines) <= 40 else 0.7
        self.trace_ = LineCollection(
            lines, colors=[(*tint, 0.06 + 0.5 * share**2) for share in late], linewidths=width
        )
        self.ax_.add_collection(self.trace_)
        final = clipped_line(self.result[0], self.result[1], low, high)
        taken: dict[str, Any] = {
            "colors": [ink()],
            "linewidths": 2.6,
            "zorder": 2.5,
            "label": "taken in the end",
        }
        self.result_ = LineCollection([] if final is None else [final], **taken)
        self.ax_.add_collection(self.result_)
        self.points_ = [
            scatter(
                self.ax_, self.points[self.codes == code], code, s=30, zorder=3, label=self.class_names[code]
            )
            for code in np.unique(self.codes)
        ]
        self.updated_ = self._ring_updated()
        left_out = f", {len(shown):,} of them drawn" if len(shown) < len(steps) else ""
        self.ax_.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
        self.ax_.set(xlabel=self.axis_names[0], ylabel=self.axis_names[1])
        self.ax_.set_title(f"{self.title or 'The line after each update'}{left_out}", fontsize="medium")
        self.ax_.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
        return self

    def _ring_updated(self) -> Any:
        """Ring the rows that caused updates; of very many, those that caused most."""
        rows, counts = np.unique(self.updated, return_counts=True)
        if not len(rows):
            return None
        words = "caused an update"
        if len(rows) > MOST_RINGED:
            words = f"caused most updates\n({MOST_RINGED} of {len(rows):,} rows)"
            rows = rows[np.argsort(-counts, kind="stable")[:MOST_RINGED]]
        rings: dict[str, Any] = {"s": 110, "facecolors": "none", "edgecolors": [ink()], "linewidths": 1.0}
        return self.ax_.scatter(self.points[rows, 0], self.points[rows, 1], label=words, zorder=4, **rings)


def clipped_line(weights: Floats, intercept: float, low: Floats, high: Floats) -> Floats | None:
    """Return the part of the line w·x + b = 0 that lies in a rectangle, as its two ends; None if none does.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.plot.perceptron_traces import clipped_line
    >>> clipped_line(np.array([1.0, -1.0]), 0.0, np.zeros(2), np.array([2.0, 1.0]))
    array([[0., 0.],
           [1., 1.]])
    """
    length = float(np.hypot(*weights))
    if length == 0:
        return None
    normal = weights / length
    foot, along = -intercept / length * normal, np.array([-normal[1], normal[0]])
    start, end = -np.inf, np.inf
    for side in (0, 1):
        if along[side] == 0:
            if not low[side] <= foot[side] <= high[side]:
                return None
            continue
        reach = sorted([(low[side] - foot[side]) / along[side], (high[side] - foot[side]) / along[side]])
        start, end = max(start, reach[0]), min(end, reach[1])
    if start >= end:
        return None
    ends = foot + np.outer([start, end], along)
    return np.asarray(ends[np.lexsort((ends[:, 1], ends[:, 0]))] + 0.0)
