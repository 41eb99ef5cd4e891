"""
Why this answer?
================

Every model can say what its answer is made of. A linear model adds up features, neighbours vote, support vectors
push and pull, a tree asks its questions. And where boundaries are known, the model tells how little would have to
change for another answer.
"""

# %%
# What the features add
# ---------------------
# The score of a logistic regression is a sum, so that it can be drawn as one: each bar is weight times value, and
# together they are the score that decides. What takes away is hatched.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bisector import (
    SVC,
    BoundaryDisplay,
    KNeighborsClassifier,
    LogisticRegression,
    datasets,
    explain,
)

ORANGE = "#d55e00"

flowers = datasets.iris()
X = flowers.frame.drop(columns="species")
y = [flowers.class_names[code] for code in flowers.y]
model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
reasons = explain(model, X.iloc[70])
reasons.plot()
plt.show()
print(reasons)

# %%
# The shortest way to another answer
# ----------------------------------
# Of a linear machine the shortest way is the perpendicular to its plane. One nearest neighbour decides by cells,
# and the shortest way ends where the nearest cell of the other class begins, on an edge or in a corner. Both are
# exact: no shorter step changes the class. A curved boundary has no such formula; its way leads towards the nearest
# support vector of the other class, and may be a little too long.

rng = np.random.default_rng(2)
points = rng.uniform([-2.5, -1.8], [2.5, 1.8], size=(70, 2))
wave = np.sin(2 * points[:, 0]) + 0.4 * rng.normal(size=70)
labels = np.where(points[:, 1] > wave, 1, -1)
asked = np.array([[-0.9, 1.0], [0.6, -0.9], [2.2, 0.6]])
machines = {
    "linear machine": SVC(kernel="linear"),
    "one neighbour": KNeighborsClassifier(1),
    "Gaussian kernel": SVC(C=3, gamma=1.0),
}
figure, axes = plt.subplots(
    1, 3, figsize=(11, 2.9), layout="compressed", sharex=True, sharey=True
)
for ax, (name, machine) in zip(axes, machines.items(), strict=True):
    machine.fit(points, labels)
    shown = BoundaryDisplay.from_estimator(machine, points, labels, ax=ax)
    shown.lines_[0].set_label("boundary")
    for place, one in zip(asked, explain(machine, asked), strict=True):
        (star,) = ax.plot(*place, "*", color=ORANGE, mec="black", ms=12, zorder=4)
        way = {"arrowstyle": "->", "lw": 1.8, "color": ORANGE}
        ax.annotate("", one.move.to, place, arrowprops=way, zorder=4)
    proved = "shortest" if one.move.smallest else "a way out"
    ax.set(title=f"{name}: {proved}", aspect="equal")
    ax.label_outer()
    if ax is not axes[-1]:
        ax.get_legend().remove()
star.set_label("asked about")
ax.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
plt.show()

# %%
# Who votes
# ---------
# Of five neighbours weighted by their distance, the nearest count most.

voters = KNeighborsClassifier(5, weights="distance").fit(X, y)
explain(voters, X.iloc[70] + 0.05).plot()
plt.show()
