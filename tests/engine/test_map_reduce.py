"""Map-reduce: statistics merge in one tree, whoever makes them and whenever they are ready."""

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from bisector.engine import map_reduce as module
from bisector.engine.blocks import Block
from bisector.engine.map_reduce import map_blocks, map_reduce
from bisector.engine.moments import Moments, block_moments, first_coordinates
from bisector.engine.sources import Source, source


class Bracketed(str):
    """A statistic that remembers how it was merged."""

    def merge(self, other: str) -> "Bracketed":
        return Bracketed(f"({self} {other})")


def name(block: Block, delays: Any = None) -> Bracketed:
    """Make the statistic of a block whose single value is its number."""
    (number,) = block.X[0]
    if delays is not None:
        time.sleep(delays[int(number)])
    return Bracketed(f"{number:.0f}")


def complete_tree(first: int, last: int) -> str:
    """Write out the tree over blocks first … last−1: the left part is the largest power of two below."""
    count = last - first
    if count == 1:
        return str(first)
    left = 1
    while 2 * left < count:
        left *= 2
    return f"({complete_tree(first, first + left)} {complete_tree(first + left, last)})"


def one_row_a_block(n_blocks: int) -> Source:
    return source(np.arange(float(n_blocks))[:, None], block_rows=1)


def test_the_tree_written_out_is_what_it_should_be() -> None:
    assert complete_tree(0, 7) == "(((0 1) (2 3)) ((4 5) 6))"


@pytest.mark.parametrize("n_jobs", [1, 2, 8])
def test_statistics_merge_in_the_complete_binary_tree(n_jobs: int) -> None:
    for n_blocks in range(1, 41):
        assert map_reduce(name, one_row_a_block(n_blocks), n_jobs=n_jobs) == complete_tree(0, n_blocks)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n_jobs", [2, 8])
def test_the_tree_does_not_depend_on_who_is_ready_first(n_jobs: int, seed: int) -> None:
    delays = np.random.default_rng(seed).exponential(1e-3, 37)
    assert map_reduce(name, one_row_a_block(37), delays, n_jobs=n_jobs) == complete_tree(0, 37)


@pytest.mark.parametrize("n_jobs", [1, 2, 8])
def test_the_tree_is_over_blocks_when_the_data_come_in_parts(n_jobs: int, tmp_path: Path) -> None:
    table = pa.table({"x": np.arange(23.0)})
    pa.parquet.write_table(table, tmp_path / "t.parquet", row_group_size=5)
    rows = source(tmp_path / "t.parquet", block_rows=1)
    delays = np.random.default_rng(n_jobs).exponential(1e-3, 23)
    assert map_reduce(name, rows, delays, n_jobs=n_jobs) == complete_tree(0, 23)


def slow_moments(block: Block, delays: Any, *coordinates: Any) -> Moments:
    time.sleep(delays[block.first_row])
    return block_moments(block, *coordinates)


@pytest.mark.parametrize("stored", ["array", "Parquet"])
def test_any_number_of_threads_gives_the_same_bits(stored: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.lognormal(0, 4, (1500, 7)), rng.normal(size=1500)
    held: Any = X
    if stored == "Parquet":
        pa.parquet.write_table(pa.table(list(X.T), names=list("abcdefg")), tmp_path / "t", row_group_size=130)
        held = tmp_path / "t"
    rows = source(held, y, block_rows=64)
    bits = set()
    for n_jobs in (1, 2, 8):
        delays = rng.exponential(1e-3, 1500)
        found = map_reduce(slow_moments, rows, delays, *first_coordinates(rows), n_jobs=n_jobs)
        bits.add(b"".join(part.tobytes() for part in (found.x, found.y, found.xx, found.xy, found.yy)))
    assert len(bits) == 1


def scores(block: Block, delays: Any, factor: float) -> Any:
    time.sleep(delays[block.first_row])
    return block.X[:, 0] * factor


@pytest.mark.parametrize("n_jobs", [1, 2, 8])
@pytest.mark.parametrize("block_rows", [1, 3, 20])
def test_map_blocks_joins_results_in_the_order_of_the_rows(n_jobs: int, block_rows: int) -> None:
    delays = np.random.default_rng(0).exponential(1e-3, 20)
    rows = source(np.arange(20.0)[:, None], block_rows=block_rows)
    np.testing.assert_array_equal(
        map_blocks(scores, rows, delays, 10.0, n_jobs=n_jobs), 10.0 * np.arange(20.0)
    )


def test_the_error_of_the_first_bad_block_comes_out() -> None:
    def refuse_large(block: Block) -> Bracketed:
        if block.first_row >= 5:
            raise ValueError(f"block {block.first_row}")
        return name(block)

    for n_jobs in (1, 2, 8):
        with pytest.raises(ValueError, match="block 5"):
            map_reduce(refuse_large, one_row_a_block(30), n_jobs=n_jobs)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_bar_goes_to_its_end(monkeypatch: pytest.MonkeyPatch, n_jobs: int, tmp_path: Path) -> None:
    bars: list[tuple[str, int, list[int]]] = []

    @contextlib.contextmanager
    def record(description: str, total: int) -> Iterator[Any]:
        steps: list[int] = []
        bars.append((description, total, steps))
        yield type("Bar", (), {"advance": lambda self, count: steps.append(count)})()

    monkeypatch.setattr(module, "track", record)
    map_reduce(name, one_row_a_block(37), n_jobs=n_jobs, doing="naming")
    map_blocks(lambda block: block.X, one_row_a_block(5), n_jobs=n_jobs)
    assert [(description, total) for description, total, _ in bars] == [("naming", 37), ("predicting", 5)]
    assert [sum(steps) for _, _, steps in bars] == [37, 5]
