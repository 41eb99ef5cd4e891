import io
import os
import re
import subprocess
import sys
import textwrap
import threading
import time
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest

import bisector
from bisector.engine import progress as module
from bisector.engine.progress import track

HIDE_RICH = "import sys; sys.modules['rich'] = None"


class Terminal(io.StringIO):
    """A terminal that remembers what was written on it."""

    def isatty(self) -> bool:
        return True

    @property
    def lines(self) -> list[str]:
        return self.getvalue().splitlines()


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """The standard error stream is a terminal, and rich is not installed."""
    stream = Terminal()
    # The name in the module is replaced: between a fixture and its test, pytest puts its own stream back.
    monkeypatch.setattr(module, "sys", SimpleNamespace(stderr=stream, modules=sys.modules))
    monkeypatch.setitem(sys.modules, "rich.console", None)
    return stream


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The clock of the bars, which moves only when told."""
    clock = SimpleNamespace(now=100.0)
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: clock.now))
    return clock


def run_a_loop(verbose: bool | int = False) -> None:
    with track("k-means", total=300, verbose=verbose) as bar:
        for i in range(12):
            bar.advance(note=f"inertia {i}")


def fail_in_a_loop() -> None:
    with track("k-means", total=300, verbose=True) as bar:
        bar.advance(2)
        raise ZeroDivisionError


def test_nobody_watches_nothing_is_shown(terminal: Terminal) -> None:
    run_a_loop()
    assert terminal.lines == []


@pytest.mark.parametrize("verbose", [True, 1, 2])
def test_verbose_shows_a_bar(terminal: Terminal, verbose: bool | int) -> None:
    run_a_loop(verbose)
    assert len(terminal.lines) == 1


def test_progress_shows_a_bar_until_its_outermost_block_ends(terminal: Terminal) -> None:
    with bisector.progress():
        with bisector.progress():
            run_a_loop()
        run_a_loop()
    run_a_loop()
    assert len(terminal.lines) == 2


def test_progress_ends_when_its_block_fails(terminal: Terminal) -> None:
    with pytest.raises(ZeroDivisionError), bisector.progress():
        fail_in_a_loop()
    run_a_loop()
    assert len(terminal.lines) == 1


def test_progress_counts_in_other_threads(terminal: Terminal) -> None:
    with bisector.progress():
        thread = threading.Thread(target=run_a_loop)
        thread.start()
        thread.join()
    assert len(terminal.lines) == 1


@pytest.mark.parametrize("stream", [None, io.StringIO()])
def test_without_a_terminal_nothing_is_shown(
    monkeypatch: pytest.MonkeyPatch, stream: io.StringIO | None
) -> None:
    monkeypatch.setattr(sys, "stderr", stream)
    run_a_loop(verbose=True)
    assert stream is None or stream.getvalue() == ""


def test_a_closed_stream_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    stream.close()
    monkeypatch.setattr(sys, "stderr", stream)
    run_a_loop(verbose=True)


def test_a_loop_that_converges_early_is_done_where_it_is(terminal: Terminal, clock: SimpleNamespace) -> None:
    run_a_loop(verbose=True)
    assert terminal.lines == ["k-means: 12/300, inertia 11, done after 0.0 s"]


def test_a_loop_of_unknown_length_counts_its_steps(terminal: Terminal, clock: SimpleNamespace) -> None:
    with track("growing", verbose=True) as bar:
        bar.advance(3)
        clock.now += 2.25
    assert terminal.lines == ["growing: 3 steps, done after 2.2 s"]


def test_an_exception_stops_the_bar_and_passes_through(terminal: Terminal, clock: SimpleNamespace) -> None:
    with pytest.raises(ZeroDivisionError):
        fail_in_a_loop()
    assert terminal.lines == ["k-means: 2/300, stopped after 0.0 s"]
    run_a_loop(verbose=True)
    assert len(terminal.lines) == 2


def test_plain_lines_come_twice_a_second_at_most(terminal: Terminal, clock: SimpleNamespace) -> None:
    with track("slow", total=96, verbose=True) as bar:
        for _ in range(96):
            clock.now += 1 / 64
            bar.advance()
    assert terminal.lines == ["slow: 32/96", "slow: 64/96", "slow: 96/96", "slow: 96/96, done after 1.5 s"]


def test_a_note_stays_until_the_next(terminal: Terminal, clock: SimpleNamespace) -> None:
    with track("noted", total=3, verbose=True) as bar:
        bar.advance(note="inertia 3.2")
        bar.advance()
    assert terminal.lines == ["noted: 2/3, inertia 3.2, done after 0.0 s"]


def test_a_loop_inside_a_loop_leaves_no_line_of_its_own(terminal: Terminal, clock: SimpleNamespace) -> None:
    with track("outer", total=2, verbose=True) as outer:
        for _ in range(2):
            with track("inner", total=5, verbose=True) as inner:
                inner.advance()
                clock.now += 0.5
                inner.advance()
            outer.advance()
    assert terminal.lines == ["inner: 2/5", "inner: 2/5", "outer: 2/2, done after 1.0 s"]


class Slow(int):
    """A number whose addition lets other threads run before its result is stored."""

    def __radd__(self, other: int) -> int:
        time.sleep(0.0005)
        return other + int(self)


def test_steps_of_many_threads_all_count(terminal: Terminal) -> None:
    def work(bar: Any) -> None:
        for _ in range(25):
            bar.advance(Slow(1))

    with track("blocks", total=100, verbose=True) as bar:
        threads = [threading.Thread(target=work, args=[bar]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert terminal.lines[-1].startswith("blocks: 100/100, done")


def test_a_step_after_the_end_is_ignored(terminal: Terminal) -> None:
    with track("ended", total=5, verbose=True) as bar:
        bar.advance()
    bar.advance()
    assert len(terminal.lines) == 1


@dataclass
class Outcome:
    """What a script wrote: on the terminal, and into the pipes that stood for its standard streams."""

    code: int
    terminal: str
    stdout: str
    stderr: str

    @property
    def screen(self) -> list[str]:
        """The frames of the terminal in order, without colours; each is a line."""
        plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", self.terminal)
        return [line.rstrip() for line in re.split(r"[\r\n]+", plain) if line.strip()]


def run(script: str, *, stderr: bool = True, stdout: bool = False, **environment: str) -> Outcome:
    """Run a script in a process of its own, whose streams are a terminal where that is asked for."""
    pty = pytest.importorskip("pty")
    keeper, terminal = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)],
        stdin=subprocess.DEVNULL,
        stdout=terminal if stdout else subprocess.PIPE,
        stderr=terminal if stderr else subprocess.PIPE,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "100", **environment},
    )
    os.close(terminal)
    written: list[bytes] = []

    def collect() -> None:
        # Linux reports the end of a terminal by an error, other systems by an empty answer.
        try:
            while block := os.read(keeper, 65536):
                written.append(block)
        except OSError:
            pass

    collector = threading.Thread(target=collect)
    collector.start()
    out, err = process.communicate(timeout=60)
    collector.join()
    os.close(keeper)
    return Outcome(
        process.returncode, b"".join(written).decode(), (out or b"").decode(), (err or b"").decode()
    )


LOOP = """
import bisector, sys
from bisector.engine.progress import track
with bisector.progress(), track("k-means [fast]", total=300) as bar:
    for i in range(12):
        bar.advance(note=f"inertia {i}")
        print("step", i)
