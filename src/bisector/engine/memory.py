"""How much memory a fit may plan for, and the refusal of what would not fit.

Before it allocates something large, an algorithm calls `require`; what exceeds the budget is refused in one
sentence that says how much is needed and what to do instead, while nothing has been allocated yet. The
budget is what the user set with ``bisector.config(memory=...)``, or most of what is free now.
"""

import ctypes
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from bisector.engine.settings import current

# Part of what is free is left to the interpreter, to BLAS, and to the other programs of the machine.
SHARE_OF_FREE = 0.8

# Where neither the system nor the user says how much there is, a guess that any machine of today can hold.
_UNKNOWN = 2 * 1024**3

# What a measured budget always grants: measuring would cost more than the fit that asks.
_ALWAYS_FITS = 64_000_000

_ROOT = Path("/")


def require(n_bytes: int, *, doing: str, instead: str, holding: str = "") -> None:
    """Refuse, before anything is allocated, what would exceed the memory budget.

    Parameters
    ----------
    n_bytes : int
        What is about to be allocated.
    doing : str
        Who asks, as the beginning of a sentence: "Fitting LinearRegression on 200,000 features".
    instead : str
        What the user can do about it, as an advice: "use fewer features".
    holding : str, default=""
        What the memory would hold: "its 200,000 × 200,000 Gram matrix".

    Raises
    ------
    MemoryError
        If `n_bytes` exceeds `budget()`.

    Examples
    --------
    >>> import bisector
    >>> with bisector.config(memory="1 GiB"):
    ...     require(8 * 200_000**2, doing="Comparing all rows", instead="use a sample of the rows",
    ...             holding="200,000 × 200,000 distances")
    Traceback (most recent call last):
    ...
    MemoryError: Comparing all rows needs 298 GiB for 200,000 × 200,000 distances, but the memory budget is
    1 GiB. Use a sample of the rows, or raise the budget with bisector.config(memory=...).
    """
    if n_bytes <= _ALWAYS_FITS and current().memory is None:
        return
    limit = budget()
    if n_bytes <= limit:
        return
    needs = f"needs {readable(n_bytes)}" + (f" for {holding}" if holding else "")
    raise MemoryError(
        f"{_capitalized(doing)} {needs}, but the memory budget is {readable(limit)}. "
        f"{_capitalized(instead).rstrip('.')}, or raise the budget with bisector.config(memory=...)."
    )


def budget() -> int:
    """Return the bytes a fit may plan to use: the configured ones, or 80 % of what is free now."""
    configured = current().memory
    return configured if configured is not None else int(SHARE_OF_FREE * available())


def readable(n_bytes: int) -> str:
    """Write a size with three digits, in binary units.

    Examples
    --------
    >>> readable(8 * 200_000**2)
    '298 GiB'
    >>> readable(640)
    '640 B'
    """
    size: float = n_bytes
    units = iter(["B", "KiB", "MiB", "GiB", "TiB", "PiB"])
    unit = next(units)
    while size >= 999.5 and (larger := next(units, None)):
        size, unit = size / 1024, larger
    return f"{size:.3g} {unit}" if size < 999.5 else f"{size:.0f} {unit}"


def available(root: Path = _ROOT) -> int:
    """Return the bytes that are free now: on the machine, and below every limit of this process's container.

    Parameters
    ----------
    root : Path, default=Path("/")
        The folder under which ``proc`` and ``sys`` are read.
    """
    return max(0, min([_free_on_machine(root), *_free_below_limits(root)]))


def _free_on_machine(root: Path) -> int:
    """On Linux, what the kernel thinks can be allocated without swapping; elsewhere, what the system says."""
    kilobytes = _figures(root / "proc/meminfo").get("MemAvailable:")
    return 1024 * kilobytes if kilobytes is not None else _free_by_system_call()


def _free_by_system_call() -> int:
    if sys.platform == "win32":
        status = _MemoryStatus(dwLength=ctypes.sizeof(_MemoryStatus))
        known = ctypes.windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status))
        return int(status.ullAvailPhys) if known else _UNKNOWN
    # macOS says only how much is built in; half of it is commonly free.
    for name, share in [("SC_AVPHYS_PAGES", 1.0), ("SC_PHYS_PAGES", 0.5)]:
        if name in os.sysconf_names and (pages := os.sysconf(name)) > 0:
            return int(share * pages * os.sysconf("SC_PAGE_SIZE"))
    return _UNKNOWN


class _MemoryStatus(ctypes.Structure):
    """MEMORYSTATUSEX of the Windows interface."""

    _fields_ = [
        ("dwLength", ctypes.c_uint32),
        ("dwMemoryLoad", ctypes.c_uint32),
        ("ullTotalPhys", ctypes.c_uint64),
        ("ullAvailPhys", ctypes.c_uint64),
        ("ullTotalPageFile", ctypes.c_uint64),
        ("ullAvailPageFile", ctypes.c_uint64),
        ("ullTotalVirtual", ctypes.c_uint64),
        ("ullAvailVirtual", ctypes.c_uint64),
        ("ullAvailExtendedVirtual", ctypes.c_uint64),
    ]


class _Accounts(NamedTuple):
    """Where one version of Linux's control groups keeps its figures."""

    folder: str
    limits: tuple[str, ...]
    used: str
    droppable: str


_VERSION_1 = _Accounts(
    "sys/fs/cgroup/memory", ("memory.limit_in_bytes",), "memory.usage_in_bytes", "total_inactive_file"
)
_VERSION_2 = _Accounts("sys/fs/cgroup", ("memory.max", "memory.high"), "memory.current", "inactive_file")


def _free_below_limits(root: Path) -> Iterator[int]:
    """For every limit of a control group around this process, what is left below it.

    A limit anywhere on the way up binds, so all of them are read; inside a container the upper part of the
    way is often not visible, and what is missing sets no limit. Pages of files not used lately are dropped
    by the kernel before it refuses memory, so they do not count as used.
    """
    membership = _text(root / "proc/self/cgroup")
    for controllers, path in re.findall(r"^\d+:([^:]*):/(.*)$", membership, re.MULTILINE):
        if controllers == "":
            accounts = _VERSION_2
        elif "memory" in controllers.split(","):
            accounts = _VERSION_1
        else:
            continue
        group = PurePosixPath("" if ".." in path.split("/") else path)
        for ancestor in [group, *group.parents]:
            folder = root / accounts.folder / ancestor
            for limit in filter(str.isdigit, (_text(folder / name) for name in accounts.limits)):
                used = int(_text(folder / accounts.used) or 0)
                yield int(limit) - used + _figures(folder / "memory.stat").get(accounts.droppable, 0)


def _figures(path: Path) -> dict[str, int]:
    """Read lines of a name and a whole number, as the kernel writes them."""
    rows = (line.split() for line in _text(path).splitlines())
    return {row[0]: int(row[1]) for row in rows if len(row) >= 2 and row[1].isdigit()}


def _text(path: Path) -> str:
    """Read a small file; a missing or forbidden one is empty."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _capitalized(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
