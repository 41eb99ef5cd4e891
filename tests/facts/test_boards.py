"""8.1: distances as experienced by chess pieces (Figures 8.1 and 8.2)."""

import math

import numpy as np
import pytest

from bisector.distances.boards import Bing, Bishop, King, Knight, KRook, Pawn, Queen, Rook


@pytest.mark.parametrize(
    ("piece", "n_moves"),
    [
        (King, 1),
        (Queen, 1),
        (Rook, 1),
        (KRook, 1),
        (Knight, 3),
        (Bishop, math.inf),
        (Bing, math.inf),
        (Pawn, math.inf),
    ],
)
def test_the_next_square_down(piece, n_moves):
    assert piece()("e4", "e3") == n_moves


def test_a_knight_reaches_the_next_square_in_three_moves_from_anywhere():
    """On the usual board; the corners included."""
    board = [(rank, file) for rank in range(8) for file in range(8)]
    for rank, file in board:
        for up, right in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            if (rank + up, file + right) in board:
                assert Knight()((rank, file), (rank + up, file + right)) == 3


def test_a_knight_cannot_reach_the_centre_of_nine_squares():
    board = Knight(shape=(3, 3)).distances_from((0, 0))
    assert board[1, 1] == np.inf
    assert np.isfinite(board).sum() == 8


@pytest.mark.parametrize("piece", [Bishop, Bing])
def test_a_bishop_never_leaves_its_colour(piece):
    board = piece().distances_from("e4")
    rank, file = np.indices(board.shape)
    np.testing.assert_array_equal(np.isfinite(board), (rank + file) % 2 == (3 + 4) % 2)


def test_figure_8_1_a_rook_is_nowhere_further_than_two_moves_away():
    board = Rook().distances_from("d4")
    assert [(board == n).sum() for n in (0, 1, 2)] == [1, 14, 49]


def test_figure_8_1_the_squares_of_a_king_form_squares():
    board = King().distances_from("d4")
    assert [(board == n).sum() for n in (1, 2, 3)] == [8, 16, 24]
    assert (board[0:7, 0:7] <= 3).all()


def test_figure_8_1_the_squares_of_a_krook_form_lozenges():
    board = KRook().distances_from("d4")
    assert [(board == n).sum() for n in (1, 2, 3)] == [4, 8, 12]


def test_some_squares_are_one_move_away_for_a_king_and_two_for_a_rook():
    assert (King()("d4", "e5"), Rook()("d4", "e5")) == (1, 2)


def test_figure_8_2_squares_of_its_colour_are_one_or_two_moves_away_for_a_bishop():
    board = Bishop().distances_from("d4")
    assert set(board[np.isfinite(board)]) == {0, 1, 2}


def test_figure_8_2_the_squares_of_a_bing_form_punctuated_squares():
    bing, king = Bing().distances_from("d4"), King().distances_from("d4")
    np.testing.assert_array_equal(bing[np.isfinite(bing)], king[np.isfinite(bing)])
    assert [(bing == n).sum() for n in (1, 2, 3)] == [4, 8, 12]


def test_the_pawn_is_a_witness_against_symmetry():
    assert Pawn()("e2", "e4") == 2
    assert Pawn()("e4", "e2") == math.inf
    assert (Pawn().law, Pawn().symmetric) == ("none", False)
