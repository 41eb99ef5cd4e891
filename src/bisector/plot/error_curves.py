"""Errors against what was chosen by them: a number of neighbours, a width, a penalty."""

from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from bisector.plot.canvas import axes, colour, dash, ink, whole_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]


class ErrorCurveDisplay:
    """The error on rows left out, for every value of a parameter; the value that was chosen is marked.

    Parameters
    ----------
    values : array of shape (n_values,)
        Of the parameter.
    left_out : array of shape (n_values,)
        Errors on rows that were left out.
    in_sample : array of shape (n_values,), optional
        Errors on the training rows.
    spread : array of shape (n_values,), optional
        Standard errors of `left_out`.
    chosen : float, optional
        The value that was chosen.
    parameter_name, error_name, title : str, optional

    Attributes
    ----------
    ax_, figure_ : Axes, Figure
    line_ : Line2D
    in_sample_ : Line2D or None
    band_ : PolyCollection or None
        One standard error to either side.
    chosen_ : Line2D or None
        The mark.

    Examples
    --------
    >>> from bisector import ErrorCurveDisplay, KNeighborsClassifierCV, datasets
    >>> X, y = datasets.iris()
    >>> display = ErrorCurveDisplay.from_estimator(KNeighborsClassifierCV().fit(X, y))
    >>> display.chosen
    19
    """

    def __init__(
        self,
        values: ArrayLike,
        left_out: ArrayLike,
        *,
        in_sample: ArrayLike | None = None,
        spread: ArrayLike | None = None,
        chosen: float | None = None,
        parameter_name: str = "parameter",
        error_name: str = "error",
        title: str | None = None,
    ) -> None:
        order = np.argsort(np.asarray(values, dtype=np.float64), kind="stable")
        self.values = np.asarray(values, dtype=np.float64)[order]
        self.left_out = self._along(left_out, "left_out")[order]
        self.in_sample = None if in_sample is None else self._along(in_sample, "in_sample")[order]
        self.spread = None if spread is None else self._along(spread, "spread")[order]
        self.chosen = chosen
        self.parameter_name = parameter_name
        self.error_name = error_name
        self.title = title

    def _along(self, given: ArrayLike, name: str) -> Floats:
        found = np.asarray(given, dtype=np.float64)
        if found.shape != self.values.shape:
            raise ValueError(
                f"{name} has the shape {found.shape}, but there are {len(self.values)} values: give one for each."
            )
        return found

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any = None, y: Any = None, *, in_sample: ArrayLike | None = None,
        ax: "Axes | None" = None,
    ) -> Self:  # fmt: skip
        """Draw the errors by which a model chose its parameter.

        Parameters
        ----------
        estimator : model that chose one parameter by errors
            `KNeighborsClassifierCV`, `KNeighborsRegressorCV`, `RidgeCV`, `LassoCV`, `ElasticNetCV`,
            `KernelDensityCV`, or a search over one parameter; fitted. A search such as scikit-learn's
            ``GridSearchCV`` also shows errors in sample, if it keeps them (``return_train_score=True``).
        X, y : ignored
        in_sample : array, optional
            Errors on the training rows, for every value, to be drawn as well.
        ax : Axes, optional

        Returns
        -------
        ErrorCurveDisplay
        """
        check_is_fitted(estimator)
        for read in (_neighbours, _left_out_alphas, _folds_of_alphas, _bandwidths, _search):
            found = read(estimator)
            if found is not None:
                break
        else:
            raise AttributeError(
                f"{type(estimator).__name__} keeps no errors for several values of one parameter: give a model "
                "that chooses by them, such as KNeighborsClassifierCV, RidgeCV, or GridSearchCV over one parameter."
            )
        return cls(
            found.values,
            found.left_out,
            in_sample=found.in_sample if in_sample is None else in_sample,
            spread=found.spread,
            chosen=found.chosen,
            parameter_name=found.parameter_name,
            error_name=found.error_name,
            title=f"{type(estimator).__name__}: {found.error_name} by {found.parameter_name}",
        ).plot(ax=ax)

    def plot(self, ax: "Axes | None" = None, *, xscale: str | None = None) -> Self:
        """Draw the curves, and mark the chosen value.

        Parameters
        ----------
        ax : Axes, optional
        xscale : {"log", "linear"}, optional
            By default "log" where values are above zero and span more than a factor of 20.

        Returns
        -------
        self
        """
        self.ax_ = axes(ax)
        self.figure_ = self.ax_.figure
        if xscale is None:
            xscale = "log" if 0 < 20 * self.values[0] < self.values[-1] else "linear"
        self.ax_.set_xscale(xscale)
        if xscale == "linear" and (self.values % 1 == 0).all():  # such as numbers of neighbours
            whole_ticks(self.ax_)
        style: dict[str, Any]
        self.band_ = None
        if self.spread is not None:
            edges = self.left_out - self.spread, self.left_out + self.spread
            style = {
                "color": colour(0),
                "alpha": 0.3,
                "lw": 0,
                "label": "± one standard error",
            }
            self.band_ = self.ax_.fill_between(self.values, *edges, **style)
        (self.line_,) = self.ax_.plot(self.values, self.left_out, color=colour(0), lw=1.8, label="left out")
        self.in_sample_ = None
        if self.in_sample is not None:
            style = {
                "color": colour(1),
                "linestyle": dash(1),
                "lw": 1.8,
                "label": "in sample",
            }
            (self.in_sample_,) = self.ax_.plot(self.values, self.in_sample, **style)
        self.chosen_ = None
        if self.chosen is not None:
            at = int(np.argmin(np.abs(self.values - self.chosen)))
            style = {
                "marker": "D",
                "ms": 7,
                "mfc": colour(4),
                "mec": ink(),
                "ls": "",
                "zorder": 3,
            }
            words = f"chosen: {self.chosen:.4g}"
            (self.chosen_,) = self.ax_.plot(self.values[at], self.left_out[at], label=words, **style)
        self.ax_.set(xlabel=self.parameter_name, ylabel=self.error_name, title=self.title)
        self.ax_.legend(frameon=False)
        return self


