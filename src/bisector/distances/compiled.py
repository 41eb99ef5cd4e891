"""A user's own function of two rows, as a distance like any other."""

import contextlib
import math
import numbers
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.distances.distance import Distance, Law, Pairs, Rows
from bisector.distances.numeric_rows import NumericRows, numeric_rows
from bisector.engine.validation import check_choice, check_flag
from bisector.engine.values import value

# Inner rows of a tile should stay in the second-level cache while the outer rows pass by.
_TILE_BYTES = 2**18
# A call from Python takes microseconds: small tiles lose nothing, and save half the calls of a symmetric function.
_PYTHON_TILE = (32, 32)


@value
class Compiled(Distance):
    """A function of two rows that you wrote, compiled to machine code if it can be.

    The function gets two rows as read-only float64 arrays and returns a number that is not negative. It is
    compiled by Numba at its first use, with sums that may be reordered, and then runs about as fast as the built-in
    distances; values of global variables are those at that moment. A function you compiled yourself with ``@njit``
    is used as it is. What Numba cannot compile runs as Python, with one warning that says how long that takes.

    Rows that are not numbers reach the function as they are, one by one in Python: X may be a sequence of any
    objects, such as strings, tuples or graphs.

    Nobody can tell which axioms a function keeps; say so by `law`, and it will be believed. It pickles if
    its function does, as one defined at the top level of a module.

    Parameters
    ----------
    function : callable
        Called as ``function(x, y)``.
    law : "metric", "pseudo-metric" or "none", default="none"
        Which axioms the function keeps. Searches can be faster in a metric.
    symmetric : bool, default=False
        Whether x and y can change places, so that half of the pairs need not be computed; always true of a metric
        and a pseudo-metric.

    Examples
    --------
    >>> from bisector.distances import Compiled
    >>> def canberra(x, y):
    ...     total = 0.0
    ...     for j in range(len(x)):
    ...         size = abs(x[j]) + abs(y[j])
    ...         if size > 0:
    ...             total += abs(x[j] - y[j]) / size
    ...     return total
    >>> distance = Compiled(canberra, law="metric")
    >>> distance([1, 0, 2], [1, 3, 6])
    1.5
    >>> distance.pairwise([[1, 0, 2], [1, 3, 6]])
    array([[0. , 1.5],
           [1.5, 0. ]])
    """

    function: Callable[[Any, Any], Any]
    _: KW_ONLY
    law: Law = "none"
    symmetric: bool = False  # type: ignore[misc]

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise TypeError(f"function must be a function of two rows, not {self.function!r}.")
        try:
            hash(self.function)
        except TypeError:
            raise TypeError(
                f"function is of type {type(self.function).__name__}, which has no hash: wrap it in a function."
            ) from None
        law = check_choice("law", self.law, ("metric", "pseudo-metric", "none"))
        self._set(law=law, symmetric=check_flag("symmetric", self.symmetric) or law != "none")

    def prepare(self, X: Any, like: Rows | None = None, name: str = "X") -> Rows:
        objects = _objects(X, name)
        if objects is None:
            if isinstance(like, ObjectRows):
                raise ValueError(
                    f"{name} holds rows of numbers, but the rows it is compared with are objects."
                )
            return VectorRows.of(numeric_rows(X, like, name, missing=True), name)
        if isinstance(like, NumericRows):
            raise ValueError(f"{name} holds objects, but the rows it is compared with are rows of numbers.")
        return ObjectRows(objects, name)

    def between(self, outer: Rows, inner: Rows, *, flipped: bool = False) -> Pairs:
        pairs = self._pairs(outer, inner, flipped=flipped)
        if isinstance(pairs, PythonPairs):
            self._tell_costs(pairs, among_themselves=outer is inner)
        return pairs

    def __call__(self, x: Any, y: Any) -> float:
        second = self.prepare(y if hasattr(y, "tocsr") else [y], name="y")
        first = self.prepare(x if hasattr(x, "tocsr") else [x], like=second, name="x")
        found = np.empty((1, 1))
        # The same machine code as in tiles, so that the number has the same bits.
        self._pairs(first, second, flipped=False).write(range(1), range(1), found)
        return float(found[0, 0])

    def _pairs(self, outer: Rows, inner: Rows, *, flipped: bool) -> "CompiledPairs | PythonPairs":
        if isinstance(outer, VectorRows) and isinstance(inner, VectorRows):
            dispatcher = self._attempt.dispatcher
            if dispatcher is not None:
                return CompiledPairs(dispatcher, outer, inner, flipped)
        assert isinstance(outer, VectorRows | ObjectRows)
        assert isinstance(inner, VectorRows | ObjectRows)
        return PythonPairs(self.function, outer, inner, flipped)

    @cached_property
    def _attempt(self) -> Any:
        from bisector.engine.user_functions import compiled

        return compiled(self.function)

    @cached_property
    def _told(self) -> list[str]:
        """The warning about the costs, once it was given."""
        return []

    def _tell_costs(self, pairs: "PythonPairs", *, among_themselves: bool) -> None:
        n_pairs = pairs.shape[0] * pairs.shape[1]
        if self._told or not n_pairs:
            return
        seconds = pairs.seconds_a_call()
        n_calls = n_pairs // 2 if among_themselves and self.symmetric else n_pairs
        why = (
            self._attempt.reason
            if isinstance(pairs.outer, VectorRows)
            else "its rows are no vectors of numbers"
        )
        self._told.append(
            f"{_name(self.function)} runs as Python, because {why}: a pair takes about {_duration(seconds)}, "
            f"and {n_calls:,} pairs about {_duration(seconds * n_calls)}."
        )
        warnings.warn(self._told[0], stacklevel=5)


