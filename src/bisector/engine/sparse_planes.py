"""Planes whose weights are mostly zero, and can be kept as a sparse matrix."""

from typing import Any, Self

import numpy as np
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

    def _lengths(self) -> Floats:
        """Return ‖w‖ of every plane."""
        return np.linalg.norm(self._dense_weights().astype(np.float64), axis=1)

    def signed_distance(self, X: Any) -> Floats:
        scores, lengths = self.decision_function(X), self._lengths()
        with np.errstate(divide="ignore", invalid="ignore"):
            distances = scores / (lengths[0] if scores.ndim == 1 else lengths)
        return np.where(scores == 0, scores, distances).astype(scores.dtype, copy=False)

    signed_distance.__doc__ = DecidesByPlanes.signed_distance.__doc__

    @property
    def weights_(self) -> Floats:
        """The normal vector of the boundary, (n_features,) for two classes: rows are positive if w·x > t."""
        weights = self._dense_weights()
        return weights[0] if len(weights) == 1 else weights