class _Curve(NamedTuple):
    """What a model tells of its choice."""

    values: Any
    left_out: Any
    chosen: Any
    parameter_name: str
    error_name: str
    spread: Any = None
    in_sample: Any = None


def _neighbours(model: Any) -> _Curve | None:
    if not hasattr(model, "error_curve_"):
        return None
    what = "share of errors" if is_classifier(model) else "mean squared error"
    return _Curve(
        model.k_values_, model.error_curve_, model.best_k_, "neighbours k", what, model.error_curve_std_
    )


def _left_out_alphas(model: Any) -> _Curve | None:
    errors = getattr(model, "leave_one_out_errors_", None)
    if errors is None or np.ndim(errors) != 1:
        return None
    return _Curve(model.alphas_, errors, model.alpha_, "penalty α", "mean squared error")


def _folds_of_alphas(model: Any) -> _Curve | None:
    errors = np.asarray(getattr(model, "mse_path_", 0.0))
    if errors.ndim == 3:  # one path for each l1_ratio: that of the best
        best = int(np.argmin(errors.mean(axis=-1).min(axis=1)))
        errors, alphas = errors[best], np.asarray(model.alphas_)[best]
    elif errors.ndim == 2:
        alphas = np.asarray(model.alphas_)
    else:
        return None
    spread = errors.std(axis=1, ddof=1) / np.sqrt(errors.shape[1]) if errors.shape[1] > 1 else None
    return _Curve(alphas, errors.mean(axis=1), model.alpha_, "penalty α", "mean squared error", spread)


def _bandwidths(model: Any) -> _Curve | None:
    if not hasattr(model, "bandwidths_"):
        return None
    return _Curve(
        model.bandwidths_, -np.asarray(model.scores_), model.best_bandwidth_, "width r", "−log likelihood"
    )


def _search(model: Any) -> _Curve | None:
    """Read a search in scikit-learn's form over one parameter; scores become errors."""
    results = getattr(model, "cv_results_", None)
    if not isinstance(results, dict) or len(getattr(model, "best_params_", ())) != 1:
        return None
    ((name, best),) = model.best_params_.items()
    try:
        values = np.asarray(results[f"param_{name}"].tolist(), dtype=np.float64)
        chosen = float(best)
    except (TypeError, ValueError):
        return None  # a choice among words has no curve
    shares = model.scoring == "accuracy" or (model.scoring is None and is_classifier(model))

    def error(scores: Any) -> Floats:
        return 1.0 - scores if shares else -scores

    folds = getattr(model, "n_splits_", 1)
    spread = results["std_test_score"] / np.sqrt(max(1, folds - 1))
    trained = results.get("mean_train_score")
    return _Curve(
        values,
        error(results["mean_test_score"]),
        chosen,
        name.rpartition("__")[2],
        "share of errors" if shares else "−score",
        spread,
        None if trained is None else error(trained),
    )
