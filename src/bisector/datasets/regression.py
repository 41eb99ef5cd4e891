"""Flach, chapter 7: lines and planes through data."""

from math import sqrt

import numpy as np

from bisector.engine.validation import Seed, check_count, check_finite, check_number, check_seed

from .dataset import Floats, Rows
from .registry import makes
from .shapes import uncorrelated

# The people of Figure 7.1: the true line passes through these means.
MEAN_HEIGHT, MEAN_WEIGHT, SLOPE = 181.0, 74.5, 0.83


@makes(
    "Heights and weights",
    shows="Noise tilts the least-squares line away from the true one, but only a little.",
    source="Flach, Example 7.1",
)
def height_weight(n: int = 10, *, noise: float = sqrt(5), seed: Seed = 0) -> Rows:
    """Simulate people's heights in centimetres and weights in kilograms.

    Heights are normal around 181 cm with standard deviation 10. Weights follow the line of slope 0.83 kg/cm
    through (181, 74.5), the means of Figure 7.1, with normal noise.

    Parameters
    ----------
    n : int, default=10
        Number of people.
    noise : float, default=√5
        Standard deviation of the weights around the line; the book's variance is 5.
    seed : int or numpy.random.Generator, default=0

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from bisector import LinearRegression, datasets
    >>> height, weight = datasets.height_weight(10_000)
    >>> LinearRegression().fit(height, weight).coef_.round(2)
    array([0.83])
    """
    height, weight = _people(n, noise, seed)
    return Rows(height[:, None], weight, ("height",), ("weight",))


@makes(
    "Heights and weights, one of them wrong",
    shows="A single wrong value moves the whole least-squares line.",
    source="Flach, Example 7.2",
)
def height_weight_outlier(
    n: int = 10, *, shift: float = 10.0, row: int | None = None, noise: float = sqrt(5), seed: Seed = 0
) -> Rows:
    """Simulate the people of `height_weight`, with one weight written down wrongly.

    With the same `n`, `noise` and `seed`, all other values are those of `height_weight`.

    Parameters
    ----------
    n : int, default=10
        Number of people.
    shift : float, default=10.0
        How many kilograms are added to the one weight.
    row : int, default=None
        Whose weight it is; None means the tallest person's, where a mistake pulls hard.
    noise : float, default=√5
        Standard deviation of the weights around the line.
    seed : int or numpy.random.Generator, default=0

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from bisector import datasets
    >>> right, wrong = datasets.height_weight(), datasets.height_weight_outlier(row=3)
    >>> (wrong.y - right.y).round(6)
    array([ 0.,  0.,  0., 10.,  0.,  0.,  0.,  0.,  0.,  0.])
    """
    shift = check_finite("shift", shift)
    height, weight = _people(n, noise, seed)
    if row is None:
        row = int(height.argmax())
    weight[check_count("row", row, at_least=0, at_most=len(weight) - 1)] += shift
    return Rows(height[:, None], weight, ("height",), ("weight",))


def _people(n: int, noise: float, seed: Seed) -> tuple[Floats, Floats]:
    n, noise, rng = check_count("n", n), check_finite("noise", noise, at_least=0), check_seed(seed)
    height = MEAN_HEIGHT + 10 * rng.standard_normal(n)
    weight = MEAN_WEIGHT + SLOPE * (height - MEAN_HEIGHT) + noise * rng.standard_normal(n)
    return height, weight


@makes(
    "A feature that helps without correlating",
    shows="A feature uncorrelated with the target can still deserve a coefficient.",
    source="Flach, Example 7.3",
)
def suppressor(n: int = 40, *, correlation: float = 0.8, noise: float = 0.5, seed: Seed = 0) -> Rows:
    """Simulate two correlated features of which the first has no correlation with the target.

    The target is y = x₂ − ρ·x₁ plus noise, with ρ the correlation of the features. In the sample itself, not
    only on average, the features have means 0, variances 1 (over n) and correlation ρ, the target has mean 0
    and no correlation with x₁, and the noise none with either. So least squares finds (−ρ, 1) exactly,
    while each feature alone gets (0, 1 − ρ²).

    Parameters
    ----------
    n : int, default=40
        Number of rows, at least 4.
    correlation : float, default=0.8
        Correlation ρ of the two features, between −1 and 1.
    noise : float, default=0.5
        Standard deviation of the target around the plane.
    seed : int or numpy.random.Generator, default=0

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from bisector import LinearRegression, datasets
    >>> X, y = datasets.suppressor()
    >>> LinearRegression().fit(X, y).coef_.round(6)
    array([-0.8,  1. ])
    >>> abs(LinearRegression(decomposed=True).fit(X, y).coef_).round(6)
    array([0.  , 0.36])
    """
    n, noise = check_count("n", n, at_least=4), check_finite("noise", noise, at_least=0)
    correlation = check_number("correlation", correlation, above=-1, below=1)
    x1, other, error = uncorrelated(n, 3, check_seed(seed))
    beyond_x1 = sqrt(1 - correlation**2) * other
    X = np.column_stack([x1, correlation * x1 + beyond_x1])
    return Rows(X, beyond_x1 + noise * error, ("x1", "x2"), ("y",))


@makes(
    "The sum of two correlated features",
    shows="Strongly correlated features tell little about the plane they lie under.",
    source="Flach, Figure 7.3",
)
def correlated_features(
    n: int = 40, *, correlation: float = -0.97, noise: float = 0.25, seed: Seed = 0
) -> Rows:
    """Simulate y = x₁ + x₂ plus noise for standard normal features with a given correlation.

    With a strong negative correlation the sum hardly varies: fitted one by one, the features seem to have no
    effect; fitted together, their coefficients have large standard errors. The left-hand picture of the
    figure has ``correlation=0``.

    Parameters
    ----------
    n : int, default=40
        Number of rows.
    correlation : float, default=-0.97
        Correlation of the two features, between −1 and 1.
    noise : float, default=0.25
        Standard deviation of y around the plane.
    seed : int or numpy.random.Generator, default=0

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from bisector import LinearRegression, datasets
    >>> X, y = datasets.correlated_features()
    >>> bool(abs(LinearRegression(decomposed=True).fit(X, y).coef_).max() < 0.2)
    True
    """
    n, noise = check_count("n", n), check_finite("noise", noise, at_least=0)
    correlation = check_number("correlation", correlation, above=-1, below=1)
    x1, other, error = check_seed(seed).standard_normal((3, n))
    X = np.column_stack([x1, correlation * x1 + sqrt(1 - correlation**2) * other])
    return Rows(X, X.sum(axis=1) + noise * error, ("x1", "x2"), ("y",))
