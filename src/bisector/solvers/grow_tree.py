"""Growing a tree: split every node at the place of largest gain, until nothing is left to gain (Flach, 5.1).

The tree grows level by level. Every feature's rows are sorted once (`sort_columns`) and stay sorted within each
node: when a node is split, the rows of each feature are parted into those of its children and keep their order.
So a level costs one pass over the rows of each feature, on as many threads as there are features: first the
rows are parted for the splits just chosen, then the children are searched, while they are in the cache.

With `max_leaves` the tree is the one that splitting the node of largest gain first would give. A node can be among
its splits only if the smallest gain on the way to it is among the largest of these, so other nodes are not
followed.

The split of every node is the best of all thresholds and groupings, by exhaustion: that is the certificate, and
what tests recompute. The tree as a whole is greedy, and may not be the best of its size.
"""

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bisector.engine.progress import track
from bisector.engine.threads import parallel, threads_for
from bisector.solvers.tree_arrays import LEAF, UNDEFINED, Floats, Integers, Tree

# Below so many records, a level is searched on one thread: handing out the work would take longer.
_FEW = 20_000
# What a node that is split takes over from its split.
_OF_A_SPLIT = ("feature", "threshold", "ranks", "missing", "n_children", "first_slot", "n_slots", "gain")


@dataclass(frozen=True)
class Limits:
    """Where a tree stops growing.

    Attributes
    ----------
    max_depth, max_leaves : int or None
    min_split, min_leaf : int
        The fewest rows that are split, and that a child may have.
    min_weight : float
        The least weight of a child.
    min_decrease : float
        The least gain, as a share of the weight of all rows.
    n_drawn : int or None
        How many features are looked at in a node.
    at_random : bool
        Whether thresholds are drawn.
    seed : int
    monotone : ndarray of int, or None
        1 where the mean must not fall with a feature, −1 where it must not rise.
    multiway : bool
        Whether a split by category has one child a value.
    """

    max_depth: int | None = None
    max_leaves: int | None = None
    min_split: int = 2
    min_leaf: int = 1
    min_weight: float = 0.0
    min_decrease: float = 0.0
    n_drawn: int | None = None
    at_random: bool = False
    seed: int = 0
    monotone: Integers | None = None
    multiway: bool = False


class _Nodes(NamedTuple):
    """Nodes of one level, described."""

    start: Integers
    stop: Integers
    parent: Integers
    weight: Floats
    total: Floats
    pure: NDArray[np.bool_]
    stats: Floats
    lowest: Floats
    highest: Floats

    def at(self, chosen: Any) -> "_Nodes":
        return _Nodes(*(field[chosen] for field in self))


def grow_tree(
    targets: Any,
    columns: Any,
    limits: Limits,
    *,
    n_rows: int,
    stats_shape: tuple[int, int],
    n_jobs: int | None = None,
) -> tuple[Tree, Floats]:
    """Grow a tree.

    Parameters
    ----------
    targets : lowered targets of `split_costs_loops`
    columns : SortedColumns
    limits : Limits
    n_rows : int
    stats_shape : (n_outputs, n_values)
        Of what is known of a node: counts of classes, or the number to predict.

    Returns
    -------
    tree : Tree
        Numbered level by level; ``value`` holds the statistics of the nodes.
    gain : ndarray
        Of every split.
    """
    growth = _Growth(targets, columns, limits, n_rows, stats_shape, n_jobs)
    with track("growing a tree", limits.max_depth) as bar:
        while growth.step():
            bar.advance(note=f"{growth.n_nodes} nodes")
    return growth.tree()


