"""Pictures as SVG for a page: in the page's own colours, and with names that no other picture uses."""

import io
import re
from collections.abc import Callable
from typing import Any

# Stands for the colour of the page's text while a picture is drawn; no palette has it.
_INK = "#010203"
_INKED = (
    "text.color",
    "axes.edgecolor",
    "axes.labelcolor",
    "xtick.color",
    "ytick.color",
    "legend.labelcolor",
)


def inline_svg(draw: Callable[[], Any], name: str) -> str:
    """Draw a Display and return it as an ``<svg>`` element; its figure is closed.

    Parameters
    ----------
    draw : function without arguments
        Returns a Display that was plotted.
    name : str
        Put before every id within the picture, since those of a page must differ.

    Returns
    -------
    str
        Words and axes have the colour of the text around the picture, and the background is left to the page.

    Examples
    --------
    >>> from bisector import ConfusionDisplay
    >>> from bisector.plot.inline_svg import inline_svg
    >>> svg = inline_svg(lambda: ConfusionDisplay.from_predictions([0, 1], [0, 1]), "confusion")
    >>> svg[:4], "currentColor" in svg
    ('<svg', True)
    """
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    plain = {
        "figure.facecolor": "none",
        "axes.facecolor": "none",
        "savefig.facecolor": "none",
        "legend.facecolor": "none",
        "svg.hashsalt": name,
    }
    with mpl.rc_context({**plain, **dict.fromkeys(_INKED, _INK)}):
        figure = draw().figure_
        file = io.StringIO()
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None}, bbox_inches="tight")
        plt.close(figure)
    return _alone(file.getvalue(), name)


def _alone(svg: str, name: str) -> str:
    """Keep the element only, without fixed size, and make its ids its own."""
    svg = svg[svg.index("<svg") :].strip().replace(_INK, "currentColor")
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    head, _, rest = svg.partition(">")
    width = re.search(r'width="([\d.]+)pt"', head)
    head = re.sub(r' (width|height)="[\d.]+pt"', "", head)
    if width:
        head += f' style="max-width: {float(width[1]) * 4 / 3:.0f}px"'
    svg = f"{head}>{rest}"
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', svg)
    return re.sub(r'(href="|url\()#', rf"\1#{name}-", svg)
