"""Pictures of tests and docstrings are drawn without a screen, and put away after each."""

import os
import sys
from collections.abc import Iterator

import pytest

os.environ.setdefault("MPLBACKEND", "Agg")


@pytest.fixture(autouse=True)
def close_pictures() -> Iterator[None]:
    """Close all figures, of which Matplotlib otherwise holds too many."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