@dataclass(frozen=True)
class VectorRows(NumericRows):
    """Rows of numbers that errors can name."""

    called: str = "X"

    @classmethod
    def of(cls, rows: NumericRows, called: str) -> "VectorRows":
        """Give rows a name."""
        return cls(**{field.name: getattr(rows, field.name) for field in fields(rows)}, called=called)

    def some(self, chosen: range) -> list[NDArray[np.float64]]:
        """Return consecutive rows as the function gets them."""
        part = self.dense(chosen).astype(np.float64)
        part.setflags(write=False)
        return list(part)


@dataclass(frozen=True)
class ObjectRows(Rows):
    """Rows that are any objects."""

    values: list[Any]
    called: str = "X"

    dtype = np.dtype(np.float64)

    def __len__(self) -> int:
        return len(self.values)

    def take(self, numbers: NDArray[np.int64]) -> "ObjectRows":
        return replace(self, values=[self.values[number] for number in numbers.tolist()])

    def joined(self, others: Sequence[Rows]) -> "ObjectRows":
        more = [row for rows in others if isinstance(rows, ObjectRows) for row in rows.values]
        return replace(self, values=self.values + more)

    def some(self, chosen: range) -> list[Any]:
        """Return consecutive rows."""
        return self.values[chosen.start : chosen.stop]


class _FunctionPairs(Pairs):
    """Pairs of rows under a function; the numbers it returns are distances as they are."""

    def __init__(
        self, function: Any, outer: VectorRows | ObjectRows, inner: VectorRows | ObjectRows, flipped: bool
    ) -> None:
        self.function = function
        self.outer, self.inner = outer, inner
        self.flipped = flipped
        self.shape = (len(outer), len(inner))
        self.dtype = np.result_type(outer.dtype, inner.dtype)

    def write(self, outer: range, inner: range, out: NDArray[Any], row: int = 0, column: int = 0) -> None:
        self.fill(outer, inner, out, row, column)

    def values(self, outer: range, inner: range) -> Iterator[float]:
        """Call the function from Python for all pairs; its faults become errors that name the pair."""
        lines = self.outer.some(outer)
        others = self.inner.some(inner)
        for i, one in zip(outer, lines, strict=True):
            for j, other in zip(inner, others, strict=True):
                try:
                    found = self.function(other, one) if self.flipped else self.function(one, other)
                except Exception as error:
                    said = f"raised {type(error).__name__}: {error}".rstrip(": ")
                    raise ValueError(self._fault(f"{said}, at", i, j)) from error
                yield self._checked(found, i, j)

    def _checked(self, found: Any, i: int, j: int) -> float:
        if isinstance(found, np.ndarray) and found.ndim == 0:
            found = found.item()
        if not isinstance(found, numbers.Real | np.number | np.bool_) or isinstance(
            found, np.complexfloating
        ):
            kind = "None" if found is None else f"a value of type {type(found).__name__}"
            raise TypeError(self._fault(f"must return a number, but returned {kind} for", i, j))
        number = float(found)
        if not number >= 0:
            word = "NaN" if math.isnan(number) else f"{number:.6g}"
            raise ValueError(
                self._fault(f"must not return a negative number or NaN, but returned {word} for", i, j)
            )
        return number

    def _fault(self, said: str, i: int, j: int) -> str:
        places = [f"row {i} of {self.outer.called}", f"row {j} of {self.inner.called}"]
        first, second = places[::-1] if self.flipped else places
        return f"{_name(self.function)} {said} {first} and {second}."


