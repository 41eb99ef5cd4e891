"""Numbers of columns that stand somewhere in memory, in a table's rows: one number, or a square in registers.

Columns are given by addresses: they may lie in mapped files, in what a decoder made, or in arrays, aligned or not.
Whoever gives an address holds on to what lies there.
"""

import ctypes
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload
from numpy.typing import NDArray

from bisector.engine.registers import Registers

# What a register of the widest kind in use holds.
REGISTER_BYTES = 64


def number_at(address: int, like: NDArray[Any]) -> Any:
    """Return the number, of an array's type, whose bytes begin at an address.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.engine.turned_squares import number_at
    >>> numbers = np.array([1.5, 2.5])
    >>> number_at(numbers.ctypes.data + 8, numbers)
    np.float64(2.5)
    """
    return _numbers_at(address, 1, like)[0]


def turn_square(addresses: NDArray[np.int64], j: int, i: int, table: NDArray[Any], row: int) -> None:
    """Fill a square of the table, from `row` and column j on, with the numbers from i on of as many columns.

    The square has as many rows as a register has numbers of the table's type: 8 of float64, 16 of float32.
    Inside a loop it is turned in registers: every line of it is read at once and written at once.

    Parameters
    ----------
    addresses : (n_columns,)
        Where in memory the columns begin.
    table : (n_rows, n_columns), changed

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.engine.turned_squares import turn_square
    >>> columns, table = np.arange(64.0).reshape(8, 8), np.empty((8, 8))
    >>> turn_square(columns.ctypes.data + np.arange(8) * 64, 0, 0, table, 0)
    >>> bool((table == columns.T).all())
    True
    """
    side = REGISTER_BYTES // table.itemsize
    for k in range(side):
        table[row : row + side, j + k] = _numbers_at(addresses[j + k] + i * table.itemsize, side, table)


def turn_moved_square(
    addresses: NDArray[np.int64],
    j: int,
    i: int,
    move: tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]],
    like: NDArray[Any],
    table: NDArray[np.float64],
    row: int,
) -> None:
    """Fill a square of a table of float64 as `turn_square` does, each number x as (x − shift)·scale·weight.

    Parameters
    ----------
    addresses : (n_columns,)
        Where in memory the columns begin; their numbers are of the type of the array `like`.
    move : shift and scale of each column, and weights of the rows of the table
    table : (n_rows, at least n_columns), changed

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.engine.turned_squares import turn_moved_square
    >>> columns, table = np.arange(64.0).reshape(8, 8), np.empty((8, 8))
    >>> move = np.ones(8), np.full(8, 2.0), np.ones(8)
    >>> turn_moved_square(columns.ctypes.data + np.arange(8) * 64, 0, 0, move, table, table, 0)
    >>> bool((table == 2.0 * (columns.T - 1.0)).all())
    True
    """
    shift, scale, weights = move
    side = REGISTER_BYTES // like.itemsize
    lines, below = slice(row, row + side), slice(j, j + side)
    for k in range(side):
        table[lines, j + k] = _numbers_at(addresses[j + k] + i * like.itemsize, side, like)
    table[lines, below] = (table[lines, below] - shift[below]) * scale[below] * weights[lines, None]


def _numbers_at(address: int, count: int, like: NDArray[Any]) -> NDArray[Any]:
    """Look at memory from Python."""
    memory = (ctypes.c_uint8 * (count * like.itemsize)).from_address(int(address))
    return np.frombuffer(memoryview(memory), like.dtype)


