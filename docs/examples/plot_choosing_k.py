"""
How many neighbours?
====================

One neighbour follows every mistake in the training rows; all rows together answer every query alike. Where between
the two lies the best number, and what would more rows bring?

Shows figure 6.3 of *Learning From Data*.
"""

# %%
# Two classes that overlap
# ------------------------
# Each class is two normal clusters, across from each other, wide enough to reach into the other's.
# `KNeighborsClassifierCV` leaves out each row in turn and scores every k from the same neighbours.

import matplotlib.pyplot as plt
import numpy as np

from bisector import (
    DecisionRegionsDisplay,
    ErrorCurveDisplay,
    KNeighborsClassifier,
    KNeighborsClassifierCV,
    LearningCurveDisplay,
    datasets,
    learning_curve,
)

X, y = datasets.four_gaussians(1_000, deviation=0.4)
chosen = KNeighborsClassifierCV(k_max=600).fit(X, y)


def error_in_sample(k):
    return np.mean(KNeighborsClassifier(k).fit(X, y).predict(X) != y)


in_sample = [error_in_sample(k) for k in chosen.k_values_[:60]]
figure, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
ErrorCurveDisplay.from_estimator(chosen, ax=ax)
ax.plot(chosen.k_values_[:60], in_sample, "--", color="#D55E00", label="in sample")
ax.set(ylim=(0, 0.2), title="Every k from one search")
ax.legend(frameon=False)
plt.show()
print(chosen.error_bounds())

# %%
# What k does to the boundary
# ---------------------------
# One neighbour draws an island around every stray row, and the chosen number smooths them away. Of nearly all
# rows, only the farthest have no vote, and these are of the query's own class: the regions change places.

figure, axes = plt.subplots(
    1, 3, figsize=(11, 3.6), layout="constrained", sharex=True, sharey=True
)
for ax, k in zip(axes, [1, chosen.best_k_, 900], strict=True):
    model = KNeighborsClassifier(k).fit(X, y)
    DecisionRegionsDisplay.from_estimator(
        model, X, y, probabilities=False, resolution=120, ax=ax
    )
    ax.set(title=f"k = {k}", aspect="equal")
    ax.label_outer()
    if ax is not axes[-1]:
        ax.get_legend().remove()
plt.show()

# %%
# What more rows would bring
# --------------------------
# Zeros among handwritten digits, by intensity and symmetry; errors in and out of sample, averaged over splits.
# One neighbour makes hardly an error on its own rows, which says nothing about others. Three are nearly as good
# as any number. A k that grows with the rows, √N, comes to err alike on both.

zeros = datasets.digit_features(positive=0)
learned = learning_curve(*zeros, sizes=[20, 50, 100, 250, 600, 1200], repeats=10)
print(learned)

figure, ax = plt.subplots(figsize=(7.6, 3.8), layout="constrained")
LearningCurveDisplay.from_curve(learned, ax=ax)
plt.show()
