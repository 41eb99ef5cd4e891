"""Sources: every kind of X is read in the same rows, cut where only the shape of the data decides."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings, strategies as st

import bisector
from bisector.engine.blocks import (
    CACHE_BYTES,
    FEW_BLOCKS,
    LARGEST_BYTES,
    ColumnsInPlace,
    cut,
    equal_shares,
    rows_per_block,
)
from bisector.engine.sources import refuse_collections, source
from bisector.engine.upright_loops import stand_upright

N_ROWS = 11
TABLE = np.random.default_rng(0).integers(-9, 10, (N_ROWS, 4)).astype(float)
TABLE[:, 1] = 0.0
TARGETS = np.arange(N_ROWS, dtype=float)
WEIGHTS = np.linspace(1.0, 2.0, N_ROWS)


def dense(X: Any) -> np.ndarray[Any, Any]:
    return X.toarray() if hasattr(X, "toarray") else X


# What every kind has in common


def test_shape_dtype_and_names_are_known_before_reading(kind: Any, tmp_path: Path) -> None:
    rows = source(kind.make(TABLE, tmp_path))
    assert (rows.n_rows, rows.n_features, rows.dtype) == (N_ROWS, 4, kind.dtype)
    if kind.named:
        assert rows.feature_names == ["x0", "x1", "x2", "x3"]


@settings(deadline=None, max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(block_rows=st.integers(1, N_ROWS + 2))
def test_blocks_make_up_the_whole_as_often_as_they_are_read(
    kind: Any, tmp_path: Path, block_rows: int
) -> None:
    rows = source(kind.make(TABLE, tmp_path), TARGETS, WEIGHTS, block_rows=block_rows)
    for _ in range(2):
        blocks = list(rows.blocks())
        assert [block.first_row for block in blocks] == rows.boundaries[:-1].tolist()
        assert all(1 <= block.X.shape[0] <= block_rows for block in blocks)
        assert all(hasattr(block.X, "tocsr") == kind.sparse for block in blocks)
        assert all(block.X.dtype == kind.dtype and block.X.dtype.isnative for block in blocks)
        np.testing.assert_array_equal(np.vstack([dense(block.X) for block in blocks]), TABLE)
        np.testing.assert_array_equal(np.concatenate([block.y for block in blocks]), TARGETS)
        np.testing.assert_array_equal(np.concatenate([block.sample_weight for block in blocks]), WEIGHTS)


def test_any_run_of_blocks_can_be_read_alone(kind: Any, tmp_path: Path) -> None:
    rows = source(kind.make(TABLE, tmp_path), TARGETS, block_rows=2)
    for first in range(rows.n_blocks):
        for last in range(first, rows.n_blocks + 1):
            blocks = list(rows.blocks(range(first, last)))
            assert [block.first_row for block in blocks] == rows.boundaries[first:last].tolist()
            for block in blocks:
                here = slice(block.first_row, block.first_row + block.X.shape[0])
                np.testing.assert_array_equal(dense(block.X), TABLE[here])
                np.testing.assert_array_equal(block.y, TARGETS[here])


def test_groups_hold_every_block_once_and_in_order(kind: Any, tmp_path: Path) -> None:
    rows = source(kind.make(TABLE, tmp_path), block_rows=2)
    for size in (1, 2, 100):
        assert [number for group in rows.groups(size) for number in group] == list(range(rows.n_blocks))


def test_take_is_fancy_indexing(kind: Any, tmp_path: Path) -> None:
    rows = source(kind.make(TABLE, tmp_path), block_rows=3)
    for wanted in ([4], [10, 0, 7, 7, 3], [-1, -N_ROWS], TARGETS > 4, TARGETS < 0, np.uint8([2, 1])):
        taken = rows.take(wanted)
        assert taken.dtype == kind.dtype
        np.testing.assert_array_equal(dense(taken), TABLE[wanted])
    assert rows.take([]).shape == (0, 4)


def test_rows_of_a_long_source_are_taken_by_short_integers() -> None:
    X = np.arange(300.0)[:, None]
    np.testing.assert_array_equal(source(X).take(np.int8([-1, 3])), [[299.0], [3.0]])
    np.testing.assert_array_equal(source(X).take(np.uint8([255])), [[255.0]])


def test_take_refuses_what_is_no_row(kind: Any, tmp_path: Path) -> None:
    rows = source(kind.make(TABLE, tmp_path))
    for wanted in ([N_ROWS], [0, -N_ROWS - 1], [0.0], [True, False], [[0]]):
        with pytest.raises(IndexError, match="row"):
            rows.take(wanted)


def test_the_walk_through_the_rows_is_in_order(kind: Any, tmp_path: Path) -> None:
    walk = list(source(kind.make(TABLE, tmp_path), TARGETS, WEIGHTS, block_rows=4).rows())
    assert [one.first_row for one in walk] == list(range(N_ROWS))
    np.testing.assert_array_equal(np.vstack([dense(one.X) for one in walk]), TABLE)
    np.testing.assert_array_equal(np.concatenate([one.y for one in walk]), TARGETS)
    np.testing.assert_array_equal(np.concatenate([one.sample_weight for one in walk]), WEIGHTS)


def test_x_is_not_changed_and_not_copied_as_a_whole() -> None:
    for X in (TABLE, np.asfortranarray(TABLE), TABLE.astype(np.float32)):
        before = X.copy()
        assert all(np.shares_memory(block.X, X) for block in source(X, block_rows=3).blocks())
        np.testing.assert_array_equal(X, before)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, ">f8", np.int64])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("frame", [False, True])
def test_columns_that_stand_in_memory_may_be_left_there(dtype: Any, order: Any, frame: bool) -> None:
    """Where blocks leave them there, they have the same rows, targets and weights."""
    X = np.arange(60.0).reshape(20, 3).astype(dtype, order=order)
    if frame:
        X = pl.DataFrame(X.astype(X.dtype.newbyteorder("=")), schema=["a", "b", "c"])
    made = source(X, np.arange(20.0), np.arange(20), block_rows=6)
    in_columns = made.in_columns()
    in_place = np.dtype(dtype).kind == "f" and (frame or (np.dtype(dtype).isnative and order == "F"))
    for usual, block in zip(made.blocks(), in_columns.blocks(), strict=True):
        assert isinstance(block.X, ColumnsInPlace) == in_place
        rows = block.X
        if in_place:
            rows = np.empty(block.X.shape, block.X.dtype)
            stand_upright(block.X.addresses[0], block.X.first, block.X.n_rows, rows, 0)
        assert block.first_row == usual.first_row
        for ours, theirs in ((rows, usual.X), (block.y, usual.y), (block.sample_weight, usual.sample_weight)):
            np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(in_columns.take([19, 3]), made.take([19, 3]))


@pytest.mark.parametrize("memory", ["1 MB", "1 GB"])
@pytest.mark.parametrize(
    ("make", "is_looked_at"),
    [
        (lambda X: X, True),
        (np.asfortranarray, True),
        (lambda X: X.astype(int), False),
        (lambda X: X[:, ::2], True),
        (lambda X: pl.DataFrame(X), False),
    ],
    ids=["rows", "columns", "integers", "with gaps", "frame"],
)
def test_rows_made_for_a_fit_that_reads_often_are_kept(make: Any, is_looked_at: bool, memory: str) -> None:
    """They are there already, or made once if there is room, or in every pass."""
    X = np.arange(80_000.0).reshape(20_000, 4)
    with bisector.config(memory=memory):
        made = source(make(X))
        once = [block.X for block in made.blocks()]
        made.read_often = True
        passes = [[block.X for block in made.blocks()] for _ in range(2)]
    for first, second, usual in zip(*passes, once, strict=True):
        assert np.shares_memory(first, second) == (is_looked_at or memory == "1 GB")
        assert first.flags.c_contiguous or memory == "1 MB"
        np.testing.assert_array_equal(first, usual)


def test_a_mask_is_read_as_zeros_and_ones() -> None:
    (block,) = source(TABLE > 0).blocks()
    np.testing.assert_array_equal(block.X, (TABLE > 0).astype(float))
    (block,) = source(sp.csr_array(TABLE > 0)).blocks()
    np.testing.assert_array_equal(block.X.toarray(), (TABLE > 0).astype(float))


def test_several_targets_are_cut_along() -> None:
    both = np.column_stack([TARGETS, -TARGETS])
    rows = source(TABLE, both, block_rows=4)
    assert not rows.single_target
    np.testing.assert_array_equal(np.vstack([block.y for block in rows.blocks()]), both)
    assert source(TABLE, TARGETS).single_target


# Where blocks are cut


def test_boundaries_of_partitions() -> None:
    assert cut([10], 4).tolist() == [0, 4, 8, 10]
    assert cut([8], 4).tolist() == [0, 4, 8]
    assert cut([5, 0, 4, 1], 4).tolist() == [0, 4, 5, 9, 10]
    assert cut([0, 0], 4).tolist() == [0]
    assert cut([], 4).tolist() == [0]


@given(partitions=st.lists(st.integers(0, 20), max_size=8), block_rows=st.integers(1, 25))
def test_blocks_fill_every_partition_and_cross_no_border(partitions: list[int], block_rows: int) -> None:
    boundaries = cut(partitions, block_rows).tolist()
    assert set(np.cumsum([0, *partitions]).tolist()) <= set(boundaries)
    lengths = np.diff(boundaries)
    assert sum(lengths) == sum(partitions)
    assert ((lengths >= 1) & (lengths <= block_rows)).all()
    assert len(lengths) == sum(-(-rows // block_rows) for rows in partitions)


@given(n_features=st.integers(0, 10**7), itemsize=st.sampled_from([4, 8]))
def test_a_block_has_a_power_of_two_rows_and_is_no_burden(n_features: int, itemsize: int) -> None:
    rows = rows_per_block(n_features, itemsize)
    assert rows >= 1
    assert rows & (rows - 1) == 0
    assert rows == 1 or rows * n_features * itemsize <= LARGEST_BYTES
    assert n_features * itemsize == 0 or rows * n_features * itemsize * 2 > min(CACHE_BYTES, LARGEST_BYTES)


@given(n_rows=st.integers(1, 10**6), power=st.integers(10, 20))
def test_few_blocks_are_equal_shares(n_rows: int, power: int) -> None:
    usual = 2**power
    rows = equal_shares(n_rows, usual)
    blocks = np.diff(cut([n_rows], rows))
    if 1 < n_rows / usual < FEW_BLOCKS:
        assert len(blocks) & (len(blocks) - 1) == 0
        assert rows <= 1.5 * usual
        assert blocks.min() > rows - len(blocks)
    else:
        assert rows == usual


def test_boundaries_depend_on_shape_dtype_and_partitions_alone(kinds: Any, tmp_path: Path) -> None:
    shape = (5000, 100)
    plain = source(np.zeros(shape)).boundaries
    assert len(plain) > 2
    for other in (
        np.ones(shape, order="F"),
        np.zeros(shape, dtype=np.int8),
        np.random.default_rng(0).random(shape),
    ):
        np.testing.assert_array_equal(source(other).boundaries, plain)
    np.testing.assert_array_equal(source(kinds["pandas"].make(np.zeros(shape), tmp_path)).boundaries, plain)
    path = kinds["Parquet path"].make(np.zeros(shape), tmp_path)
    np.testing.assert_array_equal(source(path).boundaries, plain)
    assert source(np.zeros(shape, dtype=np.float32)).n_blocks < len(plain) - 1


def test_no_block_crosses_the_border_of_a_row_group(kinds: Any, tmp_path: Path) -> None:
    rows = source(kinds["Parquet row groups"].make(TABLE, tmp_path), block_rows=3)
    assert rows.partitions == [4, 4, 3]
    assert rows.boundaries.tolist() == [0, 3, 4, 7, 8, 11]
    assert rows.groups(100) == [range(2), range(2, 4), range(4, 5)]


# What is refused


class DaskLike:
    """What would silently be gathered as a whole."""

    shape = TABLE.shape

    def __dask_graph__(self) -> dict[str, Any]:
        return {}

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray[Any, Any]:
        raise AssertionError("the collection was converted")


def test_a_dask_collection_is_never_gathered() -> None:
    with pytest.raises(
        TypeError, match="Rows cannot be read from a Dask DaskLike: pass an array, a dataframe"
    ):
        source(DaskLike())
    with pytest.raises(TypeError, match=r"needs all rows in memory: pass X.compute\(\), if that fits"):
        refuse_collections([DaskLike()])


@pytest.mark.parametrize("X", [np.zeros(3), np.zeros((2, 2, 2)), 5.0, sp.coo_array(np.ones(3))], ids=repr)
def test_x_must_have_rows_and_columns(X: Any) -> None:
    with pytest.raises(ValueError, match="two dimensions"):
        source(X)


def test_what_lies_beside_x_must_have_its_rows() -> None:
    with pytest.raises(ValueError, match="X has 11 rows but y has 3"):
        source(TABLE, [1, 2, 3])
    with pytest.raises(ValueError, match="X has 11 rows but sample_weight has 12"):
        source(TABLE, TARGETS, np.ones(12))
    for scalar in (5.0, sp.csr_array(TABLE)):
        with pytest.raises(ValueError, match="y must be an array with one entry for each of the 11 rows"):
            source(TABLE, scalar)


@pytest.mark.parametrize("y", ["target", ["a", "b"]])
@pytest.mark.parametrize("X", [TABLE, sp.csr_array(TABLE), TABLE.tolist()], ids=["array", "sparse", "lists"])
def test_columns_of_an_array_cannot_be_named(X: Any, y: Any) -> None:
    with pytest.raises(TypeError, match=r"names columns, but X is a .*, whose columns have no names"):
        source(X, y)
