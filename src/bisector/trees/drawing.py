"""A tree as SVG: boxes, lines and words, and no program but a browser to show them."""

from html import escape
from math import ceil

import numpy as np
from numpy.typing import NDArray

from bisector.solvers.tree_arrays import Floats, Integers
from bisector.trees.reading import Reading, rows_in_words

# Hues that colour-blind readers can tell apart (Okabe and Ito), as red, green and blue.
_HUES = (
    (0, 114, 178), (230, 159, 0), (0, 158, 115), (204, 121, 167), (86, 180, 233), (213, 94, 0), (240, 228, 66),
)  # fmt: skip
_BOX, _HIGH, _GAP, _DOWN = 118, 46, 14, 62
_LETTERS = 22
# Room above the root, for a line of words.
_TOP = 32
# A tree that is deeper is cut, whatever its width.
_DEEPEST = 40


def tree_svg(
    reading: Reading, shades: Floats, tones: Integers, max_depth: int | None, max_leaves: int
) -> str:
    """Draw a tree.

    Parameters
    ----------
    reading : Reading
    shades : ndarray
        How strongly each node is coloured, 0 to 1.
    tones : ndarray of int
        Which colour.
    max_depth : int or None
    max_leaves : int
        The tree is cut at the depth from which on it is wider.
    """
    tree = reading.tree
    below = tree.gathered(tree.is_leaf.astype(np.int64))
    depth = _drawn_depth(tree.depth, tree.is_leaf, max_depth, max_leaves)
    drawn = tree.depth <= depth
    ends = drawn & (tree.is_leaf | (tree.depth == depth))
    across = _places(reading, ends)
    n_ends, deepest = int(ends.sum()), int(tree.depth[drawn].max())
    width = n_ends * (_BOX + _GAP) + _GAP
    note = ""
    if (hidden := tree.n_leaves - int((ends & tree.is_leaf).sum())) > 0:
        cut = int((ends & ~tree.is_leaf).sum())
        note = (
            f"The tree has {tree.n_leaves:,} leaves and {tree.max_depth:,} levels; below level {depth}, {hidden:,} "
            f"leaves are not drawn, and {cut:,} boxes with dashed borders stand for them."
        )
    width = max(width, 6 * len(note), _BOX + 2 * _GAP)
    height = deepest * (_HIGH + _DOWN) + _HIGH + _TOP + _GAP
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'font-family="sans-serif" font-size="11" text-anchor="middle" role="img">',
        f"<title>A tree with {tree.n_leaves:,} leaves</title>",
    ]
    for node in np.flatnonzero(drawn & ~ends).tolist():
        parts.extend(_edges(reading, node, across))
    for node in np.flatnonzero(drawn).tolist():
        parts.extend(_box(reading, node, across, bool(ends[node]), int(below[node]), shades, tones))
    if note:
        parts.append(
            f'<text x="{_GAP}" y="{_TOP - 14}" text-anchor="start" fill="#444">{escape(note)}</text>'
        )
    return "".join([*parts, "</svg>"])


def _drawn_depth(depth: Integers, is_leaf: NDArray[np.bool_], max_depth: int | None, max_leaves: int) -> int:
    """Return the deepest level that is drawn."""
    deepest = int(depth.max())
    allowed = min(deepest, _DEEPEST if max_depth is None else max_depth)
    for level in range(allowed, 0, -1):
        if int((is_leaf & (depth < level)).sum() + (depth == level).sum()) <= max_leaves:
            return level
    return min(allowed, 1)


def _places(reading: Reading, ends: NDArray[np.bool_]) -> dict[int, float]:
    """Place the ends side by side, and every other node above the middle of its children."""
    places: dict[int, float] = {}
    waiting, number = [(0, False)], 0
    while waiting:
        node, returned = waiting.pop()
        if ends[node]:
            places[node] = _GAP + number * (_BOX + _GAP) + _BOX / 2
            number += 1
        elif returned:
            children = reading.children(node)
            places[node] = (places[children[0]] + places[children[-1]]) / 2
        else:
            waiting.append((node, True))
            waiting.extend((child, False) for child in reversed(reading.children(node)))
    return places


def _top(reading: Reading, node: int) -> float:
    return _TOP + int(reading.tree.depth[node]) * (_HIGH + _DOWN)


def _edges(reading: Reading, node: int, across: dict[int, float]) -> list[str]:
    x, y = across[node], _top(reading, node) + _HIGH
    parts = []
    for place, child in enumerate(reading.children(node)):
        to_x, to_y = across[child], y + _DOWN
        condition = reading.condition(node, place)
        words = str(condition).removeprefix(reading.names[condition.feature]).strip()
        # Words lie nearer to the child, where lines are farther apart, on a ground of their own.
        at_x, at_y = x + 0.6 * (to_x - x), y + 0.6 * (to_y - y)
        parts.append(f'<line x1="{x:.0f}" y1="{y:.0f}" x2="{to_x:.0f}" y2="{to_y:.0f}" stroke="#666"/>')
        parts.append(
            f'<text x="{at_x:.0f}" y="{at_y:.0f}" fill="#333" stroke="#fff" stroke-width="4" paint-order="stroke" '
            f'font-size="10">{_fitted(words, str(condition))}</text>'
        )
    return parts


def _box(
    reading: Reading,
    node: int,
    across: dict[int, float],
    is_end: bool,
    below: int,
    shades: Floats,
    tones: Integers,
) -> list[str]:
    tree = reading.tree
    x, y = across[node] - _BOX / 2, _top(reading, node)
    red, green, blue = (
        ceil(255 - 0.55 * float(shades[node]) * (255 - c)) for c in _HUES[int(tones[node]) % len(_HUES)]
    )
    cut = is_end and not tree.is_leaf[node]
    dashes = ' stroke-dasharray="4 3"' if cut else ""
    answer, rows = reading.answers[node], rows_in_words(int(tree.n_node_samples[node]))
    if tree.is_leaf[node]:
        first, second = answer, rows
    elif cut:
        first, second = answer, f"{rows}, {below:,} leaves"
    else:
        first, second = reading.names[int(tree.feature[node])], f"{rows}: {answer}"
    weight = ' font-weight="bold"' if tree.is_leaf[node] else ""
    return [
        f'<rect x="{x:.0f}" y="{y:.0f}" width="{_BOX}" height="{_HIGH}" rx="{0 if is_end else 8}" '
        f'fill="rgb({red},{green},{blue})" stroke="#444"{dashes}/>',
        f'<text x="{across[node]:.0f}" y="{y + 19:.0f}"{weight}>{_fitted(first)}</text>',
        f'<text x="{across[node]:.0f}" y="{y + 36:.0f}" fill="#333" font-size="10">{_fitted(second)}</text>',
    ]


def _fitted(words: str, whole: str | None = None) -> str:
    """Escape words, and shorten them to the width of a box; pointing at them shows all."""
    whole = words if whole is None else whole
    if len(words) <= _LETTERS:
        return escape(words)
    return f"{escape(words[: _LETTERS - 1])}…<title>{escape(whole)}</title>"
