"""Pruning: which splits of a grown tree are worth keeping.

Reduced error: with a set of rows that did not grow the tree, from the bottom up, a node becomes a leaf if it
then errs no more on these rows than its leaves do. So the error on the pruning set never rises; it is the least
that cutting subtrees can reach (each node's best is that of its children or its own), which is the certificate.

Cost and complexity (Breiman et al., 1984): with R the impurity of the leaves and |T| their number, the trees that
minimise R + α|T| are nested. The weakest link, the node whose subtree gains least a leaf, is cut first:
g(t) = (R(t) − R(T_t)) / (|T_t| − 1) is the α at which node t should be a leaf.
"""

import heapq
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bisector.solvers.tree_arrays import Floats, Integers, Tree


@dataclass(frozen=True, eq=False)
class PruningPath:
    """The nested trees of cost-complexity pruning, from the whole tree to the root alone.

    Attributes
    ----------
    alphas : ndarray
        The strength from which on each tree is the best.
    impurities : ndarray
        The impurity of its leaves.
    cut : ndarray of int
        The node that was made a leaf on the way to each tree; −1 for the whole one.
    """

    alphas: Floats
    impurities: Floats
    cut: Integers


def reduced_error(tree: Tree, errors: Floats) -> NDArray[np.bool_]:
    """Choose the nodes to make leaves of.

    Parameters
    ----------
    tree : Tree
    errors : ndarray of shape (n_nodes,)
        What each node would err on the rows of the pruning set that pass it, were it a leaf. Rows that end in an
        inner node, its child being empty, must be counted there too.

    Returns
    -------
    ndarray of bool of shape (n_nodes,)
    """
    best = np.where(tree.is_leaf, errors, 0.0)

    cut = np.zeros(tree.node_count, np.bool_)
    for level in reversed(tree.levels):
        inner = level[tree.n_children[level] > 0]
        # What differs by rounding only is equal.
        slack = 1e-12 * np.maximum(np.abs(errors[inner]), np.abs(best[inner]))
        chosen = errors[inner] <= best[inner] + slack
        cut[inner[chosen]] = True
        best[inner[chosen]] = errors[inner[chosen]]
        if level[0] != 0:
            np.add.at(best, tree.parent[level], best[level])
    return cut


def same_below(tree: Tree, labels: Integers) -> NDArray[np.bool_]:
    """Find the nodes below which all leaves have one label, which is then that of the node."""
    low, high = labels.copy(), labels.copy()
    inner = ~tree.is_leaf
    low[inner], high[inner] = np.iinfo(np.int64).max, -1
    for level in reversed(tree.levels[1:]):
        np.minimum.at(low, tree.parent[level], low[level])
        np.maximum.at(high, tree.parent[level], high[level])
    same: NDArray[np.bool_] = inner & (low == high) & (low == labels)
    return same


def weakest_links(tree: Tree) -> PruningPath:
    """Cut one weakest link after the other; among equals the node with the smaller number."""
    risk = tree.weighted_n_node_samples * tree.impurity / tree.weighted_n_node_samples[0]
    below = tree.gathered(np.where(tree.is_leaf, risk, 0.0))
    leaves = tree.gathered(tree.is_leaf.astype(np.int64))
    alive = ~tree.is_leaf
    strength = np.full(tree.node_count, np.inf)
    strength[alive] = (risk[alive] - below[alive]) / (leaves[alive] - 1)
    waiting = [(float(strength[node]), int(node)) for node in np.flatnonzero(alive)]
    heapq.heapify(waiting)
    alphas, impurities, cut, largest = [0.0], [float(below[0])], [-1], 0.0
    parent, n_children = tree.parent.tolist(), tree.n_children
    while waiting:
        g, node = heapq.heappop(waiting)
        if not alive[node] or g != strength[node]:
            continue
        stack = [node]
        while stack:
            inside = stack.pop()
            if alive[inside]:
                alive[inside] = False
                stack.extend(tree.children_of(np.array([inside])).tolist())
        gone, lost = int(leaves[node]) - 1, float(risk[node] - below[node])
        above = node
        while above >= 0:
            leaves[above] -= gone
            below[above] += lost
            if above != node and n_children[above]:
                # Numbers that rounding made smaller than nothing would break the order of the path.
                strength[above] = (risk[above] - below[above]) / (leaves[above] - 1)
                heapq.heappush(waiting, (float(strength[above]), above))
            above = parent[above]
        largest = max(largest, g)
        alphas.append(largest)
        impurities.append(float(below[0]))
        cut.append(node)
    return PruningPath(np.array(alphas), np.array(impurities), np.array(cut))


def cost_complexity(tree: Tree, alpha: float) -> Tree:
    """Return the smallest tree that minimises impurity + α · number of leaves."""
    path = weakest_links(tree)
    nodes = np.zeros(tree.node_count, np.bool_)
    nodes[path.cut[1:][path.alphas[1:] <= alpha]] = True
    return tree.without_below(nodes)
