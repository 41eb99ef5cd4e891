"""Distances that sum, or take the largest of, differences of coordinates."""

import math
from abc import abstractmethod
from dataclasses import KW_ONLY
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bisector.distances import terms
from bisector.distances.coordinate_distance import CoordinateDistance
from bisector.distances.distance import Exemplar, Law
from bisector.engine.validation import check_flag, check_number
from bisector.engine.values import frozen_array, value

_FORMULAS = {
    formula.p: formula
    for formula in (
        terms.RootTerms(),
        terms.AbsoluteTerms(),
        terms.ThreeHalvesTerms(),
        terms.SquaredTerms(),
        terms.CubedTerms(),
        terms.FourthPowers(),
        terms.LargestTerm(),
    )
}


def checked_weights(weights: ArrayLike | None) -> NDArray[np.float64] | None:
    """Check the weights of features: finite, not negative, not all zero."""
    if weights is None:
        return None
    try:
        array = frozen_array(weights)
    except (TypeError, ValueError):
        raise ValueError("weights must hold one number for each feature.") from None
    if array.ndim != 1 or not array.size:
        raise ValueError(f"weights must hold one number for each feature, but has the shape {array.shape}.")
    bad = ~(np.isfinite(array) & (array >= 0))
    if bad.any():
        feature = int(np.argmax(bad))
        raise ValueError(
            f"weights must be finite and not negative, but that of feature {feature} is {array[feature]}."
        )
    if not array.any():
        raise ValueError("weights are all zero: no feature would count.")
    return array


def weighted(formula: Any, weights: ArrayLike | None, n_features: int) -> Any:
    """Return a formula with weights, of which there must be one for each feature of the rows."""
    if weights is None:
        return formula
    array = np.asarray(weights)
    if len(array) != n_features:
        raise ValueError(f"There are {len(array)} weights, but the rows have {n_features} features.")
    return terms.WeightedTerms(formula, array)


class PowerDistance(CoordinateDistance):
    """(Σ wⱼ|xⱼ − yⱼ|^p)^(1/p), for the p that a subclass gives."""

    weights: ArrayLike | None
    skip_missing: bool
    translation_invariant = True
    synonyms = {"w": "weights"}  # noqa: RUF012

    def __post_init__(self) -> None:
        self._set(
            weights=checked_weights(self.weights), skip_missing=check_flag("skip_missing", self.skip_missing)
        )

    @property
    @abstractmethod
    def order(self) -> float:
        """The p of the formula."""

    @property
    def law(self) -> Law:
        if self.order < 1 or self.skip_missing:
            return "none"
        return "metric" if self.weights is None or np.all(self.weights) else "pseudo-metric"

    @property
    def may_miss(self) -> bool:
        return self.skip_missing

    @property
    def exemplar(self) -> Exemplar:
        if self.order == 1 and not self.skip_missing:
            return "coordinate-median"
        unweighted = self.weights is None and not self.skip_missing
        return "geometric-median" if self.order == 2 and unweighted else "medoid"

    def formula(self) -> Any:
        """The formula without weights."""
        return _FORMULAS.get(self.order) or terms.PowerTerms(self.order)

    def lower(self, n_features: int) -> Any:
        return weighted(self.formula(), self.weights, n_features)


@value
class Euclidean(PowerDistance):
    """The length of the straight line: √Σ wⱼ(xⱼ − yⱼ)².

    The only Minkowski distance that does not change when the rows are rotated.

    Parameters
    ----------
    weights : array-like of shape (n_features,), optional
        How much each feature counts.
    squared : bool, default=False
        Leave out the root. The order of distances stays, the triangle inequality does not.
    skip_missing : bool, default=False
        Compare only the coordinates that both rows have (NaN marks a missing one), and scale the sum up to all
        of them; without any the distance is infinite.

    Examples
    --------
    >>> from bisector.distances import Euclidean
    >>> Euclidean()([0, 0], [3, 4])
    5.0
    """

    weights: ArrayLike | None = None
    _: KW_ONLY
    squared: bool = False
    skip_missing: bool = False

    names = ("euclidean", "l2")
    variants = {"sqeuclidean": {"squared": True}, "nan_euclidean": {"skip_missing": True}}  # noqa: RUF012

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(squared=check_flag("squared", self.squared))

    @property
    def order(self) -> float:
        return 2.0

    @property
    def law(self) -> Law:
        return "none" if self.squared else super().law

    @property
    def exemplar(self) -> Exemplar:
        return "mean" if self.squared and not self.skip_missing else super().exemplar

    @property
    def rotation_invariant(self) -> bool:  # type: ignore[override]
        return not self.skip_missing and (
            self.weights is None or len(np.unique(np.asarray(self.weights))) == 1
        )

    def formula(self) -> Any:
        return terms.KeptSquares(1.0) if self.squared else terms.SquaredTerms()


