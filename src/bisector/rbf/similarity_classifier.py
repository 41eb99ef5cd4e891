"""Classification by similarity to a few training rows (LFD Problems 6.21 and 6.22)."""

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from bisector.distances.distance import Distance, Rows
from bisector.distances.estimator_input import check_items, tell_input_tags
from bisector.distances.names import resolve
from bisector.distances.precomputed import Precomputed
from bisector.distances.reductions import all_distances, cut
from bisector.engine.decisions import explain_sums
from bisector.engine.explanation import Explanation
from bisector.engine.lazy_rows import by_rows
from bisector.engine.validation import blank, check_number, check_weights, store
from bisector.engine.values import HoldsValues
from bisector.kernels.kernel import Kernel
from bisector.kernels.tiles import all_products
from bisector.rbf.bump_network import dtype_of, in_double
from bisector.rbf.kept_labels import kept_labels
from bisector.solvers.feature_rows import check_items as check_kernel_items
from bisector.solvers.similarity_programme import similarity_programme
from bisector.solvers.two_class_problems import two_class_problems

Floats = NDArray[np.float64]

_QUERIES_AT_ONCE = 4096


class SimilarityClassifier(HoldsValues, ClassifierMixin, BaseEstimator):
    """The sign of w₀ + Σ wᵢ·d(x, xᵢ), with few weights that are not zero.

    Weights minimise Σ|wᵢ| + C·Σζₙ, where ζₙ is what row n lacks of being on its side with a score of one: a linear
    programme, for any distance or similarity whatever, since nothing is asked of it but numbers. As its solution
    lies at a corner, most weights are zero, and new rows are compared only with the few others.

    Parameters
    ----------
    C : float, default=1.0
        What errors cost. ``float("inf")`` allows none.
    metric : str, Distance, Kernel or callable, default="euclidean"
        What compares two rows: a distance, by name or as an object, or a kernel as an object, of which larger means
        more alike.
    n_jobs : int, default=None
        For the comparisons.

    Attributes
    ----------
    classes_ : ndarray
    coef_ : ndarray of shape (1, n_support) for two classes, else (n_classes, n_support)
        The weights of `support_`; one class against the rest in each line.
    intercept_ : ndarray of shape (1,) or (n_classes,)
    support_ : ndarray of int
        The rows with a weight.
    objective_ : ndarray of shape (1,) or (n_classes,)
    gap_ : float
        By how much, at most, an objective lies above its minimum, as a share of one plus it.
    n_iter_ : int
    metric_ : Distance or Kernel

    Notes
    -----
    The programme has n² numbers: it is meant for some thousand rows at most.

    Examples
    --------
    Words, told apart by their distances to a few of them:

    >>> from bisector import SimilarityClassifier
    >>> words = ["cat", "cart", "bat", "rat", "window", "widow", "winnow", "minnow"]
    >>> model = SimilarityClassifier(C=10.0, metric="levenshtein").fit(words, [0] * 4 + [1] * 4)
    >>> len(model.support_)
    2
    >>> model.predict(["hat", "willow"])
    array([0, 1])
    """

    _instead_of_gathering = "use RBFNetworkClassifier, or fit a sample of the rows"

    classes_: NDArray[Any]
    metric_: Any
    _weights: Floats
    _centres: Rows | None

    def __init__(self, C: float = 1.0, *, metric: Any = "euclidean", n_jobs: int | None = None) -> None:
        self.C = C
        self.metric = metric
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Find the weights.

        Parameters
        ----------
        X : rows
            What the metric compares; for metric="precomputed", the distances of all rows.
        y : array of shape (n_rows,)
        sample_weight : array of shape (n_rows,), default=None
            What the error of each row costs, times C.

        Returns
        -------
        self
        """
        C = check_number("C", self.C, above=0)
        stand_in = blank(self)
        metric = self.metric if isinstance(self.metric, Kernel) else resolve(self.metric)
        items = in_double(_checked(stand_in, X, metric, reset=True))
        metric = metric.learned(items)
        rows = metric.prepare(items)
        weights = check_weights(sample_weight, len(rows))
        weights = np.ones(len(rows)) if weights is None else weights
        kept = np.flatnonzero(weights)
        codes, classes = kept_labels(self, y, len(rows), kept)
        D = _similarities(metric, rows, None, self.n_jobs)[np.ix_(kept, kept)]
        sides = [1] if len(classes) == 2 else range(len(classes))
        found = [
            similarity_programme(D, np.where(codes == side, 1.0, -1.0), C * weights[kept]) for side in sides
        ]
        coef = np.stack([one.weights for one in found])
        used = np.flatnonzero(coef.any(axis=0))
        pairwise = isinstance(metric, Precomputed)
        return store(
            self,
            stand_in,
            classes_=classes,
            coef_=coef[:, used].astype(dtype_of(X)),
            intercept_=np.array([one.intercept for one in found]),
            support_=kept[used],
            objective_=np.array([one.objective for one in found]),
            gap_=max(one.gap for one in found),
            n_iter_=max(1, *(one.iterations for one in found), 1),
            metric_=metric,
            _weights=coef[:, used],
            _centres=rows if pairwise else rows.take(kept[used]),
        )

    @by_rows
    def decision_function(self, X: Any) -> Floats:
        """Return the score of the second class, shape (n_rows,), or of every class, shape (n_rows, n_classes)."""
        parts = [values @ self._weights.T + self.intercept_ for values in self._values(X)]
        scores = np.concatenate([np.empty((0, len(self.intercept_))), *parts])
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def _values(self, X: Any) -> Iterator[Floats]:
        """Yield the similarities of some rows at a time with those that have a weight."""
        check_is_fitted(self)
        items = _checked(self, X, self.metric_, reset=False)
        queries = self.metric_.prepare(items, like=self._centres)
        for part in cut(len(queries), _QUERIES_AT_ONCE):
            if not len(self.support_):
                yield np.empty((len(part), 0))
                continue
            some = queries.take(np.arange(part.start, part.stop))
            values = _similarities(self.metric_, some, self._centres, self.n_jobs)
            yield values[:, self.support_] if values.shape[1] > len(self.support_) else values

    def explain_rows(self, X: Any) -> list[Explanation]:
        """Say why each row is of its class: what each row with a weight adds to the score, weight times similarity.

        Parameters
        ----------
        X : rows, as for `predict`

        Returns
        -------
        list of Explanation
            The account adds up to the score of `decision_function`; of several classes, that of the predicted one.
        """
        check_is_fitted(self)
        found: list[Explanation] = []
        name = "similarity" if isinstance(self.metric_, Kernel) else "distance"
        for values in self._values(X):
            scores = values @ self._weights.T + self.intercept_
            codes = scores.argmax(axis=1) if scores.shape[1] > 1 else (scores[:, 0] > 0).astype(np.int64)
            problems = two_class_problems("one-vs-rest", len(self.classes_)).problems
            found += explain_sums(
                values, self._weights.T, self.intercept_, problems, codes, self.classes_,
                rows=self.support_, beside=lambda problem: {}, value=name,
            )  # fmt: skip
        return found

    @by_rows
    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of the highest score; of equals, the first."""
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(np.int64) if scores.ndim == 1 else scores.argmax(axis=1)]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if isinstance(self.metric, Kernel):
            tags.input_tags.sparse = True
            return tags
        return tell_input_tags(tags, self.metric)


def _checked(estimator: Any, X: Any, metric: Distance | Kernel, *, reset: bool) -> Any:
    if isinstance(metric, Kernel):
        return check_kernel_items(estimator, X, metric, reset=reset)
    return check_items(estimator, X, metric, reset=reset)


def _similarities(
    metric: Distance | Kernel, rows: Rows, references: Rows | None, n_jobs: int | None
) -> Floats:
    """Return all similarities as float64."""
    if isinstance(metric, Kernel):
        return np.asarray(all_products(metric, rows, references, n_jobs=n_jobs), dtype=np.float64)
    return np.asarray(all_distances(metric, rows, references, n_jobs=n_jobs), dtype=np.float64)
