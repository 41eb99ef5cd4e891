"""
Bumps on rows, and a few bumps
==============================

A radial basis function is a bump that falls with the distance from its centre. Bumps on
all rows average the targets; bumps with fitted heights add up to them. Twenty noisy rows
of a curve show what each does (the pictures of *Learning From Data*, 6.3).
"""

# %%
# How wide?
# ---------
# `RBFRegressor` answers with the average of all targets, weighted by the heights of bumps
# of width r. A narrow bump repeats the nearest row, noise included; a wide one smooths the
# curve away. ``width="cv"`` leaves out each row in turn and takes the width that predicts
# it best.

import matplotlib.pyplot as plt
import numpy as np

from bisector import (
    DecisionRegionsDisplay,
    RBFNetworkClassifier,
    RBFNetworkRegressor,
    RBFRegressor,
    datasets,
)

BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "0.7"
X, y = datasets.noisy_curve(20, noise=0.2)
grid = np.linspace(X.min(), X.max(), 600)[:, None]
span = float(np.ptp(X))


def draw(ax, curve, title, *, color=BLUE):
    """Draw rows and a fitted curve."""
    ax.plot(X, y, "o", color="0.3", ms=4)
    ax.plot(grid, curve, color=color)
    ax.set(title=title, xticks=[], yticks=[])
    ax.set_ylim(y.min() - 0.6, y.max() + 0.6)


figure, axes = plt.subplots(1, 4, figsize=(10, 2.6), layout="constrained")
for ax, share in zip(axes[:3], (0.01, 0.05, 0.5), strict=True):
    model = RBFRegressor(share * span).fit(X, y)
    draw(ax, model.predict(grid), f"r = {share} of the range")
best = RBFRegressor("cv").fit(X, y)
draw(
    axes[3],
    best.predict(grid),
    f"cross-validated: {best.width_ / span:.2f}",
    color=ORANGE,
)

# %%
# Averages or sums
# ----------------
# On three rows the two kinds differ to the eye. The average is step-like, and keeps the
# last target beyond the rows. Bumps with heights of their own (``centers="all"``,
# ``alpha=0``) meet every target exactly, and fall to zero beyond them.

points, targets = np.array([[0.2], [0.5], [0.8]]), np.array([0.4, 0.9, 0.2])
line = np.linspace(-0.3, 1.3, 600)[:, None]
figure, axes = plt.subplots(2, 2, figsize=(7, 4.4), sharey=True, layout="constrained")
for j, width in enumerate((0.1, 0.3)):
    average = RBFRegressor(width).fit(points, targets)
    fitted = RBFNetworkRegressor(centers="all", width=width, alpha=0)
    fitted.fit(points, targets)
    for i, (model, name) in enumerate(((average, "average"), (fitted, "sum"))):
        axes[i, j].plot(line, model.predict(line), color=BLUE)
        if model is fitted:
            for centre, height in zip(points, fitted.coef_, strict=True):
                bump = height * np.exp(-0.5 * np.square((line - centre) / width))
                axes[i, j].plot(line, bump, color=GREY, lw=1)
        axes[i, j].plot(points, targets, "o", color=ORANGE)
        axes[i, j].set(title=f"{name}, r = {width}", xticks=[], yticks=[])
print("weights of the bumps:", fitted.coef_.round(3))

# %%
# A few bumps
# -----------
# `RBFNetworkRegressor` needs no bump on every row. Four, in the middle of equal groups of
# rows, follow the curve; ten without a penalty follow the noise, and a penalty on their
# heights calms them again. ``alpha="gcv"``, the default, finds its strength from the rows.

figure, axes = plt.subplots(1, 4, figsize=(10, 2.6), layout="constrained")
for ax, k, alpha in zip(axes, (4, 10, 10, 10), (0, 0, 0.05, "gcv"), strict=True):
    model = RBFNetworkRegressor(k, centers="groups", width=span / k, alpha=alpha)
    model.fit(X, y)
    title = f"k = {k}, α = {model.alpha_:.2g}"
    gcv = alpha == "gcv"
    draw(ax, model.predict(grid), title, color=ORANGE if gcv else BLUE)
    low = y.min() - 0.45
    ax.plot(model.centers_, np.full(k, low), "o", color=GREY, ms=7, clip_on=False)
    print(f"{title}: {model.degrees_of_freedom_:.1f} degrees of freedom")

# %%
# What is penalised
# -----------------
# The heights themselves, or the curvature of their sum: with a bump on every row, the
# second is the fit that Tikhonov's penalty on derivatives asks for, w = (G + αI)⁻¹y.

figure, axes = plt.subplots(1, 2, figsize=(7, 2.8), layout="constrained")
for ax, penalty in zip(axes, ("weights", "curvature"), strict=True):
    for alpha, color in ((1e-3, GREY), (0.1, BLUE), (10.0, ORANGE)):
        model = RBFNetworkRegressor(
            centers="all", width=0.1 * span, alpha=alpha, penalty=penalty
        ).fit(X, y)
        draw(ax, model.predict(grid), f"penalty on {penalty}", color=color)
        ax.lines[-1].set_label(f"α = {alpha:g}")
axes[1].legend(fontsize="small", frameon=False)
plt.show()

# %%
# Digits, from a few bumps
# ------------------------
# The digit 0 against all others, by intensity and symmetry: bumps with centres by k-means,
# few and many of them, and logistic output (Figure 6.12).

digits = datasets.digit_features(positive=0, n=500)
figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained", sharey=True)
for ax, k in zip(axes, (10, 60), strict=True):
    model = RBFNetworkClassifier(k, random_state=0).fit(*digits)
    DecisionRegionsDisplay.from_estimator(model, *digits, ax=ax)
    wrong = 1 - model.score(*digits)
    ax.set(title=f"{k} bumps: {wrong:.1%} wrong", xlabel="intensity", ylabel="symmetry")
plt.show()
