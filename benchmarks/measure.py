"""The clocks: wall time, own processor time, and what the machine did meanwhile for others."""

import gc
import os
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple


class Turn(NamedTuple):
    """One turn of one contestant: `calls` calls on end.

    ``cpu`` is the processor time of the process and of its ended children; ``busy`` the whole machine's,
    where the system tells it.
    """

    calls: int
    wall: float
    cpu: float
    busy: float | None

    @property
    def seconds(self) -> float:
        """Seconds a call."""
        return self.wall / self.calls


def cpu_seconds() -> float:
    """Processor time of this process, its threads and its ended children."""
    if sys.platform == "win32":
        return time.process_time()
    import resource

    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def busy_seconds() -> float | None:
    """Seconds that all processors together have worked for anyone since the machine started.

    Time stolen by other guests of the same host counts. None where the system does not tell.
    """
    try:
        with open("/proc/stat", encoding="ascii") as stat:
            user, nice, system, _idle, _iowait, irq, softirq, steal = map(int, stat.readline().split()[1:9])
    except (OSError, ValueError):
        return None
    return (user + nice + system + irq + softirq + steal) / float(os.sysconf("SC_CLK_TCK"))


def time_calls(call: Callable[[], Any], calls: int = 1) -> tuple[Turn, Any]:
    """Call `calls` times, and return the times and the last result."""
    gc.collect()
    result = None
    busy_before, cpu_before, start = busy_seconds(), cpu_seconds(), time.perf_counter()
    for _ in range(calls):
        result = call()
    wall, cpu, busy_after = time.perf_counter() - start, cpu_seconds() - cpu_before, busy_seconds()
    busy = None if busy_before is None or busy_after is None else busy_after - busy_before
    return Turn(calls, wall, cpu, busy), result


def settle(limit: float = 1.0) -> None:
    """Wait until this process's threads are asleep, at most `limit` seconds.

    Thread pools spin for a while after a call (Intel's OpenMP for 0.2 s): the rival, whose turn is next,
    would pay for it.
    """
    nap, asleep = 0.02, 0.1
    deadline = time.perf_counter() + limit
    while time.perf_counter() < deadline:
        before = time.process_time()
        time.sleep(nap)
        if time.process_time() - before < asleep * nap:
            return
