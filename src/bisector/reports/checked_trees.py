"""Trees and hierarchies from a file, checked: every number that points to a node points to one that is there."""

from typing import Any

import numpy as np

from bisector.solvers.tree_arrays import Tree

_OF_NODES = (
    "children_left", "children_right", "feature", "threshold", "missing_go_to_left", "value", "impurity",
    "n_node_samples", "weighted_n_node_samples", "parent", "first_child", "n_children", "first_slot", "n_slots",
)  # fmt: skip
_WHOLE = ("children_left", "children_right", "feature", "parent", "first_child", "n_children", "children",
          "first_slot", "n_slots", "slots", "n_node_samples", "n_classes")  # fmt: skip


def check_tree(tree: Tree) -> None:
    """Refuse a tree in which a walk could leave the nodes, the features or the slots, or never end.

    Raises
    ------
    ValueError

    Examples
    --------
    >>> import numpy as np
    >>> from dataclasses import replace
    >>> import bisector
    >>> from bisector.reports.checked_trees import check_tree
    >>> tree = bisector.DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1]).tree_
    >>> check_tree(tree)
    >>> check_tree(replace(tree, feature=np.array([7, -2, -2])))
    Traceback (most recent call last):
    ...
    ValueError: a tree asks for features that it lacks
    """
    n = len(tree.feature)
    if not n or any(len(getattr(tree, name)) != n for name in _OF_NODES):
        raise ValueError("a tree has parts of different lengths")
    if any(getattr(tree, name).ndim != 1 or getattr(tree, name).dtype.kind != "i" for name in _WHOLE):
        raise ValueError("a tree has numbers of nodes that are none")
    if tree.value.ndim != 3 or len(tree.n_classes) != tree.value.shape[1]:
        raise ValueError("a tree has other values than outputs")
    if tree.threshold.ndim != 1 or tree.missing_go_to_left.dtype != bool:
        raise ValueError("a tree has no thresholds")
    _check_children(tree, n)
    _check_splits(tree, np.flatnonzero(tree.n_children))


def _check_children(tree: Tree, n: int) -> None:
    """Every node but the root is the child of one that comes before it: so every walk down, and up, ends."""
    counts, firsts = tree.n_children, tree.first_child
    inner = np.flatnonzero(counts)
    if (counts < 0).any() or counts.sum() != n - 1 or len(tree.children) != n - 1:
        raise ValueError("a tree has children it lacks")
    if (firsts[inner] < 0).any() or (firsts[inner] + counts[inner] > n - 1).any():
        raise ValueError("a tree has children it lacks")
    below = tree.children_of(inner)
    owner = np.repeat(inner, counts[inner])
    if not np.array_equal(np.sort(below), np.arange(1, n)) or (below <= owner).any():
        raise ValueError("a tree has children it lacks")
    if tree.parent[0] != -1 or not np.array_equal(tree.parent[below], owner):
        raise ValueError("a tree has parents it lacks")
    ends = np.cumsum(counts[inner])
    left, right = below[ends - counts[inner]], below[ends - 1]
    same = np.array_equal(tree.children_left[inner], left) and np.array_equal(
        tree.children_right[inner], right
    )
    if not same:
        raise ValueError("a tree has children it lacks")


def _check_splits(tree: Tree, inner: Any) -> None:
    features = tree.feature[inner]
    if type(tree.n_features) is not int or (features < 0).any() or (features >= tree.n_features).any():
        raise ValueError("a tree asks for features that it lacks")
    by_category = np.isnan(tree.threshold[inner])
    if (tree.n_children[inner[~by_category]] != 2).any():
        raise ValueError("a tree has thresholds without two sides")
    for node in inner[by_category].tolist():
        first, count = int(tree.first_slot[node]), int(tree.n_slots[node])
        if first < 0 or count < 1 or first + count > len(tree.slots):
            raise ValueError("a tree has categories it lacks")
        slots = tree.slots[first : first + count]
        if slots.min() < -2 or slots.max() >= tree.n_children[node]:
            raise ValueError("a tree has categories it lacks")


def check_merges(merges: Any, levels: Any = None, sizes: Any = None, *, whole: bool = True) -> None:
    """Refuse a hierarchy whose merges join what there is not, or what was joined before.

    Parameters
    ----------
    merges : ndarray of shape (n_rows - 1, 2)
    levels, sizes : ndarray of shape (n_rows - 1,), optional
    whole : bool, default=True
        Whether levels and sizes belong to it.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.reports.checked_trees import check_merges
    >>> check_merges(np.array([[0, 1], [2, 3]]), whole=False)
    >>> check_merges(np.array([[0, 1], [2, 9]]), whole=False)
    Traceback (most recent call last):
    ...
    ValueError: a hierarchy merges what there is not
    """
    n = len(merges) + 1
    if merges.ndim != 2 or merges.shape[1] != 2 or merges.dtype.kind != "i":
        raise ValueError("a hierarchy has no merges")
    there = (merges >= 0) & (merges < n + np.arange(n - 1)[:, None])
    if not there.all() or len(np.unique(merges)) != merges.size:
        raise ValueError("a hierarchy merges what there is not")
    if not whole:
        return
    if levels.shape != (n - 1,) or sizes.shape != (n - 1,):
        raise ValueError("a hierarchy has other levels than merges")
    counts = np.ones(2 * n - 1, dtype=np.int64)
    for merge, (a, b) in enumerate(merges.tolist()):
        counts[n + merge] = counts[a] + counts[b]
    if not np.array_equal(sizes, counts[n:]):
        raise ValueError("a hierarchy has clusters of other sizes")
