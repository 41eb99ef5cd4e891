"""What is stored of a run: one small JSON file per workload."""

import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from benchmarks.families import HERE

RESULTS = HERE / "results"
DIGITS = 5


@dataclass
class Performance:
    """One contestant of a workload. Memory is in bytes, beyond what the process held before the call."""

    versions: dict[str, str]
    import_seconds: float
    first_call_seconds: float
    calls_per_turn: int
    peak_memory: int | None
    peak_anonymous_memory: int | None
    memory_source: str | None
    thread_pools: list[dict[str, Any]]


@dataclass
class Outcome:
    """The figures of one race: medians, the ratio peer ÷ ours with its interval, and what they mean.

    ``ours_cores`` and ``peer_cores`` are processor time ÷ wall time; ``others_load`` is the number of cores
    that other processes kept busy meanwhile. ``disagreement`` is a sentence, empty where the answers agree.
    """

    ours_seconds: list[float]
    peer_seconds: list[float]
    ours_median: float
    peer_median: float
    ratio: float
    interval: tuple[float, float]
    coverage: float
    verdict: str
    goal: str
    standing: str
    ours_cores: float
    peer_cores: float
    others_load: float | None
    disagreement: str

    @property
    def pairs(self) -> int:
        return len(self.ours_seconds)


@dataclass
class Race:
    """Ours against one peer; without an outcome, ``note`` says why."""

    peer: str
    state: Literal["raced", "skipped", "failed"]
    note: str = ""
    outcome: Outcome | None = None


@dataclass
class Record:
    """One workload, measured; ``trouble`` says what was wrong with our own contestant."""

    family: str
    workload: str
    about: str
    sizes: dict[str, Any]
    quick: bool
    measured: str
    machine: dict[str, Any]
    ours: str
    performances: dict[str, Performance] = field(default_factory=dict)
    races: list[Race] = field(default_factory=list)
    trouble: str = ""

    @property
    def name(self) -> str:
        return f"{self.family}/{self.workload}"

    @property
    def sound(self) -> bool:
        """Whether ours ran and agreed with every peer that ran."""
        disagreements = (race.outcome.disagreement for race in self.races if race.outcome is not None)
        return not self.trouble and not any(disagreements)


def save(record: Record, folder: Path = RESULTS) -> Path:
    """Store a record, replacing the earlier one of the same workload."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{record.family}.{record.workload}.json"
    write(path, json.dumps(_rounded(asdict(record)), indent=1, ensure_ascii=False, allow_nan=False) + "\n")
    return path


def load(folder: Path = RESULTS) -> Iterator[Record]:
    """Stored records, by family and workload."""
    for path in sorted(folder.glob("*.json")):
        yield _record(json.loads(path.read_text(encoding="utf-8")))


def write(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    draft = path.with_name(path.name + ".draft")
    draft.write_text(text, encoding="utf-8")
    os.replace(draft, path)


def _record(stored: dict[str, Any]) -> Record:
    races = [
        Race(**{**race, "outcome": Outcome(**race["outcome"]) if race["outcome"] else None})
        for race in stored["races"]
    ]
    performances = {label: Performance(**one) for label, one in stored["performances"].items()}
    return Record(**{**stored, "races": races, "performances": performances})


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, dict):
        return {key: _rounded(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(one) for one in value]
    return value