@value
class Manhattan(PowerDistance):
    """The way along the axes, as a taxi drives in a grid of streets: Σ wⱼ|xⱼ − yⱼ|.

    Parameters
    ----------
    weights : array-like of shape (n_features,), optional
        How much each feature counts.
    skip_missing : bool, default=False
        Compare only the coordinates that both rows have (NaN marks a missing one), and scale the sum up to all
        of them; without any the distance is infinite.

    Examples
    --------
    >>> from bisector.distances import Manhattan
    >>> Manhattan()([0, 0], [3, 4])
    7.0
    """

    weights: ArrayLike | None = None
    _: KW_ONLY
    skip_missing: bool = False

    names = ("manhattan", "cityblock", "l1")

    @property
    def order(self) -> float:
        return 1.0


@value
class Chebyshev(PowerDistance):
    """The largest difference of a coordinate: max wⱼ|xⱼ − yⱼ|; without weights the limit of Minkowski for p → ∞.

    Parameters
    ----------
    weights : array-like of shape (n_features,), optional
        What each feature's difference is multiplied by. (SciPy's ``w`` only tells features that count from those
        that do not, by being above zero.)
    skip_missing : bool, default=False
        Compare only the coordinates that both rows have (NaN marks a missing one); without any the distance is
        infinite.

    Examples
    --------
    >>> from bisector.distances import Chebyshev
    >>> Chebyshev()([0, 0], [3, 4])
    4.0
    """

    weights: ArrayLike | None = None
    _: KW_ONLY
    skip_missing: bool = False

    names = ("chebyshev", "infinity")
    synonyms = {}  # noqa: RUF012  SciPy's w means something else here

    @property
    def order(self) -> float:
        return math.inf


@value
class Minkowski(PowerDistance):
    """The p-norm of the difference: (Σ wⱼ|xⱼ − yⱼ|^p)^(1/p) (Flach, Definition 8.1).

    p = 1 is Manhattan, 2 Euclidean and infinity Chebyshev distance. For p < 1 detours can shorten the way: such a
    distance is no metric. The powers 0.5, 1, 1.5, 2, 3, 4 and infinity are much faster than others.

    Parameters
    ----------
    p : float, default=2
        The order, above 0; may be infinite.
    weights : array-like of shape (n_features,), optional
        How much each feature counts; what its difference is multiplied by when p is infinite.
    skip_missing : bool, default=False
        Compare only the coordinates that both rows have (NaN marks a missing one), and scale the sum up to all
        of them; without any the distance is infinite.

    Examples
    --------
    >>> from bisector.distances import Minkowski
    >>> round(Minkowski(3)([0, 0], [3, 4]), 4)
    4.4979
    >>> Minkowski(p=0.8).law
    'none'
    """

    p: float = 2.0
    weights: ArrayLike | None = None
    _: KW_ONLY
    skip_missing: bool = False

    names = ("minkowski", "p")

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(p=check_number("p", self.p, above=0))

    @property
    def order(self) -> float:
        return float(self.p)

    @property
    def rotation_invariant(self) -> bool:  # type: ignore[override]
        alike = self.weights is None or len(np.unique(np.asarray(self.weights))) == 1
        return self.p == 2 and alike and not self.skip_missing


@value
class Hamming(CoordinateDistance):
    """In how many coordinates two rows differ, as a share of all (or as a count).

    Coordinates are codes, not sizes: 1 and 2 differ as much as 1 and 9. For Boolean rows the count is the number
    of bits to flip, and the square of the Euclidean distance.

    Parameters
    ----------
    normalised : bool, default=True
        Return the share, as scikit-learn and SciPy do; otherwise the count, as the textbooks do.
    weights : array-like of shape (n_features,), optional
        How much each feature counts; the share is of the sum of weights.
    skip_missing : bool, default=False
        Compare only the coordinates that both rows have (NaN marks a missing one), and scale the sum up to all
        of them; without any the distance is infinite.

    Examples
    --------
    >>> from bisector.distances import Hamming
    >>> Hamming()([1, 0, 1, 1], [1, 1, 0, 1])
    0.5
    >>> Hamming(normalised=False)([1, 0, 1, 1], [1, 1, 0, 1])
    2.0
    """

    normalised: bool = True
    weights: ArrayLike | None = None
    _: KW_ONLY
    skip_missing: bool = False

    names = ("hamming",)
    synonyms = {"w": "weights"}  # noqa: RUF012
    translation_invariant = True
    scale_invariant = True

    def __post_init__(self) -> None:
        self._set(
            normalised=check_flag("normalised", self.normalised),
            weights=checked_weights(self.weights),
            skip_missing=check_flag("skip_missing", self.skip_missing),
        )

    @property
    def law(self) -> Law:
        if self.skip_missing:
            return "none"
        return "metric" if self.weights is None or np.all(self.weights) else "pseudo-metric"

    @property
    def may_miss(self) -> bool:
        return self.skip_missing

    def lower(self, n_features: int) -> Any:
        # Added up as the terms are: rows that differ everywhere are at distance 1, not at 1 up to rounding.
        whole = n_features if self.weights is None else np.cumsum(self.weights)[-1]
        formula = terms.DifferingTerms(float(whole) if self.normalised else 1.0)
        return weighted(formula, self.weights, n_features)
