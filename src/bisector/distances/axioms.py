"""The axioms of a metric, checked on rows (Flach, Definition 8.2)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.distances.distance import Distance, Law, Rows
from bisector.distances.reductions import all_distances
from bisector.engine.show import Table, number

Floats = NDArray[np.float64]

# All triples of so many rows are looked at in a fraction of a second.
MOST_ROWS = 300
# A distance that is the root of a difference (of kernel values, say) is rounded by about this share of its size.
ROUNDING = float(np.sqrt(np.finfo(np.float64).eps))
_SHOWN = 40


@dataclass(frozen=True)
class Verdict:
    """What the rows say about one axiom.

    Attributes
    ----------
    axiom : str
        Its name: "identity", "positivity", "symmetry" or "triangle".
    statement : str
        The axiom as a formula.
    holds : bool
        Whether no row, pair or triple of rows contradicts it, but for rounding.
    excess : float
        By how much the worst case breaks it; zero if none does.
    rows : tuple of int
        The numbers of the rows of the worst case, in the order of the formula.
    values : tuple of float
        The distances in it, in the order of the formula.
    witness : str
        The worst case in words.
    """

    axiom: str
    statement: str
    holds: bool
    excess: float = 0.0
    rows: tuple[int, ...] = ()
    values: tuple[float, ...] = ()
    witness: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class AxiomCheck:
    """The verdicts on all axioms; true if all of them hold.

    Attributes
    ----------
    distance : Distance
    identity, positivity, symmetry, triangle : Verdict
    law : "metric", "pseudo-metric" or "none"
        The strongest law that the rows do not contradict.
    n_rows, n_checked : int
        How many rows there were, and how many of them were compared with each other.
    slack : float
        Excesses up to this are taken for rounding.
    """

    distance: Distance
    identity: Verdict
    positivity: Verdict
    symmetry: Verdict
    triangle: Verdict
    law: Law
    n_rows: int
    n_checked: int
    slack: float

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """All four, in the order of the definition."""
        return self.identity, self.positivity, self.symmetry, self.triangle

    @property
    def agrees(self) -> bool:
        """Whether the rows leave room for what the distance says of itself (`Distance.law`)."""
        order = ["none", "pseudo-metric", "metric"]
        return order.index(self.distance.law) <= order.index(self.law)

    def __bool__(self) -> bool:
        return all(verdict.holds for verdict in self.verdicts)

    def table(self) -> Table:
        """Return the verdicts as a table."""
        called = {"metric": "a metric", "pseudo-metric": "a pseudo-metric", "none": "no metric"}
        lines = [
            [verdict.axiom, verdict.statement, "holds" if verdict.holds else "fails", verdict.witness]
            for verdict in self.verdicts
        ]
        notes = [f"Differences up to {number(self.slack)} are taken for rounding."]
        if self.n_checked < self.n_rows:
            notes.insert(0, f"Of {self.n_rows} rows, a random sample of {self.n_checked} was looked at.")
        if not self.agrees:
            notes.append(f"This contradicts the distance, which says it is {called[self.distance.law]}.")
        rows = f"{self.n_checked} row{'s' * (self.n_checked != 1)}"
        title = f"On {rows}, {self.distance!r} is {called[self.law]}"
        return Table(["axiom", "", "verdict", "worst case"], lines, title=title, notes=notes)

    def __repr__(self) -> str:
        return self.table().text()

    def _repr_html_(self) -> str:
        return self.table().html()


def check_axioms(d: Any, X: Any = None, *, seed: int = 0) -> AxiomCheck:
    """Check on rows which axioms of a metric a distance keeps, with a witness for each that it breaks.

    That an axiom fails is proven by its witness; that it holds means only that these rows do not contradict it. A
    distance between rows that differ breaks positivity only if it is exactly zero, or negative. All triples of up
    to 300 rows are looked at, and of more rows those of a random sample of 300.

    Parameters
    ----------
    d : Distance, str or callable
        A distance, its name, or a function of two rows.
    X : rows, optional
        What the distance compares. By default a few points of the plane, squares of a board, words or sets,
        whichever the distance accepts.
    seed : int, default=0
        Of the sample.

    Returns
    -------
    AxiomCheck
        True if all axioms hold; has a `Verdict` for each of `identity`, `positivity`, `symmetry` and `triangle`,
        and the strongest `law` that the rows do not contradict.

    Examples
    --------
    Travelling from (0, 0) to (1, 1) by (0, 1) is a detour, but shorter when p < 1:

    >>> from bisector.distances import Minkowski
    >>> from bisector.distances.axioms import check_axioms
    >>> check = check_axioms(Minkowski(p=0.5), [[0, 0], [0, 1], [1, 1]])
    >>> check.law, bool(check)
    ('none', False)
    >>> check.triangle.rows, check.triangle.values
    ((0, 1, 2), (4.0, 1.0, 1.0))
    """
    from bisector.distances.names import resolve

    distance = resolve(d)
    if X is None:
        distance, rows, X = _default_rows(distance)
    else:
        distance = distance.learned(X)
        rows = distance.prepare(X)
    n = len(rows)
    if not n:
        raise ValueError("X has no rows to check the axioms on.")
    chosen = np.arange(n)
    if n > MOST_ROWS:
        chosen = np.sort(np.random.default_rng(seed).choice(n, MOST_ROWS, replace=False))
    # Both ways between any two rows, also where the distance says that they are equal; and never in float32.
    distances = np.empty((len(chosen), len(chosen)))
    all_distances(distance, rows.take(chosen), rows.take(chosen), distances)
    finite = distances[np.isfinite(distances)]
    slack = ROUNDING * float(np.abs(finite).max(initial=0.0))
    table = _Checked(distances, chosen, [_plain(row) for row in _rows_of(X, chosen)], slack)
    identity, positivity = table.identity(), table.positivity()
    symmetry, triangle = table.symmetry(), table.triangle()
    never_negative = positivity.holds or positivity.excess == 0.0
    law: Law = "none"
    if identity.holds and symmetry.holds and triangle.holds and never_negative:
        law = "metric" if positivity.holds else "pseudo-metric"
    return AxiomCheck(
        distance, identity, positivity, symmetry, triangle, law, n, len(chosen), slack
    )  # fmt: skip


@dataclass(frozen=True)
class _Checked:
    """All distances among rows; which rows they are; what stands in them."""

    distances: Floats
    numbers: NDArray[np.int64]
    contents: list[Any]
    slack: float

    def identity(self) -> Verdict:
        statement = "d(x, x) = 0"
        own = np.abs(np.diagonal(self.distances))
        worst = int(np.argmax(own))
        if own[worst] <= self.slack:
            return Verdict("identity", statement, True)
        value = float(self.distances[worst, worst])
        return self._broken("identity", statement, float(own[worst]), [worst], [value], "d(x, x) = {0}")

    def positivity(self) -> Verdict:
        """The excess is how far below zero a distance is: none if it is zero between rows that differ."""
        statement = "d(x, y) > 0 if x ≠ y"
        kinds: dict[Any, int] = {}
        kind = np.array([kinds.setdefault(content, len(kinds)) for content in self.contents])
        apart = np.where(kind[:, None] != kind, self.distances, np.inf)
        x, y = map(int, np.unravel_index(np.argmin(apart), apart.shape))
        value = float(apart[x, y])
        if value > 0:
            return Verdict("positivity", statement, True)
        return self._broken("positivity", statement, max(0.0, -value), [x, y], [value], "d(x, y) = {0}")

    def symmetry(self) -> Verdict:
        statement = "d(x, y) = d(y, x)"
        with np.errstate(invalid="ignore"):
            differences = np.nan_to_num(np.abs(self.distances - self.distances.T), nan=0.0, posinf=np.inf)
        x, y = map(int, np.unravel_index(np.argmax(differences), differences.shape))
        worst = float(differences[x, y])
        if worst <= self.slack:
            return Verdict("symmetry", statement, True)
        values = [float(self.distances[x, y]), float(self.distances[y, x])]
        return self._broken("symmetry", statement, worst, [x, y], values, "d(x, y) = {0}, d(y, x) = {1}")

    def triangle(self) -> Verdict:
        statement = "d(x, z) ≤ d(x, y) + d(y, z)"
        distances = self.distances
        worst, triple = 0.0, (0, 0, 0)
        for y in range(len(distances)):
            with np.errstate(invalid="ignore"):
                excess = distances - (distances[:, y, None] + distances[y])
            np.copyto(excess, -np.inf, where=np.isnan(excess))  # nothing reaches z: no detour is shorter
            x, z = map(int, np.unravel_index(np.argmax(excess), excess.shape))
            if excess[x, z] > worst:
                worst, triple = float(excess[x, z]), (x, y, z)
        if worst <= self.slack:
            return Verdict("triangle", statement, True)
        x, y, z = triple
        values = [float(distances[x, z]), float(distances[x, y]), float(distances[y, z])]
        words = "d(x, z) = {0} > {1} + {2} = d(x, y) + d(y, z)"
        return self._broken("triangle", statement, worst, [x, y, z], values, words)

    def _broken(
        self, axiom: str, statement: str, excess: float, places: list[int], values: list[float], words: str
    ) -> Verdict:
        said = [
            f"{letter} = {_shown(self.contents[place])} (row {self.numbers[place]})"
            for letter, place in zip("xyz", places, strict=False)
        ]
        witness = f"{words.format(*map(number, values))} for {', '.join(said)}"
        rows = tuple(int(self.numbers[place]) for place in places)
        return Verdict(axiom, statement, False, excess, rows, tuple(values), witness)


def _default_rows(distance: Distance) -> tuple[Distance, Rows, Any]:
    """Return the distance, learned if it must be, with rows that it accepts."""
    for X in _samples():
        try:
            learned = distance.learned(X)
            return learned, learned.prepare(X), X
        except (TypeError, ValueError):
            continue
    raise ValueError(
        f"{distance!r} accepts none of the rows at hand: give the rows X to check the axioms on."
    )


def _samples() -> Iterator[Any]:
    """Points, squares, words, sets: rows that differ little and much, in length and in direction."""
    lattice = np.stack(np.meshgrid([0.0, 0.5, 1.0], [0.0, 0.5, 1.0]), axis=-1).reshape(-1, 2)
    random = np.random.default_rng(0).uniform(-1.5, 1.5, size=(30, 3))
    yield np.concatenate([lattice, random[:, :2]])
    yield random
    yield np.stack(np.meshgrid(np.arange(4), np.arange(4)), axis=-1).reshape(-1, 2)
    yield ["", "a", "b", "ab", "ba", "ac", "ca", "abc", "cab", "kitten", "sitting", "sit", "bank"]
    yield [set(), {1}, {2}, {1, 2}, {1, 2, 3}, {2, 3}, {4}, {1, 4}, {1, 2, 3, 4}]


def _rows_of(X: Any, numbers: NDArray[np.int64]) -> list[Any]:
    """Return some rows as the user gave them."""
    if hasattr(X, "tocsr"):
        return list(X.tocsr()[numbers].toarray())
    if hasattr(X, "iloc"):
        part = X.iloc[numbers]
        return list(part.itertuples(index=False, name=None) if hasattr(part, "itertuples") else part)
    if hasattr(X, "rows"):  # polars
        return list(X[numbers].rows())
    return [X[number] for number in numbers.tolist()]


def _plain(row: Any) -> Any:
    """Return a row as something that compares and hashes by its content."""
    if isinstance(row, np.ndarray):
        return _plain(row.tolist())
    if isinstance(row, list | tuple):
        return tuple(map(_plain, row))
    if isinstance(row, set | frozenset):
        return frozenset(row)
    if isinstance(row, float) and row != row:
        return None  # NaN equals NaN here
    try:
        hash(row)
    except TypeError:
        return repr(row)
    return row


def _shown(content: Any) -> str:
    if isinstance(content, frozenset):
        words = "{" + ", ".join(sorted(map(repr, content))) + "}"
    elif isinstance(content, tuple):
        words = "(" + ", ".join(number(x) if isinstance(x, int | float) else repr(x) for x in content) + ")"
    else:
        words = repr(content)
    return words if len(words) <= _SHOWN else words[: _SHOWN - 1] + "…"
