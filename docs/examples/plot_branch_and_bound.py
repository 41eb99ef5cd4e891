"""
Searching without looking everywhere
====================================

To find the nearest of 10,000 rows, must one compare with all of them? Not if a bound says that a whole group is
too far away. How much does that save, and when?

Shows problem 6.16 of *Learning From Data*.
"""

# %%
# Ten groups
# ----------
# The centres are rows far from each other, chosen greedily; each row belongs to the nearest. A query's own
# group is searched first, and another one only if its ball reaches nearer than what was found. On the left the
# rows fill the square, on the right they come from ten normal clusters.

import matplotlib.pyplot as plt
import numpy as np

from bisector import VoronoiDisplay, datasets, farthest_first
from bisector.search import build_index

rng = np.random.default_rng(0)
uniform = rng.random((10_000, 2))
clustered, _ = datasets.random_mixture(10_000)
sets = {"uniform": uniform, "ten clusters": clustered}
centres = {name: rows[farthest_first(rows, 10).indices] for name, rows in sets.items()}
fig, axes = plt.subplots(1, 2, figsize=(9, 4.4), layout="constrained")
for ax, (name, rows) in zip(axes, sets.items(), strict=True):
    limits = np.column_stack([rows.min(axis=0) - 0.03, rows.max(axis=0) + 0.03])
    VoronoiDisplay.from_exemplars(centres[name], limits=limits, ax=ax)
    ax.scatter(*rows.T, s=0.5, color="black", alpha=0.3, lw=0)
    ax.set_title(f"{name}: ten groups")
plt.show()

# %%
# How many distances it takes
# ---------------------------
# Ten groups are searched here by hand. The trees of the library divide again and again, down to small leaves,
# and count what they compute. All answers are the same: who is nearest does not depend on how it was found.


def search_groups(rows, centres, queries):
    """Find the nearest rows group by group; count the distances that are computed."""
    near_first = build_index(centres)
    owner = near_first.query(rows, return_distance=False)[:, 0]
    radii = [
        np.linalg.norm(rows[owner == g] - centres[g], axis=1).max() for g in range(10)
    ]
    found, computed = [], 0
    for query in queries:
        far, order = near_first.query(query[None], 10)
        nearest, best = -1, np.inf
        for to_centre, group in zip(far[0], order[0], strict=True):
            if to_centre - radii[group] < best:  # else no row of it can be nearer
                members = np.flatnonzero(owner == group)
                distances = np.linalg.norm(rows[members] - query, axis=1)
                computed += len(members)
                if distances.min() < best:
                    nearest, best = members[distances.argmin()], distances.min()
        found.append(nearest)
    return np.array(found)[:, None], 10 + computed / len(queries)


TREES = ["brute", "kd_tree", "ball_tree"]
SEARCHES = ["brute", "ten groups", "kd_tree", "ball_tree"]
counts = {}
for name, rows in sets.items():
    queries = rows[:1000] + rng.normal(0, 1e-3, (1000, 2))
    found, counts[name, "ten groups"] = search_groups(rows, centres[name], queries)
    answers = [found]
    for search in TREES:
        index = build_index(rows, algorithm=search)
        answers.append(index.query(queries, return_distance=False))
        counts[name, search] = index.stats.distances / len(queries)
    assert all((found == answers[0]).all() for found in answers)

fig, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
for number, (name, hatch) in enumerate(zip(sets, ["", "//"], strict=True)):
    heights = [counts[name, search] for search in SEARCHES]
    places = np.arange(4) + 0.4 * number - 0.2
    colour = ["#0072B2", "#D55E00"][number]
    bars = ax.bar(places, heights, 0.38, label=name, color=colour, hatch=hatch)
    ax.bar_label(bars, [f"{height:,.0f}" for height in heights])
ax.set_xticks(range(4), ["every row", "ten groups", "k-d tree", "ball tree"])
ax.set(yscale="log", ylim=(1, 1e5), ylabel="distances a query")
ax.set_title("Nearest of 10,000 rows")
ax.legend(frameon=False)
plt.show()

# %%
# Ten groups save most of the work, and more where rows are spread evenly: of clusters, a few groups hold most
# rows, and most queries too. Trees compare about one row in a hundred. Arranging the rows costs something too,
# which pays as soon as there are more than a few queries.
