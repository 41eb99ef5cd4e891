"""Calibration maps: which probability a calibrator gives to each score (Flach 7.4)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from bisector.engine.scored_rows import ScoredRows, check_scored_rows
from bisector.plot.canvas import axes, curve, ink
from bisector.plot.models import check_model, named

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

Floats = NDArray[np.float64]
# So many places along a map, and so many ticks for the rows of a class.
_PLACES, _MOST_TICKS = 512, 400


class CalibrationMapDisplay:
    """Probabilities over scores: the sigmoid of a logistic calibrator, the plateaus of the ROC convex hull.

    Parameters
    ----------
    maps : mapping of str to (scores, probabilities)
        The corners of each map, scores ascending.
    plateaus : mapping of str to ndarray of shape (n_plateaus, 3), optional
        From which score to which a map is level, and at which probability.
    scored : (scores, positive), optional
        The rows, drawn as ticks: positives at the top, negatives at the bottom.

    Attributes
    ----------
    maps, plateaus, scored
        As given.
    ax_, figure_ : Axes, Figure
    lines_ : list of Line2D
    plateau_lines_ : list of LineCollection
    ticks_ : list of Line2D
        Of the negatives and of the positives.

    Examples
    --------
    >>> from bisector import CalibrationMapDisplay, HullCalibrator
    >>> scores, y = [1.0, 2.0, 3.0, 4.0, 5.0], [0, 1, 0, 1, 1]
    >>> shown = CalibrationMapDisplay.from_estimator(HullCalibrator().fit(scores, y), scores, y)
    >>> shown.plateaus["HullCalibrator"]
    array([[1. , 1. , 0. ],
           [2. , 3. , 0.5],
           [4. , 5. , 1. ]])
    """

    def __init__(
        self,
        maps: Mapping[str, tuple[Floats, Floats]],
        *,
        plateaus: Mapping[str, Floats] | None = None,
        scored: tuple[Floats, NDArray[np.bool_]] | None = None,
    ) -> None:
        self.maps = dict(maps)
        self.plateaus = dict(plateaus or {})
        self.scored = scored
        for name, (scores, probabilities) in self.maps.items():
            if np.shape(scores) != np.shape(probabilities):
                raise ValueError(
                    f"The map {name!r} has scores of shape {np.shape(scores)} and probabilities of shape "
                    f"{np.shape(probabilities)}: give one probability for each score."
                )

    @classmethod
    def from_estimator(
        cls, estimator: Any, scores: Any = None, y: Any = None, *, ax: "Axes | None" = None
    ) -> Self:
        """Draw the maps of fitted calibrators.

        Parameters
        ----------
        estimator : LogisticCalibrator, HullCalibrator or mapping of str to such
        scores : array of shape (n,), optional
            The map is drawn over their range; by default that of what the calibrators were fitted to.
        y : array of shape (n,), optional
            Their labels, for the ticks.
        ax : Axes, optional
        """
        models = {name or type(model).__name__: model for name, model in named(estimator).items()}
        for model in models.values():
            check_model(model, "predict")
        rows = None if y is None else check_scored_rows(scores, y)
        low, high = _range(models, scores, rows)
        maps, plateaus = {}, {}
        for name, model in models.items():
            places = np.linspace(low, high, _PLACES)
            hull = getattr(model, "hull_", None)
            if hull is not None:
                places = np.union1d(places, model.scores_)
                ends = (hull.segment_lowest, hull.segment_highest, hull.segment_probability)
                plateaus[name] = np.column_stack(ends)[::-1].astype(np.float64)
            maps[name] = (places, np.asarray(model.predict(places), dtype=np.float64))
        scored = None if rows is None else (rows.scores, rows.positive)
        return cls(maps, plateaus=plateaus, scored=scored).plot(ax)

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw the maps.

        Parameters
        ----------
        ax : Axes, optional

        Returns
        -------
        self
        """
        from matplotlib.collections import LineCollection

        self.ax_ = axes(ax)
        self.figure_: Figure | Any = self.ax_.figure
        self.lines_: list[Line2D] = []
        self.plateau_lines_: list[LineCollection] = []
        self.ticks_: list[Line2D] = []
        for name, (scores, probabilities) in self.maps.items():
            line = curve(self.ax_, scores, probabilities, name)
            self.lines_.append(line)
            if name in self.plateaus:
                level = [[(low, p), (high, p)] for low, high, p in self.plateaus[name]]
                thick = LineCollection(level, colors=line.get_color(), linewidths=4, alpha=0.4)
                thick.set_capstyle("round")
                self.ax_.add_collection(thick)
                self.plateau_lines_.append(thick)
        self.ax_.axhline(0.5, color=ink(), alpha=0.3, linewidth=0.8)
        if self.scored is not None:
            scores, positive = self.scored
            for of_class, height in ((scores[~positive], -0.04), (scores[positive], 1.04)):
                self.ticks_ += self.ax_.plot(
                    _few(of_class),
                    np.full(len(_few(of_class)), height),
                    "|",
                    color=ink(),
                    alpha=0.5,
                    markersize=7,
                )
        self.ax_.set(ylim=(-0.08, 1.08), xlabel="score", ylabel="probability of the positive class")
        self.ax_.set_title("Calibration map")
        self.ax_.legend(fontsize="small")
        return self


def _range(models: Mapping[str, Any], scores: Any, rows: ScoredRows | None) -> tuple[float, float]:
    """Return from where to where maps are drawn: over the scores given, or those that calibrators know of."""
    ends: list[float] = []
    if rows is not None or scores is not None:
        known = rows.scores if rows is not None else np.asarray(scores, dtype=np.float64)
        ends = [float(known.min()), float(known.max())]
    else:
        for model in models.values():
            if hasattr(model, "scores_"):
                ends += [float(model.scores_[0]), float(model.scores_[-1])]
            elif hasattr(model, "means_"):
                spread = 3 * float(np.sqrt(model.variance_))
                ends += [float(model.means_.min()) - spread, float(model.means_.max()) + spread]
    if not ends:
        raise ValueError("Over which scores to draw is not known: give scores.")
    low, high = min(ends), max(ends)
    room = 0.05 * (high - low) or 1.0
    return low - room, high + room


def _few(scores: Floats) -> Floats:
    """Of very many scores, take some that are spread as all of them are."""
    if len(scores) <= _MOST_TICKS:
        return scores
    return np.quantile(scores, np.linspace(0, 1, _MOST_TICKS))
