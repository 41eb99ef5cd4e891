"""The benchmark harness: toy contestants in the real processes, the judgement of times, the page."""

import doctest
import importlib
import json
import re
import subprocess
import sys
from itertools import count, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import agreement, page, ratios, results
from benchmarks.__main__ import main
from benchmarks.families import HERE, discover, select
from benchmarks.measure import time_calls
from benchmarks.memory import peak_of
from benchmarks.race import least_and_most
from benchmarks.workload import AtLeast, Contestant, Within, Workload

TOYS = """
import os
import sys
import time

import numpy as np

from benchmarks.workload import AtLeast, Contestant, Workload


def toy(label, step=lambda: None, factor=2.0, module="numpy", environment=None):
    def prepare(data):
        def call():
            step()
            return factor * data.sum()

        return call

    return Contestant(label, module, prepare, lambda result: {"sum": result}, environment or {})


def chatter():
    print("a stray line")
    sys.stdout.flush()
    os.write(1, b"a stray line from below Python\\n")
    assert sys.stdin.read() == ""


def allocate():
    np.ones(8_000_000).sum()


def spill(rng, n):
    # Needs more memory to make the data than any call does.
    return np.ones(20_000_000)[:n].copy()


def fail():
    raise ValueError("no answer today")


def work(name, *peers, ours=None, goals=None, **options):
    options = {"make": lambda rng, n: rng.standard_normal(n), "seconds": 0, "patience": 30, **options}
    ours = ours or toy("ours")
    return Workload(name, "Adds.", sizes={"n": 100}, ours=ours, peers=peers, goals=goals or {}, **options)


good = toy("good")
WORKLOADS = [
    work("agree", good, goals={"good": AtLeast(1e-9)}),
    work("differ", toy("wrong", factor=2.1), good),
    work("missing", toy("absent", module="no_such_package_anywhere"), good),
    work("stray", toy("chatty", chatter), ours=toy("ours", chatter)),
    work("crash", toy("raising", fail), toy("dying", lambda: os._exit(3)), good),
    work("ours_crashes", good, ours=toy("ours", fail)),
    work("silent", toy("sleeping", lambda: time.sleep(60)), patience=5),
    work("variable", toy("told", lambda: os.environ["TOY"] == "yes" or fail(), environment={"TOY": "yes"})),
    work("memory", toy("greedy", allocate), make=spill),
]
"""


