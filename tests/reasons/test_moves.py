"""Moves change the answer, and where they say so no shorter one does."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from tests.reasons.explained_models import CLASSIFIERS, CLUSTERERS, fitted

import bisector
from bisector.solvers.other_cells import Cells

MOVED = [*CLASSIFIERS, *CLUSTERERS]
# Those whose boundaries are known exactly.
EXACT = [
    bisector.BasicLinearClassifier(),
    bisector.LinearSVC(),
    bisector.LogisticRegression(),
    bisector.LeastSquaresClassifier(),
    bisector.Perceptron(),
    bisector.KNeighborsClassifier(1),
    bisector.NearestExemplarClassifier(),
    bisector.NearestExemplarClassifier(per_class=3),
    bisector.DecisionTreeClassifier(max_depth=3),
    bisector.KMeans(3, random_state=0),
    bisector.KMedoids(3),
]


def same_answers(model, rows, answer):
    return np.array([one == answer for one in model.predict(rows)])


@pytest.mark.parametrize("model", MOVED, ids=repr)
@pytest.mark.filterwarnings("ignore")
def test_the_move_changes_the_answer_and_little_less_does_not(model):
    @settings(max_examples=3, deadline=None)
    @given(seed=st.integers(0, 10**6), n_classes=st.sampled_from([2, 3]))
    def check(seed, n_classes):
        made, asked = fitted(model, seed, n_classes)
        rng = np.random.default_rng(seed)
        for x, one in zip(asked, made.explain_rows(asked), strict=True):
            if one.move is None or one.move.length < 1e-6:
                continue
            step = one.move.to - x
            beyond = made.predict((x + (1 + 1e-6) * step)[None])[0]
            assert beyond == one.move.answer != one.answer
            assert same_answers(made, (x + 0.99 * step)[None], one.answer).all()
            if one.move.smallest:
                assert np.linalg.norm(step) == pytest.approx(one.move.length)
                directions = rng.normal(size=(300, len(x)))
                directions *= 0.99 * one.move.length / np.linalg.norm(directions, axis=1)[:, None]
                assert same_answers(made, x + directions, one.answer).all()

    check()


@pytest.mark.parametrize("model", EXACT, ids=repr)
def test_exact_boundaries_give_smallest_moves(model):
    from sklearn.base import clone

    rng = np.random.default_rng(0)
    codes = np.arange(40) % 2
    X = rng.normal(size=(40, 2)) + 3.0 * codes[:, None]
    made = clone(model)
    made = made.fit(X) if hasattr(made, "n_clusters") else made.fit(X, codes)
    for one in made.explain_rows(X[:5]):
        assert one.move is not None
        assert one.move.smallest


def test_the_foot_of_the_perpendicular():
    model = bisector.BasicLinearClassifier().fit([[0, 0], [0, 2], [4, 0], [4, 2]], ["l", "l", "r", "r"])
    move = model.explain_rows([[3.0, 7.0]])[0].move
    np.testing.assert_allclose(move.to, [2.0, 7.0])
    assert (move.length, move.answer, move.smallest) == (1.0, "l", True)
    assert move.length == pytest.approx(abs(model.signed_distance([[3.0, 7.0]])[0]))


def test_the_corner_of_a_cell_is_the_way_out():
    """The other exemplar is shielded by two of the own class: its cell begins where three bisectors meet."""
    own, other = [[-2.0, 2.0], [2.0, 2.0], [0.0, 0.0]], [[0.0, 3.0]]
    model = bisector.KNeighborsClassifier(1).fit([*own, *other], [0, 0, 0, 1])
    move = model.explain_rows([[0.0, -1.0]])[0].move
    np.testing.assert_allclose(move.to, [0.0, 1.5])
    assert move.smallest


def test_equal_rows_of_two_classes_are_the_first_one_s():
    cells = Cells(np.array([[0.0], [2.0], [2.0], [6.0]]), np.array([0, 0, 1, 1]))
    out = cells.way_out(np.array([0.0]), 0)
    assert (out.to[0], out.exemplar) == (4.0, 3)
    assert Cells(np.array([[0.0], [1.0]]), np.array([0, 0])).way_out(np.array([0.0]), 0) is None


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 10**6), n=st.integers(2, 40), d=st.integers(1, 5), n_classes=st.integers(2, 4),
)  # fmt: skip
def test_ways_out_of_cells_are_the_shortest(seed, n, d, n_classes):
    rng = np.random.default_rng(seed)
    points, codes = rng.normal(size=(n, d)), rng.integers(0, n_classes, n)
    x = rng.normal(size=d)

    def answer(Z):
        return codes[np.square(Z[:, None] - points).sum(axis=2).argmin(axis=1)]

    code = answer(x[None])[0]
    way = Cells(points, codes).way_out(x, int(code))
    if way is None:
        assert (codes == code).all()
        return
    assert way.proved
    # Just inside the cell, on the way to its exemplar: a corner need not be entered straight on.
    inside = way.to + 1e-6 * (points[way.exemplar] - way.to)
    assert answer(inside[None])[0] != code
    directions = rng.normal(size=(500, d))
    directions *= way.length / np.linalg.norm(directions, axis=1)[:, None]
    for share in (0.999, 0.6):
        assert (answer(x + share * directions) == code).all()


def test_a_tree_moves_along_an_axis_or_into_a_corner():
    X = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    model = bisector.DecisionTreeClassifier().fit(X, ["a", "a", "a", "b"])
    move = model.explain_rows([[0.0, 0.0]])[0].move
    np.testing.assert_allclose(move.to, [0.5, 0.5])
    assert move.length == pytest.approx(np.sqrt(0.5))
    assert move.answer == "b"


def test_a_constant_model_has_no_move():
    model = bisector.LogisticRegression().fit([[1.0], [1.0], [1.0]], [0, 1, 1])
    assert model.explain_rows([[1.0]])[0].move is None


def test_a_corner_that_a_straight_step_does_not_enter():
    """The other cell is y ≥ 1 and 0.6x + 0.8y ≤ 0.4; the row is behind the second side, and would cross it."""
    own, other = [[-3.0, 0.0], [-2.28, 2.96]], [[-3.0, 2.0]]  # mirror images of one exemplar in both sides
    exact = Cells(np.array([*own, *other]), np.array([0, 0, 1])).way_out(np.zeros(2), 0)
    np.testing.assert_allclose(exact.to, [-2 / 3, 1.0])
    assert exact.proved
    model = bisector.KNeighborsClassifier(1).fit([*own, *other], [0, 0, 1])
    assert model.predict([1.0001 * exact.to])[0] == 0
    move = model.explain_rows([[0.0, 0.0]])[0].move
    assert model.predict([(1 + 1e-6) * move.to])[0] == move.answer == 1
    assert move.length == pytest.approx(exact.length, rel=1e-5)
