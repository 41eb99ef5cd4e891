"""Kernel values of queries with all references, as many queries at a time as can be held."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.distances.distance import Rows
from bisector.distances.reductions import cut
from bisector.kernels.kernel import Kernel
from bisector.kernels.tiles import all_products

Floats = NDArray[np.float64]

# Values that are held at a time.
AT_ONCE = 2**22


def value_blocks(
    kernel: Kernel, items: Any, references: Rows | None, *, n_jobs: int | None = None
) -> Iterator[tuple[range, Floats]]:
    """Yield consecutive queries and their kernel values with all references, in float64.

    Parameters
    ----------
    kernel : Kernel
    items : queries, as they came
    references : Rows or None
        Prepared by the kernel; None if the items are kernel values already.

    Examples
    --------
    >>> from bisector.kernels import Linear
    >>> from bisector.kernels.value_blocks import value_blocks
    >>> kernel = Linear()
    >>> references = kernel.prepare([[1.0, 0.0], [0.0, 2.0]])
    >>> [values.tolist() for _, values in value_blocks(kernel, [[3.0, 4.0]], references)]
    [[[3.0, 8.0]]]
    """
    if references is None:
        values = np.asarray(kernel.gram(items), dtype=np.float64)
        yield range(len(values)), values
        return
    queries = kernel.prepare(items, like=references)
    for part in cut(len(queries), max(1, AT_ONCE // max(1, len(references)))):
        some = queries.take(np.arange(part.start, part.stop))
        out = np.empty((len(part), len(references)))
        yield part, np.asarray(all_products(kernel, some, references, out, n_jobs=n_jobs))
