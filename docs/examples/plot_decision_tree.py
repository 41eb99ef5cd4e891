"""
A tree, question by question
============================

A decision tree asks one question a node, and always the one that leaves the classes purest. Each question cuts the
plane once more, at right angles to an axis, so the leaves are boxes.

Shows sections 5.1 and 5.3 of Flach's *Machine Learning*.
"""

# %%
# Boxes
# -----
# Two measurements of irises. The first question separates one species; the next ones share out the other two.
# Unlimited, the tree goes on until every box is pure, and follows single flowers.

import matplotlib.pyplot as plt
import numpy as np

from bisector import (
    DecisionRegionsDisplay,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    TreeDisplay,
    datasets,
)
from bisector.measures.impurity import impurity

flowers = datasets.iris()
X = flowers.frame[["petal length (cm)", "petal width (cm)"]]
species = np.array(flowers.class_names)[flowers.y]

figure, axes = plt.subplots(1, 3, figsize=(12, 3.8), layout="constrained", sharey=True)
for ax, depth in zip(axes, [1, 2, None], strict=True):
    model = DecisionTreeClassifier(max_depth=depth).fit(X, species)
    DecisionRegionsDisplay.from_estimator(model, X, species, ax=ax)
    title = "as deep as it goes" if depth is None else f"depth {depth}"
    ax.set_title(f"{title}: {model.get_n_leaves()} leaves")
    ax.label_outer()
for ax in axes[:2]:
    ax.get_legend().remove()
plt.show()

# %%
# The questions
# -------------
# The same as boxes: a question a box, darker where one class prevails. What is cut off below has a dashed border.

TreeDisplay.from_estimator(model, max_depth=3)
plt.show()

# %%
# Four impurities
# ---------------
# What "pure" means is a choice. All four are zero where a set has one class, and largest where it has as many of
# both; scaled to the same height, the root of the Gini index rises steepest.

share = np.linspace(0, 1, 201)
figure, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
for criterion, dash, colour in [
    ("minority", ":", "#d55e00"),
    ("gini", "-", "#0072b2"),
    ("entropy", "--", "#009e73"),
    ("sqrt-gini", "-.", "#cc79a7"),
]:
    height = np.array([impurity([p, 1 - p], criterion) for p in share])
    ax.plot(share, height / height.max(), dash, color=colour, label=criterion)
ax.set(xlabel="share of positives", ylabel="impurity, largest = 1")
ax.legend()
plt.show()

# %%
# Steps and planes
# ----------------
# A regression tree answers with steps, each the mean of its box. With ``leaf="linear"`` each box has a line of its
# own, and far fewer boxes do as well. The boxes are still chosen by the means.

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(0, 10, size=120))
target = np.where(x < 4, x, 14 - x) + rng.normal(scale=0.7, size=120)
grid = np.linspace(0, 10, 500)[:, None]

figure, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
ax.scatter(x, target, s=12, color="0.6")
for leaf, depth, dash, colour in [
    ("mean", 3, "-", "#0072b2"),
    ("linear", 1, "--", "#d55e00"),
]:
    tree = DecisionTreeRegressor(max_depth=depth, leaf=leaf, min_samples_leaf=10)
    tree.fit(x[:, None], target)
    label = f'leaf="{leaf}": {tree.get_n_leaves()} leaves'
    ax.plot(grid, tree.predict(grid), dash, color=colour, lw=2, label=label)
ax.set(xlabel="x", ylabel="y")
ax.legend()

plt.show()
