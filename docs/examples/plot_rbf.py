"""
Bumps on rows, and a few bumps
==============================

A radial basis function is a bump that falls with the distance from its centre. Bumps on
all rows average the targets; bumps with fitted heights add up to them. Twenty noisy rows
of a curve show what each does.

Shows figures 6.8, 6.9, 6.10, 6.11 and 6.12 of *Learning From Data*.
"""

# %%
# How wide?
# ---------
# `RBFRegressor` answers with the average of all targets, weighted by the heights of bumps
# of width r. A narrow bump repeats the nearest row, noise included; a wide one smooths the
# curve away. ``width="cv"`` leaves out each row in turn and takes the width that predicts
# it best. The broad grey curve is the one the rows came from.

import matplotlib.pyplot as plt
import numpy as np

from bisector import (
    DecisionRegionsDisplay,
    GaussianBump,
    RBFNetworkClassifier,
    RBFNetworkRegressor,
    RBFRegressor,
    RegressionDisplay,
    datasets,
)

BLUE, ORANGE, GREEN, GREY = "#0072b2", "#d55e00", "#009e73", "0.6"
X, y = datasets.noisy_curve(20, noise=0.3)
truth = datasets.noisy_curve(400, noise=0)
span = float(np.ptp(X))


def draw(ax, model, title):
    """Draw rows and a fitted curve, above the curve that the rows came from."""
    ax.plot(truth.X, truth.y, color=GREY, lw=5, alpha=0.4)
    RegressionDisplay.from_estimator(
        model.fit(X, y), X, y, marks=False, resolution=600, ax=ax
    )
    ax.set(title=title, xlabel="", ylabel="", xticks=[], yticks=[])
    ax.set_ylim(y.min() - 0.6, y.max() + 0.6)


figure, axes = plt.subplots(1, 4, figsize=(11, 2.8), layout="constrained")
for ax, share in zip(axes[:3], (0.01, 0.05, 0.5), strict=True):
    draw(ax, RBFRegressor(share * span), f"r = {share} of the range")
best = RBFRegressor("cv").fit(X, y)
draw(axes[3], best, f"cross-validated: r = {best.width_ / span:.2f}")
plt.show()

# %%
# Two ways to see one answer
# --------------------------
# On the left one bump stands at the query x; its height at each row is the weight of that
# row's target, and the answer is the weighted average. On the right a bump stands on every
# row, as high as its target over the sum of all weights; the answer is the sum of what
# they reach at x. It is the same number, the star.

places = np.array([0.12, 0.3, 0.47, 0.72, 0.9])
heights = np.array([0.35, 0.75, 0.95, 0.5, 0.25])
width, query = 0.13, 0.4
line = np.linspace(0, 1, 400)
answer = RBFRegressor(width).fit(places[:, None], heights).predict([[query]])
bump = GaussianBump()
weights = bump(abs(places - query) / width)

figure, (left, right) = plt.subplots(
    1, 2, figsize=(9.6, 3.6), layout="constrained", sharey=True
)
left.fill_between(line, bump(abs(line - query) / width), color=BLUE, alpha=0.15, lw=0)
left.vlines(places, 0, weights, color=BLUE, lw=3, label="weight of the row")
left.set_title("one bump at the query: a weighted average")
for place, height in zip(places, heights / weights.sum(), strict=True):
    each = height * bump(abs(line - place) / width)
    right.plot(line, each, color=GREY, lw=1.2)
adds = heights / weights.sum() * weights
right.plot(
    np.full(5, query),
    adds,
    "_",
    color=BLUE,
    ms=11,
    mew=3,
    label="what its bump adds at x",
)
right.set_title("a bump on every row: a sum")
for ax in (left, right):
    ax.axvline(query, color=GREY, ls=":", lw=1)
    ax.plot(places, heights, "o", color=ORANGE, label="row and its target")
    ax.plot(query, answer, "*", color=GREEN, ms=14, label=f"answer {answer[0]:.2f}")
    ax.set(xticks=[query], xticklabels=["x"], ylim=(0, 1.15))
    ax.legend(loc="upper right", fontsize="small", frameon=False)
plt.show()
print("as a sum:", adds.round(3), "=", adds.sum().round(3))

# %%
# Averages or sums
# ----------------
# If heights do not depend on the query, the two kinds part ways; on three rows it is seen
# with the eye. The average is step-like, and keeps the last target beyond the rows. Bumps
# with heights of their own (``centers="all"``, ``alpha=0``; in grey) meet every target
# exactly, and fall to zero beyond them.

