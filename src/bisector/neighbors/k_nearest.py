"""What voting and averaging neighbours share: k of them, counted by weight, among rows that come and go."""

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bisector.distances.distance import Rows
from bisector.engine.validation import check_weights
from bisector.neighbors.kept_rows import PAIRS_AT_ONCE, FindsNearest, Floats, Found
from bisector.neighbors.votes import check_vote_weights


class KNearest(FindsNearest):
    """Base of models in which k neighbours vote or are averaged."""

    weights: Any
    _sample_weight: Floats | None

    def _keep_weighted(self, X: Any, sample_weight: ArrayLike | None) -> tuple[Any, dict[str, Any]]:
        check_vote_weights(self.weights)
        stand_in, learned = self._keep(X)
        weights = check_weights(sample_weight, len(learned["_index"]))
        return stand_in, learned | {"_sample_weight": weights}

    def _found(self, queries: Rows | None) -> Found:
        """Find neighbours until they count k; with sample weights, the last of them in part."""
        k = self._n_neighbors()
        weights = self._sample_weight
        if weights is None:
            distances, positions = self._k_nearest(queries, k)
            starts = np.arange(0, positions.size + 1, positions.shape[1])
            return Found(starts, positions.ravel(), distances.ravel(), None)
        at_most = len(weights) - (queries is None)
        total = weights.sum() - (weights.max() if queries is None else 0.0)
        if total < k * (1 - 1e-12):
            raise ValueError(
                f"n_neighbors is {k}, but all rows together weigh only {total:g}: ask for fewer."
            )
        n_asked = min(k, at_most)
        while True:
            distances, positions = self._k_nearest(queries, n_asked)
            own = weights[positions]
            before = np.cumsum(own, axis=1) - own
            if n_asked == at_most or (before[:, -1] + own[:, -1] >= k).all():
                break
            n_asked = min(2 * n_asked, at_most)
        counts = np.clip(k - before, 0.0, own)
        starts = np.arange(0, positions.size + 1, positions.shape[1])
        return Found(starts, positions.ravel(), distances.ravel(), counts.ravel())

    def _found_in_blocks(self, X: Any) -> Iterator[Found]:
        """Find the neighbours of the rows of X, or of the training rows among the others, some rows at a time."""
        if X is None:
            yield self._found(None)
            return
        queries = self._queries(X)
        at_once = max(256, PAIRS_AT_ONCE // self._n_neighbors())
        if len(queries) <= at_once:
            yield self._found(queries)
            return
        for start in range(0, len(queries), at_once):
            yield self._found(queries.take(np.arange(start, min(start + at_once, len(queries)))))

    def _added(self, X: Any, sample_weight: ArrayLike | None) -> tuple[int, Any]:
        """Add rows to the index; return how many there are, and the weights of all rows."""
        from bisector.distances.estimator_input import check_items

        items = check_items(self, X, self._index.distance, reset=False)
        n_new = len(self._index.add(items))
        self.n_samples_fit_ = len(self._index)
        if sample_weight is None and self._sample_weight is None:
            return n_new, None
        old = self._sample_weight if self._sample_weight is not None else np.ones(len(self._index) - n_new)
        new = check_weights(sample_weight, n_new)
        return n_new, np.concatenate([old, np.ones(n_new) if new is None else new])

    def remove(self, positions: ArrayLike) -> Self:
        """Forget training rows, by their positions among the rows kept now.

        The rows that stay keep their order; the model is then the one fitted on these.
        """
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        n_rows = len(self._index)
        places = np.atleast_1d(np.asarray(positions))
        if places.dtype.kind not in "iu" or ((places < 0) | (places >= n_rows)).any():
            raise ValueError(f"positions must be whole numbers from 0 to {n_rows - 1}.")
        self._index.remove(self._index.ids[places])
        kept = np.ones(n_rows, dtype=bool)
        kept[places] = False
        self._keep_targets(kept)
        if self._sample_weight is not None:
            self._sample_weight = self._sample_weight[kept]
        self.n_samples_fit_ = len(self._index)
        return self

    @abstractmethod
    def _keep_targets(self, kept: NDArray[np.bool_]) -> None:
        """Keep the targets of some rows."""

    @abstractmethod
    def _carry(self, targets: NDArray[Any]) -> None:
        """Take these for the targets of the rows."""

    @abstractmethod
    def _blank_targets(self, n: int) -> NDArray[Any]:
        """Return targets of so many rows, as an example."""
