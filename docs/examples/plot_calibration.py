"""
From scores to probabilities
============================

A linear classifier says how far a row lies from its boundary. Two ways to turn that distance into a probability: a
sigmoid that follows from the geometry of the classes, and the plateaus of the ROC convex hull.

Shows figures 7.11, 7.12 and 7.13, and example 7.7, of Flach's *Machine Learning*.
"""

# %%
# The logistic function
# ---------------------
# If the distances of both classes are normal with one variance σ², the log-odds are a line: γ(d − d0), with γ the
# difference of the class means over σ², and d0 halfway between them. The farther apart the classes, the steeper
# the sigmoid; where the means are not equally far from the boundary, it moves.

import matplotlib.pyplot as plt
import numpy as np

from bisector import (
    BasicLinearClassifier,
    CalibratedClassifier,
    CalibrationDisplay,
    CalibrationMapDisplay,
    DecisionRegionsDisplay,
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
        label = f"γ = {model.gamma_:g}, d0 = {model.d0_:.0f}"
        ax.plot(d, model.predict(d), style, color=colour, label=label)
ax.set(xlabel="distance d", ylabel="probability of the positive class")
ax.set(title="The logistic function, by how far apart the classes are and where")
ax.legend()
plt.show()

# %%
# The basic linear classifier, calibrated
# ---------------------------------------
# Two normal classes with the same covariance, and the boundary halfway between their means. Logistic calibration
# leaves this boundary where it is (d0 = 0) and chooses the steepness only: from pale to deep, the model grows surer
# evenly. The hull gives each stretch of scores that ranks no better than chance one probability: plateaus, with no
# assumption about distances; it may move the boundary.

rng = np.random.default_rng(3)
y = np.arange(160) % 2
X = rng.normal(size=(160, 2)) * [1.2, 0.8] + np.array([[-0.9, -0.4], [0.9, 0.4]])[y]
line = BasicLinearClassifier().fit(X, y)


def distances(rows):
    return line.decision_function(rows) / np.linalg.norm(line.weights_)


logistic = LogisticCalibrator().fit(distances(X), y)
hull = HullCalibrator().fit(distances(X), y)
print(f"γ = {logistic.gamma_:.3f}, d0 = {abs(logistic.d0_):.2f}")

figure, axes = plt.subplots(
    1, 2, figsize=(9.6, 3.8), layout="constrained", sharex=True, sharey=True
)
for ax, method, title in zip(
    axes, ["geometric", "hull"], ["Logistic", "ROC convex hull"], strict=True
):
    model = CalibratedClassifier(line, method=method, cv="prefit").fit(X, y)
    DecisionRegionsDisplay.from_estimator(model, X, y, ax=ax)
    ax.set_title(f"{title}: shaded by probability")
    ax.label_outer()
axes[0].get_legend().remove()
plt.show()

# %%
# One hull, two views
# -------------------
# A segment of the hull is a plateau of the probability; its slope is the likelihood ratio of the scores on it. The
# line of equal accuracy touches the hull at the best threshold, here for classes as frequent as in the data and
# when misses cost four times as much as false alarms.

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
ROCDisplay.from_predictions(
    y, {"distance": distances(X)}, costs=[(1, 1), (1, 4)], ax=left
)
CalibrationMapDisplay.from_estimator(
    {"hull": hull, "logistic": logistic}, distances(X), y, ax=right
)
right.set_xlabel("distance from the boundary")
plt.show()
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