assert type(sys.stderr).__name__ == "TextIOWrapper"
"""


def test_rich_draws_the_bar_on_a_terminal() -> None:
    outcome = run(LOOP + "assert 'rich' in sys.modules")
    assert outcome.code == 0
    last = outcome.screen[-1]
    assert last.startswith("k-means [fast] ━")
    assert re.search(r" 12/300 0:00:0\d inertia 11, done$", last)
    assert outcome.terminal.rstrip().endswith("\x1b[?25h")  # the cursor is visible again


def test_without_rich_there_are_plain_lines() -> None:
    outcome = run(HIDE_RICH + LOOP)
    assert outcome.code == 0
    assert re.fullmatch(r"k-means \[fast\]: 12/300, inertia 11, done after 0\.\d s", outcome.screen[-1])
    assert "\x1b" not in outcome.terminal


def test_a_terminal_without_cursor_gets_plain_lines() -> None:
    outcome = run(LOOP, TERM="dumb")
    assert "12/300, inertia 11, done after" in outcome.screen[-1]
    assert "\x1b" not in outcome.terminal


@pytest.mark.parametrize("hidden", ["", HIDE_RICH])
def test_what_is_printed_meanwhile_reaches_its_pipe(hidden: str) -> None:
    assert run(hidden + LOOP).stdout == "".join(f"step {i}\n" for i in range(12))


def test_what_is_printed_meanwhile_stands_above_the_bar() -> None:
    screen = run(LOOP, stdout=True).screen
    assert [line for line in screen if line.startswith("step")] == [f"step {i}" for i in range(12)]
    assert screen[-1].startswith("k-means")


@pytest.mark.parametrize("hidden", ["", HIDE_RICH])
def test_into_a_pipe_nothing_is_written(hidden: str) -> None:
    outcome = run(hidden + LOOP, stderr=False, FORCE_COLOR="1")
    assert (outcome.code, outcome.stderr, outcome.terminal) == (0, "", "")


def test_unwatched_loops_load_nothing_and_write_nothing() -> None:
    outcome = run(
        """
        import sys
        from bisector.engine.progress import track
        with track("k-means", total=3) as bar:
            bar.advance(note="x")
        print(sorted({"rich", "sklearn", "numba", "numpy"} & set(sys.modules)))
        """
    )
    assert (outcome.code, outcome.terminal, outcome.stdout) == (0, "", "[]\n")


def test_rich_shares_one_display_among_nested_and_parallel_loops() -> None:
    outcome = run(
        """
        import threading, time
        import bisector
        from bisector.engine.progress import track

        def fit(name):
            with track(name, total=3) as bar:
                for _ in range(3):
                    bar.advance()
                    time.sleep(0.1)

        with bisector.progress(), track("outer") as outer:
            threads = [threading.Thread(target=fit, args=[f"inner {i}"]) for i in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
                outer.advance()
            fit("inner 4")
        outer.advance()
        """
    )
    assert outcome.code == 0
    assert outcome.terminal.count("\x1b[?25l") == 1  # one display hid the cursor, once
    for i in range(5):
        assert any(line.startswith(f"inner {i} ━") for line in outcome.screen)
    assert re.search(r"^outer ━+ 4/4 .* done$", outcome.screen[-1])


@pytest.mark.parametrize("hidden", ["", HIDE_RICH])
def test_an_exception_closes_the_display_before_its_traceback(hidden: str) -> None:
    outcome = run(
        hidden
        + """
import bisector
from bisector.engine.progress import track
with bisector.progress(), track("outer", total=5) as bar, track("inner", total=5):
    bar.advance()
    raise ZeroDivisionError("as it happens")
"""
    )
    assert outcome.code == 1
    last_frame = outcome.screen[
        next(i for i, line in enumerate(outcome.screen) if line.startswith("Trace")) - 1
    ]
    assert re.search(r"^outer.* 1/5.* stopped", last_frame)
    assert outcome.screen[-1] == "ZeroDivisionError: as it happens"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_a_forked_child_does_not_wait_for_a_lock_held_in_its_parent() -> None:
    outcome = run(
        HIDE_RICH
        + """
import os, threading, warnings
from bisector.engine.progress import track

class Stuck:
    def __init__(self, terminal):
        self.terminal, self.reached, self.free = terminal, threading.Event(), threading.Event()
    def isatty(self):
        return True
    def write(self, text):
        self.reached.set()
        self.free.wait()
        self.terminal.write(text)
    def flush(self):
        pass

def loop():
    with track("loop", total=1, verbose=True) as bar:
        bar.advance()

terminal = sys.stderr
sys.stderr = stuck = Stuck(terminal)
thread = threading.Thread(target=loop)
thread.start()
stuck.reached.wait()
warnings.simplefilter("ignore")
child = os.fork()
if child == 0:
    import signal
    signal.alarm(20)
    sys.stderr = terminal
    loop()
    os._exit(7)
code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
stuck.free.set()
thread.join()
sys.exit(code)
"""
    )
    assert outcome.code == 7
