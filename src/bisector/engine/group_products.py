"""Products of rows that stand side by side, sixteen at a time, and what a few candidates are worth to them."""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload
from numpy.typing import NDArray

from bisector.engine.intrinsics import emit_fetch
from bisector.engine.registers import LANES, Registers

Singles = NDArray[np.float32]

# Rows of a group, whose numbers in one column fill a register; and how many centres are multiplied by them at once.
GROUP = LANES
MOST_AT_ONCE = 12
# How many numbers ahead of their use rows are fetched.
_AHEAD = 512


def multiply_group(
    group: NDArray[Any], across: NDArray[Any], first: int, count: int, products: NDArray[Any]
) -> None:
    """Multiply 16 rows by centres: write ``products[first:first+count]``, of shape (count, 16).

    Rows stand side by side, as `group` of shape (d, 16), and so do centres, as `across` of shape (d, k). Inside a
    loop `count` is an even number up to 12; its sums stay in registers while the columns pass by, and these are
    fetched from memory meanwhile, for which products of matrices wait. The arrays are of one floating type.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.engine.group_products import multiply_group
    >>> products = np.empty((2, 16))
    >>> multiply_group(np.ones((3, 16)), np.array([[1.0, 0.0]] * 3), 0, 2, products)
    >>> products[:, 0]
    array([3., 0.])
    """
    some = slice(first, first + count)
    products[some] = across[:, some].T @ group


@intrinsic
def _multiply_group(
    typing_context: Any, group: Any, across: Any, first: Any, count: Any, products: Any
) -> Any:
    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        registers = Registers(context, builder, group.dtype)
        rows, centres, table = (
            context.make_array(signature.args[place])(context, builder, arguments[place])
            for place in (0, 1, 4)
        )
        n_columns, _ = cgutils.unpack_tuple(builder, rows.shape)
        _, n_centres = cgutils.unpack_tuple(builder, centres.shape)
        first, count = arguments[2], arguments[3]

        def multiply(size: int) -> None:
            held = registers.hold(size)
            with cgutils.for_range(builder, n_columns) as columns_passing:
                column = registers.line(rows.data, columns_passing.index)
                emit_fetch(builder, registers.place(column, _AHEAD))
                right = registers.load(column)
                line = registers.place(centres.data, builder.mul(columns_passing.index, n_centres), first)
                for c, sum_ in enumerate(held):
                    left = registers.repeat(builder.load(registers.place(line, c)))
                    registers.add_to(sum_, left, right)
            start = registers.line(table.data, first)
            for c, sum_ in enumerate(held):
                registers.store(builder.load(sum_), registers.place(start, GROUP * c))

        for size in range(2, MOST_AT_ONCE + 1, 2):
            with builder.if_then(builder.icmp_signed("==", count, registers.integer(size))):
                multiply(size)
        return context.get_dummy_value()

    return types.void(group, across, types.int64, types.int64, products), emit


@overload(multiply_group)
def _compile_multiply_group(group: Any, across: Any, first: Any, count: Any, products: Any) -> Any:
    tables = group, across, products
    flat = all(isinstance(kind, types.Array) and (kind.ndim, kind.layout) == (2, "C") for kind in tables)
    if flat and isinstance(group.dtype, types.Float) and len({kind.dtype for kind in tables}) == 1:

        def multiplied(group: Any, across: Any, first: Any, count: Any, products: Any) -> Any:
            _multiply_group(group, across, first, count, products)

        return multiplied
    return None


def weigh_group(
    products: Singles, c: int, sizes: Singles, known: Singles, share: float, sums: Singles
) -> int:
    """Add up by how much candidate c is nearer to 16 rows than what is closest; tell to which it may be nearer.

    With p the product of a row and twice the candidate, n and s their squared lengths, the squared distance is
    n + s − p, up to n times `share` and as much again as the candidate allows for itself.

    Parameters
    ----------
    products : (k, 16) float32
        As `multiply_group` writes them.
    c : int
    sizes : (2, k) float32
        Of each candidate the squared length, and what it adds to the error.
    known : (3, 16) float32
        Of each row the squared length, the squared distance of what is closest to it, and the weight.
    share : float
    sums : (2, k, 16) float32, changed
        For each candidate and place, the sums so far of weights times gains, and of weights times errors where
        the candidate may be nearer: elsewhere nothing is gained for sure.

    Returns
    -------
    int
        Bit r tells that the candidate may be nearer to row r.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.engine.group_products import weigh_group
    >>> products, sizes, sums = (np.zeros(shape, np.float32) for shape in ((1, 16), (2, 1), (2, 1, 16)))
    >>> known = np.ones((3, 16), np.float32)
    >>> known[1, :2] = 3  # two rows whose closest is farther away than the candidate, at a squared distance of 1
    >>> bin(weigh_group(products, 0, sizes, known, 0.0, sums)), float(sums[0].sum())
    ('0b11', 4.0)
    """
    lengths, closest, weights = known
    error = np.float32(share) * lengths + sizes[1, c]
    gain = closest - (lengths + sizes[0, c] - products[c])
    near = gain > -error
    sums[0, c] += weights * np.maximum(gain, np.float32(0))
    sums[1, c] += weights * np.where(near, error, np.float32(0))
    return sum(1 << r for r in np.flatnonzero(near).tolist())


@intrinsic
def _weigh_group(
    typing_context: Any, products: Any, c: Any, sizes: Any, known: Any, share: Any, sums: Any
) -> Any:
    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        registers = Registers(context, builder, products.dtype)
        table, lengths_of, rows, totals = (
            context.make_array(signature.args[place])(context, builder, arguments[place])
            for place in (0, 2, 3, 5)
        )
        _, k = cgutils.unpack_tuple(builder, lengths_of.shape)

        def add(number: Any, factor: Any) -> None:
            place = registers.line(totals.data, number)
            registers.store(registers.multiply_add(weights, factor, registers.load(place)), place)

        _, c, _, _, share, _ = arguments
        error_of = builder.add(k, c)
        size, own = (
            registers.repeat(builder.load(registers.place(lengths_of.data, place))) for place in (c, error_of)
        )
        lengths, closest, weights = (
            registers.load(registers.place(rows.data, GROUP * place)) for place in range(3)
        )
        error = registers.multiply_add(registers.repeat(share), lengths, own)
        product = registers.load(registers.line(table.data, c))
        gain = builder.fsub(closest, builder.fsub(builder.fadd(lengths, size), product))
        near = builder.fcmp_ordered(">", gain, builder.fsub(registers.zero, error))
        add(c, builder.select(builder.fcmp_ordered(">", gain, registers.zero), gain, registers.zero))
        add(error_of, builder.select(near, error, registers.zero))
        return builder.zext(builder.bitcast(near, ir.IntType(GROUP)), ir.IntType(64))

    return types.int64(products, types.int64, sizes, known, types.float32, sums), emit


@overload(weigh_group)
def _compile_weigh_group(products: Any, c: Any, sizes: Any, known: Any, share: Any, sums: Any) -> Any:
    arrays = ((products, 2), (sizes, 2), (known, 2), (sums, 3))
    if all(
        isinstance(kind, types.Array) and (kind.dtype, kind.ndim, kind.layout) == (types.float32, ndim, "C")
        for kind, ndim in arrays
    ):

        def weighed(products: Any, c: Any, sizes: Any, known: Any, share: Any, sums: Any) -> Any:
            return _weigh_group(products, c, sizes, known, share, sums)

        return weighed
    return None
