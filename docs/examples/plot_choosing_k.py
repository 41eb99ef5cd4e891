"""
How many neighbours?
====================

One neighbour follows every mistake in the training rows; all rows together answer every query alike. Where between
the two lies the best number, and what would more rows bring?
"""

# %%
# Two classes that overlap
# ------------------------
# Each class is two normal clusters, across from each other, wide enough to reach into the other's (the data
# of *Learning From Data*, Problem 6.13, with a larger deviation). `KNeighborsClassifierCV` leaves out each row in
# turn and scores every k from the same neighbours.

import matplotlib.pyplot as plt
import numpy as np

from bisector import (
    KNeighborsClassifier,
    KNeighborsClassifierCV,
    datasets,
    learning_curve,
)

BLUE, ORANGE, GREEN = "#0072b2", "#d55e00", "#009e73"
X, y = datasets.four_gaussians(1_000, deviation=0.4)
chosen = KNeighborsClassifierCV(k_max=600).fit(X, y)
curve, spread = chosen.error_curve_, chosen.error_curve_std_

figure, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
ax.fill_between(
    chosen.k_values_, curve - spread, curve + spread, color=BLUE, alpha=0.2, lw=0
)
ax.plot(chosen.k_values_, curve, color=BLUE)
ax.plot(chosen.best_k_, chosen.best_error_, "o", color=ORANGE)
ax.annotate(
    f"k = {chosen.best_k_}",
    (chosen.best_k_, chosen.best_error_),
    (0, -14),
    textcoords="offset points",
    ha="center",
    color=ORANGE,
)
ax.set(
    xscale="log",
    ylim=(0.05, 0.2),
    xlabel="neighbours k",
    ylabel="leave-one-out error",
    title="Every k from one search; the band is one standard error",
)
print(chosen.error_bounds())

# %%
# What k does to the boundary
# ---------------------------
# One neighbour draws an island around every stray row, and the chosen number smooths them away. Of nearly all rows,
# only the farthest have no vote, and these are of the query's own class: the regions change places.

low, high = X.min(axis=0) - 0.3, X.max(axis=0) + 0.3
across, up = np.meshgrid(
    np.linspace(low[0], high[0], 250), np.linspace(low[1], high[1], 250)
)
queries = np.column_stack([across.ravel(), up.ravel()])
figure, axes = plt.subplots(
    1, 3, figsize=(10, 3.6), layout="constrained", sharex=True, sharey=True
)
for ax, k in zip(axes, [1, chosen.best_k_, 900], strict=True):
    model = KNeighborsClassifier(k).fit(X, y)
    share = model.predict_proba(queries)[:, 1].reshape(across.shape)
    ax.contourf(
        across, up, share, [-0.01, 0.5, 1.01], colors=[ORANGE, BLUE], alpha=0.18
    )
    for label, colour, mark in [(1, BLUE, "."), (-1, ORANGE, "x")]:
        rows = X[y == label]
        ax.scatter(*rows.T, s=9, marker=mark, color=colour, lw=0.6, label=f"{label:+d}")
    ax.set(title=f"k = {k}")
axes[0].legend(loc="lower left")

# %%
# What more rows would bring
# --------------------------
# In and out of sample, averaged over splits (Figure 6.3). One neighbour makes no error on its own rows, which says
# nothing about others. A k that grows with the rows comes to err alike on both.

learned = learning_curve(X, y, repeats=10)
print(learned)

figure, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
names = {1: "k = 1", 3: "k = 3", "sqrt": "k = √N", "cv": "k by cross-validation"}
for choice, colour, out, own in zip(
    learned.choices,
    [ORANGE, GREEN, BLUE, "0.3"],
    learned.out_of_sample,
    learned.in_sample,
    strict=True,
):
    ax.plot(learned.sizes, out, "o-", color=colour, ms=4, label=names[choice])
    ax.plot(learned.sizes, own, ":", color=colour)
ax.set(
    xscale="log",
    xlabel="training rows N",
    ylabel="error",
    title="Out of sample (lines) and in sample (dotted)",
)
ax.legend()
plt.show()
