"""Parzen windows on the rows of a Dask collection: each partition adds up its own bumps, where it is."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bisector.density.boxes import check_dense
from bisector.engine.dask_questions import Question
from bisector.engine.sources import MemorySource, Source

if TYPE_CHECKING:
    from bisector.density.kernel_density import KernelDensity

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class _OfBumps(Question):
    """What is asked of the density of each partition.

    Attributes
    ----------
    model : KernelDensity
        Not fitted; its width is a number or a matrix, and its metric has learned all it can.
    asked : KernelDensity
        What queries are checked against.
    total : float
        How much all rows weigh.
    """

    model: "KernelDensity"
    asked: Any
    total: float

    def arrange(self, rows: Source, first_row: int) -> Any:
        assert isinstance(rows, MemorySource)
        weight = rows.sample_weight
        if weight is not None and not weight.any():
            return None
        total = float(rows.n_rows if weight is None else weight.sum())
        fresh = type(self.model)(**self.model.get_params(deep=False))
        return fresh.fit(rows.between(0, rows.n_rows), sample_weight=weight), total


class LogDensity(_OfBumps):
    """How high the density is, as a logarithm."""

    def prepare(self, queries: Any) -> Floats:
        return check_dense(self.asked, queries, reset=False).astype(np.float64, copy=False)

    def ask(self, arranged: Any, queries: Floats) -> Floats:
        if arranged is None:
            return np.full(len(queries), -np.inf)
        fitted, weight = arranged
        return np.asarray(fitted.score_samples(queries) + math.log(weight / self.total))

    def merge(self, answers: Sequence[Floats]) -> Floats:
        return reduce(np.logaddexp, answers)

    def finish(self, answer: Floats, queries: Floats) -> Floats:
        return answer


class InBox(_OfBumps):
    """How probable a box is."""

    def ask(self, arranged: Any, queries: Floats) -> float:
        return 0.0 if arranged is None else arranged[0].integrate(queries) * arranged[1] / self.total

    def merge(self, answers: Sequence[float]) -> float:
        return float(sum(answers))

    def finish(self, answer: float, queries: Floats) -> float:
        return answer
