"""Finds workloads: each file of a folder that defines ``WORKLOADS`` is a family, named like the file."""

import importlib.util
import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

from benchmarks.workload import Workload

HERE = Path(__file__).resolve().parent


class Entry(NamedTuple):
    """A workload and the file it comes from."""

    family: Path
    workload: Workload

    @property
    def name(self) -> str:
        return f"{self.family.stem}/{self.workload.name}"

    def matches(self, pattern: str) -> bool:
        """Whether `pattern` (shell wildcards allowed) is the family, the workload, or ``family/workload``."""
        return any(fnmatchcase(name, pattern) for name in (self.family.stem, self.workload.name, self.name))


def load(family: Path) -> Sequence[Workload]:
    """Workloads of one file.

    Loaded by path, so that a contestant's process finds the same file whatever package it lies in.
    """
    spec = importlib.util.spec_from_file_location(f"benchmarks_family_{family.stem}", family)
    if spec is None or spec.loader is None:
        raise ImportError(f"{family} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    workloads: Sequence[Workload] = module.WORKLOADS
    return workloads


def discover(folder: Path = HERE) -> Iterator[Entry]:
    """All workloads of the families in `folder`, in the order of the files' names."""
    for path in sorted(folder.glob("*.py")):
        if re.search(r"^WORKLOADS\b", path.read_text(encoding="utf-8"), flags=re.MULTILINE):
            seen: set[str] = set()
            for workload in load(path):
                if workload.name in seen:
                    raise ValueError(f"{path.stem}: two workloads are called {workload.name!r}")
                seen.add(workload.name)
                yield Entry(path, workload)


def select(entries: Sequence[Entry], patterns: Sequence[str]) -> list[Entry]:
    """Entries that match any of `patterns`; all of them if there is none.

    Raises
    ------
    LookupError
        A pattern matches nothing.
    """
    for pattern in patterns:
        if not any(entry.matches(pattern) for entry in entries):
            known = ", ".join(entry.name for entry in entries)
            raise LookupError(f"no workload matches {pattern!r}; there are: {known}")
    return [entry for entry in entries if not patterns or any(entry.matches(pattern) for pattern in patterns)]
