"""Learning From Data, chapter 6: neighbours, bumps and mixtures."""

import numpy as np

from bisector.engine.validation import Seed, check_count, check_finite, check_seed

from .dataset import Rows
from .registry import makes
from .shapes import in_ring, labels

PLANE = ("x1", "x2")
LABEL = ("label",)


@makes(
    "Seven points in two rings",
    shows="Alike in radius, not in place: who is a neighbour depends on the features.",
    source="LFD, Problem 6.1",
)
def seven_points() -> Rows:
    """Give four negatives at distance 1 from the origin and three positives at distance 2.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from bisector import datasets
    >>> X, y = datasets.seven_points()
    >>> X[y > 0].tolist()
    [[0.0, 2.0], [0.0, -2.0], [-2.0, 0.0]]
    """
    near = [[1.0, 0.0], [0.0, 1.0], [0.0, -1.0], [-1.0, 0.0]]
    far = [[0.0, 2.0], [0.0, -2.0], [-2.0, 0.0]]
    return Rows(np.array(near + far), labels(len(near), len(far)), PLANE, LABEL)


@makes(
    "Four normal clusters on a circle",
    shows="Few rows near the boundary decide for all; the clusters can be counted.",
    source="LFD, Problem 6.13",
)
def four_gaussians(n: int = 1000, *, deviation: float = 0.15, seed: Seed = 0) -> Rows:
    """Simulate a mixture of four equal normal bumps, centred where the axes meet the unit circle.

    Each row comes from a bump at random. The bumps at (1, 0) and (−1, 0) carry the label +1, those at (0, 1)
    and (0, −1) the label −1, so that no line parts the classes. Used for condensing, for counting clusters
    (Problem 6.24) and for noticing a new one (6.25).

    Parameters
    ----------
    n : int, default=1000
        Number of rows.
    deviation : float, default=0.15
        Standard deviation of a bump in every direction. (The problem says "covariance σI"; were 0.15 the
        variance, the clusters would run into each other.)
    seed : int or numpy.random.Generator, default=0

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from bisector import datasets
    >>> X, y = datasets.four_gaussians()
    >>> horizontal = abs(X[:, 0]) > abs(X[:, 1])
    >>> bool((horizontal == (y > 0)).mean() > 0.99)
    True
    """
    n, rng = check_count("n", n), check_seed(seed)
    deviation = check_finite("deviation", deviation, at_least=0)
    centres = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
    bump = rng.integers(4, size=n)
    X = centres[bump] + deviation * rng.standard_normal((n, 2))
    return Rows(X, np.where(bump % 2 == 0, 1, -1).astype(np.int64), PLANE, LABEL)


@makes(
    "Normal clusters anywhere in the unit square",
    shows="Branch and bound gains from clusters only where they are tight.",
    source="LFD, Problem 6.16b",
)
def random_mixture(n: int = 10_000, *, centres: int = 10, deviation: float = 0.1, seed: Seed = 0) -> Rows:
    """Simulate a mixture of equal normal bumps whose centres are drawn evenly from the unit square.

    Each row comes from a bump at random. The evenly spread rows to compare with are
    ``uniform_square(10_000)``. With the problem's deviation of 0.1 the bumps cover most of the square, and a
    search by branch and bound in ten clusters looks at more rows than among evenly spread ones; with 0.02 it
    looks at fewer.

    Parameters
    ----------
    n : int, default=10_000
        Number of rows.
    centres : int, default=10
        Number of bumps.
    deviation : float, default=0.1
        Standard deviation of a bump in every direction.
    seed : int or numpy.random.Generator, default=0

    Returns
    -------
    Dataset
        With the number of each row's bump as y.

    Examples
    --------
    >>> from bisector import datasets
    >>> X, y = datasets.random_mixture(500, centres=3)
    >>> X.shape, sorted(set(y.tolist()))
    ((500, 2), [0, 1, 2])
    """
    n, centres, rng = check_count("n", n), check_count("centres", centres), check_seed(seed)
    deviation = check_finite("deviation", deviation, at_least=0)
    places = rng.random((centres, 2))
    bump = rng.integers(centres, size=n)
    return Rows(places[bump] + deviation * rng.standard_normal((n, 2)), bump, PLANE, ("bump",))


@makes(
    "A curve under noise",
    shows="Few neighbours follow the noise, and many miss the curve.",
    source="LFD, Figure 6.7",
)
def noisy_curve(n: int = 20, *, noise: float = 0.2, seed: Seed = 0) -> Rows:
    """Simulate a smooth function of one feature, seen through noise.

    The feature is spread evenly over the interval from 0 to 1, in increasing order; the target is
    sin(2πx) + x with normal noise. The book shows its own curve only as a picture; this one is as smooth.

    Parameters
    ----------
    n : int, default=20
        Number of rows.
    noise : float, default=0.2
        Standard deviation of the target around the curve; 0 gives the curve itself.
    seed : int or numpy.random.Generator, default=0

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from bisector import datasets
    >>> seen, true = datasets.noisy_curve(), datasets.noisy_curve(noise=0)
    >>> bool((seen.X == true.X).all()), bool(abs(seen.y - true.y).max() < 1)
    (True, True)
    """
    n, noise, rng = check_count("n", n), check_finite("noise", noise, at_least=0), check_seed(seed)
    x = np.sort(rng.random(n))
    return Rows(x[:, None], np.sin(2 * np.pi * x) + x + noise * rng.standard_normal(n), ("x",), ("y",))


@makes(
    "Two half rings, facing each other",
    shows="Whether a line parts them depends on the gap; neighbours need no line.",
    source="LFD, Problem 3.1",
)
def double_semicircle(
    n: int = 2000,
    *,
    radius: float = 10.0,
    thickness: float = 5.0,
    separation: float = 5.0,
    seed: Seed = 0,
) -> Rows:
    """Simulate an upper half ring of negatives and a lower one of positives, shifted to the right.

    The upper one is centred at the origin. The lower one is centred below the middle of the upper one's
    right edge, so that each reaches towards the hollow of the other. Each row comes from either at random,
    spread evenly over its area. Chapter 6 comes back to them in Problem 6.4.

    Parameters
    ----------
    n : int, default=2000
        Number of rows.
    radius : float, default=10.0
        Inner radius of both half rings.
    thickness : float, default=5.0
        Outer radius less inner radius.
    separation : float, default=5.0
        How much lower the straight edge of the lower half ring lies than that of the upper one. From 0 on a
        line parts the half rings; below 0 none does.
    seed : int or numpy.random.Generator, default=0

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from bisector import datasets
    >>> X, y = datasets.double_semicircle()
    >>> bool(X[y < 0, 1].min() >= 0 and X[y > 0, 1].max() <= -5)
    True
    """
    n, rng = check_count("n", n), check_seed(seed)
    radius = check_finite("radius", radius, above=0)
    thickness = check_finite("thickness", thickness, above=0)
    separation = check_finite("separation", separation)
    y = np.where(rng.random(n) < 0.5, -1, 1).astype(np.int64)
    X = in_ring(radius, radius + thickness, np.pi * rng.random(n), rng)
    X[y > 0] = X[y > 0] * [1.0, -1.0] + [radius + thickness / 2, -separation]
    return Rows(X, y, PLANE, LABEL)
