"""
What a penalty does to correlated features
==========================================

Strongly correlated features share their effect in a way that the data hardly determine. Least squares is right on
average, and far off in any one sample. A penalty on the length of the coefficients gives up being right on average,
for being near in every sample.

The data are those of Figure 7.3 in Flach, *Machine Learning* (2012); its planes are in
:doc:`/gallery/least_squares_correlated_features`.
"""

# %%
# Coefficients from three hundred samples
# ---------------------------------------
# The truth is y = x₁ + x₂ with some noise, so that the coefficients should be (1, 1). Where the features go
# together, the data know the sum of the coefficients and not their difference; where they oppose each other, the
# difference and not the sum.

import matplotlib.pyplot as plt
import numpy as np

from bisector import Lasso, LinearRegression, Ridge, RidgeCV, datasets

# Colours that colour-blind readers can tell apart.
BLUE, ORANGE, GREEN, GREY = "#0072b2", "#d55e00", "#009e73", "#6b6b6b"
CORRELATIONS = 0.97, -0.97

models = [
    (LinearRegression(), "least squares", BLUE, "o"),
    (Lasso(alpha=0.1), "lasso", GREEN, "s"),
    (Ridge(alpha=5.0), "ridge", ORANGE, "^"),
]
fig, axes = plt.subplots(1, 2, figsize=(9, 4.6), layout="constrained", sharey=True)
for ax, correlation in zip(axes, CORRELATIONS, strict=True):
    samples = [
        datasets.correlated_features(40, correlation=correlation, noise=0.8, seed=seed)
        for seed in range(300)
    ]
    for model, label, color, marker in models:
        b = np.array([model.fit(X, y).coef_ for X, y in samples])
        ax.scatter(*b.T, s=12, color=color, marker=marker, alpha=0.5, lw=0, label=label)
    ax.plot(1, 1, "+", color="black", ms=14, mew=2, label="the truth")
    ax.set(xlim=(-1.2, 3.2), ylim=(-1.2, 3.2), aspect="equal")
    ax.set(
        xlabel="coefficient of x₁",
        title=f"correlation {correlation:g}".replace("-", "−"),
    )
    ax.spines[["top", "right"]].set_visible(False)
axes[0].set_ylabel("coefficient of x₂")
handles = axes[0].get_legend_handles_labels()
fig.legend(*handles, loc="outside lower center", ncols=4, frameon=False)
plt.show()

# %%
# On the left the penalty is a blessing: (1, 1) is the shortest pair with the right sum, and ridge regression is
# near it in every sample. The lasso counts absolute values, for which (2, 0) is as short as (1, 1), and drops one
# of the two now and then. On the right both are misled: what the penalty holds back is the sum itself, which the
# data say little about, and which is the truth.
#
# How much penalty?
# -----------------
# Rows left out decide. ``RidgeCV`` has the exact error at every row left out, for every penalty, from one
# factorisation; the path of the coefficients comes with it.

alphas = np.geomspace(1e-2, 1e3, 100)
fig, axes = plt.subplots(
    2, 2, figsize=(9, 5.4), layout="constrained", sharex=True, sharey="row"
)
for (above, below), correlation in zip(axes.T, CORRELATIONS, strict=True):
    X, y = datasets.correlated_features(40, correlation=correlation, noise=0.8, seed=7)
    chosen = RidgeCV(alphas=alphas).fit(X, y)
    above.plot(alphas, chosen.coef_path_[:, 0], color=BLUE, lw=2, label="x₁")
    above.plot(alphas, chosen.coef_path_[:, 1], "--", color=ORANGE, lw=2, label="x₂")
    above.axhline(1, color=GREY, lw=1, ls=":")
    below.plot(alphas, chosen.leave_one_out_errors_, color="black", lw=2)
    for ax in (above, below):
        ax.axvline(chosen.alpha_, color=GREY, lw=1)
        ax.spines[["top", "right"]].set_visible(False)
    above.set(xscale="log", title=f"correlation {correlation:g}".replace("-", "−"))
    below.set(xlabel="penalty α", ylim=(0, None))
    above.text(chosen.alpha_ * 1.2, 0.05, f"α = {chosen.alpha_:.2g}", color=GREY)
axes[0, 0].set_ylabel("coefficients")
axes[0, 0].legend(frameon=False, loc="center left")
axes[1, 0].set_ylabel("error at rows left out")
plt.show()
