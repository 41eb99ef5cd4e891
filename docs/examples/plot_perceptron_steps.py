"""
A perceptron learns from its mistakes
=====================================

Whenever a row lies on the wrong side, the line takes a step towards it. How large a step?

Shows figure 7.5 of Flach's *Machine Learning*.
"""

# %%
# Three learning rates
# --------------------
# All begin with the basic linear classifier, the bisector of the class means. Each faint line is one update, the
# later the darker; ringed are the rows that caused them. Small steps leave the line near where it was, and take
# many; larger ones take fewer. Still larger ones throw the line beyond the other class, which then has to throw it
# back.

import matplotlib.pyplot as plt
import numpy as np

from bisector import Perceptron, PerceptronTraceDisplay, datasets

rng = np.random.default_rng(8)
along, across = np.array([1.0, -0.6]), np.array([0.6, 1.0])
y = np.repeat([-1, 1], 30)
spread = rng.normal(0, 1.2, 60)[:, None] * along
depth = 0.15 + rng.exponential(np.where(y > 0, 1.2, 0.4))
X = spread + (y * depth)[:, None] * across

fig, axes = plt.subplots(1, 3, figsize=(11, 4), layout="constrained", sharey=True)
for ax, rate in zip(axes, [0.05, 0.2, 1.0], strict=True):
    model = Perceptron(eta0=rate, init="basic", shuffle=False, history=True).fit(X, y)
    PerceptronTraceDisplay.from_estimator(model, X, y, ax=ax)
    ax.set_title(f"η = {rate}: {model.n_updates_} updates, {model.n_iter_} passes")
    ax.label_outer()
    if ax is not axes[-1]:
        ax.get_legend().remove()
plt.show()

# %%
# From zero, the rate is only a scale
# -----------------------------------
# Without a start of their own, weights are a sum of rows times η: every mistake comes at the same row for every
# rate, and the line is the same.

for rate in (0.2, 0.5, 1.0):
    model = Perceptron(eta0=rate, shuffle=False).fit(X, y)
    print(f"η = {rate}: {model.n_updates_} updates, w/η = {model.weights_ / rate}")

# %%
# When no line separates the classes
# ----------------------------------
# Then it would walk on for ever. The fit ends when its mistakes prove that no plane separates the rows by a margin
# worth mentioning, and takes the best line it has seen (thick), not the last.

X, y = datasets.gaussian_classes(120, separation=1.5, seed=1)
model = Perceptron(history=True).fit(X, y)
fig, ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
PerceptronTraceDisplay.from_estimator(model, X, y, ax=ax)
plt.show()
print(model.stopping_reason_, "| right:", round(model.score(X, y), 3))
