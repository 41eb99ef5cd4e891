"""Ask for memory before it is needed, where a loop goes from row to row in an order that no processor guesses."""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload
from numpy.typing import NDArray


def prefetch(array: NDArray[Any], place: int) -> None:
    """Fetch the line of memory that holds ``array[place]`` into the cache; `array` has one dimension.

    Inside a loop this is one instruction that waits for nothing, and may name any place; called from Python, it
    does nothing.
    """


@intrinsic
def _prefetch(typing_context: Any, array: Any, place: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        held = context.make_array(signature.args[0])(context, builder, arguments[0])
        pointer, flag = ir.IntType(8).as_pointer(), ir.IntType(32)
        call = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(ir.VoidType(), [pointer, flag, flag, flag]), "llvm.prefetch.p0"
        )
        address = builder.bitcast(builder.gep(held.data, [arguments[1]]), pointer)
        read, keep, data = (ir.Constant(flag, number) for number in (0, 3, 1))
        builder.call(call, [address, read, keep, data])
        return context.get_dummy_value()

    return types.void(array, types.int64), emit


@overload(prefetch)
def _compile_prefetch(array: Any, place: Any) -> Any:
    if isinstance(array, types.Array) and array.ndim == 1:

        def fetch(array: Any, place: Any) -> Any:
            _prefetch(array, place)

        return fetch
    return None
