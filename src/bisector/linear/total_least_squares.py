"""Total least squares: the plane nearest to the points, errors in x and y taken alike."""

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from bisector.engine.blocks import Block
from bisector.engine.lazy_rows import by_rows
from bisector.engine.sources import Source
from bisector.engine.validation import check_flag, check_rows, check_training, store
from bisector.linear.planes import HasPlanes, narrowed
from bisector.solvers.total_least_squares import total_least_squares

Floats = NDArray[np.floating[Any]]


class TotalLeastSquares(MultiOutputMixin, RegressorMixin, HasPlanes):
    """The plane with the smallest sum of squared distances from the points, at right angles to the plane.

    Least squares takes all errors to be in y; here x has them too (Flach, 7.1). So neither is singled out: with x
    and y exchanged it is the same line. With one feature and known noise this is Deming regression; with exact
    features besides noisy ones, mixed least squares.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether the plane may miss the origin.
    noise : float or array of shape (n_features + n_targets,), default=None
        Standard deviations of the errors of the columns of X, then of y, known up to a common factor; 0 for a
        column of X without errors. One number is that of all features, where those of y are 1. By default all are
        equal: columns must then be in the same units, or in units of their errors.
    n_jobs : int, default=None
        Number of threads; None means all cores allowed here, one inside a joblib worker. The result is the
        same, bit for bit, for any number.

    Attributes
    ----------
    coef_ : array of shape (n_features,) or (n_targets, n_features)
        Of several best solutions the one of least length. Constant features have zero: they are taken to be without
        errors, since the plane on which such a feature is constant would else be the nearest, whatever y is.
    intercept_ : float or array of shape (n_targets,)
    normal_ : array of shape (n_features + 1,)
        For one target: the unit vector at right angles to the best plane, features first, then y. It exists also
        where no coefficients describe the plane.
    singular_values_ : array
        Of the rows about their mean, in units of the noise, largest first: the last tell how far the points are
        from the plane. Exact and constant columns are left out.
    singular_gap_ : float
        By how much the singular value before the last ones (as many as targets) exceeds them, as a share of it:
        near 0 the data hardly tell which plane is best.
    unique_ : bool
        Whether there is one best plane; a warning says if not.
    exists_ : bool
        Whether coefficients describe the best plane; a warning says if not, and the coefficients are then those
        of the best plane that leaves out the directions in X that are to blame.
    distances_ : array of shape (n_samples,)
        Distances of the training rows from the plane, as of `distances`. Computed when asked for: the model refers
        to the training data (without copying it) until it is pickled.
    n_features_in_ : int
    feature_names_in_ : array of str, if X has string column names

    Notes
    -----
    A sample weight w counts as w equal rows.

    References
    ----------
    Golub and Van Loan (1980), An analysis of the total least squares problem; Van Huffel and Vandewalle (1991),
    *The Total Least Squares Problem*.

    Examples
    --------
    Four points on no line, and the same with x and y exchanged:

    >>> from bisector import TotalLeastSquares
    >>> x, y = [0.0, 1.0, 2.0, 3.0], [0.0, 2.0, 1.0, 3.0]
    >>> line = TotalLeastSquares().fit([[value] for value in x], y)
    >>> swapped = TotalLeastSquares().fit([[value] for value in y], x)
    >>> line.coef_.round(6), (1 / swapped.coef_).round(6)
    (array([1.]), array([1.]))
    >>> line.distances_.round(6)
    array([0.      , 0.707107, 0.707107, 0.      ])
    """

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        noise: float | ArrayLike | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.fit_intercept = fit_intercept
        self.noise = noise
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Find the nearest plane.

        Parameters
        ----------
        X : array, sparse matrix, pandas or polars frame, Arrow table or dataset, path of a Parquet file or \
