"""What models are compared by: accuracy, its balanced kin where classes are very unequal, or R² for numbers."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

ACCURACY, BALANCED, VARIANCE = "accuracy", "balanced accuracy", "R²"
# From so many rows of the largest class to one of the smallest on, always naming the largest looks too good.
UNEQUAL = 5
# What scikit-learn calls them: as a function of the true and the predicted, and as a word for searches.
FUNCTIONS = {ACCURACY: "accuracy_score", BALANCED: "balanced_accuracy_score", VARIANCE: "r2_score"}
SCORINGS = {ACCURACY: None, BALANCED: "balanced_accuracy", VARIANCE: None}


def measure_for(kind: str, y: NDArray[Any]) -> str:
    """Return what models should be compared by.

    Where one class has five times the rows of another or more, accuracy hardly counts the rare one: the mean over
    the classes of the share that was found, the balanced accuracy, counts each class the same.

    Parameters
    ----------
    kind : {"classes", "number"}
    y : ndarray
        The target.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.reports.scores import measure_for
    >>> measure_for("classes", np.array([0, 0, 1])), measure_for("classes", np.repeat([0, 1], [95, 5]))
    ('accuracy', 'balanced accuracy')
    """
    if kind == "number":
        return VARIANCE
    counts = np.unique(y, return_counts=True)[1]
    return BALANCED if counts.max() >= UNEQUAL * counts.min() else ACCURACY


def scored(measure: str, y: NDArray[Any], predictions: NDArray[Any], variance: float | None = None) -> float:
    """Return the score of predictions.

    Parameters
    ----------
    measure : str
        As of `measure_for`.
    y, predictions : ndarray of shape (n_rows,)
    variance : float, optional
        Of the whole target, where these rows are a part of it.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.reports.scores import scored
    >>> true, said = np.array(["a", "a", "a", "b"]), np.array(["a", "a", "a", "a"])
    >>> scored("accuracy", true, said), scored("balanced accuracy", true, said)
    (0.75, 0.5)
    """
    if measure == VARIANCE:
        return float(1 - ((y - predictions) ** 2).mean() / (y.var() if variance is None else variance))
    right = predictions == y
    if measure == ACCURACY:
        return float(right.mean())
    codes = np.unique(y, return_inverse=True)[1]
    return float((np.bincount(codes, right) / np.bincount(codes)).mean())
