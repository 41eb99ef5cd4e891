"""Boards with the number of moves."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from bisector import Bishop, BoardDisplay, King, Knight


def test_numbers_are_moves_and_stand_on_their_squares():
    display = BoardDisplay.from_piece(King(), "e4")
    assert display.square == (3, 4)
    for text, (rank, file) in zip(display.numbers_, np.ndindex(8, 8), strict=True):
        assert text.get_position() == (file, rank)
        assert text.get_text() == str(max(abs(rank - 3), abs(file - 4)))
    assert display.square_.get_xy() == (3.5, 2.5)


def test_files_have_letters_and_ranks_numbers():
    display = BoardDisplay.from_piece(Knight(shape=(3, 5)), (0, 0))
    assert [tick.get_text() for tick in display.ax_.get_xticklabels()] == list("abcde")
    assert [tick.get_text() for tick in display.ax_.get_yticklabels()] == ["1", "2", "3"]


def test_what_cannot_be_reached_has_no_colour():
    with plt.style.context("dark_background"):
        display = BoardDisplay.from_piece("bishop", "c1")
    reached = np.isfinite(Bishop().distances_from("c1"))
    assert (np.ma.getmaskarray(display.image_.get_array()) == ~reached).all()
    far = display.numbers_[1]
    assert (far.get_text(), far.get_color()) == ("∞", "white")


def test_large_boards_have_no_numbers():
    display = BoardDisplay.from_piece(King(shape=(40, 40)), (0, 0))
    assert display.numbers_ == []
    assert display.distances[39, 0] == 39


def test_bad_input():
    with pytest.raises(TypeError, match="not a piece that moves"):
        BoardDisplay.from_piece("euclidean", "a1")
    with pytest.raises(ValueError, match="not on the board"):
        BoardDisplay.from_piece(King(), (8, 0))
    with pytest.raises(ValueError, match="No square is at distance 0"):
        BoardDisplay([[1.0, 2.0]])
    with pytest.raises(ValueError, match="must be a board"):
        BoardDisplay([0.0, 1.0])
