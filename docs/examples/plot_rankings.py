"""
How good is a classifier?
=========================

Four pictures of the same two models on rows they have not seen: what they confuse, how well they rank, what is
best for given costs, and whether their probabilities come true.

Shows the curves of section 7.4 of Flach's *Machine Learning* on real data.
"""

# %%
# What is confused
# ----------------
# Tumours, malignant or benign, by thirty measurements: nearest neighbours, and a decision tree. Counts are told
# beside the share of the true class, which does not depend on how frequent the class is.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bisector import (
    CalibrationDisplay,
    ConfusionDisplay,
    CoverageDisplay,
    DecisionTreeClassifier,
    KNeighborsClassifier,
    ROCDisplay,
    datasets,
)

data = datasets.breast_cancer()
X, y = data.X, np.where(data.y == 0, "malignant", "benign")
seen = np.arange(len(X)) % 2 == 0
models = {
    "15 neighbours": make_pipeline(StandardScaler(), KNeighborsClassifier(15)),
    "tree": DecisionTreeClassifier(max_depth=4, min_samples_leaf=5),
}
for model in models.values():
    model.fit(X[seen], y[seen])

figure, axes = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
for ax, (name, model) in zip(axes, models.items(), strict=True):
    ConfusionDisplay.from_estimator(model, X[~seen], y[~seen], ax=ax)
    ax.set_title(f"{name}: {ax.get_title().lower()}")
plt.show()

# %%
# How well they rank
# ------------------
# Left as rates, right as counts, in which the class ratio is seen. Thin lines are the convex hulls: what can be
# reached if thresholds are chosen well. Marks are the best points when both errors cost the same, and when missing
# a malignant tumour costs ten times as much as a false alarm; lines through them join points of equal cost.

figure, axes = plt.subplots(1, 2, figsize=(11, 5.8), layout="constrained")
for ax, display in zip(axes, (ROCDisplay, CoverageDisplay), strict=True):
    display.from_estimator(
        models,
        X[~seen],
        y[~seen],
        pos_label="malignant",
        costs=[(1, 1), (1, 10)],
        ax=ax,
    )
plt.show()

# %%
# Whether probabilities come true
# -------------------------------
# Bars tell how many rows a bin holds. Nearly all probabilities are near 0 and 1; between them curves are guesses
# from a handful of rows.

CalibrationDisplay.from_estimator(
    models, X[~seen], y[~seen], pos_label="malignant", n_bins=8
)
plt.show()
