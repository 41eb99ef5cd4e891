"""The linear support vector machine, with a proof of how good its plane is."""

import warnings
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from bisector.engine.checkpoint import checkpoint_of
from bisector.engine.progress import track
from bisector.engine.sparse_planes import DecidesBySparsePlanes
from bisector.engine.validation import (
    check_choice,
    check_classes,
    check_count,
    check_finite,
    check_flag,
    check_number,
    store,
)
from bisector.solvers.linear_svm import Task, margin_planes

Floats = NDArray[np.floating[Any]]


class LinearSVC(DecidesBySparsePlanes):
    """Linear support vector machine: the plane with a wide margin and few rows on its wrong side.

    For labels yᵢ = ±1 it minimises ½‖w‖² + C Σ max(0, 1 − yᵢ(w·xᵢ + b))², or without the square; with
    ``penalty="l1"``, ‖w‖₁ takes the place of ½‖w‖². More classes have a plane each, against the rest.

    A drop-in for scikit-learn's estimator with two differences. The intercept b is not penalised, as in the
    problem's definition; scikit-learn penalises it, so that a fit there depends on where the origin lies. And a
    fit ends with a proof: ``dual_gap_`` bounds how much better any plane could be.

    Parameters
    ----------
    penalty : {"l1", "l2"}, default="l2"
        "l1" sets weights that are not needed to zero; not with the hinge loss.
    loss : {"hinge", "squared_hinge"}, default="squared_hinge"
        Whether what a row lacks to the margin is counted as it is or squared.
    dual : bool or "auto", default="auto"
        Without effect: the method is chosen by the shape of the data, and every fit has multipliers.
    tol : float, default=1e-4
        Relative duality gap that a fit must reach: no plane costs less by more than this share. Most fits reach
        far less; those of the squared hinge on up to a few hundred features end at rounding.
    C : float, default=1.0
        What a row costs on the wrong side of its margin.
    multi_class : {"ovr"}, default="ovr"
        Of several classes, one plane each against the rest. scikit-learn's "crammer_singer" is not offered.
    fit_intercept : bool, default=True
        Whether planes may miss the origin.
    intercept_scaling : float, default=1
        Without effect: the intercept is not penalised.
    class_weight : dict, "balanced" or None, default=None
        What multiplies C for rows of each class.
    verbose : int, default=0
        Show a progress bar.
    random_state : int, RandomState or None, default=None
        The order in which coordinate descent visits rows or weights; None is always the same. Newton's methods,
        which serve data with up to a few hundred features, draw nothing.
    max_iter : int, default=1000
        The most steps or rounds for a plane.
    n_jobs : int, default=None
        Number of threads; None means all cores allowed here, one inside a joblib worker. The result is the
        same, bit for bit, for any number.
    checkpoint : str or path, default=None
        A file in which a long fit keeps what it has reached, every few seconds. If the fit is interrupted, even
        killed, the same call goes on from there, to the same result bit for bit; other data or parameters are
        refused. The file is removed when the fit ends. It holds the steps of Newton's methods, some kilobytes; of
        coordinate descent the multipliers or slacks too, up to 24 bytes a row for each plane.

    Attributes
    ----------
    coef_ : array of shape (1, n_features), or (n_classes, n_features) if there are more than two
        Normal vectors of the planes.
    intercept_ : array of shape (1,) or (n_classes,)
    classes_ : array of shape (n_classes,)
    dual_gap_ : float
        The proven bound: the cost of a plane minus a lower bound on any plane's cost, relative to the first;
        the largest of all planes.
    converged_ : bool
        Whether it is at most `tol`.
    objective_ : array of shape (1,) or (n_classes,)
        What the planes cost.
    alpha_ : array of shape (n_samples,) or (n_samples, n_classes)
        Multipliers of the training rows, which prove the gap. With ``penalty="l2"``, w = Σαᵢyᵢxᵢ up to the gap;
        rows with α = 0 could be left out. A model that was pickled no longer has them.
    margin_ : float or array of shape (n_classes,)
        1/‖w‖, the distance from the plane to the margin.
    solver_ : str
        "newton", "interior point", "dual coordinate descent" or "coordinate descent".
    n_iter_ : int
        Steps or rounds, the most of all planes.
    n_features_in_ : int
    feature_names_in_ : array of str, if X has string column names

    Notes
    -----
    A sample weight multiplies C: a row of weight 2 counts as two equal rows, one of weight 0 as none.

    References
    ----------
    Flach, *Machine Learning* (2012), section 7.3. Ferris and Munson, *Interior-point methods for massive support
    vector machines* (2002). Hsieh et al., *A dual coordinate descent method for large-scale linear SVM* (2008).

    Examples
    --------
    >>> import numpy as np
    >>> from bisector import LinearSVC
    >>> X = np.array([[1.0, 2.0], [-1.0, 2.0], [-1.0, -2.0], [3.0, 1.0]])
    >>> model = LinearSVC(loss="hinge", C=10).fit(X, ["no", "no", "yes", "yes"])
    >>> model.weights_.round(6), round(model.margin_, 6)
    (array([ 0.6, -0.8]), 1.0)
    >>> model.alpha_.round(6)
    array([0.5, 0. , 0.1, 0.4])
    >>> model.converged_
    True
    """

    alpha_: NDArray[np.float64]

    def __init__(
        self,
        penalty: Literal["l1", "l2"] = "l2",
        loss: Literal["hinge", "squared_hinge"] = "squared_hinge",
        *,
        dual: bool | Literal["auto"] = "auto",
        tol: float = 1e-4,
        C: float = 1.0,
        multi_class: str = "ovr",
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: Any = None,
        verbose: int = 0,
        random_state: Any = None,
        max_iter: int = 1000,
        n_jobs: int | None = None,
        checkpoint: Any = None,
    ) -> None:
        self.penalty = penalty
        self.loss = loss
        self.dual = dual
        self.tol = tol
        self.C = C
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.checkpoint = checkpoint

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Find the planes.

        Parameters
        ----------
        X : array, sparse matrix, pandas or polars frame, Arrow table or dataset, path of a Parquet file or \
