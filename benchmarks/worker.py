"""One contestant's process: makes its data, warms up, then takes turns when the master asks.

The module imports nothing beyond the standard library before the contestant's own import has been timed.
"""

import importlib
import math
import os
import pickle
import time
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks import machine
from benchmarks.families import load
from benchmarks.measure import Turn, settle, time_calls
from benchmarks.memory import PeakMemory, high_water, peak_of

if TYPE_CHECKING:
    import numpy as np

# A turn lasts at least this long: shorter calls are repeated, and their mean is taken.
TURN_SECONDS = 0.05


class Opening(NamedTuple):
    """What a contestant shows before the race: its start-up times, the calls a turn needs, and its answer."""

    import_seconds: float
    first_call_seconds: float
    calls: int
    answer: "Mapping[str, np.ndarray]"


class Surroundings(NamedTuple):
    """Versions of what the process has loaded, and its thread pools."""

    versions: dict[str, str]
    thread_pools: list[dict[str, Any]]


class Performer:
    """The contestant itself; the public methods are what the master may ask for."""

    def begin(self, module: str, family: Path, workload: str, contestant: str, quick: bool) -> Opening:
        start = time.perf_counter()
        importlib.import_module(module)
        import_seconds = time.perf_counter() - start

        import numpy as np

        work = next(one for one in load(family) if one.name == workload)
        chosen = work.contestant(contestant)
        self.package = chosen.package
        self.call: Callable[[], Any] = chosen.prepare(work.data(quick))
        before = high_water()
        first, result = time_calls(self.call)
        after = high_water()
        self.first_growth = None if before is None or after is None else after - before
        answer = {name: np.asarray(value) for name, value in chosen.answer(result).items()}
        del result
        warm, _ = time_calls(self.call)
        settle()
        return Opening(import_seconds, first.wall, max(1, math.ceil(TURN_SECONDS / warm.wall)), answer)

    def turn(self, calls: int) -> Turn:
        turn, _ = time_calls(self.call, calls)
        settle()
        return turn

    def memory(self) -> PeakMemory | None:
        peak = peak_of(self.call)
        settle()
        if peak is None and self.first_growth is not None:
            return PeakMemory(self.first_growth, None, "ru_maxrss, first call")
        return peak

    def surroundings(self) -> Surroundings:
        return Surroundings(machine.versions(self.package), machine.thread_pools())


def serve() -> None:
    """Answer the master's requests, which come and go as pickles, until it closes the pipe."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    # Packages print, and some do so from C: from here on, whatever is written to the usual output goes to the
    # error stream, and nothing but this loop can read the requests.
    os.dup2(2, 1)
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    performer = Performer()
    while True:
        try:
            verb, arguments = pickle.load(requests)
        except EOFError:
            return
        try:
            reply = (True, getattr(performer, verb)(**arguments))
        except (Exception, SystemExit) as error:
            reply = (False, (type(error).__name__, traceback.format_exc()))
        pickle.dump(reply, replies)
        replies.flush()
