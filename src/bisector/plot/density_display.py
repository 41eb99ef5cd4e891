"""Densities: a curve over one feature, contours or a surface over two (Learning From Data, 6.4)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bisector.engine.validation import check_choice, check_count
from bisector.plot.canvas import MOST_DOTS, axes, curve, frame, grid, ink, scatter, shades
from bisector.plot.given_rows import asked, model_rows
from bisector.plot.models import check_model, feature_names, numbered

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]
# So many contours, and so many ticks for the rows below a curve.
_CONTOURS, _MOST_TICKS = 9, 500


class DensityDisplay:
    """The density that a model gives to places, with the rows it was made from.

    Parameters
    ----------
    places : tuple of one or two ndarrays
        Along each feature.
    density : ndarray of shape (n_places,), or of shape (n_up, n_across) for two features
    rows : array of shape (n_rows, n_features), optional
        Drawn as ticks below a curve, as dots between contours.
    names : sequence of str, optional
        Of the features.

    Attributes
    ----------
    places, density, rows, names
        As given.
    ax_, figure_ : Axes, Figure
    line_ : Line2D
        Of a curve.
    ticks_ : Line2D or None
        The rows below it.
    contours_ : QuadContourSet
        Of two features.
    surface_ : Poly3DCollection
        Of two features, with ``kind="surface"``.

    Examples
    --------
    >>> from bisector import DensityDisplay, KernelDensity
    >>> X = [[0.0], [1.0], [1.5], [4.0]]
    >>> shown = DensityDisplay.from_estimator(KernelDensity(bandwidth=0.5).fit(X), X)
    >>> across, height = shown.line_.get_data()
    >>> float(across[height.argmax()].round(1))
    1.2
    """

    def __init__(
        self,
        places: Sequence[ArrayLike],
        density: ArrayLike,
        *,
        rows: ArrayLike | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        self.places = tuple(np.asarray(side, dtype=np.float64) for side in places)
        self.density = np.asarray(density, dtype=np.float64)
        self.rows = None if rows is None else np.asarray(rows, dtype=np.float64)
        d = len(self.places)
        self.names = numbered(d) if names is None else list(names)
        if d not in (1, 2):
            raise ValueError(f"A density is drawn over one or two features, not {d}.")
        wanted = tuple(len(side) for side in self.places[::-1])
        if self.density.shape != wanted:
            raise ValueError(
                f"density has the shape {self.density.shape}, but {' × '.join(map(str, wanted))} places."
            )

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        margin: float = 0.15,
        resolution: int | None = None,
        ax: "Axes | None" = None,
        **options: Any,
    ) -> Self:
        """Ask a fitted model for its density around rows, and draw.

        Parameters
        ----------
        estimator : any with score_samples
            Which returns logarithms of densities, as those of `bisector.KernelDensity` and its kin are.
        X : array or frame of shape (n_rows, 1) or (n_rows, 2)
        margin : float, default=0.15
            How far the picture goes beyond the rows, as a share of their range.
        resolution : int, optional
            Places along each feature; by default 800 for a curve, 150 for contours.
        ax : Axes, optional
        **options
            Of `plot`.
        """
        check_model(estimator, "score_samples")
        rows = model_rows(estimator, X)
        d = rows.shape[1]
        if d not in (1, 2):
            raise ValueError(
                f"X has {d} features, but densities are drawn over one or two: choose two, and fit the model to "
                "them."
            )
        steps = check_count("resolution", resolution or (800 if d == 1 else 150), at_least=2)
        low, high = frame(rows, margin)
        if d == 1:
            sides, places = [np.linspace(low[0], high[0], steps)], np.linspace(low, high, steps)
        else:
            *sides, places = grid(low, high, steps)
        names = feature_names(estimator, X, d)
        density = np.exp(asked(estimator.score_samples, X, places).astype(np.float64))
        shape = tuple(len(side) for side in sides[::-1])
        return cls(sides, density.reshape(shape), rows=rows, names=names).plot(ax, **options)

    def plot(
        self,
        ax: "Axes | None" = None,
        *,
        kind: Literal["contour", "surface"] = "contour",
        name: str = "density",
        rows: bool = True,
        colorbar: bool | None = None,
    ) -> Self:
        """Draw the density.

        Parameters
        ----------
        ax : Axes, optional
            Of a surface, one with ``projection="3d"``.
        kind : {"contour", "surface"}, default="contour"
            For two features; contours are closer where the density is low, so that thin parts are seen.
        name : str, default="density"
            Of the curve, in the legend.
        rows : bool, default=True
            Whether to draw the rows; not between contours if they are more than 5,000.
        colorbar : bool, optional
            Whether a bar beside contours tells their heights; by default if the display makes its own axes.

        Returns
        -------
        self
        """
        check_choice("kind", kind, ("contour", "surface"))
        solid = len(self.places) == 2 and kind == "surface"
        self.ax_ = axes(ax, subplot_kw={"projection": "3d"}) if solid else axes(ax)
        self.figure_: Figure | Any = self.ax_.figure
        if solid and not hasattr(self.ax_, "plot_surface"):
            raise ValueError('A surface needs axes with depth: make them with projection="3d".')
        seen = self.rows if rows else None
        if len(self.places) == 1:
            self._draw_curve(name, seen)
        elif solid:
            self._draw_surface()
        else:
            self._draw_contours(seen)
            if ax is None if colorbar is None else colorbar:
                self.figure_.colorbar(self.contours_, ax=self.ax_, label="density", format="%.2g")
        self.ax_.set_xlabel(self.names[0])
        return self

    def _draw_curve(self, name: str, rows: Floats | None) -> None:
        (across,) = self.places
        self.line_ = curve(self.ax_, across, self.density, name)
        self.ax_.fill_between(across, self.density, color=self.line_.get_color(), alpha=0.12, linewidth=0)
        self.ticks_ = None
        if rows is not None:
            shown = rows[:, 0]
            if len(shown) > _MOST_TICKS:  # some that are spread as all of them are
                shown = np.quantile(shown, np.linspace(0, 1, _MOST_TICKS))
            # Ticks hang from the axis, whatever its range.
            low = np.full(len(shown), 0.015)
            (self.ticks_,) = self.ax_.plot(
                shown,
                low,
                "|",
                color=ink(),
                alpha=0.5,
                markersize=8,
                transform=self.ax_.get_xaxis_transform(),
            )
        self.ax_.set_ylim(0, max(self.ax_.get_ylim()[1], 1.08 * float(self.density.max())))
        self.ax_.set(ylabel="density", title=self.ax_.get_title() or "Density")
        self.ax_.legend(fontsize="small")

    def _draw_contours(self, rows: Floats | None) -> None:
        top = float(self.density.max()) or 1.0
        levels = top * np.linspace(0, 1, _CONTOURS + 1) ** 2
        self.contours_ = self.ax_.contourf(*self.places, self.density, levels, cmap=shades(0, darkest=0.9))
        self.ax_.contour(*self.places, self.density, levels[1:-1], colors=[ink()], linewidths=0.4, alpha=0.5)
        if rows is not None and len(rows) <= MOST_DOTS:  # cells of counts would hide the contours
            scatter(self.ax_, rows, 1, s=8, marker="o", alpha=0.7)
        self.ax_.set(ylabel=self.names[1], title="Density")

    def _draw_surface(self) -> None:
        across, up = np.meshgrid(*self.places)
        solid: Any = self.ax_
        self.surface_ = solid.plot_surface(across, up, self.density, cmap="cividis", rcount=60, ccount=60)
        solid.locator_params(nbins=5)  # more would run into each other
        self.ax_.set(ylabel=self.names[1], zlabel="density", title="Density")
