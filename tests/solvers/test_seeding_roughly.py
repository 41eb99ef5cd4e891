"""A rough look first: the rows drawn are those of the exact way, for any shape, weights and number of threads."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.cluster import kmeans_plusplus

from bisector.engine.group_products import GROUP
from bisector.engine.loops import given
from bisector.engine.sources import source
from bisector.solvers import seeding
from bisector.solvers.seeding import Held, seeds
from bisector.solvers.seeding_loops import find_rows
from bisector.solvers.seeding_roughly import RoughLook
from bisector.solvers.seeding_roughly_loops import list_near, narrow_rows, weigh_candidates


@pytest.fixture
def draw(monkeypatch):
    """Draw rows after a rough look, or without."""

    def drawn(rows, k, *, roughly, seed=0, n_jobs=None):
        looks = []

        class Looked(RoughLook):
            def __init__(self, *arguments):
                super().__init__(*arguments)
                looks.append(self.possible)

        monkeypatch.setattr(seeding, "RoughLook", Looked)
        monkeypatch.setattr(seeding, "_SEVERAL", 0)
        monkeypatch.setattr(seeding, "_MANY_NUMBERS", 0 if roughly else 2**62)
        found = seeds("k-means++", rows, k, np.random.RandomState(seed), n_jobs=n_jobs)
        assert len(looks) == roughly
        drawn.possible = looks == [True]
        return found

    return drawn


def clusters(n, d, seed=0):
    rng = np.random.default_rng(seed)
    return 3 * rng.standard_normal((7, d))[rng.integers(7, size=n)] + rng.standard_normal((n, d))


@pytest.mark.parametrize("n", [2, 15, 16, 17, 33, 1024, 1025, 5000])
@pytest.mark.parametrize("d", [1, 3, 20])
def test_any_number_of_rows(n, d, draw):
    X = clusters(n, d)
    k = min(n, 25)
    np.testing.assert_array_equal(draw(source(X), k, roughly=True), draw(source(X), k, roughly=False))
    assert len(np.unique(draw(source(X), k, roughly=True), axis=0)) == k


@pytest.mark.parametrize("trials", range(2, 11))
def test_any_number_of_candidates(trials, draw):
    k = int(np.ceil(np.exp(trials - 2)))
    X = clusters(3100, 4, seed=trials)
    np.testing.assert_array_equal(draw(source(X), k, roughly=True), draw(source(X), k, roughly=False))


@pytest.mark.parametrize("seed", range(3))
def test_the_rows_are_those_of_scikit_learn(seed, draw):
    X = clusters(4000, 12, seed)
    ours = draw(source(X), 40, roughly=True, seed=seed)
    np.testing.assert_array_equal(ours, kmeans_plusplus(X, 40, random_state=seed)[0])


@pytest.mark.parametrize("of", ["zero and one", "few", "any", "far apart"])
def test_weights(of, draw):
    rng = np.random.default_rng(1)
    weights = {
        "zero and one": rng.integers(0, 2, size=3000).astype(float),
        "few": np.where(np.arange(3000) % 100 == 7, 2.0, 0.0),
        "any": 1e-9 * rng.random(3000),
        "far apart": 10.0 ** rng.integers(-50, 50, size=3000),
    }[of]
    rows = source(clusters(3000, 6), sample_weight=weights)
    found = draw(rows, 20, roughly=True)
    assert draw.possible == (of != "far apart")
    np.testing.assert_array_equal(found, draw(rows, 20, roughly=False))
    drawn = (rows.X[:, None, 0] == found[:, 0]).argmax(axis=0)
    assert (weights[drawn] > 0).all()


@pytest.mark.parametrize(
    "kind", ["float32", "integers", "columns first", "frame", "sparse", "sparse float32"]
)
def test_any_kind_of_rows(kind, draw):
    X = np.round(clusters(2500, 5), 1)
    given_as = {
        "float32": X.astype(np.float32),
        "integers": (10 * X).astype(np.int32),
        "columns first": np.asfortranarray(X),
        "frame": pd.DataFrame(X),
        "sparse": scipy.sparse.csr_array(X),
        "sparse float32": scipy.sparse.csr_array(X.astype(np.float32)),
    }[kind]
    found = draw(source(given_as), 30, roughly=True)
    np.testing.assert_array_equal(found, draw(source(given_as), 30, roughly=False))
    assert found.dtype == (np.float32 if "float32" in kind else np.float64)


def test_the_same_rows_for_any_number_of_threads_and_parts(draw, monkeypatch):
    rng = np.random.default_rng(2)
    rows = source(clusters(9000, 10), sample_weight=rng.random(9000))
    whole = draw(rows, 40, roughly=True)
    for few, many in [(1, 2**21), (1, 1000), (2**14, 2**12)]:
        monkeypatch.setattr("bisector.solvers.seeding_roughly._FEW_NUMBERS", few)
        monkeypatch.setattr("bisector.solvers.seeding_roughly._MANY_NUMBERS", many)
        for n_jobs in (1, 2, 3):
            np.testing.assert_array_equal(draw(rows, 40, roughly=True, n_jobs=n_jobs), whole)


def test_what_is_left_has_the_same_bits_for_any_number_of_threads(monkeypatch):
    monkeypatch.setattr("bisector.solvers.seeding_roughly._FEW_NUMBERS", 2000)
    X, left = clusters(7000, 10), []
    for n_jobs in (1, 2, 3):
        held = Held(source(X), np.random.RandomState(0), n_jobs)
        held.add(X[0])
        look = RoughLook(held, 3)
        best = look.best([5, 50, 500], X[[5, 50, 500]])
        left.append((best, look.add(X[[5, 50, 500]][best], best).copy(), held.closest, held.owners))
    for other in left[1:]:
        for mine, theirs in zip(left[0], other, strict=True):
            np.testing.assert_array_equal(mine, theirs)


def test_a_look_knows_what_is_left():
    X = clusters(3000, 8)
    held = Held(source(X), np.random.RandomState(0), None)
    held.add(X[0])
    look, chosen = RoughLook(held, 3), [0]
    for numbers in ([1, 2, 3], [10, 11, 12], [7, 7, 7]):
        squares = ((X[:, None] - X[chosen]) ** 2).sum(axis=2).min(axis=1)
        np.testing.assert_allclose(look.totals, [squares[i : i + 1024].sum() for i in range(0, 3000, 1024)])
        with_each = np.minimum(squares[:, None], ((X[:, None] - X[numbers]) ** 2).sum(axis=2)).sum(axis=0)
        best = look.best(numbers, X[numbers])
        assert best == np.argmin(with_each)
        assert look.add(X[numbers[best]], best).sum() == pytest.approx(with_each[best], rel=1e-12)
        chosen.append(numbers[best])
        own = ((X[:, None] - X[chosen]) ** 2).sum(axis=2)
        np.testing.assert_array_equal(held.owners, own.argmin(axis=1))


@pytest.mark.parametrize("seed", range(5))
def test_candidates_that_leave_the_same_total_are_told_as_by_the_exact_way(seed, draw):
    """On a square grid every row has mirror images, so many gains are equal, and the first of them is taken."""
    grid = np.stack(np.meshgrid(*[np.arange(8.0)] * 3), axis=-1).reshape(-1, 3)
    exact = draw(source(grid), 60, roughly=False, seed=seed)
    np.testing.assert_array_equal(draw(source(grid), 60, roughly=True, seed=seed), exact)


@pytest.mark.parametrize("far", [1e3, 1e12, 1e40])
@pytest.mark.parametrize("sampled", [False, True])
def test_a_row_far_away(far, sampled, draw):
    X = clusters(6000, 4)
    X[0 if sampled else 3] = far  # origin and unit are taken from some rows only
    found = draw(source(X), 12, roughly=True)
    assert draw.possible == (sampled or far < 1e15)
    np.testing.assert_array_equal(found, draw(source(X), 12, roughly=False))


@pytest.mark.parametrize("scale", [1e-200, 1e-100, 1e100])
def test_any_unit(scale, draw):
    X = scale * clusters(2000, 4)
    found = draw(source(X), 12, roughly=True)
    assert draw.possible == (scale > 1e-140)
    np.testing.assert_array_equal(found, draw(source(X), 12, roughly=False))


def test_equal_rows(draw):
    for X in (np.ones((40, 3)), np.repeat(clusters(5, 3), 30, axis=0)):
        for k in (3, 9):
            exact = draw(source(X), k, roughly=False)
            np.testing.assert_array_equal(draw(source(X), k, roughly=True), exact)


@pytest.mark.parametrize(("d", "k"), [(1, 2), (5, 12), (30, 14), (40, 26)])
def test_gains_are_right_up_to_what_they_may_be_off(d, k):
    rng = np.random.default_rng(d)
    n = 1000
    X, candidates, weights = rng.standard_normal((n, d)), rng.standard_normal((k, d)), rng.random(n)
    closest = d * (0.5 + rng.random(n))
    groups, known = (np.empty((-(-n // GROUP), height, GROUP), np.float32) for height in (d, 3))
    narrow_rows(given(X), given(weights), given(closest), given(np.zeros(d)), 1.0, 1.0, groups, known)
    share = np.float32((d + 16) * np.finfo(np.float32).eps)
    across = given(2 * candidates.T, np.float32)
    lengths = (candidates**2).sum(axis=1)
    sizes = given(np.stack([lengths, share * lengths]), np.float32)
    near, found = np.zeros((len(groups), k), np.uint16), np.zeros((2, k))
    weigh_candidates(given(groups), given(known), across, sizes, share, near, found)
    gains = closest[:, None] - ((X[:, None] - candidates) ** 2).sum(axis=2)
    errors = share * ((X**2).sum(axis=1)[:, None] + lengths)
    exact = weights @ np.maximum(gains, 0)
    assert (np.abs(found[0] - exact) <= found[1] + 4e-6 * exact).all()
    assert (found[1] <= 1.01 * weights @ np.where(gains > -2 * errors, errors, 0)).all()
    for c in range(k):
        rows = np.empty(n, np.int64)
        listed = rows[: list_near(near, c, rows)]
        assert (
            set(np.flatnonzero(gains[:, c] > 0))
            <= set(listed)
            <= set(np.flatnonzero(gains[:, c] > -2 * errors[:, c]))
        )
        assert (np.diff(listed) > 0).all()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("size", [1, 7, 64, 1000])
def test_rows_are_found_where_running_sums_reach_marks(weighted, size):
    rng = np.random.default_rng(3)
    closest = rng.integers(0, 3, size=200).astype(float)  # whole numbers: sums are exact
    closest[-20:] = 0
    weights = rng.integers(0, 3, size=200).astype(float) if weighted else np.empty(0)
    steps = closest * weights if weighted else closest
    totals = np.array([steps[i : i + size].sum() for i in range(0, 200, size)])
    marks = np.concatenate([np.arange(0.5, steps.sum()), np.arange(1, steps.sum() + 1), [steps.sum() + 1]])
    rows = np.empty(len(marks), np.int64)
    find_rows(given(weights), given(closest), given(totals), size, given(marks), rows)
    expected = np.searchsorted(np.cumsum(steps), marks)
    expected[-1] = np.flatnonzero(steps)[-1]
    np.testing.assert_array_equal(rows, expected)
