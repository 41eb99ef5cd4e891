"""Search by the triangle inequality, and among strings by their letters, against comparing with every row."""

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from benchmarks.workload import AtLeast, Contestant, Workload

K = 10
ONSETS = tuple("bcdfghjklmnprstvwz") + (
    "bl",
    "br",
    "ch",
    "cr",
    "dr",
    "fl",
    "gr",
    "pl",
    "qu",
    "sh",
    "st",
    "str",
    "th",
    "tr",
)
VOWELS = (*"aeiou", "ai", "ea", "ee", "ie", "oa", "oo", "ou")
CODAS = ("", *"bdfglmnprstx", "ck", "ct", "ll", "nd", "ng", "nt", "rd", "rt", "ss", "st", "th")
BEFORE = ("", "", "", "", "", "", "", "un", "re", "in", "dis", "over", "pre")
AFTER = ("", "s", "ed", "ing", "er", "ers", "ly", "ness", "able", "ment", "ion", "ist", "al")


class Points(NamedTuple):
    """Rows and queries."""

    X: Any
    Q: Any


def clusters(rng: np.random.Generator, n: int, d: int, q: int) -> Points:
    """A hundred normal clusters in a cube twenty times as wide."""
    centres = rng.uniform(-10, 10, size=(100, d))
    X = centres[rng.integers(100, size=n + q)] + rng.standard_normal((n + q, d))
    return Points(X[:n], X[n:])


def unit_square(rng: np.random.Generator, n: int, q: int) -> Points:
    """Rows spread evenly over a square (Learning From Data, Problem 6.16a)."""
    return Points(rng.random((n, 2)), rng.random((q, 2)))


def words(rng: np.random.Generator, n: int, q: int) -> Points:
    """Words of syllables with beginnings and endings; the queries are misspelt in one or two places."""
    found: dict[str, None] = {}
    while len(found) < n:
        stem = "".join(
            rng.choice(ONSETS) + rng.choice(VOWELS) + (rng.choice(CODAS) if rng.random() < 0.6 else "")
            for _ in range(rng.choice([1, 2, 3], p=[0.3, 0.5, 0.2]))
        )
        for ending in rng.choice(AFTER, size=rng.integers(1, 7)):
            found[rng.choice(BEFORE) + stem + ending] = None
    X = list(found)[:n]
    return Points(X, [misspelt(rng, X[i]) for i in rng.integers(n, size=q)])


def misspelt(rng: np.random.Generator, word: str) -> str:
    """Insert, delete or substitute one or two letters."""
    for _ in range(rng.integers(1, 3)):
        place, letter = int(rng.integers(len(word) + 1)), chr(97 + int(rng.integers(26)))
        kept = word[place + int(rng.integers(2)) :]
        word = word[:place] + (letter if rng.random() < 0.7 else "") + kept
    return word


def answer(found: Any) -> dict[str, Any]:
    """The distances, since peers break ties as they like."""
    return {"distances": found[0]}


def straight_line(x: Any, y: Any) -> Any:
    """Euclidean distance, as a user would write it."""
    total = 0.0
    for j in range(len(x)):
        total += (x[j] - y[j]) ** 2
    return total**0.5


def ours(module: str, index: str, function: Callable[[Any, Any], Any] | None = None) -> Contestant:
    """bisector, the index built anew."""

    def prepare(points: Points) -> Callable[[], Any]:
        made = getattr(import_module(f"bisector.search.{module}"), index)
        compiled = import_module("bisector.distances").Compiled
        metric = "euclidean" if function is None else compiled(function, law="metric")
        return lambda: made(points.X, metric).query(points.Q, K)

    return Contestant("bisector", "bisector", prepare, answer)


def our_words(points: Points) -> Callable[[], Any]:
    """Our index of words, built before."""
    index = import_module("bisector.search.string_search").StringIndex(points.X)
    return lambda: index.query(points.Q, 5)


def other_ball_tree(points: Points) -> Callable[[], Any]:
    """scikit-learn's tree of the same name, on one core as it is."""
    tree = import_module("sklearn.neighbors").BallTree
    return lambda: tree(points.X).query(points.Q, K)


def rapidfuzz(points: Points) -> Callable[[], Any]:
    """All distances by RapidFuzz on all cores, and the five smallest."""
    cdist = import_module("rapidfuzz.process").cdist
    levenshtein = import_module("rapidfuzz.distance").Levenshtein.distance

    def search() -> Any:
        nearest = []
        for first in range(0, len(points.Q), 100):  # so that memory stays small
            some = points.Q[first : first + 100]
            distances = cdist(some, points.X, scorer=levenshtein, dtype=np.int32, workers=-1)
            nearest.append(np.sort(np.partition(distances, 4, axis=1)[:, :5], axis=1))
        return (np.concatenate(nearest).astype(np.float64),)

    return search


SCIKIT_LEARN = Contestant("scikit-learn", "sklearn", other_ball_tree, answer)
RAPIDFUZZ = Contestant("rapidfuzz", "rapidfuzz", rapidfuzz, answer)
BRUTE_FORCE = replace(ours("brute_force", "BruteForce"), label="brute force")

WORKLOADS = [
    Workload(
        name="ball_tree",
        about="Ten neighbours among clusters in sixteen dimensions, the tree built anew.",
        make=clusters,
        sizes={"n": 100_000, "d": 16, "q": 10_000},
        quick={"n": 3_000, "q": 100},
        ours=ours("ball_tree", "BallTree"),
        peers=[SCIKIT_LEARN, BRUTE_FORCE],
        goals={"scikit-learn": AtLeast(10.0), "brute force": AtLeast(2.0)},
        tolerance=1e-10,
    ),
    Workload(
        name="branch_and_bound",
        about="Ten neighbours of 10,000 points in a square, against comparing with every one (LFD, Problem 6.16).",
        make=unit_square,
        sizes={"n": 10_000, "q": 10_000},
        quick={"n": 1_000, "q": 100},
        ours=ours("ball_tree", "BallTree"),
        peers=[BRUTE_FORCE],
        goals={"brute force": AtLeast(2.0)},
        tolerance=1e-12,
    ),
    Workload(
        name="metric_tree",
        about="Ten neighbours among clusters by a user's function, against comparing with every row.",
        make=clusters,
        sizes={"n": 100_000, "d": 16, "q": 2_000},
        quick={"n": 3_000, "q": 100},
        ours=ours("metric_tree", "MetricTree", straight_line),
        peers=[replace(ours("brute_force", "BruteForce", straight_line), label="brute force")],
        goals={"brute force": AtLeast(2.0)},
        tolerance=1e-12,
    ),
    Workload(
        name="levenshtein",
        about="The five words nearest to misspelt ones, searched in an index, against all distances by RapidFuzz.",
        make=words,
        sizes={"n": 100_000, "q": 1_000},
        quick={"n": 2_000, "q": 50},
        ours=Contestant("bisector", "bisector", our_words, answer),
        peers=[RAPIDFUZZ],
        goals={"rapidfuzz": AtLeast(5.0)},
        tolerance=0.0,
    ),
]