class _Growth:
    """The tree so far, and the rows in the order of its nodes."""

    def __init__(
        self,
        targets: Any,
        columns: Any,
        limits: Limits,
        n_rows: int,
        shape: tuple[int, int],
        n_jobs: int | None,
    ) -> None:
        from bisector.solvers.split_costs_loops import split_scratch

        self.targets, self.columns, self.limits, self.n_jobs = targets, columns, limits, n_jobs
        self.shape = shape
        self.medians = hasattr(targets, "orders")
        self.n_features = len(columns.records)
        self.rows = np.arange(n_rows, dtype=np.int64)[None]
        self.side = np.zeros(n_rows, np.int16)
        threads = max(1, min(threads_for(n_jobs), self.n_features))
        self.chunks = _chunks(self.n_features, 4 * threads if threads > 1 else 1)
        self.free = [split_scratch(n_rows, shape[1], medians=self.medians) for _ in range(threads)]
        self.grouped = bool(columns.categories.any())
        self.first_slot_of = np.where(columns.categories > 0, columns.categories + 1, 0)
        root = self._described(np.zeros(1, np.int64), np.array([n_rows]), np.array([-1]))
        self.nodes, self.depth, self.n_nodes = root, 0, 0
        self.levels: list[dict[str, Any]] = []
        self.slots: list[Integers] = []
        self.n_slots = 0
        self.whole = float(root.weight[0])
        self.split: Any = None
        self.bottleneck = np.full(1, np.inf)
        self.best_gains = np.empty(0)

    def step(self) -> bool:
        """Split the nodes of a level; return whether any was."""
        nodes, limits = self.nodes, self.limits
        n = len(nodes.start)
        level = {
            "parent": nodes.parent,
            "feature": np.full(n, UNDEFINED),
            "threshold": np.empty(n),
            "ranks": np.full((n, 2), -1),
            "missing": np.zeros(n, np.bool_),
            "n_children": np.zeros(n, np.int64),
            "first_slot": np.full(n, -1),
            "n_slots": np.zeros(n, np.int64),
            "stats": nodes.stats,
            "total": nodes.total,
            "weight": nodes.weight,
            "count": nodes.stop - nodes.start,
            "gain": np.zeros(n),
            "lowest": nodes.lowest,
            "highest": nodes.highest,
        }
        self.levels.append(level)
        first_number, self.n_nodes = self.n_nodes, self.n_nodes + n
        size = nodes.stop - nodes.start
        is_open = ~nodes.pure & (size >= max(limits.min_split, 2 * limits.min_leaf))
        is_open &= nodes.weight >= 2 * limits.min_weight
        if limits.max_depth is not None and self.depth >= limits.max_depth:
            is_open[:] = False
        open_at = np.flatnonzero(is_open)
        if not len(open_at):
            return False
        self.depth += 1
        searched = nodes.at(open_at)
        found = self._search(searched, first_number + open_at)
        splits = self._chosen(searched, open_at, found)
        if splits is None:
            return False
        children, kept = self._parted(nodes, splits)
        if limits.max_leaves is not None:
            kept = self._among_best(kept, splits)
        if not kept.any():
            return False
        parents = splits["node"]
        if not kept.all():
            children = children.at(np.repeat(kept, splits["n_children"]))
            splits = {name: field[kept] for name, field in splits.items()}
        for name in _OF_A_SPLIT:
            level[name][splits["node"]] = splits[name]
        self.nodes = children._replace(parent=first_number + parents[children.parent])
        self.split = splits["start"], splits["stop"], splits["n_children"]
        return True

    # The steps of a level

    def _search(self, nodes: _Nodes, numbers: Integers) -> Any:
        """Part the rows of every feature for the last splits, and search the open nodes."""
        from bisector.solvers.grow_tree_loops import part_records
        from bisector.solvers.split_search_loops import (
            OpenNodes,
            SplitRules,
            draw_features,
            found_splits,
            search_thresholds,
        )

        limits, n = self.limits, len(nodes.start)
        monotone = np.zeros(self.n_features, np.int64) if limits.monotone is None else limits.monotone
        constrained = limits.monotone is not None
        rules = SplitRules(
            limits.min_leaf, limits.min_weight, monotone, constrained, limits.at_random, limits.seed,
            limits.multiway,
        )  # fmt: skip
        open_nodes = OpenNodes(
            nodes.start, nodes.stop, nodes.weight, nodes.total * self.shape[0], nodes.stats, nodes.lowest,
            nodes.highest, numbers, np.ones((1, self.n_features), np.bool_),
        )  # fmt: skip
        found = found_splits(self.n_features, n)
        drawn = limits.n_drawn is not None and limits.n_drawn < self.n_features
        part_first = self.split is not None

        def part(chunk: tuple[int, int]) -> None:
            scratch = self.free.pop()
            first, last = chunk
            starts, stops, n_children = self.split
            part_records(
                self.columns.records, first, last, starts, stops, n_children, self.side, scratch.records
            )
            self.free.append(scratch)

        def search(chunk: tuple[int, int]) -> None:
            if part_first and not drawn:
                part(chunk)
            scratch = self.free.pop()
            search_thresholds(self.targets, self.columns, open_nodes, rules, scratch, *chunk, found)
            if self.grouped:
                from bisector.solvers.category_search_loops import search_categories

                search_categories(self.targets, self.columns, open_nodes, rules, scratch, *chunk, found)
            self.free.append(scratch)

        rows = int((nodes.stop - nodes.start).sum())
        if drawn:
            if part_first:
                self._on_features(part, rows)
            allowed = np.empty((n, self.n_features), np.bool_)
            draw_features(self.columns, open_nodes, limits.seed, int(limits.n_drawn or 1), allowed)
            open_nodes = open_nodes._replace(allowed=allowed)
        self._on_features(search, rows)
        return found

    def _on_features(self, work: Callable[[tuple[int, int]], None], rows: int) -> None:
        """Do some work on all features, side by side if there is enough of it."""
        if rows * self.n_features > _FEW:
            parallel(work, self.chunks, n_jobs=self.n_jobs)
        else:
            work((0, self.n_features))

    def _chosen(self, nodes: _Nodes, open_at: Integers, found: Any) -> dict[str, Any] | None:
        """Choose the feature of every node, and send its rows."""
        from bisector.solvers.grow_tree_loops import send_by_threshold
        from bisector.solvers.split_search_loops import MISSING, choose_features

        feature = np.empty(len(open_at), np.int64)
        choose_features(found, nodes.total * self.shape[0], feature)
        split = np.flatnonzero(feature >= 0)
        if not len(split):
            return None
        feature = feature[split]
        at, missing_left, key = (field[feature, split] for field in (found.at, found.missing_left, found.key))
        n_children, ranks = np.full(len(split), 2), np.full((len(split), 2), -1)
        n_slots = self.first_slot_of[feature]
        first_slot = np.cumsum(n_slots) - n_slots
        slots = np.full(int(n_slots.sum()), -1)
        start, stop = nodes.start[split], nodes.stop[split]
        send_by_threshold(self.columns, start, stop, feature, at, missing_left, self.side, ranks)
        if self.grouped:
            from bisector.solvers.category_search_loops import send_by_category

            send_by_category(
                self.targets, self.columns, start, stop, feature, at, key, self.free[-1].records, self.side,
                n_children, first_slot, slots,
            )  # fmt: skip
        grouped = n_slots > 0
        splits = {
            "node": open_at[split],
            "feature": feature,
            "threshold": found.threshold[feature, split],
            "ranks": ranks,
            "missing": missing_left,
            "known": self.columns.records[feature, stop - 1] >> 32 == MISSING,
            "n_children": n_children,
            "first_slot": np.where(grouped, first_slot + self.n_slots, -1),
            "n_slots": n_slots,
            "start": start,
            "stop": stop,
            "left_mean": found.left_mean[feature, split],
            "right_mean": found.right_mean[feature, split],
        }
        self.slots.append(slots)
        self.n_slots += len(slots)
        return splits

    def _thresholds(self, nodes: dict[str, Any]) -> Floats:
        """Return the thresholds: NaN where nodes split by category, and those of no meaning at leaves."""
        threshold = nodes["threshold"]
        if not self.limits.at_random:
            threshold = self._between(np.maximum(nodes["feature"], 0), nodes["ranks"])
        threshold = np.where(nodes["n_slots"] > 0, np.nan, threshold)
        return np.where(nodes["n_children"] > 0, threshold, float(UNDEFINED))

    def _between(self, feature: Integers, ranks: Integers) -> Floats:
        """Return the middle of the values on both sides of a split; the left one if rounding leaves no middle."""
        if not len(self.columns.values):
            return np.full(len(feature), np.nan)
        first = self.columns.first_value[feature]
        last = len(self.columns.values) - 1
        left = self.columns.values[np.minimum(first + np.maximum(ranks[:, 0], 0), last)]
        right = self.columns.values[np.minimum(first + np.maximum(ranks[:, 1], 0), last)]
        with np.errstate(invalid="ignore"):
            middle = left / 2 + right / 2
            middle = np.where((left <= middle) & (middle < right), middle, left)
        return np.where(ranks[:, 1] < 0, np.inf, middle)

    def _parted(self, nodes: _Nodes, splits: dict[str, Any]) -> tuple[_Nodes, NDArray[np.bool_]]:
        """Part the rows, note the gains, and return the children of all splits, and which gain enough."""
        from bisector.solvers.grow_tree_loops import count_children, note_places, part_records

        start, stop, n_children = splits["start"], splits["stop"], splits["n_children"]
        where = (start, stop, n_children, self.side)
        first = np.cumsum(n_children) - n_children
        counts = np.empty(int(n_children.sum()), np.int64)
        count_children(self.rows[0], *where[:3], self.side, first, counts)
        part_records(self.rows, 0, 1, *where, self.free[-1].records)
        owner = np.repeat(np.arange(len(start)), n_children)
        below = np.cumsum(counts) - counts
        child_start = start[owner] + below - below[first][owner]
        if self.medians:
            part_records(self.targets.orders, 0, len(self.targets.orders), *where, self.free[-1].records)
            note_places(self.targets.orders, child_start, child_start + counts, self.targets.places)
        # Where no value was missing, one that is goes with most of the rows.
        larger = counts[first] > counts[first + 1]
        splits["missing"] = np.where(splits["known"], splits["missing"], larger)
        children = self._described(child_start, child_start + counts, owner)
        left = np.add.reduceat(children.total, first)
        splits["gain"] = np.maximum(nodes.total[splits["node"]] - left, 0.0)
        children = self._bounded(children, nodes, splits, owner, first)
        kept = splits["gain"] / self.whole + np.finfo(float).eps >= self.limits.min_decrease
        return children, kept

    def _bounded(
        self, children: _Nodes, nodes: _Nodes, splits: dict[str, Any], owner: Integers, first: Integers
    ) -> _Nodes:
        """Hand the bounds of constrained means on to the children."""
        if self.limits.monotone is None:
            return children
        direction = self.limits.monotone[splits["feature"]]
        middle = (splits["left_mean"] + splits["right_mean"]) / 2
        parent = splits["node"][owner]
        lowest, highest = nodes.lowest[parent], nodes.highest[parent]
        place = np.arange(len(owner)) - first[owner]
        below = ((direction[owner] > 0) & (place == 0)) | ((direction[owner] < 0) & (place == 1))
        above = (direction[owner] != 0) & ~below
        return children._replace(
            lowest=np.where(above, middle[owner], lowest), highest=np.where(below, middle[owner], highest)
        )

    def _among_best(self, kept: NDArray[np.bool_], splits: dict[str, Any]) -> NDArray[np.bool_]:
        """Keep the splits that splitting the node of largest gain first could come to."""
        wanted = int(self.limits.max_leaves or 0) - 1
        narrow = np.minimum(self.bottleneck[splits["node"]], splits["gain"])
        everyone = np.concatenate([self.best_gains, narrow[kept]])
        if len(everyone) > wanted:
            everyone = np.partition(everyone, len(everyone) - wanted)[-wanted:]
            kept = kept & (narrow >= everyone.min())
        self.best_gains = everyone
        self.bottleneck = np.repeat(narrow[kept], splits["n_children"][kept])
        return kept

    def _described(self, start: Integers, stop: Integers, parent: Integers) -> _Nodes:
        from bisector.solvers.grow_tree_loops import describe_nodes

        n = len(start)
        weight, total, pure = np.empty(n), np.empty(n), np.empty(n, np.bool_)
        stats = np.zeros((n, *self.shape))
        describe_nodes(self.targets, self.rows[0], start, stop, weight, total, pure, stats)
        return _Nodes(
            start, stop, parent, weight, total, pure, stats, np.full(n, -np.inf), np.full(n, np.inf)
        )

    # The end

    def tree(self) -> tuple[Tree, Floats]:
        """Return the tree and the gains of its splits."""
        together = {name: np.concatenate([level[name] for level in self.levels]) for name in self.levels[0]}
        n_children = together["n_children"]
        first_child = np.cumsum(n_children) - n_children + 1
        inner = n_children > 0
        value = together["stats"]
        if self.limits.monotone is not None:
            value = _within(value, together["lowest"], together["highest"])
        tree = Tree(
            children_left=np.where(inner, first_child, LEAF),
            children_right=np.where(inner, first_child + n_children - 1, LEAF),
            feature=together["feature"],
            threshold=self._thresholds(together),
            missing_go_to_left=together["missing"],
            value=value,
            impurity=together["total"] / together["weight"],
            n_node_samples=together["count"],
            weighted_n_node_samples=together["weight"],
            parent=together["parent"],
            first_child=first_child - 1,
            n_children=n_children,
            children=np.arange(1, len(inner)),
            first_slot=together["first_slot"],
            n_slots=together["n_slots"],
            slots=np.concatenate(self.slots) if self.slots else np.empty(0, np.int64),
            n_features=self.n_features,
            n_classes=np.ones(self.shape[0], np.int64),
        )
        return tree, together["gain"]


