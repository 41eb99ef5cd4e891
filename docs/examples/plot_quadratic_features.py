"""
A line among squares is an ellipse
==================================

No line parts a disc from the ring around it. In the plane of the squared features (x₁², x₂²) a line does; taken
back to where the rows came from, it is an ellipse. A kernel does the same without making the features.

The idea is that of Example 7.8 and Figure 7.14 in Flach, *Machine Learning* (2012).
"""

# %%
# There and back
# --------------
# On the right are the squared features, with the lines of the basic linear classifier and of the perceptron; on the
# left the same lines where the rows came from. The perceptron makes no mistake on separable data; the bisector of
# the means may.

import matplotlib.pyplot as plt
import numpy as np

from bisector import (
    BasicLinearClassifier,
    KernelPerceptron,
    Perceptron,
    Polynomial,
    datasets,
    linear_separability,
)

# Colours that colour-blind readers can tell apart.
BLUE, GREEN, GREY = "#0072b2", "#009e73", "#6b6b6b"

X, y = datasets.disc_and_ring()
print("as they are: ", linear_separability(X, y).kind)
print("their squares:", linear_separability(X**2, y).kind)

# %%


def scatter(ax, rows, limits):
    for sign, color, marker in [(-1, GREY, "o"), (1, "black", "^")]:
        ax.scatter(*rows[y == sign].T, s=18, color=color, marker=marker, lw=0)
    ax.set(xlim=limits, ylim=limits, aspect="equal")
    ax.spines[["top", "right"]].set_visible(False)


def draw_boundary(ax, model, limits, color, style, power=1):
    """Draw where the score of points in the plane, or of their powers, is zero."""
    side = np.linspace(*limits, 300)
    points = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    height = model.decision_function(points**power).reshape(300, 300)
    ax.contour(side, side, height, [0], colors=color, linestyles=style, linewidths=2)


def title(names, models, rows):
    wrong = [(model.predict(rows) != y).sum() for model in models]
    return ", ".join(f"{name}: {n} wrong" for name, n in zip(names, wrong, strict=True))


basic = BasicLinearClassifier().fit(X**2, y)
perceptron = Perceptron(max_iter=10_000).fit(X**2, y)
fig, (here, there) = plt.subplots(1, 2, figsize=(9, 5.2), layout="constrained")
scatter(here, X, (-2.7, 2.7))
scatter(there, X**2, (-0.2, 6.5))
for model, color, style in [(basic, BLUE, "-"), (perceptron, GREEN, "--")]:
    draw_boundary(here, model, (-2.7, 2.7), color, style, power=2)
    draw_boundary(there, model, (-0.2, 6.5), color, style)
here.set(xlabel="x₁", ylabel="x₂", title="where the rows came from")
there.set(xlabel="x₁²", ylabel="x₂²", title="their squares")
names = ["basic linear classifier (solid)", "perceptron (dashed)"]
fig.suptitle(title(names, [basic, perceptron], X**2))
plt.show()

# %%
# Without making the features
# ---------------------------
# Both classifiers need only dot products of rows. With (x·z)² in their place they work in the space of squares and
# products (x₁², x₂², √2 x₁x₂), which is never written down.

kernel = Polynomial(2)
basic = BasicLinearClassifier(kernel=kernel).fit(X, y)
perceptron = KernelPerceptron(kernel).fit(X, y)
fig, ax = plt.subplots(figsize=(5.4, 5.2), layout="constrained")
scatter(ax, X, (-2.7, 2.7))
draw_boundary(ax, basic, (-2.7, 2.7), BLUE, "-")
draw_boundary(ax, perceptron, (-2.7, 2.7), GREEN, "--")
ax.set(xlabel="x₁", ylabel="x₂")
names = ["basic (solid)", "perceptron (dashed)"]
ax.set_title(title(names, [basic, perceptron], X), fontsize=10)
plt.show()

print(f"rows that the perceptron keeps: {len(perceptron.support_)} of {len(X)}")
