"""
Three ways to draw a line between two classes
=============================================

The basic linear classifier looks at the means of the classes, the least-squares classifier at means and spread, and
the perceptron at the mistakes it makes. On the same data they draw three different lines.

The idea is that of Figure 7.6 in Flach, *Machine Learning* (2012).
"""

# %%
# A hundred positives, fifty negatives
# ------------------------------------
# The classes lie along a line, the smaller one close to it, the larger one reaching far. The bisector of the means
# (circles) does not see their shape. Least squares does, but what lies far on its right side pulls the line along.
# The perceptron walks from row to row until no row is on the wrong side; which of the many lines without a mistake
# it ends at is a matter of the order of rows.

import matplotlib.pyplot as plt
import numpy as np

from bisector import (
    BasicLinearClassifier,
    LeastSquaresClassifier,
    Perceptron,
    linear_separability,
)

# Colours that colour-blind readers can tell apart.
BLUE, ORANGE, GREEN, GREY = "#0072b2", "#d55e00", "#009e73", "#6b6b6b"

rng = np.random.default_rng(0)
along, across = np.array([1.0, -0.5]), np.array([0.5, 1.0])


def draw_class(n, depth):
    """Draw rows from 0.1 beyond the line between the classes on."""
    steps = rng.normal(0, 1.4, n)[:, None] * along
    return (
        steps
        + np.sign(depth) * (0.1 + rng.exponential(abs(depth), n))[:, None] * across
    )


X = np.vstack([draw_class(50, -0.3), draw_class(100, 1.0)])
y = np.repeat([-1, 1], [50, 100])
print(linear_separability(X, y))

# %%


def draw(ax, models):
    """Draw the rows, the means, and where each model has its boundary."""
    for sign, color, marker in [(-1, GREY, "o"), (1, "black", "^")]:
        ax.scatter(*X[y == sign].T, s=14, color=color, marker=marker, alpha=0.7, lw=0)
        ax.plot(*X[y == sign].mean(axis=0), "o", ms=9, mfc="white", mec=color, mew=2)
    ax.set(xlim=(-5.5, 6.5), ylim=(-3, 4.5), aspect="equal", xticks=[], yticks=[])
    right = np.array(ax.get_xlim())
    for name, (model, color, style) in models.items():
        fitted = model.fit(X, y)
        w, t = fitted.weights_, fitted.threshold_
        label = f"{name}: {(fitted.predict(X) != y).sum()} wrong"
        ax.plot(right, (t - w[0] * right) / w[1], style, color=color, lw=2, label=label)
    ax.legend(frameon=False, loc="lower left", fontsize=9)


fig, ax = plt.subplots(figsize=(8, 4.9), layout="constrained")
models = {
    "basic linear classifier": (BasicLinearClassifier(), BLUE, "-"),
    "least squares": (LeastSquaresClassifier(), ORANGE, "--"),
    "perceptron": (Perceptron(), GREEN, "-."),
}
draw(ax, models)
plt.show()

# %%
# What least squares is told about the features
# ---------------------------------------------
# The least-squares classifier is w = M⁻¹(n₊μ₊ − n₋μ₋). The matrix M may hold how the features vary together, how
# each varies by itself, or nothing: then w points from mean to mean, and with the threshold halfway between them it
# is the basic linear classifier. The threshold is a choice of its own.

STYLES = [(ORANGE, "--"), (GREEN, "-."), (BLUE, "-")]
by_matrix = {
    name: (LeastSquaresClassifier(covariance=name), *style)
    for name, style in zip(["full", "diagonal", "identity"], STYLES, strict=True)
}
by_threshold = {
    name: (LeastSquaresClassifier(threshold=name), *style)
    for name, style in zip(
        ["intercept", "midpoint", "training-error"], STYLES, strict=True
    )
}
fig, axes = plt.subplots(1, 2, figsize=(9.6, 3.6), layout="constrained")
draw(axes[0], by_matrix)
axes[0].set_title("covariance=…")
draw(axes[1], by_threshold)
axes[1].set_title("threshold=…")
plt.show()