folder, Dask array or dataframe, or list of delayed blocks, of shape (n_samples, n_features)
        y : array of shape (n_samples,) or (n_samples, n_targets), or the name(s) of columns of X
        sample_weight : array of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        intercept = check_flag("fit_intercept", self.fit_intercept)
        rows, stand_in = check_training(self, X, y, sample_weight, multi_output=True)
        noise = check_noise(self.noise, rows)
        found = total_least_squares(rows, noise, intercept=intercept, n_jobs=self.n_jobs)
        coef, offset = narrowed(rows.dtype, found.coef.T, found.intercept)
        if not found.exists:
            warnings.warn(
                "The plane nearest to the points is parallel to y, so that no coefficients describe it: features "
                "may depend on each other, or y on none of them. The coefficients leave out such directions; "
                "normal_ is that of the plane.",
                stacklevel=2,
            )
        elif not found.unique:
            warnings.warn(
                "There are many planes equally near to the points: more rows, or fewer features, would tell one "
                "from another. The coefficients are the shortest.",
                stacklevel=2,
            )
        single = rows.single_target
        learned: dict[str, Any] = {} if found.normal is None else {"normal_": found.normal}
        return store(
            self,
            stand_in,
            coef_=coef[0] if single else coef,
            intercept_=float(offset[0]) if single else offset,
            singular_values_=found.singular_values,
            singular_gap_=found.gap,
            unique_=found.unique,
            exists_=found.exists,
            **learned,
            _noise=noise,
            _rows=rows,
        )

    @by_rows
    def predict(self, X: Any) -> Floats:
        """Return a + b·x for each row: what y would be without error, if x had none.

        Parameters
        ----------
        X : as for `fit`, of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_targets)
        """
        return self._plane_values(X)

    def distances(self, X: Any, y: ArrayLike) -> Floats:
        """Return the distances of points (x, y) from the plane, in units of the noise.

        Without given noise they are Euclidean, and their squares sum, over the training rows, to the least that any
        plane can have.

        Parameters
        ----------
        X : as for `predict`
        y : array of shape (n_samples,) or (n_samples, n_targets)

        Returns
        -------
        array of shape (n_samples,)
        """
        rows = check_rows(self, X)
        given = np.asarray(y, dtype=np.float64)
        wanted = (rows.n_rows, *np.shape(self.intercept_))
        if given.shape != wanted:
            raise ValueError(
                f"y has the shape {given.shape}, but should have {wanted}: one target a row of X."
            )
        rows.y = given
        return self._distances(rows)

    @property
    def distances_(self) -> Floats:
        check_is_fitted(self)
        if "_rows" not in vars(self):
            raise AttributeError(
                "distances_ needs the training data, which a model that was pickled or copied no longer has: "
                "call distances(X, y)."
            )
        return self._distances(self._rows)

    def _distances(self, rows: Source) -> Floats:
        coef = np.atleast_2d(self.coef_).astype(np.float64).T
        d = len(coef)
        # Errors of y − a − b·x have this covariance; its root turns residuals into distances.
        spread = np.diag(self._noise[d:] ** 2) + coef.T @ (self._noise[:d, None] ** 2 * coef)
        turn = np.linalg.inv(np.linalg.cholesky(spread)).T
        return self._at_rows(block_distances, rows, coef, np.atleast_1d(self.intercept_), turn)

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        state.pop("_rows", None)  # a model file holds what was learned, not the data
        return state


def block_distances(block: Block, coef: Floats, intercept: Floats, turn: Floats) -> Floats:
    """Make the distances of one block's points from the plane."""
    with np.errstate(over="ignore", invalid="ignore"):
        left = block.targets - intercept - np.asarray(block.X @ coef)
        return np.linalg.norm(left @ turn, axis=1)


def check_noise(noise: Any, rows: Source) -> NDArray[np.float64]:
    """Return the noise of every column of X and y."""
    d, n_targets = rows.n_features, rows.n_targets
    if noise is None:
        return np.ones(d + n_targets)
    try:
        values = np.array(noise, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("noise must hold numbers: one for each column of X and y.") from None
    if values.ndim == 0:
        values = np.append(np.full(d, float(values)), np.ones(n_targets))
    if values.shape != (d + n_targets,):
        raise ValueError(
            f"noise has the shape {values.shape}, but X and y have {d} + {n_targets} columns: give one number for "
            "each, or one for all features."
        )
    if not (np.isfinite(values).all() and (values >= 0).all()):
        raise ValueError("noise must be finite and not negative.")
    if not values[d:].all():
        raise ValueError("noise of y must be above 0: only columns of X can be without errors.")
    return values
