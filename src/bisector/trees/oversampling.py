"""Repeating rows of small classes, for models that follow the large ones (Flach 5.2)."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bisector.engine.items import picked
from bisector.engine.targets import check_labels
from bisector.engine.validation import Seed, check_seed


def oversample(X: Any, y: ArrayLike, *, seed: Seed = 0) -> tuple[Any, NDArray[Any]]:
    """Repeat rows of the smaller classes until all classes have as many rows as the largest.

    Every row is repeated equally often; the rest is drawn at random. For models with `class_weight`, weighing the
    classes does the same without longer data; and a tree grown with ``criterion="sqrt-gini"`` may not need either.

    Parameters
    ----------
    X : array, sparse matrix, frame or list
    y : array of shape (n_rows,)
    seed : int or numpy.random.Generator, default=0

    Returns
    -------
    X, y
        All rows in their order, then the repeated ones, class by class.

    Examples
    --------
    >>> from bisector import oversample
    >>> X, y = oversample([[1.0], [2.0], [3.0], [4.0]], ["no", "no", "no", "yes"])
    >>> X, y
    ([[1.0], [2.0], [3.0], [4.0], [4.0], [4.0]], array(['no', 'no', 'no', 'yes', 'yes', 'yes'], dtype='<U3'))
    """
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    labels = check_labels(oversample, y, n_rows)
    if not labels.single:
        raise ValueError("oversample takes one label a row.")
    rng, codes = check_seed(seed), labels.codes[:, 0]
    largest = np.bincount(codes).max()
    chosen = [np.arange(n_rows)]
    for c in range(len(labels.classes[0])):
        rows = np.flatnonzero(codes == c)
        whole, rest = divmod(int(largest) - len(rows), len(rows))
        chosen += [np.tile(rows, whole), np.sort(rng.choice(rows, rest, replace=False))]
    positions = np.concatenate(chosen)
    return picked(X, positions), labels.decoded(labels.codes[positions])
