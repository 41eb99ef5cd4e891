"""What happens when a worker dies, or the scheduler."""

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
import pytest

from bisector import LinearRegression
from bisector.engine.blocks import Block
from bisector.engine.map_reduce import map_reduce
from bisector.engine.moments import block_moments, first_coordinates
from bisector.engine.sources import source

distributed = pytest.importorskip("distributed")

RNG = np.random.default_rng(7)
X = RNG.normal(size=(40000, 6))
Y = X @ RNG.normal(size=6) + RNG.normal(size=len(X))


def moments_or_death(block: Block, of_x: Any, of_y: Any, marker: str) -> Any:
    """Make moments; the first task that comes to the middle of the rows takes its process with it."""
    if block.first_row >= 20000 and not os.path.exists(marker):
        Path(marker).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return block_moments(block, of_x, of_y)


def test_a_worker_that_dies_changes_nothing(two_workers: Any, tmp_path: Path) -> None:
    marker = tmp_path / "died"
    rows = source(da.from_array(X, chunks=(4000, 6)), Y)
    with distributed.Client(two_workers):
        of_x, of_y = first_coordinates(rows)
        undisturbed = map_reduce(block_moments, rows, of_x, of_y)
        found = map_reduce(moments_or_death, rows, of_x, of_y, str(marker))
    assert marker.exists()
    assert np.array_equal(found.xx, undisturbed.xx)
    assert np.array_equal(found.xy, undisturbed.xy)
    assert found.n_rows == len(X)


def test_an_error_in_a_task_is_the_users_to_see(two_workers: Any) -> None:
    with distributed.Client(two_workers), pytest.raises(ZeroDivisionError):
        map_reduce(divide_by_zero, source(da.from_array(X, chunks=(4000, 6))))


def divide_by_zero(block: Block) -> Any:
    return 1 / 0


def wait_for(event_file: str, chunk: np.ndarray) -> np.ndarray:
    Path(event_file).touch()
    time.sleep(2)
    return chunk


def test_a_lost_scheduler_is_one_clear_error_and_nothing_is_learned(tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0", silence_logs=50
        ) as cluster,
        distributed.Client(cluster, timeout="2s"),
    ):
        lazy = da.from_array(X, chunks=(4000, 6)).map_blocks(
            lambda chunk: wait_for(str(begun), chunk), dtype=float
        )
        model = LinearRegression().fit(X, Y)
        before = vars(model).copy()

        def end() -> None:
            while not begun.exists():
                time.sleep(0.05)
            cluster.sync(cluster.scheduler.close)

        closing = threading.Thread(target=end)
        closing.start()
        with pytest.raises(
            RuntimeError, match=r"The Dask scheduler was lost while .*, and nothing was learned"
        ):
            model.fit(lazy, Y)
        closing.join()
        assert vars(model) == before
