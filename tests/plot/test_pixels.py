"""A few pictures as they look, beside those stored in ``reference``.

Words, ticks and frames are taken away before a picture is compared, so that fonts do not matter, and pixels are
averaged over squares, so that it does not matter how a version of Matplotlib smooths edges. What is left is what
the eye takes in: which colour is where. ``python tests/plot/test_pixels.py`` draws the stored pictures anew; look
at them before you commit them.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.text import Text

from bisector import (
    AgglomerativeClustering,
    DecisionRegionsDisplay,
    DendrogramDisplay,
    Minkowski,
    NearestExemplarClassifier,
    ROCDisplay,
    SilhouetteDisplay,
    UnitBallDisplay,
    VoronoiDisplay,
    silhouette,
)
from bisector.plot import canvas

REFERENCE = Path(__file__).parent / "reference"
WIDTH, HEIGHT, SQUARE = 240, 180, 10
# In steps of 255, over the squares that are not empty in both. The same picture half a pixel aside differs by 5 at
# most; those that the tests below change, by 13 at least.
TOLERANCE = 8.0

CORNERS = np.array([[0.0, 0.0], [4.0, 1.0], [1.0, 4.0], [5.0, 5.0], [2.5, 2.0]])
LINE = np.array([[0.0], [1.0], [1.5], [5.0], [6.0], [9.0], [9.5], [9.7]])
SCORES = np.array([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])


# Each draws what is stored; with `changed`, what a mistake in the numbers would make of it.
def decision_regions(ax: Any, changed: bool = False) -> None:
    labels = [0, 1, 1, 0, 2] if changed else [0, 1, 2, 0, 1]
    model = NearestExemplarClassifier("mean").fit(CORNERS, labels)
    DecisionRegionsDisplay.from_estimator(model, CORNERS, labels, limits=((-1, 6), (-1, 6)), ax=ax)


def voronoi(ax: Any, changed: bool = False) -> None:
    metric = "manhattan" if changed else "euclidean"
    VoronoiDisplay.from_exemplars(CORNERS, metric, limits=((-1, 6), (-1, 6)), ax=ax)


def dendrogram(ax: Any, changed: bool = False) -> None:
    linkage = "single" if changed else "complete"
    DendrogramDisplay.from_estimator(AgglomerativeClustering(3, linkage=linkage).fit(LINE), ax=ax)


def silhouettes(ax: Any, changed: bool = False) -> None:
    labels = [0, 0, 1, 1, 1, 2, 2, 2] if changed else [0, 0, 0, 1, 1, 2, 2, 2]
    SilhouetteDisplay(silhouette(LINE, labels)).plot(ax)


def roc(ax: Any, changed: bool = False) -> None:
    truth = [0, 1, 0, 0, 1, 0, 1, 0, 0, 1, 1, 1] if changed else [0, 0, 0, 1, 0, 0, 1, 1, 0, 1, 1, 1]
    ROCDisplay.from_predictions(truth, SCORES, ax=ax)


def unit_balls(ax: Any, changed: bool = False) -> None:
    powers = (1, 3, 8) if changed else (0.8, 2, 4)
    UnitBallDisplay.from_distances([Minkowski(p) for p in powers], ax=ax)


PICTURES: dict[str, Callable[..., None]] = {
    draw.__name__: draw for draw in (decision_regions, voronoi, dendrogram, silhouettes, roc, unit_balls)
}


def pixels(draw: Callable[..., None], **how: Any) -> np.ndarray:
    """Return what is drawn, without words and frames, as an array of shape (height, width, 3)."""
    with plt.style.context("default"):
        figure = plt.figure(figsize=(WIDTH / 120, HEIGHT / 120), dpi=120)
        ax = figure.add_axes((0.02, 0.02, 0.96, 0.96))
        draw(ax, **how)
        ax.set_axis_off()
        for legend in filter(None, [ax.get_legend()]):
            legend.remove()
        for words in figure.findobj(Text):
            words.set_visible(False)
        figure.canvas.draw()
        return np.asarray(figure.canvas.buffer_rgba())[..., :3].copy()  # type: ignore[attr-defined]


def difference(one: np.ndarray, other: np.ndarray) -> float:
    """Return the root of the mean square, over squares of pixels that are not white in both."""
    first, second = (
        picture.reshape(HEIGHT // SQUARE, SQUARE, WIDTH // SQUARE, SQUARE, 3).mean(axis=(1, 3))
        for picture in (one.astype(float), other.astype(float))
    )
    drawn = (np.minimum(first, second) < 250).any(axis=-1)
    return float(np.sqrt(np.mean(np.square(first - second)[drawn])))


def stored(name: str) -> np.ndarray:
    return np.round(255 * plt.imread(REFERENCE / f"{name}.png")[..., :3]).astype(np.uint8)


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_look_as_stored(name: str) -> None:
    assert difference(pixels(PICTURES[name]), stored(name)) < TOLERANCE


@pytest.mark.parametrize("name", PICTURES)
def test_other_numbers_are_seen(name: str) -> None:
    assert difference(pixels(PICTURES[name], changed=True), stored(name)) > 1.5 * TOLERANCE


@pytest.mark.parametrize("name", PICTURES)
def test_other_colours_are_seen(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(canvas, "COLOURS", (*canvas.COLOURS[1:], canvas.COLOURS[0]))
    assert difference(pixels(PICTURES[name]), stored(name)) > 1.5 * TOLERANCE


@pytest.mark.parametrize("name", PICTURES)
def test_half_a_pixel_is_not_seen(name: str) -> None:
    picture = stored(name).astype(float)
    for axis in (0, 1):
        moved = (picture + np.roll(picture, 1, axis=axis)) / 2
        assert difference(moved, picture) < 0.7 * TOLERANCE


def test_stored_pictures_are_small_and_all_used() -> None:
    files = {path.stem: path.stat().st_size for path in REFERENCE.glob("*.png")}
    assert set(files) == set(PICTURES)
    assert max(files.values()) < 20_000


def renewed() -> Iterator[Path]:
    """Draw the stored pictures anew."""
    REFERENCE.mkdir(exist_ok=True)
    for name, draw in PICTURES.items():
        path = REFERENCE / f"{name}.png"
        # Without the versions of what wrote it, which would change the file when nothing is seen to change.
        plt.imsave(path, pixels(draw), metadata={"Software": None})
        yield path


if __name__ == "__main__":
    for path in renewed():
        print(path)
