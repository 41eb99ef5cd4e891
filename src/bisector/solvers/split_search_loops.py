"""Compiled search for the best split of every open node on every feature.

A feature's rows stand sorted within each node's stretch, so a search is one pass. Where two splits cost the
same, up to what sums round away, the smaller threshold wins, and then the feature with the smaller number.
"""

from typing import Any, NamedTuple

import numpy as np

from bisector.engine.loops import loop

# The rank of a missing value: above all others.
MISSING = 2**31 - 1
# Costs that differ by less than this share of a node's impurity are equal.
SAME = 1e-12


class SortedColumns(NamedTuple):
    """Features, sorted.

    `records` (d × n) hold ranks and rows; `categories` counts those of each feature, 0 where it is a number;
    `values` are the values of all ranks of all features, feature f's from ``first_value[f]`` on.
    """

    records: Any
    categories: Any
    values: Any
    first_value: Any


class OpenNodes(NamedTuple):
    """Nodes to be split, each a stretch of rows."""

    start: Any
    stop: Any
    weight: Any
    scale: Any
    stats: Any
    lowest: Any
    highest: Any
    number: Any
    allowed: Any


class SplitRules(NamedTuple):
    """What a split must respect."""

    min_leaf: int
    min_weight: float
    monotone: Any
    constrained: bool
    at_random: bool
    seed: int
    multiway: bool


class FoundSplits(NamedTuple):
    """The best split of every feature (first index) in every node (second)."""

    cost: Any
    at: Any
    missing_left: Any
    key: Any
    threshold: Any
    left_mean: Any
    right_mean: Any


def found_splits(n_features: int, n_nodes: int) -> FoundSplits:
    """Make room for what is found."""
    shape = (n_features, n_nodes)
    return FoundSplits(
        np.empty(shape), np.empty(shape, np.int64), np.empty(shape, np.bool_), np.empty(shape, np.int64),
        np.empty(shape), np.zeros(shape), np.zeros(shape),
    )  # fmt: skip


@loop
def scattered(seed: int, a: int, b: int) -> float:
    """Return a number in [0, 1) that depends on three whole numbers only (the mixer of splitmix64)."""
    z = (
        np.uint64(seed)
        + np.uint64(a) * np.uint64(0x9E3779B97F4A7C15)
        + np.uint64(b) * np.uint64(0xD1B54A32D192ED03)
    )
    for _ in range(2):
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    return (z >> np.uint64(11)) * 1.1102230246251565e-16


@loop
def end_of_present(records: Any, start: int, stop: int) -> int:
    """Return where the missing values of a stretch begin."""
    if (records[stop - 1] >> 32) != MISSING:
        return stop
    low, high = start, stop - 1
    while low < high:
        middle = (low + high) // 2
        if (records[middle] >> 32) == MISSING:
            high = middle
        else:
            low = middle + 1
    return low


@loop
def search_thresholds(
    targets: Any, columns: Any, nodes: Any, rules: Any, scratch: Any, first: int, last: int, found: Any
) -> None:
    """Find the best threshold for all open nodes on the features from `first` to before `last`."""
    for f in range(first, last):
        for j in range(len(nodes.start)):
            found.cost[f, j] = np.inf
            found.at[f, j] = -1
            if columns.categories[f] == 0 and nodes.allowed[j % len(nodes.allowed), f]:
                _search_node(targets, columns, nodes, rules, scratch, f, j, found)


@loop
def _search_node(
    targets: Any, columns: Any, nodes: Any, rules: Any, scratch: Any, f: int, j: int, found: Any
) -> None:
    records, start, stop = columns.records[f], nodes.start[j], nodes.stop[j]
    present = end_of_present(records, start, stop)
    n, n_missing = present - start, stop - present
    if n == 0 or (n_missing == 0 and records[start] >> 32 == records[present - 1] >> 32):
        return
    only, threshold, level = -1, 0.0, targets.level(nodes.stats[j])
    if rules.at_random:
        only, threshold = _draw(columns, nodes, rules, f, j, start, present)
        if only < 0:
            return
    for side in range(2 if n_missing > 0 else 1):
        missing_left = side == 1
        if rules.at_random and n_missing > 0:
            missing_left = scattered(rules.seed, nodes.number[j], f + 2**32) < 0.5
            if side == 1:
                return
        targets.fill(
            scratch, records, start, present, stop, missing_left, nodes.stats[j], nodes.weight[j], start
        )
        on_left, on_right = (n_missing, 0) if missing_left else (0, n_missing)
        low = max(0, rules.min_leaf - 1 - on_left)
        high = min(n if on_right > 0 else n - 1, n - rules.min_leaf + on_right)
        if only >= 0:
            low, high = max(low, only), min(high, only + 1)
        choose_place(level, nodes, rules, scratch, records, start, low, high, n, f, j, found, missing_left, 0)
    if only >= 0:
        found.threshold[f, j] = threshold


