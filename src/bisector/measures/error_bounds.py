"""What the error of nearest neighbours says about the best error possible (LFD 6.2; Cover and Hart, 1967)."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bisector.engine.validation import check_count, check_number


class ErrorBounds(NamedTuple):
    """Between which bounds the error of the best classifier lies.

    Attributes
    ----------
    low, high : float
        The bounds.
    error : float
        The measured error of one nearest neighbour.
    level : float or None
        With which confidence the bounds allow for the error having been measured on a sample; None if they do not.
    """

    low: float
    high: float
    error: float
    level: float | None

    def __str__(self) -> str:
        sure = f", with {self.level:.0%} confidence" if self.level is not None else ""
        return (
            f"One nearest neighbour errs on {self.error:.1%}; in the limit of many rows, no classifier errs on "
            f"less than {self.low:.1%}, and the best on at most {self.high:.1%}{sure}."
        )


def error_bounds(
    error: float, n_classes: int = 2, *, n: int | None = None, level: float = 0.95
) -> ErrorBounds:
    """Bound the error of the best classifier by that of one nearest neighbour, on data it was not given.

    With infinitely many rows, the nearest neighbour errs on at most E* (2 − E*·c/(c − 1)) where the best classifier
    of c classes errs on E*. Solved for E*, that is a lower bound; the error itself is the upper one. An error
    measured on the training rows says nothing: take one from a test set, or leave each row out of its own vote.

    Parameters
    ----------
    error : float
        The share of errors of one nearest neighbour; more than (c − 1)/c counts as that, which guessing reaches.
    n_classes : int, default=2
    n : int, optional
        On how many rows it was measured. The bounds then also allow for that (Wilson's interval).
    level : float, default=0.95
        The confidence of that allowance.

    Returns
    -------
    ErrorBounds

    Examples
    --------
    >>> from bisector.measures.error_bounds import error_bounds
    >>> bounds = error_bounds(0.18)
    >>> round(bounds.low, 3), bounds.high
    (0.1, 0.18)
    """
    error = check_number("error", error, at_least=0)
    if error > 1:
        raise ValueError(f"error must be a share from 0 to 1, not {error!r}.")
    classes = check_count("n_classes", n_classes, at_least=2)
    low = high = error
    if n is not None:
        low, high = _wilson(error, check_count("n", n), check_number("level", level, above=0, below=1))
    worst = (classes - 1) / classes
    low, high = min(low, worst), min(high, worst)
    best = worst * (1 - np.sqrt(max(0.0, 1 - low / worst)))
    return ErrorBounds(float(best), float(high), float(error), None if n is None else float(level))


def _wilson(share: float, n: int, level: float) -> tuple[float, float]:
    """Return Wilson's interval for a share of n."""
    from scipy.special import ndtri

    z = float(ndtri(0.5 + level / 2))
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return max(0.0, float(centre - half)), min(1.0, float(centre + half))


def asymptotic_error(k: int, eta: ArrayLike) -> NDArray[np.float64]:
    """Return Q_k(η), the error of k nearest neighbours at a point, in the limit of many rows (LFD, Exercise 6.3).

    η is the probability of the less likely of two classes there: the error of the best classifier. The k nearest
    rows are then as good as drawn at the point itself, and the vote errs when the majority of draws does and the
    query does not, or the other way round.

    Parameters
    ----------
    k : int
        Odd.
    eta : array-like
        From 0 to ½.

    Returns
    -------
    ndarray

    Examples
    --------
    One nearest neighbour errs almost twice as often as the best classifier, 21 hardly more often:

    >>> from bisector.measures.error_bounds import asymptotic_error
    >>> [round(float(asymptotic_error(k, 0.1)), 4) for k in (1, 3, 21)]
    [0.18, 0.1224, 0.1]
    """
    k = check_count("k", k)
    if k % 2 == 0:
        raise ValueError(f"k must be odd, so that votes of two classes cannot tie, not {k}.")
    probability = np.asarray(eta, dtype=np.float64)
    if not ((probability >= 0) & (probability <= 0.5)).all():
        raise ValueError("eta must lie between 0 and ½: it is the probability of the less likely class.")
    from scipy.special import bdtrc

    # The majority of k draws is the less likely class; a complement, so that small values keep their digits.
    upset = bdtrc((k - 1) // 2, k, probability)
    return probability + (1 - 2 * probability) * upset