@intrinsic
def _number_at(typing_context: Any, address: Any, like: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = context.get_value_type(like.dtype)
        loaded = builder.load(builder.inttoptr(arguments[0], kind.as_pointer()))
        loaded.align = 1
        return loaded

    return like.dtype(types.int64, like), emit


@intrinsic
def _turn_square(typing_context: Any, addresses: Any, j: Any, i: Any, table: Any, row: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        columns, rows = (
            context.make_array(signature.args[place])(context, builder, arguments[place]) for place in (0, 3)
        )
        _, j, i, _, row = arguments
        itemsize = table.dtype.bitwidth // 8
        registers = Registers(context, builder, table.dtype, REGISTER_BYTES // itemsize)
        before = builder.mul(i, registers.integer(itemsize))
        lines = []
        for k in range(registers.lanes):
            address = builder.add(builder.load(registers.place(columns.data, j, k)), before)
            lines.append(registers.load(builder.inttoptr(address, ir.IntType(8).as_pointer())))
            lines[-1].align = 1
        width = builder.extract_value(rows.shape, 1)
        for k, line in enumerate(registers.turned(lines)):
            place = builder.add(builder.mul(builder.add(row, registers.integer(k)), width), j)
            registers.store(line, registers.place(rows.data, place))
        return context.get_dummy_value()

    return types.void(addresses, types.int64, types.int64, table, types.int64), emit


@intrinsic
def _turn_moved_square(
    typing_context: Any,
    addresses: Any,
    j: Any,
    i: Any,
    shift: Any,
    scale: Any,
    weights: Any,
    like: Any,
    table: Any,
    row: Any,
) -> Any:
    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        columns, shifts, scales, weighed, rows = (
            context.make_array(signature.args[place])(context, builder, arguments[place])
            for place in (0, 3, 4, 5, 7)
        )
        j, i, row = arguments[1], arguments[2], arguments[8]
        itemsize = like.dtype.bitwidth // 8
        lanes = REGISTER_BYTES // itemsize
        stored = Registers(context, builder, like.dtype, lanes)
        moved = Registers(context, builder, types.float64, lanes)
        before = builder.mul(i, stored.integer(itemsize))
        lines = []
        for k in range(lanes):
            address = builder.add(builder.load(stored.place(columns.data, j, k)), before)
            lines.append(stored.load(builder.inttoptr(address, ir.IntType(8).as_pointer())))
            lines[-1].align = 1
        by, times = moved.load(moved.place(shifts.data, j)), moved.load(moved.place(scales.data, j))
        width = builder.extract_value(rows.shape, 1)
        for k, line in enumerate(stored.turned(lines)):
            if itemsize < 8:
                line = builder.fpext(line, moved.numbers)
            below = builder.add(row, moved.integer(k))
            weight = moved.repeat(builder.load(moved.place(weighed.data, below)))
            line = builder.fmul(builder.fmul(builder.fsub(line, by), times), weight)
            moved.store(line, moved.place(rows.data, builder.add(builder.mul(below, width), j)))
        return context.get_dummy_value()

    kinds = addresses, types.int64, types.int64, shift, scale, weights, like, table, types.int64
    return types.void(*kinds), emit


@overload(number_at)
def _compile_number_at(address: Any, like: Any) -> Any:
    if isinstance(like, types.Array) and isinstance(like.dtype, types.Number):

        def read(address: Any, like: Any) -> Any:
            return _number_at(address, like)

        return read
    return None


@overload(turn_square)
def _compile_turn_square(addresses: Any, j: Any, i: Any, table: Any, row: Any) -> Any:
    flat = all(isinstance(kind, types.Array) and kind.layout == "C" for kind in (addresses, table))
    if flat and addresses.dtype == types.int64 and isinstance(table.dtype, types.Float):

        def turned(addresses: Any, j: Any, i: Any, table: Any, row: Any) -> Any:
            _turn_square(addresses, j, i, table, row)

        return turned
    return None


@overload(turn_moved_square)
def _compile_turn_moved_square(
    addresses: Any, j: Any, i: Any, move: Any, like: Any, table: Any, row: Any
) -> Any:
    arrays = (addresses, *move, like, table)
    flat = all(isinstance(kind, types.Array) and kind.layout == "C" for kind in arrays)
    if flat and addresses.dtype == types.int64 and isinstance(like.dtype, types.Float):

        def turned(addresses: Any, j: Any, i: Any, move: Any, like: Any, table: Any, row: Any) -> Any:
            shift, scale, weights = move
            _turn_moved_square(addresses, j, i, shift, scale, weights, like, table, row)

        return turned
    return None
