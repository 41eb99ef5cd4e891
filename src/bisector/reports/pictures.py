"""Pictures for the page, drawn by the Displays of `bisector.plot`."""

from collections.abc import Callable
from typing import Any

from bisector.plot.inline_svg import inline_svg
from bisector.reports.parts import Picture, Piece, Words

# A page stays below 5 MB whatever the data: no picture may take more than its share.
MOST_CHARACTERS = 600_000


def drawn(name: str, caption: str, draw: Callable[[], Any]) -> Piece:
    """Draw a picture; where that fails, or it grows too large, say so instead.

    Parameters
    ----------
    name : str
        Its own on the page.
    caption : str
        What there is to see.
    draw : function without arguments
        Returns a Display that was plotted.

    Examples
    --------
    >>> from bisector import ConfusionDisplay
    >>> from bisector.reports.pictures import drawn
    >>> drawn("few", "Two rows", lambda: ConfusionDisplay.from_predictions([0, 1], [0, 1])).caption
    'Two rows'
    """
    try:
        svg = inline_svg(draw, name)
    except Exception as fault:  # names with signs that the drawing library takes for formulas, for instance
        return Words(f"{caption}: this could not be drawn ({type(fault).__name__}).")
    if len(svg) > MOST_CHARACTERS:
        return Words(f"{caption}: this is left out, since it would take {len(svg) / 1e6:.1f} MB.")
    return Picture(caption, svg)
