"""A tree as arrays, one entry a node: scikit-learn's names, and what more than two children and categories need.

A node comes after its parent. Rows whose value is at most the threshold go to the left child; at a split by
category, `slots` say which child a category goes to. What a node cannot place (a category it never met, or a
missing value where there was none) goes to its larger child.
"""

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.engine.threads import parallel

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

LEAF, UNDEFINED = -1, -2
# Rows that one call walks down.
_ROWS = 16_384


@dataclass(frozen=True, eq=False)
class Tree:
    """The nodes of a tree; 0 is the root.

    Attributes
    ----------
    children_left, children_right : ndarray of int
        −1 at leaves. A node with more than two children has its first and its last here.
    feature : ndarray of int
        −2 at leaves.
    threshold : ndarray
        −2 at leaves, NaN where a node splits by category.
    missing_go_to_left : ndarray of bool
    value : ndarray of shape (n_nodes, n_outputs, n_values)
        Shares of the classes, or the number that is predicted.
    impurity : ndarray
    n_node_samples : ndarray of int
    weighted_n_node_samples : ndarray
    parent : ndarray of int
        −1 at the root.
    first_child, n_children : ndarray of int
        The children of a node are ``children[first_child : first_child + n_children]``.
    children : ndarray of int
    first_slot : ndarray of int
        −1 where a node does not split by category; else child number ``slots[first_slot + c]`` takes category
        c, the last slot is for missing values; −1 means that no row told, and −2 that the child would be empty:
        such rows stay at the node.
    n_slots, slots : ndarray of int
    n_features : int
    n_classes : ndarray of int
        One entry an output; 1 in regression.
    """

    children_left: Integers
    children_right: Integers
    feature: Integers
    threshold: Floats
    missing_go_to_left: NDArray[np.bool_]
    value: Floats
    impurity: Floats
    n_node_samples: Integers
    weighted_n_node_samples: Floats
    parent: Integers
    first_child: Integers
    n_children: Integers
    children: Integers
    first_slot: Integers
    n_slots: Integers
    slots: Integers
    n_features: int
    n_classes: Integers

    def __getstate__(self) -> dict[str, Any]:
        return {
            field.name: getattr(self, field.name) for field in fields(self)
        }  # without what can be made anew

    @property
    def node_count(self) -> int:
        """How many nodes there are, leaves included."""
        return len(self.feature)

    @property
    def n_outputs(self) -> int:
        return int(self.value.shape[1])

    @property
    def max_n_classes(self) -> int:
        return int(self.n_classes.max())

    @property
    def is_leaf(self) -> NDArray[np.bool_]:
        """Which nodes are leaves."""
        found: NDArray[np.bool_] = self.n_children == 0
        return found

    @property
    def n_leaves(self) -> int:
        return int(self.is_leaf.sum())

    @cached_property
    def depth(self) -> Integers:
        """Steps from the root, of every node."""
        depth = np.zeros(self.node_count, np.int64)
        for steps, level in enumerate(self.levels):
            depth[level] = steps
        return depth

    @property
    def max_depth(self) -> int:
        return int(self.depth.max())

    def children_of(self, nodes: Integers) -> Integers:
        """Return the children of some nodes, those of the first one first."""
        counts = self.n_children[nodes]
        ends = np.cumsum(counts)
        steps = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - counts, counts)
        found: Integers = self.children[np.repeat(self.first_child[nodes], counts) + steps]
        return found

    @cached_property
    def levels(self) -> list[Integers]:
        """The nodes of every depth, the root first."""
        levels = [np.zeros(1, np.int64)]
        while len(below := self.children_of(levels[-1])):
            levels.append(below)
        return levels

    def gathered(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the values of every node and of all nodes below it, added up."""
        sums = values.copy()
        for level in reversed(self.levels[1:]):
            np.add.at(sums, self.parent[level], sums[level])
        return sums

    @property
    def usual_child(self) -> Integers:
        """The larger child of every node, as a place among its children; among equals the last."""
        usual = np.zeros(self.node_count, np.int64)
        inner = np.flatnonzero(self.n_children)
        sizes = self.n_node_samples[self.children_of(inner)]
        owner = np.repeat(inner, self.n_children[inner])
        place = np.arange(len(owner)) - np.repeat(
            np.cumsum(self.n_children[inner]) - self.n_children[inner], self.n_children[inner]
        )
        order = np.lexsort((place, sizes, owner))
        usual[owner[order]] = place[order]  # of several entries the last one stays
        return usual

    @cached_property
    def _walked(self) -> tuple[Any, Integers]:
        """Lay the tree out for walking; also return the number of the node at each place."""
        from bisector.solvers.tree_walk_loops import WalkedTree

        number = np.concatenate(self.levels)
        place = np.empty(len(number), np.int64)
        place[number] = np.arange(len(number))
        inner = self.n_children[number] > 0
        steps = np.where(inner, (self.feature[number] << 32) | place[self.children_left[number]], -1)
        missing = np.where(inner & ~self.missing_go_to_left[number], 1, 0)
        return WalkedTree(
            steps,
            self.threshold[number],
            missing,
            self.usual_child[number],
            self.first_slot[number],
            self.n_slots[number],
            self.slots,
        ), number

    def apply(self, X: Any, *, n_jobs: int | None = None) -> Integers:
        """Return the leaf of every row of a dense matrix."""
        from bisector.engine.loops import given
        from bisector.solvers.tree_walk_loops import walk_rows

        tree, number = self._walked
        rows = given(X)
        values, n_features = rows.reshape(-1), rows.shape[1]
        leaves = np.empty(len(rows), np.int64)

        def walk(start: int) -> None:
            stop = min(start + _ROWS, len(rows))
            walk_rows(tree, values, n_features, start, stop, leaves)
            leaves[start:stop] = number[leaves[start:stop]]

        parallel(walk, range(0, len(rows), _ROWS), n_jobs=n_jobs)
        return leaves

    def predict(self, X: Any) -> Floats:
        """Return the value of the leaf of every row, as scikit-learn shapes it."""
        found = self.value[self.apply(X)]
        return found[:, 0] if self.n_outputs == 1 else found

    def decision_path(self, X: Any) -> Any:
        """Return which nodes every row passes, as a CSR matrix of rows × nodes."""
        return self.paths_to(self.apply(X))

    def paths_to(self, leaves: Integers) -> Any:
        """Return the nodes on the ways to some leaves, as a CSR matrix."""
        from scipy.sparse import csr_matrix

        from bisector.solvers.tree_walk_loops import count_ancestors, list_ancestors

        ends = np.empty(len(leaves) + 1, np.int64)
        count_ancestors(self.parent, leaves, ends)
        nodes = np.empty(ends[-1], np.int64)
        list_ancestors(self.parent, leaves, ends, nodes)
        shape = (len(leaves), self.node_count)
        return csr_matrix((np.ones(len(nodes), np.int64), nodes, ends), shape=shape)

    @property
    def gain(self) -> Floats:
        """What every split takes off the impurity, times the weight of its rows; 0 at leaves."""
        totals = self.weighted_n_node_samples * self.impurity
        below = np.zeros(self.node_count)
        np.add.at(below, self.parent[1:], totals[1:])
        return np.where(self.is_leaf, 0.0, totals - below)

    def compute_feature_importances(self, normalize: bool = True) -> Floats:
        """Return the share of the whole gain that the splits on each feature have."""
        inner = ~self.is_leaf
        gains: Floats = np.bincount(self.feature[inner], self.gain[inner], self.n_features).astype(np.float64)
        gains /= self.weighted_n_node_samples[0]
        total = gains.sum()
        return gains / total if normalize and total > 0 else gains

    def kept_without_below(self, nodes: NDArray[np.bool_]) -> Integers:
        """Return the nodes that are left when some become leaves."""
        keep = np.ones(self.node_count, np.bool_)
        for level in self.levels[1:]:
            keep[level] = keep[self.parent[level]] & ~nodes[self.parent[level]]
        return np.flatnonzero(keep)

    def without_below(self, nodes: NDArray[np.bool_]) -> "Tree":
        """Return the tree in which some nodes are leaves; what was below them is gone."""
        return self.taken(self.kept_without_below(nodes), leaves=nodes)

    def taken(self, numbers: Integers, leaves: NDArray[np.bool_] | None = None) -> "Tree":
        """Return the tree of some of the nodes, in a new order; nodes in `leaves` lose their children."""
        new = np.full(self.node_count, -1, np.int64)
        new[numbers] = np.arange(len(numbers))
        n_children = self.n_children.copy()
        if leaves is not None:
            n_children[leaves] = 0
        n_children = n_children[numbers]
        inner = n_children > 0
        still = np.zeros(self.node_count, np.int64)
        still[numbers[inner]] = n_children[inner]
        bare = replace(self, n_children=still)
        children = new[bare.children_of(numbers)]
        first_child = np.cumsum(n_children) - n_children
        parent = self.parent[numbers]
        last = np.maximum(first_child + n_children - 1, 0)
        some = children if len(children) else np.zeros(1, np.int64)
        return replace(
            self,
            children_left=np.where(inner, some[np.minimum(first_child, len(some) - 1)], LEAF),
            children_right=np.where(inner, some[np.minimum(last, len(some) - 1)], LEAF),
            feature=np.where(inner, self.feature[numbers], UNDEFINED),
            threshold=np.where(inner, self.threshold[numbers], float(UNDEFINED)),
            missing_go_to_left=self.missing_go_to_left[numbers] & inner,
            value=self.value[numbers],
            impurity=self.impurity[numbers],
            n_node_samples=self.n_node_samples[numbers],
            weighted_n_node_samples=self.weighted_n_node_samples[numbers],
            parent=np.where(parent >= 0, new[parent], -1),
            first_child=first_child,
            n_children=n_children,
            children=children,
            first_slot=np.where(inner, self.first_slot[numbers], -1),
            n_slots=np.where(inner, self.n_slots[numbers], 0),
        )

    def in_preorder(self) -> "Tree":
        """Return the tree numbered as scikit-learn does: every node before all that is below it, the left first."""
        return self.taken(self.in_preorder_numbers())

    def in_preorder_numbers(self) -> Integers:
        """Return the nodes in that order."""
        from bisector.engine.loops import given
        from bisector.solvers.tree_walk_loops import list_in_preorder

        numbers = np.empty(self.node_count, np.int64)
        list_in_preorder(given(self.first_child), given(self.n_children), given(self.children), numbers)
        return numbers
