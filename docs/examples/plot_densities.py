"""
Four ways to see a density
==========================

The same rows, described by counts in cells, by the distance to neighbours, by a bump on every row, and by a few
bumps that fit (*Learning From Data*, Figures 6.12 to 6.15).
"""

# %%
# On a line
# ---------
# Sixty values from two normal distributions. The dashed curve is the density they came from.

import matplotlib.pyplot as plt
import numpy as np

from bisector import (
    GaussianMixture,
    HistogramDensity,
    KernelDensity,
    KernelDensityCV,
    NearestNeighborDensity,
)

# Colours that colour-blind readers can tell apart.
BLUE, ORANGE = "#0072b2", "#d55e00"

truth = GaussianMixture.from_parameters(
    [0.4, 0.6],
    [[-2.0], [1.5]],
    [0.3, 1.0],
    covariance_type="spherical",
    random_state=3,
)
rows, _ = truth.sample(60)
across = np.linspace(-5, 6, 1200)[:, None]


def show(ax, model, title):
    """Draw a density, the one behind the rows, and the rows."""
    ax.plot(across, np.exp(truth.score_samples(across)), "--", color="0.5", lw=1)
    ax.plot(across, np.exp(model.score_samples(across)), color=BLUE, lw=1.5)
    ax.plot(rows, np.full(len(rows), -0.02), "|", color="black", ms=6, alpha=0.6)
    ax.set(title=title, ylim=(-0.05, 0.75), yticks=[])
    ax.title.set_fontsize(10)


models = {
    "histogram, 12 cells": HistogramDensity(bins=12),
    "6 nearest neighbours": NearestNeighborDensity(6, box=[(-5, 6)]),
    "a bump on every row": KernelDensityCV(),
    "a mixture of two bumps": GaussianMixture(2, random_state=0),
}
fig, axes = plt.subplots(2, 2, figsize=(8, 5), layout="constrained")
for ax, (title, model) in zip(axes.flat, models.items(), strict=True):
    show(ax, model.fit(rows), title)
plt.show()

# %%
# The histogram jumps, and where its cells begin is chance. The neighbours' density has spikes, and tails that fall
# so slowly that only the box makes it a density. Bumps are smooth. The mixture is smoothest, and right only if
# two bumps are what there is.
#
# How wide
# --------
# Bumps too narrow show every row; too wide, and the two groups flow together. The width that predicts each row best
# from all others lies between.

chosen = KernelDensityCV().fit(rows)
fig, axes = plt.subplots(1, 3, figsize=(9, 2.8), layout="constrained")
for ax, width in zip(axes, (0.08, chosen.bandwidth_, 2.0), strict=True):
    show(ax, KernelDensity(bandwidth=width).fit(rows), f"width {width:.2f}")
axes[1].set_title(f"width {chosen.bandwidth_:.2f}, by leave-one-out", fontsize=10)
plt.show()

# %%
# In the plane
# ------------
# The same four densities for three hundred rows on a ring and a spot; darkness goes by the root of the height, so
# that the ring is seen beside the spot.

rng = np.random.default_rng(0)
angles = rng.uniform(0, 2 * np.pi, size=220)
ring = np.c_[np.cos(angles), np.sin(angles)] * 3 + 0.35 * rng.normal(size=(220, 2))
plane = np.concatenate([ring, 0.4 * rng.normal(size=(80, 2))])
side = np.linspace(-5, 5, 161)
places = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)

models = {
    "histogram": HistogramDensity(bins=14),
    "12 nearest neighbours": NearestNeighborDensity(12, box=[(-5, 5), (-5, 5)]),
    "a bump on every row": KernelDensity(bandwidth=0.4),
    "a mixture of eight bumps": GaussianMixture(8, random_state=1),
}
fig, axes = plt.subplots(2, 2, figsize=(7.2, 7.4), layout="constrained")
for ax, (title, model) in zip(axes.flat, models.items(), strict=True):
    heights = np.exp(model.fit(plane).score_samples(places)).reshape(len(side), -1)
    ax.contourf(side, side, np.sqrt(heights), levels=12, cmap="Blues")
    ax.plot(*plane.T, ".", color=ORANGE, ms=3)
    ax.set(title=title, aspect="equal", xticks=[], yticks=[])
    ax.title.set_fontsize(10)
plt.show()