def _within(stats: Floats, lowest: Floats, highest: Floats) -> Floats:
    """Move what nodes predict between the bounds that constrained means left them."""
    if stats.shape[2] == 1:
        return np.clip(stats, lowest[:, None, None], highest[:, None, None])
    weight = stats.sum(axis=2)
    positive = np.clip(stats[:, 0, 1] / weight[:, 0], lowest, highest) * weight[:, 0]
    return np.stack([weight[:, 0] - positive, positive], axis=1)[:, None, :]


def _chunks(n: int, count: int) -> Sequence[tuple[int, int]]:
    """Cut the features into runs of about equal length."""
    borders = np.unique(np.linspace(0, n, min(n, count) + 1).round().astype(int)).tolist()
    return list(pairwise(borders))


def best_first(tree: Tree, gain: Floats, max_leaves: int) -> Tree:
    """Return the tree that always splitting the node of largest gain gives, until it has so many leaves.

    Among equal gains the node that came first is split. A split with more children than are left is passed over.
    """
    waiting = [(-gain[0], 0)] if tree.n_children[0] else []
    order, n_leaves, split = [0], 1, np.zeros(tree.node_count, np.bool_)
    while waiting:
        _, node = heapq.heappop(waiting)
        if n_leaves + tree.n_children[node] - 1 > max_leaves:
            continue
        split[node] = True
        n_leaves += int(tree.n_children[node]) - 1
        for child in tree.children_of(np.array([node])).tolist():
            order.append(child)
            if tree.n_children[child]:
                heapq.heappush(waiting, (-gain[child], child))
    return tree.taken(np.array(order), leaves=~split)
