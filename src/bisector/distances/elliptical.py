"""Euclidean distance after a linear map: ellipses instead of circles."""

from dataclasses import KW_ONLY
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bisector.distances import terms
from bisector.distances.coordinate_distance import CoordinateDistance
from bisector.distances.distance import Law
from bisector.distances.numeric_rows import NumericRows, numeric_rows
from bisector.engine.validation import check_flag
from bisector.engine.values import frozen_array, value

# Eigenvalues below this share of the largest, per dimension, are zero up to rounding.
_RANK_TOLERANCE = np.finfo(np.float64).eps


class _QuadraticDistance(CoordinateDistance):
    """√((x − y)ᵀ M (x − y)), computed as the Euclidean distance of the rows mapped by L, where M = L Lᵀ."""

    squared: bool
    translation_invariant = True

    @property
    def law(self) -> Law:
        if self.squared:
            return "none"
        return "metric" if self._map.shape[1] == self._map.shape[0] else "pseudo-metric"

    @cached_property
    def _map(self) -> NDArray[np.float64]:
        """L, of as many columns as M has positive eigenvalues."""
        raise NotImplementedError

    def lower(self, n_features: int) -> Any:
        return terms.KeptSquares(1.0) if self.squared else terms.SquaredTerms()

    def transform(self, rows: NumericRows, like: NumericRows | None) -> NumericRows:
        mapping = self._map
        if rows.n_features != len(mapping):
            raise ValueError(
                f"The matrix of this distance is {len(mapping)} × {len(mapping)}, "
                f"but the rows have {rows.n_features} features."
            )

        def mapped(values: NDArray[np.float64]) -> NDArray[np.float64]:
            from bisector.distances.tile_loops import map_rows
            from bisector.engine.loops import given

            image = np.zeros((len(values), mapping.shape[1]))
            map_rows(given(values), given(mapping), image)
            return image

        return rows.centred(like).mapped(mapped)


@value
class Elliptical(_QuadraticDistance):
    """√((x − y)ᵀ M (x − y)): the points at distance 1 from one point form an ellipse (Flach, Example 8.1).

    Parameters
    ----------
    M : array-like of shape (n_features, n_features)
        Symmetric with no negative eigenvalue. If an eigenvalue is zero, rows that differ only along its vector are
        at distance zero: a pseudo-metric.
    squared : bool, default=False
        Leave out the root.

    Examples
    --------
    >>> from bisector.distances import Elliptical
    >>> Elliptical([[4, 0], [0, 1]])([0, 0], [1, 0])
    2.0
    """

    M: ArrayLike
    _: KW_ONLY
    squared: bool = False

    names = ("elliptical",)

    def __post_init__(self) -> None:
        self._set(M=checked_symmetric("M", self.M), squared=check_flag("squared", self.squared))
        values = np.linalg.eigvalsh(np.asarray(self.M))
        if values[0] < -len(values) * _RANK_TOLERANCE * abs(values).max():
            raise ValueError(
                f"M must have no negative eigenvalue, but its smallest is {values[0]:.6g}: (x − y)ᵀM(x − y) would "
                "be negative along its vector."
            )
        if not values.any():
            raise ValueError("M is zero: no two rows would be apart.")

    @property
    def rotation_invariant(self) -> bool:  # type: ignore[override]
        M = np.asarray(self.M)
        return bool(np.array_equal(M, M[0, 0] * np.eye(len(M))))

    @cached_property
    def _map(self) -> NDArray[np.float64]:
        values, vectors = np.linalg.eigh(np.asarray(self.M))
        positive = values > len(values) * _RANK_TOLERANCE * values[-1]
        return vectors[:, positive] * np.sqrt(values[positive])


