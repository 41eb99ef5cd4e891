"""Coefficients as functions of the penalty: on a grid of penalties, as scikit-learn gives them."""

from collections.abc import Iterable, Sequence
from typing import Any
from warnings import warn

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from bisector.engine.validation import (
    check_choice,
    check_count,
    check_finite,
    check_flag,
    check_number,
    check_training,
)
from bisector.solvers.lasso_problem import Penalised
from bisector.solvers.penalised_path import PenalisedData, alpha_grid, penalised_data, penalised_path

Floats = NDArray[np.floating[Any]]


def enet_path(
    X: Any,
    y: Any,
    *,
    l1_ratio: float = 0.5,
    eps: float = 1e-3,
    n_alphas: int | str = "deprecated",
    alphas: int | ArrayLike | str | None = "warn",
    precompute: bool | str | ArrayLike = "auto",
    Xy: ArrayLike | None = None,
    copy_X: bool = True,
    coef_init: ArrayLike | None = None,
    verbose: bool | int = False,
    return_n_iter: bool = False,
    positive: bool = False,
    check_input: bool = True,
    **params: Any,
) -> tuple[Any, ...]:
    """Return the coefficients of the elastic net for every penalty of a grid.

    Minimises 1/(2n)·‖y − Xw‖² + α·ρ‖w‖₁ + ½α(1 − ρ)‖w‖² for each α. As in scikit-learn, there is **no intercept**
    unless ``fit_intercept=True`` is given.

    Parameters
    ----------
    X : array, sparse matrix, pandas or polars frame, of shape (n_samples, n_features)
    y : array of shape (n_samples,)
    l1_ratio : float, default=0.5
        Share ρ of the lasso's penalty, above 0 unless `alphas` are given.
    eps : float, default=1e-3
        The smallest penalty of the grid as a share of the largest.
    n_alphas : int, optional
        The number of penalties; superseded by ``alphas``.
    alphas : int or array, default=100 penalties
        How many penalties, from the smallest that sets all coefficients to zero down to `eps` times it; or which.
    precompute, Xy, copy_X, check_input
        Without effect.
    coef_init : array of shape (n_features,), optional
        Coefficients to begin with.
    verbose : bool or int, default=False
        Whether to show a progress bar.
    return_n_iter : bool, default=False
        Whether to return the numbers of sweeps too.
    positive : bool, default=False
        Whether coefficients must not be negative.
    **params
        ``tol`` (1e-4) and ``max_iter`` (1000), as for `ElasticNet`; ``sample_weight``; ``fit_intercept`` (False);
        ``n_jobs``; ``random_state`` and ``selection``, without effect.

    Returns
    -------
    alphas : array of shape (n_alphas,), falling
    coefs : array of shape (n_features, n_alphas)
    dual_gaps : array of shape (n_alphas,)
        Bounds on how far each objective is above its minimum.
    n_iters : list of int, if asked for

    Examples
    --------
    >>> import numpy as np
    >>> from bisector import enet_path
    >>> X = np.array([[-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]])
    >>> alphas, coefs, gaps = enet_path(X, X @ [4.0, 1.0], alphas=[3.0, 1.0])
    >>> coefs.round(6)
    array([[1.      , 2.333333],
           [0.      , 0.333333]])
    """
    check_precompute(precompute)
    for name, value in (("copy_X", copy_X), ("return_n_iter", return_n_iter), ("positive", positive)):
        check_flag(name, value)
    if check_number("l1_ratio", l1_ratio, at_least=0) > 1:
        raise ValueError(f"l1_ratio must be a number from 0 to 1, not {l1_ratio!r}.")
    settings = _check_settings(params)
    from bisector.linear.elastic_net import ElasticNet

    rows, _ = check_training(ElasticNet(), X, y, settings["sample_weight"])
    data = penalised_data(rows, intercept=settings["fit_intercept"], n_jobs=settings["n_jobs"])
    count: Any = alphas if n_alphas == "deprecated" else n_alphas
    chosen = check_alphas(
        100 if count is None or isinstance(count, str) else count, eps, data, l1_ratio, positive
    )
    start = None if coef_init is None else np.asarray(coef_init, dtype=np.float64)
    if start is not None and start.shape != (rows.n_features,):
        raise ValueError(f"coef_init has the shape {start.shape}, but X has {rows.n_features} features.")
    found = list(
        penalised_path(
            data, chosen, l1_ratio=l1_ratio, positive=positive, tol=settings["tol"],
            max_iter=settings["max_iter"], start=start, verbose=verbose,
        )
    )  # fmt: skip
    warn_of_gaps("A path", open_gaps(found), settings["max_iter"], settings["tol"])
    coefs = np.array([solved.coef for solved in found]).T.astype(rows.dtype)
    answer = (chosen, coefs, np.array([solved.gap for solved in found]))
    return (*answer, [solved.iterations for solved in found]) if return_n_iter else answer


