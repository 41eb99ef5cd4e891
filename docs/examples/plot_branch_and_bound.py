"""
Searching without looking everywhere
====================================

To find the nearest of 10,000 rows, must one compare with all of them? Not if a bound says that a whole group is
too far away. Problem 6.16 of *Learning From Data* asks how much that saves, and when.
"""

# %%
# Ten groups
# ----------
# The centres are rows far from each other, chosen greedily; each row belongs to the nearest. A query's own group is
# searched first, and another one only if its ball reaches nearer than what was found. On the left the rows fill
# the square, on the right they come from ten normal clusters.

import matplotlib.pyplot as plt
import numpy as np

from bisector import VoronoiDisplay, datasets, farthest_first
from bisector.search import build_index

rng = np.random.default_rng(0)
uniform = rng.random((10_000, 2))
clustered, _ = datasets.random_mixture(10_000)
sets = {"uniform": uniform, "ten clusters": clustered}
fig, axes = plt.subplots(1, 2, figsize=(9, 4.4), layout="constrained")
for ax, (name, rows) in zip(axes, sets.items(), strict=True):
    centres = rows[farthest_first(rows, 10).indices]
    limits = np.column_stack([rows.min(axis=0), rows.max(axis=0)])
    VoronoiDisplay.from_exemplars(centres, limits=limits, ax=ax)
    ax.scatter(*rows.T, s=0.5, color="black", alpha=0.3, lw=0)
    ax.set_title(f"{name}: ten groups")
plt.show()

# %%
# How many distances it takes
# ---------------------------
# The trees of the library divide again and again, down to small leaves, and count what they compute. All answers
# are the same: who is nearest does not depend on how it was found.

SEARCHES = ["brute", "kd_tree", "ball_tree"]
counts = {}
for name, rows in sets.items():
    queries = rows[:1000] + rng.normal(0, 1e-3, (1000, 2))
    answers = []
    for search in SEARCHES:
        index = build_index(rows, algorithm=search)
        answers.append(index.query(queries, return_distance=False))
        counts[name, search] = index.stats.distances / len(queries)
    assert all((found == answers[0]).all() for found in answers)

fig, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
for number, (name, hatch) in enumerate(zip(sets, ["", "//"], strict=True)):
    heights = [counts[name, search] for search in SEARCHES]
    places = np.arange(3) + 0.4 * number - 0.2
    colour = ["#0072B2", "#D55E00"][number]
    bars = ax.bar(places, heights, 0.38, label=name, color=colour, hatch=hatch)
    ax.bar_label(bars, [f"{height:,.0f}" for height in heights])
ax.set_xticks(range(3), ["every row", "k-d tree", "ball tree"])
ax.set(yscale="log", ylim=(1, 1e5), ylabel="distances a query")
ax.set_title("Nearest of 10,000 rows")
ax.legend(frameon=False)
plt.show()

# %%
# About one row in a hundred is compared. Clusters help little in the plane, where rows of both kinds are divided
# well. Arranging the rows costs something too, which pays as soon as there are more than a few queries.
