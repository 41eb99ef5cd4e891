"""Data without clusters to compare with: rows spread evenly over a box, and how a clusterer fares on them.

A reference has as many rows as the data, drawn evenly and stretched to reach the same borders. Were the data
themselves spread evenly over some box, the references would be distributed exactly as they are, given their least
and largest values: so a rank among references is an exact test of that. The box has sides along the axes, or along
the principal axes of the data, which allows for features that are correlated.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bisector.distances.group_centres import Groups, Squares, centres_of
from bisector.distances.numeric_rows import NumericRows, numeric_rows
from bisector.engine.validation import check_count
from bisector.solvers.cluster_ladder import Clustering

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

REFERENCES = ("box", "principal")
_EPS = float(np.finfo(np.float64).eps)


class Box(NamedTuple):
    """Where references lie: a point is centre + axes · coordinates, with coordinates between low and high.

    Attributes
    ----------
    centre : ndarray of shape (n_features,)
    axes : ndarray of shape (n_features, n_axes) or None
        None for the axes of the features.
    low, high : ndarray of shape (n_axes,)
    """

    centre: Floats
    axes: Floats | None
    low: Floats
    high: Floats

    def draw(self, n: int, rng: np.random.Generator) -> Floats:
        """Draw rows evenly, and stretch them to the borders."""
        shares = np.ascontiguousarray(rng.random((n, len(self.low))).T)  # long rows are gone through faster
        least, largest = shares.min(axis=1), shares.max(axis=1)
        shares -= least[:, None]
        shares /= np.where(largest > least, largest - least, 1.0)[:, None]
        shares *= (self.high - self.low)[:, None]
        shares += self.low[:, None]
        inside = np.ascontiguousarray(shares.T)
        return self.centre + (inside if self.axes is None else inside @ self.axes.T)


def box_of(values: Floats, reference: str) -> Box:
    """Return the box of rows, along their axes or along their principal axes."""
    centre = values.mean(axis=0)
    coordinates, axes = values - centre, None
    if reference == "principal":
        _, sizes, directions = np.linalg.svd(coordinates, full_matrices=False)
        axes = directions[sizes > _EPS * max(values.shape) * sizes.max(initial=0.0)].T
        coordinates = coordinates @ axes
    return Box(centre, axes, coordinates.min(axis=0), coordinates.max(axis=0))


def check_values(X: Any) -> Floats:
    """Check rows of numbers, and return them as a float64 array."""
    rows = numeric_rows(X, None, "X")
    if not len(rows):
        raise ValueError("X has no rows.")
    return rows.dense(range(len(rows))).astype(np.float64, copy=False)


def check_range(k_range: Any, n: int, *, at_least: int = 1) -> Integers:
    """Return the numbers of clusters to try, ascending; there cannot be more clusters than rows."""
    numbers = [k_range] if isinstance(k_range, int | np.integer) else list(k_range)
    if not numbers:
        raise ValueError("k_range is empty: give the numbers of clusters to try, such as range(1, 11).")
    for k in numbers:
        check_count("k_range", k, at_least=at_least)
        if k > n:
            raise ValueError(f"k_range asks for {k} clusters, but X has only {n} rows: try at most {n}.")
    return np.unique(np.array(numbers, dtype=np.int64))


def clusterings(clusterer: Any, values: Floats, numbers: list[int], seed: int) -> list[Clustering]:
    """Return the clusters that a clusterer finds in rows, for each number of clusters.

    A clusterer that can do so (`clusters_together`) finds them for all numbers at once. A parameter `random_state`
    that is None is set, so that the answer can be had again.
    """
    if numbers == [1]:
        labels = np.zeros(len(values), dtype=np.int32)
        return [Clustering(labels, scatter_within(values, labels), 1)]
    model = _seeded(clusterer, seed)
    if not clusters_together(model):
        return [_clustering(model, values, k) for k in numbers]
    found, rounding = model.cluster_each(values, numbers), _rounding(values)
    return [one._replace(scatter=one.scatter if one.scatter > rounding else 0.0) for one in found]


def clusters_together(clusterer: Any) -> bool:
    """Tell whether a clusterer finds clusters in several numbers at once."""
    return hasattr(clusterer, "cluster_each")


def _seeded(clusterer: Any, seed: int) -> Any:
    from sklearn.base import clone

    model = clone(clusterer)
    params = model.get_params()
    if "n_clusters" not in params:
        raise TypeError(
            f"{type(clusterer).__name__} has no parameter n_clusters: give a clusterer that is told how many "
            "clusters to find, such as KMeans()."
        )
    if "random_state" in params and params["random_state"] is None:
        model.set_params(random_state=seed)
    return model


def _clustering(model: Any, values: Floats, k: int) -> Clustering:
    from sklearn.base import clone

    if k == 1:
        labels = np.zeros(len(values), dtype=np.int32)
    else:
        labels = np.asarray(clone(model).set_params(n_clusters=k).fit_predict(values))
    return Clustering(labels, scatter_within(values, labels), len(np.unique(labels)))


def scatter_within(values: Floats, labels: NDArray[Any]) -> float:
    """Return the scatter within clusters, and 0 where it is no more than the rounding of the rows."""
    clusters, codes = np.unique(labels, return_inverse=True)
    n, d = values.shape
    groups = Groups(codes.astype(np.int64, copy=False), np.ones(n), len(clusters))
    rows = NumericRows(values, values.dtype, d)
    within = float(centres_of(Squares(rows, np.ones(d)), groups, n_jobs=1).scatters.sum())
    return within if within > _rounding(values) else 0.0


def _rounding(values: Floats) -> float:
    """Return how much scatter the rounding of equal rows may feign."""
    return len(values) * float(np.sum((4 * _EPS * np.abs(values).max(axis=0)) ** 2))


def logarithm(scatters: Floats) -> Floats:
    """Return the logarithms, −∞ of zero."""
    with np.errstate(divide="ignore"):
        return np.log(scatters)
