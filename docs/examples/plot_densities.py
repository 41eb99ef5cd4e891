"""
Four ways to see a density
==========================

The same rows, described by counts in cells, by the distance to neighbours, by a bump on every row, and by a few
bumps that fit.

Shows figures 6.13, 6.14 and 6.15 of *Learning From Data*.
"""

# %%
# On a line
# ---------
# Sixty values from two normal distributions. The dashed curve is the density they came from.

import matplotlib.pyplot as plt
import numpy as np

from bisector import (
    DensityDisplay,
    GaussianMixture,
    HistogramDensity,
    KernelDensity,
    KernelDensityCV,
    NearestNeighborDensity,
    datasets,
)

truth = GaussianMixture.from_parameters(
    [0.4, 0.6],
    [[-2.0], [1.5]],
    [0.3, 1.0],
    covariance_type="spherical",
    random_state=3,
)
rows, _ = truth.sample(60)


def show(ax, model, title):
    """Draw a density above the rows, and the one they came from."""
    DensityDisplay.from_estimator(model, rows, ax=ax, name="estimate")
    DensityDisplay.from_estimator(truth, rows, ax=ax, name="truth", rows=False)
    ax.set(title=title, ylim=(0, 0.6))


models = {
    "histogram, 12 cells": HistogramDensity(bins=12),
    "6 nearest neighbours": NearestNeighborDensity(6, box=[(-5, 6)]),
    "a bump on every row": KernelDensityCV(),
    "a mixture of two bumps": GaussianMixture(2, random_state=0),
}
figure, axes = plt.subplots(2, 2, figsize=(9, 6), layout="constrained")
for ax, (title, model) in zip(axes.flat, models.items(), strict=True):
    show(ax, model.fit(rows), title)
plt.show()

# %%
# The histogram jumps, and where its cells begin is chance. The neighbours' density has spikes, and tails that
# fall so slowly that only the box makes it a density. Bumps are smooth. The mixture is smoothest, and right
# only if two bumps are what there is.
#
# How wide
# --------
# Bumps too narrow show every row; too wide, and the two groups flow together. The width that predicts each row
# best from all others lies between.

chosen = KernelDensityCV().fit(rows)
figure, axes = plt.subplots(1, 3, figsize=(11, 3.2), layout="constrained")
for ax, width in zip(axes, (0.08, chosen.bandwidth_, 2.0), strict=True):
    show(ax, KernelDensity(bandwidth=width).fit(rows), f"width {width:.2f}")
axes[1].set_title(f"width {chosen.bandwidth_:.2f}, by leave-one-out")
plt.show()

# %%
# In the plane
# ------------
# The same four densities for three hundred rows on a ring and a spot; contours are closer where the density is
# low, so that the ring is seen beside the spot.

rng = np.random.default_rng(0)
angles = rng.uniform(0, 2 * np.pi, size=220)
ring = np.c_[np.cos(angles), np.sin(angles)] * 3 + 0.35 * rng.normal(size=(220, 2))
plane = np.concatenate([ring, 0.4 * rng.normal(size=(80, 2))])

models = {
    "histogram": HistogramDensity(bins=14),
    "12 nearest neighbours": NearestNeighborDensity(12, box=[(-5.5, 5.5), (-5.5, 5.5)]),
    "a bump on every row": KernelDensity(bandwidth=0.4),
    "a mixture of eight bumps": GaussianMixture(8, random_state=1),
}
figure, axes = plt.subplots(2, 2, figsize=(8, 8), layout="constrained")
for ax, (title, model) in zip(axes.flat, models.items(), strict=True):
    DensityDisplay.from_estimator(model.fit(plane), plane, ax=ax)
    ax.set(title=title, aspect="equal")
plt.show()

# %%
# Handwritten digits as mountains
# -------------------------------
# Five hundred digits by intensity and symmetry, as mountains and as maps of them. The distance to the 31st
# neighbour makes a ragged top and slopes that never end. Bumps of one width are smooth, but for small hills at
# single rows far out. A mixture of ten takes the shape of each bump from the rows; its centres (black) name the
# parts that digits are seen to gather in.

digits = datasets.digit_features(n=500).X
low, high = digits.min(axis=0) - 0.5, digits.max(axis=0) + 0.5
models = {
    "31 nearest neighbours": NearestNeighborDensity(31, box=np.c_[low, high]),
    "a bump on every row": KernelDensityCV(),
    "a mixture of ten bumps": GaussianMixture(10, random_state=0),
}
figure = plt.figure(figsize=(12, 7.6), layout="constrained")
for place, (title, model) in enumerate(models.items(), start=1):
    mountain = figure.add_subplot(2, 3, place, projection="3d")
    seen = DensityDisplay.from_estimator(
        model.fit(digits), digits, ax=mountain, kind="surface", margin=0.05
    )
    mountain.set(title=title, xlabel="intensity", ylabel="symmetry", zlabel="")
    chart = figure.add_subplot(2, 3, place + 3)
    seen.plot(chart, rows=False)
    chart.set(title="", xlabel="intensity", ylabel="symmetry" if place == 1 else "")
chart.plot(*model.means_.T, "o", color="k", ms=5)
plt.show()
