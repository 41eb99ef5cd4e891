"""A tree as SVG: boxes, lines and words, and no program but a browser to show them."""

from html import escape
from math import ceil

from bisector.trees.layout import Box, Branch, TreeLayout

# Hues that colour-blind readers can tell apart (Okabe and Ito), as red, green and blue.
_HUES = (
    (0, 114, 178), (230, 159, 0), (0, 158, 115), (204, 121, 167), (86, 180, 233), (213, 94, 0), (240, 228, 66),
)  # fmt: skip
_BOX, _HIGH, _GAP, _DOWN = 118, 46, 14, 62
_LETTERS = 22
# Room above the root, for a line of words.
_TOP = 32


def tree_svg(layout: TreeLayout) -> str:
    """Draw a tree that is laid out."""
    width = max(layout.width * (_BOX + _GAP) + _GAP, 6 * len(layout.note), _BOX + 2 * _GAP)
    height = layout.deepest * (_HIGH + _DOWN) + _HIGH + _TOP + _GAP
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'font-family="sans-serif" font-size="11" text-anchor="middle" role="img">',
        f"<title>A tree with {layout.n_leaves:,} leaves</title>",
    ]
    for branch in layout.branches:
        parts.extend(_line(layout, branch))
    for box in layout.boxes.values():
        parts.extend(_box(box))
    if layout.note:
        parts.append(
            f'<text x="{_GAP}" y="{_TOP - 14}" text-anchor="start" fill="#444">{escape(layout.note)}</text>'
        )
    return "".join([*parts, "</svg>"])


def _middle(box: Box) -> float:
    return _GAP + box.x * (_BOX + _GAP) + _BOX / 2


def _top(box: Box) -> float:
    return _TOP + box.depth * (_HIGH + _DOWN)


def _line(layout: TreeLayout, branch: Branch) -> list[str]:
    above, below = layout.boxes[branch.parent], layout.boxes[branch.child]
    x, y = _middle(above), _top(above) + _HIGH
    to_x, to_y = _middle(below), y + _DOWN
    # Words lie nearer to the child, where lines are farther apart, on a ground of their own.
    at_x, at_y = x + 0.6 * (to_x - x), y + 0.6 * (to_y - y)
    return [
        f'<line x1="{x:.0f}" y1="{y:.0f}" x2="{to_x:.0f}" y2="{to_y:.0f}" stroke="#666"/>',
        f'<text x="{at_x:.0f}" y="{at_y:.0f}" fill="#333" stroke="#fff" stroke-width="4" paint-order="stroke" '
        f'font-size="10">{_fitted(branch.words, branch.whole)}</text>',
    ]


def _box(box: Box) -> list[str]:
    middle, y = _middle(box), _top(box)
    red, green, blue = (ceil(255 - 0.55 * box.shade * (255 - c)) for c in _HUES[box.tone % len(_HUES)])
    dashes = ' stroke-dasharray="4 3"' if box.is_cut else ""
    weight = ' font-weight="bold"' if box.is_leaf else ""
    return [
        f'<rect x="{middle - _BOX / 2:.0f}" y="{y:.0f}" width="{_BOX}" height="{_HIGH}" '
        f'rx="{0 if box.is_leaf or box.is_cut else 8}" fill="rgb({red},{green},{blue})" stroke="#444"{dashes}/>',
        f'<text x="{middle:.0f}" y="{y + 19:.0f}"{weight}>{_fitted(box.words)}</text>',
        f'<text x="{middle:.0f}" y="{y + 36:.0f}" fill="#333" font-size="10">{_fitted(box.more)}</text>',
    ]


def _fitted(words: str, whole: str | None = None) -> str:
    """Escape words, and shorten them to the width of a box; pointing at them shows all."""
    whole = words if whole is None else whole
    if len(words) <= _LETTERS:
        return escape(words)
    return f"{escape(words[: _LETTERS - 1])}…<title>{escape(whole)}</title>"