class CompiledPairs(_FunctionPairs):
    """Pairs of rows of numbers under a compiled function."""

    outer: VectorRows
    inner: VectorRows

    def __init__(self, function: Any, outer: VectorRows, inner: VectorRows, flipped: bool) -> None:
        super().__init__(function, outer, inner, flipped)
        fitting = _TILE_BYTES // (8 * inner.n_features)
        self.tile_shape = (256, min(512, max(64, fitting // 64 * 64)))

    def fill(self, outer: range, inner: range, out: NDArray[Any], row: int = 0, column: int = 0) -> None:
        from bisector.distances.compiled_loops import fill_rows_tile

        rows, first = _doubles(self.outer, outer)
        others, other_first = _doubles(self.inner, inner)
        place = (out, row, column, len(outer), len(inner))
        try:
            n_bad = fill_rows_tile(self.function, rows, first, others, other_first, self.flipped, *place)
        except Exception:  # of the function, which does not know which rows it was given
            for _ in self.values(outer, inner):
                pass
            raise
        if n_bad:
            tile = out[row : row + len(outer), column : column + len(inner)]
            i, j = np.argwhere(~(tile >= 0))[0].tolist()
            self._checked(tile[i, j], outer[i], inner[j])


class PythonPairs(_FunctionPairs):
    """Pairs of any rows under a function that runs as Python."""

    tile_shape = _PYTHON_TILE

    def __init__(
        self, function: Any, outer: VectorRows | ObjectRows, inner: VectorRows | ObjectRows, flipped: bool
    ) -> None:
        super().__init__(function, outer, inner, flipped)
        # Threads would only take the interpreter from each other, and the function may not expect them.
        self._one_at_a_time = threading.Lock()

    def fill(self, outer: range, inner: range, out: NDArray[Any], row: int = 0, column: int = 0) -> None:
        with self._one_at_a_time:
            found = np.fromiter(self.values(outer, inner), np.float64, len(outer) * len(inner))
        out[row : row + len(outer), column : column + len(inner)] = found.reshape(len(outer), len(inner))

    def seconds_a_call(self) -> float:
        """Measure how long the function takes for the first pair: the best of a few calls, if they are short."""
        best = math.inf
        for _ in range(5):
            start = time.perf_counter()
            next(self.values(range(1), range(1)))
            best = min(best, time.perf_counter() - start)
            if best > 1e-3:
                break
        return best


def _objects(X: Any, name: str) -> list[Any] | None:
    """Return the rows if they are objects of any kind, or None if X is a table of numbers (or should be)."""
    if hasattr(X, "tocsr"):
        return None
    if isinstance(X, str | bytes | dict | set | frozenset) or not hasattr(X, "__len__"):
        raise TypeError(f"{name} must be a sequence of rows, not of type {type(X).__name__}.")
    try:
        array = np.asarray(X)
    except ValueError:  # rows of different lengths
        return list(X)
    if array.dtype.kind == "O" and array.ndim == 2:
        with contextlib.suppress(TypeError, ValueError):
            array = array.astype(np.float64)
    if array.dtype.kind in "fiub" and array.ndim <= 2:
        return None
    return list(X) if array.ndim == 1 or isinstance(X, list | tuple) else list(array)


def _doubles(rows: VectorRows, chosen: range) -> tuple[NDArray[np.float64], int]:
    """Return a float64 array that holds consecutive rows, and the number of the first of them in it."""
    from bisector.engine.loops import given

    if rows.sparse or rows.values.dtype != np.float64:
        return given(rows.dense(chosen).astype(np.float64)), 0
    return given(rows.values), chosen.start


def _name(function: Any) -> str:
    return getattr(function, "__qualname__", None) or repr(function)


def _duration(seconds: float) -> str:
    units = [(1e-6, "µs"), (1e-3, "ms"), (1.0, "seconds"), (60.0, "minutes"), (3600.0, "hours")]
    size, unit = max((pair for pair in units if seconds >= pair[0]), default=units[0])
    return f"{seconds / size:.2g} {unit}"
