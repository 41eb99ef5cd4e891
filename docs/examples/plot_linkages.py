"""
Which linkage?
==============

A hierarchy merges the two closest clusters, again and again. What "closest" means for clusters is the
linkage, and it decides more than the distance does. Here are four linkages on the same rows.
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


def draw_rows(ax, X, labels):
    """Show rows by the clusters they are in."""
    for label, marker in zip(np.unique(labels), "os^", strict=False):
        ax.scatter(*X[labels == label].T, s=14, marker=marker)
    ax.set(aspect="equal", xticks=[], yticks=[])


rng = np.random.default_rng(3)
bridge = np.column_stack([np.linspace(0.8, 3.2, 9), np.full(9, 0.1)])
X = np.concatenate(
    [rng.normal([0, 0], 0.45, (25, 2)), rng.normal([4, 0], 0.45, (25, 2)), bridge]
)
figure, axes = plt.subplots(2, 4, figsize=(12, 5.8), layout="constrained")
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
# The pairs of columns are merged first under every linkage; then the levels differ (Flach, Figure 8.16). Small
# irregularities break the ties.

grid = datasets.grid(irregularity=0.02)
figure, axes = plt.subplots(1, 4, figsize=(12, 3.0), layout="constrained")
for ax, linkage in zip(axes, LINKAGES, strict=True):
    model = AgglomerativeClustering(2, linkage=linkage).fit(grid.X)
    DendrogramDisplay.from_estimator(model, ax=ax)
    ax.set_title(f"{linkage} linkage")
plt.show()

# %%
# A merge that falls
# ------------------
# The first two of three points are closer to each other than to the third, which is closer still to the middle
# between them. Centroid linkage therefore merges it at a lower level, and the dendrogram turns back (Figure 8.17).

triangle = datasets.triangle()
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.0), layout="constrained")
left.plot(*triangle.X.T, "o")
left.plot(*triangle.X[:2].mean(axis=0), "+", ms=12)
for place, row in enumerate(triangle.X):
    left.annotate(
        str(place), row, (6, 6), textcoords="offset points", annotation_clip=False
    )
left.set(aspect="equal", title="three points, and the middle of two")
left.margins(0.2)
model = AgglomerativeClustering(1, linkage="centroid").fit(triangle.X)
DendrogramDisplay.from_estimator(model, ax=right)
plt.show()

# %%
# Structure that is not there
# ---------------------------
# Twenty rows drawn uniformly have no clusters, but every dendrogram looks as if there were some: complete linkage
# in particular, since distances between farthest rows grow with the size of clusters. The silhouette is less easily
# fooled: its bars are short, and some point the other way (Figure 8.18).

X = np.random.default_rng(1).random((20, 2))
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
# As many rows as you like
# ------------------------
# Of a large hierarchy the last merges are drawn; wedges stand for the rows that were one cluster before.

X, _ = datasets.spread_clusters(3000, clusters=6, seed=1)
DendrogramDisplay.from_estimator(AgglomerativeClustering(6).fit(X), most=30)
plt.show()
