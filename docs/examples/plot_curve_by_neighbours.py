"""
A curve from its neighbours
===========================

Nearest neighbours answer with numbers as well as with classes: the average of the targets of the k nearest rows.
Twenty rows of a curve, seen through noise, show what k does to it.

Shows figure 6.7 of *Learning From Data*.
"""

# %%
# One, three, eleven
# ------------------
# The broad curve is what the rows came from. One neighbour repeats every row, noise included. Three average
# most of the noise away. Eleven are more than half of the rows, and flatten the hill and the valley. All
# answers are steps: they change where one row takes another's place among the nearest, and beyond the last rows
# they change no more.

import matplotlib.pyplot as plt
import numpy as np

from bisector import (
    ErrorCurveDisplay,
    KNeighborsRegressor,
    KNeighborsRegressorCV,
    RegressionDisplay,
    datasets,
)

X, y = datasets.noisy_curve(20, noise=0.3)
truth = datasets.noisy_curve(400, noise=0)


def draw(ax, model, title):
    """Draw what a fitted model predicts, above the curve that the rows came from."""
    ax.plot(truth.X, truth.y, color="0.5", lw=5, alpha=0.4, label="true curve")
    RegressionDisplay.from_estimator(model, X, y, marks=False, resolution=2000, ax=ax)
    ax.set(title=title, xlabel="x")


fig, axes = plt.subplots(1, 3, figsize=(11, 3.4), layout="constrained", sharey=True)
for ax, k in zip(axes, (1, 3, 11), strict=True):
    draw(ax, KNeighborsRegressor(k).fit(X, y), f"k = {k}")
    if ax is not axes[0]:
        ax.get_legend().remove()
        ax.set_ylabel("")
plt.show()

# %%
# Which k?
# --------
# `KNeighborsRegressorCV` leaves out each row in turn, and scores every k from the same neighbours.

chosen = KNeighborsRegressorCV(k_max=19).fit(X, y)
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
ErrorCurveDisplay.from_estimator(chosen, ax=left)
left.set_title("Every k, from one search")
draw(right, chosen, f"k = {chosen.best_k_}, by leaving out each row")
plt.show()

# %%
# How far each is from the curve itself, on average over the interval:

for k in (1, chosen.best_k_, 11):
    away = KNeighborsRegressor(k).fit(X, y).predict(truth.X) - truth.y
    print(f"k = {k:2d}: root of the mean square {np.sqrt(np.mean(away**2)):.2f}")
