"""The real command line, in a process of its own."""

import os
import subprocess
import sys

PLAIN = {"COLUMNS": "200", "TERM": "dumb", "NO_COLOR": "1"}


def run(*words, folder, ok=0, limit=None):
    """Run the command and return what it said; it must end with the code `ok`, and never with a traceback.

    `limit` is a function that the process calls before it begins.
    """
    ran = subprocess.run(
        [sys.executable, "-m", "bisector.cli", *map(str, words)],
        cwd=folder, capture_output=True, text=True, check=False, timeout=600, env=os.environ | PLAIN,
        preexec_fn=limit,
    )  # fmt: skip
    assert ran.returncode == ok, ran.stdout + ran.stderr
    assert "Traceback" not in ran.stderr
    return ran
