"""Arranges rows in the boxes of a k-d tree.

A sample is cut at medians into *cells* of some thousand rows; all rows are listed by cell, and each cell is divided
by itself, in the cache, at exact medians. So every step runs on all threads, and rows move through memory once
instead of once for every level of the tree.

Rows lie in *leaves*. Up to 32 leaves, later branches, have a common *branch* above them, which knows the box around
each: a box costs as much as a row to compare with, so a query looks at 32 of them at once rather than going down a
binary tree step by step.
"""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bisector.distances.reductions import cut
from bisector.engine.memory import require
from bisector.engine.threads import parallel
from bisector.search.index import Floats, Integers

# How many children a branch has at most: their bounds are computed together.
LANES = 32

# So many lanes, also of rows in a leaf, the last bits of a number tell apart in a search; by so many units in the
# last place, at least, its bounds give way.
MOST_LANES = 4096

# Rows of a cell, about; fewer where they are long, so that a cell stays in the second-level cache.
_CELL_ROWS, _CELL_NUMBERS, _FEWEST_CELL_ROWS = 8192, 2**17, 1024

# Rows of the sample for each cell, which makes a cell's size vary by some ten percent.
_SAMPLED_PER_CELL = 128

# Cells are numbered by 16 bits, which are sorted fast.
_MOST_CUTS_DEEP = 16

# Rows that a thread looks up cells for at once.
_BLOCK = 2**15


class KDBoxes(NamedTuple):
    """Rows in boxes in boxes.

    Attributes
    ----------
    leaves : ndarray of shape (leaves, n_features + 1, leaf_size)
        The coordinates of the rows of each leaf, column-wise; after them, where they are soon needed too, the
        numbers of these rows, in ascending order.
    sizes : ndarray of shape (leaves,)
        How many rows a leaf has.
    boxes : ndarray of shape (branches, n_features, 2, 32)
        For each child of a branch the lowest and the highest coordinates of its rows.
    children : ndarray of shape (branches, 32)
        The child's number, if it is a branch; ``~number`` of a leaf.
    lanes : ndarray of shape (branches,)
        How many children a branch has.
    rows_below : ndarray of shape (branches,)
        How many rows there are below a branch.
    root, height : int
        The branch above all others, and how many there are on the way from it to a leaf.
    coordinates, cuts : ndarray
        How a sample divides space into cells: cut c at the coordinate ``coordinates[c]`` leads to cut 2c + 1 below,
        2c + 2 else.
    """

    leaves: Floats
    sizes: Integers
    boxes: Floats
    children: Integers
    lanes: Integers
    rows_below: Integers
    root: int
    height: int
    coordinates: Integers
    cuts: Floats

    def readable(self) -> "KDBoxes":
        """Return the same with arrays as loops take them."""
        from bisector.engine.loops import given

        arrays: dict[str, Any] = {name: given(part) for name, part in self._asdict().items() if np.ndim(part)}
        return self._replace(**arrays)


