"""What a few candidates are worth to rows that stand side by side: sixteen rows at a time, in registers."""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload
from numpy.typing import NDArray

from bisector.engine.intrinsics import GROUP

Singles = NDArray[np.float32]


def weigh_group(
    products: Singles, c: int, sizes: Singles, known: Singles, share: float, sums: Singles
) -> int:
    """Add up by how much candidate c is nearer to 16 rows than what is closest; tell to which it may be nearer.

    With p the product of a row and twice the candidate, n and s their squared lengths, the squared distance is
    n + s − p, up to n times `share` and as much again as the candidate allows for itself.

    Parameters
    ----------
    products : (k, 16) float32
        As `bisector.engine.intrinsics.multiply_group` writes them.
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
        number, integer, index = ir.FloatType(), ir.IntType(64), ir.IntType(32)
        register, zero = (
            ir.VectorType(number, GROUP),
            ir.Constant(ir.VectorType(number, GROUP), [0.0] * GROUP),
        )
        table, lengths_of, rows, totals = (
            context.make_array(signature.args[place])(context, builder, arguments[place])
            for place in (0, 2, 3, 5)
        )
        _, k = cgutils.unpack_tuple(builder, lengths_of.shape)
        fused = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(register, [register] * 3), f"llvm.fma.v{GROUP}f32"
        )

        def line(array: Any, number_of: Any) -> Any:
            address = builder.gep(array.data, [builder.mul(number_of, ir.Constant(integer, GROUP))])
            return builder.bitcast(address, register.as_pointer())

        def load(array: Any, number_of: Any) -> Any:
            loaded = builder.load(line(array, number_of))
            loaded.align = 4
            return loaded

        def repeat(value: Any) -> Any:
            blank = ir.Constant(register, ir.Undefined)
            first = builder.insert_element(blank, value, ir.Constant(index, 0))
            return builder.shuffle_vector(first, blank, ir.Constant(ir.VectorType(index, GROUP), [0] * GROUP))

        def add(number_of: Any, factor: Any) -> None:
            added = builder.call(fused, [weights, factor, load(totals, number_of)])
            builder.store(added, line(totals, number_of)).align = 4

        _, c, _, _, share, _ = arguments
        error_of = builder.add(k, c)
        size, own = (repeat(builder.load(builder.gep(lengths_of.data, [place]))) for place in (c, error_of))
        lengths, closest, weights = (load(rows, ir.Constant(integer, place)) for place in range(3))
        error = builder.call(fused, [repeat(share), lengths, own])
        square = builder.fsub(builder.fadd(lengths, size), load(table, c))
        gain = builder.fsub(closest, square)
        near = builder.fcmp_ordered(">", gain, builder.fsub(zero, error))
        add(c, builder.select(builder.fcmp_ordered(">", gain, zero), gain, zero))
        add(error_of, builder.select(near, error, zero))
        return builder.zext(builder.bitcast(near, ir.IntType(GROUP)), integer)

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
