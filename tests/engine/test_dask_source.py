"""Dask collections as sources: shapes, blocks, rows taken, and statistics in the one tree."""

from collections.abc import Iterator
from typing import Any

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import bisector
from bisector.engine.blocks import Block
from bisector.engine.columns import Column
from bisector.engine.dask_source import Outline, aligned
from bisector.engine.map_reduce import map_blocks, map_reduce
from bisector.engine.row_sums import rows_with_weight, total_weight, weight_by_class
from bisector.engine.sources import source
from bisector.engine.threads import inside_worker

TABLE = np.arange(60.0).reshape(20, 3)


@pytest.fixture(autouse=True)
def _here() -> Iterator[None]:
    with dask.config.set(scheduler="synchronous"):
        yield


def lazy(chunks: Any = (7, 0, 13)) -> Any:
    return da.from_array(TABLE, chunks=(chunks, 3))


class Bracketed(str):
    """A statistic that remembers how it was merged."""

    def merge(self, other: str) -> "Bracketed":
        return Bracketed(f"({self} {other})")


def name(block: Block) -> Bracketed:
    return Bracketed(f"{block.first_row}")


@pytest.mark.parametrize("chunks", [1, 2, 3, (7, 0, 13), 20, (0, 20)])
@pytest.mark.parametrize("block_rows", [1, 2, 3, 8])
def test_statistics_merge_in_the_same_tree_as_in_memory(chunks: Any, block_rows: int) -> None:
    rows = source(lazy(chunks), block_rows=block_rows)
    here = source(TABLE)
    vars(here)["boundaries"] = rows.boundaries
    assert map_reduce(name, rows) == map_reduce(name, here)


def test_many_partitions_merge_by_more_than_one_level_of_tasks() -> None:
    table = np.arange(200.0)[:, None]
    rows = source(da.from_array(table, chunks=(1, 1)), block_rows=1)
    assert map_reduce(name, rows) == map_reduce(name, source(table, block_rows=1))


def test_the_source_knows_its_shape() -> None:
    rows = source(lazy(), y=np.arange(20), sample_weight=np.ones(20), block_rows=5)
    assert (rows.n_rows, rows.n_features, rows.dtype, rows.partitions) == (20, 3, np.float64, [7, 0, 13])
    assert rows.boundaries.tolist() == [0, 5, 7, 12, 17, 20]
    blocks = list(rows.blocks())
    assert [block.first_row for block in blocks] == [0, 5, 7, 12, 17]
    assert np.array_equal(np.concatenate([block.X for block in blocks]), TABLE)
    assert np.array_equal(np.concatenate([block.y for block in blocks]), np.arange(20))
    (one,) = rows.blocks(range(2, 3))
    assert np.array_equal(one.X, TABLE[7:12])


def test_rows_are_taken_in_the_order_asked_for_from_the_chunks_that_have_them() -> None:
    read = []

    def note(chunk: Any, block_id: Any = None) -> Any:
        read.append(block_id[0])
        return chunk

    rows = source(lazy((5, 5, 5, 5)).map_blocks(note, dtype=float, meta=np.empty((0, 0))))
    read.clear()
    assert np.array_equal(rows.take([17, 3, -1, 3]), TABLE[[17, 3, 19, 3]])
    assert sorted(read) == [0, 3]
    assert np.array_equal(rows.take(np.arange(20) % 2 == 0), TABLE[::2])
    with pytest.raises(IndexError, match="row 20 was asked for"):
        rows.take([20])


def test_columns_cut_into_several_chunks_are_joined() -> None:
    rows = source(da.from_array(TABLE, chunks=(7, 2)))
    assert np.array_equal(map_blocks(whole, rows), TABLE)


def whole(block: Block) -> Any:
    return block.dense


def test_integers_become_floats_and_sparse_chunks_stay_sparse() -> None:
    assert source(da.from_array(TABLE.astype(np.int32), chunks=(7, 3))).dtype == np.float64
    rows = source(lazy((10, 10)).map_blocks(sp.csr_array, dtype=float))
    assert all(sp.issparse(block.X) for block in rows.blocks())
    assert np.array_equal(map_blocks(whole, rows), TABLE)
    assert np.array_equal(rows.take([3, 1]).toarray(), TABLE[[3, 1]])


