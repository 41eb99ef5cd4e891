"""
One feature, one line
=====================

The straight line that least squares draws through points, how far it can be trusted, what it leaves, and how it
becomes a classifier.

Shows figures 7.1 and 7.4, and examples 7.1 and 7.4, of Flach's *Machine Learning*.
"""

# %%
# Height and weight
# -----------------
# Ten people. The line passes through their mean height and mean weight (dotted). It is not the true one (dashed),
# from which the weights were drawn: that should lie within the inner band, and a new person's weight within the
# outer one.

import matplotlib.pyplot as plt
import numpy as np

from bisector import (
    CoefficientPathDisplay,
    LinearRegression,
    RegressionDisplay,
    RidgeCV,
    datasets,
    lasso_knots,
)

X, weight = datasets.height_weight()
line = LinearRegression().fit(X, weight)
fig, ax = plt.subplots(figsize=(7, 4.4), layout="constrained")
display = RegressionDisplay.from_estimator(
    line, X, weight, target_name="weight (kg)", ax=ax
)
ax.axvline(X.mean(), color="#E69F00", ls=":", label="the means")
ax.axhline(weight.mean(), color="#E69F00", ls=":")
ends = display.at[[0, -1]]
ax.plot(
    ends,
    74.5 + 0.83 * (ends - 181),
    "--",
    color="#D55E00",
    label="as drawn: 0.83 kg/cm",
)
ax.set(xlabel="height (cm)", title=f"Least squares: {line.coef_[0]:.2f} kg/cm")
ax.legend(frameon=False)
plt.show()

# %%
# What is left
# ------------
# With many features no line can be drawn, but what it leaves can: the residuals against the predictions. A cloud
# without shape is what one hopes for. Here it widens to the right, which least squares does not know. Rows with
# three times the mean leverage are framed: their own target decides most about their prediction.

patients = datasets.diabetes(scaled=True)
together = LinearRegression().fit(*patients)
fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
RegressionDisplay.from_estimator(
    together, *patients, kind="residuals", target_name="progression", ax=ax
)
plt.show()

# %%
# How the coefficients come about
# -------------------------------
# A penalty on them leads from none to all. The ridge shrinks them together; the lasso lets them in one by one, and
# is straight between its knots.

fig, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
ridge = RidgeCV(alphas=np.geomspace(1e-3, 1e4, 100)).fit(*patients)
names = patients.feature_names
CoefficientPathDisplay.from_estimator(ridge, names=names, ax=left)
left.get_legend().remove()
CoefficientPathDisplay.from_knots(lasso_knots(*patients), names=names, ax=right)
right.set_xlim(0, 1)
plt.show()

# %%
# A line that decides
# -------------------
# Ten negatives and twenty positives, labelled −1 and +1. Least squares does not mind that y is a label: where its
# line crosses zero is the boundary. It makes three mistakes, and no other threshold makes fewer.

X, y = datasets.overlapping_classes()
line = LinearRegression().fit(X, y)
boundary = X.mean() - y.mean() / line.coef_[0]
wrong = int((np.sign(line.predict(X)) != y).sum())
fig, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
shown = RegressionDisplay.from_estimator(line, X, y, target_name="label", ax=ax)
for band in shown.bands_:  # intervals are for normal targets, which labels are not
    band.remove()
for sign in (-1, 1):
    mean = {"marker": "o", "ms": 11, "mfc": "none", "mec": "#D55E00", "mew": 2}
    words = "class means" if sign > 0 else None
    ax.plot(X[y == sign].mean(), sign, ls="", label=words, **mean)
ax.axhline(0, color="0.5", lw=0.8)
ax.axvline(boundary, color="0.5", lw=0.8)
ax.set(
    xlabel="x",
    ylim=(-1.6, 2.2),
    title=f"Boundary at {boundary:.2f}: {wrong} of {len(y)} wrong",
)
ax.legend(frameon=False, loc="upper left")
plt.show()
