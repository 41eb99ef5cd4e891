"""
Correlated features, fitted together and one by one
===================================================

When features are uncorrelated, a multivariate least-squares problem falls apart into univariate ones: each
coefficient can be found from its own feature alone (``decomposed=True``). When they are correlated it does not,
and two things go wrong. Fitted one by one, each feature answers for the other as well; fitted together, the
coefficients are right on average but vary much from sample to sample.

The idea is that of Figure 7.3 in Flach, *Machine Learning* (2012).
"""

# %%
# The same plane, seen through two samples
# ----------------------------------------
# The truth is y = x₁ + x₂ with some noise. In the first sample the features are uncorrelated; in the second they
# are strongly negatively correlated, so that x₁ + x₂ hardly varies.

import matplotlib.pyplot as plt
import numpy as np

from bisector import LinearRegression

# Colours that colour-blind readers can tell apart.
BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#6b6b6b"
CORRELATIONS = 0.0, -0.97
FLOOR, CEILING = -5.5, 5.5


def draw_sample(correlation, rng, n=40):
    covariance = [[1.0, correlation], [correlation, 1.0]]
    X = rng.multivariate_normal([0.0, 0.0], covariance, size=n)
    return X, X.sum(axis=1) + rng.normal(0, 0.25, n)


def title(correlation):
    return f"correlation {correlation:g}".replace("-", "−")


def draw_plane(ax, model, color):
    x1, x2 = np.meshgrid(*[np.linspace(-2.5, 2.5, 9)] * 2)
    height = model.predict(np.column_stack([x1.ravel(), x2.ravel()])).reshape(x1.shape)
    ax.plot_surface(x1, x2, height, color=color, alpha=0.35, edgecolor=color, lw=0.3)


fig = plt.figure(figsize=(9, 4.8))
for number, correlation in enumerate(CORRELATIONS, start=1):
    X, y = draw_sample(correlation, np.random.default_rng(3))
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

fig, axes = plt.subplots(1, 2, figsize=(9, 4.4), layout="constrained", sharey=True)
for ax, correlation in zip(axes, CORRELATIONS, strict=True):
    rng = np.random.default_rng(7)
    samples = [draw_sample(correlation, rng) for _ in range(300)]
    for decomposed, color, marker in [(True, ORANGE, "^"), (False, BLUE, "o")]:
        model = LinearRegression(decomposed=decomposed)
        b = np.array([model.fit(X, y).coef_ for X, y in samples])
        ax.scatter(*b.T, s=12, color=color, marker=marker, alpha=0.45, lw=0)
    ax.plot(1, 1, "+", color="black", ms=14, mew=2)
    ax.set(xlim=(-0.3, 1.8), ylim=(-0.3, 1.8), aspect="equal")
    ax.set(xlabel="coefficient of x₁", title=title(correlation))
    ax.spines[["top", "right"]].set_visible(False)
axes[0].set_ylabel("coefficient of x₂")
labels = ["each feature alone", "fitted together", "the truth"]
fig.legend(labels, loc="outside lower center", ncols=3, frameon=False)
plt.show()

# %%
# With uncorrelated features the univariate fits are right on average, but in a sample of forty rows the features
# happen to be correlated a little, and each coefficient takes over that share of the other's effect. With
# correlated features the univariate fits are wrong, and precisely so. The joint fits are right on average, and
# spread along the direction that the data say least about: where one coefficient is too high, so is the other,
# and x₁ + x₂, which hardly varies, cannot tell.
#
# What the summary says
# ---------------------
# The fit notices this from a single sample: the standard errors are several times what they would be without
# the correlation, and the warning says so.

X, y = draw_sample(-0.97, np.random.default_rng(3))
LinearRegression().fit(X, y).summary(["x₁", "x₂"])
