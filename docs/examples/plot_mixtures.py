"""
A mixture, step by step
=======================

Expectation maximisation is k-means that shares rows out: every bump takes each row by the share that it has in the
row's density, and moves to the weighted mean, with the weighted covariance.

Shows the algorithm of section 6.4 of *Learning From Data*.
"""

# %%
# From a poor start
# -----------------
# Three hundred rows of three long clusters. The bumps begin as three round ones side by side; ellipses are
# drawn at one and two standard deviations, with the weight of each bump beside its centre.

import warnings

import matplotlib.pyplot as plt
import numpy as np

from bisector import DecisionRegionsDisplay, GaussianMixture, KMeans, MixtureDisplay

rng = np.random.default_rng(2)
shapes = [
    [[1.6, 0.0], [0.9, 0.3]],
    [[1.2, 0.0], [-0.8, 0.25]],
    [[0.3, 0.0], [0.0, 1.0]],
]
centres = [[0.0, 0.0], [0.5, 4.0], [5.0, 1.5]]
X = np.concatenate(
    [
        rng.normal(size=(100, 2)) @ np.transpose(shape) + centre
        for shape, centre in zip(shapes, centres, strict=True)
    ]
)
start = {
    "means_init": [[-1.0, 1.0], [1.0, 1.0], [3.0, 1.0]],
    "weights_init": np.full(3, 1 / 3),
    "precisions_init": np.repeat(np.eye(2)[None], 3, axis=0),
}

figure, axes = plt.subplots(
    2, 2, figsize=(9, 8.4), layout="constrained", sharex=True, sharey=True
)
for ax, steps in zip(axes.flat, (0, 1, 10, 200), strict=True):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the steps are cut short on purpose
        model = GaussianMixture(3, max_iter=steps, tol=1e-6, **start).fit(X)
    MixtureDisplay.from_estimator(model, X, ax=ax)
    when = "start" if steps == 0 else f"step {model.n_iter_}"
    ax.set(title=f"{when}: log likelihood {model.score(X):.2f}", aspect="equal")
    ax.label_outer()
plt.show()

# %%
# It never falls
# --------------
# Each step raises the likelihood, quickly at first; where it is nearly flat, bumps change places slowly.

figure, ax = plt.subplots(figsize=(6.4, 3), layout="constrained")
ax.plot(model.lower_bounds_, ".-")
ax.set(xlabel="step", ylabel="mean log likelihood")
plt.show()

# %%
# Against k-means
# ---------------
# K-means parts the plane by bisectors and cannot follow long clusters. Of round bumps with one variance that
# shrinks to nothing, the mixture becomes k-means.

figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained", sharey=True)
DecisionRegionsDisplay.from_estimator(KMeans(3, random_state=0).fit(X), X, ax=axes[0])
axes[0].get_legend().remove()
MixtureDisplay.from_estimator(model, X, ax=axes[1])
for ax, title in zip(axes, ("k-means: bisectors of centres", "mixture"), strict=True):
    ax.set(title=title, aspect="equal")
    ax.label_outer()
plt.show()

# %%
# On one feature
# --------------
# The bells are what each bump adds to the density.

values = X[:, :1]
MixtureDisplay.from_estimator(GaussianMixture(2, random_state=0).fit(values), values)
plt.show()
