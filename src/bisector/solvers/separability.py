"""Linear separability: a plane between two classes, or a point that their convex hulls have in common.

    separable    y(w·x − t) > 0 for all rows, for some w and t
    meeting      Σαᵢxᵢ = Σβⱼxⱼ for convex weights α on the rows of one class and β on those of the other

One of the two holds, and only one. A meeting is *touching* if the hulls share nothing of their relative interiors:
then there is a plane with y(w·x − t) ≥ 0 for all rows, not all of them on it.

Most rows say nothing: what is far from the boundary is on its side of any plane worth trying. So hulls are compared
(`hulls`) for a growing working set, to which the rows that a proposed plane has most clearly on the wrong side are
added. Hulls of the working set that meet are a proof; a plane is one when it has all rows on their sides. Before,
a few steps along the line from one hull to the other (Gilbert, 1966) often find a plane, at the cost of a pass over
the data each; and equal rows with different labels end the search.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bisector.engine.progress import track
from bisector.engine.sources import Source
from bisector.engine.threads import one_blas_thread

from .class_sums import class_sums
from .hulls import between_hulls, touching_plane
from .unit_box import UnitBox, fingerprints, project_outside

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Hulls that come nearer than this share of the spread of the columns count as meeting.
TOLERANCE = 1e-9
# What is left of a sum of about one that should be zero.
ROUNDING = 1e-12
# So many steps from hull to hull are tried before hulls are compared.
STEPS = 20
# How many rows of a class join the working set at a time.
FEWEST, MOST = 64, 512


class Plane(NamedTuple):
    """w·x > t, for w of length one.

    Attributes
    ----------
    weights : (n_features,)
    threshold : float
    margin : float
        How far the nearest row is from the plane; zero for a plane that hulls touch.
    """

    weights: Floats
    threshold: float
    margin: float


class Meeting(NamedTuple):
    """A point that two hulls have in common.

    Attributes
    ----------
    rows : (k,) numbers of rows, those of the first class first
    weights : (k,) convex weights, which sum to one in each class
    point : (n_features,)
    residual : float
        The largest difference of the two combinations in a column, as a share of the column's spread.
    """

    rows: Integers
    weights: Floats
    point: Floats
    residual: float


@dataclass(frozen=True)
class Verdict:
    """What was found, with its proof.

    Attributes
    ----------
    plane : Plane or None
        That separates the classes, or that their hulls touch.
    meeting : Meeting or None
        None if the classes are separable.
    iterations : int
        How many times hulls of a working set were compared.
    """

    plane: Plane | None
    meeting: Meeting | None
    iterations: int


def separate(rows: Source, *, n_jobs: int | None = None) -> Verdict:
    """Find a plane between the rows with target 0 and those with target 1, or a point common to their hulls.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.engine.sources import source
    >>> from bisector.solvers.separability import separate
    >>> X = np.array([[0.0], [1.0], [3.0], [4.0]])
    >>> separate(source(X, y=np.array([0, 0, 1, 1]))).plane
    Plane(weights=array([1.]), threshold=2.0, margin=1.0)
    >>> separate(source(X, y=np.array([0, 1, 0, 1]))).meeting.rows
    array([0, 2, 1])
    """
    # One BLAS thread: matrices are small, and threads that wait for each other on a busy machine take far longer.
    with one_blas_thread:
        return _Search(rows, n_jobs).verdict()


def on_their_sides(rows: Source, plane: Plane, *, or_on_the_plane: bool = False) -> bool:
    """Check a plane: every row on its side of it; or, up to rounding, on the plane itself."""
    assert rows.y is not None
    scores = project_outside(rows, plane.weights)
    high, low = float(scores[rows.y == 1].min()), float(scores[rows.y == 0].max())
    if not or_on_the_plane:
        return high > plane.threshold >= low
    return high >= low - TOLERANCE * max(abs(high), abs(low), float(np.ptp(scores)))


def hulls_meet(rows: Source, numbers: Integers, weights: Floats) -> bool:
    """Check that convex weights on some rows make the same point of both classes."""
    assert rows.y is not None
    signs = np.where(rows.y[numbers] == 1, 1.0, -1.0)
    sums = [weights[signs == sign].sum() for sign in (-1.0, 1.0)]
    convex = bool((weights >= 0).all() and np.allclose(sums, 1.0, rtol=0, atol=1e-12))
    apart = (signs * weights) @ UnitBox.around(rows).take(numbers)
    return convex and bool(np.abs(apart).max(initial=0.0) <= TOLERANCE)


class _Search:
    """The state of one search: the rows in their box, the working set, and the number of programmes solved."""

    def __init__(self, rows: Source, n_jobs: int | None) -> None:
        assert rows.y is not None
        self.rows, self.n_jobs = rows, n_jobs
        self.box = UnitBox.around(rows, n_jobs=n_jobs)
        self.signs = np.where(rows.y == 1, 1.0, -1.0)
        self.working = np.empty(0, dtype=np.int64)
        self.points: Any = None
        self.iterations = 0
        sums = class_sums(rows, 2, n_jobs=n_jobs)
        self.means = (sums.offsets - (self.box.centre - sums.of_x.shift)) / self.box.half
        self.counts = sums.weights

    def verdict(self) -> Verdict:
        plane, scores = self._step_between_hulls()
        if plane is not None:
            return Verdict(plane, None, 0)
        self._add_rows(self.signs * scores)
        meeting = self._equal_rows()
        with track("separating") as bar:
            if meeting is None:
                found = self._grow_gap(bar)
                if isinstance(found, Plane):
                    return Verdict(found, None, self.iterations)
                meeting = found
            return Verdict(self._touching(bar), meeting, self.iterations)

    # A cheap yes

    def _step_between_hulls(self) -> tuple[Plane | None, Floats]:
        """Move along the line between points of the two hulls, towards the rows that face each other most."""
        between = self.means[1] - self.means[0]
        for _ in range(STEPS):
            scores = self.box.project(between)
            front, back = self._facing(scores)
            if scores[front] > scores[back] and (plane := self._plane(between)) is not None:
                return plane, scores
            faces = self.box.take([front, back])
            faces = faces.toarray() if hasattr(faces, "toarray") else faces
            change = faces[0] - faces[1] - between
            length = change @ change
            if not length > 0:
                break
            step = np.clip(-(between @ change) / length, 0.0, 1.0)
            if step == 0:
                break
            between = between + step * change
        return None, scores

    def _facing(self, scores: Floats) -> tuple[int, int]:
        """Return the positive row with the lowest score and the negative one with the highest."""
        positive = np.flatnonzero(self.signs > 0)
        negative = np.flatnonzero(self.signs < 0)
        return int(positive[scores[positive].argmin()]), int(negative[scores[negative].argmax()])

    # A cheap no

    def _equal_rows(self) -> Meeting | None:
        """Look for a row of each class that are equal."""
        marks = fingerprints(self.rows, n_jobs=self.n_jobs)
        negative, positive = (np.flatnonzero(self.signs == sign) for sign in (-1.0, 1.0))
        _, left, right = np.intersect1d(marks[negative], marks[positive], return_indices=True)
        for one, other in zip(negative[left], positive[right], strict=True):
            pair = self.rows.take([one, other])
            pair = pair.toarray() if hasattr(pair, "toarray") else pair
            if np.array_equal(pair[0], pair[1]):
                return Meeting(np.array([one, other]), np.ones(2), pair[0].astype(np.float64), 0.0)
        return None

    # Hulls of the working set

    def _grow_gap(self, bar: Any) -> Plane | Meeting:
        start: list[int] = []
        while True:
            found = between_hulls(self.points, self.signs[self.working], start=start)
            start = found.support
            self._count(bar, f"hulls of {len(self.working)} rows are {found.distance:.1e} apart")
            if found.distance <= TOLERANCE:
                return self._meeting(found.weights)
            scores = self.box.project(found.normal)
            front, back = self._facing(scores)
            if scores[front] > scores[back]:
                plane = self._plane(found.normal)
                if plane is None:
                    raise ValueError(
                        "The classes are separable, but by less than w·x is rounded by where the columns lie: "
                        "subtract their means first."
                    )
                return plane
            inside = self.signs * (scores + found.intercept)
            if not self._add_rows(inside, below=inside[self.working].min() / 2):
                raise ArithmeticError("Rounding hides whether the classes are separable: scale the columns.")

    def _touching(self, bar: Any) -> Plane | None:
        """Find a plane that has all rows on their sides or on itself, if there is one that not all are on."""
        share = self.counts / self.counts.sum()
        total = np.append(share[1] * self.means[1] - share[0] * self.means[0], share[1] - share[0])
        start: list[int] = []
        while True:
            found = touching_plane(self.points, self.signs[self.working], total, start=start)
            start = found.support
            self._count(bar, f"hulls of {len(self.working)} rows")
            if found.distance <= ROUNDING:
                return None
            scores = self.box.project(found.normal)
            inside = self.signs * (scores + found.intercept)
            if inside.max() <= TOLERANCE:
                return None
            if not self._add_rows(inside, below=-TOLERANCE):
                weights = self.box.normal_outside(found.normal)
                outside = project_outside(self.rows, weights, n_jobs=self.n_jobs)
                front, back = self._facing(outside)
                return Plane(weights, float(outside[back] / 2 + outside[front] / 2), 0.0)

    def _count(self, bar: Any, note: str) -> None:
        self.iterations += 1
        bar.advance(note=note)

    def _add_rows(self, inside: Floats, below: float = np.inf) -> bool:
        """Add the rows of each class that are least on their side; tell whether there were any below a bound."""
        batch = int(np.clip(2 * (self.rows.n_features + 2), FEWEST, MOST))
        candidates = inside < below
        candidates[self.working] = False
        chosen = []
        for sign in (-1.0, 1.0):
            own = np.flatnonzero(candidates & (self.signs == sign))
            if len(own) > batch:
                own = own[np.argpartition(inside[own], batch)[:batch]]
            chosen.append(np.sort(own))
        new = np.concatenate(chosen)
        if not len(new):
            return False
        points = self.box.take(new)
        self.points = points if self.points is None else _stacked(self.points, points)
        self.working = np.concatenate([self.working, new])
        return True

    # Proofs

    def _plane(self, normal: Floats) -> Plane | None:
        """Return the plane in the units of the data, if it has every row on its side there, too."""
        weights = self.box.normal_outside(normal)
        outside = project_outside(self.rows, weights, n_jobs=self.n_jobs)
        front, back = self._facing(outside)
        high, low = float(outside[front]), float(outside[back])
        if not high > low:
            return None
        middle = low + (high - low) / 2
        return Plane(weights, middle if middle < high else low, (high - low) / 2)

    def _meeting(self, weights: Floats) -> Meeting:
        """Return the common point that the weights on the working set make."""
        held = np.flatnonzero(weights)
        held = held[np.argsort(self.signs[self.working[held]], kind="stable")]
        numbers, weights = self.working[held], weights[held]
        signs = self.signs[numbers]
        for sign in (-1.0, 1.0):
            weights[signs == sign] /= weights[signs == sign].sum()
        residual = float(np.abs((signs * weights) @ self.points[held]).max(initial=0.0))
        if residual > TOLERANCE:
            raise ArithmeticError("Rounding hides whether the classes are separable: scale the columns.")
        own = self.rows.take(numbers[signs < 0]).astype(np.float64)
        return Meeting(numbers, weights, weights[signs < 0] @ own, residual)


def _stacked(points: Any, more: Any) -> Any:
    if not hasattr(points, "tocsr"):
        return np.concatenate([points, more])
    import scipy.sparse

    return scipy.sparse.vstack([points, more], format="csr")
