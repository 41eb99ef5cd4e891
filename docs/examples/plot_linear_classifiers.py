"""
Three ways to draw a line between two classes
=============================================

The basic linear classifier looks at the means of the classes, the least-squares classifier at means and spread, and
the perceptron at the mistakes it makes. On the same data they draw three different lines.

Shows figure 7.6 of Flach's *Machine Learning*.
"""

# %%
# A hundred positives, fifty negatives
# ------------------------------------
# The classes lie along a line, the smaller one close to it, the larger one reaching far. The bisector of the means
# (rings) does not see their shape. Least squares does, but what lies far on its right side pulls the line along.
# The perceptron walks from row to row until no row is on the wrong side; which of the many lines without a mistake
# it ends at is a matter of the order of rows.

import matplotlib.pyplot as plt
import numpy as np

from bisector import (
    BasicLinearClassifier,
    BoundaryDisplay,
    LeastSquaresClassifier,
    Perceptron,
    linear_separability,
)

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
    """Draw the rows, the means of the classes, and where each model has its boundary."""
    fitted = {name: model.fit(X, y) for name, model in models.items()}
    room = (-5.5, 6.5), (-3, 4.5)
    BoundaryDisplay.from_estimator(fitted, X, y, limits=room, ax=ax)
    for sign in (-1, 1):
        ring = {"ms": 10, "mfc": "none", "mec": "black", "mew": 2, "zorder": 4}
        ax.plot(*X[y == sign].mean(axis=0), "o", **ring)
    ax.set(aspect="equal")


fig, ax = plt.subplots(figsize=(9.6, 4.4), layout="compressed")
draw(
    ax,
    {
        "basic linear classifier": BasicLinearClassifier(),
        "least squares": LeastSquaresClassifier(),
        "perceptron": Perceptron(),
    },
)
plt.show()

# %%
# What least squares is told about the features
# ---------------------------------------------
# The least-squares classifier is w = M⁻¹(n₊μ₊ − n₋μ₋). The matrix M may hold how the features vary together, how
# each varies by itself, or nothing: then w points from mean to mean, and with the threshold halfway between them it
# is the basic linear classifier. The threshold is a choice of its own.

matrices = ["full", "diagonal", "identity"]
thresholds = ["intercept", "midpoint", "training-error"]
fig, axes = plt.subplots(2, 1, figsize=(8.4, 7.4), layout="compressed", sharex=True)
draw(axes[0], {name: LeastSquaresClassifier(covariance=name) for name in matrices})
axes[0].set_title("covariance=…")
draw(axes[1], {name: LeastSquaresClassifier(threshold=name) for name in thresholds})
axes[1].set_title("threshold=…")
for ax in axes:
    ax.label_outer()
plt.show()
