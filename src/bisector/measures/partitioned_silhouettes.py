"""Silhouettes of Dask collections: exact under squared Euclidean distance, from the sums of clusters.

No pair of rows is looked at: the mean squared distance of a row to a cluster is its squared distance to the mean of
the cluster, and the mean squared distance v of the cluster's rows to that mean. Three passes give means, v, and the
silhouettes; the last is lazy where each row's is asked for.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bisector.distances.distance import Distance
from bisector.distances.group_centres import Centres, square_scales
from bisector.engine.blocks import Block
from bisector.engine.columns import Column
from bisector.engine.dask_checks import block_labels, checked_weights
from bisector.engine.dask_source import DaskSource
from bisector.engine.map_reduce import map_reduce
from bisector.engine.row_sums import Weight, weight_by_class
from bisector.engine.sources import Source, source
from bisector.measures.silhouette_values import compared_with_next, require_clusters
from bisector.solvers.class_sums import class_sums

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Clusters(NamedTuple):
    """What has to be known of clusters.

    Attributes
    ----------
    centres : Centres
    scales : ndarray of shape (n_features,)
        By which squares are multiplied.
    simplified : bool
        Whether rows are compared with the means of clusters, not with their rows.
    """

    centres: Centres
    scales: Floats
    simplified: bool


def sampled_rows(
    X: Any, labels: Any, sample_weight: Any, sampler: Callable[[int], Integers]
) -> tuple[Any, NDArray[Any], Any]:
    """Take the rows that a sampler chooses of so many, with their labels and weights, into memory."""
    rows = source(X)
    chosen = sampler(rows.n_rows)
    weights = None if sample_weight is None else checked_weights(rows, sample_weight).take(chosen)
    return rows.take(chosen), _column(rows, labels).take(chosen), weights


def squared_silhouettes(X: Any, labels: Any, distance: Distance, form: str, sample_weight: Any) -> Any:
    """Return the silhouettes of the rows of a collection, as a Dask array."""
    from bisector.engine.dask_passes import promised_blocks

    rows, clusters = _measured(X, labels, distance, form, sample_weight)
    assert isinstance(rows, DaskSource)
    return promised_blocks(block_silhouettes, rows, (clusters,), np.empty(0, rows.dtype))


def mean_squared_silhouette(X: Any, labels: Any, distance: Distance, form: str, sample_weight: Any) -> float:
    """Return the mean silhouette of the rows of a collection."""
    rows, clusters = _measured(X, labels, distance, form, sample_weight)
    total, weight = map_reduce(block_total, rows, clusters, doing="comparing clusters").sums
    return float(total / weight)


def _measured(
    X: Any, labels: Any, distance: Distance, form: str, sample_weight: Any
) -> tuple[Source, Clusters]:
    """Lay the places of labels beside the rows (−1 for clusters without weight), and measure the clusters."""
    rows = source(X)
    scales = square_scales(distance, rows.n_features)
    if scales is None or form == "medoid":
        raise TypeError(
            "X is a Dask collection, whose silhouettes are exact under squared distances to rows or means: take "
            "metric='sqeuclidean' and form='mean' or 'simplified', or silhouette_score with a sample_size."
        )
    names = _column(rows, labels)
    rows.y = names
    found = map_reduce(block_labels, rows.beside(), doing="finding clusters").labels
    rows.y = names.mapped(_places, found, np.arange(len(found)), dtype=np.int64)
    if sample_weight is not None:
        rows.sample_weight = checked_weights(rows, sample_weight)
    held = weight_by_class(rows, len(found)) > 0
    require_clusters(int(held.sum()), weighted=sample_weight is not None)
    if held.all():
        return rows, Clusters(_centres(rows, len(found), scales), scales, form == "simplified")
    places = np.where(held, np.cumsum(held) - 1, 0)
    rows.y = names.mapped(_places, found, places, dtype=np.int64)  # without weight, any cluster will do
    centres = _centres(rows, int(held.sum()), scales)
    rows.y = names.mapped(_places, found, np.where(held, places, -1), dtype=np.int64)
    return rows, Clusters(centres, scales, form == "simplified")


def _column(rows: Source, labels: Any) -> Column:
    column: Column = rows.column("labels", labels)
    if column.width is None:
        return column
    if column.width != 1:
        raise ValueError(
            f"labels must hold one label for each of the {rows.n_rows} rows of X, but has the shape {column.shape}."
        )
    return column.mapped(np.ravel, dtype=column.dtype)


def _places(labels: NDArray[Any], found: NDArray[Any], places: Integers) -> Integers:
    return places[np.searchsorted(found, labels)]


def _centres(rows: Source, n_clusters: int, scales: Floats) -> Centres:
    sums = class_sums(rows, n_clusters)
    means = sums.means
    # What the mean has no digits for, as far as that can be told from where sums are measured from.
    rests = sums.offsets - (means - sums.of_x.shift)
    scatters = map_reduce(block_scatters, rows, means, rests, scales, doing="measuring clusters").sums
    return Centres(means, rests, sums.weights, scatters)


def block_scatters(block: Block, means: Floats, rests: Floats, scales: Floats) -> Weight:
    """Add up the squared distances of one block's rows to the means of their clusters."""
    from bisector.distances.group_loops import add_squares
    from bisector.engine.loops import given

    sums, codes = np.zeros(len(means)), block.targets[:, 0]
    fixed = (given(means), given(rests), given(scales))
    add_squares(given(block.dense), given(codes), given(block.weights), *fixed, sums)
    return Weight(sums)


def block_silhouettes(block: Block, clusters: Clusters) -> NDArray[Any]:
    """Return the silhouettes of one block's rows, in their dtype."""
    return _silhouettes(block, clusters).astype(block.X.dtype, copy=False)


def block_total(block: Block, clusters: Clusters) -> Weight:
    """Add up the silhouettes of one block, and its weights."""
    weights = block.weights
    return Weight(np.array([weights @ _silhouettes(block, clusters), weights.sum()]))


def _silhouettes(block: Block, clusters: Clusters) -> Floats:
    from bisector.distances.group_loops import square_to_means
    from bisector.engine.loops import given

    centres, places = clusters.centres, block.targets[:, 0]
    sizes = centres.sizes
    codes, weights = np.maximum(places, 0), block.weights
    if clusters.simplified:
        factors, spreads = np.ones(len(sizes)), np.zeros(len(sizes))
    else:
        factors, spreads = sizes, centres.scatters / sizes
    sums = np.empty((len(sizes), len(codes)))
    fixed = (
        given(centres.means),
        given(centres.rests),
        given(clusters.scales),
        given(factors),
        given(spreads),
    )
    square_to_means(given(block.dense), *fixed, sums)
    rest = sizes[codes] - np.minimum(weights, 1.0)
    own = sums[codes, np.arange(len(codes))]
    if not clusters.simplified:
        own, sums = own / np.where(rest > 0, rest, 1.0), sums / sizes[:, None]
    return compared_with_next(own, sums, codes, lone=(places < 0) | (rest <= 0)).values
