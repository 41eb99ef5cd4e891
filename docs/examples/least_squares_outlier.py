"""
What one outlier does to least squares
======================================

Ten people's heights and weights, and a line fitted by least squares. One weight is then written down 10 kg too
high. Squaring the residuals lets the wrong value pull hard, and how hard depends on where it lies: a point far
from the middle has more *leverage* on the line than one near it.

The idea is that of Figure 7.2 in Flach, *Machine Learning* (2012); the ten people are made up.
"""

# %%
# Ten people
# ----------
# We fit the line twice: to the weights as they are, and with the weight of the tallest person raised by 10 kg.

import matplotlib.pyplot as plt
import numpy as np

from bisector import LinearRegression

height = np.array(
    [152.0, 156.0, 160.0, 163.0, 166.0, 169.0, 172.0, 176.0, 181.0, 187.0]
)
weight = np.array([50.5, 51.0, 58.5, 56.0, 63.5, 61.0, 69.5, 68.0, 76.5, 77.0])
X = height[:, None]

mistaken = weight.copy()
mistaken[-1] += 10

clean = LinearRegression().fit(X, weight)
pulled = LinearRegression().fit(X, mistaken)

# %%
# The line is tilted towards the wrong value, everywhere: predictions for short people become too low, although
# nothing was changed there. The shaded band is the 95 % interval for the mean weight at each height, from the
# correct data; at the outlier's end, the new line runs along its edge.

# Colours that colour-blind readers can tell apart.
BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#6b6b6b"

at = np.linspace(149, 190, 100)[:, None]
low, high = clean.predict_interval(at, kind="mean").T
tall, before, after = height[-1], weight[-1], mistaken[-1]

fig, ax = plt.subplots(figsize=(7, 4.6), layout="constrained")
ax.fill_between(at[:, 0], low, high, color=BLUE, alpha=0.15, lw=0)
ax.plot(at, clean.predict(at), color=BLUE, lw=2)
ax.plot(at, pulled.predict(at), "--", color=ORANGE, lw=2)
ax.scatter(height, weight, color=BLUE, s=42, zorder=3)
ax.scatter(tall, after, color=ORANGE, marker="D", s=52, zorder=3)
arrow = {"arrowstyle": "->", "color": GREY, "lw": 1.5}
ax.annotate("", (tall, after - 0.7), (tall, before + 0.7), arrowprops=arrow)
ax.text(tall - 1, after, "10 kg too high", color=GREY, ha="right", va="center")
ax.set(xlabel="height (cm)", ylabel="weight (kg)")
ax.set_title("One wrong value tilts the whole line")
labels = [
    "95 % interval for the mean",
    f"as measured: slope {clean.coef_[0]:.2f} kg/cm",
    f"one outlier: slope {pulled.coef_[0]:.2f} kg/cm",
]
ax.legend(labels, frameon=False, loc="upper left")
ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# Which person's mistake would matter most?
# -----------------------------------------
# A row's leverage is the share of a change in its own target that its own prediction follows: raise one weight
# by 10 kg, and the line at that person's height rises by 10 kg times the leverage. The fit knows this without
# trying; refitting ten times shows that it is exactly so.

raised = weight + 10 * np.eye(len(weight))  # in row i, person i's weight is raised
refits = [LinearRegression().fit(X, y).predict(X) for y in raised]
follows = np.diagonal(refits) - clean.predict(X)

fig, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
bars = ax.bar(height, 10 * clean.leverage_, width=2, color="#a6cde6")
dots = ax.scatter(height, follows, color=ORANGE, marker="D", s=36, zorder=3)
labels = ["10 kg × leverage_", "by refitting"]
ax.legend([bars, dots], labels, frameon=False, loc=(0.16, 0.8))
ax.axvline(height.mean(), color=GREY, lw=1, ls=":", zorder=0)
ax.text(height.mean() + 0.5, 4.2, "mean height", color=GREY)
ax.set(xlabel="height of the person whose weight is raised (cm)")
ax.set(ylabel="the line there rises by (kg)")
ax.set_title("A mistake far from the mean pulls hardest")
ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# What the summary says
# ---------------------
# Hardly anything: the standard error of the slope grows a little, the slope is still far from zero, and the wrong
# value has pulled the line so near that its residual (the largest, below) is matched by that of a correct one on
# the other side. A least-squares fit does not tell an outlier by itself; look at the data, and at the leverage.

before, after = clean.standard_errors_[1], pulled.standard_errors_[1]
print(f"standard error of the slope: {before:.3f} before, {after:.3f} after")
pulled.summary(["height"])