def lasso_path(
    X: Any,
    y: Any,
    *,
    eps: float = 1e-3,
    n_alphas: int | str = "deprecated",
    alphas: int | ArrayLike | str | None = "warn",
    precompute: bool | str | ArrayLike = "auto",
    Xy: ArrayLike | None = None,
    copy_X: bool = True,
    coef_init: ArrayLike | None = None,
    verbose: bool | int = False,
    return_n_iter: bool = False,
    positive: bool = False,
    **params: Any,
) -> tuple[Any, ...]:
    """Return the coefficients of the lasso for every penalty of a grid.

    Minimises 1/(2n)·‖y − Xw‖² + α‖w‖₁ for each α. As in scikit-learn, there is **no intercept** unless
    ``fit_intercept=True`` is given.

    Parameters
    ----------
    X, y, eps, n_alphas, alphas, precompute, Xy, copy_X, coef_init, verbose, return_n_iter, positive, **params
        As for `enet_path`.

    Returns
    -------
    alphas, coefs, dual_gaps, n_iters
        As of `enet_path`.

    See Also
    --------
    lasso_knots : the same for all penalties, exactly

    Examples
    --------
    >>> import numpy as np
    >>> from bisector import lasso_path
    >>> X = np.array([[-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]])
    >>> alphas, coefs, gaps = lasso_path(X, X @ [4.0, 1.0], alphas=[2.0, 0.5])
    >>> coefs.round(6)
    array([[2. , 3.5],
           [0. , 0.5]])
    """
    return enet_path(
        X, y, l1_ratio=1.0, eps=eps, n_alphas=n_alphas, alphas=alphas, precompute=precompute, Xy=Xy,
        copy_X=copy_X, coef_init=coef_init, verbose=verbose, return_n_iter=return_n_iter, positive=positive,
        **params,
    )  # fmt: skip


def _check_settings(params: dict[str, Any]) -> dict[str, Any]:
    known = {
        "tol": 1e-4, "max_iter": 1000, "sample_weight": None, "fit_intercept": False, "n_jobs": None,
        "random_state": None, "selection": "cyclic",
    }  # fmt: skip
    for name in params:
        if name not in known:
            raise TypeError(f"A path has no parameter {name!r}; it has {', '.join(known)}.")
    settings = known | params
    check_number("tol", settings["tol"], at_least=0)
    check_count("max_iter", settings["max_iter"])
    check_flag("fit_intercept", settings["fit_intercept"])
    check_choice("selection", settings["selection"], ("cyclic", "random"))
    return settings


def check_alphas(
    alphas: int | ArrayLike, eps: float, data: PenalisedData, l1_ratio: float, positive: bool
) -> NDArray[np.float64]:
    """Return the penalties of a grid, falling: those given, or so many from the largest that matters."""
    if isinstance(alphas, int | np.integer) and not isinstance(alphas, bool):
        count = check_count("alphas", alphas)
        if l1_ratio == 0:
            raise ValueError(
                "No penalty without a lasso's part (l1_ratio=0) sets all coefficients to zero, so that there is "
                "no grid to begin with: give the penalties as alphas."
            )
        largest = data.largest_alpha(0, l1_ratio, positive=positive)
        return alpha_grid(largest, check_finite("eps", eps, above=0), count)
    given = np.asarray(alphas)
    if given.ndim != 1 or not len(given) or given.dtype.kind not in "iuf":
        raise TypeError(f"alphas must be a number of penalties or a list of them, not {alphas!r}.")
    bad = np.flatnonzero(~(np.isfinite(given) & (given >= 0)))
    if bad.size:
        raise ValueError(f"alphas[{bad[0]}] is {given[bad[0]]}, but a penalty must be zero or positive.")
    return np.sort(given.astype(np.float64))[::-1]


def check_precompute(precompute: Any) -> None:
    """Check a parameter that has no effect but must make sense."""
    sensible = isinstance(precompute, bool | np.bool_) or (
        isinstance(precompute, str) and precompute == "auto"
    )
    if not sensible and np.ndim(precompute) != 2:
        raise ValueError(f'precompute must be True, False, "auto" or a Gram matrix, not {precompute!r}.')


def open_gaps(found: Iterable[Penalised]) -> list[float]:
    """Return the gaps of solutions that are not as good as was asked for."""
    return [solved.gap for solved in found if not solved.converged]


def warn_of_gaps(name: str, gaps: Sequence[float], max_iter: int, tol: float) -> None:
    """Say that solutions are not as good as was asked for, if some are not."""
    if gaps:
        warn(
            f"{name} stopped after max_iter={max_iter} sweeps with a duality gap of {max(gaps):.3g}, which "
            f"tol={tol:g} does not allow: raise max_iter.",
            ConvergenceWarning,
            stacklevel=4,
        )
