"""Which index is chosen, and why; the answers are the same."""

import numpy as np
import pytest
import scipy.sparse

from bisector import Compiled, Euclidean, Pawn
from bisector.search import build_index

RNG = np.random.default_rng(0)
FEW, LOW, HIGH = RNG.random((50, 3)), RNG.random((900, 3)), RNG.random((900, 40))
WORDS = ["".join(RNG.choice(list("abcdef"), size=RNG.integers(2, 9))) for _ in range(700)]
BITS = RNG.random((4_200, 30)) < 0.3


@pytest.mark.parametrize(
    ("rows", "metric", "kind", "why"),
    [
        (FEW, "euclidean", "BruteForce", "50 rows are compared faster"),
        (LOW, "euclidean", "KDTree", "900 rows of 3 coordinates"),
        (LOW, "cosine", "KDTree", "few enough"),
        (LOW, "minkowski", "KDTree", "few enough"),
        (HIGH, "euclidean", "BruteForce", "40 coordinates, too many"),
        (scipy.sparse.csr_array(LOW), "euclidean", "BruteForce", "sparse"),
        (LOW, Euclidean(skip_missing=True), "BruteForce", "may be missing"),
        (WORDS, "levenshtein", "StringIndex", "letters"),
        (WORDS, "jaro", "BruteForce", "no triangle inequality"),
        (WORDS[:100], "levenshtein", "BruteForce", "100 rows are compared faster"),
        (BITS, "jaccard", "MetricTree", "triangle inequality"),
        (RNG.integers(0, 8, size=(600, 2)), Pawn(), "BruteForce", "no triangle inequality"),
        (LOW, Compiled(lambda x, y: abs(x[0] - y[0])), "BruteForce", "no triangle inequality"),
    ],
)
def test_what_is_chosen(rows, metric, kind, why):
    index = build_index(rows, metric)
    assert index.reason.startswith(f"{kind}: ")
    assert why in index.reason


def test_words_are_found_as_by_brute_force():
    index, plain = (build_index(WORDS, "levenshtein", algorithm=a) for a in ("auto", "brute"))
    for found, expected in zip(index.query(WORDS[:80], 6), plain.query(WORDS[:80], 6), strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("algorithm", ["brute", "kd_tree", "ball_tree", "metric_tree"])
def test_what_was_asked_for(algorithm):
    index = build_index(LOW, algorithm=algorithm, leaf_size=20)
    assert index.reason.endswith("as asked for.")
    np.testing.assert_array_equal(index.query(LOW[:9], 4)[1], build_index(LOW).query(LOW[:9], 4)[1])


def test_bad_input():
    with pytest.raises(ValueError, match="algorithm must be one of"):
        build_index(LOW, algorithm="octree")
    with pytest.raises(ValueError, match="leaf_size must be a whole number"):
        build_index(LOW, leaf_size=0)
