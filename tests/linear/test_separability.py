"""Is there a plane between two classes? Every answer is checked by its own proof, and by a linear programme."""

import itertools

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings, strategies as st
from scipy.optimize import linprog
from tests.properties.strategies import awkward_tables, in_some_form, lattices

from bisector import BasicLinearClassifier, LeastSquaresClassifier, datasets, linear_separability

quickly = settings(max_examples=100, deadline=None)
CORNERS = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])


def by_programmes(X, y):
    """What linear programmes say that see all rows: the widest gap, and the plane with most on its right side."""
    signs, (n, d) = np.where(y == np.max(y), 1.0, -1.0), X.shape
    half = np.ptp(X, axis=0) / 2
    X = (X - X.min(axis=0) - half) / np.where(half > 0, half, 1.0)
    homogeneous = signs[:, None] * np.column_stack([X, np.ones(n)])
    gap = linprog(
        np.append(np.zeros(d + 1), -1.0),
        np.column_stack([-homogeneous, np.ones(n)]),
        np.zeros(n),
        bounds=[(-1, 1)] * d + [(None, None)] * 2,
    )
    if gap.x[-1] > 1e-7:
        return "separable"
    plane = linprog(
        -homogeneous.sum(axis=0), -homogeneous, np.zeros(n), bounds=[(-1, 1)] * d + [(-d - 1, d + 1)]
    )
    return "touching" if -plane.fun > 1e-7 else "overlapping"


def check(found, X, y):
    """The proof itself, in a few lines."""
    assert found.holds(X, y)
    X, positive = np.asarray(X, dtype=float), np.asarray(y) == found.classes[1]
    if found.kind == "separable":
        assert bool(found)
        np.testing.assert_array_equal(X @ found.weights > found.threshold, positive)
        scores = X @ found.weights
        distances = np.abs(scores - found.threshold)
        assert found.margin == pytest.approx(distances.min(), rel=1e-6, abs=np.spacing(np.abs(scores).max()))
        assert np.linalg.norm(found.weights) == pytest.approx(1)
        assert not len(found.rows)
        return
    assert not found
    second = positive[found.rows]
    assert (found.convex_weights >= 0).all()
    for side in (second, ~second):
        assert found.convex_weights[side].sum() == pytest.approx(1)
        point = found.convex_weights[side] @ X[found.rows[side]]
        np.testing.assert_allclose(point, found.common_point, atol=1e-9 * (np.ptp(X, axis=0).max() or 1.0))
    assert found.residual <= found.tolerance
    assert found.margin == 0 if found.kind == "touching" else np.isnan(found.margin)


# By hand


def test_and_is_separable():
    found = linear_separability(CORNERS, [0, 0, 0, 1])
    check(found, CORNERS, [0, 0, 0, 1])
    assert found.kind == "separable"


def test_exclusive_or_is_not():
    found = linear_separability(CORNERS, [0, 1, 1, 0])
    check(found, CORNERS, [0, 1, 1, 0])
    assert found.kind == "overlapping"
    np.testing.assert_allclose(found.common_point, [0.5, 0.5])
    np.testing.assert_allclose(found.convex_weights, [0.5] * 4)
    assert found.weights is None
    assert found.threshold is None


def test_all_boolean_functions_of_three_features():
    """Of 256 functions of three Boolean variables, 104 are linear thresholds, two of them constant."""
    cube = np.array(list(itertools.product([0.0, 1.0], repeat=3)))
    counts = 0
    for values in itertools.product([0, 1], repeat=8):
        if len(set(values)) == 2:
            found = linear_separability(cube, values)
            check(found, cube, values)
            counts += bool(found)
    assert counts == 102


def test_hulls_that_touch():
    X, y = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 0.0], [2.0, 1.0]]), [0, 0, 1, 1]
    found = linear_separability(X, y)
    check(found, X, y)
    assert found.kind == "touching"
    assert (X @ found.weights >= found.threshold - 1e-12).tolist() == [False, True, True, True]


def test_hulls_that_touch_in_a_face():
    X = np.array([[0.0, 0.0], [0.0, 2.0], [-1.0, 1.0], [0.0, 1.0], [0.0, 3.0], [1.0, 1.0]])
    y = [0, 0, 0, 1, 1, 1]
    found = linear_separability(X, y)
    check(found, X, y)
    assert found.kind == "touching"
    np.testing.assert_allclose(found.weights, [1, 0], atol=1e-12)
    assert found.threshold == pytest.approx(0, abs=1e-12)


def test_equal_rows_with_different_labels_are_the_proof():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    X[31] = X[4]
    y = (X[:, 0] > 0).astype(int)
    y[31] = 1 - y[4]
    found = linear_separability(X, y)
    check(found, X, y)
    assert sorted(found.rows.tolist()) == [4, 31]
    assert found.convex_weights.tolist() == [1, 1]
    assert found.residual == 0
    assert "rows 4 and 31" in str(found) or "rows 31 and 4" in str(found)


def test_books_data():
    X, y = datasets.margin_points()
    assert linear_separability(X, y)
    X, y = datasets.disc_and_ring()
    assert linear_separability(X, y).kind == "overlapping"
    assert linear_separability(X**2, y)  # Example 7.8


def test_words():
    assert str(linear_separability([[0.0], [1.0], [3.0]], ["a", "a", "b"])) == (
        "Separable: a plane has all rows of 'a' and 'b' on their sides, the nearest at a distance of 1.\n"
        "w·x > 2 for 'b', with w = [1]"
    )
    assert repr(linear_separability([[0.0], [1.0], [1.0], [2.0]], [0, 0, 1, 1])) == (
        "Not separable, but touching: a plane has all rows of 0 and 1 on their sides or on itself; the convex "
        "hulls meet in it, for example (by rows 1 and 2) at [1].\nw·x > 1 for 1, with w = [1]"
    )
    many = np.random.default_rng(0).normal(size=(100, 9))
    assert "…]" in str(linear_separability(many, np.arange(100) % 2))


