"""What tests of algorithms share."""

import os
import subprocess
import sys

import pytest


@pytest.fixture
def printed_both_ways():
    """What a script prints with compiled loops, and with the same loops as plain Python."""

    def run(code, *options):
        return [
            subprocess.run(
                [sys.executable, *options, "-c", code],
                env=os.environ | {"NUMBA_DISABLE_JIT": disabled},
                capture_output=True,
                text=True,
                check=True,
            ).stdout
            for disabled in "01"
        ]

    return run
