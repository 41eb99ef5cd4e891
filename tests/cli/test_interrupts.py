"""Ctrl-C in a terminal: what is done by then is written, or it is said that nothing is."""

import os
import pty
import select
import signal
import subprocess
import sys
import time

import numpy as np
import polars as pl
import pytest

RNG = np.random.default_rng(0)
PATIENCE = 240  # seconds, for compilers on slow machines


def interrupted(words, folder, shown, cache=None):
    """Run the command in a terminal, press Ctrl-C when it shows some words; return its code and all it showed."""
    terminal, inside = pty.openpty()
    settings = os.environ | {"TERM": "xterm", "COLUMNS": "200", "NO_COLOR": "1"}
    if cache is not None:
        settings["BISECTOR_CACHE_DIR"] = str(cache)
    process = subprocess.Popen(
        [sys.executable, "-m", "bisector.cli", *map(str, words)],
        cwd=folder, stdin=inside, stdout=inside, stderr=inside, env=settings, start_new_session=True,
    )  # fmt: skip
    os.close(inside)
    seen, pressed, start = b"", False, time.monotonic()
    try:
        while time.monotonic() - start < PATIENCE:
            if select.select([terminal], [], [], 0.2)[0]:
                try:
                    more = os.read(terminal, 65536)
                except OSError:  # the other side is closed
                    break
                if not more:
                    break
                seen += more
            if not pressed and shown.encode() in seen:
                os.kill(process.pid, signal.SIGINT)
                pressed = True
        assert pressed, seen.decode(errors="replace")
        return process.wait(PATIENCE), seen.decode(errors="replace")
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        os.close(terminal)


@pytest.fixture
def folder(tmp_path):
    n = 4_000
    x = RNG.normal(size=(n, 8))
    frame = pl.DataFrame({f"x{j}": x[:, j] for j in range(8)})
    frame = frame.with_columns(y=pl.Series(np.where(x[:, 0] * x[:, 1] + x[:, 2] > 0, "in", "out")))
    frame.write_csv(tmp_path / "data.csv")
    return tmp_path


def test_the_page_tells_which_models_were_compared(folder):
    words = ["report", "data.csv", "--target", "y", "--minutes", "4"]
    code, said = interrupted(words, folder, "logistic regression, ")
    assert code == 0, said
    assert "Traceback" not in said
    assert "Stopped before it was complete" in said
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "This was stopped before it was complete" in page
    assert "SVM with Gaussian kernel: stopped before it was compared" in page
    assert "nearest exemplar" in page


def test_the_page_tells_what_was_explored(folder):
    code, said = interrupted(["report", "data.csv"], folder, "distances")
    assert code == 0, said
    assert "Traceback" not in said
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "This was stopped before it was complete" in page
    assert ">Distances</h2>" in page
    assert ">Unusual rows</h2>" not in page


def test_while_loops_compile_nothing_is_done_yet(folder, tmp_path_factory):
    words = ["report", "data.csv", "--target", "y"]
    code, said = interrupted(words, folder, "compiling", cache=tmp_path_factory.mktemp("cache"))
    assert code == 1, said
    assert "Traceback" not in said
    assert "Stopped before anything was found out: nothing is written." in said
    assert sorted(path.name for path in folder.iterdir()) == ["data.csv"]
