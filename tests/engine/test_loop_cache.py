"""The disk cache of loops, in processes of their own on a copy of the package that the tests may edit."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import bisector

PROBE = """
from typing import NamedTuple
import numpy as np
from numba.extending import overload
from bisector.engine.loops import given, loop
from bisector.engine.part import increment

class Shift(NamedTuple):
    by: float

@loop
def shifted(metric, x):
    return metric.by + x

Shift.formula = staticmethod(shifted)

def apply(metric, x):
    return metric.formula(metric, x)

@overload(apply)
def compile_apply(metric, x):
    formula = metric.instance_class.formula
    return lambda metric, x: formula(metric, x)

@loop
def total(metric, values):
    result = 0.0
    for value in values:
        result += apply(metric, value)
    return result

@loop
def call(function, x):
    return function(x)

@loop
def double(values):
    result = np.empty_like(values)
    for i in range(values.size):
        result[i] = 2 * values[i]
    return result

@loop
def outer(values):
    return increment(double(values)[0])

def sum_in_order(values):
    result = 0.0
    for value in values:
        result += value
    return result

strict_sum = loop(sum_in_order)
fast_sum = loop(fast=True)(sum_in_order)

def adder(constant):
    @loop
    def plus(x):
        return x + constant
    return plus

ones = given(np.ones(3))

def counts(made):
    return [sum(made.stats.cache_hits.values()), sum(made.stats.cache_misses.values())]
"""

PART = """
from bisector.engine.loops import loop

@loop
def increment(x):
    return x + 1.0
"""

MINE = """
from typing import NamedTuple
import numba

class Mine(NamedTuple):
    by: float

