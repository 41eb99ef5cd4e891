"""
A tree as a ranking
===================

A leaf with many positives should be called before a leaf with few. In that order the leaves of a tree are the
segments of its ROC curve on the training rows, and the curve is convex.

Shows section 5.2 of Flach's *Machine Learning*.
"""

# %%
# A split bends the curve
# -----------------------
# The coverage curve counts: negatives to the right, positives upwards. A tree without a split is the diagonal. A
# split bends a segment into two; sorted by slope again, the segments lie above the old one, wherever the split was
# made. So the curve never falls while a tree grows.

import matplotlib.pyplot as plt
import numpy as np

from bisector import CoverageDisplay, DecisionTreeClassifier, ROCDisplay
from bisector.measures.impurity import relative_impurity

rng = np.random.default_rng(1)
X = rng.normal(size=(400, 3))
y = (X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=400) > 0.8).astype(int)

model = DecisionTreeClassifier(max_depth=4).fit(X, y)
CoverageDisplay.from_tree(model)
plt.show()

# %%
# The class ratio and the costs choose the labels
# -----------------------------------------------
# A ranking becomes a classifier when costs are known. Points of equal cost lie on lines; the best point is where
# such a line touches the curve. Dear misses make the line flat, and more leaves positive.

ROCDisplay({"tree": model.roc_segments_.curve}).plot(costs=[(1, 1), (1, 4)], hull=False)
for miss in (1, 4):
    _, labels = model.operating_point(false_negative_cost=miss)
    print(
        f"a miss costs {miss}: {sum(labels.values())} of {len(labels)} leaves positive"
    )
plt.show()

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
