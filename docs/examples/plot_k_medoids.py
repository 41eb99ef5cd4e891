"""
Medoids and means under outliers
================================

A mean goes where the sum of squares is least, and a few rows far away are worth many squares. A medoid is one of
the rows, and distances are not squared: it stays.
"""

# %%
# Three heaps of forty rows, and a dozen rows that do not belong. Both clusterings begin with the same three rows.

import matplotlib.pyplot as plt
import numpy as np

from bisector import KExemplars, KMedoids, Levenshtein

rng = np.random.default_rng(4)
heaps = np.repeat([[0.0, 0.0], [6.0, 1.0], [3.0, 5.0]], 40, axis=0) + 0.8 * rng.normal(
    size=(120, 2)
)
strangers = np.array([15.0, 9.0]) + 1.2 * rng.normal(size=(12, 2))
X = np.vstack([heaps, strangers])
start = [0, 40, 80]

medoids = KMedoids(3, init=start).fit(X)
means = KExemplars(3, metric="sqeuclidean", init=start).fit(X)

colours = ["#0072B2", "#E69F00", "#009E73"]
markers = ["o", "s", "^"]
figure, axes = plt.subplots(
    1, 2, figsize=(10, 4.2), sharex=True, sharey=True, layout="constrained"
)
for axis, model, title in zip(
    axes, (means, medoids), ("means (k-means)", "medoids"), strict=True
):
    for label, (colour, marker) in enumerate(zip(colours, markers, strict=True)):
        own, exemplar = X[model.labels_ == label], model.cluster_centers_[label]
        axis.scatter(*own.T, s=22, c=colour, marker=marker, alpha=0.7, linewidths=0)
        axis.scatter(
            *exemplar,
            s=190,
            c=colour,
            marker=marker,
            edgecolors="black",
            linewidths=1.8,
        )
    axis.set(title=title, xlabel="first feature", aspect="equal")
axes[0].set_ylabel("second feature")

# %%
# To the left, a dozen strangers have pulled a mean out of its heap, and rows at the heap's edge go over to the next
# cluster. To the right, the strangers are far from their medoid, and that is all: it stays in the middle of its
# heap. Large signs are what stands for each cluster.
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
