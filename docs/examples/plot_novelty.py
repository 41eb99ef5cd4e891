"""
What is new?
============

A row is new where the density is lower than it is for nearly all known rows; and many new rows in one place are a
new cluster. Four known clusters, and a fifth that begins to arrive in their midst.

Shows problem 6.25 of *Learning From Data*.
"""

# %%
# Single rows
# -----------
# `NoveltyDetector` sets half of the known rows aside, and calls new what is less dense than all but five in a
# hundred of them: so often is a usual row called new, whatever the density. Contours show the density, and the
# black line the level of alarm.

import matplotlib.pyplot as plt
import numpy as np

from bisector import ClusterArrivalDetector, DensityDisplay, NoveltyDetector, datasets

known = datasets.four_gaussians(400).X
rng = np.random.default_rng(0)
arriving = 0.15 * rng.normal(size=(60, 2))

model = NoveltyDetector(alpha=0.05).fit(known)
shown = DensityDisplay.from_estimator(model, known, rows=False)
ax = shown.ax_
ax.contour(*shown.places, shown.density, [np.exp(model.offset_)], colors="k")
new = model.predict(arriving) == -1
ax.plot(*known.T, ".", color="0.5", ms=3, label="known")
ax.plot(*arriving[new].T, "x", color="C1", label="arriving, called new")
ax.set(title=f"{new.sum()} of {len(new)} arriving rows are new", aspect="equal")
ax.legend(fontsize="x-small", loc="lower left")
plt.show()

# %%
# A cluster
# ---------
# `ClusterArrivalDetector` asks the gap statistic again after every few rows. Four clusters, until those in the
# middle are enough to be one: it says when, and which rows they are.

watch = ClusterArrivalDetector(check_every=2).fit(known)
watch.partial_fit(arriving[:14])
seen, counts = np.transpose(watch.n_clusters_history_)
rows = np.concatenate([known, arriving])[watch.new_rows_]

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
left.step(seen, counts, "o-", where="post", ms=4)
left.set(xlabel="rows that have arrived", ylabel="number of clusters", yticks=[3, 4, 5])
left.set_xticks(seen)
left.set_title(f"a fifth cluster after {watch.arrived_at_} rows")
right.plot(*known.T, ".", color="0.5", ms=3, label="known")
right.plot(*rows.T, "x", color="C1", label="the new cluster")
right.set(title=f"{len(rows)} rows of it", aspect="equal")
right.legend(fontsize="small")
plt.show()

# %%
# How soon
# --------
# One run may be lucky. On the left, for clusters of four widths, by how much the number of clusters has grown
# on average over four runs; on the right, after how many rows most runs have noticed the fifth. The wider the
# clusters, the less a new one stands out, and the more rows it takes.

deviations, runs = (0.1, 0.15, 0.2, 0.25), 4
noticed = []
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
for deviation, dash in zip(deviations, ["-", "--", "-.", ":"], strict=True):
    grown = []
    for run in range(runs):
        rows = datasets.four_gaussians(200, deviation=deviation, seed=run).X
        watch = ClusterArrivalDetector(check_every=3, n_references=3).fit(rows)
        watch.partial_fit(deviation * rng.normal(size=(27, 2)))
        seen, counts = np.transpose(watch.n_clusters_history_)
        grown.append(counts - counts[0])
    average = np.mean(grown, axis=0)
    noticed.append(
        seen[np.argmax(average >= 0.5)] if (average >= 0.5).any() else np.nan
    )
    left.plot(seen, average, dash, label=f"deviation {deviation}")
left.axhline(0.5, color="0.6", lw=0.8)
left.set(xlabel="rows that have arrived", ylabel="more clusters than before")
left.legend(fontsize="small")
right.plot(deviations, noticed, "o-")
right.set(xlabel="standard deviation of the clusters")
right.set(ylabel="rows until most runs notice", ylim=(0, None))
plt.show()
