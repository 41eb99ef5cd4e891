"""Where the boxes of a drawn tree stand and what is written in them, whatever draws it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bisector.solvers.tree_arrays import Floats, Integers
from bisector.trees.reading import Reading, rows_in_words

# A tree that is deeper is cut, whatever its width.
_DEEPEST = 40


@dataclass(frozen=True)
class Box:
    """A node.

    Attributes
    ----------
    node : int
        Its number in the tree.
    x : float
        Where it stands: the first leaf at 0, the next at 1.
    depth : int
        How far below the root.
    words, more : str
        What it asks or answers, and how many rows it has.
    shade : float
        How strongly it is coloured, 0 to 1.
    tone : int
        Which colour.
    is_leaf, is_cut : bool
        Whether it is a leaf, or stands for what is below it and is not drawn.
    """

    node: int
    x: float
    depth: int
    words: str
    more: str
    shade: float
    tone: int
    is_leaf: bool
    is_cut: bool


@dataclass(frozen=True)
class Branch:
    """A line from a node to one of its children; nodes by number.

    Attributes
    ----------
    parent, child : int
    words : str
        What the rows that go there have in common, without the name of the feature.
    whole : str
        The same with it.
    """

    parent: int
    child: int
    words: str
    whole: str


@dataclass(frozen=True)
class TreeLayout:
    """The boxes and lines of a tree.

    Attributes
    ----------
    boxes : dict of int to Box
        By the number of the node.
    branches : list of Branch
    n_leaves : int
        Of the whole tree.
    width : int
        How many boxes stand side by side at the bottom.
    deepest : int
        The depth of the lowest box.
    note : str
        What is not drawn, in a sentence; empty if all is.
    """

    boxes: dict[int, Box]
    branches: list[Branch]
    n_leaves: int
    width: int
    deepest: int
    note: str


def lay_out(
    reading: Reading, shades: Floats, tones: Integers, max_depth: int | None, max_leaves: int
) -> TreeLayout:
    """Lay a tree out.

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
    boxes = {}
    for node in np.flatnonzero(drawn).tolist():
        is_leaf, is_end = bool(tree.is_leaf[node]), bool(ends[node])
        words, more = _words(reading, node, is_end, int(below[node]))
        boxes[node] = Box(
            node, across[node], int(tree.depth[node]), words, more,
            float(shades[node]), int(tones[node]), is_leaf, is_end and not is_leaf,
        )  # fmt: skip
    branches = [
        _branch(reading, node, place, child)
        for node in np.flatnonzero(drawn & ~ends).tolist()
        for place, child in enumerate(reading.children(node))
    ]
    return TreeLayout(
        boxes, branches, tree.n_leaves, int(ends.sum()), int(tree.depth[drawn].max()),
        _note(reading, ends, depth),
    )  # fmt: skip


def _note(reading: Reading, ends: NDArray[np.bool_], depth: int) -> str:
    tree = reading.tree
    hidden = tree.n_leaves - int((ends & tree.is_leaf).sum())
    if not hidden:
        return ""
    cut = int((ends & ~tree.is_leaf).sum())
    return (
        f"The tree has {tree.n_leaves:,} leaves and {tree.max_depth:,} levels; below level {depth}, {hidden:,} "
        f"leaves are not drawn, and {cut:,} boxes with dashed borders stand for them."
    )


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
            places[node] = float(number)
            number += 1
        elif returned:
            children = reading.children(node)
            places[node] = (places[children[0]] + places[children[-1]]) / 2
        else:
            waiting.append((node, True))
            waiting.extend((child, False) for child in reversed(reading.children(node)))
    return places


def _words(reading: Reading, node: int, is_end: bool, below: int) -> tuple[str, str]:
    tree = reading.tree
    answer, rows = reading.answers[node], rows_in_words(int(tree.n_node_samples[node]))
    if tree.is_leaf[node]:
        return answer, rows
    if is_end:
        return answer, f"{rows}, {below:,} leaves"
    return reading.names[int(tree.feature[node])], f"{rows}: {answer}"


def _branch(reading: Reading, node: int, place: int, child: int) -> Branch:
    condition = reading.condition(node, place)
    words = str(condition).removeprefix(reading.names[condition.feature]).strip()
    return Branch(node, child, words, str(condition))
