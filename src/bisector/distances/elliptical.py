"""Euclidean distance after a linear map: ellipses instead of circles."""

from abc import abstractmethod
from collections.abc import Mapping
from copy import copy
from dataclasses import KW_ONLY, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bisector.distances import terms
from bisector.distances.coordinate_distance import CoordinateDistance
from bisector.distances.distance import Distance, Law
from bisector.distances.numeric_rows import NumericRows, numeric_rows
from bisector.engine.columns import mapped
from bisector.engine.sources import Source, is_collection, source
from bisector.engine.validation import check_flag
from bisector.engine.values import frozen_array, value

# With features on one scale, eigenvalues below this share of the largest, per dimension, are zero up to rounding.
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

    @property
    @abstractmethod
    def _map(self) -> NDArray[np.float64]:
        """L, of as many columns as M has positive eigenvalues."""

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

        centred = rows.centred(like)
        # Errors of d roundings, which are as often up as down.
        roundings = 4 + 4 * np.sqrt(len(mapping))
        sizes = np.abs(centred.values) @ np.sqrt(np.einsum("jc,jc->j", mapping, mapping))
        return replace(centred.mapped(mapped), before=rows, blur=roundings * np.finfo(np.float64).eps * sizes)

    def again(self, formula: Any) -> Any:
        from bisector.distances.close_pairs import OfMappedDifference
        from bisector.engine.loops import given

        return OfMappedDifference(given(self._map))


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
        M = np.asarray(self.M)
        _refuse_negative("M", M)
        if not M.any():
            raise ValueError("M is zero: no two rows would be apart.")

    @property
    def rotation_invariant(self) -> bool:  # type: ignore[override]
        return _is_round(np.asarray(self.M))

    @cached_property
    def _map(self) -> NDArray[np.float64]:
        scale, unit = _with_unit_diagonal(np.asarray(self.M))
        values, vectors = np.linalg.eigh(unit)
        # Negative eigenvalues are rounding, and show how large it is.
        positive = values > len(values) * max(_RANK_TOLERANCE * values[-1], -values[0])
        return scale[:, None] * vectors[:, positive] * np.sqrt(values[positive])


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
    synonyms = {"V": "cov"}  # noqa: RUF012

    def __post_init__(self) -> None:
        self._set(squared=check_flag("squared", self.squared))
        if self.cov is not None:
            self._set(cov=checked_symmetric("cov", self.cov))
            _refuse_negative("cov", np.asarray(self.cov))
            _refuse_singular(np.asarray(self.cov), None)

    @property
    def law(self) -> Law:
        return "none" if self.squared else "metric"

    @property
    def rotation_invariant(self) -> bool:  # type: ignore[override]
        return self.cov is None or _is_round(np.asarray(self.cov))

    @property
    def scale_invariant(self) -> bool:  # type: ignore[override]
        return self.cov is None  # one that was given stays when the features are rescaled

    @classmethod
    def from_params(cls, params: Mapping[str, Any]) -> Distance:
        """Make the distance; scikit-learn's ``VI`` is the inverse of the covariance, an ellipse by itself."""
        if "VI" in params:
            return Elliptical.from_params(
                {"M" if name == "VI" else name: part for name, part in params.items()}
            )
        return super().from_params(params)

    def learned(self, X: Any) -> "Mahalanobis":
        """Return the distance with the covariance of these rows, unless it was given.

        Of a Dask collection, or another source, it is gathered in one pass.
        """
        if self.cov is not None:
            return self
        if is_collection(X) or isinstance(X, Source):
            found, names = _gathered_covariance(X)
            _refuse_singular(found, names)
            return Mahalanobis(found, squared=self.squared)
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
        scale, unit = _with_unit_diagonal(np.asarray(self.cov))
        factor = np.linalg.cholesky(unit)
        inverse = solve_triangular(factor, np.eye(len(factor)), lower=True)
        return np.ascontiguousarray((inverse / scale).T)


def _gathered_covariance(X: Any) -> tuple[NDArray[np.float64], tuple[str, ...] | None]:
    """Return the covariance of rows that are not here, without those of no weight, and their features' names."""
    from bisector.engine.moments import moments

    rows = copy(X) if isinstance(X, Source) else source(X)
    rows.y = None
    if rows.sample_weight is not None:
        rows.sample_weight = mapped(rows.sample_weight, _counts, dtype=np.float64)
    if not rows.n_rows:
        raise ValueError("X has no rows to learn a covariance from.")
    found = moments(rows)
    unit = found.of_x.scale
    cov = found.about_mean()[0] / found.weight / unit[:, None] / unit
    return cov, None if rows.feature_names is None else tuple(rows.feature_names)


def _counts(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return one for each row that has a weight, else zero."""
    return (weights > 0).astype(np.float64)


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


def _is_round(matrix: NDArray[np.float64]) -> bool:
    """Whether a matrix is a multiple of the identity, so that its ellipses are circles."""
    return bool(np.array_equal(matrix, matrix[0, 0] * np.eye(len(matrix))))


def _with_unit_diagonal(matrix: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return s and U, where M = diag(s) U diag(s): on its own scale no feature is too small to count."""
    diagonal = np.diag(matrix)
    scale = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    return scale, matrix / scale[:, None] / scale


def _refuse_negative(name: str, matrix: NDArray[np.float64]) -> None:
    """Refuse a matrix with a negative eigenvalue, and show it; one that can be rounding passes."""
    for what, candidate, tolerance in (
        ("its smallest", matrix, len(matrix) * _RANK_TOLERANCE),
        # Features of very different units hide it among the rounding of the largest.
        ("with the diagonal scaled to 1 its smallest", _with_unit_diagonal(matrix)[1], _RANK_TOLERANCE**0.5),
    ):
        values = np.linalg.eigvalsh(candidate)
        if values[0] < -tolerance * np.abs(values).max():
            raise ValueError(
                f"{name} must have no negative eigenvalue, but {what} is {values[0]:.6g}: squared distances along "
                "its vector would be negative."
            )


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
    scale, unit = _with_unit_diagonal(cov)
    values, vectors = np.linalg.eigh(unit)
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
