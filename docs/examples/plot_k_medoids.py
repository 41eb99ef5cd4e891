"""
Medoids and means under outliers
================================

A mean goes where the sum of squares is least, and a few rows far away are worth many squares. A medoid is one of
the rows, and distances are not squared: it stays.

Shows algorithms 8.2 and 8.3 of Flach's *Machine Learning* at work.
"""

# %%
# Three heaps of forty rows, and a dozen rows that do not belong. Both clusterings begin with the same three rows.

import matplotlib.pyplot as plt
import numpy as np

from bisector import DecisionRegionsDisplay, KExemplars, KMedoids, Levenshtein

rng = np.random.default_rng(4)
heaps = np.repeat([[0.0, 0.0], [6.0, 1.0], [3.0, 5.0]], 40, axis=0) + 0.8 * rng.normal(
    size=(120, 2)
)
strangers = np.array([15.0, 9.0]) + 1.2 * rng.normal(size=(12, 2))
X = np.vstack([heaps, strangers])
start = [0, 40, 80]

medoids = KMedoids(3, init=start).fit(X)
means = KExemplars(3, metric="sqeuclidean", init=start).fit(X)

figure, axes = plt.subplots(
    1, 2, figsize=(10, 3.6), sharex=True, sharey=True, layout="compressed"
)
for ax, model, title in zip(axes, (means, medoids), ("means", "medoids"), strict=True):
    DecisionRegionsDisplay.from_estimator(model, X, ax=ax)
    ax.set(title=title, aspect="equal")
    ax.label_outer()
axes[0].get_legend().remove()
plt.show()

# %%
# To the left, a dozen strangers have pulled a mean out of its heap, and rows at the heap's edge go over to the next
# cluster. To the right, the strangers are far from their medoid, and that is all: it stays in the middle of its
# heap. Stars are what stands for each cluster.
#
# Words have no mean at all. Their medoids are words:

words = [
    "pine",
    "line",
    "wine",
    "mine",
    "fine",
    "dine",
    "shine",
    "table",
    "cable",
    "fable",
    "stable",
    "able",
]
words += ["house", "mouse", "louse", "horse", "hose"]
model = KMedoids("auto", metric=Levenshtein(), k_range=range(2, 6)).fit(words)
for label, medoid in enumerate(model.cluster_centers_):
    members = [
        word for word, own in zip(words, model.labels_, strict=True) if own == label
    ]
    print(f"{medoid:>6}: {' '.join(members)}")
