"""Map-reduce: a statistic of every block, merged in a fixed tree.

A *statistic* is what a model needs to know of the data: it is made from one block by a top-level function
and has ``merge(other)``, which takes in the statistic of the rows that follow. Merges happen in the complete
binary tree over block numbers, so rounding, and with it every bit of the result, is the same for any number
of threads. A fit asks for passes over the data and never holds blocks itself. A source whose rows are elsewhere,
as those of a Dask collection, has an executor of its own that runs the pass there.
"""

import threading
from collections.abc import Callable
from functools import reduce
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np

from .blocks import Block
from .progress import track
from .sources import Source
from .threads import one_blas_thread, parallel, threads_for


class Statistic(Protocol):
    """What one block tells; mergeable."""

    def merge(self, other: Self) -> Self:
        """Take in the statistic of later rows; may reuse this one's memory."""
        ...


S = TypeVar("S", bound=Statistic)


def map_reduce(
    make: Callable[..., S], source: Source, *fixed: Any, n_jobs: int | None = None, doing: str = "reading"
) -> S:
    """Return the statistic of the whole source: ``make(block, *fixed)`` of every block, merged.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.engine.map_reduce import map_reduce
    >>> from bisector.engine.sources import source
    >>> class Total(float):
    ...     def merge(self, other):
    ...         return Total(self + other)
    >>> def total(block):
    ...     return Total(block.X.sum())
    >>> map_reduce(total, source(np.ones((10, 3)), block_rows=4))
    30.0
    """
    if source.executor is not None:
        return source.executor.map_reduce(make, source, fixed, doing)
    if source.n_blocks == 1:
        return _of_one_block(make, source, fixed, doing)
    tree: MergeTree[S] = MergeTree()

    def visit(number: int, block: Block) -> None:
        tree.add(number, make(block, *fixed))

    _each_block(visit, source, n_jobs, doing)
    return tree.result()


def map_blocks(
    function: Callable[..., Any],
    source: Source,
    *fixed: Any,
    n_jobs: int | None = None,
    doing: str = "predicting",
) -> Any:
    """Return ``function(block, *fixed)`` of every block, one result a row, joined in the order of the rows."""
    if source.executor is not None:
        return source.executor.map_blocks(function, source, fixed, doing)
    if source.n_blocks == 1:
        return _of_one_block(function, source, fixed, doing)
    pieces: list[Any] = [None] * source.n_blocks

    def visit(number: int, block: Block) -> None:
        pieces[number] = function(block, *fixed)

    _each_block(visit, source, n_jobs, doing)
    return np.concatenate(pieces)


def _of_one_block(make: Callable[..., Any], source: Source, fixed: Any, doing: str) -> Any:
    """Do what is to be done with the only block: there is nothing to share out, and often little to do."""
    with one_blas_thread, track(doing, total=1) as bar:
        for block in source.blocks(range(1)):
            found = make(block, *fixed)
        bar.advance()
    return found


def _each_block(visit: Callable[[int, Block], None], source: Source, n_jobs: int | None, doing: str) -> None:
    # A run of blocks is one thread's item: long enough to be worth handing over, short enough to share out.
    threads = int(min(threads_for(n_jobs), source.most_readers()))
    size = min(8, max(1, source.n_blocks // (8 * threads)))
    with track(doing, total=source.n_blocks) as bar:

        def visit_run(numbers: range) -> None:
            for number, block in zip(numbers, source.blocks(numbers), strict=True):
                visit(number, block)
            bar.advance(len(numbers))

        parallel(visit_run, source.groups(size), n_jobs=threads)


class MergeTree(Generic[S]):
    """Merges statistics in the complete binary tree over block numbers, in whatever order they arrive."""

    def __init__(self) -> None:
        self.waiting: dict[tuple[int, int], S] = {}  # (level, number within the level) → statistic
        self._lock = threading.Lock()

    def add(self, number: int, statistic: S, level: int = 0) -> None:
        """Take in the statistic of a block, or of the complete subtree with this number within its level."""
        while True:
            with self._lock:
                sibling = self.waiting.pop((level, number ^ 1), None)
                if sibling is None:
                    self.waiting[level, number] = statistic
                    return
            statistic = sibling.merge(statistic) if number & 1 else statistic.merge(sibling)
            level, number = level + 1, number >> 1

    def result(self) -> S:
        """Merge the complete subtrees that are left, from the last block backwards."""
        first_block = {key: key[1] << key[0] for key in self.waiting}
        subtrees = [self.waiting[key] for key in sorted(self.waiting, key=first_block.__getitem__)]
        return reduce(lambda later, earlier: earlier.merge(later), reversed(subtrees))
