"""Planes whose weights are mostly zero, and can be kept as a sparse matrix."""

from typing import Any, Self

from sklearn.utils.validation import check_is_fitted

from .planes import DecidesByPlanes, Floats, block_plane
from .validation import check_rows


class DecidesBySparsePlanes(DecidesByPlanes):
    """A classifier by planes whose ``coef_`` may be kept sparse, as scikit-learn's linear models do."""

    coef_: Any

    def sparsify(self) -> Self:
        """Keep the weights as a sparse matrix, which is smaller if most of them are zero.

        Returns
        -------
        self
        """
        from scipy.sparse import csr_array

        check_is_fitted(self)
        self.coef_ = csr_array(self.coef_)
        return self

    def densify(self) -> Self:
        """Keep the weights as an array again, as `fit` left them.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        self.coef_ = self._dense_weights()
        return self

    def _dense_weights(self) -> Floats:
        return self.coef_.toarray() if hasattr(self.coef_, "toarray") else self.coef_

    def _plane_values(self, X: Any) -> Floats:
        return self._at_rows(block_plane, check_rows(self, X), self._dense_weights().T, self.intercept_)
