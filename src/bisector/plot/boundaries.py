"""The boundaries of several classifiers over the same rows."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bisector.engine.validation import check_count
from bisector.plot.canvas import axes, colour, dash, frame, grid, ink, scatter
from bisector.plot.given_rows import two_features
from bisector.plot.model_answers import Asker, classified
from bisector.plot.models import check_classes, check_model, feature_names, named
from bisector.plot.planes_of_sight import FlatSlice
from bisector.plot.regions import lead_lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

Floats = NDArray[np.float64]


class BoundaryDisplay:
    """Where each of several models has its boundary, on one picture, to compare them (Flach, Figure 7.6).

    Each model has a colour and a dash of its own; rows are drawn in shades of grey, with a marker for each class.

    Parameters
    ----------
    across, up : array
        Places along both sides of a grid.
    regions : mapping of str to array of int of shape (len(up), len(across))
        For each model the class of each place, by its number.
    leads : mapping of str to array of shape (n_classes, len(up), len(across)), optional
        By how much each class leads the best of the others there, so that lines can be drawn between the places.
    points, codes : array of shape (n_rows, 2), and of int (n_rows,), optional
        Rows, and the numbers of their classes.
    wrong : mapping of str to int, optional
        How many rows each model has on the wrong side; the legend tells it.
    class_names : sequence of str, optional
    axis_names : pair of str, default=("x0", "x1")

    Attributes
    ----------
    ax_, figure_ : Axes, Figure
    boundaries_ : dict of str to list of ContourSet
    points_ : list of artists, one a class
    lines_ : list of Line2D
        What stands for the models in the legend.

    Examples
    --------
    >>> from bisector import BasicLinearClassifier, BoundaryDisplay, Perceptron, datasets
    >>> X, y = datasets.gaussian_classes(60, separation=4, seed=0)
    >>> models = {"bisector": BasicLinearClassifier().fit(X, y), "perceptron": Perceptron().fit(X, y)}
    >>> shown = BoundaryDisplay.from_estimator(models, X, y)
    >>> [line.get_label() for line in shown.lines_]
    ['bisector: 3 wrong', 'perceptron: 1 wrong']
    """

    def __init__(
        self,
        across: ArrayLike,
        up: ArrayLike,
        regions: Mapping[str, ArrayLike],
        *,
        leads: Mapping[str, ArrayLike] | None = None,
        points: ArrayLike | None = None,
        codes: ArrayLike | None = None,
        wrong: Mapping[str, int] | None = None,
        class_names: Sequence[str] | None = None,
        axis_names: tuple[str, str] = ("x0", "x1"),
    ) -> None:
        self.across = np.asarray(across, dtype=np.float64)
        self.up = np.asarray(up, dtype=np.float64)
        self.regions = {name: np.asarray(own, dtype=np.int64) for name, own in regions.items()}
        for name, own in self.regions.items():
            if own.shape != (len(self.up), len(self.across)):
                raise ValueError(
                    f"The regions of {name!r} have the shape {own.shape}, but the grid has {len(self.up)} places "
                    f"up and {len(self.across)} across."
                )
        self.leads = {name: np.asarray(own, dtype=np.float64) for name, own in (leads or {}).items()}
        self.points = np.empty((0, 2)) if points is None else np.asarray(points, dtype=np.float64)
        self.codes = np.zeros(len(self.points), np.int64) if codes is None else np.asarray(codes, np.int64)
        self.wrong = dict(wrong or {})
        count = 1 + int(self.codes.max(initial=0))
        self.class_names = (
            [f"class {code}" for code in range(count)] if class_names is None else [*class_names]
        )
        self.axis_names = axis_names

    @classmethod
    def from_estimator(
        cls,
        estimators: Any,
        X: Any,
        y: Any,
        *,
        limits: Any = None,
        resolution: int = 200,
        ax: "Axes | None" = None,
    ) -> Self:
        """Ask fitted classifiers about every place of the plane, and draw where their answers change.

        Parameters
        ----------
        estimators : classifier, or mapping of str to classifier
            Fitted to the same two features and the same classes.
        X : rows of two features
        y : array of shape (n_rows,)
            Their classes.
        limits : ((left, right), (bottom, top)), optional
            How far the plane reaches; by default somewhat further than the rows.
        resolution : int, default=200
            Places along each side of the grid.
        ax : Axes, optional

        Returns
        -------
        BoundaryDisplay
        """
        check_count("resolution", resolution, at_least=2)
        models = named(estimators, "boundary")
        if not models:
            raise ValueError("There is no model to draw: give at least one.")
        first = next(iter(models.values()))
        values, names = two_features(first, X), feature_names(first, X, 2)
        sight = FlatSlice.of(values, names, (0, 1), None)
        low, high = frame(values) if limits is None else np.asarray(limits, dtype=np.float64).T
        across, up, places = grid(low, high, resolution)
        regions: dict[str, Any] = {}
        leads: dict[str, Any] = {}
        wrong: dict[str, int] = {}
        for name, model in models.items():
            two_features(model, X)
            check_model(model, "predict")
            asker = Asker(model, X, sight, places, resolution)
            classes, regions[name], codes = classified(model, X, y, asker, len(values))
            _check_same_classes(name, classes, first)
            lead = asker.leads(len(classes))
            leads |= {} if lead is None else {name: lead}
            wrong[name] = int((np.asarray(model.predict(X)) != np.asarray(y)).sum())
        return cls(
            across,
            up,
            regions,
            leads=leads,
            points=values,
            codes=codes,
            wrong=wrong,
            class_names=[str(label) for label in classes.tolist()],
            axis_names=sight.axis_names,
        ).plot(ax=ax)

    def plot(self, ax: "Axes | None" = None, *, legend: bool = True) -> Self:
        """Draw the rows, and the boundaries above them.

        Parameters
        ----------
        ax : Axes, optional
        legend : bool, default=True
            Whether to tell models and classes beside the picture.

        Returns
        -------
        self
        """
        self.ax_ = axes(ax)
        self.figure_ = self.ax_.figure
        present = np.unique(self.codes)
        self.points_ = [
            scatter(
                self.ax_,
                self.points[self.codes == code],
                code,
                color=ink(),
                # The first class is the palest, the last as dark as words are.
                alpha=0.4 + 0.5 * place / max(1, len(present) - 1),
                label=self.class_names[code],
            )
            for place, code in enumerate(present)
            if len(self.points)
        ]
        self.lines_: list[Line2D] = []
        self.boundaries_: dict[str, list[Any]] = {}
        for number, name in enumerate(self.regions):
            style = {"colors": [colour(number)], "linestyles": [dash(number)], "linewidths": 2.0}
            self.boundaries_[name] = self._draw_boundary(name, zorder=3, **style)
            words = f"{name}: {self.wrong[name]} wrong" if name in self.wrong else name
            self.lines_ += self.ax_.plot([], [], color=colour(number), ls=dash(number), lw=2, label=words)
        self.ax_.set(xlim=self.across[[0, -1]], ylim=self.up[[0, -1]])
        self.ax_.set(xlabel=self.axis_names[0], ylabel=self.axis_names[1])
        if legend:
            self.ax_.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
        return self

    def _draw_boundary(self, name: str, **style: Any) -> list[Any]:
        regions, leads = self.regions[name], self.leads.get(name)
        drawn = []
        # A line lies around two regions, but is drawn once, or its dashes would fill each other's gaps.
        for code in np.unique(regions)[1:]:
            lead = None if leads is None else leads[code]
            hidden = regions > code
            line = lead_lines(
                self.ax_,
                self.across,
                self.up,
                regions == code,
                lead,
                hidden if hidden.any() else None,
                **style,
            )
            drawn += [] if line is None else [line]
        return drawn


def _check_same_classes(name: str, classes: NDArray[Any], first: Any) -> None:
    """Refuse models of different classes: their regions could not be compared."""
    wanted = np.asarray(check_classes(first))
    if not np.array_equal(classes, wanted):
        raise ValueError(
            f"{name!r} knows the classes {classes.tolist()}, but the first model {wanted.tolist()}: give models of "
            "the same classes."
        )