folder, Dask array or dataframe, or list of delayed blocks, of shape (n_samples, n_features)
        y : array of shape (n_samples,), or the name of a column of X
        sample_weight : array of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        task, C = self._task()
        intercept = check_flag("fit_intercept", self.fit_intercept)
        rows, codes, classes, stand_in = check_classes(self, X, y, sample_weight, self.class_weight)
        given, rows.read_often = rows, True
        codes = np.asarray(codes)
        weight = np.ones(len(codes)) if rows.sample_weight is None else np.asarray(rows.sample_weight)
        present = weight > 0
        if not present.all():
            rows = rows.only(present)
        sides = [codes[present] == code for code in range(len(classes))]
        if len(classes) == 2:
            sides = sides[1:]
        with (
            checkpoint_of(self.checkpoint, self, given) as kept,
            track("support vector machine", verbose=self.verbose) as bar,
        ):
            planes = margin_planes(
                rows,
                sides,
                C * weight[present],
                task,
                intercept=intercept,
                n_jobs=self.n_jobs,
                bar=bar,
                kept=kept,
            )
        alpha = np.zeros((len(codes), len(planes)))
        alpha[present] = np.stack([plane.alpha for plane in planes], axis=1)
        with np.errstate(over="ignore"):
            coef = np.stack([plane.weights for plane in planes]).astype(rows.dtype)
            offset = np.array([plane.intercept for plane in planes]).astype(rows.dtype)
        if not (np.isfinite(coef).all() and np.isfinite(offset).all()):
            raise ValueError(
                f"The weights are too large for {rows.dtype} numbers: give the features in units closer to each "
                "other, or X as float64."
            )
        store(
            self,
            stand_in,
            classes_=classes,
            coef_=coef,
            intercept_=offset,
            dual_gap_=max(plane.gap for plane in planes),
            converged_=all(plane.converged for plane in planes),
            objective_=np.array([plane.objective for plane in planes]),
            solver_=planes[0].method,
            n_iter_=max(plane.iterations for plane in planes),
            alpha_=alpha[:, 0] if len(planes) == 1 else alpha,
        )
        if not self.converged_:
            self._warn()
        return self

    @property
    def margin_(self) -> Any:
        check_is_fitted(self)
        with np.errstate(divide="ignore"):
            margins = 1 / self._lengths()
        return float(margins[0]) if len(margins) == 1 else margins

    def _task(self) -> tuple[Task, float]:
        absolute = check_choice("penalty", self.penalty, ("l1", "l2")) == "l1"
        squared = check_choice("loss", self.loss, ("hinge", "squared_hinge")) == "squared_hinge"
        if absolute and not squared:
            raise ValueError(
                'penalty="l1" goes with loss="squared_hinge" only: take this loss, or penalty="l2".'
            )
        if not isinstance(self.dual, bool | np.bool_):
            check_choice("dual", self.dual, ("auto",))
        if self.multi_class == "crammer_singer":
            raise ValueError(
                'multi_class="crammer_singer" is not offered: take "ovr", a plane for each class against the rest.'
            )
        check_choice("multi_class", self.multi_class, ("ovr",))
        check_number("intercept_scaling", self.intercept_scaling, above=0)
        tol, C = check_number("tol", self.tol, above=0), check_finite("C", self.C, above=0)
        seed = 0
        if self.random_state is not None:
            from sklearn.utils import check_random_state

            seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        return Task(squared, absolute, tol, check_count("max_iter", self.max_iter), seed), C

    def _warn(self) -> None:
        from sklearn.exceptions import ConvergenceWarning

        warnings.warn(
            f"LinearSVC stopped after {self.n_iter_} iterations with a relative gap of {self.dual_gap_:.1e} above "
            f"tol={self.tol:g}: raise max_iter, scale the features to equal spread, or lower C.",
            ConvergenceWarning,
            stacklevel=3,
        )

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        state.pop(
            "alpha_", None
        )  # a model file holds what predicts, and does not grow with the training rows
        return state
