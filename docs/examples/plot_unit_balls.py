"""
What a distance looks like
==========================

The points at distance 1 from the origin show what a distance thinks of the plane: how far one gets in each
direction.

Shows figures 8.1, 8.2 and 8.3, and example 8.1, of Flach's *Machine Learning*.
"""

# %%
# Minkowski distances
# -------------------
# Along the axes all agree; off them, our reach grows with p. Below p = 1 the ball is a star: the straight way from
# one tip to the next leaves it, so a detour through the origin is shorter, and the triangle inequality fails.

import matplotlib.pyplot as plt
import numpy as np

from bisector import (
    Bing,
    Bishop,
    BoardDisplay,
    Elliptical,
    Euclidean,
    King,
    Knight,
    KRook,
    Mahalanobis,
    Minkowski,
    Rook,
    UnitBallDisplay,
    unit_ball,
)

ORDERS = [0.8, 1, 1.5, 2, 4, 8, np.inf]
NAMES = {1: " (Manhattan)", 2: " (Euclidean)", np.inf: " (Chebyshev)"}
distances = {
    f"p = {'∞' if np.isinf(p) else p}{NAMES.get(p, '')}": Minkowski(p) for p in ORDERS
}
fig, ax = plt.subplots(figsize=(6.8, 5), layout="compressed")
UnitBallDisplay.from_distances(distances, ax=ax)
plt.show()

# %%
# Ellipses
# --------
# A matrix M stretches and turns the circle: xᵀMx = ¼ for M = RᵀS²R is an ellipse at 45°, twice as long as wide.
# `Mahalanobis` takes its matrix from the data, and so follows their shape: a step along the cloud counts less than
# one across it.

turn = np.array([[1, 1], [-1, 1]]) / np.sqrt(2)
squeeze = np.diag([0.5, 1])
M = turn.T @ squeeze**2 @ turn

rng = np.random.default_rng(0)
cloud = rng.standard_normal((300, 2)) @ np.array([[1.6, 0.9], [0.0, 0.5]])
learned = Mahalanobis().learned(cloud)

fig, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="compressed")
ellipses = {
    "M = RᵀS²R": Elliptical(M),
    "M = S²": Elliptical(squeeze**2),
    "M = I": Euclidean(),
}
UnitBallDisplay.from_distances(ellipses, radius=0.5, ax=left)
left.set_title("Points with xᵀMx = ¼")
right.scatter(*cloud.T, s=8, color="#9a9a9a")
for radius in (1, 2):
    x, y = unit_ball(learned, radius=radius, center=cloud.mean(axis=0)).T
    right.plot(
        x, y, color="#d55e00", lw=2, label="Mahalanobis" if radius == 1 else None
    )
    x, y = unit_ball(Euclidean(), radius=radius, center=cloud.mean(axis=0)).T
    right.plot(
        x, y, color="#6b6b6b", lw=1, ls="--", label="Euclidean" if radius == 1 else None
    )
right.set(aspect="equal", title="At distance 1 and 2 from the middle")
right.set(xlabel="x0", ylabel="x1")
right.legend(frameon=False, loc="upper left")
plt.show()

# %%
# On a chessboard
# ---------------
# A piece measures distance in moves. The King's is Chebyshev distance, the KRook's Manhattan distance, the Rook's
# counts the coordinates that differ; a Bishop never reaches half of the board, and a Knight needs three moves to
# the next square.

pieces = [King(), Rook(), KRook(), Bishop(), Bing(), Knight()]
fig, axes = plt.subplots(2, 3, figsize=(9, 6.4), layout="compressed")
for ax, piece in zip(axes.flat, pieces, strict=True):
    BoardDisplay.from_piece(piece, "d4", ax=ax)
    ax.set_title(type(piece).__name__)
plt.show()
