"""
A line among squares is an ellipse
==================================

No line parts a disc from the ring around it. In the plane of the squared features (x₁², x₂²) a line does; taken
back to where the rows came from, it is an ellipse. A kernel does the same without making the features.

Shows figure 7.14 and example 7.8 of Flach's *Machine Learning*.
"""

# %%
# There and back
# --------------
# On the right are the squared features, with the lines of the basic linear classifier and of the perceptron; on the
# left the same lines where the rows came from. The perceptron makes no mistake on separable data; the bisector of
# the means may.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from bisector import (
    BasicLinearClassifier,
    BoundaryDisplay,
    KernelPerceptron,
    Perceptron,
    Polynomial,
    datasets,
    linear_separability,
)

X, y = datasets.disc_and_ring()
print("as they are: ", linear_separability(X, y).kind)
print("their squares:", linear_separability(X**2, y).kind)

# %%

squares = FunctionTransformer(np.square)
models = {
    "basic linear classifier": BasicLinearClassifier(),
    "perceptron": Perceptron(max_iter=10_000),
}
fig, (here, there) = plt.subplots(1, 2, figsize=(11, 4.2), layout="compressed")
whole = {name: make_pipeline(squares, model) for name, model in models.items()}
for model in whole.values():
    model.fit(X, y)
around = (-2.7, 2.7), (-2.7, 2.7)
BoundaryDisplay.from_estimator(whole, X, y, limits=around, ax=here)
here.get_legend().remove()
here.set(xlabel="x₁", ylabel="x₂", title="where the rows came from", aspect="equal")
above = (-0.2, 6.5), (-0.2, 6.5)
BoundaryDisplay.from_estimator(models, X**2, y, limits=above, ax=there)
there.set(xlabel="x₁²", ylabel="x₂²", title="their squares", aspect="equal")
plt.show()

# %%
# Without making the features
# ---------------------------
# Both classifiers need only dot products of rows. With (x·z)² in their place they work in the space of squares and
# products (x₁², x₂², √2 x₁x₂), which is never written down.

kernel = Polynomial(2)
basic = BasicLinearClassifier(kernel=kernel).fit(X, y)
perceptron = KernelPerceptron(kernel).fit(X, y)
fig, ax = plt.subplots(figsize=(8, 4.6), layout="compressed")
both = {"basic, by the kernel": basic, "perceptron, by the kernel": perceptron}
BoundaryDisplay.from_estimator(both, X, y, limits=around, ax=ax)
ax.set(xlabel="x₁", ylabel="x₂", aspect="equal")
plt.show()

print(f"rows that the perceptron keeps: {len(perceptron.support_)} of {len(X)}")
