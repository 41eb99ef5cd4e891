"""Distances on a chessboard, as a piece experiences them."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bisector.distances.names import resolve
from bisector.plot.canvas import axes, ink

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Squares with more moves than this share a colour; the numbers tell them apart.
MOST_SHADES = 8
# Boards with longer sides have no room for numbers.
LONGEST_SIDE = 26


class BoardDisplay:
    """How many moves away each square of a board is from one of them (Flach, Figures 8.1 and 8.2).

    Parameters
    ----------
    distances : array of shape (ranks, files)
        Numbers of moves; infinite for squares that cannot be reached, which stay without colour.
    square : (int, int), optional
        Rank and file of where the piece stands, counted from 0; by default the square at distance 0.
    title : str, optional

    Attributes
    ----------
    ax_, figure_ : Axes, Figure
    image_ : AxesImage
    numbers_ : list of Text
        Rank by rank from the first; empty on very large boards.
    square_ : Rectangle
        Around the square where the piece stands.

    Examples
    --------
    >>> from bisector import BoardDisplay, Knight
    >>> display = BoardDisplay.from_piece(Knight(), "e4")
    >>> display.square, display.distances[4, 4]
    ((3, 4), np.float64(3.0))
    """

    def __init__(
        self, distances: ArrayLike, *, square: tuple[int, int] | None = None, title: str | None = None
    ) -> None:
        self.distances = np.asarray(distances, dtype=np.float64)
        if self.distances.ndim != 2 or not self.distances.size:
            raise ValueError(
                f"distances must be a board, ranks by files, not of shape {self.distances.shape}."
            )
        if square is None:
            home = np.argwhere(self.distances == 0)
            if not len(home):
                raise ValueError(
                    "No square is at distance 0: say by square=(rank, file) where the piece stands."
                )
            square = int(home[0, 0]), int(home[0, 1])
        self.square = square
        self.title = title

    @classmethod
    def from_piece(cls, piece: Any, square: Any, *, ax: "Axes | None" = None) -> Self:
        """Move a piece in all ways, and draw how many moves each square takes.

        Parameters
        ----------
        piece : King, Rook, Bishop, Knight, Queen, KRook, Bing or Pawn, or its name
        square : str or (int, int)
            Where it stands: "e4", or rank and file counted from 0.
        ax : Axes, optional

        Returns
        -------
        BoardDisplay
        """
        moved = resolve(piece)
        if not hasattr(moved, "distances_from"):
            raise TypeError(
                f"{moved!r} is not a piece that moves on a board: give a King, a Rook, a Knight …."
            )
        distances: NDArray[np.float64] = moved.distances_from(square)
        return cls(distances, title=f"{type(moved).__name__}: moves from the framed square").plot(ax=ax)

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw the board, with the first rank below.

        Parameters
        ----------
        ax : Axes, optional

        Returns
        -------
        self
        """
        from matplotlib.patches import Rectangle

        self.ax_ = axes(ax, layout="compressed")
        self.figure_ = self.ax_.figure
        ranks, files = self.distances.shape
        reached = np.isfinite(self.distances)
        shown = np.ma.masked_where(~reached, self.distances)
        self.image_ = self.ax_.imshow(shown, cmap="viridis_r", vmin=0, vmax=MOST_SHADES, origin="lower")
        self.numbers_: list[Any] = []
        if max(ranks, files) <= LONGEST_SIDE:
            self._write_numbers(reached)
        rank, file = self.square
        self.square_ = Rectangle((file - 0.5, rank - 0.5), 1, 1, fill=False, ec="#D55E00", lw=3, zorder=3)
        self.ax_.add_patch(self.square_)
        self.ax_.set(title=self.title)
        return self

    def _write_numbers(self, reached: NDArray[np.bool_]) -> None:
        ranks, files = self.distances.shape
        for (rank, file), moves in np.ndenumerate(self.distances):
            # Dark squares are those with many moves.
            tone = "white" if moves > MOST_SHADES / 2 else "black"
            text, tone = (f"{moves:.0f}", tone) if reached[rank, file] else ("∞", ink())
            style: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": "small", "color": tone}
            self.numbers_.append(self.ax_.text(file, rank, text, **style))
        letters = [chr(ord("a") + file) for file in range(files)]
        self.ax_.set_xticks(range(files), letters)
        self.ax_.set_yticks(range(ranks), [str(rank + 1) for rank in range(ranks)])
        self.ax_.tick_params(length=0)