class Bench:
    """Runs the command line on the toys, in a folder of its own."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (folder / "toys.py").write_text(TOYS, encoding="utf-8")
        self.folder = folder
        self.capsys = capsys

    def __call__(self, *arguments: str) -> int:
        places = ["--families", self.folder, "--results", self.folder / "results", "--page-file", self.page]
        code = main([*arguments, *map(str, places)])
        self.out, self.err = self.capsys.readouterr()
        return code

    @property
    def page(self) -> Path:
        return self.folder / "page.md"

    def stored(self, workload: str) -> dict[str, Any]:
        return json.loads((self.folder / "results" / f"toys.{workload}.json").read_text(encoding="utf-8"))

    def row(self, peer: str) -> str:
        """The line of the printed table about `peer`."""
        return next(line for line in self.out.splitlines() if line.split()[1:2] == [peer])


@pytest.fixture
def bench(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Bench:
    return Bench(tmp_path, capsys)


def test_agreement_is_shown_and_stored(bench: Bench) -> None:
    assert bench("agree") == 0
    assert "goal met" in bench.row("good")
    stored = bench.stored("agree")
    outcome = stored["races"][0]["outcome"]
    assert len(outcome["ours_seconds"]) == len(outcome["peer_seconds"]) == 9  # a close goal asks for nine
    assert outcome["interval"][0] <= outcome["ratio"] <= outcome["interval"][1]
    assert outcome["disagreement"] == ""
    assert outcome["others_load"] is None or outcome["others_load"] >= 0
    assert set(stored["performances"]) == {"ours", "good"}
    for performance in stored["performances"].values():
        assert performance["versions"]["numpy"] == np.__version__
        assert performance["import_seconds"] > 0
        assert performance["first_call_seconds"] > 0
        assert performance["calls_per_turn"] > 1
        assert all("filepath" not in pool for pool in performance["thread_pools"])
    assert "| agree | good |" in bench.page.read_text(encoding="utf-8")


def test_disagreement_is_loud_and_not_stored(bench: Bench) -> None:
    assert bench("differ") == 1
    assert "ANSWERS DIFFER" in bench.row("wrong")
    assert "ANSWERS DIFFER" not in bench.row("good")
    assert "DISAGREE" in bench.err
    assert not (bench.folder / "results").exists()


def test_missing_package_is_skipped_with_a_line(bench: Bench) -> None:
    assert bench("missing", "--quick") == 0
    assert "skipped: absent is not installed" in bench.row("absent")
    assert "skipped, absent is not installed" in bench.err
    assert "×" in bench.row("good")


def test_stray_prints_and_reads_do_not_break_the_protocol(bench: Bench) -> None:
    assert bench("stray", "--quick") == 0
    assert "×" in bench.row("chatty")
    assert "stray line" not in bench.out


def test_crashing_peers_are_reported_and_the_rest_goes_on(bench: Bench) -> None:
    assert bench("crash", "--quick") == 0
    assert "FAILED: raising raised ValueError" in bench.row("raising")
    assert "no answer today" in bench.err
    assert "FAILED: dying died with exit code 3" in bench.row("dying")
    assert "×" in bench.row("good")


def test_our_own_crash_fails_the_run_but_not_the_other_workloads(bench: Bench) -> None:
    assert bench("ours_crashes", "variable", "--quick") == 1
    assert "FAILED: ours raised ValueError" in bench.out
    assert "×" in bench.row("told")  # and its environment variable reached the process


def test_silent_contestant_is_given_up(bench: Bench) -> None:
    assert bench("silent", "--quick") == 0
    assert "FAILED: sleeping gave no sign for 5 s" in bench.row("sleeping")


@pytest.mark.skipif(peak_of(lambda: None) is None, reason="the system cannot reset its high-water mark")
def test_peak_memory_of_one_call(bench: Bench) -> None:
    assert bench("memory") == 0
    peaks = {label: one["peak_memory"] for label, one in bench.stored("memory")["performances"].items()}
    assert 60e6 < peaks["greedy"] < 80e6  # 8,000,000 floats
    assert peaks["ours"] < 10e6


def test_quick_runs_store_nothing(bench: Bench) -> None:
    assert bench("agree", "--quick") == 0
    assert "goal" not in bench.row("good")
    assert not (bench.folder / "results").exists()
    assert not bench.page.exists()


def test_names_select_families_and_workloads(bench: Bench) -> None:
    entries = list(discover(bench.folder))
    assert [entry.name for entry in select(entries, ["agree", "toys/d*"])] == ["toys/agree", "toys/differ"]
    assert select(entries, ["toys"]) == select(entries, []) == entries
    assert bench("nothing_of_that_name") == 2
    assert "no workload matches 'nothing_of_that_name'" in bench.err


def test_module_lists_the_workloads_of_the_project() -> None:
    listing = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--list"],
        cwd=HERE.parent,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "linear_regression/tall" in listing
    assert "startup/first_fit" in listing
    assert "goal ≥ 20×" in listing


def test_worker_imports_no_package_before_its_contestant_does() -> None:
    code = "import sys, benchmarks.worker; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=HERE.parent, check=False).returncode == 0


@pytest.mark.parametrize("entry", list(discover()), ids=lambda entry: entry.name)
def test_every_process_makes_the_same_data(entry: Any) -> None:
    def flat(data: Any) -> list[Any]:
        parts = data if isinstance(data, tuple) else [data]
        return [part.toarray() if hasattr(part, "toarray") else part for part in parts]

    for one, other in zip(flat(entry.workload.data(True)), flat(entry.workload.data(True)), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_turn_gives_the_seconds_of_one_call() -> None:
    numbers = count(1)
    turn, last = time_calls(lambda: next(numbers), 4)
    assert last == turn.calls == 4
    assert turn.seconds == turn.wall / 4
    assert turn.cpu >= 0


def test_median_interval_by_hand() -> None:
    # P(X ≤ k) for X ~ Bin(n, 1/2): n = 9, k = 1: 10/512; n = 6, k = 0: 1/64; n = 15, k = 3: 576/32768.
    assert ratios.median_interval([9, 1, 8, 2, 7, 3, 6, 4, 5]) == (2, 5, 8, 1 - 20 / 512)
    assert ratios.median_interval([1, 2, 3, 4, 5, 6]) == (1, 3.5, 6, 1 - 2 / 64)
    assert ratios.median_interval(range(1, 16)) == (4, 8, 12, 1 - 1152 / 32768)
    assert ratios.median_interval([1, 2, 3, 4, 5]) == (1, 3, 5, 1 - 2 / 32)  # no 95 % below six values
    assert ratios.median_interval([7]) == (7, 7, 7, 0)


@pytest.mark.parametrize("n", [1, 2, 5, 6, 8, 9, 11])
def test_median_interval_covers_as_often_as_it_says(n: int) -> None:
    """Each value is above or below the true median, 0, with probability one half: all patterns, counted."""
    patterns = list(product([-1, 1], repeat=n))
    intervals = [
        ratios.median_interval([sign * size for size, sign in enumerate(signs, start=1)])
        for signs in patterns
    ]
    covered = sum(interval.low < 0 < interval.high for interval in intervals)
    assert covered / len(patterns) == pytest.approx(intervals[0].coverage)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (
            [1.1, 1.2, 1.3, 1.1, 1.2, 1.3, 1.2, 1.2, 0.9],
            "faster",
        ),  # one outlier of nine is outside the interval
        ([1.1, 1.2, 1.3, 1.1, 1.2, 1.3, 1.2, 0.9, 0.9], "tie"),
        ([0.9, 0.8, 0.9, 0.8, 0.9, 0.8], "behind"),
        ([1.29], "tie"),
        ([1.31], "faster"),
        ([0.8], "tie"),
        ([0.7], "behind"),
        ([1.2, 1.25, 1.2], "tie"),
        ([2.0, 0.9, 2.0], "tie"),
    ],
)
def test_verdict(values: list[float], expected: str) -> None:
    assert ratios.verdict(ratios.median_interval(values)) == expected


def test_goals() -> None:
    ours, peer = [1.0] * 9, [1.9, 1.9, 1.9, 1.9, 1.9, 2.1, 2.1, 2.1, 2.1]

    def standing(goal: AtLeast | Within) -> str:
        return ratios.standing(ratios.median_interval(goal.margins(ours, peer)))

    assert standing(AtLeast(1.9)) == "goal met"
    assert standing(AtLeast(2.0)) == "goal within the interval"
    assert standing(AtLeast(2.2)) == "goal missed"
    assert standing(Within(-0.5)) == "goal met"
    assert standing(Within(-2.0)) == "goal missed"
    assert least_and_most(AtLeast(1.0), quick=False)[0] == least_and_most(Within(0.1), quick=False)[0] == 9
    assert least_and_most(AtLeast(20), quick=False)[0] < 9


@pytest.mark.parametrize(
    ("ours", "peer", "size"),
    [
        ({"a": [1.0, 100.0]}, {"a": [2.0, 100.0]}, 0.01),
        ({"a": [0.0]}, {"a": [0.0]}, 0.0),
        ({"a": [np.nan, 1.0]}, {"a": [np.nan, 1.0]}, 0.0),
        ({"a": [np.nan, 1.0]}, {"a": [2.0, 1.0]}, np.inf),
        ({"a": [np.inf]}, {"a": [-np.inf]}, np.inf),
        ({"a": [1.0]}, {"a": [[1.0]]}, np.inf),
        ({"a": [1.0]}, {"b": [1.0]}, np.inf),
        ({"a": ["x", "y"]}, {"a": ["x", "y"]}, 0.0),
        ({"a": ["x", "y"]}, {"a": ["x", "z"]}, np.inf),
        ({}, {}, 0.0),
    ],
)
def test_difference(ours: dict[str, Any], peer: dict[str, Any], size: float) -> None:
    arrays = [{name: np.asarray(value) for name, value in answer.items()} for answer in (ours, peer)]
    assert agreement.difference(*arrays).size == pytest.approx(size)


def test_goal_against_a_stranger_is_refused() -> None:
    contestant = Contestant("ours", "numpy", lambda data: lambda: None, lambda result: {})
    with pytest.raises(ValueError, match="no peers of this workload"):
        Workload("w", "", lambda rng: None, {}, contestant, [], goals={"theirs": AtLeast(2)})


def record(**changes: Any) -> results.Record:
    """A stored workload with names that Markdown would take for its own."""
    performance = results.Performance({"pack_age": "1.0"}, 0.5, 0.0007, 1, 12_345_678, None, "VmHWM", [])
    outcome = results.Outcome(
        ours_seconds=[0.1] * 9,
        peer_seconds=[2.5] * 9,
        ours_median=0.1,
        peer_median=2.5,
        ratio=25.0,
        interval=(24.0, 26.0),
        coverage=0.96,
        verdict="faster",
        goal="≥ 20×",
        standing="goal met",
        ours_cores=1.9,
        peer_cores=1.0,
        others_load=0.02,
        disagreement="",
    )
    fields: dict[str, Any] = {
        "family": "toy_family",
        "workload": "a|b",
        "about": "Does *much* with <script> and\n`ticks`.",
        "sizes": {"n": 1_000_000, "dtype": "float32"},
        "quick": False,
        "measured": "2026-01-31",
        "machine": {"cpu": "Chip", "cores": 2, "memory_gib": 23.5, "system": "Linux", "python": "3.12.0"},
        "ours": "ours",
        "performances": {"ours": performance, "peer_one": performance},
        "races": [
            results.Race("peer_one", "raced", outcome=outcome),
            results.Race("p2", "skipped", "p2 is not there"),
        ],
    }
    return results.Record(**{**fields, **changes})


def test_page_is_rendered_from_stored_figures(bench: Bench) -> None:
    stored = record(workload="plain")
    results.save(stored, bench.folder / "results")
    assert list(results.load(bench.folder / "results")) == [_with_lists(stored)]
    assert bench("--page") == 0
    text = bench.page.read_text(encoding="utf-8")
    assert "## Toy family" in text
    assert r"| plain | peer\_one | 100 ms | 2.5 s | 25.0× \[24.0, 26.0\] |" in text
    assert "| ≥ 20× | faster, goal met | 12 MB / 12 MB | 9 |" in text
    assert "skipped: p2 is not there" in text
    assert "(n = 1,000,000, dtype = float32)" in text
    assert r"Measured on 2026-01-31: Chip, 2 cores, 23.5 GiB, Linux, Python 3.12.0; pack\_age 1.0." in text
    assert "| plain | ours | 500 ms | 700 µs | 1.9 |" in text


def _with_lists(stored: results.Record) -> results.Record:
    """What JSON makes of a record: it knows no tuples."""
    for race in stored.races:
        if race.outcome is not None:
            race.outcome.interval = list(race.outcome.interval)  # type: ignore[assignment]
    return stored


def test_page_escapes_what_markdown_would_interpret() -> None:
    text = page.page([record()])
    assert r"a\|b" in text
    assert "<script>" not in text
    assert r"Does \*much\* with \<script\> and \`ticks\`." in text
    for table in re.findall(r"(?:^\|.*\n)+", text, flags=re.MULTILINE):
        cells = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
        assert len(cells) == 1


def test_page_tells_of_disturbed_races_and_of_too_few_pairs() -> None:
    disturbed = record()
    outcome = disturbed.races[0].outcome
    assert outcome is not None
    outcome.others_load, outcome.coverage = 0.8, 0.75
    text = page.page([disturbed])
    assert "others used 0.8 cores" in text
    assert r"25.0× \[24.0, 26.0\] (75%)" in text
    assert "others used" not in page.page([record()])


def test_page_without_figures_says_so() -> None:
    assert "No figures are stored yet." in page.page([])


@pytest.mark.parametrize("module", ["agreement", "page", "ratios", "workload"])
def test_examples(module: str) -> None:
    failed, tried = doctest.testmod(importlib.import_module(f"benchmarks.{module}"))
    assert tried > 0
    assert failed == 0
