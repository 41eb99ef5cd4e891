"""What compiled loops need of the machine and cannot say in Python: single instructions, sums in registers."""

from fractions import Fraction
from math import inf, isfinite
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload
from numpy.typing import NDArray


def fma(a: float, b: float, c: float) -> float:
    """Compute a·b + c with a single rounding, in float64.

    Inside a loop this is the processor's fused multiply-add; called from Python, the same number from
    exact arithmetic. What a product loses by rounding is ``fma(a, b, -(a * b))``.

    Examples
    --------
    >>> from bisector.engine.intrinsics import fma
    >>> product = 0.1 * 0.1
    >>> fma(0.1, 0.1, -product)
    -8.326672684688674e-19
    """
    a, b, c = float(a), float(b), float(c)
    if not (isfinite(a) and isfinite(b)):
        return a * b + c
    if not isfinite(c):
        return c  # even where a·b alone would overflow
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        return a * b + c  # exact too, and its zero has the right sign
    try:
        return float(exact)
    except OverflowError:
        return inf if exact > 0 else -inf


@intrinsic
def _fused(typing_context: Any, a: Any, b: Any, c: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.fma(*arguments)

    return types.float64(types.float64, types.float64, types.float64), emit


@overload(fma)
def _compile_fma(a: Any, b: Any, c: Any) -> Any:
    if all(isinstance(kind, types.Float | types.Integer) for kind in (a, b, c)):

        def fused(a: Any, b: Any, c: Any) -> Any:
            return _fused(a, b, c)

        return fused
    return None


# Numbers that a group of columns has: eight float64 fill one register of the widest kind in use.
WIDTH = 8


def add_products(tile: NDArray[np.float64], i: int, j: int, sums: NDArray[np.float64]) -> None:
    """Add to ``sums[i:i+8, j:j+8]`` the products of columns i… and columns j… of a tile, over its rows.

    Inside a loop the 64 sums stay in registers while the rows pass by, which no compiler finds by itself.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.engine.intrinsics import add_products
    >>> sums = np.zeros((8, 8))
    >>> add_products(np.ones((3, 8)), 0, 0, sums)
    >>> float(sums[0, 0])
    3.0
    """
    for row in tile:
        for a in range(i, i + WIDTH):
            for b in range(j, j + WIDTH):
                sums[a, b] = fma(row[a], row[b], sums[a, b])


@intrinsic
def _add_products(typing_context: Any, tile: Any, i: Any, j: Any, sums: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        integer, register = ir.IntType(64), ir.VectorType(ir.DoubleType(), WIDTH)
        rows = context.make_array(signature.args[0])(context, builder, arguments[0])
        table = context.make_array(signature.args[3])(context, builder, arguments[3])
        (n_rows, row_length), (_, table_length) = (
            cgutils.unpack_tuple(builder, array.shape) for array in (rows, table)
        )
        multiply_add = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(register, [register] * 3), f"llvm.fma.v{WIDTH}f64"
        )

        def place(start: Any, first: Any, offset: int) -> Any:
            return builder.gep(start, [builder.add(first, ir.Constant(integer, offset))])

        def load(address: Any) -> Any:
            loaded = builder.load(builder.bitcast(address, register.as_pointer()))
            loaded.align = WIDTH
            return loaded

        def repeat(number: Any) -> Any:
            nothing = ir.Constant(register, ir.Undefined)
            first = builder.insert_element(nothing, number, ir.Constant(ir.IntType(32), 0))
            zeros = ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH)
            return builder.shuffle_vector(first, nothing, zeros)

        _, i, j, _ = arguments
        lines = [
            builder.gep(table.data, [builder.add(builder.mul(place_index, table_length), j)])
            for place_index in (builder.add(i, ir.Constant(integer, a)) for a in range(WIDTH))
        ]
        held = [cgutils.alloca_once(builder, register) for _ in lines]
        for line, sum_ in zip(lines, held, strict=True):
            builder.store(load(line), sum_)
        with cgutils.for_range(builder, n_rows) as rows_passing:
            row = builder.gep(rows.data, [builder.mul(rows_passing.index, row_length)])
            right = load(place(row, j, 0))
            for a, sum_ in enumerate(held):
                left = repeat(builder.load(place(row, i, a)))
                builder.store(builder.call(multiply_add, [left, right, builder.load(sum_)]), sum_)
        for line, sum_ in zip(lines, held, strict=True):
            builder.store(builder.load(sum_), builder.bitcast(line, register.as_pointer())).align = WIDTH
        return context.get_dummy_value()

    return types.void(tile, types.int64, types.int64, sums), emit


@overload(add_products)
def _compile_add_products(tile: Any, i: Any, j: Any, sums: Any) -> Any:
    contiguous = types.Array(types.float64, 2, "C")
    if tile == contiguous and sums == contiguous:

        def added(tile: Any, i: Any, j: Any, sums: Any) -> Any:
            _add_products(tile, i, j, sums)

        return added
    return None


def prefetch(array: NDArray[Any], place: int) -> None:
    """Fetch the line of memory that holds ``array[place]`` into the cache; `array` has one dimension.

    For loops that go from row to row in an order that no processor guesses. Inside a loop this is one instruction,
    which waits for nothing and may name any place; called from Python, it does nothing.
    """


