"""Decision regions: which class a model gives to each place of a plane."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bisector.engine.validation import check_choice, check_count
from bisector.plot.canvas import axes, frame, grid, ink, scatter
from bisector.plot.given_rows import model_rows
from bisector.plot.model_answers import Asker, classified
from bisector.plot.models import check_model, feature_names
from bisector.plot.planes_of_sight import FlatSlice, OwnPlane, Sight, chosen_features
from bisector.plot.regions import coloured, lead_lines, level_lines, paint

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]

# Up to so many classes are listed beside a picture.
MOST_NAMES = 12
# So few rows are drawn large.
FEW_ROWS = 60


class DecisionRegionsDisplay:
    """The regions of a plane that a classifier or clusterer gives to each class, with the rows themselves.

    Regions are shaded by the probability of their class where the model tells any. The line between two classes is
    solid, the margins of a support vector machine are dashed; its support vectors are ringed. Exemplars are stars.

    Parameters
    ----------
    across, up : array
        Places along both sides of a grid.
    regions : array of int of shape (len(up), len(across))
        The class of each place, by its number.
    leads : array of shape (n_classes, len(up), len(across)), optional
        By how much each class leads the best of the others there, so that lines can be drawn between the places.
    confidence : array of shape (len(up), len(across)), optional
        The probability of the class of each place.
    scores : array of shape (len(up), len(across)), optional
        Of two classes: margins are drawn where it is −1 and 1.
    points, codes : array of shape (n_rows, 2), and of int (n_rows,), optional
        Rows, and the numbers of their classes.
    support, exemplars : array of shape (n, 2), optional
    class_names : sequence of str, optional
    axis_names : pair of str, default=("x0", "x1")
    title : str, optional

    Attributes
    ----------
    ax_, figure_ : Axes, Figure
    image_ : AxesImage
        The regions.
    boundaries_ : list of ContourSet
    margins_ : ContourSet or None
    points_ : list of artists, one a class
    support_, exemplars_ : PathCollection or None

    Examples
    --------
    >>> from bisector import SVC, DecisionRegionsDisplay, datasets
    >>> X, y = datasets.margin_points()
    >>> display = DecisionRegionsDisplay.from_estimator(SVC(kernel="linear").fit(X, y), X, y)
    >>> display.regions.shape, len(display.support)
    ((200, 200), 3)
    >>> display.ax_.get_title()
    'SVC: 2 classes'
    """

    def __init__(
        self,
        across: ArrayLike,
        up: ArrayLike,
        regions: ArrayLike,
        *,
        leads: ArrayLike | None = None,
        confidence: ArrayLike | None = None,
        scores: ArrayLike | None = None,
        points: ArrayLike | None = None,
        codes: ArrayLike | None = None,
        support: ArrayLike | None = None,
        exemplars: ArrayLike | None = None,
        class_names: Any = None,
        axis_names: tuple[str, str] = ("x0", "x1"),
        title: str | None = None,
    ) -> None:
        self.across = np.asarray(across, dtype=np.float64)
        self.up = np.asarray(up, dtype=np.float64)
        self.regions = np.asarray(regions, dtype=np.int64)
        if self.regions.shape != (len(self.up), len(self.across)):
            raise ValueError(
                f"regions has the shape {self.regions.shape}, but the grid has {len(self.up)} places up and "
                f"{len(self.across)} across."
            )
        self.leads = None if leads is None else np.asarray(leads, dtype=np.float64)
        self.confidence = None if confidence is None else np.asarray(confidence, dtype=np.float64)
        self.scores = None if scores is None else np.asarray(scores, dtype=np.float64)
        self.points = np.empty((0, 2)) if points is None else np.asarray(points, dtype=np.float64)
        self.codes = np.zeros(len(self.points), np.int64) if codes is None else np.asarray(codes, np.int64)
        self.support = None if support is None else np.asarray(support, dtype=np.float64)
        self.exemplars = None if exemplars is None else np.asarray(exemplars, dtype=np.float64)
        count = 1 + max(int(self.regions.max()), int(self.codes.max(initial=0)))
        self.class_names = (
            [f"class {code}" for code in range(count)] if class_names is None else [*class_names]
        )
        self.axis_names = axis_names
        self.title = title

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        features: Any = None,
        slice_at: Any = None,
        plane: str = "features",
        probabilities: bool | None = None,
        margins: bool | None = None,
        limits: Any = None,
        resolution: int = 200,
        ax: "Axes | None" = None,
    ) -> Self:
        """Ask a fitted model about every place of a plane, and draw its answers.

        Parameters
        ----------
        estimator : classifier or clusterer
            Fitted, with `predict`.
        X : rows
            They are drawn, and the plane reaches as far as they do.
        y : array of shape (n_rows,), optional
            Their classes; by default those that the model predicts.
        features : pair of int or str, optional
            Which two features to draw, if there are more.
        slice_at : array of shape (n_features,) or dict, optional
            The values of the other features, all of them or by name or number; by default their medians in X.
            The picture is a slice through the model at these values, and its title says so.
        plane : {"features", "own"}, default="features"
            "own", for a linear model of two classes: across runs the signed distance from its boundary, and up
            the direction within the boundary in which the rows are spread most. All of the model is seen.
        probabilities : bool, optional
            Whether to shade by probability; by default where the model has any.
        margins : bool, optional
            Whether to draw the lines at scores −1 and 1; by default for support vector machines.
        limits : ((left, right), (bottom, top)), optional
            How far the plane reaches; by default somewhat further than the rows.
        resolution : int, default=200
            Places along each side of the grid.
        ax : Axes, optional

        Returns
        -------
        DecisionRegionsDisplay
        """
        check_model(estimator, "predict")
        check_count("resolution", resolution, at_least=2)
        check_choice("plane", plane, ("features", "own"))
        values = model_rows(estimator, X)
        names = feature_names(estimator, X, values.shape[1])
        sight: Sight
        if plane == "own":
            sight = OwnPlane.of(estimator, values)
        else:
            sight = FlatSlice.of(values, names, chosen_features(features, names, estimator), slice_at)
        exemplars = _rows_of(_exemplars(estimator), values.shape[1])
        seen = sight.seen(values)
        around = seen if exemplars is None else np.vstack([seen, sight.seen(exemplars)])
        low, high = frame(around) if limits is None else np.asarray(limits, dtype=np.float64).T
        across, up, places = grid(low, high, resolution)
        asker = Asker(estimator, X, sight, places, resolution)
        classes, regions, codes = classified(estimator, X, y, asker, len(values))
        confidence = asker.confidence(regions) if probabilities is not False else None
        if probabilities and confidence is None:
            raise AttributeError(
                f"{type(estimator).__name__} has no predict_proba: leave out probabilities, or calibrate it "
                "(CalibratedClassifier)."
            )
        leads = asker.leads(len(classes))
        scores = leads[1] if leads is not None and asker.scored and len(classes) == 2 else None
        if margins and scores is None:
            raise ValueError("Margins are drawn for two classes, by a model with decision_function.")
        support = _rows_of(getattr(estimator, "support_vectors_", None), values.shape[1])
        is_classifier = hasattr(estimator, "classes_")
        words = "classes" if is_classifier else "clusters"
        shade = ", shaded by probability" if confidence is not None else ""
        return cls(
            across,
            up,
            regions,
            leads=leads,
            confidence=confidence,
            scores=scores if margins or (margins is None and _is_support_vector_machine(estimator)) else None,
            points=seen,
            codes=codes,
            support=None if support is None else sight.seen(support),
            exemplars=None if exemplars is None else sight.seen(exemplars),
            class_names=[str(label) if is_classifier else f"cluster {label}" for label in classes.tolist()],
            axis_names=sight.axis_names,
            title=f"{type(estimator).__name__}: {len(classes)} {words}{shade}{sight.words}",
        ).plot(ax=ax)

    def plot(self, ax: "Axes | None" = None, *, legend: bool = True) -> Self:
        """Draw the regions, and the rows above them.

        Parameters
        ----------
        ax : Axes, optional
        legend : bool, default=True
            Whether to tell the classes beside the picture, if there are no more than twelve.

        Returns
        -------
        self
        """
        self.ax_ = axes(ax)
        self.figure_ = self.ax_.figure
        self.image_ = paint(self.ax_, self.across, self.up, coloured(self.regions, self._opacity()))
        self.boundaries_ = self._draw_boundaries()
        self.margins_ = None
        if self.scores is not None:
            self.margins_ = level_lines(
                self.ax_, self.across, self.up, self.scores, [-1.0, 1.0], linestyles="dashed"
            )
        size = 40 if len(self.points) <= FEW_ROWS else 18
        self.points_ = [
            scatter(
                self.ax_,
                self.points[self.codes == code],
                code,
                s=size,
                label=self.class_names[code],
                zorder=3,
            )
            for code in np.unique(self.codes)
            if len(self.points)
        ]
        self.support_ = self._draw_support()
        self.exemplars_ = self._draw_exemplars()
        self.ax_.set(xlabel=self.axis_names[0], ylabel=self.axis_names[1], title=self.title)
        self.ax_.title.set_fontsize("medium")
        if legend and self.ax_.get_legend_handles_labels()[0] and len(self.points_) <= MOST_NAMES:
            self.ax_.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
        return self

    def _opacity(self) -> Any:
        """Opaque where the model is sure; without probabilities the same everywhere."""
        if self.confidence is None:
            return 0.22
        least = 1.0 / max(2, len(self.class_names))
        return 0.06 + 0.36 * np.clip((self.confidence - least) / (1.0 - least), 0.0, 1.0)

    def _draw_boundaries(self) -> list[Any]:
        drawn = []
        present = np.unique(self.regions)
        # Of two classes, the line around one is the line around the other.
        for code in present[1:] if len(present) == 2 else present:
            lead = None if self.leads is None else self.leads[code]
            line = lead_lines(self.ax_, self.across, self.up, self.regions == code, lead, linewidths=1.3)
            drawn += [] if line is None else [line]
        return drawn

    def _draw_support(self) -> Any:
        if self.support is None or not len(self.support):
            return None
        size, width = (90, 1.1) if len(self.support) <= 10 * FEW_ROWS else (24, 0.5)
        rings: dict[str, Any] = {"s": size, "facecolors": "none", "edgecolors": [ink()], "linewidths": width}
        return self.ax_.scatter(
            self.support[:, 0], self.support[:, 1], label="support vectors", zorder=4, **rings
        )

    def _draw_exemplars(self) -> Any:
        if self.exemplars is None or not len(self.exemplars):
            return None
        stars: dict[str, Any] = {"s": 160, "c": "#F0E442", "marker": "*", "edgecolors": [ink()]}
        return self.ax_.scatter(
            self.exemplars[:, 0], self.exemplars[:, 1], label="exemplars", zorder=5, **stars
        )


def _exemplars(estimator: Any) -> Any:
    """Return the exemplars of a model that has a few."""
    for name in ("exemplars_", "cluster_centers_", "means_", "centroids_"):
        found = getattr(estimator, name, None)
        if found is not None and not hasattr(estimator, "dual_coef_"):  # there they are all training rows
            return found
    return None


def _rows_of(found: Any, n_features: int) -> Floats | None:
    """Return rows that can be drawn beside others with so many features; None if they cannot."""
    if found is None:
        return None
    try:
        rows = np.asarray(found.toarray() if hasattr(found, "toarray") else found, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return rows if rows.ndim == 2 and rows.shape[1] == n_features else None


def _is_support_vector_machine(estimator: Any) -> bool:
    """Whether scores of ±1 are margins: slack has a price, and what pays it is kept or told by the loss."""
    hinged = "hinge" in str(getattr(estimator, "loss", ""))
    return hasattr(estimator, "C") and (hinged or hasattr(estimator, "support_vectors_"))
