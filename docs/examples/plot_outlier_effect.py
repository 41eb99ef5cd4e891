"""
Outliers pull lines, and boundaries too
=======================================

Least squares adds up squares, so that one far row counts as much as many near ones. In regression that tilts the
line; in classification it moves the boundary, even when the far row is on its right side, where nothing is wrong
with it.

The first picture is that of Figure 7.2 in Flach, *Machine Learning* (2012); the second draws the argument at the
beginning of section 7.2. (What a fit itself knows of such rows, their leverage, is in
:doc:`/gallery/least_squares_outlier`.)
"""

# %%
# One weight written down wrongly
# -------------------------------
# Ten people, one of whose weights is 10 kg too high. Ordinary least squares measures errors upwards; total least
# squares measures them at right angles to the line. Both are pulled: what is squared is squared.

import matplotlib.pyplot as plt
import numpy as np

from bisector import (
    BasicLinearClassifier,
    LeastSquaresClassifier,
    LinearRegression,
    LogisticRegression,
    TotalLeastSquares,
    datasets,
    linear_separability,
)

# Colours that colour-blind readers can tell apart.
BLUE, ORANGE, GREEN, PINK, GREY = "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#6b6b6b"

X, weight = datasets.height_weight()
_, mistaken = datasets.height_weight_outlier()
wrong = int(np.argmax(mistaken - weight))
at = np.array([[X.min() - 2], [X.max() + 2]])

fig, ax = plt.subplots(figsize=(7, 4.6), layout="constrained")
for model, name, color in [
    (LinearRegression(), "least squares", BLUE),
    (TotalLeastSquares(), "total least squares", ORANGE),
]:
    for y, style in [(weight, "-"), (mistaken, "--")]:
        line = model.fit(X, y)
        label = f"{name}: {line.coef_[0]:.2f} kg/cm"
        ax.plot(at, line.predict(at), style, color=color, lw=2, label=label)
ax.scatter(X, weight, color="black", s=34, zorder=3)
ax.scatter(X[wrong], mistaken[wrong], marker="D", s=46, color=GREY, zorder=3)
arrow = {"arrowstyle": "->", "color": GREY, "lw": 1.5}
tall, before, after = X[wrong, 0], weight[wrong], mistaken[wrong]
ax.annotate("", (tall, after - 0.6), (tall, before + 0.6), arrowprops=arrow)
ax.set(xlabel="height (cm)", ylabel="weight (kg)")
ax.set_title("One wrong value tilts the line (solid before, dashed after)")
ax.legend(frameon=False, loc="upper left", fontsize=9)
ax.spines[["top", "right"]].set_visible(False)
plt.show()

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
    "bisector of the means": (BasicLinearClassifier(), BLUE, "-"),
    "least squares": (LeastSquaresClassifier(), ORANGE, "--"),
    "logistic regression": (LogisticRegression(C=100.0), GREEN, "-."),
}


def draw_boundary(ax, weights, threshold, **style):
    """Draw where w·x = t, within the height of the picture."""
    up = np.array(ax.get_ylim())
    ax.plot((threshold - weights[1] * up) / weights[0], up, **style)


fig, axes = plt.subplots(
    1, 2, figsize=(9, 4.4), layout="constrained", width_ratios=[1, 2], sharey=True
)
for ax, rows, title in [(axes[0], near, "as it was"), (axes[1], far, "moved away")]:
    for sign, color, marker in [(-1, GREY, "o"), (1, "black", "^")]:
        ax.scatter(*rows[y == sign].T, s=20, color=color, marker=marker)
    ax.set(xlim=(rows[:, 0].min() - 1, rows[:, 0].max() + 1), ylim=(-3.5, 4))
    missed = []
    for name, (model, color, style) in models.items():
        fitted = model.fit(rows, y)
        missed.append(int((fitted.predict(rows) != y).sum()))
        line = {"color": color, "ls": style, "lw": 2, "label": name}
        draw_boundary(ax, fitted.weights_, fitted.threshold_, **line)
    found = linear_separability(rows, y)
    line = {"color": PINK, "ls": ":", "lw": 2, "label": "linear_separability"}
    draw_boundary(ax, found.weights, found.threshold, **line)
    ax.set_title(f"{title}: {', '.join(map(str, missed))} wrong")
    ax.spines[["top", "right"]].set_visible(False)
handles = axes[0].get_legend_handles_labels()
fig.legend(*handles, loc="outside lower center", ncols=4, frameon=False)
plt.show()

print(linear_separability(far, y))
