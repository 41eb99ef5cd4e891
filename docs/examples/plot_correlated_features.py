"""
What correlated features do to a fit, and what penalties do about it
====================================================================

When features are uncorrelated, a multivariate least-squares problem falls apart into univariate ones: each
coefficient can be found from its own feature alone (``decomposed=True``). When they are correlated, it does not.
Fitted one by one, each feature answers for the other as well; fitted together, the coefficients are right on
average and may be far off in any one sample. A penalty on their length gives up being right on average, for being
near in every sample.

Shows figure 7.3 of Flach's *Machine Learning*.
"""

# %%
# The same plane, seen through two samples
# ----------------------------------------
# The truth is y = x₁ + x₂ with some noise. In the first sample the features are uncorrelated; in the second they
# are strongly negatively correlated, so that x₁ + x₂ hardly varies.

import matplotlib.pyplot as plt
import numpy as np

from bisector import (
    CoefficientPathDisplay,
    ErrorCurveDisplay,
    Lasso,
    LinearRegression,
    Ridge,
    RidgeCV,
    datasets,
)

# Colours that colour-blind readers can tell apart.
BLUE, ORANGE, GREEN, GREY = "#0072b2", "#d55e00", "#009e73", "#6b6b6b"
FLOOR, CEILING = -5.5, 5.5


def title(correlation):
    return f"correlation {correlation:g}".replace("-", "−")


def draw_plane(ax, model, color):
    x1, x2 = np.meshgrid(*[np.linspace(-2.5, 2.5, 9)] * 2)
    height = model.predict(np.column_stack([x1.ravel(), x2.ravel()])).reshape(x1.shape)
    ax.plot_surface(x1, x2, height, color=color, alpha=0.35, edgecolor=color, lw=0.3)


fig = plt.figure(figsize=(9, 4.8))
for number, correlation in enumerate([0.0, -0.97], start=1):
    X, y = datasets.correlated_features(correlation=correlation, seed=1)
    ax = fig.add_subplot(1, 2, number, projection="3d")
    draw_plane(ax, LinearRegression(decomposed=True).fit(X, y), ORANGE)
    draw_plane(ax, LinearRegression().fit(X, y), BLUE)
    ax.scatter(*X.T, y, color="black", s=12, depthshade=False)
    ax.scatter(*X.T, FLOOR, color=GREY, s=6, alpha=0.6, depthshade=False)
    ax.set(xlabel="x₁", ylabel="x₂", zlabel="y", zlim=(FLOOR, CEILING))
    ax.set_title(title(correlation))
    ax.view_init(elev=18, azim=-68)
    ax.set_box_aspect((1, 1, 0.9), zoom=1.08)
dot = {"marker": "o", "ls": ""}
legend = {
    "fitted together": plt.Rectangle((0, 0), 1, 1, color=BLUE, alpha=0.5),
    "each feature alone": plt.Rectangle((0, 0), 1, 1, color=ORANGE, alpha=0.5),
    "the sample": plt.Line2D([], [], color="black", ms=4, **dot),
    "its features, on the floor": plt.Line2D([], [], color=GREY, ms=3, **dot),
}
fig.legend(legend.values(), legend, loc="lower center", ncols=4, frameon=False)
fig.subplots_adjust(left=0, right=0.97, top=0.93, bottom=0.1, wspace=0.02)
plt.show()

# %%
# On the left both planes are close to the truth. On the right the plane made of univariate fits is nearly flat:
# as x₁ grows, x₂ shrinks, and y hardly changes, so each feature by itself seems to have no effect.
#
# How the coefficients vary
# -------------------------
# One sample shows one plane. Three hundred samples of forty rows show how far the coefficients can be trusted:
# the truth is (1, 1).


def draw_coefficients(correlations, models, noise, limits):
    """Draw the coefficients that each model finds in three hundred samples."""
    fig, axes = plt.subplots(1, 2, figsize=(9, 4.6), layout="constrained", sharey=True)
    for ax, correlation in zip(axes, correlations, strict=True):
        samples = [
            datasets.correlated_features(
                correlation=correlation, noise=noise, seed=seed
            )
            for seed in range(300)
        ]
        for model, label, color, marker in models:
            b = np.array([model.fit(X, y).coef_ for X, y in samples])
            style = {"color": color, "marker": marker, "alpha": 0.45, "label": label}
            ax.scatter(*b.T, s=12, lw=0, **style)
        ax.plot(1, 1, "+", color="black", ms=14, mew=2, label="the truth")
        ax.set(xlim=limits, ylim=limits, aspect="equal")
        ax.set(xlabel="coefficient of x₁", title=title(correlation))
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("coefficient of x₂")
    handles = axes[0].get_legend_handles_labels()
    legend = fig.legend(*handles, loc="outside lower center", ncols=4, frameon=False)
    for dots in legend.legend_handles[:-1]:
        dots.set(sizes=[40], alpha=1)
    plt.show()


alone_and_together = [
    (LinearRegression(decomposed=True), "each feature alone", ORANGE, "^"),
    (LinearRegression(), "fitted together", BLUE, "o"),
]
draw_coefficients([0.0, -0.97], alone_and_together, noise=0.25, limits=(-0.3, 1.8))

# %%
# With uncorrelated features the univariate fits are right on average, but in a sample of forty rows the features
# happen to be correlated a little, and each coefficient takes over that share of the other's effect. With
# correlated features the univariate fits are wrong, and precisely so. The joint fits are right on average, and
# spread along the direction that the data say least about: where one coefficient is too high, so is the other,
# and x₁ + x₂, which hardly varies, cannot tell.
#
# The fit notices this from a single sample: the standard errors are several times what they would be without
# the correlation, and its summary says so.

LinearRegression().fit(X, y).summary(["x₁", "x₂"])

# %%
# What a penalty does
# -------------------
# Where features go together, the data know the sum of the coefficients and not their difference; where they oppose
# each other, the difference and not the sum.

penalties = [
    (LinearRegression(), "least squares", BLUE, "o"),
    (Lasso(alpha=0.1), "lasso", GREEN, "s"),
    (Ridge(alpha=5.0), "ridge", ORANGE, "^"),
]
draw_coefficients([0.97, -0.97], penalties, noise=0.8, limits=(-1.2, 3.2))

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
for (above, below), correlation in zip(axes.T, [0.97, -0.97], strict=True):
    X, y = datasets.correlated_features(correlation=correlation, noise=0.8, seed=7)
    chosen = RidgeCV(alphas=alphas).fit(X, y)
    CoefficientPathDisplay.from_estimator(chosen, names=["x₁", "x₂"], ax=above)
    above.axhline(1, color=GREY, lw=1, ls=":")
    above.set(xlabel="", title=title(correlation))
    ErrorCurveDisplay.from_estimator(chosen, ax=below)
    below.set(ylim=(0, None), title="")
plt.show()

# %%
# Where the features go together, too much penalty costs dearly. Where they oppose each other the error hardly
# moves: x₁ + x₂ does not vary in these rows, so that they cannot tell one penalty from another.
