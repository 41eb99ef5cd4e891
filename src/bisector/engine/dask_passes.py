"""Passes over the rows of a Dask collection, on whatever scheduler is active.

A pass is one graph. A task for each partition makes the statistics of its blocks, with the loops that run in
memory too, and merges what the complete binary tree over block numbers lets it merge; a tree of further tasks
merges the rest in the same order, so that the result has the bits that it has in memory. What is handed to every
block travels once, as a single node of the graph. Tasks are pure: one that is lost with its worker is done again.
"""

import pickle
import sys
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .blocks import Block
from .dask_source import DaskSource, Place, aligned, read
from .map_reduce import MergeTree
from .memory import require
from .progress import Bar, track
from .threads import working_alone

# So many partial results go into one merging task.
FAN_IN = 8

Waiting = dict[tuple[int, int], Any]


class Shared:
    """What every task of a pass is given.

    Where it arrives in another process, its arrays are read-only: what a task wrote there would reach nobody.
    """

    def __init__(self, function: Callable[..., Any], *fixed: Any) -> None:
        self.function, self.fixed = function, fixed

    def __reduce__(self) -> Any:
        import cloudpickle  # type: ignore[import-untyped]

        arrays: list[pickle.PickleBuffer] = []
        packed = cloudpickle.dumps((self.function, self.fixed), protocol=5, buffer_callback=arrays.append)
        return _unpacked, (packed, [bytes(one.raw()) for one in arrays])


def _unpacked(packed: bytes, arrays: list[bytes]) -> Shared:
    function, fixed = pickle.loads(packed, buffers=arrays)
    return Shared(function, *fixed)


def map_reduce(make: Callable[..., Any], rows: DaskSource, fixed: tuple[Any, ...], doing: str) -> Any:
    """Return the statistic of the whole source, as `bisector.engine.map_reduce.map_reduce` does."""
    from dask import delayed

    call, merge = delayed(partition_statistics, pure=False), delayed(merged, pure=False)
    shared = delayed(Shared(make, *_read_only(fixed)), traverse=False, pure=False)
    level = parts = [call(*piece, shared) for piece in rows.pieces()]
    while len(level) > 1:
        level = [merge(level[first : first + FAN_IN]) for first in range(0, len(level), FAN_IN)]
    tree: MergeTree[Any] = MergeTree()
    tree.waiting.update(deepcopy(computed(level, doing, parts)[0]))
    return tree.result()


def map_blocks(function: Callable[..., Any], rows: DaskSource, fixed: tuple[Any, ...], doing: str) -> Any:
    """Return one result a row, gathered here, as `bisector.engine.map_reduce.map_blocks` does."""
    from dask import delayed

    require(
        16 * rows.n_rows,
        doing=f"gathering an answer for each of {rows.n_rows:,} rows",
        instead="fit on a sample of the rows",
    )
    call = delayed(partition_answers, pure=False)
    shared = delayed(Shared(function, *_read_only(fixed)), traverse=False, pure=False)
    parts = [call(*piece, shared) for piece in rows.pieces()]
    return joined(computed(parts, doing, parts))


def promised_blocks(
    function: Callable[..., Any], rows: DaskSource, fixed: tuple[Any, ...], empty: NDArray[Any]
) -> Any:
    """Return one result a row as a Dask array like `empty`, which has no rows: as `map_blocks`, but later."""
    from dask import delayed

    from .lazy_rows import assembled

    call = delayed(partition_answers, pure=False)
    shared = delayed(Shared(function, *_read_only(fixed)), traverse=False, pure=False)
    pieces = list(rows.pieces())
    return assembled(
        [call(*piece, shared) for piece in pieces], [place.n_rows for place, *_ in pieces], empty
    )


def blocks_of(place: Place, X: Any, y: Any, weight: Any, numbers: range) -> list[Block]:
    """Fetch some blocks of one partition."""
    from dask import delayed

    found = computed([delayed(some_blocks, pure=False)(place, X, y, weight, numbers)], "reading")[0]
    return [Block(*map(aligned, block)) for block in found]


def rows_of(
    asked: list[tuple[NDArray[np.int64], Place, Any, NDArray[np.int64]]],
    n_rows: int,
    n_features: int,
    dtype: np.dtype[Any],
) -> Any:
    """Fetch rows: for each partition where they go, its place, its rows, and which of them are asked for."""
    from dask import delayed

    require(
        2 * dtype.itemsize * n_rows * n_features,
        doing=f"gathering {n_rows:,} rows of a Dask collection",
        instead="fit on a sample of the rows, or use a model that learns from sums over them",
    )
    call = delayed(some_rows, pure=False)
    found = computed([call(place, X, numbers) for _, place, X, numbers in asked], "reading")
    if any(hasattr(part, "tocsr") for part in found):
        from scipy.sparse import vstack

        return vstack(found, "csr")[np.argsort(np.concatenate([here for here, *_ in asked]))]
    taken = np.empty((n_rows, n_features), dtype)
    for (here, *_), part in zip(asked, found, strict=True):
        taken[here] = part
    return taken


