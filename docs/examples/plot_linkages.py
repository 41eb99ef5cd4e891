"""
Which linkage?
==============

A hierarchy merges the two closest clusters, again and again. What "closest" means for clusters is the
linkage, and it decides more than the distance does. Here are four linkages on the same rows.

Shows figures 8.16, 8.17 and 8.18, and example 8.7, of Flach's *Machine Learning*.
"""

# %%
# Two groups and a bridge
# -----------------------
# Two round groups, with a thin line of rows between them. Dendrograms are drawn left to right: the farther
# right two branches join, the farther apart they are. Colours and line styles tell the two clusters of a cut apart.

import matplotlib.pyplot as plt
import numpy as np

from bisector import (
    AgglomerativeClustering,
    DendrogramDisplay,
    SilhouetteDisplay,
    datasets,
)

LINKAGES = ["single", "complete", "average", "centroid"]
COLOURS = ["#0072b2", "#d55e00", "#009e73"]  # as dendrograms and silhouettes have them


def draw_rows(ax, X, labels):
    """Show rows by the clusters they are in."""
    for label, colour, marker in zip(
        range(labels.max() + 1), COLOURS, "os^", strict=False
    ):
        ax.scatter(*X[labels == label].T, s=14, color=colour, marker=marker)
    ax.set(aspect="equal", xticks=[], yticks=[])


rng = np.random.default_rng(3)
bridge = np.column_stack([np.linspace(0.8, 3.2, 9), np.full(9, 0.1)])
X = np.concatenate(
    [rng.normal([0, 0], 0.45, (25, 2)), rng.normal([4, 0], 0.45, (25, 2)), bridge]
)
figure, axes = plt.subplots(
    2, 4, figsize=(12, 4.6), layout="constrained", height_ratios=[2, 1]
)
for (above, below), linkage in zip(axes.T, LINKAGES, strict=True):
    model = AgglomerativeClustering(2, linkage=linkage).fit(X)
    shown = DendrogramDisplay.from_estimator(model, most=len(X), ax=above)
    above.set(title=f"{linkage} linkage", yticks=[])
    draw_rows(below, X, model.labels_)
    print(f"{linkage:>9}: monotone {bool(shown.dendrogram.monotone)}")
plt.show()

# %%
# Single linkage goes along the bridge: one row after the other joins the same cluster, at nearly the same
# level (*chaining*), and what is cut off in the end is a single outlying row. The others cut the bridge.
#
# Eight points on a grid
# ----------------------
# Pairs of points above each other are merged first under every linkage; then the levels differ. Small
# irregularities break the ties. Below, each merge has a frame around its rows and a line between what it joins,
# whose length is the level: between the farthest points of two clusters, their means, or the nearest points. Single
# linkage says best that there is nothing to find: all its lines are equally long.


def link(linkage, first, second):
    """Return the ends of the line whose length is the level of a merge."""
    if linkage == "centroid":
        return first.mean(axis=0), second.mean(axis=0)
    apart = np.linalg.norm(first[:, None] - second, axis=2)
    place = apart.argmin() if linkage == "single" else apart.argmax()
    one, other = np.unravel_index(place, apart.shape)
    return first[one], second[other]


def draw_nested(ax, X, merges, linkage):
    """Frame the rows of each merge, later ones wider, and draw the line that it was made by."""
    clusters = [[row] for row in range(len(X))]
    for step, (left, right) in enumerate(merges):
        ends = np.transpose(link(linkage, X[clusters[left]], X[clusters[right]]))
        if (
            linkage == "centroid" and step > 3
        ):  # a little apart, or the lines would hide each other
            ends[1] += 0.05 * (step - 4)
        ax.plot(*ends, color=plt.cm.cividis(step / len(X)), lw=2, zorder=2)
        clusters.append(clusters[left] + clusters[right])
        room = 0.12 + 0.05 * step
        low, high = (
            X[clusters[-1]].min(axis=0) - room,
            X[clusters[-1]].max(axis=0) + room,
        )
        frame = {"fill": False, "ec": "0.6", "lw": 1, "joinstyle": "round"}
        ax.add_patch(plt.Rectangle(low, *(high - low), **frame))
    for row, place in enumerate(X):
        ax.plot(*place, "o", color="black", ms=5, zorder=3)
        ax.annotate(str(row), place, (4, 3), textcoords="offset points", fontsize=8)
    ax.set(aspect="equal", xlim=(-0.6, 3.6), ylim=(-0.6, 1.6), xticks=[], yticks=[])


grid = datasets.grid(irregularity=0.02)
drawn = ["complete", "centroid", "single"]
figure, axes = plt.subplots(2, 3, figsize=(10.5, 5), layout="constrained")
for (above, below), linkage in zip(axes.T, drawn, strict=True):
    model = AgglomerativeClustering(1, linkage=linkage).fit(grid.X)
    DendrogramDisplay.from_estimator(model, ax=above)
    above.set_title(f"{linkage} linkage")
    draw_nested(below, grid.X, model.dendrogram_.merges, linkage)
plt.show()

# %%
# A merge that falls
# ------------------
# The first two of three points are closer to each other than to the third, which is closer still to the middle
# between them. Centroid linkage therefore merges it at a lower level, and the dendrogram turns back.

triangle = datasets.triangle()
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.0), layout="constrained")
left.plot(*triangle.X.T, "o", color=COLOURS[0])
left.plot(*triangle.X[:2].mean(axis=0), "+", color=COLOURS[1], ms=12, mew=2)
for place, row in enumerate(triangle.X):
    left.annotate(
        str(place), row, (6, 6), textcoords="offset points", annotation_clip=False
    )
left.set(aspect="equal", title="three points; +: the middle of two")
left.margins(0.2)
model = AgglomerativeClustering(1, linkage="centroid").fit(triangle.X)
DendrogramDisplay.from_estimator(model, ax=right)
plt.show()

# %%
# Structure that is not there
# ---------------------------
# Twenty rows drawn uniformly have no clusters, but every dendrogram looks as if there were some: complete linkage
# in particular, since distances between farthest rows grow with the size of clusters. The silhouette is less easily
# fooled: its bars are short, and some point the other way.

X = np.random.default_rng(5).random((20, 2))
model = AgglomerativeClustering(3, linkage="complete").fit(X)
figure, (left, middle, right) = plt.subplots(
    1, 3, figsize=(12, 3.6), layout="constrained"
)
draw_rows(left, X, model.labels_)
left.set_title("uniform rows, cut into three")
DendrogramDisplay.from_estimator(model, ax=middle)
middle.set_title("complete linkage")
SilhouetteDisplay.from_estimator(model, X, ax=right)
plt.show()

# %%
# With names
# ----------
# Rows need no coordinates, only distances. Words by the edits that lead from one to the other: what rhymes comes
# together first.

words = ["pine", "line", "wine", "mine", "fine", "shine", "table", "cable", "fable"]
words += ["stable", "house", "mouse", "louse", "horse"]
model = AgglomerativeClustering(3, linkage="average", metric="levenshtein").fit(words)
DendrogramDisplay.from_estimator(model, names=words)
plt.show()

# %%
# As many rows as you like
# ------------------------
# Of a large hierarchy the last merges are drawn; wedges stand for the rows that were one cluster before.

X, _ = datasets.spread_clusters(3000, clusters=6, seed=1)
DendrogramDisplay.from_estimator(AgglomerativeClustering(6).fit(X), most=30)
plt.show()
