"""``python -m bisector.warmup``, on a copy of the package with modules made for it."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import bisector

WITH_LOOPS = """
import numpy as np
from bisector.engine.loops import given, loop

@loop
def inner(x):
    return x + 1

@loop
def outer(values):
    return inner(values[0])

def warm():
    for dtype in (np.float32, np.float64):
        outer(given(np.ones(1), dtype))
"""
OPTIONAL = "import a_package_nobody_has\ndef warm(): pass\n"
BROKEN = "import bisector.not_there\ndef warm(): pass\n"
# Neither may be imported: one has its function elsewhere, the other only speaks of it.
NOT_AT_TOP_LEVEL = "raise SystemExit('imported')\nclass Oven:\n    def warm(): pass\n"
IN_TEXT = 'raise SystemExit("imported")\n"""A module may have\n\ndef warm(): pass\n"""\n'


@pytest.fixture
def package(tmp_path):
    """A bare copy of the engine, with some modules that `warmup` should find and some that it should not."""
    original, copy = Path(bisector.__file__).parent, tmp_path / "src" / "bisector"
    shutil.copytree(original / "engine", copy / "engine", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("__init__.py", "__init__.pyi", "warmup.py"):
        shutil.copy(original / name, copy / name)
    for path in (copy / "engine").glob("*.py"):
        kept = ("__init__.py", "loops.py", "loop_cache.py", "intrinsics.py", "progress.py", "values.py")
        if path.name not in kept:
            path.unlink()
    (copy / "solvers").mkdir()
    for name, source in {
        "__init__": "",
        "loops_inside": WITH_LOOPS,
        "optional": OPTIONAL,
        "oven": NOT_AT_TOP_LEVEL,
        "text": IN_TEXT,
    }.items():
        (copy / "solvers" / f"{name}.py").write_text(source)
    return copy


def run(package, **environment):
    settings = {
        "PYTHONPATH": package.parent,
        "BISECTOR_CACHE_DIR": package.parent / "cache",
        "NUMBA_DISABLE_JIT": 0,
    }
    settings |= environment
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "bisector.warmup"],
        env=os.environ | {name: str(value) for name, value in settings.items()},
        capture_output=True,
        text=True,
    )


def test_fills_the_cache_and_says_so(package):
    cache = package.parent / "cache"
    first = run(package)
    assert first.stderr == ""
    (folder,) = cache.iterdir()
    line = r"2 loops \(without solvers.optional\) in \d+\.\d s: 4 compiled, 0 loaded, kept in (.+)\n"
    assert re.fullmatch(line, first.stdout)[1] == str(folder)
    assert len(list(folder.iterdir())) == 4

    second = run(package)
    assert "0 compiled, 2 loaded" in second.stdout
    assert len(list(folder.iterdir())) == 4


def test_says_when_nothing_could_be_kept(package):
    (package.parent / "cache").write_text("")
    done = run(package)
    assert done.stderr == ""
    assert "4 compiled, 0 loaded, not kept" in done.stdout


def test_has_nothing_to_do_when_compilation_is_off(package):
    assert re.fullmatch(r"2 loops .+: nothing to compile\n", run(package, NUMBA_DISABLE_JIT=1).stdout)
    assert not (package.parent / "cache").exists()


def test_a_fault_of_our_own_is_not_taken_for_a_missing_dependency(package):
    (package / "solvers" / "broken.py").write_text(BROKEN)
    done = run(package)
    assert done.returncode != 0
    assert "No module named 'bisector.not_there'" in done.stderr


def test_every_module_of_the_package_with_loops_can_be_warmed():
    """By convention, whatever imports the decorator defines ``warm()``."""
    root = Path(bisector.__file__).parent
    with_loops = [
        path for path in root.rglob("*.py") if "engine.loops import" in path.read_text(encoding="utf-8")
    ]
    for path in with_loops:
        source = path.read_text(encoding="utf-8")
        assert not re.search(r"^@loop|= loop\(", source, re.MULTILINE) or "\ndef warm() -> None:" in source, (
            path
        )
    assert root / "solvers" / "double_double.py" in with_loops
