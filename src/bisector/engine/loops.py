"""The one decorator for compiled loops, and the one door through which arrays enter them.

Importing this module imports Numba, which takes a third of a second: a module with loops is imported
when a fit needs it, never by ``import bisector``.

A loop is compiled when it is first called with a new combination of types, runs without the interpreter's
lock, and is kept on disk (`bisector.engine.loop_cache` says under which conditions). The rules:

- Arithmetic is strict IEEE: a loop on float64 gives, bit for bit, what its function gives as plain Python;
  dividing by zero gives inf or nan, as in NumPy. ``@loop(fast=True)`` lets sums be reordered and products be
  fused, for loops that only screen. It never assumes that NaN and infinity do not occur: `isnan` works.
- Inputs pass through `given`, so that a loop meets one type of array per dtype. Otherwise layout, byte order,
  alignment and writability multiply into dozens of compilations of one loop. Outputs are made by the caller.
- A loop reads no globals but constants, functions and classes of this package, which the source fixes.
- A NamedTuple class that enters loops needs a ``__name__`` that no other class has, in any module: Numba
  tells the classes apart by that bare name and their fields, and would run the code made for the other class.
- With ``NUMBA_DISABLE_JIT=1`` in the environment a loop is the plain function, for debugging and coverage.
"""

import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeVar, overload
from weakref import WeakSet

import numba
import numba.core.typing.collections  # the fields of NamedTuples: what comes after does not hide them
import numba.extending
import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from bisector.engine.loop_cache import LoopCache
from bisector.engine.values import LOWERED

Function = TypeVar("Function", bound=Callable[..., Any])

# Neither "nnan" nor "ninf" may ever be among them: isnan and isinf would be compiled to False.
FAST_MATH = frozenset({"contract", "reassoc", "nsz", "arcp"})

_LOOPS: WeakSet[Callable[..., Any]] = WeakSet()
_FLOAT32, _FLOAT64, _INT64, _BOOL = map(np.dtype, (np.float32, np.float64, np.int64, np.bool_))
_KEPT = frozenset({_FLOAT32, _FLOAT64, _INT64, _BOOL})


@overload
def loop(function: Function) -> Function: ...
@overload
def loop(*, fast: bool = False) -> Callable[[Function], Function]: ...
def loop(function: Any = None, *, fast: bool = False) -> Any:
    """Compile a function of numbers and arrays to machine code when it is first called.

    Parameters
    ----------
    function : function
        What to compile; omitted when the decorator is given options.
    fast : bool, default=False
        Let the compiler reorder sums, fuse products with sums and divide by reciprocals.

    Returns
    -------
    dispatcher
        Called like the function, from Python and from other loops.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.engine.loops import given, loop
    >>> @loop
    ... def count_below(values, bound):
    ...     count = 0
    ...     for value in values:
    ...         if value < bound:
    ...             count += 1
    ...     return count
    >>> count_below(given(np.arange(10.0)), 3.0)
    3
    """
    if function is None:
        return lambda function: _compile_lazily(function, fast)
    return _compile_lazily(function, fast)


def _compile_lazily(function: Any, fast: bool) -> Any:
    made = numba.njit(nogil=True, error_model="numpy", fastmath=set(FAST_MATH) if fast else False)(function)
    if made is not function:  # else compilation is switched off
        made._cache = LoopCache(function, "fast" if fast else "strict")
    _LOOPS.add(made)
    return made


def all_loops() -> list[Any]:
    """List the loops of all modules imported so far, by module and name.

    Compiled ones say which types they met (``signatures``) and what the disk cache did for them (``stats``).
    """
    return sorted(_LOOPS, key=lambda made: (made.__module__, made.__qualname__))


def given(array: ArrayLike, dtype: DTypeLike | None = None) -> NDArray[Any]:
    """Present an array to a loop: C-contiguous, aligned, in native byte order, read-only.

    The result shares memory with the array whenever the array is fit already; the array itself, its flags
    included, is left as it is.

    Parameters
    ----------
    array : array-like of real numbers
    dtype : dtype, optional
        What to convert to. By default float32 and float64 stay, other floats become float64, integers
        int64, and booleans stay.

    Returns
    -------
    ndarray
        A read-only array.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.engine.loops import given
    >>> given(np.array([[1, 2], [3, 4]], order="F", dtype=">i4"))
    array([[1, 2],
           [3, 4]])
    """
    if (
        type(array) is np.ndarray
        and (array.dtype in _KEPT if dtype is None else array.dtype == dtype)
        and (flags := array.flags).c_contiguous
        and flags.aligned
        and array.dtype.isnative
    ):
        if not flags.writeable:
            return array
        view = array.view()
    else:
        view = _converted(np.asarray(array), dtype)
    view.setflags(write=False)
    return view


def _converted(array: NDArray[Any], dtype: DTypeLike | None) -> NDArray[Any]:
    """Copy or view an array so that it meets the rules of `given`, as a new array object."""
    target = _dtype_for(array.dtype) if dtype is None else np.dtype(dtype).newbyteorder("=")
    if target == _INT64 and array.dtype.kind == "u" and array.size and array.max() > np.iinfo(np.int64).max:
        raise OverflowError(f"{array.max()} does not fit into int64")
    return array.astype(target, order="C", casting="same_kind", copy=not array.flags.aligned).view()


def _dtype_for(dtype: np.dtype[Any]) -> np.dtype[Any]:
    if dtype.kind == "f":
        return _FLOAT32 if dtype.itemsize == 4 else _FLOAT64
    if dtype.kind in "iu":
        return _INT64
    if dtype.kind == "b":
        return _BOOL
    raise TypeError(f"a loop takes real numbers, not values of type {dtype}")


def compile_methods(**signatures: Callable[..., Any]) -> None:
    """Make methods of lowered classes callable in loops, by name.

    Parameters
    ----------
    **signatures : function
        For each method, any function with its arguments, ``self`` first. What runs in a loop is the method of the
        lowered class itself (`bisector.engine.values.lowered`), in strict arithmetic even where the loop is fast:
        compiled into whatever loop, one formula gives one number.
    """
    for name, signature in signatures.items():
        _compile_method(name, signature)


def _compile_method(name: str, signature: Callable[..., Any]) -> None:
    def template(*arguments: Any) -> Any:
        cls = arguments[0].instance_class
        method = getattr(cls, name, None) if LOWERED.get(cls.__name__) is cls else None
        return method and FunctionType(method.__code__, method.__globals__, name)

    # Numba compares the template's arguments with those of what it returns, annotations included.
    arguments = inspect.signature(signature).parameters.values()
    template.__signature__ = inspect.Signature(list(arguments))  # type: ignore[attr-defined]
    # On the base of all NamedTuple types, after Numba's own look-up of fields: another package's tuple with a field
    # of this name keeps it.
    numba.extending.overload_method(
        numba.types.BaseNamedTuple,
        name,
        jit_options={"fastmath": False, "error_model": "numpy", "nogil": True},
    )(template)
