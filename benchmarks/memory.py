"""The peak memory of one call, beyond what the process held before."""

import ctypes
import gc
import sys
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

KIB = 1024


class PeakMemory(NamedTuple):
    """Bytes beyond those held before the call.

    ``anonymous`` leaves out pages of mapped files, which the system can drop at will; it is sampled and so
    can miss a short peak, which ``resident``, kept by the kernel, cannot. ``how`` names the source.
    """

    resident: int
    anonymous: int | None
    how: str


def status(*fields: str) -> dict[str, int]:
    """Fields of ``/proc/self/status``, in bytes."""
    found = {}
    with open("/proc/self/status", encoding="ascii", errors="replace") as lines:
        for line in lines:
            name, _, value = line.partition(":")
            if name in fields:
                found[name] = int(value.split()[0]) * KIB
    return found


def high_water() -> int | None:
    """Largest resident memory of this process so far, in bytes."""
    if sys.platform == "win32":
        return None
    import resource

    unit = 1 if sys.platform == "darwin" else KIB
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def return_freed_memory() -> None:
    """Give back what the allocator keeps for later: a call that reuses it would seem to need no memory."""
    gc.collect()
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (AttributeError, OSError, TypeError):
        return


class AnonymousMemory:
    """Samples the anonymous memory of this process from a thread, while the ``with`` block runs.

    ``peak`` stays None if the block was shorter than the interval.
    """

    def __init__(self, interval: float = 0.002) -> None:
        self.interval = interval
        self.peak: int | None = None
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)

    def _sample(self) -> None:
        while not self._over.wait(self.interval):
            self.peak = max(self.peak or 0, status("RssAnon")["RssAnon"])

    def __enter__(self) -> "AnonymousMemory":
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._over.set()
        self._thread.join()


def peak_of(call: Callable[[], Any]) -> PeakMemory | None:
    """Peak memory of one call; None where the high-water mark cannot be reset (elsewhere than on Linux)."""
    return_freed_memory()
    try:
        with open("/proc/self/clear_refs", "w", encoding="ascii") as marks:
            marks.write("5")  # resets VmHWM to the present VmRSS
        before = status("VmRSS", "RssAnon")
    except OSError:
        return None
    with AnonymousMemory() as anonymous:
        result = call()
    resident = max(0, status("VmHWM")["VmHWM"] - before["VmRSS"])
    del result
    sampled = None if anonymous.peak is None else max(0, anonymous.peak - before["RssAnon"])
    return PeakMemory(resident, sampled, "VmHWM")
