"""Flach, chapter 8: scatter, clusters and hierarchies."""

from math import sqrt

import numpy as np

from bisector.engine.validation import Seed, check_count, check_finite, check_number, check_seed

from .dataset import Rows
from .registry import makes
from .shapes import shuffled

PLANE = ("x1", "x2")
CLUSTER = ("cluster",)


@makes(
    "Five points around the origin",
    shows="Scatter is the same in total, however much of it lies within clusters.",
    source="Flach, Example 8.3",
)
def scatter_points() -> Rows:
    """Give the five points whose scatter the book splits in two ways.

    Their total scatter is 76. The first two against the last three leaves 38.5 of it within the clusters,
    the first three against the last two only 16.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from bisector import datasets
    >>> X, _ = datasets.scatter_points()
    >>> X.T @ X
    array([[38., 25.],
           [25., 38.]])
    """
    points = [[0.0, 3.0], [3.0, 3.0], [3.0, 0.0], [-2.0, -4.0], [-4.0, -2.0]]
    return Rows(np.array(points), None, PLANE)


@makes(
    "Five numbers to split in two",
    shows="2-means can stop at any of four clusterings, of which one is best.",
    source="Flach, Example 8.5",
)
def five_numbers() -> Rows:
    """Give the five numbers on which 2-means has four stationary points.

    Each of the four ways to cut 8, 44, 50, 58, 84 in two stays as it is under further steps of 2-means. The
    best leaves 8 alone, with a scatter of 932 within the clusters.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from bisector import datasets
    >>> X, _ = datasets.five_numbers()
    >>> x = X[:, 0]
    >>> [round(float(a.var() * len(a) + b.var() * len(b))) for a, b in ((x[:k], x[k:]) for k in range(1, 5))]
    [932, 1280, 1370, 1464]
    """
    return Rows(np.array([[8.0], [44.0], [50.0], [58.0], [84.0]]), None, ("x",))


@makes(
    "Two clusters, and the same in other units",
    shows="K-means finds other clusters when one feature changes its units (y_scale=5).",
    source="Flach, Figure 8.13",
)
def rescaled_pair(n: int = 100, *, y_scale: float = 1.0, seed: Seed = 0) -> Rows:
    """Simulate two clusters side by side, one of whose features can be rescaled.

    Around (−2, 0) and (2, 0) the features are normal with standard deviations 0.6 and 1, and the second is
    multiplied by `y_scale` at the end. As they are, 2-means finds the two clusters (the figure's left-hand
    side); with ``y_scale=5`` it cuts both of them across (its right-hand side), since clusters that are far
    apart up and down have the smaller scatter.

    Parameters
    ----------
    n : int, default=100
        Number of rows, at least 2; of an odd number, one more belongs to cluster 0.
    y_scale : float, default=1.0
        What the second feature is multiplied by.
    seed : int or numpy.random.Generator, default=0

    Returns
    -------
    Dataset
        With the intended clusters, 0 on the left and 1 on the right, as y.

    Examples
    --------
    >>> from bisector import datasets
    >>> left, right = datasets.rescaled_pair(), datasets.rescaled_pair(y_scale=5)
    >>> bool((right.X == left.X * [1, 5]).all())
    True
    """
    n, rng = check_count("n", n, at_least=2), check_seed(seed)
    y_scale = check_finite("y_scale", y_scale, above=0)
    y = np.repeat(np.array([0, 1], dtype=np.int64), [n - n // 2, n // 2])
    X = rng.standard_normal((n, 2)) * [0.6, 1.0] + np.column_stack([4.0 * y - 2.0, np.zeros(n)])
    X, y = shuffled(X, y, rng)
    return Rows(X * [1.0, y_scale], y, PLANE, CLUSTER)


@makes(
    "Eight points on a grid",
    shows="Linkages disagree on how far apart clusters are where there are none.",
    source="Flach, Figure 8.16",
)
def grid(*, irregularity: float = 0.0) -> Rows:
    """Give the points of a regular grid, two rows of four.

    Every linkage meets ties on it. The book breaks them by small irregularities such that the four columns
    form first, then the two in the middle join, then the right one, and last the left one. `irregularity`
    widens the gaps between columns by very little, and differently, so that exactly this happens.

    Parameters
    ----------
    irregularity : float, default=0.0
        How irregular the grid is, from 0 (exact, with ties) to 0.1; the gaps between the columns, from left
        to right, are 1 plus 3, 1 and 2 times this number.

    Returns
    -------
    Dataset
        Rows 0 to 3 are the lower row from left to right, rows 4 to 7 the upper one.

    Examples
    --------
    >>> from bisector import datasets
    >>> from scipy.cluster.hierarchy import linkage
    >>> X, _ = datasets.grid(irregularity=1e-6)
    >>> linkage(X, "complete")[:, 2].round(3)
    array([1.   , 1.   , 1.   , 1.   , 1.414, 2.236, 3.162])
    >>> linkage(X, "centroid")[:, 2].round(3)
    array([1. , 1. , 1. , 1. , 1. , 1.5, 2. ])
    >>> linkage(X, "single")[:, 2].round(3)
    array([1., 1., 1., 1., 1., 1., 1.])
    """
    irregularity = check_finite("irregularity", irregularity, at_least=0)
    if irregularity > 0.1:
        raise ValueError(
            f"irregularity must be at most 0.1 to break ties and nothing else, not {irregularity!r}."
        )
    columns = np.cumsum([0.0, 1 + 3 * irregularity, 1 + irregularity, 1 + 2 * irregularity])
    return Rows(np.column_stack([np.tile(columns, 2), np.repeat([0.0, 1.0], 4)]), None, PLANE)


@makes(
    "Three points, almost equally far apart",
    shows="With centroid linkage, a later merge can lie lower than an earlier one.",
    source="Flach, Figure 8.17",
)
def triangle(*, height: float = 1.8) -> Rows:
    """Give two points at distance 2, and a third above their middle that is a little farther from each.

    The first two merge at level 2. Their mean is only `height` away from the third point, so with centroid
    linkage the next level is lower.

    Parameters
    ----------
    height : float, default=1.8
        How high the third point lies: above √3, or it would not be the farthest, and below 2, or levels
        would increase.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from bisector import datasets
    >>> from scipy.cluster.hierarchy import linkage
    >>> X, _ = datasets.triangle()
    >>> linkage(X, "centroid")[:, 2]
    array([2. , 1.8])
    """
    height = check_number("height", height, above=sqrt(3), below=2)
    return Rows(np.array([[0.0, 0.0], [2.0, 0.0], [1.0, height]]), None, PLANE)


@makes(
    "Points anywhere in the unit square",
    shows="Without any clusters, a dendrogram still seems to show some.",
    source="Flach, Figure 8.18",
)
def uniform_square(n: int = 20, *, seed: Seed = 0) -> Rows:
    """Simulate points spread evenly over the square from (0, 0) to (1, 1).

    Twenty of them make the figure's dendrogram; ``n=10_000`` is part (a) of LFD's Problem 6.16, on searching
    by branch and bound.

    Parameters
    ----------
    n : int, default=20
        Number of points.
    seed : int or numpy.random.Generator, default=0

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from bisector import datasets
    >>> X, _ = datasets.uniform_square()
    >>> X.shape, bool(((X >= 0) & (X < 1)).all())
    ((20, 2), True)
    """
    n, rng = check_count("n", n), check_seed(seed)
    return Rows(rng.random((n, 2)), None, PLANE)
