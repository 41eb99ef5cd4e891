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

from bisector import AgglomerativeClustering

# Colours that colour-blind readers can tell apart, each with a marker and a dash of its own.
COLOURS, MARKERS, DASHES = ["#0072b2", "#d55e00", "#009e73"], "os^", ["-", "--", ":"]
LINKAGES = ["single", "complete", "average", "centroid"]


def draw_tree(ax, tree, k, title):
    """Draw a lying dendrogram, the branches of each of k clusters in its own colour."""
    labels = tree.cut(k)
    places, levels = tree.coordinates()
    first = np.arange(tree.n_leaves)
    for merge, a in enumerate(tree.merges[:, 0]):
        first = np.append(first, first[a])
        below = merge < tree.n_leaves - k
        label = labels[first[a]]
        ax.plot(
            levels[merge],
            places[merge],
            color=COLOURS[label] if below else "0.3",
            linestyle=DASHES[label] if below else "-",
            linewidth=1,
        )
    ax.set(title=title, yticks=[], xlabel="level")
    ax.title.set_fontsize(9)


def draw_rows(ax, X, labels):
    """Show rows by the clusters they are in."""
    for label in np.unique(labels):
        ax.scatter(
            *X[labels == label].T, s=14, color=COLOURS[label], marker=MARKERS[label]
        )
    ax.set(aspect="equal", xticks=[], yticks=[])


rng = np.random.default_rng(3)
bridge = np.column_stack([np.linspace(0.8, 3.2, 9), np.full(9, 0.1)])
X = np.concatenate(
    [rng.normal([0, 0], 0.45, (25, 2)), rng.normal([4, 0], 0.45, (25, 2)), bridge]
)
fig, axes = plt.subplots(2, 4, figsize=(11, 5.6), layout="constrained")
for (above, below), linkage in zip(axes.T, LINKAGES, strict=True):
    model = AgglomerativeClustering(2, linkage=linkage).fit(X)
    draw_tree(above, model.dendrogram_, 2, f"{linkage} linkage")
    draw_rows(below, X, model.labels_)
plt.show()

# %%
# Single linkage goes along the bridge: one row after the other joins the same cluster, at nearly the same
# level (*chaining*), and what is cut off in the end is a single outlying row. The others cut the bridge.
#
# Centroid linkage may turn down: a merged cluster can be closer to a third than its parts were to each
# other. The dendrogram says where.

for linkage in LINKAGES:
    tree = AgglomerativeClustering(2, linkage=linkage).fit(X).dendrogram_
    print(f"{linkage:>9}: monotone {bool(tree.monotone)}")

# %%
# Structure that is not there
# ---------------------------
# Twenty rows drawn uniformly have no clusters, but every dendrogram looks as if there were some: complete linkage
# in particular, since distances between farthest rows grow with the size of clusters.

X = np.random.default_rng(1).random((20, 2))
model = AgglomerativeClustering(3, linkage="complete").fit(X)
fig, (left, right) = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
draw_rows(left, X, model.labels_)
left.set_title("uniform rows, cut into three", fontsize=9)
draw_tree(right, model.dendrogram_, 3, "complete linkage")
plt.show()