@loop
def _draw(columns: Any, nodes: Any, rules: Any, f: int, j: int, start: int, present: int) -> Any:
    """Draw a threshold between the least and the largest value; return the last place below it too."""
    records, offset = columns.records[f], columns.first_value[f]
    least = columns.values[offset + (records[start] >> 32)]
    largest = columns.values[offset + (records[present - 1] >> 32)]
    share = scattered(rules.seed, nodes.number[j], f)
    threshold = least * (1.0 - share) + largest * share
    if not least <= threshold < largest:
        threshold = least
    low, high = start, present - 1
    while low < high:
        middle = (low + high) // 2
        if columns.values[offset + (records[middle] >> 32)] <= threshold:
            low = middle + 1
        else:
            high = middle
    return low - 1 - start, threshold


@loop
def choose_place(
    level: Any, nodes: Any, rules: Any, scratch: Any, records: Any, start: int, low: int, high: int,
    n: int, f: int, j: int, found: Any, missing_left: bool, key: int,
) -> None:  # fmt: skip
    """Take the first place of least cost that the rules allow, if it is better than what was found before.

    `level` says what means are measured from, and what all rows add up to.
    """
    cost, left_weight, weight = scratch.cost, scratch.left_weight, nodes.weight[j]
    same = SAME * nodes.scale[j]
    best, at = found.cost[f, j] - same, -1
    for i in range(low, high):
        if not cost[i] < best:
            continue
        if i + 1 < n and (records[start + i] >> 32) == (records[start + i + 1] >> 32):
            continue
        if rules.min_weight > 0.0 and min(left_weight[i], weight - left_weight[i]) < rules.min_weight:
            continue
        if rules.constrained and rules.monotone[f] != 0:
            offset, total = level
            left = offset + scratch.left_sum[i] / left_weight[i]
            right = offset + (total - scratch.left_sum[i]) / (weight - left_weight[i])
            inside = min(left, right) >= nodes.lowest[j] and max(left, right) <= nodes.highest[j]
            if not inside or (left - right) * rules.monotone[f] > 0.0:
                continue
            found.left_mean[f, j], found.right_mean[f, j] = left, right
        found.cost[f, j] = cost[i]
        best, at = cost[i] - same, i
    if at >= 0:
        found.at[f, j] = at
        found.missing_left[f, j] = missing_left
        found.key[f, j] = key


# Choosing among features


@loop
def choose_features(found: Any, scale: Any, chosen: Any) -> None:
    """Set `chosen` to the feature of least cost in every node, −1 where no feature splits it."""
    for j in range(len(chosen)):
        chosen[j] = -1
        best = np.inf
        for f in range(len(found.cost)):
            if found.at[f, j] != -1 and (chosen[j] == -1 or found.cost[f, j] < best - SAME * scale[j]):
                chosen[j] = f
                best = found.cost[f, j]


@loop
def draw_features(columns: Any, nodes: Any, seed: int, n_drawn: int, allowed: Any) -> None:
    """Allow so many features in every node, drawn at random, and more if all of these are constant."""
    n_features = len(columns.records)
    order = np.empty(n_features, np.int64)
    for j in range(len(nodes.start)):
        start, stop = nodes.start[j], nodes.stop[j]
        for f in range(n_features):
            order[f] = f
            allowed[j, f] = False
        varied = False
        for k in range(n_features):
            if k >= n_drawn and varied:
                break
            other = k + int(scattered(seed, nodes.number[j], 2**33 + k) * (n_features - k))
            order[k], order[other] = order[other], order[k]
            f = order[k]
            allowed[j, f] = True
            varied = varied or columns.records[f, start] >> 32 != columns.records[f, stop - 1] >> 32


def warm() -> None:
    """Compile what is used only where features are drawn; the rest is compiled with `grow_tree_loops`."""
    one, flags = np.zeros(1, np.int64), np.ones((1, 1), np.bool_)
    number = np.zeros(1)
    columns = SortedColumns(np.zeros((1, 1), np.int64), one, number, one)
    nodes = OpenNodes(one, one + 1, number, number, np.zeros((1, 1, 1)), number, number, one, flags)
    draw_features(columns, nodes, 0, 1, flags.copy())
