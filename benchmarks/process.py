"""The master's end of a contestant's process."""

import contextlib
import os
import pickle
import subprocess
import sys
import tempfile
import threading
from typing import Any

from benchmarks.families import HERE, Entry
from benchmarks.measure import Turn
from benchmarks.memory import PeakMemory
from benchmarks.worker import Opening, Surroundings
from benchmarks.workload import Contestant

SERVE = "from benchmarks.worker import serve; serve()"


class ContestantFailed(Exception):
    """A contestant raised, died or fell silent.

    The message is short and fit to be stored; ``details`` holds what the process printed and its traceback.
    """

    def __init__(self, label: str, reason: str, details: str = "") -> None:
        super().__init__(f"{label} {reason}")
        self.label = label
        self.details = details


class ContestantProcess:
    """A contestant in a fresh process of its own, started at once and ended by leaving the ``with`` block."""

    def __init__(self, entry: Entry, contestant: Contestant, *, quick: bool) -> None:
        self.label = contestant.label
        self.calls = 1
        self._patience = entry.workload.patience
        self._introduction = {
            "module": contestant.module,
            "family": entry.family.resolve(),
            "workload": entry.workload.name,
            "contestant": contestant.label,
            "quick": quick,
        }
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        self._process = subprocess.Popen(
            [sys.executable, "-c", SERVE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env={**os.environ, **contestant.environment},
            cwd=HERE.parent,
        )

    def __enter__(self) -> "ContestantProcess":
        return self

    def __exit__(self, *exception: object) -> None:
        # A process that is asked nothing more ends by itself, but not one that was interrupted at its work.
        if any(exception):
            self._process.kill()
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        self._errors.close()

    def begin(self) -> Opening:
        """Import, make the data, warm up."""
        opening: Opening = self._ask("begin", **self._introduction)
        self.calls = opening.calls
        return opening

    def turn(self) -> Turn:
        """One timed turn."""
        turn: Turn = self._ask("turn", calls=self.calls)
        return turn

    def memory(self) -> PeakMemory | None:
        """Peak memory of one call, which is not timed."""
        peak: PeakMemory | None = self._ask("memory")
        return peak

    def surroundings(self) -> Surroundings:
        """Versions and thread pools."""
        surroundings: Surroundings = self._ask("surroundings")
        return surroundings

    def _ask(self, verb: str, **arguments: Any) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        gave_up = threading.Event()

        def give_up() -> None:
            gave_up.set()
            self._process.kill()

        silence = threading.Timer(self._patience, give_up)
        silence.daemon = True
        silence.start()
        try:
            pickle.dump((verb, arguments), self._process.stdin)
            self._process.stdin.flush()
            succeeded, reply = pickle.load(self._process.stdout)
        except (EOFError, OSError, pickle.UnpicklingError):
            self._process.kill()
            code = self._process.wait()
            silent = f"gave no sign for {self._patience:g} s"
            reason = silent if gave_up.is_set() else f"died with exit code {code}"
            raise ContestantFailed(self.label, reason, self._last_words()) from None
        finally:
            silence.cancel()
        if not succeeded:
            kind, story = reply
            raise ContestantFailed(self.label, f"raised {kind}", f"{self._last_words()}{story}")
        return reply

    def _last_words(self, limit: int = 4000) -> str:
        self._errors.seek(max(0, self._errors.seek(0, os.SEEK_END) - limit))
        return self._errors.read().decode(errors="replace")
