"""
Scatter within clusters, and between them
=========================================

The scatter of rows is the sum of their squared distances from the mean. Divided into clusters, it is the sum of two
parts: what is left within the clusters, and what lies between their means. What one part loses the other gains.

Shows example 8.3 of Flach's *Machine Learning*.
"""

# %%
# The same five points, divided twice
# -----------------------------------
# Solid lines lead from points to the mean of their cluster, dashed ones from there to the mean of all. The scatter
# within is the sum of the squared solid lines; for the scatter between, the square of a dashed line counts once for
# each point of its cluster. Both pictures add up to the same 76. On the right the solid lines are short: tight
# clusters are clusters far apart.

import matplotlib.pyplot as plt
import numpy as np

from bisector import KMeans, scatter_decomposition

X = np.array([[0, 3], [3, 3], [3, 0], [-2, -4], [-4, -2]])
divisions = {"the first two": [0, 0, 1, 1, 1], "the first three": [0, 0, 0, 1, 1]}
COLOURS, MARKERS = ["#0072b2", "#d55e00"], "os"

figure, axes = plt.subplots(
    1, 2, figsize=(9, 4.6), layout="constrained", sharex=True, sharey=True
)
for ax, (name, labels) in zip(axes, divisions.items(), strict=True):
    parts = scatter_decomposition(X, labels)
    middle = X.mean(axis=0)
    for cluster, (mean, colour, marker) in enumerate(
        zip(parts.means, COLOURS, MARKERS, strict=True)
    ):
        ax.plot(*np.transpose([mean, middle]), "--", color="0.4")
        for row in X[np.equal(labels, cluster)]:
            ax.plot(*np.transpose([row, mean]), "-", color=colour)
            ax.plot(*row, marker, color=colour, ms=8)
        ax.plot(*mean, marker, mfc="white", mec=colour, mew=2, ms=9)
    ax.plot(*middle, "+", color="black", ms=12, mew=2)
    within, between = np.sum(parts.within), parts.between
    ax.set_title(
        f"{name}, and the others:\n{within:g} within + {between:g} between = {parts.total:g}"
    )
    ax.set(aspect="equal", xlabel="x0", ylabel="x1")
    ax.label_outer()
plt.show()

# %%
# As a table, for the second division:

scatter_decomposition(X, divisions["the first three"])

# %%
# Every number of clusters
# ------------------------
# With more clusters, more of the scatter lies between them, until each point is a cluster. ``KMeans`` looks for the
# division with the least within.

shares = []
for k in range(1, 6):
    labels = KMeans(k, random_state=0).fit(X).labels_
    parts = scatter_decomposition(X, labels)
    shares.append((np.sum(parts.within), parts.between))
within, between = np.transpose(shares)
figure, ax = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
ax.bar(range(1, 6), within, color=COLOURS[0], label="within")
style = {"color": COLOURS[1], "alpha": 0.5, "hatch": "//", "label": "between"}
ax.bar(range(1, 6), between, bottom=within, **style)
ax.set(xlabel="clusters", ylabel="scatter")
ax.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
plt.show()
