"""Coefficients against the penalty."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from bisector.plot.canvas import axes, colour, dash, ink
from bisector.plot.models import feature_names, numbered

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]


class CoefficientPathDisplay:
    """How coefficients shrink, and which become zero, as the penalty grows.

    Parameters
    ----------
    alphas : array of shape (n_alphas,)
        Penalties.
    coefs : array of shape (n_alphas, n_features)
        The coefficients at each.
    chosen : float, optional
        A penalty to mark.
    knots : array, optional
        Penalties at which the path bends, marked by thin lines.
    names : sequence of str, optional
        What the features are called.
    title : str, optional

    Attributes
    ----------
    ax_, figure_ : Axes, Figure
    lines_ : list of Line2D
        Of the features that have names in the legend, those with the largest coefficients first.
    others_ : LineCollection or None
        Of all other features.
    chosen_ : Line2D or None
    knots_ : LineCollection or None

    Examples
    --------
    >>> from bisector import CoefficientPathDisplay, datasets, lasso_knots
    >>> X, y = datasets.diabetes(scaled=True)
    >>> display = CoefficientPathDisplay.from_knots(lasso_knots(X, y))
    >>> display.coefs.shape
    (13, 10)
    """

    def __init__(
        self,
        alphas: ArrayLike,
        coefs: ArrayLike,
        *,
        chosen: float | None = None,
        knots: ArrayLike | None = None,
        names: Any = None,
        title: str | None = None,
    ) -> None:
        self.alphas = np.asarray(alphas, dtype=np.float64)
        self.coefs = np.asarray(coefs, dtype=np.float64)
        if self.coefs.ndim != 2 or self.coefs.shape[0] != len(self.alphas):
            raise ValueError(
                f"coefs has the shape {self.coefs.shape}, but there are {len(self.alphas)} alphas: give a row of "
                "coefficients for each."
            )
        self.chosen = chosen
        self.knots = None if knots is None else np.asarray(knots, dtype=np.float64)
        count = self.coefs.shape[1]
        self.names = numbered(count) if names is None else [str(name) for name in names]
        if len(self.names) != count:
            raise ValueError(f"There are {len(self.names)} names for {count} features: give one for each.")
        self.title = title

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any = None, y: Any = None, *, names: Any = None, ax: "Axes | None" = None
    ) -> Self:
        """Draw the path that a model keeps, such as `RidgeCV`.

        Parameters
        ----------
        estimator : regressor
            Fitted, with ``alphas_`` and ``coef_path_``.
        X, y : ignored
            But for the names of a frame's columns.
        names : sequence of str, optional
        ax : Axes, optional

        Returns
        -------
        CoefficientPathDisplay
        """
        check_is_fitted(estimator)
        if not hasattr(estimator, "coef_path_") or not hasattr(estimator, "alphas_"):
            raise AttributeError(
                f"{type(estimator).__name__} keeps no path of coefficients: give RidgeCV, or draw "
                "CoefficientPathDisplay.from_path(*lasso_path(X, y)[:2])."
            )
        alphas, coefs = np.asarray(estimator.alphas_), np.asarray(estimator.coef_path_)
        if coefs.ndim != 2:
            raise ValueError(f"{type(estimator).__name__} has several targets: fit and draw one at a time.")
        if len(coefs) != len(alphas):
            coefs = coefs.T  # as scikit-learn keeps it: a row for each feature
        if names is None:
            names = feature_names(estimator, X, coefs.shape[1])
        chosen = getattr(estimator, "alpha_", None)
        title = f"{type(estimator).__name__}: coefficients for every penalty"
        return cls(alphas, coefs, chosen=chosen, names=names, title=title).plot(ax=ax)

    @classmethod
    def from_path(
        cls,
        alphas: ArrayLike,
        coefs: ArrayLike,
        *,
        chosen: float | None = None,
        names: Any = None,
        title: str = "Coefficients for every penalty",
        ax: "Axes | None" = None,
    ) -> Self:
        """Draw what `lasso_path` or `enet_path` returned.

        Parameters
        ----------
        alphas : array of shape (n_alphas,)
        coefs : array of shape (n_features, n_alphas)
            As these functions return them.
        chosen : float, optional
            A penalty to mark.
        names : sequence of str, optional
        title : str, optional
        ax : Axes, optional

        Returns
        -------
        CoefficientPathDisplay
        """
        by_alpha = np.asarray(coefs, dtype=np.float64).T
        return cls(alphas, by_alpha, chosen=chosen, names=names, title=title).plot(ax=ax)

    @classmethod
    def from_knots(
        cls, knots: Any, *, chosen: float | None = None, names: Any = None, ax: "Axes | None" = None
    ) -> Self:
        """Draw the exact path of the lasso, with the penalties at which it bends.

        Parameters
        ----------
        knots : LassoKnots
            What `lasso_knots` returned.
        chosen : float, optional
            A penalty to mark.
        names : sequence of str, optional
        ax : Axes, optional

        Returns
        -------
        CoefficientPathDisplay
        """
        title = f"Lasso: coefficients between {knots.n_knots} knots"
        return cls(
            knots.alphas, knots.coefs, chosen=chosen, knots=knots.alphas, names=names, title=title
        ).plot(ax=ax)

    def plot(self, ax: "Axes | None" = None, *, most: int = 7, xscale: str | None = None) -> Self:
        """Draw a line for each feature.

        Parameters
        ----------
        ax : Axes, optional
        most : int, default=7
            How many features, those with the largest coefficients, have a colour and stand in the legend.
        xscale : {"log", "linear"}, optional
            By default "linear" for exact paths, which are straight between their knots, and for penalties with zero
            among them.

        Returns
        -------
        self
        """
        self.ax_ = axes(ax)
        self.figure_ = self.ax_.figure
        linear = self.knots is not None or self.alphas.min() <= 0
        self.ax_.set_xscale(("linear" if linear else "log") if xscale is None else xscale)
        self.knots_ = None
        if self.knots is not None:
            span: dict[str, Any] = {
                "transform": self.ax_.get_xaxis_transform(),
                "colors": [ink()],
                "lw": 0.6,
                "alpha": 0.3,
            }
            self.knots_ = self.ax_.vlines(self.knots, 0, 1, zorder=0, **span)
        largest_first = np.argsort(-np.abs(self.coefs).max(axis=0), kind="stable")
        self.others_ = self._draw_others(largest_first[most:])
        self.lines_ = [
            self.ax_.plot(
                self.alphas, self.coefs[:, j], color=colour(k), linestyle=dash(k), lw=1.8, label=self.names[j]
            )[0]
            for k, j in enumerate(largest_first[:most])
        ]
        self.ax_.axhline(0.0, color=ink(), lw=0.8, zorder=1)
        self.chosen_ = None
        if self.chosen is not None:
            words = f"α = {self.chosen:.3g}"
            self.chosen_ = self.ax_.axvline(self.chosen, color=ink(), lw=1.2, linestyle=":", label=words)
        self.ax_.set(xlabel="penalty α", ylabel="coefficient", title=self.title)
        self.ax_.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
        return self

    def _draw_others(self, features: NDArray[np.int64]) -> Any:
        """Draw the features with small coefficients as one artist, however many they are."""
        if not len(features):
            return None
        from matplotlib.collections import LineCollection

        paths = [np.column_stack([self.alphas, self.coefs[:, j]]) for j in features]
        style: dict[str, Any] = {
            "colors": [ink()],
            "linewidths": 0.8,
            "alpha": 0.35,
            "label": f"{len(features)} others",
        }
        drawn = self.ax_.add_collection(LineCollection(paths, **style))
        self.ax_.autoscale_view()
        return drawn
