"""Flach, chapter 7: margins and boundaries between classes."""

from math import sqrt

import numpy as np

from bisector.engine.validation import Seed, check_count, check_finite, check_flag, check_number, check_seed

from .dataset import Rows
from .registry import makes
from .shapes import in_ring, labels, shuffled

PLANE = ("x1", "x2")
LABEL = ("label",)


@makes(
    "Two overlapping classes on a line",
    shows="Regression on labels −1 and +1 gives a threshold, here as good as any.",
    source="Flach, Example 7.4",
)
def overlapping_classes(
    negatives: int = 10, positives: int = 20, *, separation: float = 2.0, seed: Seed = 0
) -> Rows:
    """Simulate one feature, normal with standard deviation 1 in each of two classes.

    As it is drawn by default, the least-squares boundary makes three mistakes, as in the book's Figure 7.4,
    and no other threshold makes fewer.

    Parameters
    ----------
    negatives, positives : int, default=10, 20
        How many rows have the label −1, with mean 0, and how many +1.
    separation : float, default=2.0
        Mean of the positive class.
    seed : int or numpy.random.Generator, default=0

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from bisector import LinearRegression, datasets
    >>> X, y = datasets.overlapping_classes()
    >>> boundary = LinearRegression().fit(X, y)
    >>> int((boundary.predict(X) * y < 0).sum())
    3
    """
    negatives, positives = check_count("negatives", negatives), check_count("positives", positives)
    separation, rng = check_finite("separation", separation), check_seed(seed)
    y = labels(negatives, positives)
    x = separation * (y > 0) + rng.standard_normal(len(y))
    return Rows(*shuffled(x[:, None], y, rng), ("x",), LABEL)


@makes(
    "Three or four points and their margin",
    shows="One more point turns and halves the widest margin; a soft margin stays wider.",
    source="Flach, Examples 7.5 and 7.6",
)
def margin_points(*, fourth: bool = True) -> Rows:
    """Give the points on which the book solves the support vector machine by hand.

    The first three have a margin of 2; the fourth, (3, 1), brings it down to 1.

    Parameters
    ----------
    fourth : bool, default=True
        Whether the fourth point is among them.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from bisector import datasets
    >>> X, y = datasets.margin_points()
    >>> X.tolist()
    [[1.0, 2.0], [-1.0, 2.0], [-1.0, -2.0], [3.0, 1.0]]
    >>> y
    array([-1, -1,  1,  1])
    """
    n = 4 if check_flag("fourth", fourth) else 3
    points = [[1.0, 2.0], [-1.0, 2.0], [-1.0, -2.0], [3.0, 1.0]]
    return Rows(np.array(points[:n]), labels(2, n - 2), PLANE, LABEL)


@makes(
    "Two normal classes, equally spread",
    shows="Distances from the boundary are normal, as logistic calibration assumes.",
    source="Flach, Example 7.7",
)
def gaussian_classes(
    n: int = 200,
    *,
    separation: float = 2.0,
    deviations: tuple[float, float] = (1.0, 1.0),
    positive: float = 0.5,
    seed: Seed = 0,
) -> Rows:
    """Simulate two classes in the plane, normal with the same diagonal covariance matrix.

    The means lie on the diagonal x₁ = x₂, on either side of the origin.

    Parameters
    ----------
    n : int, default=200
        Number of rows, at least 2.
    separation : float, default=2.0
        Distance between the two means.
    deviations : tuple of two floats, default=(1.0, 1.0)
        Standard deviations of the two features, in both classes.
    positive : float, default=0.5
        Share of rows with the label +1, rounded to whole rows; each class has at least one.
    seed : int or numpy.random.Generator, default=0

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from bisector import datasets
    >>> X, y = datasets.gaussian_classes(1000, positive=0.1)
    >>> int((y > 0).sum())
    100
    """
    n, rng = check_count("n", n, at_least=2), check_seed(seed)
    separation = check_finite("separation", separation, at_least=0)
    positive = check_number("positive", positive, above=0, below=1)
    try:
        width, height = deviations
    except (TypeError, ValueError):
        raise ValueError(f"deviations must be two numbers, one a feature, not {deviations!r}.") from None
    spread = np.array([check_finite("deviations", value, above=0) for value in (width, height)])
    positives = min(max(1, round(positive * n)), n - 1)
    y = labels(n - positives, positives)
    mean = separation / sqrt(8)  # half the separation, along the diagonal
    X = mean * y[:, None] + spread * rng.standard_normal((n, 2))
    return Rows(*shuffled(X, y, rng), PLANE, LABEL)


@makes(
    "A disc inside a ring",
    shows="No line parts the classes, but one does once the features are squared.",
    source="Flach, Example 7.8",
)
def disc_and_ring(
    n: int = 100, *, radius: float = 1.0, gap: float = 0.5, thickness: float = 1.0, seed: Seed = 0
) -> Rows:
    """Simulate a disc of positives around the origin and a ring of negatives around the disc.

    Each class is spread evenly over its area; of an odd number of rows, one more is negative.

    Parameters
    ----------
    n : int, default=100
        Number of rows, at least 2.
    radius : float, default=1.0
        Radius of the disc.
    gap : float, default=0.5
        Width of the empty ring between the classes.
    thickness : float, default=1.0
        Width of the ring of negatives.
    seed : int or numpy.random.Generator, default=0

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from bisector import datasets
    >>> X, y = datasets.disc_and_ring()
    >>> squares = (X**2).sum(axis=1)
    >>> bool((squares[y > 0] <= 1).all() and (squares[y < 0] >= 1.5**2).all())
    True
    """
    n, rng = check_count("n", n, at_least=2), check_seed(seed)
    radius = check_finite("radius", radius, above=0)
    gap = check_finite("gap", gap, above=0)
    thickness = check_finite("thickness", thickness, above=0)
    y = labels(n - n // 2, n // 2)
    inner = np.where(y > 0, 0.0, radius + gap)
    outer = np.where(y > 0, radius, radius + gap + thickness)
    X = in_ring(inner, outer, 2 * np.pi * rng.random(n), rng)
    return Rows(*shuffled(X, y, rng), PLANE, LABEL)