points, targets = np.array([[0.2], [0.5], [0.8]]), np.array([0.4, 0.9, 0.2])
line = np.linspace(-0.3, 1.3, 600)[:, None]
figure, axes = plt.subplots(2, 2, figsize=(8, 4.8), sharey=True, layout="constrained")
for j, width in enumerate((0.1, 0.3)):
    average = RBFRegressor(width).fit(points, targets)
    fitted = RBFNetworkRegressor(centers="all", width=width, alpha=0)
    fitted.fit(points, targets)
    for i, (model, name) in enumerate(((average, "average"), (fitted, "sum"))):
        if model is fitted:
            for centre, height in zip(points, fitted.coef_, strict=True):
                each = height * bump(abs(line - centre) / width)
                axes[i, j].plot(line, each, color=GREY, lw=1)
        axes[i, j].plot(line, model.predict(line), color=BLUE)
        axes[i, j].plot(points, targets, "o", color=ORANGE)
        axes[i, j].axhline(0, color=GREY, lw=0.6)
        axes[i, j].set(title=f"{name}, r = {width}", xticks=[], yticks=[])
plt.show()
print("heights of the bumps:", fitted.coef_.round(3))

# %%
# A few bumps
# -----------
# `RBFNetworkRegressor` needs no bump on every row. Four, in the middle of equal groups of
# rows (the discs below), follow the curve; ten without a penalty follow the noise, and a
# penalty on their heights calms them again. ``alpha="gcv"``, the default, finds its
# strength from the rows.

figure, axes = plt.subplots(1, 4, figsize=(11, 2.8), layout="constrained")
for ax, k, alpha in zip(axes, (4, 10, 10, 10), (0, 0, 0.05, "gcv"), strict=True):
    model = RBFNetworkRegressor(k, centers="groups", width=span / k, alpha=alpha)
    model.fit(X, y)
    chosen = ", chosen" if alpha == "gcv" else ""
    title = f"k = {k}, α = {model.alpha_:.2g}{chosen}"
    draw(ax, model, title)
    low = y.min() - 0.45
    ax.plot(model.centers_, np.full(k, low), "o", color=GREY, ms=7, clip_on=False)
    print(f"{title}: {model.degrees_of_freedom_:.1f} degrees of freedom")
plt.show()

# %%
# What is penalised
# -----------------
# The heights themselves, or the curvature of their sum: with a bump on every row, the
# second is the fit that Tikhonov's penalty on derivatives asks for, w = (G + αI)⁻¹y.

grid = np.linspace(X.min(), X.max(), 600)[:, None]
figure, axes = plt.subplots(1, 2, figsize=(8, 3), layout="constrained", sharey=True)
for ax, penalty in zip(axes, ("weights", "curvature"), strict=True):
    ax.plot(X, y, "o", color=GREY, ms=4)
    looks = [(1e-3, GREY, "-"), (0.1, BLUE, "--"), (10.0, ORANGE, "-.")]
    for alpha, colour, dash in looks:
        model = RBFNetworkRegressor(
            centers="all", width=0.1 * span, alpha=alpha, penalty=penalty
        ).fit(X, y)
        ax.plot(grid, model.predict(grid), dash, color=colour, label=f"α = {alpha:g}")
    ax.set(title=f"penalty on {penalty}", xticks=[], yticks=[])
axes[1].legend(fontsize="small", frameon=False)
plt.show()

# %%
# Digits, from a few bumps and from many
# --------------------------------------
# The digit 0 against all others, by intensity and symmetry: 500 images, bumps around
# centres by k-means, weights by least squares. Ten bumps make a plain boundary; three
# hundred without a penalty draw islands and pay for it on the other images. With a penalty
# that the rows choose, as many bumps do little harm.

everything = datasets.digit_features(positive=0)
mixed = np.random.default_rng(0).permutation(len(everything.y))
known, others = mixed[:500], mixed[500:]
digits = everything.X[known], everything.y[known]
figure, axes = plt.subplots(1, 3, figsize=(12, 4), layout="constrained", sharey=True)
for ax, k, alpha in zip(axes, (10, 300, 300), (0, 0, "gcv"), strict=True):
    model = RBFNetworkClassifier(k, alpha=alpha, random_state=0).fit(*digits)
    shown = DecisionRegionsDisplay.from_estimator(model, *digits, ax=ax)
    inside, outside = (
        1 - model.score(everything.X[rows], everything.y[rows])
        for rows in (known, others)
    )
    penalty = "no penalty" if alpha == 0 else "a chosen penalty"
    ax.set(xlabel="intensity", ylabel="symmetry" if ax is axes[0] else "")
    ax.set_title(f"{k} bumps, {penalty}\n{inside:.1%} wrong, others {outside:.1%}")
    if ax is not axes[-1]:
        ax.get_legend().remove()
plt.show()
