"""Numbers of columns that stand somewhere in memory, in a table's rows: one number, or a square in registers."""

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic, overload
from numpy.typing import NDArray

from bisector.engine.registers import Registers

# What a register of the widest kind in use holds.
REGISTER_BYTES = 64


def number_at(raw: NDArray[np.uint8], place: int, table: NDArray[Any]) -> Any:
    """Return the number, of the table's type, whose bytes begin at a place that need not be aligned.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.engine.turned_squares import number_at
    >>> number_at(np.array([1.5, 2.5]).view(np.uint8), 8, np.empty((1, 1)))
    np.float64(2.5)
    """
    return np.frombuffer(raw, table.dtype, 1, place)[0]


def turn_square(
    raw: NDArray[np.uint8], places: NDArray[np.int64], j: int, i: int, table: NDArray[Any], row: int
) -> None:
    """Fill a square of the table, from `row` and column j on, with the numbers from i on of as many columns.

    The square has as many rows as a register has numbers of the table's type: 8 of float64, 16 of float32.
    Inside a loop it is turned in registers: every line of it is read at once and written at once.

    Parameters
    ----------
    raw : (n_bytes,)
    places : (n_columns,)
        Where in `raw` the columns begin.
    table : (n_rows, n_columns), changed

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.engine.turned_squares import turn_square
    >>> columns, table = np.arange(64.0).reshape(8, 8), np.empty((8, 8))
    >>> turn_square(columns.view(np.uint8).ravel(), np.arange(8) * 64, 0, 0, table, 0)
    >>> bool((table == columns.T).all())
    True
    """
    side, itemsize = REGISTER_BYTES // table.itemsize, table.itemsize
    for k in range(side):
        numbers = np.frombuffer(raw, table.dtype, side, places[j + k] + i * itemsize)
        table[row : row + side, j + k] = numbers


@intrinsic
def _number_at(typing_context: Any, raw: Any, place: Any, table: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        memory = context.make_array(signature.args[0])(context, builder, arguments[0])
        kind = context.get_value_type(table.dtype)
        address = builder.bitcast(builder.gep(memory.data, [arguments[1]]), kind.as_pointer())
        loaded = builder.load(address)
        loaded.align = 1
        return loaded

    return table.dtype(raw, types.int64, table), emit


@intrinsic
def _turn_square(typing_context: Any, raw: Any, places: Any, j: Any, i: Any, table: Any, row: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        memory, columns, rows = (
            context.make_array(signature.args[place])(context, builder, arguments[place])
            for place in (0, 1, 4)
        )
        _, _, j, i, _, row = arguments
        itemsize = table.dtype.bitwidth // 8
        registers = Registers(context, builder, table.dtype, REGISTER_BYTES // itemsize)
        before = builder.mul(i, registers.integer(itemsize))
        lines = []
        for k in range(registers.lanes):
            begin = builder.load(registers.place(columns.data, j, k))
            lines.append(registers.load(registers.place(memory.data, begin, before)))
            lines[-1].align = 1
        width = builder.extract_value(rows.shape, 1)
        for k, line in enumerate(registers.turned(lines)):
            place = builder.add(builder.mul(builder.add(row, registers.integer(k)), width), j)
            registers.store(line, registers.place(rows.data, place))
        return context.get_dummy_value()

    return types.void(raw, places, types.int64, types.int64, table, types.int64), emit


@overload(number_at)
def _compile_number_at(raw: Any, place: Any, table: Any) -> Any:
    if _are_bytes(raw) and _is_table(table):

        def read(raw: Any, place: Any, table: Any) -> Any:
            return _number_at(raw, place, table)

        return read
    return None


@overload(turn_square)
def _compile_turn_square(raw: Any, places: Any, j: Any, i: Any, table: Any, row: Any) -> Any:
    if _are_bytes(raw) and _is_table(table) and places.dtype == types.int64 and places.layout == "C":

        def turned(raw: Any, places: Any, j: Any, i: Any, table: Any, row: Any) -> Any:
            _turn_square(raw, places, j, i, table, row)

        return turned
    return None


def _are_bytes(raw: Any) -> bool:
    return isinstance(raw, types.Array) and raw.dtype == types.uint8 and raw.layout == "C"


def _is_table(table: Any) -> bool:
    return isinstance(table, types.Array) and isinstance(table.dtype, types.Float) and table.layout == "C"