Mine.formula = staticmethod(numba.njit(lambda metric, x: metric.by + 10 * x))
"""


class Workshop:
    """A copy of the package with two more modules, a cache folder, and a folder of a user's own modules."""

    def __init__(self, folder: Path) -> None:
        self.package = folder / "src" / "bisector"
        self.user = folder / "user"
        self.cache = folder / "cache"
        self.user.mkdir()
        (self.package / "engine").mkdir(parents=True)
        original = Path(bisector.__file__).parent
        for name in ("__init__.py", "__init__.pyi", "engine/__init__.py"):
            shutil.copy(original / name, self.package / name)
        for name in ("loops.py", "loop_cache.py", "intrinsics.py", "values.py"):
            shutil.copy(original / "engine" / name, self.package / "engine" / name)
        (self.package / "engine" / "probe.py").write_text(PROBE)
        (self.package / "engine" / "part.py").write_text(PART)

    def run(self, script: str, **environment: object) -> object:
        """Run a script after ``from bisector.engine.probe import *``; what it calls ``answer`` comes back."""
        paths = os.pathsep.join([str(self.package.parent), str(self.user)])
        settings = {
            "PYTHONPATH": paths,
            "BISECTOR_CACHE_DIR": self.cache,
            "NUMBA_DISABLE_JIT": 0,
            # Python takes an edit within the same second and of the same size for no edit.
            "PYTHONDONTWRITEBYTECODE": 1,
        }
        done = subprocess.run(
            [
                sys.executable,
                "-W",
                "error",
                "-c",
                f"from bisector.engine.probe import *\n{script}\nimport json\nprint(json.dumps(answer))",
            ],
            env=os.environ | {name: str(value) for name, value in (settings | environment).items()},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        return json.loads(done.stdout)

    def entries(self) -> list[Path]:
        return sorted(self.cache.glob("*/*"))

    def folders(self) -> list[Path]:
        return sorted(self.cache.glob("loops-*"))


@pytest.fixture
def workshop(tmp_path):
    return Workshop(tmp_path)


def test_a_second_process_compiles_nothing(workshop):
    script = "answer = [outer(ones), total(Shift(2.0), ones), counts(outer), counts(total), counts(double)]"
    assert workshop.run(script) == [3.0, 9.0, [0, 1], [0, 1], [0, 1]]
    before = workshop.entries()
    # The inner loop lies inside the outer one's code and is not even asked for.
    assert workshop.run(script) == [3.0, 9.0, [1, 0], [1, 0], [0, 0]]
    assert workshop.entries() == before
    assert {path.suffix for path in before} == {".loop"}


def test_a_loaded_loop_serves_inside_a_new_one(workshop):
    workshop.run("answer = double(ones).tolist()")
    assert workshop.run("answer = [outer(ones), counts(outer), counts(double)]") == [3.0, [0, 1], [1, 0]]


def test_nothing_of_the_users_is_kept(workshop):
    """Neither an edited nor a removed class or function of the user's can do harm, for none is on disk."""
    user_module = workshop.user / "mine.py"
    user_module.write_text(MINE)
    script = """
import mine, numba
@numba.njit
def twice(x):
    return 2 * x
answer = [total(mine.Mine(2.0), ones), total(Shift(2.0), ones), call(twice, 4.0)]
"""
    assert workshop.run(script) == [36.0, 9.0, 8.0]
    kept = workshop.entries()
    assert sorted(path.name.split("-")[0] for path in kept) == ["shifted", "total"]
    assert not any(b"mine" in path.read_bytes().lower() for path in kept)

    user_module.write_text(MINE.replace("10 * x", "100 * x"))
    assert workshop.run(script) == [306.0, 9.0, 8.0]
    user_module.unlink()
    assert workshop.run("answer = [total(Shift(2.0), ones), counts(total)]") == [9.0, [1, 0]]


def test_a_users_class_inside_a_tuple_or_a_class_of_ours_is_not_kept(workshop):
    (workshop.user / "mine.py").write_text(MINE)
    workshop.run(
        """
import mine
@loop
def first(x):
    return 1.0
first.py_func.__module__ = "bisector.engine.probe"
first(((1.0, mine.Mine(1.0)),))
first(Shift(mine.Mine(1.0)))
class Local(NamedTuple):
    by: float
Local.__module__ = "bisector.engine.probe"
first(Local(1.0))
answer = first(((1.0, Shift(1.0)), None, True))
"""
    )
    assert len(workshop.entries()) == 1


def test_a_loop_of_the_users_is_not_kept(workshop):
    (workshop.user / "theirs.py").write_text(PART)
    assert workshop.run("import theirs; answer = theirs.increment(1.0)") == 2.0
    assert workshop.entries() == []


def test_damaged_entries_are_misses_and_are_replaced(workshop):
    """A loop made anew looks for its entries anew, and finds one of two damaged."""
    outcomes = workshop.run(
        """
import os
from pathlib import Path
inputs = ones, given(ones, np.float32)
for values in inputs:
    double(values)
path, other = sorted(Path(os.environ["BISECTOR_CACHE_DIR"]).glob("*/double-*"))
whole = path.read_bytes()
half = len(whole) // 2
damages = dict(
    empty=b"", short=whole[:10], half=whole[:half], last=whole[:-1], longer=whole + b"x",
    zeros=bytes(len(whole)),
    flipped=whole[:half] + bytes([whole[half] ^ 1]) + whole[half + 1:], swapped=other.read_bytes(),
)
answer = {}
for name, damage in damages.items():
    path.write_bytes(damage)
    again, healed = loop(double.py_func), loop(double.py_func)
    right = [(again(v) == 2.0).all() and again(v).dtype == v.dtype for v in inputs]
    replaced = path.read_bytes() != damage
    healed_right = [(healed(v) == 2.0).all() and healed(v).dtype == v.dtype for v in inputs]
    answer[name] = [bool(all(right)), counts(again), replaced, bool(all(healed_right)), counts(healed)]
"""
    )
    assert len(outcomes) == 8
    for name, outcome in outcomes.items():
        assert outcome == [True, [1, 1], True, True, [2, 0]], name
    assert len(workshop.entries()) == 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="races are run between forked processes")
