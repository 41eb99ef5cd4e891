"""
K-means, and the way out of a bad end
=====================================

K-means looks for centres with little scatter around them. Its two steps, rows to the nearest centre and centres to
the mean of their rows, lower the scatter until they cannot. Where they end depends on where they begin.

Shows figures 8.11 and 8.12, and example 8.5, of Flach's *Machine Learning*.
"""

# %%
# Step by step
# ------------
# Three clusters, and three centres that begin in one of them. The boundary between two centres is their
# perpendicular bisector; the cells that the bisectors form are the clusters. Lines lead from where the centres were
# to where they are.

import matplotlib.pyplot as plt
import numpy as np

from bisector import KMeans, KMeansTraceDisplay, datasets, stationary_points

X, _ = datasets.spread_clusters(240, clusters=3, seed=2)
trace = KMeansTraceDisplay.from_estimator(KMeans(3, init=X[[0, 3, 7]]), X)
plt.show()

# %%
# On one picture lighter bisectors are earlier ones. The same moves side by side:

trace.plot_steps()
plt.show()

# %%
# A bad start
# -----------
# Two centres begin near one cluster, and the third between the other two. They move a little, and there they stay:
# no row is nearer to another centre, and no centre is elsewhere than in the middle of its rows. Two of the clusters
# have one centre between them.

best = KMeans(3, random_state=0).fit(X)
start = [[1.9, -0.2], [2.6, -0.1], [0.7, 1.5]]
bad = KMeansTraceDisplay.from_estimator(KMeans(3), X, start=start)
plt.close()
figure, axes = plt.subplots(
    1, 3, figsize=(9.6, 4), layout="compressed", sharex=True, sharey=True
)
bad.plot_steps(axes, steps=[0, 1, len(bad.centers) - 1])
found = axes[-1].get_title()
axes[-1].set_title(f"{found}\n(the best: {best.inertia_:.2f})")
plt.show()

# %%
# How many ends there are
# -----------------------
# Of five numbers and two clusters, all four contiguous splits are such ends: a line each, the best at the top.
# `KMeans` on one feature finds the best one outright.

BLUE, ORANGE = "#0072b2", "#d55e00"
numbers = [8, 44, 50, 58, 84]
ends = stationary_points(numbers, k=2)
figure, ax = plt.subplots(figsize=(7, 2.6), layout="constrained")
for line, (clusters, scatter) in enumerate(zip(ends, ends.scatters, strict=True)):
    for cluster, colour, marker in zip(clusters, [BLUE, ORANGE], "os", strict=True):
        ax.plot(cluster, np.full(len(cluster), line), marker, color=colour, ms=8)
        ax.plot(cluster.mean(), line, "|", color=colour, ms=22, mew=2)
    ax.text(92, line, f"scatter {scatter:.0f}", va="center")
ax.set(ylim=(3.6, -0.6), xlim=(0, 112), yticks=[], xlabel="number; upright: the means")
plt.show()

# %%
# A bad end, mended
# -----------------
# Fifty clusters, and as many rows drawn at random to begin with. Lloyd's algorithm ends where no row and no centre
# can move by itself: some clusters have two centres, and some centres serve two clusters. The refinement takes a
# centre from the former to the latter, as long as the scatter falls.

X, y = datasets.spread_clusters()
plain = KMeans(50, init="random", n_init=1, random_state=0, refine=False).fit(X)
refined = KMeans(50, init="random", n_init=1, random_state=0).fit(X)
figure, axes = plt.subplots(
    1, 2, figsize=(11, 5.6), sharex=True, sharey=True, layout="constrained"
)
for ax, model, name in zip(axes, [plain, refined], ["Lloyd", "refined"], strict=True):
    KMeansTraceDisplay(X, [model.cluster_centers_]).plot_steps([ax])
    ax.set_title(f"{name}: scatter {model.inertia_:.1f}")
plt.show()

# %%
# How the scatter falls
# ---------------------
# ``history_`` holds the scatter after every assignment. It never rises.

figure, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
ax.plot(refined.history_, label="refined")
ax.plot(plain.history_, ls="--", label="Lloyd alone")
ax.set(xlabel="assignment", ylabel="scatter within clusters", yscale="log")
ax.legend()
plt.show()
