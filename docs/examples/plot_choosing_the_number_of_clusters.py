"""
How many clusters, and are there any?
=====================================

The scatter within clusters falls with every cluster that is added, so it cannot say
how many there are. Three rules look at it in other ways; a test says whether there is
anything to find.

Shows problems 6.13 and 6.24 of *Learning From Data*.
"""

# %%
# Four clusters, and none
# -----------------------
# Four normal clusters on a circle, and as many points spread evenly over a square.
# `choose_k` fits each number of clusters once to the data and once to each of ten
# references without clusters.

import matplotlib.pyplot as plt
import numpy as np

from bisector import (
    ClusterCountDisplay,
    GapDisplay,
    KMeans,
    choose_k,
    datasets,
    gap_statistic,
    structure_test,
)

data = {
    "four clusters": datasets.four_gaussians(200).X,
    "none": datasets.uniform_square(200).X,
}
chosen = {
    name: choose_k(X, KMeans(random_state=0), range(1, 9), n_refs=10)
    for name, X in data.items()
}
for name, found in chosen.items():
    print(f"{name}:\n{found}\n")

# %%
# Three rules side by side
# ------------------------
# Silhouette, gap and elbow agree on four. Where there are no clusters, the silhouette
# and the elbow name a number all the same; the gap of one cluster is as large as that
# of the next but for its error, so it says one.

figure, axes = plt.subplots(2, 4, figsize=(13, 5.8), layout="constrained")
for row, (name, X) in zip(axes, data.items(), strict=True):
    row[0].scatter(*X.T, s=5, c=chosen[name].labels, cmap="viridis")
    row[0].set(title=f"{name}: k = {chosen[name].k_}", aspect="equal")
    ClusterCountDisplay(chosen[name]).plot(row[1:])
plt.show()

# %%
# Where the gap comes from
# ------------------------
# It is the distance between two logarithms: of the scatter that is left, and of that
# which rows without clusters would leave.

figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
for ax, found in zip(axes, chosen.values(), strict=True):
    GapDisplay(found.gap).plot(ax, kind="scatter")
plt.show()

# %%
# The wider the four clusters, the more they flow together: from some width on, the gap
# says one.

widths = np.array([0.1, 0.2, 0.3, 0.4, 0.6])
says = [
    gap_statistic(
        datasets.four_gaussians(200, deviation=width).X,
        KMeans(random_state=0),
        range(1, 7),
        8,
    ).k_
    for width in widths
]
figure, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.step(widths, says, "o-", where="mid")
ax.set(xlabel="standard deviation of the clusters", ylabel="k by the gap")
ax.set(yticks=range(1, 6), ylim=(0.5, 5.5))
plt.show()

# %%
# Is there anything to find?
# --------------------------
# `structure_test` compares the best of several k with what the same clusterer makes of
# references, and gives a p-value that holds for any clusterer: evenly spread rows are
# called structured with a probability of at most 5 %.

figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained", sharey=True)
for ax, (name, X) in zip(axes, data.items(), strict=True):
    test = structure_test(X, KMeans(random_state=0), range(2, 6), n_refs=49)
    print(f"{name}: {test.verdict}")
    ax.plot(test.k, test.observed[0], "o-", label="data")
    for kind, dash, values in zip(
        test.references, ["--", ":"], test.expected, strict=True
    ):
        ax.plot(test.k, values[0], dash, color="0.55", label=f"references: {kind}")
    ax.set(title=f"{name}: p = {test.p_value:.2g}", xlabel="clusters k", ylim=(0, 1))
    ax.set_xticks(test.k)
axes[0].set_ylabel("average silhouette")
axes[0].legend(loc="lower right")
plt.show()
