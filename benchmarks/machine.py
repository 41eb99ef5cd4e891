"""The surroundings of a measurement: machine, versions, thread pools. No names of hosts, users or folders."""

import os
import platform
import sys
from importlib import metadata
from typing import Any


def describe() -> dict[str, Any]:
    """Processor, cores this process may use, memory in GiB, system and Python."""
    return {
        "cpu": _first_value("/proc/cpuinfo", "model name") or platform.processor() or platform.machine(),
        "cores": usable_cores(),
        "memory_gib": _memory_gib(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


def usable_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _memory_gib() -> float | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)
    except (AttributeError, OSError, ValueError):
        return None


def _first_value(path: str, key: str) -> str | None:
    try:
        with open(path, encoding="utf-8") as lines:
            return next((line.partition(":")[2].strip() for line in lines if line.startswith(key)), None)
    except OSError:
        return None


def versions(package: str) -> dict[str, str]:
    """Distribution and version of `package` and of the numerical packages that this process has loaded."""
    distributions = metadata.packages_distributions()
    found = {}
    for name in (package, "numpy", "scipy", "sklearn", "numba"):
        if name in sys.modules:
            # An editable installation may list no packages: there the package speaks for itself.
            distribution = distributions.get(name, [name])[0]
            try:
                found[distribution] = metadata.version(distribution)
            except metadata.PackageNotFoundError:
                found[distribution] = str(getattr(sys.modules[name], "__version__", "unknown"))
    return found


def thread_pools() -> list[dict[str, Any]]:
    """Thread pools of this process, without the places where their libraries lie."""
    # Imported late: the worker must not hold any package before its contestant's import has been timed.
    from threadpoolctl import threadpool_info

    return [{key: value for key, value in pool.items() if key != "filepath"} for pool in threadpool_info()]
