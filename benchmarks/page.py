"""What is shown of the records: a table for the terminal, and the documentation's page."""

import re
from collections.abc import Iterable, Sequence
from itertools import groupby

from benchmarks.families import HERE
from benchmarks.ratios import LEVEL
from benchmarks.results import Outcome, Performance, Race, Record

PAGE = HERE.parent / "docs" / "benchmarks.md"
NOTHING = "–"
# Cores kept busy by other processes during a race: above this the figures should be measured again.
DISTURBED = 0.1

COLUMNS = ("workload", "peer", "ours", "peer's", "ratio", "goal", "verdict", "extra memory", "pairs")
LOAD_COLUMNS = ("cores", "others")

INTRODUCTION = """\
<!-- Made by `python -m benchmarks` from benchmarks/results: edit neither this page nor the figures. -->
# Benchmarks

Each contestant lives in a process of its own and makes the same seeded data; the answers are compared first.
Then ours and the peer take turns of at least 50 ms (short calls are repeated); pauses let threads rest.
The ratio is the peer's time ÷ ours, pair by pair: the median, and its 95 % interval by order statistics.
"Faster" and "behind" mean that the interval lies on one side of 1; a goal is judged by the median.
Extra memory is the peak of one call (ours / peer's), beyond the data and whatever the process held before.
"""
RERUN = """\
## Run it yourself

`make bench` installs the peers, runs everything and remakes this page; `make bench NAMES=linear_regression`
runs one family, `python -m benchmarks --list` shows the names, `--quick` runs small sizes without storing
them, and `python -m benchmarks --page` remakes the page from the stored figures.
"""


def rows(record: Record) -> list[list[str]]:
    """One row a race, by ``COLUMNS`` and ``LOAD_COLUMNS``; a single row if ours could not run."""
    if not record.races:
        return [
            _blank_row(record.workload, NOTHING, f"FAILED: {record.trouble}" if record.trouble else NOTHING)
        ]
    return [_row(record, race) for race in record.races]


def text_table(records: Iterable[Record]) -> str:
    """Table for a terminal."""
    shown = list(records)
    table = [[*COLUMNS, *LOAD_COLUMNS], *(row for record in shown for row in rows(record))]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in table
    ]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join([*lines, *(f"! {warning}" for record in shown for warning in disturbances(record))])


def page(records: Iterable[Record]) -> str:
    """The documentation's page, in Markdown."""
    by_family = groupby(sorted(records, key=lambda record: record.name), key=lambda record: record.family)
    families = [_family(family, list(group)) for family, group in by_family]
    return "\n".join([INTRODUCTION, *(families or ["No figures are stored yet.\n"]), RERUN])


def disturbances(record: Record) -> list[str]:
    """Races during which other processes kept the machine busy, in a sentence each."""
    return [
        f"{record.workload}: others used {race.outcome.others_load:.1f} cores in the race with {race.peer}"
        for race in record.races
        if race.outcome is not None and (race.outcome.others_load or 0.0) > DISTURBED
    ]


def escape(text: str) -> str:
    """Text that Markdown shows as it is, also within a table.

    Examples
    --------
    >>> print(escape("a|b *c*"))
    a\\|b \\*c\\*
    """
    return re.sub(r"([\\`*_{}\[\]<>#|$~^&])", r"\\\1", " ".join(text.split()))


def seconds(value: float) -> str:
    """A time with three digits and its unit.

    Examples
    --------
    >>> seconds(1.9444), seconds(0.072), seconds(4.2e-05)
    ('1.94 s', '72 ms', '42 µs')
    """
    unit, scale = ("s", 1.0) if value >= 1 else ("ms", 1e3) if value >= 1e-3 else ("µs", 1e6)
    scaled = value * scale
    return f"{scaled:.0f} {unit}" if scaled >= 100 else f"{scaled:.3g} {unit}"


def _times(ratio: float) -> str:
    return f"{ratio:.2f}" if ratio < 10 else f"{ratio:.1f}" if ratio < 100 else f"{ratio:.0f}"


