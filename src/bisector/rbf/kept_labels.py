"""The classes of the rows that count."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.engine.targets import check_labels


def kept_labels(
    estimator: Any, y: Any, n_rows: int, kept: NDArray[np.int64], *, least: int = 2
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Check one label a row; return the codes of the kept rows, and their classes, at least so many."""
    name, labels = type(estimator).__name__, check_labels(estimator, y, n_rows)
    if not labels.single:
        raise ValueError(f"{name} takes one label a row: fit one model an output.")
    held, codes = np.unique(labels.codes[kept, 0], return_inverse=True)
    classes = labels.classes[0][held]
    if len(classes) < least:
        raise ValueError(
            f"{name} needs rows of at least two classes, but y has one class: {classes.tolist()}."
        )
    return codes, classes
