"""Draw twelve of the gallery's pictures small, side by side: ``docs/_static/gallery.png``, for the README.

``make gallery`` runs this. The file is the same whenever it is drawn by the same libraries.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

from bisector import (
    SVC,
    AgglomerativeClustering,
    CoefficientPathDisplay,
    DecisionRegionsDisplay,
    DendrogramDisplay,
    DensityDisplay,
    GaussianMixture,
    KernelDensity,
    KMeans,
    KMeansTraceDisplay,
    KNeighborsClassifier,
    LinearRegression,
    Minkowski,
    MixtureDisplay,
    NearestExemplarClassifier,
    RegressionDisplay,
    SilhouetteDisplay,
    UnitBallDisplay,
    VoronoiDisplay,
    datasets,
    lasso_knots,
)

SHEET = Path(__file__).parent / "_static" / "gallery.png"
RNG = np.random.default_rng(7)
CLOUDS = RNG.normal(size=(150, 2)) + np.repeat([[0, 0], [5, 1], [1.5, 5]], 50, axis=0)


def bisector(ax: Any) -> None:
    X, y = datasets.gaussian_classes(120, separation=3.2, seed=0)
    middle = (X.min(axis=0) + X.max(axis=0)) / 2
    half = (
        np.array([1.06, 1.0]) * np.ptp(X, axis=0).max() / 2
    )  # as the pictures are, so that right angles are seen
    limits = np.column_stack([middle - half, middle + half])
    model = NearestExemplarClassifier("mean").fit(X, y)
    DecisionRegionsDisplay.from_estimator(model, X, y, limits=limits, ax=ax)


def line(ax: Any) -> None:
    X, y = datasets.height_weight_outlier()
    RegressionDisplay.from_estimator(LinearRegression().fit(X, y), X, y, ax=ax)


def lasso(ax: Any) -> None:
    CoefficientPathDisplay.from_knots(lasso_knots(*datasets.diabetes(scaled=True)), ax=ax)


def margin(ax: Any) -> None:
    X, y = datasets.disc_and_ring(160, seed=1)
    DecisionRegionsDisplay.from_estimator(SVC(C=1.0).fit(X, y), X, y, ax=ax)


def balls(ax: Any) -> None:
    UnitBallDisplay.from_distances([Minkowski(p) for p in (0.8, 1, 2, 4)], ax=ax)


def cells(ax: Any) -> None:
    VoronoiDisplay.from_exemplars(RNG.random((9, 2)), "manhattan", order=2, ax=ax)


def neighbours(ax: Any) -> None:
    centres = np.repeat([[0, 0], [3, 0.4], [1.4, 2.6], [4.4, 3], [-1, 3.2]], 5, axis=0)
    X, y = centres + np.random.default_rng(5).normal(0, 0.9, (25, 2)), np.repeat(list("ABCDE"), 5)
    DecisionRegionsDisplay.from_estimator(KNeighborsClassifier(5, weights="distance").fit(X, y), X, y, ax=ax)


def steps(ax: Any) -> None:
    start = CLOUDS[:3] + [[0, 0], [0.5, 0.5], [1, 0]]
    KMeansTraceDisplay.from_estimator(KMeans(3, init=start), CLOUDS, ax=ax)


def hierarchy(ax: Any) -> None:
    rows = CLOUDS[::4] * [[1, 0.8]]
    DendrogramDisplay.from_estimator(AgglomerativeClustering(3, linkage="average").fit(rows), ax=ax)


def silhouettes(ax: Any) -> None:
    SilhouetteDisplay.from_estimator(KMeans(4, random_state=0).fit(CLOUDS), CLOUDS, ax=ax)


def ring(ax: Any) -> None:
    angles = RNG.uniform(0, 2 * np.pi, size=220)
    around = 3 * np.column_stack([np.cos(angles), np.sin(angles)]) + 0.35 * RNG.normal(size=(220, 2))
    rows = np.vstack([around, 0.4 * RNG.normal(size=(80, 2))])
    DensityDisplay.from_estimator(KernelDensity(bandwidth=0.4).fit(rows), rows, ax=ax)


def ellipses(ax: Any) -> None:
    shapes = np.array([[[1.6, 0], [0.9, 0.3]], [[1.2, 0], [-0.8, 0.25]], [[0.3, 0], [0, 1.0]]])
    parts = [RNG.normal(size=(90, 2)) @ shape.T for shape in shapes]
    rows = np.vstack([part + place for part, place in zip(parts, [[0, 0], [0.5, 4], [5, 1.5]], strict=True)])
    MixtureDisplay.from_estimator(GaussianMixture(3, random_state=0).fit(rows), rows, ax=ax)
    ax.set_xlim(right=7.5)  # there is room for the last weight


PICTURES: dict[str, Callable[[Any], None]] = {
    "two exemplars, one bisector": bisector,
    "a line, and how sure it is": line,
    "the lasso, at every penalty": lasso,
    "margins and support vectors": margin,
    "circles of four distances": balls,
    "nearest and second nearest": cells,
    "votes of five neighbours": neighbours,
    "k-means, step by step": steps,
    "a hierarchy, and its cut": hierarchy,
    "silhouettes: one too many": silhouettes,
    "a bump on every row": ring,
    "a mixture of three": ellipses,
}


def contact_sheet() -> None:
    """Draw all pictures, without ticks and legends."""
    figure, axes = plt.subplots(3, 4, figsize=(11, 8.4), dpi=110, layout="constrained")
    for ax, (title, draw) in zip(axes.flat, PICTURES.items(), strict=True):
        draw(ax)
        for legend in filter(None, [ax.get_legend()]):
            legend.remove()
        ax.set(xticks=[], yticks=[], xlabel="", ylabel="", aspect="auto")
        ax.set_title(title, fontsize=12)
    # Without the version of what wrote it, which would change the file when nothing is seen to change.
    figure.savefig(SHEET, metadata={"Software": None}, pil_kwargs={"optimize": True})


if __name__ == "__main__":
    contact_sheet()
    print(f"{SHEET}: {SHEET.stat().st_size / 1e3:.0f} kB")
