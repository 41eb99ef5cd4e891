"""Can a plane separate two classes? Yes or no, with the proof."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags

from bisector.engine.show import number
from bisector.engine.validation import Classed, check_classes
from bisector.solvers.separability import TOLERANCE, Plane, hulls_meet, on_their_sides, separate

Floats = NDArray[np.float64]

# So many coordinates are written out.
_WRITTEN = 5


@dataclass(frozen=True, eq=False, repr=False)
class Separability:
    """Whether a plane separates two classes; true in an ``if`` when one does.

    Attributes
    ----------
    kind : {"separable", "touching", "overlapping"}
        Separable: some plane has all rows of each class on a side of its own. Touching: the convex hulls of the
        classes share only points of their boundaries, so that some plane has all rows on their sides or on itself.
        Overlapping: every plane has rows on the wrong side.
    classes : array of shape (2,)
    weights, threshold : array of shape (n_features,), float
        The plane, for w of length one: rows with w·x > t are of ``classes[1]``, the others of ``classes[0]``. If
        the classes touch, rows with w·x = t may be of either. None if they overlap.
    margin : float
        How far the nearest row lies from the plane, which need not be the widest possible; zero if the classes
        touch, NaN if they overlap.
    rows : array of int
        Rows whose hulls meet, those of ``classes[0]`` first; empty if the classes are separable.
    convex_weights : array of the same length
        Weights that are not negative and sum to one in each class: the means of the rows so weighted are
        the same point for both classes.
    common_point : array of shape (n_features,), or None
        That point.
    residual : float
        The largest difference of these two means in a column, as a share of half the column's range; zero if the
        classes are separable.
    tolerance : float
        Hulls nearer than this share of the columns' ranges count as meeting.
    """

    kind: Literal["separable", "touching", "overlapping"]
    classes: NDArray[Any]
    weights: Floats | None
    threshold: float | None
    margin: float
    rows: NDArray[np.int64]
    convex_weights: Floats
    common_point: Floats | None
    residual: float
    tolerance: float = TOLERANCE

    def __bool__(self) -> bool:
        return self.kind == "separable"

    def holds(self, X: Any, y: ArrayLike) -> bool:
        """Check the proof anew, on the rows it is about.

        Parameters
        ----------
        X, y : as for `linear_separability`

        Returns
        -------
        bool
            Whether every row is on its side of the plane, and the hulls do meet, as float64 computes it.
        """
        rows, _, classes, _ = _ask(X, y)
        if not np.array_equal(classes, self.classes):
            return False
        touching = self.kind == "touching"
        if self.weights is not None and self.threshold is not None:
            plane = Plane(self.weights, self.threshold, self.margin)
            if not on_their_sides(rows, plane, or_on_the_plane=touching):
                return False
        if self:
            return True
        return hulls_meet(rows, self.rows, self.convex_weights)

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        names = [repr(label) for label in self.classes.tolist()]
        both = " and ".join(names)
        side = ""
        if self.weights is not None and self.threshold is not None:
            side = f"w·x > {number(self.threshold)} for {names[1]}, with w = {_written(self.weights)}"
        if self.kind == "separable":
            return (
                f"Separable: a plane has all rows of {both} on their sides, the nearest at a distance of "
                f"{number(self.margin)}.\n{side}"
            )
        counts = f"{len(self.rows)} rows" if len(self.rows) > 2 else f"rows {self.rows[0]} and {self.rows[1]}"
        point = _written(self.common_point)
        if self.kind == "touching":
            return (
                f"Not separable, but touching: a plane has all rows of {both} on their sides or on itself; the "
                f"convex hulls meet in it, for example (by {counts}) at {point}.\n{side}"
            )
        return f"Not separable: the convex hulls of {both} overlap. A point of both, by {counts}, is {point}."


def linear_separability(X: Any, y: Any, *, n_jobs: int | None = None) -> Separability:
    """Tell whether a plane separates two classes, with a proof either way.

    Either some plane has all rows of each class on a side of its own, or the convex hulls of the classes have a
    point in common, and one of the two is returned: the plane, or the rows and weights that make the point. Most
    rows are looked at only to see that they are on their side of a plane, so that many rows cost little.

    Parameters
    ----------
    X : array, sparse matrix, pandas or polars frame, Arrow table or dataset, or path of a Parquet file or \
folder, of shape (n_samples, n_features)
    y : array of shape (n_samples,), or the name of a column of X
        Labels of two classes.
    n_jobs : int, default=None
        Number of threads; None means all cores allowed here, one inside a joblib worker.

    Returns
    -------
    Separability
        True in an ``if`` when the classes are separable.

    Notes
    -----
    Where classes touch or are separable, a logistic regression without penalty has no maximum: its coefficients
    grow without end.

    Examples
    --------
    >>> from bisector import linear_separability
    >>> corners = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> both = linear_separability(corners, [0, 0, 0, 1])
    >>> bool(both), round(both.margin, 4)
    (True, 0.3536)
    >>> linear_separability(corners, [0, 1, 1, 0])
    Not separable: the convex hulls of 0 and 1 overlap. A point of both, by 4 rows, is [0.5, 0.5].
    """
    rows, _, classes, _ = _ask(X, y)
    if len(classes) > 2:
        some = repr(classes.tolist()[0])
        raise ValueError(
            f"y has {len(classes)} classes, and a plane separates two: ask about one against the rest, for example "
            f"linear_separability(X, y == {some})."
        )
    found = separate(rows, n_jobs=n_jobs)
    plane, meeting = found.plane, found.meeting
    return Separability(
        "separable" if meeting is None else "overlapping" if plane is None else "touching",
        classes,
        None if plane is None else plane.weights,
        None if plane is None else plane.threshold,
        np.nan if plane is None else plane.margin,
        np.empty(0, dtype=np.int64) if meeting is None else meeting.rows,
        np.empty(0) if meeting is None else meeting.weights,
        None if meeting is None else meeting.point,
        0.0 if meeting is None else meeting.residual,
    )


class _Asked(ClassifierMixin, BaseEstimator):
    """Stands for the question where the door wants to know who asks."""

    _instead_of_gathering = "ask about a sample of the rows"

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


_Asked.__name__ = "linear_separability"


def _ask(X: Any, y: Any) -> Classed:
    if y is None:
        raise ValueError("y is None: give the label of each row, or the name of the column that holds it.")
    return check_classes(_Asked(), X, y)


def _written(values: Floats | None) -> str:
    if values is None:
        return "unknown"
    some = ", ".join(number(value) for value in values[:_WRITTEN])
    return f"[{some}{', …' if len(values) > _WRITTEN else ''}]"
