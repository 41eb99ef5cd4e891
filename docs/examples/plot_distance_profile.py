"""
Do neighbours mean anything?
============================

In many dimensions every row is far from every other, and all about equally far. What counts is not the number of
features, but how many dimensions the rows really fill.

Shows what section 8.3 of Flach's *Machine Learning* says of many dimensions.
"""

# %%
# The curse of dimensionality
# ---------------------------
# Six hundred normal rows with more and more features. The distances to the nearest and to the farthest row draw
# together, until the nearest is not much nearer than any other.

import matplotlib.pyplot as plt
import numpy as np

from bisector import DistanceProfileDisplay, datasets

rng = np.random.default_rng(0)
figure, axes = plt.subplots(1, 3, figsize=(13, 3.8), layout="constrained")
for ax, n_features in zip(axes, (2, 20, 500), strict=True):
    DistanceProfileDisplay.from_rows(rng.normal(size=(600, n_features)), ax=ax)
    ax.set_title(f"{n_features} features\n{ax.get_title()}", fontsize="medium")
plt.show()

# %%
# Many features, few dimensions
# -----------------------------
# Five hundred features again, but made from three: rows lie on a plane of three dimensions, and neighbours mean
# what they meant there. The thirteen measurements of wines are less spread out than their number suggests.

hidden = rng.normal(size=(600, 3)) @ rng.normal(size=(3, 500))
wine = datasets.wine().X
figure, axes = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
DistanceProfileDisplay.from_rows(hidden, ax=axes[0])
DistanceProfileDisplay.from_rows(
    (wine - wine.mean(axis=0)) / wine.std(axis=0), ax=axes[1]
)
plt.show()

# %%
# Words
# -----
# The distance need not be between vectors. Counts of edits are whole numbers, and many rows have several nearest.

text = """the boundary between two exemplars is their perpendicular bisector
where linear models and models that are based on distance are the same"""
DistanceProfileDisplay.from_rows(sorted(set(text.split())), "levenshtein")
plt.show()
