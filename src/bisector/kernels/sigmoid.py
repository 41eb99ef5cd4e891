"""The sigmoid kernel, which is none: kept because it is asked for."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.distances.distance import Rows
from bisector.distances.numeric_rows import NumericRows
from bisector.engine.validation import check_finite
from bisector.engine.values import value
from bisector.kernels.dot_products import Affine, dot_products, squared_lengths
from bisector.kernels.kernel import Derived, Products
from bisector.kernels.polynomial import DotKernel
from bisector.kernels.scales import SCALES, checked_scale, learned_gamma


@value
class Sigmoid(DotKernel):
    """tanh(scale · x·y + bias), which scikit-learn calls sigmoid.

    It is no dot product in any feature space: its Gram matrices have negative eigenvalues. Machines that need one
    say so when they meet them.

    Parameters
    ----------
    bias : float, default=0
        What is added to the dot product, scikit-learn's ``coef0``.
    scale : float, "auto" or "scale", default=1
        What the dot product is multiplied by, above 0: scikit-learn's ``gamma``.

    Examples
    --------
    >>> from bisector.kernels.sigmoid import Sigmoid
    >>> round(Sigmoid(scale=0.5)([1, 1], [1, 1]), 4)
    0.7616
    """

    bias: float = 0.0
    scale: float | str = 1.0

    names = ("sigmoid",)

    def __post_init__(self) -> None:
        self._set(bias=check_finite("bias", self.bias), scale=checked_scale("scale", self.scale, SCALES))

    @property
    def psd(self) -> bool:
        return False

    def learned(self, X: Any) -> "Sigmoid":
        """Return the kernel with its scale learned from rows, if a rule was given for it."""
        return replace(self, scale=learned_gamma(self.scale, X)) if isinstance(self.scale, str) else self

    @property
    def _change(self) -> Affine:
        if isinstance(self.scale, str):
            raise ValueError(
                f"{self!r} does not know its scale yet: use learned(X) to take that of the rows X."
            )
        return Affine(self.scale, self.bias)

    def between(self, outer: Rows, inner: Rows) -> Products:
        assert isinstance(outer, NumericRows)
        assert isinstance(inner, NumericRows)
        return SquashedProducts(dot_products(self._change, outer, inner))

    def diagonal(self, rows: Rows) -> NDArray[np.float64]:
        assert isinstance(rows, NumericRows)
        return np.tanh(squared_lengths(rows, self._change))

    def apart(self, outer: Rows, inner: Rows) -> Any:
        raise ValueError(f"{self!r} is no dot product, and so makes no distance.")

    @classmethod
    def from_scikit_learn(cls, *, gamma: Any, coef0: Any, degree: Any) -> Mapping[str, Any]:
        return {"bias": 1.0 if coef0 is None else coef0, "scale": "auto" if gamma is None else gamma}


class SquashedProducts(Derived):
    """tanh of the values of other tiles."""

    def change(self, outer: range, inner: range, out: NDArray[Any], row: int, column: int) -> None:
        part = out[row : row + len(outer), column : column + len(inner)]
        np.tanh(part, out=part)
