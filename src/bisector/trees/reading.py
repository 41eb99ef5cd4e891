"""A tree in words: conditions, rules and indented lines."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bisector.engine.show import number
from bisector.solvers.tree_arrays import Tree

# Categories are listed up to so many.
_LISTED = 8


class Reading(NamedTuple):
    """A tree, and the words for its features, categories and answers."""

    tree: Tree
    names: list[str]
    categories: tuple[tuple[Any, ...] | None, ...]
    answers: list[str]

    def children(self, node: int) -> list[int]:
        found: list[int] = self.tree.children_of(np.array([node])).tolist()
        return found

    def condition(self, node: int, place: int) -> "Condition":
        """Return what holds of the rows that go from a node to one of its children."""
        tree, feature = self.tree, int(self.tree.feature[node])
        name, known = self.names[feature], self.categories[feature]
        if known is None:
            threshold = float(tree.threshold[node])
            missing = bool(tree.missing_go_to_left[node]) == (place == 0)
            low, high = (-math.inf, threshold) if place == 0 else (threshold, math.inf)
            return Condition(feature, name, low=low, high=high, missing=missing)
        slots = self.tree.slots[tree.first_slot[node] : tree.first_slot[node] + tree.n_slots[node]]
        here = np.flatnonzero(slots[:-1] == place).tolist()
        missing = slots[-1] == place or (slots[-1] < 0 and tree.usual_child[node] == place)
        values = tuple(known[c] for c in here if c < len(known))
        if slots[-1] == place:
            values = (*values, "missing")
        return Condition(feature, name, codes=frozenset(here), values=values, missing=bool(missing))


@dataclass(frozen=True)
class Condition:
    """What one feature must fulfil: low < value ≤ high, or a value among some categories.

    Attributes
    ----------
    feature : int
    name : str
    low, high : float
    codes : frozenset of int, or None
        The numbers of the categories, where the feature holds categories.
    values : tuple
        These categories.
    missing : bool
        Whether rows that lack the value fulfil it.
    """

    feature: int
    name: str
    low: float = -math.inf
    high: float = math.inf
    codes: frozenset[int] | None = None
    values: tuple[Any, ...] = ()
    missing: bool = False

    def __and__(self, other: "Condition") -> "Condition":
        """Return the condition that both hold, for one feature."""
        missing = self.missing and other.missing
        if self.codes is not None:
            values = tuple(value for value in self.values if value in other.values)
            return replace(
                self, codes=self.codes & (other.codes or frozenset()), values=values, missing=missing
            )
        return replace(self, low=max(self.low, other.low), high=min(self.high, other.high), missing=missing)

    def holds(self, column: NDArray[np.floating[Any]]) -> NDArray[np.bool_]:
        """Tell for every value of the feature, categories by number, whether it fulfils the condition."""
        absent = np.isnan(column)
        if self.codes is not None:
            inside = np.isin(column, list(self.codes))
        else:
            with np.errstate(invalid="ignore"):
                inside = (column > self.low) & (column <= self.high)
                inside |= (column == -np.inf) & (self.low == -math.inf)
        found: NDArray[np.bool_] = np.where(absent, self.missing, inside)
        return found

    def __str__(self) -> str:
        if self.codes is not None:
            shown = ", ".join(map(str, self.values[:_LISTED]))
            more = f", … {len(self.values) - _LISTED} more" if len(self.values) > _LISTED else ""
            return f"{self.name} in {{{shown}{more}}}" if len(self.values) != 1 else f"{self.name} = {shown}"
        if self.low == math.inf:
            return f"{self.name} is missing"
        if self.high == math.inf and self.low == -math.inf:
            return f"{self.name} is present"
        if self.low == -math.inf:
            return f"{self.name} ≤ {_shortest(self.high)}"
        if self.high == math.inf:
            return f"{self.name} > {_shortest(self.low)}"
        return f"{_shortest(self.low)} < {self.name} ≤ {_shortest(self.high)}"


def _shortest(x: float) -> str:
    return number(x, 6)


@dataclass(frozen=True)
class Rule:
    """All conditions on the way to a leaf, one a feature, and what the leaf answers.

    Attributes
    ----------
    leaf : int
        Its number in the tree.
    conditions : tuple of Condition
        In the order in which the way meets their features; none if the tree is a single leaf.
    answer : str
    n_rows : int
        Training rows in the leaf.
    """

    leaf: int
    conditions: tuple[Condition, ...]
    answer: str
    n_rows: int

    def covers(self, X: NDArray[np.floating[Any]]) -> NDArray[np.bool_]:
        """Tell for every row of a matrix of numbers whether the rule applies."""
        found = np.ones(len(X), np.bool_)
        for condition in self.conditions:
            found &= condition.holds(X[:, condition.feature])
        return found

    @property
    def premise(self) -> str:
        """The conjunction of the conditions."""
        return " and ".join(map(str, self.conditions)) or "always"

    def __str__(self) -> str:
        return f"{self.premise}: {self.answer} ({rows_in_words(self.n_rows)})"


def tree_rules(reading: Reading) -> list[Rule]:
    """Return one rule for every leaf, in the order of the leaves from left to right."""
    tree, rules = reading.tree, []
    waiting: list[tuple[int, dict[int, Condition]]] = [(0, {})]
    while waiting:
        node, known = waiting.pop()
        children = reading.children(node)
        if not children:
            rules.append(
                Rule(node, tuple(known.values()), reading.answers[node], int(tree.n_node_samples[node]))
            )
        for place, child in reversed(list(enumerate(children))):
            here = reading.condition(node, place)
            before = known.get(here.feature)
            waiting.append((child, {**known, here.feature: here if before is None else before & here}))
    return rules


def disjunction(rules: list[Rule]) -> str:
    """Join rules by "or": the disjunctive normal form of what they answer."""
    return "\nor ".join(f"({rule.premise})" for rule in rules) if rules else "never"


def tree_text(reading: Reading, max_depth: int | None) -> str:
    """Write a tree as indented lines."""
    return "\n".join(_lines(reading, max_depth))


def _lines(reading: Reading, max_depth: int | None) -> Iterator[str]:
    tree = reading.tree
    below = tree.gathered(tree.is_leaf.astype(np.int64))
    waiting = [(0, "")]
    while waiting:
        node, words = waiting.pop()
        depth = int(tree.depth[node])
        indent = "  " * max(0, depth - 1)
        start = f"{indent}{words}: " if words else ""
        children = reading.children(node)
        if not children:
            yield f"{start}{reading.answers[node]} ({rows_in_words(int(tree.n_node_samples[node]))})"
            continue
        if max_depth is not None and depth >= max_depth:
            yield f"{start}… {below[node]} leaves below, mostly {reading.answers[node]}"
            continue
        if words:
            yield f"{indent}{words}:"
        for place, child in reversed(list(enumerate(children))):
            waiting.append((child, str(reading.condition(node, place))))


def rows_in_words(count: int) -> str:
    """Write a number of rows."""
    return "1 row" if count == 1 else f"{count:,} rows"