def test_racing_processes_keep_both_entries(workshop):
    """Eight times two processes meet an empty cache with different types; then both entries serve."""
    rounds = workshop.run(
        """
import os
from pathlib import Path
answer = []
for number in range(8):
    os.environ["BISECTOR_CACHE_DIR"] = f"{os.environ['BISECTOR_CACHE_DIR'].partition('#')[0]}#{number}"
    ready, go = os.pipe()
    children = []
    for dtype in (np.float32, np.float64):
        if (child := os.fork()) == 0:
            made = loop(double.py_func)
            os.read(ready, 1)
            result = made(given([1.5], dtype))
            os._exit(0 if result[0] == 3.0 and result.dtype == dtype and counts(made) == [0, 1] else 1)
        children.append(child)
    os.write(go, b"..")
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    made = loop(double.py_func)
    results = [made(given([1.5], dtype)) for dtype in (np.float32, np.float64)]
    answer.append([codes, [float(r[0]) for r in results], [str(r.dtype) for r in results], counts(made)])
"""
    )
    assert rounds == [[[0, 0], [3.0, 3.0], ["float32", "float64"], [2, 0]]] * 8


def test_entries_of_different_processes_live_together(workshop):
    """Loops of one name and signature, compiled by two processes, are called side by side in a third."""
    assert workshop.run("answer = adder(1.0)(0.0)") == 1.0
    assert workshop.run("answer = adder(2.0)(0.0)") == 2.0
    script = """
one, two = adder(1.0), adder(2.0)
@loop
def both(x):
    return one(x), two(x)
answer = [both(0.0), one(0.0), two(0.0), counts(one), counts(two)]
"""
    assert workshop.run(script) == [[1.0, 2.0], 1.0, 2.0, [1, 0], [1, 0]]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs forked processes")
def test_entries_of_forked_processes_live_together(workshop):
    script = """
import os
one, two = adder(1.0), adder(2.0)
for made in (one, two):
    if os.fork() == 0:
        made(0.0)
        os._exit(0)
    os.wait()
@loop
def both(x):
    return one(x), two(x)
answer = [both(0.0), counts(one), counts(two)]
"""
    assert workshop.run(script) == [[1.0, 2.0], [1, 0], [1, 0]]


def test_a_closure_over_anything_but_constants_is_not_kept(workshop):
    assert workshop.run("answer = adder((1.0, 2.0)[0])(0.0)") == 1.0
    assert len(workshop.entries()) == 1
    script = "array = np.ones(1)\nmade = adder(array)\nmade(1.0)\nanswer = counts(made)"
    assert workshop.run(script) == [0, 1]
    assert workshop.run(script) == [0, 1]
    assert len(workshop.entries()) == 1


def test_strict_and_fast_versions_of_a_function_are_kept_apart(workshop):
    script = """
values = given(np.array([1e100, 1.0, -1e100] * 100))
answer = [strict_sum(values), counts(strict_sum), counts(fast_sum)]
fast_sum(values)
answer += [counts(fast_sum)]
"""
    assert workshop.run(script) == [0.0, [0, 1], [0, 0], [0, 1]]
    assert workshop.run(script) == [0.0, [1, 0], [0, 0], [1, 0]]


def test_an_edit_in_a_room_with_loops_renames_the_folder(workshop):
    """The outer loop's file and bytecode stay as they were; only what it calls, elsewhere, has changed."""
    script = "answer = [outer(ones), counts(outer)]"
    assert workshop.run(script) == [3.0, [0, 1]]
    (workshop.package / "engine" / "part.py").write_text(PART.replace("x + 1.0", "x + 5.0"))
    assert workshop.run(script) == [7.0, [0, 1]]
    assert len(workshop.folders()) == 2
    (workshop.package / "engine" / "part.py").write_text(PART)
    assert workshop.run(script) == [3.0, [1, 0]]
    (workshop.package / "engine" / "new.py").write_text("")
    assert workshop.run(script) == [3.0, [0, 1]]


def test_an_edit_where_no_loop_lives_keeps_the_folder(workshop):
    script = "answer = [outer(ones), counts(outer)]"
    assert workshop.run(script) == [3.0, [0, 1]]
    (workshop.package / "plot").mkdir()
    (workshop.package / "plot" / "new.py").write_text("")
    assert workshop.run(script) == [3.0, [1, 0]]


