"""Where rows lie, for those who move them: as numbers, not as a distance has transformed them."""

import numpy as np
from numpy.typing import NDArray

from bisector.distances.coordinate_distance import CoordinateDistance
from bisector.distances.distance import Distance, Rows
from bisector.distances.numeric_rows import NumericRows

Floats = NDArray[np.float64]


def places_of(rows: Rows, distance: Distance) -> Floats | None:
    """Return prepared rows as they came, if they are a dense table of numbers.

    Examples
    --------
    >>> from bisector.distances import Cosine, Euclidean
    >>> from bisector.distances.places import places_of
    >>> places_of(Euclidean().prepare([[3.0, 4.0]]), Euclidean())
    array([[3., 4.]])
    """
    if not isinstance(rows, NumericRows):
        return None
    came = rows.before or rows
    transformed = (
        isinstance(distance, CoordinateDistance)
        and type(distance).transform is not CoordinateDistance.transform
    )
    if came.sparse or (transformed and rows.before is None):
        return None
    values = np.asarray(came.values, dtype=np.float64)
    return values if np.isfinite(values).all() else None