def test_dataframes_and_delayed_frames_know_their_names() -> None:
    frame = pd.DataFrame(TABLE, columns=["a", "b", "c"]).astype({"a": "Int64", "b": "float32"})
    for made in (dd.from_pandas(frame, npartitions=3), [dask.delayed(frame[:9]), dask.delayed(frame[9:])]):
        rows = source(made, y="c")
        assert (rows.feature_names, rows.n_targets, rows.single_target) == (["a", "b"], 1, True)
        assert np.array_equal(map_blocks(whole, rows), TABLE[:, :2])
        assert np.array_equal(np.concatenate([block.y for block in rows.blocks()]), TABLE[:, 2])


def test_single_precision_frames_stay_so() -> None:
    frame = pd.DataFrame(TABLE.astype(np.float32), columns=list("abc"))
    assert source(dd.from_pandas(frame, npartitions=2)).dtype == np.float32


def test_sums_beside_the_rows_are_those_of_memory() -> None:
    weight, codes = np.linspace(0, 1, 20), np.arange(20) % 3
    rows = source(lazy(), da.from_array(codes, chunks=6), da.from_array(weight, chunks=9))
    here = source(TABLE, codes, weight)
    assert total_weight(rows) == pytest.approx(weight.sum(), rel=1e-15)
    assert rows_with_weight(rows) == rows_with_weight(here) == 19
    np.testing.assert_allclose(weight_by_class(rows, 3), np.bincount(codes, weight), rtol=1e-15)


def test_columns_are_gathered_only_within_the_budget() -> None:
    rows = source(lazy(), da.from_array(np.arange(20), chunks=6))
    assert isinstance(rows.y, Column)
    with bisector.config(memory=100), pytest.raises(MemoryError, match="Gathering a column of 20 rows"):
        np.asarray(rows.y)
    assert np.array_equal(np.asarray(rows.y), np.arange(20))
    assert np.array_equal(rows.y[[3, 5]], [3, 5])
    assert np.array_equal(rows.y > 10, np.arange(20) > 10)
    with (
        bisector.config(memory=100),
        pytest.raises(MemoryError, match="Gathering 20 rows of a Dask collection"),
    ):
        rows.take(np.arange(20))


def test_a_source_travels_as_an_outline() -> None:
    import pickle

    rows = source(lazy(), block_rows=5)
    assert pickle.loads(pickle.dumps(rows)) == Outline(20, 3, 5, np.dtype(float))


def test_tasks_use_one_thread_and_cannot_write_into_what_they_share() -> None:
    rows, kept = source(lazy()), np.zeros(20)
    assert map_blocks(alone, rows).all()
    with pytest.raises(ValueError, match="read-only"):
        map_blocks(write, rows, kept)
    assert not inside_worker()


def alone(block: Block) -> Any:
    return np.full(len(block.X), inside_worker())


def write(block: Block, kept: Any) -> Any:
    kept[block.first_row] = 1.0
    return block.X


def test_arrays_that_lie_anywhere_are_aligned() -> None:
    raw = np.zeros(8 * 5 + 1, np.uint8)[1:].view(np.float64)
    assert not raw.flags.aligned
    assert aligned(raw).flags.aligned
    assert aligned(TABLE) is TABLE


def test_a_collection_that_changes_is_refused() -> None:
    sizes = iter([5, 5, 5, 6])
    parts = [dask.delayed(lambda: np.zeros((next(sizes), 3)), pure=False)() for _ in range(2)]
    rows = source(parts)
    with pytest.raises(ValueError, match="let the collection give the same rows each time"):
        map_blocks(whole, rows)


def test_the_bar_counts_partitions(monkeypatch: pytest.MonkeyPatch) -> None:
    from bisector.engine import dask_passes

    class Counting:
        steps = 0

        def __enter__(self) -> "Counting":
            return self

        def __exit__(self, *error: Any) -> None: ...

        def advance(self, steps: int = 1, note: str = "") -> None:
            self.steps += steps

    bar = Counting()
    monkeypatch.setattr(dask_passes, "track", lambda *args, **kwargs: bar)
    map_blocks(whole, source(lazy((5, 5, 5, 5))))
    assert bar.steps == 4
