"""
How many clusters, and are there any?
=====================================

The scatter within clusters falls with every cluster that is added, so it cannot say
how many there are. Three rules look at it in other ways; a test says whether there is
anything to find.
"""

# %%
# Four clusters, and none
# -----------------------
# Four normal clusters on a circle (*Learning From Data*, Problem 6.13), and as many
# points spread evenly over a square. `choose_k` fits each number of clusters once to
# the data and once to each of twenty references without clusters.

import matplotlib.pyplot as plt
import numpy as np

from bisector import KMeans, choose_k, datasets, structure_test

BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "0.55"
kmeans = KMeans(random_state=0)
data = {
    "four clusters": datasets.four_gaussians(400).X,
    "none": datasets.uniform_square(400).X,
}
chosen = {name: choose_k(X, kmeans) for name, X in data.items()}
for name, found in chosen.items():
    print(f"{name}:\n{found}\n")

# %%
# Three rules side by side
# ------------------------
# Silhouette, gap and elbow agree on four. Where there are no clusters, the silhouette
# and the elbow name a number all the same; the gap of one cluster is as large as that
# of the next but for its error, so it says one.

figure, axes = plt.subplots(2, 4, figsize=(12, 5.6), layout="constrained")
for row, (name, X) in zip(axes, data.items(), strict=True):
    found = chosen[name]
    row[0].scatter(*X.T, s=5, c=found.labels, cmap="viridis")
    row[0].set(title=f"{name}: k = {found.k_}", aspect="equal")
    curves = [
        ("average silhouette", found.silhouette, found.k_by_silhouette, 1),
        ("gap", found.gap.gap, found.k_by_gap, 2.2),
        ("scatter within clusters", found.scatter, found.k_by_elbow, None),
    ]
    for ax, (title, values, best, top) in zip(row[1:], curves, strict=True):
        ax.plot(found.k, values, ".-", color=BLUE)
        place = int(np.flatnonzero(found.k == best)[0])
        ax.plot(best, values[place], "o", ms=9, mfc="none", mew=2, color=ORANGE)
        ax.set(title=title, xlabel="clusters k", xticks=range(1, 11))
        ax.set_ylim(-0.05 if top else 0, top)
    error = found.gap.standard_error
    row[2].fill_between(
        found.k, found.gap.gap - error, found.gap.gap + error, color=BLUE, alpha=0.2
    )

# %%
# Is there anything to find?
# --------------------------
# `structure_test` compares the best of several k with what the same clusterer makes of
# references, and gives a p-value that holds for any clusterer: evenly spread rows are
# called structured with a probability of at most 5 %.

figure, axes = plt.subplots(1, 2, figsize=(8.5, 3.4), layout="constrained", sharey=True)
for ax, (name, X) in zip(axes, data.items(), strict=True):
    test = structure_test(X, KMeans(random_state=0))
    print(f"{name}: {test.verdict}")
    ax.plot(test.k, test.observed[0], "o-", color=BLUE, label="data")
    for kind, dash, values in zip(
        test.references, ["--", ":"], test.expected, strict=True
    ):
        ax.plot(test.k, values[0], dash, color=GREY, label=f"references: {kind}")
    ax.set(title=f"{name}: p = {test.p_value:.2g}", xlabel="clusters k", ylim=(0, 1))
    ax.set_xticks(test.k)
axes[0].set_ylabel("average silhouette")
axes[0].legend(loc="lower right")
plt.show()
