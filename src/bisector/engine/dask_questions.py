"""Questions about rows that the partitions of a Dask collection answer together: who is near, how dense it is.

Every partition is arranged once, where it is (an index, the boxes of a tree), and asked about each part of the
queries; what partitions say about the same queries merges into one answer. So rows that are asked about may be in
memory, and are answered now, or in a collection, and are answered when the answer is computed.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .dask_passes import FAN_IN, Shared, computed
from .dask_source import DaskSource, Place, aligned, n_rows_of, read
from .lazy_rows import assembled, sample_of
from .sources import Source
from .threads import working_alone

Piece = tuple[Place, Any, Any, Any]


class Question(ABC):
    """What is asked of every partition. It travels to all tasks, so it holds nothing large."""

    def prepare(self, queries: Any) -> Any:
        """Check some queries, and bring them into the form in which they are asked."""
        return queries

    @abstractmethod
    def arrange(self, rows: Source, first_row: int) -> Any:
        """Arrange the rows of a partition, with their targets and weights; they are numbered from `first_row`."""

    @abstractmethod
    def ask(self, arranged: Any, queries: Any) -> Any:
        """Return what one partition says about some queries."""

    @abstractmethod
    def merge(self, answers: Sequence[Any]) -> Any:
        """Join what several partitions said about the same queries, in the order of their rows."""

    @abstractmethod
    def finish(self, answer: Any, queries: Any) -> Any:
        """Turn what all partitions said into the answer: an array with an entry for each query, or a few."""


def pieces_of(rows: Source) -> list[Piece]:
    """Return the partitions that have rows: what an estimator keeps to ask them later."""
    assert isinstance(rows, DaskSource)
    return list(rows.pieces())


def answers_now(question: Question, pieces: list[Piece], queries: Any, doing: str) -> Any:
    """Ask all partitions about queries in memory."""
    from dask import delayed

    shared = delayed(Shared(_as_it_is, question), traverse=False, pure=False)
    prepared = delayed(Shared(_as_it_is, question.prepare(queries)), traverse=False, pure=False)
    asked, merged = _asked(_arranged(pieces, shared), prepared, shared)
    answer = delayed(finished, pure=False)(merged, prepared, shared, None)
    return computed([answer], doing, asked)[0]


def answers_later(question: Question, pieces: list[Piece], X: Any, model: Any, empty: Any) -> Any:
    """Promise the answers for the rows of a Dask collection: Dask arrays like `empty`, which has no rows.

    One row of ones is checked as the queries will be, so that what cannot be asked at all is refused at once.
    """
    from dask import delayed

    sample, X = sample_of(X, model)
    question.prepare(sample)
    sizes = list(X.chunks[0]) if hasattr(X, "chunks") else [np.nan] * len(X)
    parts = X.to_delayed().ravel().tolist() if hasattr(X, "chunks") else X
    shared = delayed(Shared(_as_it_is, question), traverse=False, pure=False)
    nothing = delayed(empty, traverse=False, pure=False)
    arranged = _arranged(pieces, shared)
    answers = []
    for part in parts:
        prepared = delayed(prepared_queries, pure=False)(part, shared)
        merged = _asked(arranged, prepared, shared)[1]
        answers.append(delayed(finished, pure=False)(merged, prepared, shared, nothing))
    return assembled(answers, sizes, empty)


def _arranged(pieces: list[Piece], shared: Any) -> list[Any]:
    from dask import delayed

    call = delayed(arranged_partition, pure=False)
    return [call(*piece, shared) for piece in pieces]


def _asked(arranged: list[Any], prepared: Any, shared: Any) -> tuple[list[Any], Any]:
    """Return the tasks that ask every partition, and the one that has merged all they say."""
    from dask import delayed

    ask, merge = delayed(asked_partition, pure=False), delayed(merged_answers, pure=False)
    level = asked = [ask(one, prepared, shared) for one in arranged]
    while len(level) > 1:
        level = [merge(level[first : first + FAN_IN], shared) for first in range(0, len(level), FAN_IN)]
    return asked, level[0]


# Tasks


def _as_it_is(queries: Any) -> Any:
    return queries


def prepared_queries(part: Any, shared: Shared) -> Shared | None:
    """Check the queries of one partition; None if it has none."""
    question: Question = shared.fixed[0]
    if not n_rows_of(part):
        return None
    with working_alone():
        return Shared(_as_it_is, question.prepare(aligned(part)))


def arranged_partition(place: Place, X: Any, y: Any, weight: Any, shared: Shared) -> Any:
    """Arrange the rows of one partition."""
    question: Question = shared.fixed[0]
    with working_alone():
        return question.arrange(read(place, X, y, weight), place.first_row)


def asked_partition(arranged: Any, prepared: Shared | None, shared: Shared) -> Any:
    """Ask one partition about some queries."""
    question: Question = shared.fixed[0]
    if prepared is None:
        return None
    with working_alone():
        return question.ask(arranged, prepared.fixed[0])


def merged_answers(answers: list[Any], shared: Shared) -> Any:
    """Merge what some partitions said."""
    question: Question = shared.fixed[0]
    return None if answers[0] is None else question.merge(answers)


def finished(
    answer: Any,
    prepared: Shared | None,
    shared: Shared,
    empty: NDArray[Any] | tuple[NDArray[Any], ...] | None,
) -> Any:
    """Make the answer about some queries."""
    question: Question = shared.fixed[0]
    if prepared is None:
        return empty
    with working_alone():
        return question.finish(answer, prepared.fixed[0])
