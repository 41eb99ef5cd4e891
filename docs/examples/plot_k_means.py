"""
K-means, and the way out of a bad end
=====================================

K-means looks for centres with little scatter around them. Its two steps, rows to the nearest centre and centres to
the mean of their rows, lower the scatter until they cannot. Where they end depends on where they begin.
"""

# %%
# Step by step
# ------------
# Three clusters, and three centres that begin in one of them. The boundary between two centres is their
# perpendicular bisector; the cells that the bisectors form are the clusters. ``init`` gives the start, so that
# nothing is refined, and ``max_iter`` stops early.

import matplotlib.pyplot as plt
import numpy as np

from bisector import KMeans, datasets

# Colours that colour-blind readers can tell apart, and markers beside them.
COLOURS = ["#0072b2", "#d55e00", "#009e73"]
MARKERS = ["o", "s", "^"]


def draw_cells(ax, model, X):
    """Draw the lines on which two centres are equally near."""
    low, high = X.min(axis=0) - 0.4, X.max(axis=0) + 0.4
    across, up = np.meshgrid(
        np.linspace(low[0], high[0], 300), np.linspace(low[1], high[1], 300)
    )
    cells = model.predict(np.column_stack([across.ravel(), up.ravel()]))
    for cell in range(len(model.cluster_centers_)):
        inside = (cells == cell).reshape(across.shape).astype(float)
        ax.contour(across, up, inside, [0.5], colors="0.4", linewidths=0.8)


X, _ = datasets.spread_clusters(240, clusters=3, seed=4)
start = X[[0, 3, 7]]
fig, axes = plt.subplots(1, 4, figsize=(12, 3.2), sharex=True, sharey=True)
for ax, n_moves in zip(axes, [1, 2, 4, 20], strict=True):
    model = KMeans(3, init=start, max_iter=n_moves).fit(X)
    for cluster in range(3):
        rows = X[model.labels_ == cluster]
        ax.scatter(*rows.T, s=9, c=COLOURS[cluster], marker=MARKERS[cluster], alpha=0.6)
    draw_cells(ax, model, X)
    ax.scatter(*model.cluster_centers_.T, s=120, c="black", marker="x", linewidths=2)
    ax.set_title(f"{model.n_iter_} moves: scatter {model.inertia_:.1f}")
    ax.set_aspect("equal")
fig.tight_layout()

# %%
# A bad end, mended
# -----------------
# Fifty clusters, and as many rows drawn at random to begin with. Lloyd's algorithm ends where no row and no centre
# can move by itself: some clusters have two centres, and some centres serve two clusters. The refinement takes a
# centre from the former to the latter, as long as the scatter falls.

X, y = datasets.spread_clusters()
plain = KMeans(50, init="random", n_init=1, random_state=0, refine=False).fit(X)
refined = KMeans(50, init="random", n_init=1, random_state=0).fit(X)
fig, axes = plt.subplots(1, 2, figsize=(11, 5.4), sharex=True, sharey=True)
for ax, model, name in zip(axes, [plain, refined], ["Lloyd", "refined"], strict=True):
    ax.scatter(*X.T, s=2, c="0.7")
    draw_cells(ax, model, X)
    ax.scatter(*model.cluster_centers_.T, s=40, c="#d55e00", marker="x", linewidths=2)
    ax.set_title(f"{name}: scatter {model.inertia_:.1f}")
    ax.set_aspect("equal")
fig.tight_layout()

# %%
# How the scatter falls
# ---------------------
# ``history_`` holds the scatter after every assignment. It never rises.

fig, ax = plt.subplots(figsize=(7, 3.6))
ax.plot(refined.history_, c="#0072b2", label="refined")
ax.plot(plain.history_, c="#d55e00", ls="--", label="Lloyd alone")
ax.set(xlabel="assignment", ylabel="scatter within clusters", yscale="log")
ax.legend()
fig.tight_layout()
