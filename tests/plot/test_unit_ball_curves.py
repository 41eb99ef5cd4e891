"""Circles as distances see them."""

import numpy as np
import pytest

from bisector import Chebyshev, Euclidean, Manhattan, Minkowski, UnitBallDisplay


def test_points_are_at_the_radius():
    display = UnitBallDisplay.from_distances(
        [Manhattan(), Euclidean(), Chebyshev()], radius=2.0, center=(1, 1)
    )
    for line, norm in zip(display.lines_, [1, 2, np.inf], strict=True):
        rows = np.column_stack(line.get_data()) - 1
        assert np.linalg.norm(rows, ord=norm, axis=1) == pytest.approx(np.full(361, 2.0))
    assert display.center_.get_data()[0] == [1.0]


def test_names_and_dashes_differ():
    display = UnitBallDisplay.from_distances({"star": Minkowski(0.8), "circle": "euclidean"})
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["star", "circle"]
    assert len({line.get_linestyle() for line in display.lines_}) == 2
    assert len({line.get_color() for line in display.lines_}) == 2
    assert display.ax_.get_aspect() == 1.0


def test_one_distance_needs_no_list():
    display = UnitBallDisplay.from_distances("chebyshev", n_points=8)
    assert display.names == ["Chebyshev()"]
    assert display.curves[0].shape == (9, 2)


def test_bad_input():
    with pytest.raises(ValueError, match="no distance to draw"):
        UnitBallDisplay.from_distances([])
    with pytest.raises(ValueError, match="1 names for 2 curves"):
        UnitBallDisplay([np.ones((3, 2))] * 2, ["a"])
    with pytest.raises(ValueError, match="radius"):
        UnitBallDisplay.from_distances("euclidean", radius=-1)