def test_a_process_whose_source_was_edited_leaves_the_cache_alone(workshop):
    """It may hold the old version of one module and the new version of the next."""
    edit = (
        "import pathlib, bisector.engine.part as part\npathlib.Path(part.__file__).write_text('# edited')\n"
    )
    assert workshop.run(edit + "answer = [outer(ones), outer.stats.cache_path]") == [3.0, None]
    assert workshop.entries() == []


@pytest.mark.parametrize(
    "setting", [{"NUMBA_BOUNDSCHECK": 1}, {"NUMBA_CPU_NAME": "generic"}, {"NUMBA_OPT": 1}]
)
def test_other_machines_and_compiler_settings_have_their_own_entries(workshop, setting):
    script = "answer = [double(ones).tolist(), counts(double)]"
    assert workshop.run(script) == [[2.0] * 3, [0, 1]]
    assert workshop.run(script, **setting) == [[2.0] * 3, [0, 1]]
    assert workshop.run(script, **setting) == [[2.0] * 3, [1, 0]]


def test_a_folder_that_cannot_be_written_means_no_cache(workshop):
    workshop.cache.write_text("a file stands where the folder should be")
    script = "answer = [double(ones).tolist(), counts(double)]"
    for place in (workshop.cache, workshop.cache / "below"):
        assert workshop.run(script, BISECTOR_CACHE_DIR=place) == [[2.0] * 3, [0, 1]]


def test_the_cache_lies_where_the_platform_keeps_caches(workshop):
    script = """
import os, sys
from bisector.engine.loop_cache import cache_folder
def at(platform, **environment):
    sys.platform = platform
    for name in ("BISECTOR_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        os.environ.pop(name, None)
    os.environ.update(environment, HOME="/home/me")
    return cache_folder().parent.as_posix()
answer = [
    at("linux"), at("linux", XDG_CACHE_HOME="/x"), at("linux", XDG_CACHE_HOME="x"), at("darwin"),
    at("win32", LOCALAPPDATA="/local"), at("win32"), at("linux", BISECTOR_CACHE_DIR="/chosen"),
    at("linux", BISECTOR_CACHE_DIR="~/chosen"), at("linux", BISECTOR_CACHE_DIR=""),
]
"""
    assert workshop.run(script) == [
        "/home/me/.cache/bisector",
        "/x/bisector",
        "/home/me/.cache/bisector",
        "/home/me/Library/Caches/bisector",
        "/local/bisector/Cache",
        "/home/me/AppData/Local/bisector/Cache",
        "/chosen",
        "/home/me/chosen",
        "/home/me/.cache/bisector",
    ]


def test_folders_long_unused_are_removed_when_a_new_one_is_made(workshop):
    unused, used, not_ours = (
        workshop.cache / name for name in ("loops-" + "0" * 32, "loops-" + "1" * 32, "photographs")
    )
    for folder in (unused, used, not_ours):
        folder.mkdir(parents=True)
        (folder / "content").write_text("")
    days = 86_400
    for folder, age in ((unused, 31 * days), (used, 29 * days), (not_ours, 400 * days)):
        os.utime(folder, times=(time.time() - age,) * 2)
    workshop.run("answer = double(ones).tolist()")
    assert not unused.exists()
    assert used.exists()
    assert not_ours.exists()


def test_a_folder_in_use_is_marked_so(workshop):
    workshop.run("answer = double(ones).tolist()")
    (folder,) = workshop.folders()
    os.utime(folder, times=(time.time() - 20 * 86_400,) * 2)
    workshop.run("answer = double(ones).tolist()")
    assert time.time() - folder.stat().st_mtime < 86_400


def test_recompiling_starts_afresh(workshop):
    script = "double(ones)\ndouble.recompile()\nanswer = [double(ones).tolist(), counts(double)]"
    assert workshop.run(script) == [[2.0] * 3, [0, 2]]
    assert len(workshop.entries()) == 1


def test_plain_python_touches_no_cache(workshop):
    assert workshop.run("answer = [outer(ones), strict_sum(ones)]", NUMBA_DISABLE_JIT=1) == [3.0, 3.0]
    assert workshop.entries() == []
