"""Rows that are no rows of numbers: how they are listed, and how what they hold is numbered."""

from collections.abc import Hashable, Iterable, Mapping, Set
from typing import Any

from bisector.engine.frames import is_frame
from bisector.engine.sources import refuse_collections


class Vocabulary(dict[Hashable, int]):
    """Numbers of hashable things: looking up a thing that has none gives it the next.

    Parameters
    ----------
    known : Vocabulary, optional
        Where the numbers of things are taken from; what it lacks is numbered after its own. It does not change.

    Attributes
    ----------
    size : int
        How many numbers there are.

    Examples
    --------
    >>> from bisector.distances.set_elements import Vocabulary
    >>> words = Vocabulary()
    >>> [words[word] for word in "to be or not to be".split()]
    [0, 1, 2, 3, 0, 1]
    >>> more = Vocabulary(words)
    >>> more["not"], more["now"], words.size
    (3, 4, 4)
    """

    known: "Vocabulary | None"
    size: int

    def __init__(self, known: "Vocabulary | None" = None) -> None:
        super().__init__()
        self.known = known if known is None or known.known is None else known.flattened()
        self.size = 0 if known is None else known.size

    def __missing__(self, thing: Hashable) -> int:
        number = None if self.known is None else self.known.get(thing)
        if number is None:
            if is_missing(thing):
                raise ValueError(f"holds {thing!r}, which stands for a missing value: leave it out")
            number = self.size
            self.size += 1
        self[thing] = number
        return number

    def flattened(self) -> "Vocabulary":
        """Return a copy that knows everything by itself."""
        flat = Vocabulary()
        flat.update(self.known or {})
        flat.update(self)
        flat.size = self.size
        return flat

    def numbers(self, things: Iterable[Hashable], where: str) -> list[int]:
        """Look up several things; `where` tells what errors call them."""
        try:
            return [self[thing] for thing in things]
        except TypeError:
            raise TypeError(
                f"{where} holds something that cannot be hashed, such as a list or an array."
            ) from None
        except ValueError as error:
            raise ValueError(f"{where} {error}.") from None

    def translation(self, other: "Vocabulary") -> dict[int, int]:
        """Map those of the numbers that rows with this vocabulary use to numbers of another, which may grow."""
        return {number: other[thing] for thing, number in self.items()}

    def agrees_with(self, other: "Vocabulary") -> bool:
        """Tell whether a thing that both number has one number, and no number stands for two things."""
        return self is other or self.known is other or other.known is self


def items_of(X: Any, name: str) -> list[Any]:
    """List the rows of a sequence: a list, a one-dimensional array, a Series, an Arrow array."""
    refuse_collections(X)
    if isinstance(X, str | bytes | Set | Mapping):
        raise TypeError(f"{name} is one {type(X).__name__}: put rows into a list.")
    if is_frame(X):
        raise TypeError(f"{name} is a frame: pass one of its columns.")
    if getattr(X, "ndim", 1) != 1:
        raise ValueError(
            f"{name} must have one dimension, but has the shape {X.shape}: pass one of its columns."
        )
    for method in ("to_pylist", "to_list", "tolist"):  # Arrow, polars and pandas, NumPy
        if hasattr(X, method):
            return list(getattr(X, method)())
    try:
        return list(X)
    except TypeError:
        raise TypeError(f"{name} must be a sequence of rows, not {X!r}.") from None


def is_missing(thing: Any) -> bool:
    """Tell whether something that can be compared stands for a missing value: None, NaN, NaT, pandas' NA."""
    try:
        return thing is None or bool(thing != thing)
    except (TypeError, ValueError):  # pandas' NA is neither equal to itself nor not; arrays are many things
        return type(thing).__name__ == "NAType"
