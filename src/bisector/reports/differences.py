"""Whether one model is better than another: differences over the same folds, with honest intervals.

The folds' training rows overlap, so that their differences depend on each other and the usual standard error is too
small. Its square is multiplied as Nadeau and Bengio (2003) propose: by 1/J + n_test/n_train instead of 1/J.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats


class Difference(NamedTuple):
    """By how much one model is better than another.

    Attributes
    ----------
    mean : float
        The mean over the folds.
    low, high : float
        The interval.
    error : float
        The corrected standard error.
    """

    mean: float
    low: float
    high: float
    error: float

    @property
    def clear(self) -> bool:
        """Whether the interval leaves out zero."""
        return self.low > 0 or self.high < 0


def paired_difference(
    first: ArrayLike, second: ArrayLike, test_share: float, level: float = 0.95
) -> Difference:
    """Compare the scores of two models on the same folds.

    Parameters
    ----------
    first, second : array of shape (n_folds,)
    test_share : float
        Which share of the rows each fold tests, 1 / n_folds in a cross-validation.
    level : float, default=0.95
        With what probability the interval should hold the true difference.

    Returns
    -------
    Difference
        Of the first less the second.

    References
    ----------
    Nadeau and Bengio, *Inference for the generalization error* (2003).

    Examples
    --------
    >>> from bisector.reports.differences import paired_difference
    >>> found = paired_difference([0.9, 0.8, 0.9, 1.0], [0.8, 0.7, 0.9, 0.8], test_share=0.25)
    >>> print(f"{found.mean:.2f} ({found.low:.2f} to {found.high:.2f})")
    0.10 (-0.10 to 0.30)
    """
    gaps = np.asarray(first, float) - np.asarray(second, float)
    folds = len(gaps)
    mean = float(gaps.mean())
    spread = float(gaps.var(ddof=1)) if folds > 1 else 0.0
    error = math.sqrt(spread * (1 / folds + test_share / (1 - test_share)))
    reach = error * float(stats.t.ppf((1 + level) / 2, folds - 1)) if folds > 1 else 0.0
    return Difference(mean, mean - reach, mean + reach, error)
