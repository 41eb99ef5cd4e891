"""A user's own function of two rows, made callable in compiled loops.

A plain Python function is compiled so that sums over coordinates may be reordered, without which each addition
would wait for the one before; a function that the user compiled is taken as it is. Such a function is never copied
into the loop that calls it: a loop that swallowed it might compute the same pair in two ways, with two results,
depending on where in a tile the pair stands.
"""

import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.dispatcher import Dispatcher
from numba.core.registry import cpu_target
from numba.extending import intrinsic

# Not "nsz", with which t + (y - x) becomes (t + y) - x and loses small differences of large numbers; nor "contract"
# and "arcp", with which a·a - a·a and 1 - a / a need not be zero, and a distance could be negative.
_REORDERED = frozenset({"reassoc"})
_ROW = types.Array(types.float64, 1, "C", readonly=True)
_PLACE = types.CPointer(types.float64)
_NUMBERS = (types.Float, types.Integer, types.Boolean)
# Functions whose machine code is kept. Compiling takes a second: whoever makes more of them waits for that.
_KEPT = 128


class Attempt(NamedTuple):
    """What came of compiling a function.

    Attributes
    ----------
    dispatcher : function or None
        What loops can call; None if the function has to run as Python.
    reason : str
        Why it has to.
    """

    dispatcher: Any
    reason: str = ""


@lru_cache(maxsize=_KEPT)
def compiled(function: Callable[[Any, Any], Any]) -> Attempt:
    """Compile a function of two rows, which reach it as read-only float64 arrays, if that is possible.

    Values of global variables that the function reads are those at its first use.

    Raises
    ------
    TypeError
        If the user has compiled the function, but not for such rows.

    Examples
    --------
    >>> from bisector.engine.user_functions import compiled
    >>> compiled(lambda x, y: abs(x[0] - y[0])).reason
    ''
    >>> compiled(lambda x, y: None).reason
    'it does not always return a number'
    """
    users_own = isinstance(function, Dispatcher)
    try:
        # What Numba warns of, such as slow products of matrices, is no fault of the result.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            dispatcher = function if users_own else _compile(function)
            if not isinstance(dispatcher, Dispatcher):  # compilation is switched off
                return Attempt(dispatcher)
            returned = _call_type(dispatcher, cpu_target.typing_context).return_type
    except Exception as error:  # Numba fails in many ways on what it was not made for
        if users_own:
            raise TypeError(
                f"{function.__qualname__} was compiled, but cannot be called with two rows, read-only arrays of "
                f"float64 ({_first_words(error)}): leave out its signature, or pass the function without decorator."
            ) from error
        return Attempt(None, f"Numba cannot compile it ({_first_words(error)})")
    if not isinstance(returned, _NUMBERS):
        return Attempt(None, "it does not always return a number")
    return Attempt(dispatcher)


def _compile(function: Callable[..., Any]) -> Any:
    return numba.njit(nogil=True, error_model="numpy", fastmath=set(_REORDERED))(function)


def _call_type(dispatcher: Any, typing_context: Any) -> Any:
    return types.Dispatcher(dispatcher).get_call_type(typing_context, (_ROW, _ROW), {})


def _first_words(error: Exception) -> str:
    """Return the line in which Numba says what is wrong, before it says where and what else there is."""
    lines = [line.strip() for line in str(error).splitlines()]
    said = [line for line in lines if line and not line.startswith("Failed in nopython mode")]
    return said[0].rstrip(".:") if said else type(error).__name__


def value_of_pair(function: Any, first: Any, i: int, second: Any, j: int) -> float:
    """Return ``function(first[i], second[j])``, as a float64 in compiled loops.

    The arrays are C-contiguous and of float64. In a loop this is a call to one machine code, which gets only
    the places of the two rows and their length: handing over arrays would take longer than many a function.
    """
    return function(first[i], second[j])


def _value_of_pair(typing_context: Any, function: Any, first: Any, i: Any, second: Any, j: Any) -> Any:
    callee = types.Dispatcher(_value_at)
    called = callee.get_call_type(typing_context, (function, _PLACE, _PLACE, types.int64), {})

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        same, tables, i, more_tables, j = arguments
        place, length = _place_of_row(context, builder, signature.args[1], tables, i)
        other, _ = _place_of_row(context, builder, signature.args[3], more_tables, j)
        block, n_before = builder.block, len(builder.block.instructions)
        returned = context.get_function(callee, called)(builder, [same, place, other, length])
        for instruction in block.instructions[n_before:]:
            if isinstance(instruction, ir.CallInstr):
                instruction.attributes.add("noinline")
        return returned

    return types.float64(function, first, types.int64, second, types.int64), emit


def _place_of_row(context: Any, builder: Any, kind: Any, table: Any, number: Any) -> tuple[Any, Any]:
    """Emit where a row of a table begins, and how long it is."""
    rows = context.make_array(kind)(context, builder, table)
    _, length = cgutils.unpack_tuple(builder, rows.shape)
    start = builder.gep(rows.data, [builder.mul(number, length)])
    return builder.bitcast(start, context.get_value_type(_PLACE)), length


def _row_at(typing_context: Any, place: Any, length: Any) -> Any:
    """Make an array of a place in memory, which owns nothing: its table outlives the call."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place, length = arguments
        row = context.make_array(_ROW)(context, builder)
        itemsize = context.get_constant(types.intp, 8)
        context.populate_array(
            row,
            data=builder.bitcast(place, row.data.type),
            shape=(length,),
            strides=(itemsize,),
            itemsize=itemsize,
            meminfo=None,
        )
        return row._getvalue()

    return _ROW(place, length), emit


if not numba.config.DISABLE_JIT:
    value_of_pair = intrinsic(_value_of_pair)
    row_at = intrinsic(_row_at)

    @numba.njit(nogil=True, error_model="numpy")
    def _value_at(function: Any, place: Any, other: Any, length: Any) -> Any:
        return np.float64(function(row_at(place, length), row_at(other, length)))
