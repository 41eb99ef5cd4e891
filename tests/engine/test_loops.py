"""The decorator for compiled loops, the door for arrays, and the fused multiply-add."""

import math
import os
import subprocess
import sys
from fractions import Fraction

import numba
import numpy as np
import pytest

from bisector.engine.intrinsics import fma
from bisector.engine.loops import all_loops, given, loop

only_compiled = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="compilation is switched off")


@loop
def total(values):
    result = 0.0
    for value in values:
        result += value
    return result


@loop(fast=True)
def fast_total(values):
    result = 0.0
    for value in values:
        result += value
    return result


@loop(fast=True)
def count_nan(values):
    count = 0
    for value in values:
        count += np.isnan(value)
    return count


@loop
def mean(values):
    return total(values) / values.size


@loop
def fused(a, b, c):
    return fma(a, b, c)


@loop
def product_sum(a, b, c):
    return a * b + c


def instructions(made, name):
    """The lines of a compiled loop's LLVM code that hold this instruction."""
    return [
        line for code in made.inspect_llvm().values() for line in code.splitlines() if f" {name} " in line
    ]


@only_compiled
def test_strict_arithmetic_by_default_and_four_liberties_if_fast():
    values = given(np.array([1e16, 1.0, -1e16, 1.0]))
    assert total(values) == 1.0  # 1e16 + 1 rounds to 1e16
    fast_total(values)
    assert instructions(total, "fadd")
    assert all("fadd double" in line for line in instructions(total, "fadd"))
    (flags,) = {
        line.split("fadd ")[1].split(" double")[0].split(" <")[0] for line in instructions(fast_total, "fadd")
    }
    assert set(flags.split()) == {"contract", "reassoc", "nsz", "arcp"}


def test_strict_arithmetic_does_not_fuse():
    a, b = 1 + 2.0**-30, 1 - 2.0**-30
    assert product_sum(a, b, -1.0) == 0.0
    assert fused(a, b, -1.0) == -(2.0**-60)


def test_isnan_works_in_a_fast_loop():
    assert count_nan(given([1.0, math.nan, math.inf, math.nan])) == 2


@only_compiled
def test_division_by_zero_is_ieee():
    assert math.isnan(mean(given(np.empty(0))))


@only_compiled
def test_loops_call_loops_and_keep_their_name():
    assert mean(given([1.0, 2.0, 6.0])) == 3.0
    assert mean.__name__ == "mean"
    assert mean.py_func is not mean


@only_compiled
def test_a_loop_runs_without_the_interpreter_lock():
    assert total.targetoptions["nogil"]


def test_every_loop_is_registered():
    made = all_loops()
    assert total in made
    assert fast_total in made
    assert made == sorted(made, key=lambda one: (one.__module__, one.__qualname__))


LAYOUTS = {
    "C": lambda a: a,
    "Fortran": np.asfortranarray,
    "read-only": lambda a: np.frombuffer(a.tobytes(), a.dtype).reshape(a.shape),
    "swapped bytes": lambda a: a.astype(a.dtype.newbyteorder()),
    "every other column": lambda a: np.repeat(a, 2, axis=1)[:, ::2],
    "backwards": lambda a: a[::-1].copy()[::-1],
    "unaligned": lambda a: np.frombuffer(b"." + a.tobytes(), a.dtype, offset=1).reshape(a.shape),
    "list": lambda a: list(a),
    "subclass": lambda a: a.view(np.recarray),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    ("dtype", "expected"),
    [
        ("float64", "float64"),
        ("float32", "float32"),
        ("float16", "float64"),
        ("longdouble", "float64"),
        ("int64", "int64"),
        ("int32", "int64"),
        ("int8", "int64"),
        ("uint8", "int64"),
        ("uint64", "int64"),
        ("bool", "bool"),
    ],
)
def test_given_has_one_form_per_dtype(layout, dtype, expected):
    original = np.arange(6).reshape(2, 3).astype(dtype)
    array = LAYOUTS[layout](original)
    flags = str(getattr(array, "flags", None))
    presented = given(array)
    assert type(presented) is np.ndarray
    assert presented.dtype == expected
    assert presented.dtype.isnative
    assert presented.flags.c_contiguous
    assert presented.flags.aligned
    assert not presented.flags.writeable
    np.testing.assert_array_equal(presented, original)
    assert str(getattr(array, "flags", None)) == flags


