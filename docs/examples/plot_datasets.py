"""
The toy datasets at a glance
============================

``bisector.datasets`` holds the small datasets that books on geometric models explain themselves with: points one
can compute on by hand, and simulators with a seed. Each says in one sentence what there is to see.

Shows the data of figures 7.1, 7.2, 7.3, 7.8, 7.14, 8.13, 8.16 and 8.18 of Flach's *Machine Learning*.
"""

# %%
# By name
# -------
# ``load`` makes a dataset by its name; options are those of the function of the same name. What comes back
# unpacks into X and y, and prints as a description.

import matplotlib.pyplot as plt
import numpy as np

from bisector import KMeans, LinearRegression, datasets

datasets.load("double_semicircle", n=500)

# %%
# Lines and planes
# ----------------
# One wrong value moves the line; the same plane is certain from uncorrelated features, and uncertain from
# correlated ones.

# Colours that colour-blind readers can tell apart.
BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#6b6b6b"


def tidy(ax, data, title=None):
    ax.set_title(title or data.title, fontsize=10)
    ax.set_xlabel(data.feature_names[0])
    ax.spines[["top", "right"]].set_visible(False)


fig, axes = plt.subplots(1, 3, figsize=(9.6, 3.3), layout="constrained")
right, wrong = datasets.height_weight(), datasets.height_weight_outlier()
at = np.array([[right.X.min() - 2], [right.X.max() + 2]])
for data, color, dash in [(right, BLUE, "-"), (wrong, ORANGE, "--")]:
    line = LinearRegression().fit(*data).predict(at)
    label = "as measured" if data is right else "one weight wrong"
    axes[0].plot(at, line, dash, color=color, label=label)
axes[0].scatter(right.X, right.y, color=BLUE, s=22, zorder=3)
moved = wrong.y != right.y
axes[0].scatter(
    wrong.X[moved], wrong.y[moved], color=ORANGE, marker="D", s=34, zorder=3
)
axes[0].set_ylabel("weight")
axes[0].legend(frameon=False, loc="upper left")
tidy(axes[0], wrong, "heights and weights")
for ax, correlation in zip(axes[1:], (0.0, -0.97), strict=True):
    data = datasets.correlated_features(n=200, correlation=correlation)
    dots = ax.scatter(*data.X.T, c=data.y, s=14, cmap="cividis", vmin=-4, vmax=4)
    tidy(ax, data, f"features with correlation {correlation:g}".replace("-", "−"))
    ax.set(ylabel="x2", xlim=(-3.6, 3.6), ylim=(-3.6, 3.6), aspect="equal")
fig.colorbar(dots, ax=axes[2], label="y = x1 + x2 + noise", shrink=0.85)
plt.show()

# %%
# Classes
# -------
# From those a line parts, through those it parts as well as anything can, to those that need another idea.


def draw_classes(ax, data):
    big = len(data.X) < 20
    style = {"s": 60, "lw": 1.6} if big else {"s": 12, "lw": 0.8, "alpha": 0.7}
    for label, color, marker in [(-1, BLUE, "o"), (1, ORANGE, "s")]:
        rows = data.X[data.y == label]
        ax.scatter(
            *rows.T,
            color=color,
            marker=marker,
            label=f"{label:+d}".replace("-", "−"),
            **style,
        )
    tidy(ax, data)
    ax.margins(0.1)
    ax.set(ylabel="x2", aspect="equal")


examples = [
    datasets.margin_points(),
    datasets.seven_points(),
    datasets.gaussian_classes(),
    datasets.disc_and_ring(),
    datasets.four_gaussians(400),
    datasets.double_semicircle(600),
]
fig, axes = plt.subplots(2, 3, figsize=(9.6, 6.6), layout="constrained")
for ax, data in zip(axes.flat, examples, strict=True):
    draw_classes(ax, data)
handles = axes[0, 0].get_legend_handles_labels()
fig.legend(*handles, title="label", loc="outside lower center", ncols=2, frameon=False)
plt.show()

# %%
# Clusters, hierarchies and curves
# --------------------------------
# The pair on top is the same data in different units. Markers show the two clusters as they are meant, colours what
# 2-means finds: the same on the left, and on the right something else.

fig, axes = plt.subplots(2, 3, figsize=(9.6, 6.2), layout="constrained")
for ax, scale in zip(axes[0], (1, 5), strict=False):
    data = datasets.rescaled_pair(y_scale=scale)
    found = KMeans(2, random_state=0).fit(data.X).labels_
    for cluster, marker in [(0, "x"), (1, "o")]:
        rows = data.y == cluster
        colors = np.where(found[rows] == found[0], BLUE, ORANGE)
        ax.scatter(*data.X[rows].T, c=colors, marker=marker, s=16, lw=0.9)
    tidy(ax, data, "two clusters" if scale == 1 else "the same, x2 times 5")
    ax.set(xlim=(-13.5, 13.5), ylim=(-13.5, 13.5))
mixture = datasets.random_mixture(2000, deviation=0.04)
axes[0, 2].scatter(*mixture.X.T, color=BLUE, s=2, alpha=0.5)
tidy(axes[0, 2], mixture, "clusters anywhere")
for ax, data in [
    (axes[1, 0], datasets.grid()),
    (axes[1, 1], datasets.uniform_square()),
]:
    ax.scatter(*data.X.T, color=BLUE, s=30)
    tidy(ax, data)
axes[1, 0].set(xlim=(-0.5, 3.5), ylim=(-1.5, 2.5))
for ax in axes.flat[:5]:
    ax.set(ylabel="x2", aspect="equal")
seen, true = datasets.noisy_curve(), datasets.noisy_curve(500, noise=0)
axes[1, 2].plot(true.X, true.y, color=GREY, label="the curve")
axes[1, 2].scatter(seen.X, seen.y, color=ORANGE, s=24, zorder=3, label="seen")
axes[1, 2].set_ylabel("y")
axes[1, 2].legend(frameon=False)
tidy(axes[1, 2], seen)
plt.show()

# %%
# Digits in two features
# ----------------------
# scikit-learn's handwritten digits, reduced to intensity and symmetry. A 0 is the most symmetric digit, and the
# easiest to tell from the rest.

data = datasets.digit_features(positive=0, n=500)
fig, ax = plt.subplots(figsize=(6, 4.2), layout="constrained")
signs = [(-1, BLUE, "o", "another digit"), (1, ORANGE, "s", "0")]
for label, color, marker, words in signs:
    rows = data.X[data.y == label]
    ax.scatter(
        *rows.T, color=color, marker=marker, s=18, lw=0.9, alpha=0.8, label=words
    )
tidy(ax, data)
ax.set_ylabel("symmetry")
ax.legend(loc="lower right")
plt.show()

# %%
# All of them
# -----------

datasets.overview()
