"""
Margins, and what they cost
===========================

Of all planes that separate two classes, a support vector machine takes the one with the widest margin. Where none
separates them, or where a few rows make the margin narrow, rows may pay to be inside.

Shows figures 7.7, 7.8, 7.9 and 7.10, and examples 7.5 and 7.6, of Flach's *Machine Learning*.
"""

# %%
# What a margin is
# ----------------
# The boundary is where w·x = t. The rows nearest to it, circled, are the support vectors: they lie where w·x − t is
# 1 or −1, at a distance of 1/‖w‖. No plane that separates the classes keeps farther from both.

import matplotlib.pyplot as plt
import numpy as np

from bisector import SVC, DecisionRegionsDisplay, SVMPathDisplay, datasets, svm_path

BLUE, ORANGE = "#0072b2", "#d55e00"

rng = np.random.default_rng(9)
y = np.arange(40) % 2 * 2 - 1
X = rng.normal(scale=0.9, size=(40, 2)) + np.outer(y, [1.7, 1.2])
model = SVC(C=np.inf, kernel="linear").fit(X, y)
figure, ax = plt.subplots(figsize=(7.6, 4.6), layout="constrained")
room = (-4.2, 4.4), (-3, 4)
DecisionRegionsDisplay.from_estimator(model, X, y, limits=room, ax=ax)
w, t, m = model.weights_, model.threshold_, model.margin_
unit = w / np.linalg.norm(w)
along = np.array([-unit[1], unit[0]])
foot = unit * t * m - 1.0 * along
ax.annotate("", foot + unit * m, foot, arrowprops={"arrowstyle": "<->", "color": "0.2"})
ax.annotate(
    f"1/‖w‖ = {m:.2f}",
    foot + unit * m,
    (6, 2),
    textcoords="offset points",
    bbox={"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none"},
)
foot = unit * t * m + 0.8 * along
ax.annotate(
    "", foot + 0.6 * unit, foot, arrowprops={"arrowstyle": "->", "color": "0.2"}
)
ax.annotate("w", foot + 0.6 * unit, (5, 2), textcoords="offset points", style="italic")
ax.set(aspect="equal", title="The widest margin, and the rows that hold it")
plt.show()

# %%
# The widest street
# -----------------
# Three points have a margin of 2: the first lies on it and decides nothing. A fourth one on the positive side turns
# the boundary and halves the margin. When slack has a price, C, the machine may leave the first point inside: the
# margin widens again.


def draw(ax, model, X, y, title):
    """Show the boundary with its margins, and the price and slack of each row."""
    room = (-2.6, 5.8), (-3.2, 3.2)
    DecisionRegionsDisplay.from_estimator(model, X, y, limits=room, ax=ax)
    handles = ax.get_legend_handles_labels()
    ax.get_legend().remove()
    for row, (x, slack) in enumerate(zip(X, model.slack_, strict=True)):
        note = f"α = {model.alpha_[row]:.3g}"
        if slack > 1e-9:
            note += f", ξ = {slack:.3g}"
        box = {"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none"}
        ax.annotate(note, x, (8, 6), textcoords="offset points", fontsize=9, bbox=box)
    ax.set(title=f"{title}: margin {model.margin_:.3g}", aspect="equal")
    ax.label_outer()
    return handles


X, y = datasets.margin_points()
figure, axes = plt.subplots(2, 2, figsize=(9, 7), layout="constrained")
for ax, rows, C, title in [
    (axes[0, 0], slice(3), np.inf, "Three points"),
    (axes[0, 1], slice(4), np.inf, "Four"),
    (axes[1, 0], slice(4), 5 / 16, "C = 5/16"),
    (axes[1, 1], slice(4), 1 / 10, "C = 1/10"),
]:
    model = SVC(C=C, kernel="linear").fit(X[rows], y[rows])
    handles = draw(ax, model, X[rows], y[rows], title)
figure.legend(*handles, loc="outside lower center", ncols=3, frameon=False)
plt.show()

# %%
# Every C at once
# ---------------
# The solution bends only at a few values of C and is straight between them. ``svm_path`` finds them all: here 1/2,
# 5/16, 3/16 and 1/10. Between 3/16 and 5/16 the prices move and the boundary does not.

path = svm_path(X, y)
print(path)
figure, axes = plt.subplots(1, 3, figsize=(13, 3.6), layout="constrained")
for ax, kind in zip(axes, ["alpha", "margin", "boundary"], strict=True):
    SVMPathDisplay.from_path(path, X, y, kind=kind, ax=ax)
plt.show()

# %%
# Around corners
# --------------
# With a kernel the plane lies in feature space, and its image in the plane of the rows is curved. Roles are told
# row by row: most rows lie outside of the margin and have no price.

X, y = datasets.double_semicircle(400, seed=1)
X = X + np.random.default_rng(0).normal(scale=4.0, size=X.shape)
model = SVC(C=1.0, kernel="rbf").fit(X, y)
figure, ax = plt.subplots(figsize=(7.5, 4.6), layout="constrained")
DecisionRegionsDisplay.from_estimator(model, X, y, ax=ax)
ax.set_title(f"{len(model.support_)} of {len(X)} rows carry the boundary")
plt.show()
print(model.support_report(largest=3))

# %%
# A classifier is a projection
# ----------------------------
# All that a plane sees of a row is how far along w it lies. On the left every row is sent there at right angles to
# the boundary; on the right is what arrives. The classes are two heaps along w, each with its mean distance, and a
# threshold, or a probability, is laid over them.

X, y = datasets.gaussian_classes(60, separation=3.4, seed=2)
model = SVC(kernel="linear").fit(X, y)
w, t = model.weights_, model.threshold_
unit, distances = w / np.linalg.norm(w), model.signed_distance(X)
on_w = (distances + t / np.linalg.norm(w))[:, None] * unit
figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.2), layout="constrained")
for label, colour, marker in [(-1, BLUE, "o"), (1, ORANGE, "s")]:
    own = y == label
    left.scatter(
        *X[own].T, s=16, color=colour, marker=marker, label=f"class {label:+d}"
    )
    left.scatter(*on_w[own].T, s=8, color=colour, marker=marker)
    for row, foot in zip(X[own], on_w[own], strict=True):
        left.plot(*np.transpose([row, foot]), color=colour, lw=0.5, alpha=0.5)
left.axline((0, 0), unit, color="0.2", lw=1, label="along w")
left.axline(
    t * w / (w @ w), (-unit[1], unit[0]) + t * w / (w @ w), color="0.2", ls="--"
)
left.set(aspect="equal", xlabel="x0", ylabel="x1", title="Rows, and where w sees them")
left.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=3, frameon=False)
bins = np.linspace(distances.min(), distances.max(), 25)
for label, colour, hatch in [(-1, BLUE, ""), (1, ORANGE, "//")]:
    own = distances[y == label]
    right.hist(own, bins, color=colour, alpha=0.55, hatch=hatch)
    mean = own.mean()
    right.axvline(
        mean, color=colour, ls=":", lw=2, label=f"mean of {label:+d}: {mean:.2f}"
    )
right.axvline(0, color="0.2", ls="--", label="the boundary")
right.set(xlabel="signed distance from the boundary", ylabel="rows")
right.set_title("What arrives")
right.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=3, frameon=False)
plt.show()
