"""Distances as chess pieces experience them: the number of moves from square to square of an empty board.

A piece is the steps it can take, and whether it can repeat a step within one move. That is all: its distances
are found by moving it in all ways at once, which gives the squares one move away, then two, and so on.
"""

import re
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bisector.distances.distance import Distance, Law, Pairs, Rows
from bisector.engine.memory import require
from bisector.engine.threads import parallel
from bisector.engine.values import value

Step = tuple[int, int]

ORTHOGONAL: tuple[Step, ...] = ((1, 0), (-1, 0), (0, 1), (0, -1))
DIAGONAL: tuple[Step, ...] = ((1, 1), (1, -1), (-1, 1), (-1, -1))
LEAPS: tuple[Step, ...] = tuple(
    (up, right) for up, right in product((-2, -1, 1, 2), repeat=2) if abs(up) != abs(right)
)
# Boards on which pieces are moved at once: together they should stay in the second-level cache.
_BYTES_AT_ONCE = 2**18
_FILES = "abcdefghijklmnopqrstuvwxyz"


@value
class Piece(Distance):
    """The number of moves between squares for the piece that a subclass describes.

    A square is (rank, file), both counted from 0, or on boards of up to 26 files its name: "a1" is (0, 0) and "e4"
    is (3, 4). Several squares are an array of two columns or a sequence of names. What a piece cannot reach is
    infinitely far away.
    """

    shape: tuple[int, int] = (8, 8)

    slides: ClassVar[bool] = False

    def __post_init__(self) -> None:
        self._set(shape=_checked_shape(self.shape))

    @property
    def law(self) -> Law:
        """A metric, of which some values are infinite for pieces that cannot go everywhere."""
        return "metric"

    @property
    @abstractmethod
    def steps(self) -> tuple[Step, ...]:
        """The steps that the piece can take."""

    def moves(self, square: Any) -> NDArray[np.int64]:
        """Return the squares that are one move away, as rows of (rank, file).

        Examples
        --------
        >>> from bisector.distances import Knight
        >>> Knight().moves("a1").tolist()
        [[1, 2], [2, 1]]
        """
        return np.argwhere(self.distances_from(square) == 1)

    def distances_from(self, square: Any) -> NDArray[np.float64]:
        """Return a board with the number of moves from one square to each.

        Examples
        --------
        >>> from bisector.distances import Bishop
        >>> Bishop(shape=(3, 3)).distances_from((0, 0))
        array([[ 0., inf,  2.],
               [inf,  1., inf],
               [ 2., inf,  1.]])
        """
        return self._explored(self._numbers([square], "square"))[..., 0]

    def prepare(self, X: Any, like: Rows | None = None, name: str = "X") -> "Squares":
        return Squares(self._numbers(X, name))

    def between(self, outer: Rows, inner: Rows, *, flipped: bool = False) -> Pairs:
        assert isinstance(outer, Squares)
        assert isinstance(inner, Squares)
        return SquarePairs(self._table.T if flipped else self._table, outer, inner)

    def __call__(self, x: Any, y: Any) -> float:
        start, end = self._numbers([x], "x"), self._numbers([y], "y")
        return float(self._explored(start).flat[end[0]])

    @cached_property
    def _table(self) -> NDArray[np.float64]:
        """The distance from every square to every square."""
        ranks, files = self.shape
        n_squares = ranks * files
        require(
            n_squares**2 * np.dtype(np.float64).itemsize,
            doing=f"Moving a {type(self).__name__} over {ranks:,} × {files:,} squares",
            holding=f"{n_squares:,} × {n_squares:,} distances",
            instead="use a smaller board, or distances_from(square)",
        )
        table = np.empty((n_squares, n_squares))
        at_once = max(1, _BYTES_AT_ONCE // n_squares)

        def explore(first: int) -> None:
            starts = np.arange(first, min(first + at_once, n_squares))
            table[starts] = self._explored(starts).reshape(n_squares, len(starts)).T

        parallel(explore, range(0, n_squares, at_once))
        return table

    def _explored(self, starts: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return boards of shape (ranks, files, starts) with the number of moves from each start."""
        ranks, files = self.shape
        reached = np.zeros((ranks, files, len(starts)), dtype=bool)
        reached[*np.divmod(starts, files), np.arange(len(starts))] = True
        n_moves = np.zeros(reached.shape, dtype=np.int32)
        latest = reached.copy()
        while latest.any():
            n_moves += ~reached
            latest = self._moved(latest) & ~reached
            reached |= latest
        return np.where(reached, n_moves, np.inf)

    def _moved(self, squares: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return the squares that are one move away from any of those marked on boards."""
        found = np.zeros_like(squares)
        for step in self.steps:
            ahead = np.zeros_like(squares)
            _mark_ahead(squares, step, ahead)
            n_steps = 1
            while self.slides and n_steps < max(self.shape):
                _mark_ahead(ahead.copy(), (n_steps * step[0], n_steps * step[1]), ahead)
                n_steps *= 2
            found |= ahead
        return found

    def _numbers(self, squares: Any, name: str) -> NDArray[np.int64]:
        """Check squares and number them along the ranks."""
        places = _places(squares, name)
        ranks, files = self.shape
        outside = ((places < 0) | (places >= (ranks, files))).any(axis=1)
        if outside.any():
            row = int(np.argmax(outside))
            raise ValueError(
                f"Row {row} of {name} is the square {tuple(places[row].tolist())}, which is not on the board: "
                f"ranks are 0 to {ranks - 1} and files 0 to {files - 1}."
            )
        return places[:, 0] * files + places[:, 1]


@value
class King(Piece):
    """One square at a time, in all eight directions: Chebyshev distance.

    Parameters
    ----------
    shape : (int, int), default=(8, 8)
        How many ranks and files the board has.

    Examples
    --------
    >>> from bisector.distances import King
    >>> King()("e1", "b3")
    3.0
    """

    names = ("king",)
    steps = ORTHOGONAL + DIAGONAL
    translation_invariant = True


@value
class Rook(Piece):
    """Any number of squares along a rank or file: the number of coordinates that differ.

    Parameters
    ----------
    shape : (int, int), default=(8, 8)
        How many ranks and files the board has.

    Examples
    --------
    >>> from bisector.distances import Rook
    >>> Rook()("a1", "a8"), Rook()("a1", "b2")
    (1.0, 2.0)
    """

    names = ("rook",)
    steps = ORTHOGONAL
    slides = True
    translation_invariant = True


@value
class Bishop(Piece):
    """Any number of squares along a diagonal; squares of the other colour are infinitely far away.

    Parameters
    ----------
    shape : (int, int), default=(8, 8)
        How many ranks and files the board has.

    Examples
    --------
    >>> from bisector.distances import Bishop
    >>> Bishop()("c1", "h6"), Bishop()("c1", "c2")
    (1.0, inf)
    """

    names = ("bishop",)
    steps = DIAGONAL
    slides = True


@value
class Knight(Piece):
    """Two squares along a rank or file and one across.

    The next square is three moves away, and sometimes out of reach on small boards.

    Parameters
    ----------
    shape : (int, int), default=(8, 8)
        How many ranks and files the board has.

    Examples
    --------
    >>> from bisector.distances import Knight
    >>> Knight()("e4", "e5"), Knight()("a1", "b2")
    (3.0, 4.0)
    """

    names = ("knight",)
    steps = LEAPS


@value
class Queen(Piece):
    """Any number of squares in one of all eight directions: no square is further than two moves away.

    Parameters
    ----------
    shape : (int, int), default=(8, 8)
        How many ranks and files the board has.

    Examples
    --------
    >>> from bisector.distances import Queen
    >>> Queen()("d1", "h5"), Queen()("d1", "e3")
    (1.0, 2.0)
    """

    names = ("queen",)
    steps = ORTHOGONAL + DIAGONAL
    slides = True
    translation_invariant = True


@value
class KRook(Piece):
    """One square at a time along a rank or file, a King with the directions of a Rook: Manhattan distance.

    Parameters
    ----------
    shape : (int, int), default=(8, 8)
        How many ranks and files the board has.

    Examples
    --------
    >>> from bisector.distances import KRook
    >>> KRook()("e1", "b3")
    5.0
    """

    names = ("krook",)
    steps = ORTHOGONAL
    translation_invariant = True


@value
class Bing(Piece):
    """One square at a time along a diagonal: a King with the directions of a Bishop.

    Parameters
    ----------
    shape : (int, int), default=(8, 8)
        How many ranks and files the board has.

    Examples
    --------
    >>> from bisector.distances import Bing
    >>> Bing()("c1", "c5"), Bing()("c1", "c2")
    (4.0, inf)
    """

    names = ("bing",)
    steps = DIAGONAL
    translation_invariant = True


@value
class Pawn(Piece):
    """One square up, and never back: not symmetric, and so no metric.

    Parameters
    ----------
    shape : (int, int), default=(8, 8)
        How many ranks and files the board has.

    Examples
    --------
    >>> from bisector.distances import Pawn
    >>> Pawn()("e2", "e4"), Pawn()("e4", "e2")
    (2.0, inf)
    """

    names = ("pawn",)
    steps = ((1, 0),)
    symmetric = False
    translation_invariant = True

    @property
    def law(self) -> Law:
        """None: the way back is closed."""
        return "none"


@dataclass(frozen=True)
class Squares(Rows):
    """Squares of a board by their numbers, counted along the ranks."""

    numbers: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.numbers)

    def take(self, numbers: NDArray[np.int64]) -> "Squares":
        return Squares(self.numbers[numbers])

    def joined(self, others: Sequence[Rows]) -> "Squares":
        return Squares(
            np.concatenate([self.numbers, *(rows.numbers for rows in others if isinstance(rows, Squares))])
        )


class SquarePairs(Pairs):
    """Pairs of squares, whose distances are looked up in a table."""

    def __init__(self, table: NDArray[np.float64], outer: Squares, inner: Squares) -> None:
        self.table = table
        self.outer, self.inner = outer, inner
        self.shape = (len(outer), len(inner))

    def fill(self, outer: range, inner: range, out: NDArray[Any], row: int = 0, column: int = 0) -> None:
        ranks = self.outer.numbers[outer.start : outer.stop]
        files = self.inner.numbers[inner.start : inner.stop]
        out[row : row + len(outer), column : column + len(inner)] = self.table[np.ix_(ranks, files)]

    def write(self, outer: range, inner: range, out: NDArray[Any], row: int = 0, column: int = 0) -> None:
        self.fill(outer, inner, out, row, column)


def _mark_ahead(squares: NDArray[np.bool_], step: Step, ahead: NDArray[np.bool_]) -> None:
    """Mark in `ahead` what is one step from the marked squares; what would leave the board is gone."""
    (to_ranks, from_ranks), (to_files, from_files) = map(_moved_window, squares.shape, step)
    ahead[to_ranks, to_files] |= squares[from_ranks, from_files]


def _moved_window(length: int, by: int) -> tuple[slice, slice]:
    """Return where numbers 0…length land when moved by a step, and those of them that do."""
    return slice(max(by, 0), max(length + min(by, 0), 0)), slice(max(-by, 0), max(length - max(by, 0), 0))


def _checked_shape(shape: Any) -> tuple[int, int]:
    wanted = "shape must be two positive integers, the numbers of ranks and files"
    if not isinstance(shape, Iterable) or len(sides := list(shape)) != 2:
        raise ValueError(f"{wanted}, not {shape!r}.")
    if any(isinstance(side, bool) or not isinstance(side, int | np.integer) or side < 1 for side in sides):
        raise ValueError(f"{wanted}, not {shape!r}.")
    return int(sides[0]), int(sides[1])


def _places(squares: Any, name: str) -> NDArray[np.int64]:
    """Return squares as rows of (rank, file)."""
    if hasattr(squares, "tocsr"):
        raise ValueError(
            f"{name} is sparse, but squares of a board are rows of (rank, file): use {name}.toarray()."
        )
    array = np.asarray(squares)
    if array.ndim == 1 and array.dtype.kind in "UTO" and array.size:
        return np.array([_named_square(square, row, name) for row, square in enumerate(array.tolist())])
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "fiubO":
        raise ValueError(
            f"{name} must hold squares, as rows of (rank, file) or as names such as 'e4', but has the shape "
            f"{array.shape} and values of type {array.dtype}."
        )
    return _whole(array, name)


def _whole(places: ArrayLike, name: str) -> NDArray[np.int64]:
    try:
        real = np.asarray(places, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"{name} must hold squares, as rows of (rank, file) or as names such as 'e4'."
        ) from None
    with np.errstate(invalid="ignore"):
        # Beyond any board, but still an integer.
        whole = np.clip(np.nan_to_num(real), -1e9, 1e9).astype(np.int64)
    broken = (np.clip(real, -1e9, 1e9) != whole).any(axis=1)
    if broken.any():
        row = int(np.argmax(broken))
        raise ValueError(
            f"Row {row} of {name} is {tuple(real[row].tolist())}, but ranks and files are whole numbers."
        )
    return whole


def _named_square(square: Any, row: int, name: str) -> Step:
    found = re.fullmatch(r"([a-z])([0-9]+)", square.lower()) if isinstance(square, str) else None
    if found is None:
        raise ValueError(f"Row {row} of {name} is {square!r}, which is no square: name it like 'e4'.")
    return int(found[2]) - 1, _FILES.index(found[1])
