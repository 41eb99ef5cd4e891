"""Rows held in memory as a whole, for learners that go from any row to any other."""

from typing import Any

import numpy as np

from bisector.engine.memory import require
from bisector.engine.sources import MemorySource, Source


def held(rows: Source, doing: str) -> Any:
    """Return X as one array of floats or CSR matrix, without copying where it is one already.

    Parameters
    ----------
    rows : Source
    doing : str
        Who asks, as the beginning of a sentence: "Fitting Perceptron".
    """
    if isinstance(rows, MemorySource):
        return rows.between(0, rows.n_rows)
    require(
        rows.n_rows * rows.n_features * rows.dtype.itemsize,
        doing=doing,
        holding=f"{rows.n_rows:,} rows, which are visited in any order",
        instead="call partial_fit with a part of the rows at a time, or fit a sample of them",
    )
    return np.concatenate([block.dense for block in rows.blocks()])