@value
class Mahalanobis(_QuadraticDistance):
    """√((x − y)ᵀ Σ⁻¹ (x − y)): Euclidean distance after the features are decorrelated and brought to one scale.

    Parameters
    ----------
    cov : array-like of shape (n_features, n_features), optional
        The covariance Σ, with no zero eigenvalue. By default it is learned from the rows: those given to `learned`,
        those an estimator is fitted on, or X of ``pairwise(X, Y)``; sums are divided by n.
    squared : bool, default=False
        Leave out the root.

    Examples
    --------
    >>> from bisector.distances import Mahalanobis
    >>> Mahalanobis([[4, 0], [0, 1]])([0, 0], [2, 0])
    1.0
    """

    cov: ArrayLike | None = None
    _: KW_ONLY
    squared: bool = False

    names = ("mahalanobis",)
    scale_invariant = True

    def __post_init__(self) -> None:
        self._set(squared=check_flag("squared", self.squared))
        if self.cov is not None:
            self._set(cov=checked_symmetric("cov", self.cov))
            _refuse_singular(np.asarray(self.cov), None)

    @property
    def law(self) -> Law:
        return "none" if self.squared else "metric"

    def learned(self, X: Any) -> "Mahalanobis":
        """Return the distance with the covariance of these rows, unless it was given."""
        if self.cov is not None:
            return self
        rows = numeric_rows(X, None, "X")
        if not len(rows):
            raise ValueError("X has no rows to learn a covariance from.")
        values = rows.dense(range(len(rows))).astype(np.float64)
        values -= values.mean(axis=0)
        cov = values.T @ values / len(values)
        _refuse_singular(cov, rows.names)
        return Mahalanobis(cov, squared=self.squared)

    @cached_property
    def _map(self) -> NDArray[np.float64]:
        if self.cov is None:
            raise ValueError(
                "Mahalanobis() does not know its covariance yet: give it one, or use learned(X) to take that of "
                "the rows X."
            )
        from scipy.linalg import solve_triangular

        # Σ = CCᵀ, so Σ⁻¹ = C⁻ᵀC⁻¹, on the scale of the correlations, where the factor loses least.
        scale = np.sqrt(np.diag(self.cov))
        factor = np.linalg.cholesky(np.asarray(self.cov) / np.outer(scale, scale))
        inverse = solve_triangular(factor, np.eye(len(factor)), lower=True)
        return np.ascontiguousarray((inverse / scale).T)


def checked_symmetric(name: str, matrix: ArrayLike) -> NDArray[np.float64]:
    """Check that a parameter is a square symmetric matrix of finite numbers."""
    try:
        array = frozen_array(matrix)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a matrix of numbers.") from None
    if array.ndim != 2 or array.shape[0] != array.shape[1] or not array.size:
        raise ValueError(f"{name} must be a square matrix, but has the shape {array.shape}.")
    if not np.isfinite(array).all():
        row, column = map(int, np.argwhere(~np.isfinite(array))[0])
        raise ValueError(f"{name} holds {array[row, column]} in row {row}, column {column}.")
    difference = np.abs(array - array.T)
    if difference.max() > 1e-10 * np.abs(array).max():
        row, column = map(int, np.unravel_index(np.argmax(difference), array.shape))
        raise ValueError(
            f"{name} must be symmetric, but {name}[{row}, {column}] is {array[row, column]:.6g} and "
            f"{name}[{column}, {row}] is {array[column, row]:.6g}."
        )
    return frozen_array((array + array.T) / 2)


def _refuse_singular(cov: NDArray[np.float64], names: tuple[str, ...] | None) -> None:
    """Refuse a covariance without inverse, naming the directions in which the data do not vary."""
    variances = np.diag(cov)
    called = names or tuple(f"feature {j}" for j in range(len(cov)))
    constant = np.flatnonzero(~(variances > 0))
    if len(constant):
        some = ", ".join(called[j] for j in constant[:5]) + (", …" if len(constant) > 5 else "")
        raise ValueError(
            f"The covariance is singular: {some} {'does' if len(constant) == 1 else 'do'} not vary. Leave constant "
            "features out, or use Euclidean()."
        )
    scale = np.sqrt(variances)
    values, vectors = np.linalg.eigh(cov / np.outer(scale, scale))
    null = np.flatnonzero(values <= len(cov) * _RANK_TOLERANCE * values[-1])
    if not len(null):
        return
    directions = []
    for k in null[:3]:
        parts = vectors[:, k] / scale
        parts = parts / np.abs(parts).max()
        large = [j for j in np.argsort(-np.abs(parts)) if abs(parts[j]) > 1e-6][:4]
        directions.append(" ".join(f"{parts[j]:+.3g}·{called[j]}" for j in large))
    raise ValueError(
        f"The covariance is singular: {'; '.join(directions)} {'does' if len(null) == 1 else 'do'} not vary"
        f"{' (and more such directions)' if len(null) > 3 else ''}. Leave features out until none is a combination "
        "of others, or use Elliptical(np.linalg.pinv(cov)), a pseudo-metric."
    )