@intrinsic
def _prefetch(typing_context: Any, array: Any, place: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        held = context.make_array(signature.args[0])(context, builder, arguments[0])
        emit_fetch(builder, builder.gep(held.data, [arguments[1]]))
        return context.get_dummy_value()

    return types.void(array, types.int64), emit


def prefetch_at(address: int) -> None:
    """Fetch the line of memory at an address into the cache, as `prefetch` does; any address may be named."""


@intrinsic
def _prefetch_at(typing_context: Any, address: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        emit_fetch(builder, builder.inttoptr(arguments[0], ir.IntType(8).as_pointer()))
        return context.get_dummy_value()

    return types.void(types.int64), emit


@overload(prefetch_at)
def _compile_prefetch_at(address: Any) -> Any:
    if isinstance(address, types.Integer):

        def fetch(address: Any) -> Any:
            _prefetch_at(address)

        return fetch
    return None


def emit_fetch(builder: Any, address: Any) -> None:
    """Emit the instruction that fetches a line of memory."""
    pointer, flag = ir.IntType(8).as_pointer(), ir.IntType(32)
    call = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(ir.VoidType(), [pointer, flag, flag, flag]), "llvm.prefetch.p0"
    )
    read, keep, data = (ir.Constant(flag, number) for number in (0, 3, 1))
    builder.call(call, [builder.bitcast(address, pointer), read, keep, data])


@overload(prefetch)
def _compile_prefetch(array: Any, place: Any) -> Any:
    if isinstance(array, types.Array) and array.ndim == 1:

        def fetch(array: Any, place: Any) -> Any:
            _prefetch(array, place)

        return fetch
    return None


# How many comparisons are told at once.
BITS = 64


def bits_below(values: NDArray[Any], bounds: NDArray[Any], first: int) -> int:
    """Tell of 64 values from `first` on which are below their bounds: bit i is of ``values[first + i]``.

    Inside a loop these are a few instructions, and no branch that nobody can foresee; the arrays are of one
    floating type and end no earlier.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.engine.intrinsics import bits_below
    >>> bin(bits_below(np.arange(64.0), np.full(64, 3.0), 0))
    '0b111'
    """
    below = values[first : first + BITS] < bounds[first : first + BITS]
    return sum(1 << i for i in np.flatnonzero(below).tolist())


@intrinsic
def _bits_below(typing_context: Any, values: Any, bounds: Any, first: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        register = ir.VectorType(context.get_value_type(values.dtype), BITS)

        def load(kind: Any, argument: Any) -> Any:
            held = context.make_array(kind)(context, builder, argument)
            address = builder.gep(held.data, [arguments[2]])
            loaded = builder.load(builder.bitcast(address, register.as_pointer()))
            loaded.align = values.dtype.bitwidth // 8
            return loaded

        left, right = (load(*pair) for pair in zip(signature.args[:2], arguments[:2], strict=True))
        return builder.bitcast(builder.fcmp_ordered("<", left, right), ir.IntType(BITS))

    return types.uint64(values, bounds, types.int64), emit


@overload(bits_below)
def _compile_bits_below(values: Any, bounds: Any, first: Any) -> Any:
    flat = all(
        isinstance(kind, types.Array) and (kind.ndim, kind.layout) == (1, "C") for kind in (values, bounds)
    )
    if flat and isinstance(values.dtype, types.Float) and values.dtype == bounds.dtype:

        def told(values: Any, bounds: Any, first: Any) -> Any:
            return _bits_below(values, bounds, first)

        return told
    return None


def lowest_bit(bits: int) -> int:
    """Return the number of the lowest bit that is set, and 64 if none is.

    Examples
    --------
    >>> from bisector.engine.intrinsics import lowest_bit
    >>> lowest_bit(0b1100)
    2
    """
    bits = int(bits)
    return (bits & -bits).bit_length() - 1 if bits else BITS


@intrinsic
def _lowest_bit(typing_context: Any, bits: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        integer, flag = ir.IntType(BITS), ir.IntType(1)
        count = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(integer, [integer, flag]), f"llvm.cttz.i{BITS}"
        )
        return builder.call(count, [arguments[0], ir.Constant(flag, 0)])

    return types.int64(types.uint64), emit


@overload(lowest_bit)
def _compile_lowest_bit(bits: Any) -> Any:
    if isinstance(bits, types.Integer):

        def lowest(bits: Any) -> Any:
            return _lowest_bit(bits)

        return lowest
    return None


def without_lowest_bit(bits: int) -> int:
    """Return bits without the lowest that is set, if one is.

    Examples
    --------
    >>> from bisector.engine.intrinsics import without_lowest_bit
    >>> bin(without_lowest_bit(0b1100))
    '0b1000'
    """
    return bits & (bits - 1)


@overload(without_lowest_bit)
def _compile_without_lowest_bit(bits: Any) -> Any:
    if bits == types.uint64:

        def without(bits: Any) -> Any:
            return bits & (bits - np.uint64(1))

        return without
    return None
