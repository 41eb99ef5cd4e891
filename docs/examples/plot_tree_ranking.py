"""
A tree as a ranking
===================

A leaf with many positives should be called before a leaf with few. In that order the leaves of a tree are the
segments of its ROC curve on the training rows, and the curve is convex.
"""

# %%
# A split bends the curve
# -----------------------
# The coverage curve counts: negatives to the right, positives upwards. A tree without a split is the diagonal. A
# split bends a segment into two; sorted by slope again, the segments lie above the old one, wherever the split was
# made. So the curve never falls while a tree grows.

import matplotlib.pyplot as plt
import numpy as np

from bisector import DecisionTreeClassifier
from bisector.measures.impurity import relative_impurity

rng = np.random.default_rng(1)
X = rng.normal(size=(400, 3))
y = (X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=400) > 0.8).astype(int)

figure, ax = plt.subplots(figsize=(6, 4.4), layout="constrained")
ax.plot([0, (y == 0).sum()], [0, (y == 1).sum()], ":", color="0.4", label="no split")
for depth, dash, colour in [
    (1, "--", "#e69f00"),
    (2, "-.", "#009e73"),
    (4, "-", "#0072b2"),
]:
    ranking = DecisionTreeClassifier(max_depth=depth).fit(X, y).roc_segments_
    negatives, positives = ranking.coverage
    label = f"{len(ranking.leaves)} leaves, area {ranking.curve.auc:.2f}"
    ax.plot(negatives, positives, dash, marker=".", color=colour, label=label)
ax.set(xlabel="negatives covered", ylabel="positives covered", title="Coverage")
ax.legend(loc="lower right")

# %%
# The class ratio and the costs choose the labels
# -----------------------------------------------
# A ranking becomes a classifier when costs are known. Points of equal cost lie on lines; the best point is where
# such a line touches the curve. Dear misses make the line flat, and more leaves positive.

model = DecisionTreeClassifier(max_depth=4).fit(X, y)
curve = model.roc_segments_.curve
figure, ax = plt.subplots(figsize=(6, 4.4), layout="constrained")
ax.plot(curve.fpr, curve.tpr, "-", marker=".", color="#0072b2")
for miss, mark, colour in [(1, "o", "#d55e00"), (4, "s", "#cc79a7")]:
    point, labels = model.operating_point(false_negative_cost=miss)
    step = np.array([-0.25, 0.25])
    ax.plot(point.fpr + step, point.tpr + point.slope * step, ":", color=colour)
    positive = sum(labels.values())
    ax.plot(
        point.fpr,
        point.tpr,
        mark,
        ms=9,
        color=colour,
        label=f"a miss costs {miss}: {positive} of {len(labels)} leaves positive",
    )
ax.set(
    xlabel="false positive rate",
    ylabel="true positive rate",
    title="Operating points",
    xlim=(-0.03, 1.03),
    ylim=(-0.03, 1.03),
)
ax.legend(loc="lower right")

# %%
# Which impurity does not mind the class ratio
# --------------------------------------------
# Two splits of 40 positives and 40 negatives. When the negatives grow in number, the Gini index and entropy change
# their minds about which is better: they look more at the larger child. The root of the Gini index does not.

first = np.array([[0, 32], [40, 8]])
second = np.array([[36, 0], [4, 40]])
times = np.geomspace(1, 30, 60)
figure, axes = plt.subplots(
    1, 3, figsize=(10, 3.2), layout="constrained", sharex=True, sharey=True
)
for ax, criterion in zip(axes, ["gini", "entropy", "sqrt-gini"], strict=True):
    for children, dash, colour, name in [
        (first, "-", "#0072b2", "first split"),
        (second, "--", "#e69f00", "second split"),
    ]:
        sums = [relative_impurity(children * [t, 1], criterion).sum() for t in times]
        ax.semilogx(times, sums, dash, color=colour, label=name)
    ax.set(title=criterion, xlabel="negatives, times")
axes[0].set_ylabel("relative impurity left")
axes[0].legend()

plt.show()
