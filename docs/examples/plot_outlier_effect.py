"""
Outliers pull lines, and boundaries too
=======================================

Least squares adds up squares, so that one far row counts as much as many near ones. In regression that tilts the
line; in classification it moves the boundary, even when the far rows are on their right side, where nothing is
wrong with them.

Shows figure 7.2 and example 7.2 of Flach's *Machine Learning*; the last picture is the argument that begins its
section 7.2.
"""

# %%
# One weight written down wrongly
# -------------------------------
# Ten people, and then the same with the weight of the tallest raised by 10 kg. Least squares measures errors
# upwards, total least squares at right angles to the line.

import matplotlib.pyplot as plt
import numpy as np

from bisector import (
    BasicLinearClassifier,
    BoundaryDisplay,
    LeastSquaresClassifier,
    LinearRegression,
    LogisticRegression,
    TotalLeastSquares,
    datasets,
    linear_separability,
)

# Colours that colour-blind readers can tell apart.
BLUE, ORANGE, PINK, GREY = "#0072b2", "#d55e00", "#cc79a7", "#6b6b6b"

X, weight = datasets.height_weight()
_, mistaken = datasets.height_weight_outlier()
height, wrong = X[:, 0], int(np.argmax(mistaken - weight))
clean, pulled = LinearRegression().fit(X, weight), LinearRegression().fit(X, mistaken)

at = np.linspace(height.min() - 2, height.max() + 2, 100)[:, None]
low, high = clean.predict_interval(at, kind="mean").T
arrow = {"arrowstyle": "->", "color": GREY, "lw": 1.5}
fig, axes = plt.subplots(1, 2, figsize=(9, 4.6), layout="constrained", sharey=True)
for ax, model, name in [
    (axes[0], LinearRegression(), "least squares"),
    (axes[1], TotalLeastSquares(), "total least squares"),
]:
    for y, style, color in [(weight, "-", BLUE), (mistaken, "--", ORANGE)]:
        line = model.fit(X, y)
        label = f"{'as measured' if y is weight else 'one outlier'}: {line.coef_[0]:.2f} kg/cm"
        ax.plot(at, line.predict(at), style, color=color, lw=2, label=label)
    ax.scatter(height, weight, color=BLUE, s=36, zorder=3)
    ax.scatter(height[wrong], mistaken[wrong], marker="D", s=46, color=ORANGE, zorder=3)
    ends = (height[wrong], mistaken[wrong] - 0.8), (height[wrong], weight[wrong] + 0.8)
    ax.annotate("", *ends, arrowprops=arrow)
    ax.text(
        height[wrong] - 1,
        mistaken[wrong],
        "10 kg too high",
        color=GREY,
        ha="right",
        va="center",
    )
    ax.set(xlabel="height (cm)", title=name)
    ax.spines[["top", "right"]].set_visible(False)
band = axes[0].fill_between(at[:, 0], low, high, color=BLUE, alpha=0.15, lw=0)
band.set_label("95 % interval for the mean")
axes[0].set_ylabel("weight (kg)")
for ax in axes:
    ax.legend(frameon=False, loc="upper left")
plt.show()

# %%
# The line is tilted towards the wrong value, everywhere: predictions for short people become too low, although
# nothing was changed there. Both ways of measuring are pulled: what is squared is squared.
#
# Which person's mistake would matter most?
# -----------------------------------------
# A row's leverage is the share of a change in its own target that its own prediction follows: raise one weight
# by 10 kg, and the line at that person's height rises by 10 kg times the leverage. The fit knows this without
# trying; refitting ten times shows that it is exactly so.

raised = weight + 10 * np.eye(len(weight))  # in row i, person i's weight is raised
refits = [LinearRegression().fit(X, y).predict(X) for y in raised]
follows = np.diagonal(refits) - clean.predict(X)

fig, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
bars = ax.bar(height, 10 * clean.leverage_, width=0.8, color="#a6cde6")
dots = ax.scatter(height, follows, color=ORANGE, marker="D", s=36, zorder=3)
mean = ax.axvline(height.mean(), color=GREY, lw=1, ls=":", zorder=0)
labels = ["10 kg × leverage_", "by refitting", "mean height"]
ax.legend([bars, dots, mean], labels, frameon=False, loc=(0.17, 0.7))
ax.set(xlabel="height of the person whose weight is raised (cm)")
ax.set(ylabel="the line there rises by (kg)")
ax.set_title("A mistake far from the mean pulls hardest")
ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# What the summary says
# ---------------------
# Little: the standard error of the slope grows, but the slope is still far from zero. A least-squares fit does not
# tell an outlier by itself; look at the data, and at the leverage.

before, after = clean.standard_errors_[1], pulled.standard_errors_[1]
print(f"standard error of the slope: {before:.3f} before, {after:.3f} after")
pulled.summary(["height"])

# %%
# Rows that are too right
# -----------------------
# On the left, all four boundaries have every row on its side. On the right all positive rows but one have moved
# away from the other class, as far on their right side as one could wish. There is still a line in between, and
# ``linear_separability`` proves it. But the mean of the positives has gone along with them, and the bisector with
# the mean; least squares does not like scores above 1 either. Logistic regression does not mind them.

rng = np.random.default_rng(3)
negatives = rng.normal([-2.2, 0.0], [0.7, 1.0], size=(20, 2))
positives = rng.normal([2.2, 0.0], [0.7, 1.0], size=(20, 2))
positives[0] = [0.6, -0.4]
y = np.repeat([-1, 1], 20)
near = np.vstack([negatives, positives])
far = near.copy()
far[21:] += [9.0, 1.5]

models = {
    "bisector of the means": BasicLinearClassifier(),
    "least squares": LeastSquaresClassifier(),
    "logistic regression": LogisticRegression(C=100.0),
}
fig, axes = plt.subplots(2, 1, figsize=(8.4, 5.6), layout="constrained", sharex=True)
for ax, rows, title in [(axes[0], near, "as it was"), (axes[1], far, "moved away")]:
    fitted = {name: model.fit(rows, y) for name, model in models.items()}
    room = (-5, 13.5), (-3.5, 4)
    BoundaryDisplay.from_estimator(fitted, rows, y, limits=room, ax=ax)
    found = linear_separability(rows, y)
    w, foot = (
        found.weights,
        found.weights * found.threshold / (found.weights @ found.weights),
    )
    style = {"color": PINK, "ls": "-.", "lw": 2, "label": "linear_separability"}
    ax.axline(foot, foot + [-w[1], w[0]], **style)
    ax.set_title(title)
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    ax.label_outer()
plt.show()

print(linear_separability(far, y))
