"""Lets ours and each peer take turns on the same work, and judges the times."""

import importlib.util
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from statistics import median

from benchmarks import machine
from benchmarks.agreement import difference
from benchmarks.families import Entry
from benchmarks.measure import Turn
from benchmarks.process import ContestantFailed, ContestantProcess
from benchmarks.ratios import median_interval, standing, verdict
from benchmarks.results import Outcome, Performance, Race, Record
from benchmarks.worker import Opening
from benchmarks.workload import Contestant, Goal, Workload

Say = Callable[[str], None]


def run(entry: Entry, *, quick: bool, say: Say) -> Record:
    """Race ours against every installed peer, one after the other; ours stays in one process throughout.

    Parameters
    ----------
    entry : Entry
        The workload.
    quick : bool
        Small data and few pairs, to see that all works; goals are not judged.
    say : callable
        Told in one line what goes on.
    """
    workload = entry.workload
    record = Record(
        family=entry.family.stem,
        workload=workload.name,
        about=workload.about,
        sizes=workload.sizes_for(quick),
        quick=quick,
        measured=datetime.now(UTC).date().isoformat(),
        machine=machine.describe(),
        ours=workload.ours.label,
    )
    if not installed(workload.ours):
        record.trouble = f"{workload.ours.label} is not installed"
        say(f"{entry.name}: {record.trouble}")
        return record
    with ContestantProcess(entry, workload.ours, quick=quick) as ours:
        say(f"{entry.name}: {ours.label} warms up")
        try:
            opening = ours.begin()
            record.performances[ours.label] = _performance(workload, ours, opening)
        except ContestantFailed as failure:
            record.trouble = str(failure)
            say(f"{entry.name}: {failure}\n{failure.details}")
            return record
        for peer in workload.peers:
            if not installed(peer):
                race = Race(peer.label, "skipped", f"{peer.label} is not installed")
                say(f"{entry.name}: skipped, {race.note}")
            else:
                race = _race(entry, ours, opening, peer, record, quick=quick, say=say)
            record.races.append(race)
            if record.trouble:
                break
    return record


def installed(contestant: Contestant) -> bool:
    """Whether the contestant's package can be found; it is not imported here."""
    return importlib.util.find_spec(contestant.package) is not None


def _race(
    entry: Entry,
    ours: ContestantProcess,
    opening: Opening,
    peer: Contestant,
    record: Record,
    *,
    quick: bool,
    say: Say,
) -> Race:
    workload, goal = entry.workload, entry.workload.goals.get(peer.label)
    try:
        with ContestantProcess(entry, peer, quick=quick) as theirs:
            say(f"{entry.name}: {theirs.label} warms up")
            their_opening = theirs.begin()
            disagreement = _disagreement(workload, opening, their_opening)
            pairs = _alternate(entry, ours, theirs, least_and_most(goal, quick), say)
            record.performances[theirs.label] = _performance(workload, theirs, their_opening)
    except ContestantFailed as failure:
        if failure.label == ours.label:
            record.trouble = str(failure)
        say(f"{entry.name}: {failure}\n{failure.details}")
        return Race(peer.label, "failed", str(failure))
    outcome = _judge(pairs, None if quick else goal, disagreement)
    if disagreement:
        say(f"{entry.name}: {ours.label} and {peer.label} DISAGREE, {disagreement}")
    return Race(peer.label, "raced", outcome=outcome)


def least_and_most(goal: Goal | None, quick: bool) -> tuple[int, int]:
    """Pairs to run whatever the time, and pairs to run if there is time."""
    if quick:
        return 1, 3
    # Nine pairs give the 95 % interval of the median one pair to spare at each end, fifteen give it three.
    return (9, 15) if goal is not None and goal.close else (3, 9)


def _alternate(
    entry: Entry, ours: ContestantProcess, theirs: ContestantProcess, limits: tuple[int, int], say: Say
) -> list[tuple[Turn, Turn]]:
    least, most = limits
    start = time.monotonic()
    pairs: list[tuple[Turn, Turn]] = []
    while len(pairs) < least or (len(pairs) < most and time.monotonic() - start < entry.workload.seconds):
        pairs.append((ours.turn(), theirs.turn()))
    say(f"{entry.name}: {len(pairs)} pairs with {theirs.label} in {time.monotonic() - start:.0f} s")
    return pairs


def _performance(workload: Workload, contestant: ContestantProcess, opening: Opening) -> Performance:
    memory = contestant.memory() if workload.memory else None
    surroundings = contestant.surroundings()
    return Performance(
        versions=surroundings.versions,
        import_seconds=opening.import_seconds,
        first_call_seconds=opening.first_call_seconds,
        calls_per_turn=opening.calls,
        peak_memory=memory.resident if memory else None,
        peak_anonymous_memory=memory.anonymous if memory else None,
        memory_source=memory.how if memory else None,
        thread_pools=surroundings.thread_pools,
    )


def _disagreement(workload: Workload, ours: Opening, theirs: Opening) -> str:
    gap = difference(ours.answer, theirs.answer)
    if gap.size <= workload.tolerance:
        return ""
    return f"{gap.where}: relative difference {gap.size:.1e}, allowed {workload.tolerance:.1e}"


def _judge(pairs: Sequence[tuple[Turn, Turn]], goal: Goal | None, disagreement: str) -> Outcome:
    ours, theirs = (list(side) for side in zip(*pairs, strict=True))
    ours_seconds, peer_seconds = [turn.seconds for turn in ours], [turn.seconds for turn in theirs]
    ratios = median_interval([peer / mine for mine, peer in zip(ours_seconds, peer_seconds, strict=True)])
    return Outcome(
        ours_seconds=ours_seconds,
        peer_seconds=peer_seconds,
        ours_median=median(ours_seconds),
        peer_median=median(peer_seconds),
        ratio=ratios.median,
        interval=(ratios.low, ratios.high),
        coverage=ratios.coverage,
        verdict=verdict(ratios),
        goal="" if goal is None else str(goal),
        standing="" if goal is None else standing(median_interval(goal.margins(ours_seconds, peer_seconds))),
        ours_cores=_cores(ours),
        peer_cores=_cores(theirs),
        others_load=_others_load([*ours, *theirs]),
        disagreement=disagreement,
    )


def _cores(turns: Sequence[Turn]) -> float:
    return sum(turn.cpu for turn in turns) / sum(turn.wall for turn in turns)


def _others_load(turns: Sequence[Turn]) -> float | None:
    busy = [turn.busy for turn in turns if turn.busy is not None]
    if len(busy) < len(turns):
        return None
    # The machine counts in ticks and a process in microseconds: the difference can be slightly negative.
    return max(0.0, sum(busy) - sum(turn.cpu for turn in turns)) / sum(turn.wall for turn in turns)
