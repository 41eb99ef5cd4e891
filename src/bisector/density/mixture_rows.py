"""The rows of a Gaussian mixture: arrays as they are, data that are elsewhere block by block."""

from typing import Any

from bisector.density.boxes import check_dense
from bisector.engine.frames import is_dataset
from bisector.engine.sources import MemorySource, Source, is_collection, source
from bisector.engine.validation import check_rows, check_weights, fresh_rows, weighted


def rows_of(stand_in: Any, X: Any, sample_weight: Any) -> Source:
    """Check the rows of a fit, with their weights; where rows can be reached, those without weight are left out."""
    rows = _fresh(stand_in, X)
    if isinstance(rows, MemorySource):
        weights = check_weights(sample_weight, rows.n_rows)
        if weights is not None and not weights.all():
            rows, sample_weight = source(rows.take(weights > 0)), weights[weights > 0]
    return weighted(rows, sample_weight)


def _fresh(stand_in: Any, X: Any) -> Source:
    if not (is_dataset(X) or is_collection(X)):
        return source(check_dense(stand_in, X, reset=True, at_least=2))
    rows, seen = fresh_rows(stand_in, X)
    vars(stand_in).update(vars(seen))
    if rows.n_rows < 2:
        raise ValueError(
            f"Found array with {rows.n_rows} sample(s) (shape={(rows.n_rows, rows.n_features)}) while a minimum of "
            f"2 is required by {type(stand_in).__name__}."
        )
    return rows


def known_rows(model: Any, X: Any) -> Source:
    """Check rows against those that a model was fitted on."""
    return check_rows(model, X) if is_dataset(X) else source(check_dense(model, X, reset=False))