# Tasks


def partition_statistics(place: Place, X: Any, y: Any, weight: Any, shared: Shared) -> Waiting:
    """Make the statistics of one partition's blocks and merge those that belong together."""
    tree: MergeTree[Any] = MergeTree()
    with working_alone():
        for number, block in _numbered(place, X, y, weight):
            tree.add(number, shared.function(block, *shared.fixed))
    return tree.waiting


def merged(parts: list[Waiting]) -> Waiting:
    """Merge what several partitions have left to merge."""
    tree: MergeTree[Any] = MergeTree()
    with working_alone():
        for waiting in parts:
            for (level, number), statistic in sorted(
                waiting.items(), key=lambda item: item[0][1] << item[0][0]
            ):
                # Merging may change a statistic, and another task may have to read it again.
                tree.add(number, deepcopy(statistic), level)
    return tree.waiting


def partition_answers(place: Place, X: Any, y: Any, weight: Any, shared: Shared) -> Any:
    """Make the answers of one partition's rows."""
    numbered = _numbered(place, X, y, weight)
    with working_alone():
        return joined([shared.function(block, *shared.fixed) for _, block in numbered])


def some_blocks(place: Place, X: Any, y: Any, weight: Any, numbers: range) -> list[Block]:
    """Return the blocks with these numbers."""
    return [block for number, block in _numbered(place, X, y, weight) if number in numbers]


def some_rows(place: Place, X: Any, numbers: NDArray[np.int64]) -> Any:
    """Return rows of one partition, numbered from its first."""
    return read(place, X, None, None).take(numbers)


def _numbered(place: Place, X: Any, y: Any, weight: Any) -> Iterator[tuple[int, Block]]:
    for number, block in enumerate(read(place, X, y, weight).blocks(), place.first_block):
        yield number, block._replace(first_row=block.first_row + place.first_row)


def joined(pieces: list[Any]) -> Any:
    """Join answers in the order of the rows."""
    if any(hasattr(piece, "tocsr") for piece in pieces):
        from scipy.sparse import vstack

        return vstack(pieces, "csr")
    return aligned(pieces[0]) if len(pieces) == 1 else np.concatenate(pieces)


def _read_only(fixed: tuple[Any, ...]) -> tuple[Any, ...]:
    """Keep tasks from writing into what they are given, which would reach nobody from another process."""

    def view(value: Any) -> Any:
        if not isinstance(value, np.ndarray):
            return value
        seen = value.view()
        seen.flags.writeable = False
        return seen

    return tuple(map(view, fixed))


# Schedulers


def computed(nodes: list[Any], doing: str, parts: list[Any] | None = None) -> list[Any]:
    """Compute delayed nodes on the active scheduler; `parts` are the tasks that a bar counts."""
    import dask
    from dask.callbacks import Callback

    parts = [] if parts is None else parts
    with track(doing, total=len(parts) or None) as bar:
        try:
            client = _active_client() if type(bar) is not Bar else None
            if client is not None and parts:
                return _watched(client, nodes, parts, bar)
            keys = {part.key for part in parts}
            with Callback(posttask=lambda key, *rest: bar.advance(int(key in keys))):
                return list(dask.compute(*nodes))
        except Exception as error:
            if not _is_lost(error):
                raise
            raise RuntimeError(
                f"The Dask scheduler was lost while {doing}, and nothing was learned: connect a client to a "
                "running scheduler, and call the method again."
            ) from error


def placed(parts: list[Any]) -> list[Any]:
    """Send data in memory to the cluster, if there is one, once for all passes; a scheduler can send them again."""
    import dask

    if _active_client() is None:
        return parts
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}):
        return list(dask.persist(*parts))


def _watched(client: Any, nodes: list[Any], parts: list[Any], bar: Bar) -> list[Any]:
    """Compute on a cluster, and count the partitions as they are done; none is kept longer than needed."""
    from distributed import as_completed

    results, running = client.compute(nodes), as_completed(client.compute(parts))
    for _ in running:
        bar.advance()
    return list(client.gather(results))


def _active_client() -> Any:
    """Return the client of the cluster on which would be computed now, or None."""
    from dask.base import get_scheduler

    owner = getattr(get_scheduler(), "__self__", None)
    distributed = sys.modules.get("distributed")
    return owner if distributed is not None and isinstance(owner, distributed.Client) else None


def _is_lost(error: BaseException) -> bool:
    """Tell whether an error says that the scheduler has gone away, rather than that a task failed."""
    from concurrent.futures import CancelledError

    if "distributed" not in sys.modules:
        return False
    from distributed.comm import CommClosedError

    return isinstance(error, CancelledError | CommClosedError)
