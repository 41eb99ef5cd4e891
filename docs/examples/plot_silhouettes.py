"""
Two clusterings and their silhouettes
=====================================

k-means finds clusters on any data, good ones or not. The silhouette of a row says how
much nearer it is to its own cluster than to the next; drawn for all rows, it shows at
a glance which clustering to trust.

Shows figures 8.13 and 8.14 of Flach's *Machine Learning*.
"""

# %%
# The same rows in two units
# --------------------------
# Two clusters lie side by side. When the second feature is measured in units a fifth
# as long, clusters that are far apart up and down have the smaller scatter, and k-means
# cuts both of the true ones across.

import matplotlib.pyplot as plt

from bisector import KMeans, KMeansTraceDisplay, SilhouetteDisplay, datasets

figure, axes = plt.subplots(
    2, 2, figsize=(9, 6.8), layout="constrained", height_ratios=[3, 2]
)
for (above, below), scale in zip(axes.T, [1, 5], strict=True):
    X, _ = datasets.rescaled_pair(y_scale=scale)
    model = KMeans(2, random_state=0).fit(X)
    KMeansTraceDisplay(X, [model.cluster_centers_]).plot_steps([above])
    above.set(title=f"second feature × {scale}", xlabel="x0", ylabel="x1")
    above.tick_params(labelleft=True, labelbottom=True)
    above.set_xticks([-3, 0, 3])
    SilhouetteDisplay.from_estimator(model, X, metric="sqeuclidean", ax=below)
plt.show()

# %%
# On the left nearly all rows have long bars of much the same length. On the right the
# bars shrink steadily: many rows lie between the two clusters.
#
# Too many clusters
# -----------------
# Four clusters of four normal distributions, and six: clusters that share one have short
# bars, and hatched ones to the left of zero belong to another cluster rather than to
# their own.

X, _ = datasets.four_gaussians(400, deviation=0.3)
figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for ax, k in zip(axes, [4, 6], strict=True):
    SilhouetteDisplay.from_estimator(KMeans(k, random_state=0).fit(X), X, ax=ax)
plt.show()
