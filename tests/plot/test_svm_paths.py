"""What is drawn of a path is what the path says (Example 7.6)."""

import numpy as np
import pytest

from bisector import SVMPathDisplay, datasets, svm_path

X, y = datasets.margin_points()


@pytest.fixture(scope="module")
def path():
    return svm_path(X, y)


def test_multipliers_are_exact_at_knots(path):
    display = SVMPathDisplay.from_path(path, X, y)
    at = {float(C): row for C, row in zip(display.Cs, display.alpha, strict=True)}
    assert at[5 / 16] == pytest.approx([5 / 16, 0, 1 / 16, 1 / 4])
    assert at[1 / 10] == pytest.approx([0.1] * 4)
    assert [line.get_label() for line in display.lines_] == ["row 0", "row 1", "row 2", "row 3"]
    assert display.lines_[3].get_ydata() == pytest.approx(display.alpha[:, 3])
    # Rows of a class share a colour, and have dashes of their own.
    assert display.lines_[0].get_color() == display.lines_[1].get_color() != display.lines_[2].get_color()
    assert len({line.get_linestyle() for line in display.lines_}) == 4
    marked = [segment[0, 0] for segment in display.knots_.get_segments()]
    assert marked == pytest.approx([0.5, 5 / 16, 3 / 16, 0.1])


def test_margin(path):
    display = SVMPathDisplay.from_path(path, kind="margin", Cs=[0.1, 5 / 16, 0.5])
    assert display.lines_[0].get_ydata() == pytest.approx([1.857, 1.6, 1.0], abs=5e-4)
    assert display.ax_.get_ylabel() == "margin 1/‖w‖"


def test_boundaries(path):
    """w = (3/8, −1/2), t = −3/8 at C = 5/16; w = (3/5, −4/5), t = 0 at C = 1/2."""
    display = SVMPathDisplay.from_path(path, X, y, kind="boundary", shown_Cs=[1 / 2, 5 / 16])
    for line, w, t in zip(display.lines_, [(3 / 8, -1 / 2), (3 / 5, -4 / 5)], [-3 / 8, 0], strict=True):
        points = np.vstack(line.allsegs[0])
        assert points @ w == pytest.approx(np.full(len(points), t), abs=1e-9)
    words = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert words == ["C = 0.312", "C = 0.5", "-1", "1"]


def test_other_kinds_can_be_drawn_later(path):
    display = SVMPathDisplay.from_path(path, X, y)
    assert display.plot(kind="boundary").ax_.get_title() == "Where the boundary lies for several C"
    assert len(display.lines_) == 4


def test_many_rows_are_named_by_class():
    rows, labels = datasets.gaussian_classes(40, seed=0)
    display = SVMPathDisplay.from_path(svm_path(rows, labels), rows, labels)
    assert len(display.lines_) == 40
    words = {text.get_text() for text in display.ax_.get_legend().get_texts()}
    assert words == {"knots", "-1", "1"}


def test_bad_input(path):
    with pytest.raises(TypeError, match="what svm_path returned, not a list"):
        SVMPathDisplay.from_path([1, 2])
    with pytest.raises(ValueError, match="kind must be"):
        SVMPathDisplay.from_path(path, kind="all")
    with pytest.raises(ValueError, match="Boundaries are drawn over two features"):
        SVMPathDisplay.from_path(path, kind="boundary")
    with pytest.raises(ValueError, match="but X has 4 rows"):
        SVMPathDisplay.from_path(path, X, y[:3])
    with pytest.raises(ValueError, match="There are 2 values of C"):
        SVMPathDisplay([1, 2], [[1.0]], [1.0], knots=[])
