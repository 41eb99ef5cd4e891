"""
Regions of nearest neighbours
=============================

A query takes the class of the nearest row, or of the majority among a few. What regions that makes is shown here on
digits, on seven points and on two half-moons.

Shows figures 6.1, 6.2, 6.5 and 6.6 and problems 6.1 and 6.4 of *Learning From Data*.
Shows figures 8.9 and 8.10 of Flach's *Machine Learning*.
"""

# %%
# A cell for each row
# -------------------
# With one neighbour, every row owns a cell, and a class the union of its cells: the boundary consists of pieces
# of bisectors.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from bisector import (
    DecisionRegionsDisplay,
    KNeighborsClassifier,
    LeastSquaresClassifier,
    VoronoiDisplay,
    datasets,
)

rng = np.random.default_rng(2)
X = rng.random((24, 2))
y = np.where(X[:, 1] > 0.5 + 0.3 * np.sin(6 * X[:, 0]), 1, -1)
fig, ax = plt.subplots(figsize=(5.4, 5), layout="constrained")
VoronoiDisplay.from_exemplars(X, labels=y, limits=((0, 1), (0, 1)), ax=ax)
ax.set_title("Nearest of 24 rows, of two classes")
plt.show()

# %%
# Flexible and rigid
# ------------------
# The same rows. The boundary of nearest neighbours bends wherever rows ask for it. That of a linear model is a
# line, whatever the rows.

models = {"1-NN": KNeighborsClassifier(1), "least squares": LeastSquaresClassifier()}
fig, axes = plt.subplots(1, 2, figsize=(8.6, 4), layout="constrained", sharey=True)
for ax, (name, model) in zip(axes, models.items(), strict=True):
    DecisionRegionsDisplay.from_estimator(
        model.fit(X, y), X, y, probabilities=False, limits=((0, 1), (0, 1)), ax=ax
    )
    wrong = np.sum(model.predict(X) != y)
    ax.set(title=f"{name}: {wrong} of 24 wrong", aspect="equal")
    ax.label_outer()
axes[0].get_legend().remove()
plt.show()

# %%
# Digits by intensity and symmetry
# --------------------------------
# Zeros against all others, 500 images. One neighbour errs in sample only where two images fall on the same
# place, and draws islands around stray rows. Of 21, most votes count; shading is the share of them, and pale is
# unsure.

X, y = datasets.digit_features(positive=0, n=500)
fig, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained", sharey=True)
for ax, k in zip(axes, (1, 21), strict=True):
    model = KNeighborsClassifier(k).fit(X, y)
    DecisionRegionsDisplay.from_estimator(model, X, y, ax=ax)
    wrong = np.mean(model.predict(X) != y)
    ax.set(xlabel="intensity", ylabel="symmetry", title=f"{k}-NN: {wrong:.1%} wrong")
    ax.label_outer()
axes[0].get_legend().remove()
plt.show()

# %%
# Ten digits at once
# ------------------
# Nothing changes for more classes: the most votes win. Features are in equal units here. Two features
# cannot tell ten digits apart, and the shading says so: it is nearly white but where zeros are.

X, y = datasets.digit_features(n=500)
model = make_pipeline(StandardScaler(), KNeighborsClassifier(21)).fit(X, y)
fig, axes = plt.subplots(
    1, 2, figsize=(12, 4.6), layout="constrained", sharex=True, sharey=True
)
shown = DecisionRegionsDisplay.from_estimator(model, X, y, ax=axes[1])
for digit, dots in enumerate(shown.points_):
    look = {"marker": f"${digit}$", "color": dots.get_facecolor()[0], "ms": 6}
    axes[0].plot(*X[y == digit].T, ls="none", **look)
    dots.remove()
for line in shown.boundaries_:
    line.set(linewidth=0.6)
axes[0].set(xlabel="intensity", ylabel="symmetry", title="500 digits")
axes[1].set(xlabel="intensity", ylabel="")
axes[1].set_title(f"21-NN: {np.mean(model.predict(X) != y):.0%} wrong in sample")
plt.show()

# %%
# Probabilities of five classes
# -----------------------------
# The shares of the votes are probabilities. More neighbours make more different shares, and smoother ones
# (above); weighting votes by distance leaves a class sure of the surroundings of its own rows, however many
# vote (below).

centres = np.array([[0, 0], [3, 0.4], [1.4, 2.6], [4.4, 3], [-1, 3.2]])
X = np.repeat(centres, 5, axis=0) + np.random.default_rng(5).normal(0, 0.9, (25, 2))
y = np.repeat(list("ABCDE"), 5)
fig, axes = plt.subplots(2, 3, figsize=(11, 7), layout="constrained")
for line, weights in zip(axes, ["uniform", "distance"], strict=True):
    for ax, k in zip(line, [3, 5, 7], strict=True):
        model = KNeighborsClassifier(k, weights=weights).fit(X, y)
        DecisionRegionsDisplay.from_estimator(model, X, y, ax=ax)
        ax.set(title=f"{k}-NN, {weights} weights", xlabel="", ylabel="")
        if ax is not axes[0, -1]:
            ax.get_legend().remove()
plt.show()

# %%
# Seven points, and the same in other coordinates
# -----------------------------------------------
# The rules of one and of three neighbours, in the plane and in polar coordinates (√(x₁² + x₂²), arctan(x₂/x₁)).
# There the distance from the origin is one coordinate, and the classes are nearly a matter of it; but the
# angle, which repeats itself after half a turn, has a say as well.


def polar(rows):
    """Return the distance from the origin, and the angle as the problem defines it."""
    with np.errstate(divide="ignore"):
        return np.column_stack([np.hypot(*rows.T), np.arctan(rows[:, 1] / rows[:, 0])])


X, y = datasets.seven_points()
fig, axes = plt.subplots(2, 2, figsize=(8.4, 7), layout="constrained")
for column, k in enumerate([1, 3]):
    plain = KNeighborsClassifier(k).fit(X, y)
    turned = make_pipeline(FunctionTransformer(polar), KNeighborsClassifier(k)).fit(
        X, y
    )
    for ax, model, name in [
        (axes[0, column], plain, "as they are"),
        (axes[1, column], turned, "in polar coordinates"),
    ]:
        DecisionRegionsDisplay.from_estimator(
            model, X, y, probabilities=False, limits=((-3, 3), (-3, 3)), ax=ax
        )
        ax.set(title=f"{k}-NN, {name}", aspect="equal")
        ax.label_outer()
        if ax is not axes[0, 1]:
            ax.get_legend().remove()
plt.show()

# %%
# Two half-moons
# --------------
# A line could part them; neighbours follow their shape instead, and three of them hardly otherwise
# than one, since the classes do not overlap.

X, y = datasets.double_semicircle(600)
fig, axes = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained", sharey=True)
for ax, k in zip(axes, [1, 3], strict=True):
    model = KNeighborsClassifier(k).fit(X, y)
    DecisionRegionsDisplay.from_estimator(model, X, y, probabilities=False, ax=ax)
    ax.set(title=f"{k}-NN", aspect="equal")
    ax.label_outer()
axes[0].get_legend().remove()
plt.show()
