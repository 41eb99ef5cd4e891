"""Proofs of optimality for penalised least squares, made from the data alone."""

import numpy as np


def centred(X, y, weight=None, intercept=True):
    """Columns and target as the objective sees them: centred, and multiplied by the roots of the weights."""
    X, y = X.astype(float), y.astype(float)
    weight = np.ones(len(y)) if weight is None else weight
    if intercept:
        X, y = X - np.average(X, axis=0, weights=weight), y - np.average(y, weights=weight)
    root = np.sqrt(weight)
    return X * root[:, None], y * root, weight.sum()


def duality_gap(X, y, coef, alpha, l1_ratio=1.0, weight=None, intercept=True, positive=False):
    """Objective at the coefficients minus a lower bound of its minimum, as scikit-learn scales both."""
    X, y, n = centred(X, y, weight, intercept)
    l1, l2 = alpha * l1_ratio * n, alpha * (1 - l1_ratio) * n
    r = y - X @ coef
    primal = 0.5 * r @ r + l1 * np.abs(coef).sum() + 0.5 * l2 * coef @ coef
    h = X.T @ r - l2 * coef
    largest = h.max() if positive else np.abs(h).max()
    s = min(1.0, l1 / largest) if largest > 0 else 1.0
    dual = s * (y @ r) - 0.5 * s**2 * (r @ r + l2 * coef @ coef)
    return (primal - dual) / n


def violation(X, y, coef, alpha, l1_ratio=1.0, weight=None, intercept=True, positive=False):
    """How far the coefficients are from the optimality conditions, in units of the penalty."""
    X, y, n = centred(X, y, weight, intercept)
    slope = X.T @ (y - X @ coef) / n - alpha * (1 - l1_ratio) * coef
    l1 = alpha * l1_ratio
    outside = np.maximum((slope if positive else np.abs(slope)) - l1, 0.0)
    return np.where(coef == 0, outside, np.abs(slope - l1 * np.sign(coef))).max(initial=0.0) / alpha


def objective(X, y, coef, intercept, alpha, l1_ratio=1.0):
    r = y - X @ coef - intercept
    return (
        r @ r / (2 * len(y))
        + alpha * l1_ratio * np.abs(coef).sum()
        + alpha * (1 - l1_ratio) / 2 * coef @ coef
    )
