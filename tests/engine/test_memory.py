import ctypes
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import bisector
from bisector.engine import memory

GIB = 1024**3
GRAM = {
    "doing": "Fitting LinearRegression on 200,000 features",
    "holding": "its 200,000 × 200,000 Gram matrix",
    "instead": "use fewer features",
}


@pytest.fixture(autouse=True)
def measured() -> Iterator[None]:
    with bisector.config(memory=None):
        yield


class Machine:
    """A /proc and /sys of our own making: 16 GiB free, in no limited group."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.write(
            "proc/meminfo",
            f"MemTotal: 99 kB\nMemFree: 1 kB\nMemAvailable:   {16 * 1024**2} kB\nHugePages_Total: 0\n",
        )

    def write(self, path: str, content: object) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{content}\n")

    def group_v2(self, path: str, limit: object, used: int, droppable: int = 0) -> None:
        self.write(f"sys/fs/cgroup{path}/memory.max", limit)
        self.write(f"sys/fs/cgroup{path}/memory.current", used)
        self.write(
            f"sys/fs/cgroup{path}/memory.stat", f"anon 5\nfile 7\ninactive_file {droppable}\nactive_file 3"
        )

    def group_v1(self, path: str, limit: int, used: int, droppable: int = 0) -> None:
        self.write(f"sys/fs/cgroup/memory{path}/memory.limit_in_bytes", limit)
        self.write(f"sys/fs/cgroup/memory{path}/memory.usage_in_bytes", used)
        self.write(
            f"sys/fs/cgroup/memory{path}/memory.stat", f"inactive_file 1\ntotal_inactive_file {droppable}"
        )

    @property
    def available(self) -> int:
        return memory.available(self.root)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_without_a_container_what_the_kernel_calls_available_counts(machine: Machine) -> None:
    assert machine.available == 16 * GIB


def test_version_2_leaves_the_limit_minus_its_use_without_droppable_pages(machine: Machine) -> None:
    machine.write("proc/self/cgroup", "0::/app")
    machine.group_v2("/app", limit=4 * GIB, used=3 * GIB, droppable=1 * GIB)
    assert machine.available == 2 * GIB


def test_version_2_without_a_limit_says_max(machine: Machine) -> None:
    machine.write("proc/self/cgroup", "0::/app")
    machine.group_v2("/app", limit="max", used=3 * GIB)
    assert machine.available == 16 * GIB


def test_the_limit_above_which_version_2_slows_a_group_down_counts_too(machine: Machine) -> None:
    machine.write("proc/self/cgroup", "0::/app")
    machine.group_v2("/app", limit="max", used=1 * GIB)
    machine.write("sys/fs/cgroup/app/memory.high", 3 * GIB)
    assert machine.available == 2 * GIB


@pytest.mark.parametrize(("outer", "inner", "left"), [(8, 4, 3), (4, 8, 2), ("max", 4, 3), (4, "max", 2)])
def test_the_tightest_of_nested_limits_binds(
    machine: Machine, outer: object, inner: object, left: int
) -> None:
    machine.write("proc/self/cgroup", "0::/user.slice/app/job")
    machine.group_v2("/user.slice", limit=outer if outer == "max" else outer * GIB, used=2 * GIB)
    machine.group_v2("/user.slice/app", limit=inner if inner == "max" else inner * GIB, used=1 * GIB)
    assert machine.available == left * GIB


def test_a_container_that_shows_only_its_own_group_at_the_top(machine: Machine) -> None:
    machine.write(
        "proc/self/cgroup", "12:cpu,cpuacct:/docker/ab12\n4:memory:/docker/ab12\n1:name=systemd:/x\n0::/"
    )
    machine.group_v1("", limit=2 * GIB, used=1 * GIB)
    assert machine.available == 1 * GIB


def test_version_1_counts_droppable_pages_of_the_groups_inside(machine: Machine) -> None:
    machine.write("proc/self/cgroup", "4:hugetlb,memory:/job\n0::/elsewhere")
    machine.group_v1("/job", limit=4 * GIB, used=3 * GIB, droppable=2 * GIB)
    machine.group_v1("", limit=2**63 - 4096, used=12 * GIB)
    assert machine.available == 3 * GIB


def test_groups_of_other_processes_do_not_count(machine: Machine) -> None:
    machine.write("proc/self/cgroup", "0::/app")
    machine.group_v2("/other", limit=1 * GIB, used=0)
    machine.group_v2("/app/child", limit=1 * GIB, used=0)
    assert machine.available == 16 * GIB


def test_a_path_outside_of_the_namespace_falls_back_on_its_root(machine: Machine) -> None:
    machine.write("proc/self/cgroup", "0::/../../other")
    machine.write("sys/other/memory.max", 1)
    machine.group_v2("", limit=3 * GIB, used=1 * GIB)
    assert machine.available == 2 * GIB


def test_missing_files_set_no_limit_and_count_as_nothing_used(machine: Machine) -> None:
    machine.write("proc/self/cgroup", "0::/gone\nnonsense")
    machine.write("sys/fs/cgroup/memory.max", 3 * GIB)
    assert machine.available == 3 * GIB


def test_a_group_above_its_limit_leaves_nothing(machine: Machine) -> None:
    machine.write("proc/self/cgroup", "0::/app")
    machine.group_v2("/app", limit=1 * GIB, used=2 * GIB)
    assert machine.available == 0


def test_without_proc_the_system_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = {"SC_AVPHYS_PAGES": 1000, "SC_PHYS_PAGES": 6000, "SC_PAGE_SIZE": 4096}
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(os, "sysconf", answers.__getitem__)
    monkeypatch.setattr(os, "sysconf_names", answers)
    assert memory.available(tmp_path) == 1000 * 4096
    del answers["SC_AVPHYS_PAGES"]  # as on macOS
    assert memory.available(tmp_path) == 3000 * 4096
    del answers["SC_PHYS_PAGES"]
    assert memory.available(tmp_path) == 2 * GIB


@pytest.mark.parametrize(("works", "expected"), [(1, 5 * GIB), (0, 2 * GIB)])
def test_on_windows_the_free_physical_memory_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, works: int, expected: int
) -> None:
    def fill(reference: Any) -> int:
        status = reference._obj
        assert status.dwLength == ctypes.sizeof(status) == 64
        status.ullAvailPhys = 5 * GIB
        return works

    kernel32 = SimpleNamespace(GlobalMemoryStatusEx=fill)
    monkeypatch.setattr(ctypes, "windll", SimpleNamespace(kernel32=kernel32), raising=False)
    monkeypatch.setattr(sys, "platform", "win32")
    assert memory.available(tmp_path) == expected


def test_this_machine_has_some_memory_free() -> None:
    assert 2**20 < memory.available() < 2**60


def test_the_budget_is_most_of_what_is_free_or_what_is_configured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available", lambda: 10 * GIB)
    assert memory.budget() == 8 * GIB
    with bisector.config(memory="64 GiB"):
        assert memory.budget() == 64 * GIB


def test_what_does_not_fit_is_refused_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "budget", lambda: int(17.9 * GIB))
    with pytest.raises(MemoryError) as refusal:
        memory.require(8 * 200_000**2, **GRAM)
    assert str(refusal.value) == (
        "Fitting LinearRegression on 200,000 features needs 298 GiB for its 200,000 × 200,000 Gram matrix, "
        "but the memory budget is 17.9 GiB. Use fewer features, or raise the budget with "
        "bisector.config(memory=...)."
    )


def test_the_sentence_needs_neither_capitals_nor_a_full_stop_nor_the_contents() -> None:
    with bisector.config(memory="1 GiB"), pytest.raises(MemoryError) as refusal:
        memory.require(2 * GIB, doing="sorting", instead="Sort less.")
    assert str(refusal.value) == (
        "Sorting needs 2 GiB, but the memory budget is 1 GiB. Sort less, or raise the budget with "
        "bisector.config(memory=...)."
    )


def test_the_budget_itself_fits_and_one_byte_more_does_not() -> None:
    with bisector.config(memory=1000):
        memory.require(1000, **GRAM)
        with pytest.raises(MemoryError):
            memory.require(1001, **GRAM)


def test_a_small_request_reads_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> int:
        raise AssertionError("measured")

    monkeypatch.setattr(memory, "available", refuse)
    memory.require(64_000_000, **GRAM)
    with pytest.raises(AssertionError, match="measured"):
        memory.require(64_000_001, **GRAM)


def test_a_configured_budget_is_never_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available", lambda: 0)
    with bisector.config(memory="1 TB"):
        memory.require(999 * 10**9, **GRAM)


@pytest.mark.parametrize(
    ("n_bytes", "words"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "0.977 KiB"),
        (1536, "1.5 KiB"),
        (1024**2 - 1, "1 MiB"),
        (476 * 1024**2, "476 MiB"),
        (int(17.94 * GIB), "17.9 GiB"),
        (3 * 1024**6, "3072 PiB"),
    ],
)
def test_sizes_are_written_with_three_digits(n_bytes: int, words: str) -> None:
    assert memory.readable(n_bytes) == words
