"""
Exemplars and their cells
=========================

What stands for many points, and which places are nearest to it, depends on the distance.

Shows figures 8.4, 8.5, 8.6, 8.7 and 8.8, and example 8.2, of Flach's *Machine Learning*.
"""

# %%
# Straight on, or around the corner
# ---------------------------------
# From the origin to A is a step to the right. B is one more step ahead, C one to the side: both are as far from A,
# on the dashed curve. Under Euclidean distance C is then closer to the origin than B; under Manhattan distance as
# far as B. Below p = 1 it is farther away than the two steps that lead there: the detour by A is shorter than the
# straight way, and the triangle inequality fails.

import matplotlib.pyplot as plt
import numpy as np

from bisector import (
    Euclidean,
    Manhattan,
    Minkowski,
    UnitBallDisplay,
    VoronoiDisplay,
    coordinate_median,
    geometric_median,
    medoid,
    unit_ball,
)

origin, A, B, C = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [1.0, 1.0]])
fig, axes = plt.subplots(1, 3, figsize=(11, 3.4), layout="compressed", sharey=True)
for ax, p in zip(axes, [2, 1, 0.8], strict=True):
    d = Minkowski(p)
    circles = {
        "through A": unit_ball(d, radius=d(origin, A)),
        "around A": unit_ball(d, radius=d(A, B), center=A),
        "through C": unit_ball(d, radius=d(origin, C)),
    }
    UnitBallDisplay(list(circles.values()), list(circles)).plot(ax)
    for name, point in {"A": A, "B": B, "C": C}.items():
        ax.plot(*point, "o", color="black", ms=5)
        ax.annotate(name, point, (5, 5), textcoords="offset points")
    ax.set_title(f"p = {p}: C is {d(origin, C):.2f} away, B {d(origin, B):.0f}")
    ax.set(xlim=(-2.6, 2.6), ylim=(-2.6, 2.6))
    ax.label_outer()
    if ax is not axes[-1]:
        ax.get_legend().remove()
plt.show()

# %%
# Ten points, five middles
# ------------------------
# The mean minimises squared distances and is pulled by the outlier at the bottom right; medians minimise distances
# and are not. Medoids have to be one of the points.

points = np.array(
    [[0.2, 4.5], [0.8, 3.3], [1.1, 4.9], [1.6, 3.9], [2.0, 4.6]]
    + [[2.2, 3.0], [2.7, 3.7], [3.1, 4.3], [3.4, 2.7], [7.8, 0.3]]
)
middles = {
    "mean": (points.mean(axis=0), "o"),
    "geometric median": (geometric_median(points), "^"),
    "coordinate median": (coordinate_median(points), "v"),
    "medoid, squared 2-norm": (points[medoid(points, "sqeuclidean")], "s"),
    "medoid, 2-norm": (points[medoid(points, "euclidean")], "D"),
    "medoid, 1-norm": (points[medoid(points, "manhattan")], "P"),
}
fig, ax = plt.subplots(figsize=(8, 3.6), layout="compressed")
ax.scatter(*points.T, color="0.6", s=26, label="the points")
colours = ["#0072B2", "#009E73", "#56B4E9", "#D55E00", "#CC79A7", "#E69F00"]
for size, (name, (place, mark)), colour in zip(
    [90, 90, 90, 260, 160, 90], middles.items(), colours, strict=True
):
    ring = {"facecolors": "none", "edgecolors": colour, "linewidths": 2}
    ax.scatter(*place, s=size, marker=mark, label=name, **ring)
ax.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
ax.set(aspect="equal", xlabel="x0", ylabel="x1")
plt.show()

# %%
# Between two exemplars
# ---------------------
# At each cross, the circle through one exemplar goes through the other too. Under Euclidean distance the crosses
# lie on the perpendicular bisector. Under Manhattan distance circles are diamonds, and the boundary runs along the
# axes and at 45°.

pair = np.array([[1.0, 0.5], [2.4, 3.5]])
fig, axes = plt.subplots(1, 2, figsize=(9, 4.4), layout="compressed")
for ax, distance in zip(axes, [Euclidean(), Manhattan()], strict=True):
    display = VoronoiDisplay.from_exemplars(
        pair, distance, limits=((-2, 5.4), (-1.7, 5.7)), ax=ax
    )
    boundary = np.vstack(display.boundaries_[0].allsegs[0])
    boundary = boundary[np.argsort(boundary[:, 0])]
    for at in (0.3, 1.7, 3.1):
        cross = boundary[np.argmin(np.abs(boundary[:, 0] - at))]
        ax.plot(*cross, "x", color="black")
        circle = unit_ball(distance, radius=distance(cross, pair[0]), center=cross)
        ax.plot(*circle.T, color="0.35", lw=0.9, ls="--")
plt.show()

# %%
# Three, and five
# ---------------
# Euclidean cells are convex: a straight way from one place of a cell to another never leaves it. Manhattan cells
# are not. Five exemplars make five cells; when the second nearest has a say too, each cell falls into parts, and
# colours mix.

three = np.array([[1.0, 1.0], [4.0, 2.6], [1.7, 4.4]])
five = np.array([[0.6, 0.9], [4.0, 0.4], [2.4, 2.3], [0.8, 4.2], [4.6, 3.9]])
fig, axes = plt.subplots(2, 2, figsize=(9, 8.4), layout="compressed")
VoronoiDisplay.from_exemplars(three, ax=axes[0, 0])
VoronoiDisplay.from_exemplars(three, "manhattan", ax=axes[0, 1])
VoronoiDisplay.from_exemplars(five, names="ABCDE", ax=axes[1, 0])
VoronoiDisplay.from_exemplars(five, names="ABCDE", order=2, ax=axes[1, 1])
plt.show()
