"""Networks on Dask collections: bumps are placed by a sample of the rows, and their heights fitted to all."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bisector.distances.distance import Distance
from bisector.distances.estimator_input import check_collection
from bisector.engine.checkpoint import NOWHERE, Checkpoint
from bisector.engine.seeds import seed_of
from bisector.engine.sources import Source
from bisector.rbf.bump_network import BumpNetwork, Task

# Bumps are placed, and networks compared, by at most so many rows.
SAMPLE_ROWS = 2**16


class Sampled(NamedTuple):
    """A sample of the rows, and all of them.

    Attributes
    ----------
    distance : Distance
    sample : Task
        In memory.
    numbers : ndarray of int
        Which rows it has, ascending; all that have a weight, if they are few.
    whole : Task
    """

    distance: Distance
    sample: Task
    numbers: NDArray[np.int64]
    whole: Task


def sampled(
    model: BumpNetwork, rows: Source, targets: Any, n_classes: int = 0, *, kept: Checkpoint = NOWHERE
) -> Sampled:
    """Draw rows of a collection, with their targets, of shape (n_rows, n_targets), and weights."""
    distance = model._checked_metric()
    if isinstance(model.centers, str) and model.centers == "all":
        raise TypeError(
            "X is a Dask collection, and centers='all' puts a bump on each of its rows: take centers='kmeans', or "
            "fit a sample of the rows."
        )
    distance = check_collection(distance, rows)
    weights: Any = rows.sample_weight
    counted = np.arange(rows.n_rows) if weights is None else np.flatnonzero(np.asarray(weights))
    if len(counted) > SAMPLE_ROWS:
        rng = np.random.default_rng(seed_of(model.random_state, kept.part("sample")))
        counted = np.sort(rng.choice(counted, SAMPLE_ROWS, replace=False))
    held = np.ones(len(counted)) if weights is None else weights.take(counted)
    items = distance.prepare(rows.take(counted).astype(np.float64, copy=False))
    sample = Task(items, targets.take(counted), held, n_classes)
    return Sampled(distance, sample, counted, Task(rows, targets, weights, n_classes))


def as_table(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the targets of one partition as columns."""
    return values.reshape(len(values), -1)


def as_signs(codes: NDArray[np.int64], n_classes: int) -> NDArray[np.float64]:
    """Return +1 for the class of each row and −1 for the others; of two classes, for the second alone.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.rbf.partitioned_network import as_signs
    >>> as_signs(np.array([0, 2]), 3)
    array([[ 1., -1., -1.],
           [-1., -1.,  1.]])
    """
    signs: NDArray[np.float64] = 2.0 * np.eye(n_classes)[codes] - 1.0
    return signs[:, 1:] if n_classes == 2 else signs
