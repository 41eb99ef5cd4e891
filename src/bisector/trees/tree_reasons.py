"""Why a tree answers as it does: the conditions on the way, what each split changes, and the nearest other leaf."""

import math
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bisector.engine.explanation import Account, Move, account_of, plain
from bisector.engine.show import number
from bisector.solvers.tree_arrays import Floats, Integers
from bisector.trees.reading import Reading, Rule, tree_rules


class Way(NamedTuple):
    """The nodes from the root to where a row ends, and what holds at each step."""

    nodes: list[int]
    conditions: list[str]


def way_to(reading: Reading, node: int) -> Way:
    """Return the way from the root to a node.

    Examples
    --------
    >>> from bisector import DecisionTreeClassifier
    >>> from bisector.trees.tree_reasons import way_to
    >>> tree = DecisionTreeClassifier().fit([[0.0], [1.0]], ["a", "b"])
    >>> way_to(tree._read(), 2)
    Way(nodes=[0, 2], conditions=['x0 > 0.5'])
    """
    nodes = [node]
    while (parent := int(reading.tree.parent[nodes[0]])) >= 0:
        nodes.insert(0, parent)
    conditions = []
    for above, below in pairwise(nodes):
        conditions.append(str(reading.condition(above, reading.children(above).index(below))))
    return Way(nodes, conditions)


def told_way(reading: Reading, way: Way, x: Floats) -> list[str]:
    """Return the conditions on a way, each with the value that fulfils it."""
    lines = []
    for node, condition in zip(way.nodes, way.conditions, strict=False):
        feature = int(reading.tree.feature[node])
        known = reading.categories[feature]
        value = float(x[feature])
        shown = "missing" if math.isnan(value) else number(value)
        if known is not None and not math.isnan(value):
            shown = str(known[int(value)]) if int(value) < len(known) else "unknown"
        lines.append(f"{condition} (it is {shown})")
    return lines


def gains(title: str, values: Floats, way: Way, what: str = "all rows") -> Account:
    """Return an account of a value along a way: that of the root, and what every step changes.

    Parameters
    ----------
    title : str
    values : ndarray of shape (n_nodes,)
        Of all nodes of the tree.
    way : Way
    what : str
        What the first part is called.
    """
    along = values[way.nodes]
    return account_of(title, np.diff(along, prepend=0.0), names=[what, *way.conditions], of="splits")


class LeafBoxes:
    """The leaves of a tree as boxes: where rows must lie to end there.

    Parameters
    ----------
    reading : Reading
    answers : ndarray of shape (n_nodes,)
        What every node answers.
    """

    def __init__(self, reading: Reading, answers: NDArray[Any]) -> None:
        self.rules: list[Rule] = tree_rules(reading)
        d = reading.tree.n_features
        self.answers = answers
        self.numeric = all(known is None for known in reading.categories)
        self.low, self.high = np.full((len(self.rules), d), -np.inf), np.full((len(self.rules), d), np.inf)
        for place, rule in enumerate(self.rules):
            for condition in rule.conditions:
                if condition.codes is None:
                    self.low[place, condition.feature] = condition.low
                    self.high[place, condition.feature] = condition.high
        # A row must lie above the lower side: the next number is the least that does.
        self.first = np.where(self.low == -np.inf, self.low, np.nextafter(self.low, np.inf))

    def nearest_other(self, x: Floats, answer: Any) -> Move | None:
        """Return the shortest move into a leaf with another answer.

        Categories and missing values stay as they are.
        """
        best, far = None, math.inf
        absent = np.isnan(x)
        with np.errstate(invalid="ignore"):
            inside = np.clip(np.where(absent, 0.0, x), self.first, self.high)
            steps = np.where(absent, 0.0, inside - x)
        lengths = np.linalg.norm(steps, axis=1)
        for place in np.argsort(lengths, kind="stable").tolist():
            rule = self.rules[place]
            other = self.answers[rule.leaf]
            if not lengths[place] < far:
                break
            if other == answer or (self.first[place] > self.high[place]).any():
                continue
            if self._stays(rule, x, absent):
                far = float(lengths[place])
                best = Move(np.where(absent, x, inside[place]), far, plain(other), True)
        if best is None or (self.numeric and not absent.any()):
            return best
        return Move(best.to, best.length, best.answer, False)

    def _stays(self, rule: Rule, x: Floats, absent: NDArray[np.bool_]) -> bool:
        """Tell whether the conditions hold that no move can change."""
        for condition in rule.conditions:
            fixed = condition.codes is not None or absent[condition.feature]
            if fixed and not condition.holds(x[condition.feature : condition.feature + 1])[0]:
                return False
        return True


def dense_rows(matrix: Any, numbers: Integers) -> Floats:
    """Return some rows of an array or a sparse matrix as float64."""
    some = matrix[numbers]
    return np.asarray(some.toarray() if hasattr(some, "tocsr") else some, dtype=np.float64)
