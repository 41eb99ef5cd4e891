"""Progress of iterative fits: a bar for whoever wants to watch, nothing for everyone else.

Users write ``with bisector.progress(): model.fit(X)`` or pass ``verbose=True``; library code wraps its loop
in `track`. A bar is drawn by rich where it is installed, and as plain lines otherwise, on the standard
error stream, and only if that is a terminal or a notebook. All open bars share one display, so that a fit
inside a fit, or fits in several threads, do not draw over each other.
"""

import contextlib
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib.util import find_spec
from typing import IO, Any, Protocol

_SECONDS_BETWEEN_LINES = 0.5

_lock = threading.RLock()
_watchers = 0  # how many `progress()` blocks are open
_display: "_Display | None" = None  # what the open bars share
_open_bars = 0


@contextmanager
def progress() -> Iterator[None]:
    """Show a progress bar for every iterative fit inside a ``with`` block.

    Nothing is shown when the standard error stream is neither a terminal nor a notebook. The block counts
    for the whole process: fits in other threads show their bars too.

    Examples
    --------
    >>> import bisector
    >>> from bisector.engine.progress import track
    >>> with bisector.progress(), track("a loop like that of a fit", total=3) as bar:
    ...     for _ in range(3):
    ...         bar.advance()
    """
    global _watchers
    with _lock:
        _watchers += 1
    try:
        yield
    finally:
        with _lock:
            _watchers -= 1


class Bar:
    """The progress of one loop. This one shows nothing: it stands in when nobody watches."""

    def advance(self, steps: int = 1, note: str = "") -> None:
        """Count finished steps; `note` says where the loop stands, for instance its objective.

        May be called from any thread, even after the bar has been closed.
        """


_UNWATCHED = contextlib.nullcontext(Bar())


def track(
    description: str, total: int | None = None, verbose: bool | int = False
) -> AbstractContextManager[Bar]:
    """Open a bar around a loop of library code.

    Parameters
    ----------
    description : str
        What the loop does: "k-means".
    total : int or None, default=None
        The most steps it can take, if that is known.
    verbose : bool or int, default=False
        Whether to show the bar outside of `progress()` too.

    Returns
    -------
    context manager giving a Bar
        A loop that is left before `total` steps ends as done with the steps it took; one left by an
        exception ends as stopped, and the exception goes on.

    Examples
    --------
    >>> with track("halving", total=100) as bar:
    ...     x = 1.0
    ...     while x > 1e-3:
    ...         x /= 2
    ...         bar.advance(note=f"x = {x:.3g}")
    """
    if not (verbose or _watchers):
        return _UNWATCHED
    return _watched(description, total)


@contextmanager
def _watched(description: str, total: int | None) -> Iterator[Bar]:
    global _display, _open_bars
    with _lock:
        if _open_bars == 0:
            _display = _new_display()
        display = _display
        if display is not None:
            bar = _DrawnBar(display, description, total, lasting=_open_bars == 0)
            _open_bars += 1
    if display is None:
        yield Bar()
        return
    ending = "stopped"
    try:
        yield bar
        ending = "done"
    finally:
        with _lock:
            bar.close(ending)
            _open_bars -= 1
            if _open_bars == 0:
                _display = None
                display.stop()


def _forget_display() -> None:
    """In a forked child the parent's bars are not ours to draw, and its lock may be held by a lost thread."""
    global _lock, _display
    _lock, _display = threading.RLock(), None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_display)


class _DrawnBar(Bar):
    """A bar somebody sees. One opened while another is open does not last: it vanishes when it ends."""

    def __init__(self, display: "_Display", description: str, total: int | None, lasting: bool) -> None:
        self.description = description
        self.total = total
        self.lasting = lasting
        self.steps = 0
        self.note = ""
        self.started = time.monotonic()
        self._display: _Display | None = display
        display.begin(self)

    def advance(self, steps: int = 1, note: str = "") -> None:
        with _lock:
            if self._display is not None:
                self.steps += steps
                self.note = note or self.note
                self._display.draw(self)

    def close(self, ending: str) -> None:
        if self._display is not None:
            self._display.finish(self, ending)
            self._display = None


class _Display(Protocol):
    """Where bars are drawn; called under the lock."""

    def begin(self, bar: _DrawnBar) -> None: ...

    def draw(self, bar: _DrawnBar) -> None: ...

    def finish(self, bar: _DrawnBar, ending: str) -> None: ...

    def stop(self) -> None: ...


def _new_display() -> _Display | None:
    """Return the best display that can be seen here, if any can."""
    on_terminal = _is_terminal(sys.stderr)
    if not on_terminal and "ipykernel" not in sys.modules:
        return None
    try:
        from rich.console import Console
    except ImportError:
        return _Lines() if on_terminal else None
    console = Console(stderr=True)
    # In a notebook, rich draws a live display by ipywidgets, and warns on every frame when they are missing.
    if (on_terminal and console.is_interactive) or (console.is_jupyter and find_spec("ipywidgets")):
        return _RichBars(console)
    return _Lines() if on_terminal else None


def _is_terminal(stream: IO[str] | None) -> bool:
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # the stream is closed
        return False


class _Lines:
    """Bars as lines of text: one every half second for all of them together, and one when a bar ends."""

    def __init__(self) -> None:
        self._next_line = time.monotonic() + _SECONDS_BETWEEN_LINES

    def begin(self, bar: _DrawnBar) -> None:
        pass

    def draw(self, bar: _DrawnBar) -> None:
        if time.monotonic() >= self._next_line:
            self._write(bar, "")
            self._next_line = time.monotonic() + _SECONDS_BETWEEN_LINES

    def finish(self, bar: _DrawnBar, ending: str) -> None:
        if bar.lasting:
            self._write(bar, f"{ending} after {time.monotonic() - bar.started:.1f} s")

    def stop(self) -> None:
        pass

    def _write(self, bar: _DrawnBar, ending: str) -> None:
        steps = f"{bar.steps}/{bar.total}" if bar.total is not None else f"{bar.steps} steps"
        sys.stderr.write(f"{bar.description}: {_joined(steps, bar.note, ending)}\n")
        sys.stderr.flush()


class _RichBars:
    """Bars in one live display of rich."""

    def __init__(self, console: Any) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        self._live = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[remark]}", markup=False),
            console=console,
            # What is printed meanwhile moves above the bars, unless it goes to a file or a pipe.
            redirect_stdout=console.is_jupyter or _is_terminal(sys.stdout),
        )
        self._tasks: dict[_DrawnBar, Any] = {}
        self._live.start()

    def begin(self, bar: _DrawnBar) -> None:
        self._tasks[bar] = self._live.add_task(bar.description, total=bar.total, remark="")

    def draw(self, bar: _DrawnBar) -> None:
        self._live.update(self._tasks[bar], completed=bar.steps, remark=bar.note)

    def finish(self, bar: _DrawnBar, ending: str) -> None:
        task = self._tasks.pop(bar)
        if bar.lasting:
            # A bar of unknown length would go on pulsing; one that ended early keeps the length it reached.
            total = bar.steps if bar.total is None else None
            self._live.update(task, total=total, completed=bar.steps, remark=_joined(bar.note, ending))
            self._live.stop_task(task)
        else:
            self._live.remove_task(task)

    def stop(self) -> None:
        self._live.refresh()  # in a notebook, stopping alone would leave the frame before the last
        self._live.stop()


def _joined(*words: str) -> str:
    return ", ".join(word for word in words if word)