@only_compiled
def test_a_loop_behind_given_is_compiled_once_per_dtype():
    @loop
    def corner(values):
        return values[0, 0]

    for dtype in ("float64", "float32", "float16", "int16", "int64"):
        for layout in LAYOUTS.values():
            corner(given(layout(np.arange(6).reshape(2, 3).astype(dtype))))
    assert sorted(str(signature[0].dtype) for signature in corner.signatures) == [
        "float32",
        "float64",
        "int64",
    ]


def test_given_shares_memory_and_leaves_the_array_writeable():
    array = np.ones((3, 2))
    presented = given(array)
    array[0, 0] = 5.0
    assert presented[0, 0] == 5.0
    assert given(presented) is presented


def test_given_turns_a_memory_map_into_a_plain_array(tmp_path):
    mapped = np.memmap(tmp_path / "data", dtype=np.float64, mode="w+", shape=(4, 2))
    presented = given(mapped)
    assert type(presented) is np.ndarray
    assert np.shares_memory(presented, mapped)
    assert mapped.flags.writeable


def test_given_converts_to_the_dtype_asked_for():
    for dtype in (np.float32, np.float64, "float32", np.dtype(">f8")):
        presented = given(np.array([1, 2]), dtype)
        assert presented.dtype == np.dtype(dtype).newbyteorder("=")
        assert presented.dtype.isnative
        assert not presented.flags.writeable
    assert given(np.ones(2, dtype=np.float32), np.float64).dtype == np.float64
    assert given(np.array([1, 2], dtype=np.int32), np.int64).dtype == np.int64


def test_given_keeps_empty_and_scalar_shapes():
    assert given(np.empty((0, 3))).shape == (0, 3)
    assert given(np.float64(2.0)).shape == ()


def test_given_refuses_what_would_change_numbers():
    with pytest.raises(TypeError, match="real numbers"):
        given(np.array(["a"]))
    with pytest.raises(TypeError, match="real numbers"):
        given(np.array([1j]))
    with pytest.raises(TypeError, match="Cannot cast"):
        given(np.array([1.5]), np.int64)
    with pytest.raises(OverflowError, match="18446744073709551615 does not fit into int64"):
        given(np.array([2**64 - 1], dtype=np.uint64))


SPECIAL = [0.0, -0.0, 1.0, -1.5, 5e-324, -5e-324, 2.0**-600, 1e300, -1e300, math.inf, -math.inf, math.nan]


def test_fma_rounds_once():
    """Compiled, it equals its plain Python form in every bit; where that is finite, exact arithmetic."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 300)) * 10.0 ** rng.integers(-150, 150, size=(2, 300))
    cases = [*zip(a, b, -a * b, strict=True), *zip(a, b, rng.normal(size=300), strict=True)]
    for x, y, z in cases:
        exact = Fraction(x) * Fraction(y) + Fraction(z)
        assert fma(x, y, z) == float(exact)
    cases += [(x, y, z) for x in SPECIAL for y in SPECIAL for z in SPECIAL]
    for x, y, z in cases:
        plain, compiled = fma(x, y, z), fused(float(x), float(y), float(z))
        assert (math.isnan(plain) and math.isnan(compiled)) or plain.hex() == compiled.hex(), (x, y, z)


def test_fma_takes_float32_and_integers_as_float64():
    assert fused(np.float32(0.1), 3, -1) == fma(float(np.float32(0.1)), 3.0, -1.0)


AS_PLAIN_PYTHON = """
import numpy as np
from bisector.engine.intrinsics import fma
from bisector.engine.loops import all_loops, given, loop

@loop
def inner(x):
    return fma(x, x, 1.0)

@loop(fast=True)
def outer(values):
    return sum([inner(value) for value in values])

assert type(inner) is type(outer) is type(lambda: 0)
assert all_loops() == [inner, outer]
assert outer(given(np.array([1, 2]))) == 7.0
"""


def test_loops_are_plain_functions_when_compilation_is_off():
    subprocess.run(
        [sys.executable, "-W", "error", "-c", AS_PLAIN_PYTHON],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        check=True,
    )
