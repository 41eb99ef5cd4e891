"""
Two clusterings and their silhouettes
=====================================

k-means finds clusters on any data, good ones or not. The silhouette of a row says how
much nearer it is to its own cluster than to the next; drawn for all rows, it shows at
a glance which clustering to trust.
"""

# %%
# The same rows in two units
# --------------------------
# Two clusters lie side by side. When the second feature is measured in units a fifth
# as long, clusters that are far apart up and down have the smaller scatter, and k-means
# cuts both of the true ones across (Flach, Figures 8.13 and 8.14).

import matplotlib.pyplot as plt
import numpy as np

from bisector import KMeans, datasets, silhouette

BLUE, ORANGE = "#0072b2", "#d55e00"
MARKS = [(0, BLUE, "o"), (1, ORANGE, "x")]


def draw_silhouette(ax, found):
    """One bar a row, cluster by cluster, the longest first."""
    start = 0
    for label, colour, _ in MARKS:
        values = found.of_cluster(label)
        places = start + np.arange(len(values))
        ax.barh(places, values, height=1.0, color=colour)
        ax.text(-0.04, places.mean(), str(label), ha="right", va="center", color=colour)
        start += len(values) + 4
    ax.axvline(found.score, color="0.3", ls="--", lw=1)
    ax.set(xlim=(-0.15, 1), yticks=[], xlabel="silhouette")
    ax.set_title(f"average {found.score:.2f}")
    ax.invert_yaxis()


figure, axes = plt.subplots(2, 2, figsize=(8.5, 6.5), layout="constrained")
for (above, below), scale in zip(axes.T, [1, 5], strict=True):
    X, _ = datasets.rescaled_pair(y_scale=scale)
    labels = KMeans(2, random_state=0).fit_predict(X)
    order = np.argsort([X[labels == c, 0].mean() for c in (0, 1)])
    labels = order[labels]
    found = silhouette(X, labels, metric="sqeuclidean")
    for label, colour, mark in MARKS:
        above.scatter(*X[labels == label].T, s=18, marker=mark, color=colour)
    above.set(title=f"second feature × {scale}", xlabel="x1", ylabel="x2")
    draw_silhouette(below, found)
    print(found, end="\n\n")

# %%
# On the left nearly all rows have long bars of much the same length. On the right the
# bars shrink steadily: many rows lie between the two clusters.

plt.show()
