"""
Fewer rows, same answers
========================

A nearest-neighbour rule keeps all its training rows, and compares every query with them. Most are not needed: a
row deep inside its class never decides. Here is how many can go, and what it costs to let them go.

Shows figure 6.4 and problems 6.2 and 6.13 of *Learning From Data*.
"""

# %%
# Four clusters, two classes
# --------------------------
# A thousand rows from four normal clusters, two for each class (*Learning From Data*, Problem 6.13). Four
# condensers look for rows to keep:
#
# - ``CondensedNearestNeighbor`` adds rows that are answered wrongly, until none is;
# - ``InfluenceCondenser`` keeps the row that stands for most others, and drops these;
# - ``PrototypeMerger`` puts one point in the place of the two closest of a class;
# - ``VoronoiCondenser`` drops only rows whose cell has no cell of another class beside it.
#
# The first three promise the same answers to the training rows. The last promises the same answers
# everywhere.

import matplotlib.pyplot as plt
import numpy as np

from bisector import (
    CondensationDisplay,
    CondensedNearestNeighbor,
    EditedNearestNeighbor,
    InfluenceCondenser,
    KNeighborsClassifier,
    NearestExemplarClassifier,
    PrototypeMerger,
    VoronoiCondenser,
    datasets,
)

CONDENSERS = [
    CondensedNearestNeighbor(),
    InfluenceCondenser(),
    PrototypeMerger(),
    VoronoiCondenser(),
]
X, y = datasets.four_gaussians()
fig, axes = plt.subplots(2, 2, figsize=(9.4, 7.4), layout="constrained")
for ax, condenser in zip(axes.flat, CONDENSERS, strict=True):
    CondensationDisplay.from_estimator(condenser.fit(X, y), X, y, ax=ax)
    if ax is not axes[0, 1]:
        ax.get_legend().remove()
plt.show()

# %%
# Thick grey is the boundary of all rows, dashed that of the kept ones: they coincide only for the last.
# Each condenser gives an account of what it did:

print(VoronoiCondenser().fit(X, y).report_)

# %%
# The average over many datasets
# ------------------------------
# Problem 6.13c repeats this and asks for the average size. A hundred datasets are enough to see that four
# clusters need four rows, and seldom more; the cells at the boundary are ten times as many. (A thousand
# datasets give 4.13 for the textbook's algorithm, one row at a time; 4.29 when all cells are looked at
# together; 4.06 by influence.)

repeated = [
    CondensedNearestNeighbor(method="one_by_one", random_state=0),
    CondensedNearestNeighbor(),
    InfluenceCondenser(),
    VoronoiCondenser(),
]
for condenser in repeated:
    sizes = [
        len(condenser.fit(*datasets.four_gaussians(seed=seed)).sample_indices_)
        for seed in range(100)
    ]
    print(f"{condenser}: {np.mean(sizes):.2f} ± {np.std(sizes):.2f}")

# %%
# Editing is something else
# -------------------------
# Condensing keeps the rows at the boundary; where classes overlap, that is most of the noise. Editing
# removes the rows that disagree with their neighbours, and so smooths the boundary. What is left condenses
# well.

X, y = datasets.four_gaussians(deviation=0.4)
edited, of_edited = EditedNearestNeighbor(5, repeat=True).fit_resample(X, y)
condensed = CondensedNearestNeighbor().fit_resample(edited, of_edited)
fig, axes = plt.subplots(1, 3, figsize=(11.4, 3.6), layout="constrained")
for ax, kept, words in [
    (axes[0], CondensedNearestNeighbor().fit_resample(X, y), "condensed"),
    (axes[1], (edited, of_edited), "edited"),
    (axes[2], condensed, "edited, then condensed"),
]:
    CondensationDisplay.from_rows(
        X, y, *kept, title=f"{words}: {len(kept[0])} of {len(X):,}", ax=ax
    )
    if ax is not axes[-1]:
        ax.get_legend().remove()
plt.show()

# %%
# On fresh rows, the edited rule errs less than the rule of all rows, with a fraction of them.

fresh, truth = datasets.four_gaussians(4000, deviation=0.4, seed=1)
for words, rows in [
    ("all rows", (X, y)),
    ("edited", (edited, of_edited)),
    ("edited, condensed", condensed),
]:
    error = (KNeighborsClassifier(1).fit(*rows).predict(fresh) != truth).mean()
    print(f"{words:>18}: {len(rows[0]):4d} rows, error {error:.3f}")

# %%
# Digits
# ------
# Zeros against the others by intensity and symmetry, 500 images. The classes overlap here. One neighbour draws
# an island around every stray row, and each island keeps its own: one row in six is needed to answer as all of
# them do. Of 21 neighbours the boundary is plain; but 21 votes must be had everywhere, so that hardly fewer rows
# are kept, and they lie all over the plane.

X, y = datasets.digit_features(positive=0, n=500)
fig, axes = plt.subplots(1, 2, figsize=(11.6, 4.2), layout="constrained", sharey=True)
for ax, k in zip(axes, (1, 21), strict=True):
    condenser = CondensedNearestNeighbor(k).fit(X, y)
    CondensationDisplay.from_estimator(condenser, X, y, ax=ax)
    ax.set(xlabel="intensity", ylabel="symmetry" if k == 1 else "")
    words = "neighbour" if k == 1 else "neighbours"
    ax.set_title(f"{k} {words}: {len(condenser.sample_indices_)} of 500 rows kept")
axes[0].get_legend().remove()
plt.show()

# %%
# Two prototypes
# --------------
# Problem 6.2 puts the seven points of Problem 6.1 down to one point for each class: the class means, or what is
# left after merging the closest two of a class again and again. Both leave three of the seven wrong: no line
# parts the classes, and two prototypes draw a line.

X, y = datasets.seven_points()
means = NearestExemplarClassifier("mean").fit(X, y)
merged = PrototypeMerger(n_prototypes=2).fit(X, y)
fig, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
for ax, prototypes, labels, words in [
    (axes[0], means.exemplars_, means.exemplar_labels_, "class means"),
    (axes[1], merged.prototypes_, merged.prototype_labels_, "merged"),
]:
    model = KNeighborsClassifier(1).fit(prototypes, labels)
    wrong = int((model.predict(X) != y).sum())
    CondensationDisplay.from_rows(
        X, y, prototypes, labels, title=f"{words}: {wrong} of 7 wrong", ax=ax
    )
axes[0].get_legend().remove()
plt.show()