def _row(record: Record, race: Race) -> list[str]:
    outcome = race.outcome
    if outcome is None:
        state = "skipped" if race.state == "skipped" else "FAILED"
        return _blank_row(record.workload, race.peer, f"{state}: {race.note}")
    others = NOTHING if outcome.others_load is None else f"{outcome.others_load:.2f}"
    return [
        record.workload,
        race.peer,
        seconds(outcome.ours_median),
        seconds(outcome.peer_median),
        _ratio(outcome),
        outcome.goal or NOTHING,
        _verdict(outcome),
        f"{_memory(record.performances[record.ours])} / {_memory(record.performances[race.peer])}",
        str(outcome.pairs),
        f"{outcome.ours_cores:.1f} / {outcome.peer_cores:.1f}",
        others,
    ]


def _blank_row(workload: str, peer: str, verdict: str) -> list[str]:
    return [workload, peer, *[NOTHING] * 4, verdict, *[NOTHING] * 4]


def _ratio(outcome: Outcome) -> str:
    low, high = map(_times, outcome.interval)
    # Too few pairs for the promised level: say what the range is worth instead.
    worth = "" if outcome.coverage >= LEVEL else f" ({outcome.coverage:.0%})"
    return f"{_times(outcome.ratio)}× [{low}, {high}]{worth}"


def _verdict(outcome: Outcome) -> str:
    if outcome.disagreement:
        return f"ANSWERS DIFFER: {outcome.disagreement}"
    return ", ".join(filter(None, [outcome.verdict, outcome.standing]))


def _memory(performance: Performance) -> str:
    if performance.peak_memory is None:
        return NOTHING
    megabytes = performance.peak_memory / 1e6
    return f"{megabytes:.0f} MB" if megabytes >= 10 else f"{megabytes:.1f} MB"


def _family(family: str, records: Sequence[Record]) -> str:
    parts = [
        f"## {escape(family.replace('_', ' ').capitalize())}\n",
        *_descriptions(records),
        _markdown_table(COLUMNS, [row[: len(COLUMNS)] for record in records for row in rows(record)]),
        "How the contestants start, and how many cores they keep busy:\n",
        _markdown_table(
            ("workload", "contestant", "import", "first call", "cores"),
            [row for record in records for row in _starts(record)],
        ),
        *_measured_on(records),
        *(f"Measure again: {escape(warning)}.\n" for record in records for warning in disturbances(record)),
    ]
    return "\n".join(parts)


def _descriptions(records: Sequence[Record]) -> list[str]:
    lines = []
    for record in records:
        sizes = ", ".join(f"{key} = {_size(value)}" for key, value in record.sizes.items())
        where = f" ({escape(sizes)})" if sizes else ""
        lines.append(f"- **{escape(record.workload)}**{where}: {escape(record.about)}")
    return [*lines, ""]


def _size(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def _starts(record: Record) -> list[list[str]]:
    cores = {race.peer: f"{race.outcome.peer_cores:.1f}" for race in record.races if race.outcome is not None}
    ours = [race.outcome.ours_cores for race in record.races if race.outcome is not None]
    if ours:
        cores[record.ours] = f"{sum(ours) / len(ours):.1f}"
    return [
        [
            record.workload,
            label,
            seconds(one.import_seconds),
            seconds(one.first_call_seconds),
            cores.get(label, NOTHING),
        ]
        for label, one in record.performances.items()
    ]


def _measured_on(records: Sequence[Record]) -> list[str]:
    """One line for each day and machine among the records: as a rule there is one."""
    packages: dict[str, set[str]] = {}
    for record in records:
        machine = record.machine
        memory = "" if machine["memory_gib"] is None else f", {machine['memory_gib']:g} GiB"
        place = (
            f"Measured on {record.measured}: {machine['cpu']}, {machine['cores']} cores{memory}, "
            f"{machine['system']}, Python {machine['python']}"
        )
        found = packages.setdefault(place, set())
        for one in record.performances.values():
            found.update(f"{name} {version}" for name, version in one.versions.items())
    return [escape(f"{place}; {', '.join(sorted(found))}.") + "\n" for place, found in packages.items()]


def _markdown_table(header: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *([escape(cell) for cell in row] for row in body)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"
