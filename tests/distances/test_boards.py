"""Moves of pieces: against a graph of all moves, closed forms, and what every distance must do."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given, settings, strategies as st
from scipy.sparse.csgraph import shortest_path

import bisector
from bisector.distances.boards import Bing, Bishop, King, Knight, KRook, Pawn, Queen, Rook
from bisector.distances.minkowski import Chebyshev, Hamming, Manhattan
from bisector.distances.reductions import counts_within, nearest, nearest_one, sums

# Whether a piece can move so far up and right: written for a pair of squares, not as steps.
RULES = {
    King: lambda up, right: np.maximum(abs(up), abs(right)) == 1,
    Rook: lambda up, right: (up == 0) != (right == 0),
    Bishop: lambda up, right: (abs(up) == abs(right)) & (up != 0),
    Knight: lambda up, right: abs(up * right) == 2,
    Queen: lambda up, right: (
        ((up == 0) | (right == 0) | (abs(up) == abs(right))) & ((up != 0) | (right != 0))
    ),
    KRook: lambda up, right: abs(up) + abs(right) == 1,
    Bing: lambda up, right: (abs(up) == 1) & (abs(right) == 1),
    Pawn: lambda up, right: (up == 1) & (right == 0),
}
PIECES = list(RULES)
SHAPES = [(8, 8), (1, 1), (1, 6), (6, 1), (2, 2), (2, 7), (3, 3), (3, 4), (5, 4), (9, 4)]


def squares(shape):
    return np.argwhere(np.ones(shape, dtype=bool))


def moved_by(shape):
    all_squares = squares(shape)
    return np.moveaxis(all_squares[None] - all_squares[:, None], 2, 0)


@pytest.fixture(params=PIECES)
def piece(request):
    return request.param


@pytest.fixture(params=SHAPES, ids=str)
def shape(request):
    return request.param


def test_distances_are_shortest_ways_in_the_graph_of_moves(piece, shape):
    graph = scipy.sparse.csr_array(RULES[piece](*moved_by(shape)).astype(float))
    found = piece(shape=shape).pairwise(squares(shape))
    np.testing.assert_array_equal(found, shortest_path(graph, unweighted=True))


# Closed forms


def test_the_king_moves_by_chebyshev_distance(shape):
    np.testing.assert_array_equal(King(shape).pairwise(squares(shape)), Chebyshev().pairwise(squares(shape)))


def test_the_krook_moves_by_manhattan_distance(shape):
    np.testing.assert_array_equal(KRook(shape).pairwise(squares(shape)), Manhattan().pairwise(squares(shape)))


def test_the_rook_counts_the_coordinates_that_differ(shape):
    counted = Hamming(normalised=False).pairwise(squares(shape))
    np.testing.assert_array_equal(Rook(shape).pairwise(squares(shape)), counted)


def test_the_queen_needs_two_moves_unless_one_is_enough(shape):
    up, right = moved_by(shape)
    two = np.where((up == 0) & (right == 0), 0, np.where(RULES[Queen](up, right), 1, 2))
    np.testing.assert_array_equal(Queen(shape).pairwise(squares(shape)), two)


def test_the_bing_is_a_king_that_keeps_its_colour(shape):
    up, right = moved_by(shape)
    steps = np.where((up + right) % 2 == 0, np.maximum(abs(up), abs(right)), np.inf)
    if min(shape) == 1:  # no diagonal
        steps = np.where((up == 0) & (right == 0), 0, np.inf)
    np.testing.assert_array_equal(Bing(shape).pairwise(squares(shape)), steps)


def test_on_a_square_board_the_bishop_needs_two_moves_to_any_square_of_its_colour():
    up, right = moved_by((8, 8))
    on_diagonal = np.where(abs(up) == abs(right), np.where(up == 0, 0, 1), 2)
    expected = np.where((up + right) % 2 == 0, on_diagonal, np.inf)
    np.testing.assert_array_equal(Bishop().pairwise(squares((8, 8))), expected)


def test_on_a_narrow_board_the_bishop_goes_in_zigzag():
    assert Bishop(shape=(2, 9))((0, 0), (0, 8)) == 8


def test_the_pawn_only_goes_up():
    up, right = moved_by((8, 8))
    expected = np.where((right == 0) & (up >= 0), up, np.inf)
    np.testing.assert_array_equal(Pawn().pairwise(squares((8, 8))), expected)


# The parts of a board


def test_moves_are_the_squares_at_distance_one(piece):
    board = piece().distances_from("c3")
    np.testing.assert_array_equal(piece().moves("c3"), np.argwhere(board == 1))


@pytest.mark.parametrize(
    ("piece", "n_moves"),
    [(King, 8), (Rook, 14), (Bishop, 13), (Knight, 8), (Queen, 27), (KRook, 4), (Bing, 4), (Pawn, 1)],
)
def test_number_of_moves_from_the_middle(piece, n_moves):
    assert len(piece().moves("e4")) == n_moves


def test_distances_from_a_square_are_a_row_of_all(piece, shape):
    distance = piece(shape=shape)
    last = tuple(side - 1 for side in shape)
    board = distance.distances_from(last)
    assert board.shape == shape
    np.testing.assert_array_equal(board.ravel(), distance.pairwise([last], squares(shape))[0])


def test_names_of_squares():
    assert Rook()("a1", "h8") == Rook()((0, 0), (7, 7)) == Rook()(np.array([0, 0]), "H8") == 2
    np.testing.assert_array_equal(King().pairwise(["e4", "a8"]), King().pairwise([(3, 4), (7, 0)]))
    assert King(shape=(12, 26))("z12", (11, 25)) == 0


@pytest.mark.parametrize(
    "form", [np.asarray, lambda table: table.astype(np.float32), pd.DataFrame, list, np.uint8]
)
def test_forms_of_squares(form):
    table = squares((3, 3))
    np.testing.assert_array_equal(Knight().pairwise(form(table)), Knight().pairwise(table))


# What every distance must do


def test_axioms(piece):
    matrix = piece().pairwise(squares((8, 8)))
    assert (np.diag(matrix) == 0).all()
    assert (matrix[~np.eye(64, dtype=bool)] > 0).all()
    assert (matrix <= (matrix[:, :, None] + matrix[None]).min(axis=1)).all()
    assert np.array_equal(matrix, matrix.T) == piece.symmetric == (piece().law == "metric")


@given(st.sampled_from(PIECES), st.tuples(st.integers(1, 6), st.integers(1, 6)), st.data())
@settings(max_examples=60)
def test_claimed_translation_invariance(piece, shape, data):
    distance = piece(shape=shape)
    matrix = distance.pairwise(squares(shape)).reshape(shape * 2)
    up, right = (data.draw(st.integers(0, side - 1)) for side in shape)
    moved, kept = matrix[up:, right:, up:, right:], matrix[: shape[0] - up, : shape[1] - right]
    kept = kept[:, :, : shape[0] - up, : shape[1] - right]
    if piece.translation_invariant:
        np.testing.assert_array_equal(moved, kept)


def test_knight_and_bishop_feel_the_edge_of_the_board():
    assert Knight()("a1", "b2") != Knight()("c3", "d4")
    assert Bishop(shape=(3, 5))((0, 0), (0, 4)) != Bishop(shape=(3, 5))((1, 0), (1, 4))


@pytest.mark.parametrize("piece", [Knight(), Pawn()])
def test_reductions(piece):
    rng = np.random.default_rng(0)
    X, Y = rng.integers(0, 8, size=(90, 2)), rng.integers(0, 8, size=(700, 2))
    matrix = piece.pairwise(X, Y)
    queries, references = piece.prepare(X), piece.prepare(Y)
    distances, numbers = nearest(piece, queries, references, k=5)
    order = np.argsort(matrix, axis=1, kind="stable")[:, :5]
    reachable = np.isfinite(np.take_along_axis(matrix, order, axis=1))
    np.testing.assert_array_equal(numbers[reachable], order[reachable])
    np.testing.assert_array_equal(distances, np.take_along_axis(matrix, order, axis=1))
    np.testing.assert_array_equal(nearest_one(piece, queries, references)[0], matrix.min(axis=1))
    np.testing.assert_array_equal(counts_within(piece, queries, references, 2), (matrix <= 2).sum(axis=1))
    if piece.symmetric:  # all squares can be reached
        np.testing.assert_array_equal(sums(piece, queries, references), matrix.sum(axis=1))


def test_rows_are_taken_and_joined():
    rows = Knight().prepare(squares((3, 3)))
    again = rows.take(np.arange(4)).joined([rows.take(np.arange(4, 9))])
    np.testing.assert_array_equal(again.numbers, rows.numbers)


def test_no_rows():
    assert King().pairwise(np.empty((0, 2), dtype=int), ["e4"]).shape == (0, 1)


def test_a_piece_is_a_value(piece):
    distance = piece(shape=(3, 5))
    assert distance == piece(shape=[3, np.int64(5)]) != piece()
    assert hash(distance) == hash(piece((3, 5)))
    assert repr(distance) == f"{piece.__name__}(shape=(3, 5))"
    assert repr(piece()) == f"{piece.__name__}()"
    assert pickle.loads(pickle.dumps(distance)) == distance
    assert distance.set_params(shape=(8, 8)) == piece()
    assert piece().get_params() == {"shape": (8, 8)}
    assert piece() != (King() if piece is not King else Queen())


# Bad input


@pytest.mark.parametrize("shape", [8, (8,), (8, 8, 8), (0, 8), (8, -1), (8.0, 8), (True, 8), "88", None])
def test_shapes_that_are_none(shape):
    with pytest.raises(ValueError, match="shape must be two positive integers"):
        King(shape=shape)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([(0, 0), (8, 0)], r"Row 1 of X is the square \(8, 0\), which is not on the board: ranks are 0 to 7"),
        ([(0, -1)], r"Row 0 of X is the square \(0, -1\)"),
        (["a1", "i1"], r"Row 1 of X is the square \(0, 8\)"),
        (["a1", "a0"], r"Row 1 of X is the square \(-1, 0\)"),
        (["a1", "44"], "Row 1 of X is '44', which is no square"),
        (["a1", None], "Row 1 of X is None, which is no square"),
        ([(0, 0), (1.5, 0)], r"Row 1 of X is \(1.5, 0.0\), but ranks and files are whole"),
        ([(0, 0), (0, np.nan)], "Row 1 of X is .*nan.*, but ranks and files are whole"),
        ([(0, 1e300)], "not on the board"),
        ([(0, np.inf)], "not on the board"),
        ([0, 1], r"must hold squares, .* shape \(2,\)"),
        ([(0, 1, 2)], r"must hold squares, .* shape \(1, 3\)"),
        ([("a", "b")], "must hold squares"),
        ([(0, [1, 2])], "must hold squares|inhomogeneous"),
        (scipy.sparse.csr_array(np.eye(2)), "X is sparse"),
    ],
)
def test_squares_that_are_none(X, message):
    with pytest.raises(ValueError, match=message):
        King().pairwise(X)


def test_errors_name_the_argument():
    with pytest.raises(ValueError, match="Row 0 of y is the square"):
        King()("a1", "a9")
    with pytest.raises(ValueError, match="Row 0 of square is the square"):
        King().moves("a9")
    with pytest.raises(ValueError, match="Row 0 of Y is the square"):
        King().pairwise(["a1"], ["a9"])


def test_a_board_too_large_for_all_distances_is_refused_but_not_for_those_from_one_square():
    huge = King(shape=(300, 300))
    with (
        bisector.config(memory="1 GiB"),
        pytest.raises(MemoryError, match="Moving a King over 300 × 300 squares"),
    ):
        huge.pairwise([(0, 0)])
    assert huge((0, 0), (299, 150)) == 299
