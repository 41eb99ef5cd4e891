"""Clusters of real processes, each made once for the tests of a module."""

import os
from collections.abc import Iterator
from typing import Any

import pytest

distributed = pytest.importorskip("distributed")

# Worker processes begin with what they inherit: no test needs more than one thread of BLAS in them.
_QUIET = {
    "distributed.logging.distributed": "critical",
    "distributed.admin.large-graph-warning-threshold": "1GB",
    "distributed.comm.timeouts.connect": "5s",
}


def _cluster(n_workers: int) -> Iterator[Any]:
    import dask

    with (
        dask.config.set(_QUIET),
        distributed.LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            processes=True,
            dashboard_address=":0",
            silence_logs=50,
            local_directory=os.environ.get("TMPDIR", "/tmp"),
        ) as cluster,
    ):
        yield cluster


@pytest.fixture
def here() -> Iterator[None]:
    """Collections are computed in this process, one task after the other."""
    import dask

    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture(scope="session")
def two_workers() -> Iterator[Any]:
    """A cluster of two processes, to which tests connect clients of their own."""
    yield from _cluster(2)


@pytest.fixture(scope="session")
def four_workers() -> Iterator[Any]:
    """A cluster of four processes."""
    yield from _cluster(4)


@pytest.fixture(params=["synchronous", "threads", "two workers", "four workers"])
def scheduler(request: pytest.FixtureRequest) -> Iterator[str]:
    """Every kind of scheduler, active."""
    import dask

    if request.param.endswith("workers"):
        cluster = request.getfixturevalue(request.param.replace(" ", "_"))
        with distributed.Client(cluster, set_as_default=True):
            yield request.param
    else:
        with dask.config.set(scheduler=request.param):
            yield request.param
