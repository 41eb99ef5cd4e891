"""
From scores to probabilities
============================

A linear classifier says how far a row lies from its boundary. Two ways to turn that distance into a probability: a
sigmoid that follows from the geometry of the classes, and the plateaus of the ROC convex hull (Figures 7.11–7.13 of
Flach, *Machine Learning*).
"""

# %%
# The logistic function
# ---------------------
# If the distances of both classes are normal with one variance σ², the log-odds are a line: γ(d − d0), with γ the
# difference of the class means over σ², and d0 halfway between them. The farther apart the classes, the steeper
# the sigmoid; where the means are not equally far from the boundary, it moves (Figure 7.11).

import matplotlib.pyplot as plt
import numpy as np

from bisector import (
    CalibrationDisplay,
    CalibrationMapDisplay,
    HullCalibrator,
    LogisticCalibrator,
    ROCDisplay,
)

BLUE, ORANGE = "#0072b2", "#d55e00"


def calibrator_of(apart, d0):
    """Calibrate four distances of unit variance, with class means `apart` from each other around d0."""
    around = np.array([-1.0, 1.0])
    distances = d0 + np.concatenate([around - apart / 2, around + apart / 2])
    return LogisticCalibrator().fit(distances, [0, 0, 1, 1])


d = np.linspace(-8, 12, 400)
figure, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
for d0, colour in [(0, ORANGE), (1, BLUE)]:
    for apart, style in [(2, "--"), (1, "-"), (0.5, ":")]:
        model = calibrator_of(apart, d0)
        label = f"γ = {model.gamma_:g}, d0 = {model.d0_:.1f}"
        ax.plot(d, model.predict(d), style, color=colour, label=label)
ax.set(xlabel="distance d", ylabel="probability of the positive class")
ax.set(title="The logistic function, by how far apart the classes are and where")
ax.legend()

# %%
# The basic linear classifier, calibrated
# ---------------------------------------
# Two normal classes with the same covariance, and the boundary halfway between their means. Logistic calibration
# leaves this boundary where it is (d0 = 0) and chooses the steepness only (Example 7.7, Figure 7.12). The hull
# gives each stretch of scores that ranks no better than chance one probability: plateaus, with no assumption
# about distances.

rng = np.random.default_rng(3)
y = np.arange(160) % 2
X = rng.normal(size=(160, 2)) * [1.2, 0.8] + np.array([[-0.9, -0.4], [0.9, 0.4]])[y]
positive, negative = X[y == 1].mean(axis=0), X[y == 0].mean(axis=0)
w = (positive - negative) / np.linalg.norm(positive - negative)
t = w @ (positive + negative) / 2


def distances(rows):
    return rows @ w - t


logistic = LogisticCalibrator().fit(distances(X), y)
hull = HullCalibrator().fit(distances(X), y)
print(f"γ = {logistic.gamma_:.3f}, d0 = {logistic.d0_:.1e}")

low, high = X.min(axis=0) - 0.5, X.max(axis=0) + 0.5
across, up = np.meshgrid(
    np.linspace(low[0], high[0], 300), np.linspace(low[1], high[1], 300)
)
on_plane = distances(np.column_stack([across.ravel(), up.ravel()]))
figure, axes = plt.subplots(
    1, 2, figsize=(9, 3.8), layout="constrained", sharex=True, sharey=True
)
for ax, model, title in zip(
    axes, [logistic, hull], ["Logistic", "ROC convex hull"], strict=True
):
    surface = ax.pcolormesh(
        across,
        up,
        model.predict(on_plane).reshape(across.shape),
        vmin=-0.9,  # pale colours, on which rows can be seen
        vmax=1.9,
        cmap="PuOr",
        rasterized=True,
    )
    ax.contour(across, up, on_plane.reshape(across.shape), [0], colors="0.3")
    for label, colour, mark in [(1, BLUE, "+"), (0, ORANGE, ".")]:
        ax.scatter(*X[y == label].T, s=22, marker=mark, color=colour, lw=1)
    ax.set(title=title)
bar = figure.colorbar(surface, ax=axes, label="probability of +")
bar.ax.set_ylim(0, 1)

# %%
# One hull, two views
# -------------------
# A segment of the hull is a plateau of the probability; its slope is the likelihood ratio of the scores on it. The
# line of equal accuracy touches the hull at the best threshold, here for classes as frequent as in the data and
# when misses cost four times as much as false alarms (Figure 7.13).

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
ROCDisplay.from_predictions(
    y, {"distance": distances(X)}, costs=[(1, 1), (1, 4)], ax=left
)
CalibrationMapDisplay.from_estimator(
    {"hull": hull, "logistic": logistic}, distances(X), y, ax=right
)
right.set_xlabel("distance from the boundary")
print(hull.plateaus())

# %%
# What comes true
# ---------------
# On rows the calibrators have not seen: of those that were given a probability of about p, a share p should be
# positive. The hull has fitted some of the noise of 160 rows; it needs more of them than the sigmoid does.

fresh_y = np.arange(4000) % 2
fresh = rng.normal(size=(4000, 2)) * [1.2, 0.8]
fresh += np.array([[-0.9, -0.4], [0.9, 0.4]])[fresh_y]
CalibrationDisplay.from_predictions(
    fresh_y,
    {
        "logistic": logistic.predict(distances(fresh)),
        "hull": hull.predict(distances(fresh)),
    },
)
plt.show()