def arrange(rows: Floats, leaf_size: int) -> KDBoxes:
    """Arrange rows of float64 numbers in boxes."""
    from bisector.engine.loops import given
    from bisector.search.kd_build_loops import arrange_cell

    n, n_features = rows.shape
    rows = given(rows)
    coordinates, cuts = _sampled_cuts(rows)
    order, starts = _listed_by_cell(rows, coordinates, cuts)
    # Where the leaves of each cell begin, and the branches above them.
    leaf_starts = _starts(-(-np.diff(starts) // leaf_size))
    branch_starts = _starts(-(-np.diff(leaf_starts) // LANES))
    upper, root, height = _branches_above(branch_starts)
    n_leaves, n_lower = int(leaf_starts[-1]), int(branch_starts[-1])
    n_branches = n_lower + len(upper)
    require(
        8 * (n_leaves * (n_features + 1) * leaf_size + n_branches * 2 * n_features * LANES),
        doing=f"Arranging {n:,} rows in a KDTree",
        holding=f"their {n_features:,} coordinates",
        instead="use BruteForce, which takes them as they are",
    )
    leaves = np.empty((n_leaves, n_features + 1, leaf_size))
    sizes = np.empty(n_leaves, dtype=np.int64)
    boxes = np.zeros((n_branches, n_features, 2, LANES))
    children = np.zeros((n_branches, LANES), dtype=np.int64)
    lanes = np.zeros(n_branches, dtype=np.int64)
    rows_below = np.zeros(n_branches, dtype=np.int64)

    def fill(cell: int) -> None:
        start, stop = int(starts[cell]), int(starts[cell + 1])
        places = start, stop, int(leaf_starts[cell]), int(branch_starts[cell])
        arrange_cell(rows, given(order), *places, leaves, sizes, boxes, children, lanes)

    parallel(fill, np.flatnonzero(np.diff(starts)).tolist())
    rows_below[:n_lower] = np.bincount(np.repeat(np.arange(n_lower), lanes[:n_lower]), sizes)
    for branch, below in enumerate(upper, start=n_lower):
        lanes[branch] = len(below)
        children[branch, : len(below)] = below
        rows_below[branch] = rows_below[below].sum()
        used = (np.arange(LANES) < lanes[below, None])[:, None]
        boxes[branch, :, 0, : len(below)] = boxes[below, :, 0].min(axis=2, where=used, initial=np.inf).T
        boxes[branch, :, 1, : len(below)] = boxes[below, :, 1].max(axis=2, where=used, initial=-np.inf).T
    return KDBoxes(
        leaves, sizes, boxes, children, lanes, rows_below, root, height, coordinates, cuts
    ).readable()


def cells_of(
    rows: Floats, coordinates: Integers, cuts: Floats, n_jobs: int | None
) -> tuple[NDArray[np.uint16], list[range], Integers]:
    """Return the cells that rows lie in, blocks of rows, and how many of each block lie in each cell."""
    from bisector.engine.loops import given
    from bisector.search.kd_build_loops import find_cells

    cells = np.empty(len(rows), dtype=np.uint16)
    blocks = cut(len(rows), max(_BLOCK, 32 * len(cuts)))  # so that the counts take less memory than the rows
    counts = np.zeros((len(blocks), len(cuts) + 1), dtype=np.int64)

    def find(b: int) -> None:
        find_cells(given(rows), blocks[b].start, blocks[b].stop, coordinates, cuts, cells, counts[b])

    parallel(find, range(len(blocks)), n_jobs=n_jobs)
    return cells, blocks, counts


def _sampled_cuts(rows: Floats) -> tuple[Integers, Floats]:
    """Return the coordinates and values at which a sample of the rows is cut into cells."""
    from bisector.engine.loops import given
    from bisector.search.kd_build_loops import cut_sample

    n, n_features = rows.shape
    cell_rows = max(_FEWEST_CELL_ROWS, min(_CELL_ROWS, _CELL_NUMBERS // n_features))
    depth = 0
    while depth < _MOST_CUTS_DEEP and n >> depth > 1.5 * cell_rows:
        depth += 1
    coordinates, cuts = np.zeros(2**depth - 1, dtype=np.int64), np.zeros(2**depth - 1)
    if depth:
        cut_sample(rows, _SAMPLED_PER_CELL << depth, coordinates, cuts)
    return given(coordinates), given(cuts)


def _listed_by_cell(rows: Floats, coordinates: Integers, cuts: Floats) -> tuple[Integers, Integers]:
    """Return the numbers of the rows cell by cell, ascending in each, and where each cell begins."""
    from bisector.engine.loops import given
    from bisector.search.kd_build_loops import list_by_cell

    cells, blocks, counts = cells_of(rows, coordinates, cuts, None)
    ends = np.cumsum(counts.T).reshape(counts.T.shape)  # of each block's rows in each cell
    places = np.ascontiguousarray((ends - counts.T).T)
    order = np.empty(len(rows), dtype=np.int64)

    def write(b: int) -> None:
        list_by_cell(given(cells, np.uint16), blocks[b].start, blocks[b].stop, places[b], order)

    parallel(write, range(len(blocks)))
    return order, np.concatenate([[0], ends[:, -1]])


class _Group(NamedTuple):
    """Branches that stand side by side, each so many levels above the rows."""

    branches: list[int]
    height: int


def _branches_above(starts: Integers) -> tuple[list[list[int]], int, int]:
    """Return the children of the branches above the lowest, the number of the root, and its height.

    Cells lie next to each other as the cuts of the sample join them, two and two. The branches of joined cells
    stand side by side, all at one height, and are put below others only when they are too many for one.
    """
    made: list[list[int]] = []

    def raised(group: _Group) -> _Group:
        """Put a group below as few branches as can hold it."""
        first = int(starts[-1]) + len(made)
        made.extend(group.branches[i : i + LANES] for i in range(0, len(group.branches), LANES))
        return _Group(list(range(first, int(starts[-1]) + len(made))), group.height + 1)

    def joined(left: _Group, right: _Group) -> _Group:
        if not (left.branches and right.branches):
            return left if left.branches else right
        while left.height < right.height:
            left = raised(left)
        while right.height < left.height:
            right = raised(right)
        while len(left.branches) + len(right.branches) > LANES:
            left, right = raised(left), raised(right)
        return _Group(left.branches + right.branches, left.height)

    groups = [_Group(list(range(*ends)), 1) for ends in pairwise(starts.tolist())]
    while len(groups) > 1:
        groups = [joined(*pair) for pair in zip(groups[::2], groups[1::2], strict=True)]
    (group,) = groups
    while len(group.branches) > 1:
        group = raised(group)
    return made, group.branches[0], group.height


def _starts(counts: Integers) -> Integers:
    """Return where parts of these sizes begin, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(counts)])