def test_every_linear_classifier_can_show_it():
    X, y = datasets.disc_and_ring()
    for model in (BasicLinearClassifier(), LeastSquaresClassifier()):
        assert not model.separability(X, y)
        assert model.separability(X**2, y)


# Oracles


@quickly
@given(lattices(), st.integers(0, 2**20))
def test_lattices_agree_with_linear_programmes(lattice, bits):
    """Many rows are equal or on lines with others: hulls often touch."""
    X, _ = lattice
    rng = np.random.default_rng(bits)
    slope = rng.integers(-2, 3, size=X.shape[1])
    y = (X @ slope + rng.integers(0, 2) * rng.normal(size=len(X)) > np.median(X @ slope)).astype(int)
    if y.min() == y.max():
        y[0] = 1 - y[0]
    if len(y) > 1:
        found = linear_separability(X, y)
        assert found.kind == by_programmes(X, y)
        check(found, X, y)


@quickly
@given(awkward_tables(min_rows=4), st.data())
def test_awkward_tables_in_any_form_have_a_proof(table, data):
    y = np.arange(len(table)) % 2
    form = data.draw(in_some_form(table))
    assert linear_separability(form, y).holds(form, y)


def test_what_tables_are_made_of_changes_nothing():
    rng = np.random.default_rng(1)
    X = np.round(rng.normal(size=(200, 4)), 2) * (rng.random((200, 4)) < 0.7)
    for y in ((X @ [1.0, -1, 2, 0] > 0.5).astype(int), rng.integers(2, size=200)):
        kinds = {
            linear_separability(made, y).kind
            for made in (
                X,
                X.astype(np.float32),
                scipy.sparse.csr_array(X),
                scipy.sparse.csc_matrix(X),
                X + 1e5,
            )
        }
        assert len(kinds) == 1
        assert linear_separability(X * [1e-30, 1, 1e30, 1e150], y).kind in kinds


# Many rows


@pytest.mark.parametrize("gap", [0.3, 1e-3, 0.0])
def test_many_rows_with_a_gap_however_small(gap):
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(20_000, 10)), np.ones(10) / np.sqrt(10)
    y = (X @ w > 0).astype(int)
    X += np.outer(gap * (2 * y - 1), w)
    check(linear_separability(X, y), X, y)


def test_many_rows_of_which_one_is_wrong():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 10))
    y = (X[:, 0] > 0).astype(int)
    y[np.argmax(X[:, 0] > 2)] = 0
    found = linear_separability(X, y)
    check(found, X, y)
    assert found.kind == "overlapping"
    assert len(found.rows) <= 12  # as many as there are dimensions, and two


def test_many_rows_that_touch():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(5000, 6)).astype(float)
    y = ((X[:, 0] == 1) & (rng.random(5000) < 0.5)).astype(int)  # of the ones some, of the zeros none
    found = linear_separability(X, y)
    check(found, X, y)
    assert found.kind == "touching"
    assert ((X @ found.weights > found.threshold + 1e-9) <= (X[:, 0] == 1)).all()


def test_more_features_than_rows():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 300)), rng.integers(2, size=40)
    check(linear_separability(X, y), X, y)
    sparse = scipy.sparse.random(50, 5000, density=0.01, random_state=0, format="csr")
    assert linear_separability(sparse, np.arange(50) % 2)


def test_threads_change_nothing():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(40_000, 5))
    for y in ((X[:, 0] > 0).astype(int), rng.integers(2, size=40_000)):
        one, four = (linear_separability(X, y, n_jobs=n) for n in (1, 4))
        np.testing.assert_array_equal(one.rows, four.rows)
        np.testing.assert_array_equal(one.convex_weights, four.convex_weights)
        assert one.threshold == four.threshold


# Edges and bad input


def test_one_row_each_and_constant_columns():
    check(linear_separability([[1.0], [2.0]], [0, 1]), [[1.0], [2.0]], [0, 1])
    check(linear_separability([[1.0, 7.0], [2.0, 7.0]], [0, 1]), [[1.0, 7.0], [2.0, 7.0]], [0, 1])
    same = linear_separability([[7.0], [7.0]], [0, 1])
    assert same.kind == "overlapping"
    assert same.common_point.tolist() == [7.0]


def test_a_proof_is_about_its_rows():
    found = linear_separability(CORNERS, [0, 0, 0, 1])
    assert not found.holds(CORNERS, [0, 1, 1, 0])
    assert not found.holds(CORNERS, ["a", "a", "a", "b"])
    meeting = linear_separability(CORNERS, [0, 1, 1, 0])
    assert not meeting.holds(CORNERS, [0, 0, 1, 1])


def test_columns_far_from_zero():
    X = np.array([[0.0], [1.0], [2.0], [3.0]]) + 2**52
    check(linear_separability(X, [0, 0, 1, 1]), X, [0, 0, 1, 1])


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="linear_separability needs rows of at least two classes"):
        linear_separability([[1.0], [2.0]], [0, 0])
    with pytest.raises(ValueError, match=r"y has 3 classes.*linear_separability\(X, y == 'a'\)"):
        linear_separability([[1.0], [2.0], [3.0]], ["a", "b", "c"])
    with pytest.raises(ValueError, match="contains NaN in row 1, column 0"):
        linear_separability([[1.0], [np.nan]], [0, 1])
    with pytest.raises(ValueError, match="give the label of each row"):
        linear_separability([[1.0], [2.0]], None)
    with pytest.raises(ValueError, match="inconsistent"):
        linear_separability([[1.0], [2.0]], [0, 1, 1])
