"""Colours that stay apart, and what else all pictures share."""

from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb

from bisector.plot.canvas import COLOURS, DASHES, MARKERS, colour, curve, dash, marker, scatter

# What people without one kind of cones see of red, green and blue light (Machado, Oliveira and Fernandes 2009).
SIGHTS = {
    "all cones": np.eye(3),
    "no long": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "no medium": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.01182, 0.04294, 0.968881],
    ],
    "no short": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.3039],
    ],
}
# Of red, green and blue light in CIE's X, Y and Z, each over that of white.
TO_XYZ = np.array([[0.4339, 0.3762, 0.1898], [0.2127, 0.7152, 0.0722], [0.0178, 0.1095, 0.8728]])


def light(name):
    shares = np.array(to_rgb(name))
    return np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)


def lab(rays):
    """Return lightness, green to red, and blue to yellow: one apart is just seen when side by side."""
    x, y, z = np.cbrt(
        TO_XYZ @ np.clip(rays, 0.0, 1.0)
    )  # none is dark enough for the straight part of the scale
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("sight", SIGHTS)
def test_colours_stay_apart_for_all_eyes(sight):
    """Fifteen is what Okabe and Ito's own keep; a palette of red and green of like lightness falls below ten."""
    seen = [lab(np.asarray(SIGHTS[sight]) @ light(name)) for name in COLOURS]
    assert min(np.linalg.norm(a - b) for a, b in combinations(seen, 2)) > 15


@pytest.mark.parametrize("name", COLOURS)
def test_colours_are_seen_on_white_and_on_black_pages(name):
    brightness = TO_XYZ[1] @ light(name)
    assert min((brightness + 0.05) / 0.05, 1.05 / (brightness + 0.05)) > 2


def test_ten_of_each_and_then_other_pairs():
    assert len(set(COLOURS)) == len(set(MARKERS)) == len(set(DASHES)) == 10
    assert (colour(10), marker(10)) == (colour(0), marker(1))
    assert len({(colour(number), marker(number), str(dash(number))) for number in range(100)}) == 100


def test_curves_on_the_same_axes_differ():
    _, ax = plt.subplots()
    lines = [curve(ax, np.arange(2), np.arange(2), f"curve {number}") for number in range(3)]
    assert [line.get_color() for line in lines] == [*COLOURS[:3]]
    assert len({line.get_linestyle() for line in lines}) == 3


def test_a_million_rows_are_ten_thousand_cells():
    _, ax = plt.subplots()
    rows = np.random.default_rng(0).normal(size=(1_000_000, 2))
    cells = scatter(ax, rows, label="rows").get_array()
    assert cells.shape == (100, 100)
    assert (np.square(cells.filled(0)).round().astype(int)).sum() == 1_000_000
    assert ax.get_legend_handles_labels()[1] == ["rows"]
