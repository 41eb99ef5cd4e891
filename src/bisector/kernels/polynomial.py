"""Kernels of dot products between rows of numbers: linear and polynomial."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.distances import Euclidean
from bisector.distances.distance import Pairs, Rows
from bisector.distances.numeric_rows import NumericRows, numeric_rows, numeric_vector
from bisector.engine.validation import check_count, check_finite
from bisector.engine.values import value
from bisector.kernels.dot_products import PLAIN, Affine, ChangedPairs, dot_products, squared_lengths
from bisector.kernels.feature_distances import PowerDifferences
from bisector.kernels.kernel import Kernel, Move, Products
from bisector.kernels.monomials import polynomial_features
from bisector.kernels.scales import SCALES, checked_scale, learned_gamma


class DotKernel(Kernel):
    """A kernel that is a function of the dot product of two rows of numbers."""

    @property
    def psd(self) -> bool:
        return True

    @property
    def invariances(self) -> frozenset[Move]:
        return frozenset({"rotation"})

    @property
    def _change(self) -> Affine:
        """What becomes of the dot product."""
        return PLAIN

    def prepare(self, X: Any, like: Rows | None = None, name: str = "X") -> NumericRows:
        _refuse_words(X, name, self)
        return numeric_rows(X, like, name)

    def single(self, x: Any, like: Rows | None = None, name: str = "x") -> NumericRows:
        _refuse_words(x, name, self)
        row = numeric_vector(x, name)
        if isinstance(like, NumericRows) and row.n_features != like.n_features:
            raise ValueError(
                f"{name} has {row.n_features} coordinates, but the other row has {like.n_features}."
            )
        return row

    def between(self, outer: Rows, inner: Rows) -> Products:
        assert isinstance(outer, NumericRows)
        assert isinstance(inner, NumericRows)
        return dot_products(self._change, outer, inner)

    def diagonal(self, rows: Rows) -> NDArray[np.float64]:
        assert isinstance(rows, NumericRows)
        return squared_lengths(rows, self._change)

    def apart(self, outer: Rows, inner: Rows) -> Pairs:
        """Join rows into the squares of their distances in feature space, for a kernel of degree 1."""
        return ChangedPairs(Euclidean(squared=True).between(outer, inner), Affine(scale=self._change.scale))


@value
class Linear(DotKernel):
    """The dot product itself: x·y. Feature space is the space of the rows.

    Examples
    --------
    >>> from bisector.kernels import Linear
    >>> Linear()([1, 2], [3, 4])
    11.0
    >>> Linear().gram([[5, 0], [3, 5], [1, 7]])
    array([[25., 15.,  5.],
           [15., 34., 38.],
           [ 5., 38., 50.]])
    """

    names = ("linear",)

    @property
    def distance_invariances(self) -> frozenset[Move]:
        return frozenset({"rotation", "translation"})

    def feature_map(self, X: Any, like: Any = None) -> Any:
        return self.prepare(X).values.copy()


@value
class Polynomial(DotKernel):
    """(scale · x·y + bias)^degree (Flach, 7.5).

    Feature space has a coordinate for every product of `degree` features; with a bias, of up to so many.

    Parameters
    ----------
    degree : int, default=2
        The power, at least 1.
    bias : float, default=0
        What is added to the dot product, scikit-learn's ``coef0``; not negative, since the kernel would have
        no feature space. The larger it is, the more products of few features count.
    scale : float, "auto" or "scale", default=1
        What the dot product is multiplied by, above 0: scikit-learn's ``gamma``. ``"auto"`` is one over the
        number of features, ``"scale"`` that divided by the variance of all entries; both are learned from
        rows.

    Examples
    --------
    >>> from bisector.kernels import Polynomial
    >>> Polynomial(degree=2)([1, 2], [3, 4])
    121.0
    >>> Polynomial(degree=2).feature_map([[1, 2], [3, 4]]).round(4)
    array([[ 1.    ,  4.    ,  2.8284],
           [ 9.    , 16.    , 16.9706]])
    """

    degree: int = 2
    bias: float = 0.0
    scale: float | str = 1.0

    names = ("polynomial", "poly")

    def __post_init__(self) -> None:
        self._set(
            degree=check_count("degree", self.degree),
            bias=check_finite("bias", self.bias, at_least=0),
            scale=checked_scale("scale", self.scale, SCALES),
        )

    def learned(self, X: Any) -> "Polynomial":
        """Return the kernel with its scale learned from rows, if a rule was given for it."""
        if isinstance(self.scale, str):
            return replace(self, scale=learned_gamma(self.scale, X))
        return self

    @property
    def _change(self) -> Affine:
        return Affine(self._known_scale(), self.bias, self.degree)

    def _known_scale(self) -> float:
        if isinstance(self.scale, str):
            raise ValueError(
                f"{self!r} does not know its scale yet: use learned(X) to take that of the rows X."
            )
        return self.scale

    def apart(self, outer: Rows, inner: Rows) -> Pairs:
        if self.degree == 1:
            return super().apart(outer, inner)
        return PowerDifferences(replace(self, degree=1), self.degree, outer, inner)

    def feature_map(self, X: Any, like: Any = None) -> Any:
        values = self.prepare(X).values.astype(np.float64) * math.sqrt(self._known_scale())
        return polynomial_features(values, self.degree, self.bias)

    @classmethod
    def from_scikit_learn(cls, *, gamma: Any, coef0: Any, degree: Any) -> Mapping[str, Any]:
        return {
            "degree": 3 if degree is None else degree,
            "bias": 1.0 if coef0 is None else coef0,
            "scale": "auto" if gamma is None else gamma,
        }


def _refuse_words(X: Any, name: str, kernel: Kernel) -> None:
    """Refuse strings and sets, with a hint at the kernels that compare them."""
    first = X
    while isinstance(first, list | tuple) and first:
        first = first[0]
    if isinstance(first, np.ndarray) and first.dtype.kind in "USO" and first.size:
        first = first.flat[0]
    if isinstance(first, str | set | frozenset):
        raise ValueError(
            f"{name} holds a {type(first).__name__}, but {kernel!r} compares numbers: for strings take Spectrum(), "
            "for sets Intersection()."
        )
