"""The input of a clustering around rows of a Dask collection."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bisector.clustering.exemplar_clusters import CheckedInput
from bisector.distances.estimator_input import check_collection
from bisector.distances.names import resolve
from bisector.engine.validation import fresh_rows, weighted
from bisector.solvers.medoid_partitions import PartitionedRows


@dataclass(frozen=True, eq=False)
class PartitionedInput(CheckedInput):
    """Rows that are not here, as sources and not as they came; and which of them count."""

    all_rows: Any

    @property
    def rows(self) -> Any:
        """The rows that count."""
        return self.all_rows if len(self.counted) == len(self.all_rows) else self.all_rows.among(self.counted)


def partitioned_input(estimator: Any, X: Any, sample_weight: Any) -> tuple[Any, PartitionedInput]:
    """Check a Dask collection and its weights, as `checked_input` does; weights come here, one number a row."""
    rows, stand_in = fresh_rows(estimator, X)
    rows = weighted(rows, sample_weight)
    distance = check_collection(resolve(estimator.metric), rows)
    weights = np.ones(rows.n_rows) if sample_weight is None else np.asarray(rows.sample_weight)
    held = PartitionedRows(distance, rows)
    return stand_in, PartitionedInput(distance, rows, held, weights, np.flatnonzero(weights))
